# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds unordered accesses in kernels after barrier insertion.

The output of `tile-insert-barriers` is executed by one thread. Every access
is recorded with the threads that make it (from layouts) and the number of
barriers before it: two accesses of different threads to one element, one of
them a write, with no barrier between them are a race, whichever came first
here. The order is that of the memory model (docs/internals/memory-model.md), not that
of the pass: a release orders the accesses before it, an acquire the accesses
after it, and neither its own access, which a single thread makes.
"""
import numpy as np

import ordering_ops as ops
from ordering_owners import ELEMENTS, owners, shape_and_element

ALL = (1 << 20) - 1  # any bit of a thread's number may be set
MANY, NO_THREAD = -2, -1
TERMINATORS = ("scf.yield", "scf.condition", "gpu.return", "tile.yield")


class Memory:
    """One buffer of one rank: the last access to each element, by thread and
    barrier number."""

    def __init__(self, data):
        self.data = data
        self.index = np.arange(data.size).reshape(data.shape)
        size = data.size
        self.write_time, self.read_time = (np.full(size, -1) for _ in range(2))
        self.writer, self.reader = (np.full(size, NO_THREAD) for _ in range(2))
        self.write_op, self.read_op = (np.full(size, None, object)
                                       for _ in range(2))


class View:
    """A window of the same buffer on every rank; `rank` if it is a rank's."""

    def __init__(self, memories, data, index, rank=None):
        self.memories, self.data, self.index, self.rank = (memories, data, index,
                                                           rank)

    def slice(self, where):
        return View(self.memories, [d[where] for d in self.data],
                    [i[where] for i in self.index], self.rank)

    def to(self, rank):
        return View(self.memories, self.data, self.index, rank)


class Races:
    def __init__(self):
        self.found = {}

    def add(self, now, before):
        for other in before:
            self.found[(other, now)] = self.found.get((other, now), 0) + 1


class Program:
    """One program: its number of barriers so far, and its accesses."""

    def __init__(self, number, races, lanes):
        self.number, self.races = number, races
        self.lanes = lanes  # threads that run in lockstep
        self.barriers = 0

    def barrier(self):
        self.barriers += 1

    def time(self):
        return self.barriers * 4096 + self.number

    def access(self, memory, index, thread, free, op, writes, reads):
        """Records an access to elements `index` by `thread` and the threads
        that differ in `free`."""
        index = np.asarray(index).reshape(-1)
        if not index.size:
            return
        thread = np.broadcast_to(np.asarray(thread).reshape(-1), index.shape)
        thread = thread // self.lanes
        if reads and free // self.lanes or (thread == MANY).any():
            thread = np.full(index.shape, MANY)
        now = self.time()
        wrote = memory.write_time[index] == now
        bad = wrote & ((memory.writer[index] != thread) | (thread == MANY))
        bad &= memory.write_op[index] != op
        self.races.add(op, set(memory.write_op[index[bad]]))
        if writes:
            read = memory.read_time[index] == now
            bad = read & ((memory.reader[index] != thread) | (thread == MANY))
            bad &= memory.read_op[index] != op
            self.races.add(op, set(memory.read_op[index[bad]]))
            memory.write_time[index], memory.writer[index] = now, thread
            memory.write_op[index] = op
        if reads and not writes:
            again = (memory.read_time[index] == now)
            memory.reader[index] = np.where(
                again & (memory.reader[index] != thread), MANY, thread)
            memory.read_time[index] = now
            memory.read_op[index] = op


class Interpreter:
    """Executes one program of a kernel; a generator that yields to wait."""

    def __init__(self, program, rank, ranks, pid, barrier_counts, removed=None):
        self.program, self.rank, self.ranks = program, rank, ranks
        self.pid, self.barrier_counts, self.removed = pid, barrier_counts, removed
        self.values = {}

    def start(self, function, arguments):
        block = function.regions[0]
        self.values.update(zip(block.arguments, arguments))
        yield from self.block(block)

    def block(self, block):
        """Returns the operands of its terminator."""
        for op in block.ops:
            if op.name in TERMINATORS:
                return [self.values[o] for o in op.operands]
            waiting = self.execute(op)
            if waiting is not None:
                yield from waiting
        return []

    def operand(self, op, number=0):
        return self.values[op.operands[number]]

    def execute(self, op):
        method = getattr(self, "do_" + op.name.replace(".", "_"), None)
        if method:
            return method(op)
        dialect, _, name = op.name.partition(".")
        if dialect == "arith":
            self.values[op.results[0]] = self.arithmetic(name, op)
            return None
        raise ValueError("cannot execute " + op.line)

    # Values ---------------------------------------------------------------------

    def arithmetic(self, name, op):
        values = [np.asarray(self.values[o]) for o in op.operands]
        type_ = op.result_types[0]
        shape, element = (shape_and_element(type_) if type_.startswith("tensor")
                          else ((), type_))
        dtype = ELEMENTS[element]
        if name == "constant":
            text = op.attribute("value").split(" : ")[0]
            text = text.removeprefix("dense<").removesuffix(">")
            value = {"true": 1, "false": 0}.get(text)
            if value is None:
                value = float(text) if "." in text or "x" in text else int(text)
            return np.full(shape, value, np.int64 if isinstance(
                value, int) else float).astype(dtype)

        def unsigned(value):
            return value.view(value.dtype.str.replace("i", "u")) if \
                value.dtype.kind == "i" else value
        functions = {
            "addi": np.add, "subi": np.subtract, "muli": np.multiply,
            "andi": np.bitwise_and, "ori": np.bitwise_or,
            "xori": np.bitwise_xor, "minsi": np.minimum, "maxsi": np.maximum,
            "remui": lambda a, b: unsigned(a) % unsigned(b),
            "divui": lambda a, b: unsigned(a) // unsigned(b),
            "remsi": np.fmod, "shli": np.left_shift,
            "shrui": lambda a, b: unsigned(a) >> unsigned(b),
            "shrsi": np.right_shift,
            "select": lambda c, a, b: np.where(c, a, b),
            "extui": unsigned, "index_castui": unsigned}
        with np.errstate(all="ignore"):
            if name == "cmpi":
                return self.compare(int(op.attribute("predicate").split()[0]),
                                    *values, unsigned)
            if name in functions:
                return np.asarray(functions[name](*values)).astype(dtype)
            if name in ("extsi", "trunci", "index_cast", "sitofp", "fptosi"):
                return values[0].astype(dtype)
        raise ValueError("cannot execute " + op.line)

    @staticmethod
    def compare(predicate, a, b, unsigned):
        if predicate >= 6:
            a, b, predicate = unsigned(a), unsigned(b), predicate - 4
        return (np.equal, np.not_equal, np.less, np.less_equal, np.greater,
                np.greater_equal)[predicate](a, b)

    def do_tensor_splat(self, op):
        shape, element = shape_and_element(op.result_types[0])
        self.values[op.results[0]] = np.full(shape, self.operand(op),
                                             ELEMENTS[element])

    def do_tile_range(self, op):
        shape, element = shape_and_element(op.result_types[0])
        dim = int((op.attribute("dim") or "0").split()[0])
        self.values[op.results[0]] = np.indices(shape)[dim].astype(
            ELEMENTS[element])

    def do_tile_convert_layout(self, op):
        self.values[op.results[0]] = self.operand(op)

    def do_tile_transpose(self, op):
        self.values[op.results[0]] = self.operand(op).transpose(
            op.array("permutation"))

    def do_tile_expand_dims(self, op):
        dim = int(op.attribute("dim").split()[0])
        self.values[op.results[0]] = np.expand_dims(self.operand(op), dim)

    def do_tile_broadcast(self, op):
        shape, _ = shape_and_element(op.result_types[0])
        self.values[op.results[0]] = np.broadcast_to(self.operand(op), shape)

    def do_tile_reduce(self, op):
        kind = op.attribute("kind").split()[-1].rstrip(">")
        value, dim = self.operand(op), int(op.attribute("dim").split()[0])
        self.values[op.results[0]] = {
            "sum": lambda: value.sum(axis=dim, dtype=value.dtype),
            "xor": lambda: np.bitwise_xor.reduce(value, axis=dim),
            "max": lambda: value.max(axis=dim),
            "min": lambda: value.min(axis=dim)}[kind]()

    def do_gpu_block_id(self, op):
        self.values[op.results[0]] = np.int64(self.pid)

    def do_iris_rank(self, op):
        self.values[op.results[0]] = np.int64(self.rank)

    def do_iris_num_ranks(self, op):
        self.values[op.results[0]] = np.int64(self.ranks)

    # Buffers --------------------------------------------------------------------

    def do_iris_translate(self, op):
        self.values[op.results[0]] = self.operand(op, 1).to(
            int(self.operand(op, 2)))

    def do_memref_cast(self, op):
        self.values[op.results[0]] = self.operand(op)

    def do_memref_dim(self, op):
        view = self.operand(op)
        self.values[op.results[0]] = np.int64(
            view.data[0].shape[int(self.operand(op, 1))])

    def do_memref_subview(self, op):
        source, *dynamic = op.segments()
        dynamic = [[int(self.values[o]) for o in group] for group in dynamic]

        def mixed(key, values):
            values = iter(values)
            return [next(values) if n == -2**63 else n for n in op.array(key)]
        where = tuple(
            slice(o, o + (n - 1) * s + 1, s) if n else slice(o, o)
            for o, n, s in zip(mixed("static_offsets", dynamic[0]),
                               mixed("static_sizes", dynamic[1]),
                               mixed("static_strides", dynamic[2])))
        self.values[op.results[0]] = self.values[source[0]].slice(where)

    def touch(self, view, where, thread, free, op, writes, reads):
        """Records an access; returns the rank's data."""
        rank = self.rank if view.rank is None else view.rank
        self.program.access(view.memories[rank], view.index[rank][where], thread,
                            free, op.line, writes, reads)
        return view.data[rank]

    def offsets(self, names):
        return [int(self.values[name]) for name in names]

    def do_tile_load(self, op):
        source, offsets, other = op.segments()
        view, at = self.values[source[0]], self.offsets(offsets)
        type_ = op.result_types[0]
        shape, _ = shape_and_element(type_)
        own = owners(type_)
        inside, outside = ops.window(view.data[0], at, shape)
        data = self.touch(view, inside, own.thread[outside], own.free, op, False,
                          True)
        self.values[op.results[0]] = ops.load(
            data, at, shape, self.values[other[0]] if other else 0)

    def do_tile_store(self, op):
        tile, view = self.operand(op), self.operand(op, 1)
        at = self.offsets(op.operands[2:])
        own = owners(op.operand_types[0])
        inside, outside = ops.window(view.data[0], at, tile.shape)
        data = self.touch(view, inside, own.thread[outside], 0, op, True, False)
        ops.store(data, at, tile)

    def elements(self, view, where, mask):
        """In-bounds coordinates, and their mask."""
        chosen = np.ones(where[0].shape, bool) if mask is None else mask.copy()
        for index, size in zip(where, view.data[0].shape):
            chosen &= (index >= 0) & (index < size)
        return chosen, tuple(index[chosen] for index in where)

    def do_tile_gather(self, op):
        source, indices, mask, other = op.segments()
        view = self.values[source[0]]
        own = owners(op.result_types[0])
        chosen, where = self.elements(
            view, [self.values[i] for i in indices],
            self.values[mask[0]] if mask else None)
        data = self.touch(view, where, own.thread[chosen], own.free, op, False,
                          True)
        result = np.full(chosen.shape, self.values[other[0]] if other else 0,
                         data.dtype)
        result[chosen] = data[where]
        self.values[op.results[0]] = result

    def do_tile_scatter(self, op):
        tile, target, indices, mask = op.segments()
        view, own = self.values[target[0]], owners(op.operand_types[0])
        chosen, where = self.elements(
            view, [self.values[i] for i in indices],
            self.values[mask[0]] if mask else None)
        data = self.touch(view, where, own.thread[chosen], 0, op, True, False)
        data[where] = self.values[tile[0]][chosen]

    def do_tile_matmul(self, op):
        """Any thread may read any element of the operands."""
        a, a_at, b, b_at, k, init = op.segments()
        shape, element = shape_and_element(op.result_types[0])
        dtype, k = ELEMENTS[element], int(self.values[k[0]])
        block = int(op.attribute("block").split()[0])
        body = op.regions[0] if op.regions and op.regions[0].ops else None
        views = [self.values[a[0]], self.values[b[0]]]
        places = [self.offsets(a_at), self.offsets(b_at)]
        total = self.values[init[0]] if init else np.zeros(shape, dtype)
        for iteration in range(-(-k // block)):
            first, last = iteration * block, min(k, (iteration + 1) * block)
            now, at = list(views), [[places[0][0], places[0][1] + first],
                                    [places[1][0] + first, places[1][1]]]
            if body:
                self.values[body.arguments[0]] = np.int64(iteration)
                named = yield from self.block(body)
                for side in range(len(named) // 3):
                    now[side] = named[3 * side]
                    at[side] = [int(n) for n in named[3 * side + 1:3 * side + 3]]
            tiles = []
            for side, extent in enumerate([(shape[0], last - first),
                                           (last - first, shape[1])]):
                inside, _ = ops.window(now[side].data[0], at[side], extent)
                data = self.touch(now[side], inside, 0, ALL, op, False, True)
                tiles.append(ops.load(data, at[side], extent).astype(dtype))
            with np.errstate(over="ignore"):
                total = total + tiles[0] @ tiles[1]
        self.values[op.results[0]] = total

    def do_memref_load(self, op):
        view, at = self.operand(op), tuple(self.offsets(op.operands[1:]))
        data = self.touch(view, at, 0, ALL, op, False, True)
        self.values[op.results[0]] = data[at]

    def do_memref_store(self, op):
        view, at = self.operand(op, 1), tuple(self.offsets(op.operands[2:]))
        data = self.touch(view, at, MANY, ALL, op, True, False)
        data[at] = self.operand(op)

    # Atomics, signals, waits ------------------------------------------------------

    @staticmethod
    def word(op, key):
        return (op.attribute(key) or "").split()[-1].rstrip(">")

    def ordered(self, op, make):
        """A release before the op's own access, an acquire after it."""
        sem = self.word(op, "sem")
        if sem in ("release", "acq_rel"):
            self.program.barrier()
        make()
        if sem in ("acquire", "acq_rel"):
            self.program.barrier()

    def target(self, buffer, rank):
        view = self.values[buffer]
        return view.to(int(self.values[rank[0]])) if rank else view

    def do_iris_atomic_rmw(self, op):
        _, value, buffer, offsets, rank, mask = op.segments()
        view, at = self.target(buffer[0], rank), self.offsets(offsets)
        tile, kind = self.values[value[0]], self.word(op, "kind")
        mask = self.values[mask[0]] if mask else None

        def make():
            if np.ndim(tile) == 0:
                data = self.touch(view, tuple(at), 0, 0, op, True, True)
                old = data[tuple(at)].copy()
                if mask is None or mask:
                    data[tuple(at)] = ops.combine(
                        kind, np.array([old]), np.array([tile], data.dtype))[0]
                    self.values[op.results[0]] = old
                else:
                    self.values[op.results[0]] = data.dtype.type(0)
                return
            own = owners(op.operand_types[1])
            inside, outside = ops.window(view.data[0], at, tile.shape)
            chosen = slice(None) if mask is None else mask[outside]
            rank = self.rank if view.rank is None else view.rank
            self.program.access(
                view.memories[rank], view.index[rank][inside][chosen],
                own.thread[outside][chosen], 0, op.line, True, True)
            self.values[op.results[0]] = ops.atomic(kind, view.data[rank], at,
                                                    tile, mask)
        self.ordered(op, make)

    def do_iris_atomic_cas(self, op):
        _, compare, value, buffer, offsets, rank = op.segments()
        view, at = self.target(buffer[0], rank), tuple(self.offsets(offsets))
        compare, value = self.values[compare[0]], self.values[value[0]]

        def make():
            data = self.touch(view, at, 0, 0, op, True, True)
            old = data[at].copy()
            if old == compare:
                data[at] = value
            self.values[op.results[0]] = old
        self.ordered(op, make)

    def do_iris_signal(self, op):
        _, value, buffer, offsets, rank = op.segments()
        view, at = self.target(buffer[0], rank), tuple(self.offsets(offsets))

        def make():
            data = self.touch(view, at, 0, 0, op, True, False)
            with np.errstate(over="ignore"):
                data[at] = self.values[value[0]] + (
                    data[at] if self.word(op, "kind") == "add" else 0)
        self.ordered(op, make)

    def do_iris_wait(self, op):
        _, buffer, offsets, value, rank, _ = op.segments()
        view, at = self.target(buffer[0], rank), tuple(self.offsets(offsets))
        value, comparison = self.values[value[0]], self.word(op, "comparison")
        data = self.touch(view, at, 0, 0, op, False, True)

        def holds():
            with np.errstate(over="ignore"):
                distance = data[at] - value
            return {"eq": distance == 0, "ne": distance != 0,
                    "ge": distance >= 0, "gt": distance > 0,
                    "le": distance <= 0, "lt": distance < 0}[comparison]
        while not holds():
            yield 0
        self.values[op.results[0]] = data[at].copy()
        if self.word(op, "sem") == "acquire":
            self.program.barrier()

    def do_iris_fence(self, op):
        self.program.barrier()

    def do_iris_barrier(self, op):
        self.program.barrier()
        self.barrier_counts[self.rank] += 1
        goal = self.barrier_counts[self.rank]
        while (self.barrier_counts < goal).any():
            yield 0

    def do_gpu_barrier(self, op):
        if op is not self.removed:
            self.program.barrier()

    # Control flow ---------------------------------------------------------------

    def do_scf_if(self, op):
        which = 0 if self.operand(op) else 1
        carried = yield from self.block(op.regions[which])
        self.values.update(zip(op.results, carried))

    def do_scf_for(self, op):
        lower, upper, step = (int(self.operand(op, n)) for n in range(3))
        block = op.regions[0]
        carried = [self.values[o] for o in op.operands[3:]]
        kind = ELEMENTS[op.operand_types[0]]
        for value in range(lower, upper, step):
            self.values.update(zip(block.arguments, [kind(value), *carried]))
            carried = yield from self.block(block)
        self.values.update(zip(op.results, carried))

    def do_scf_while(self, op):
        before, after = op.regions
        carried = [self.values[o] for o in op.operands]
        while True:
            self.values.update(zip(before.arguments, carried))
            again, *passed = yield from self.block(before)
            if not again:
                break
            self.values.update(zip(after.arguments, passed))
            carried = yield from self.block(after)
        self.values.update(zip(op.results, passed))
