# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows: every access op, with windows (tiles at an offset) that extend
past every edge.

A group is one element type and one tile shape. The source buffer holds a hash
of (rank, index). A destination is divided into slots, one per (sender, window
offset); each slot contains a view with a margin around it, and the window is
stored to that view. Initially, the whole slot holds another hash, so that the
check detects stores outside the window as well as in it.

Offsets run from a window that ends just before the view to one that starts
just after it, along every dimension. The source window is `SHIFT` further on,
so it extends past the edges of the source at other offsets.
"""
import itertools

from tilegen import Program, buffer, tile

SHIFT = 3
PAD = 5  # `else` value
PROGRAMS = 3


class Group:
    def __init__(self, program, element, shape, aligned, tag=""):
        self.program, self.element, self.shape = program, element, shape
        self.rank = len(shape)
        self.slot = [2 * s if s > 1 else 4 for s in shape]
        self.view = [max(1, s + s // 2 - (0 if aligned else 1)) for s in shape]
        self.margin = [(t - v) // 2 for t, v in zip(self.slot, self.view)]
        self.first = [-s if aligned else -s - 1 for s in shape]
        self.step = [max(1, (s + 1) // 2) for s in shape]
        self.count = [-(-(v + 1 - f) // st) for v, f, st in
                      zip(self.view, self.first, self.step)]
        self.windows = 1
        for count in self.count:
            self.windows *= count
        self.name = f"{element}_{'x'.join(map(str, shape))}{tag}"
        self.memref = buffer(element, self.rank)
        self.ops = []

    # Kernels of the set-up -------------------------------------------------------

    def fill(self):
        def body(k):
            offsets = [k.index(0)] * self.rank
            c = k.coordinates(self.slot, offsets)
            index = k.linear_index(self.slot, c, self.view)
            v = k.hash(self.slot, self.element, k.rank, index)
            k.store(v, "%src", offsets, self.slot, self.element)
        return self.program.kernel(f"fill_{self.name}",
                                   [("src", self.memref)], body)

    def slot_offsets(self, k, slot):
        """The start of a slot: slots are stacked along the first dimension."""
        return [k.mul(slot, k.index(self.slot[0]))] + [
            k.index(0) for _ in self.slot[1:]]

    def background(self, k, offsets):
        c = k.coordinates(self.slot, offsets)
        pitches = [1] + self.slot[1:]
        index = k.linear_index(self.slot, c, pitches)
        return k.hash(self.slot, self.element, k.rank, index, salt=9)

    def clear(self):
        def body(k):
            slots = k.mul(k.ranks, k.index(self.windows))
            slot = k.loop(k.pid, slots, k.programs)
            offsets = self.slot_offsets(k, slot)
            k.store(self.background(k, offsets), "%dst", offsets, self.slot,
                    self.element)
            k.close()
        return self.program.kernel(f"clear_{self.name}",
                                   [("dst", self.memref)], body)

    # Loops over windows -----------------------------------------------------------

    def window_loops(self, k):
        """Loops over all windows; yields their number and their offsets."""
        numbers, offsets = None, []
        for dim, count in enumerate(self.count):
            c = (k.loop(k.pid, k.index(count), k.programs) if dim == 0
                 else k.count(k.index(count)))
            numbers = c if numbers is None else k.add(
                k.mul(numbers, k.index(count)), c)
            offsets.append(k.add(k.index(self.first[dim]),
                                 k.mul(c, k.index(self.step[dim]))))
        return numbers, offsets

    def close_loops(self, k, more=0):
        for _ in range(self.rank + more):
            k.close()

    def slot_view(self, k, sender, window):
        """The view in the slot of a sender and a window of `%dst`."""
        slot = k.add(k.mul(sender, k.index(self.windows)), window)
        offsets = self.slot_offsets(k, slot)
        offsets[0] = k.add(offsets[0], k.index(self.margin[0]))
        starts = [offsets[0]] + self.margin[1:]
        strides = ["?"] * (self.rank - 1) + ["1"]
        if self.rank == 1:
            strides = ["1"]
        return k.subview("dst", strides, starts, self.view)

    def indices(self, k, offsets):
        """The coordinates of a window as index tiles, permuted along the
        first dimension."""
        result = []
        for dim, offset in enumerate(offsets):
            c = k.value(f"tile.range dim {dim} : {tile(self.shape, 'i32')}")
            if dim == 0 and self.shape[0] > 1:
                last = k.dense(self.shape, "i32", self.shape[0] - 1)
                c = k.op("arith.muli", self.shape, "i32", c,
                         k.dense(self.shape, "i32", 5))
                c = k.op("arith.andi", self.shape, "i32", c, last)
            base = k.splat(k.to_i32(offset), self.shape, "i32")
            c = k.op("arith.addi", self.shape, "i32", c, base)
            result.append(k.cast("arith.index_cast", self.shape, c, "i32",
                                 "index"))
        return result

    def keep(self, k, relative):
        """The mask of masked transfers: elements at even distance from the
        window's first one, along the last dimension."""
        shape = self.shape if relative is None else self.slot
        if relative is None:
            last = k.value(f"tile.range dim {self.rank - 1} : "
                           f"{tile(shape, 'i32')}")
        else:
            last = relative[-1]
        bit = k.op("arith.andi", shape, "i32", last, k.dense(shape, "i32", 1))
        return k.compare("eq", shape, "i32", bit, k.dense(shape, "i32", 0))

    def source_tile(self, k, shape, c, source, pad):
        """The expected value of a read of the source at the coordinates `c`."""
        index = k.linear_index(shape, c, self.view)
        v = k.hash(shape, self.element, source, index)
        inside = k.inside(shape, c, self.view)
        return k.select(shape, self.element, inside, v,
                        k.dense(shape, self.element, pad))

    # Reads ---------------------------------------------------------------------

    def reads(self, options="", pad=None, tag=""):
        """iris.load and tile.load."""
        def body(k):
            other = "" if pad is None else f" else {k.constant(self.element, pad)}"
            window, o = self.window_loops(k)
            c = k.coordinates(self.shape, o)
            peer = k.count(k.ranks)
            at = f"[{', '.join(o)}]"
            types = f"{self.memref} -> {tile(self.shape, self.element)}"
            got = k.value(f"iris.load %ctx, %src{at} from {peer}{other}"
                          f"{options} : {types}")
            want = self.source_tile(k, self.shape, c, peer, pad or 0)
            k.expect(got, want, "iris.load", self.shape, self.element)
            k.close()
            got = k.value(f"tile.load %src{at}{other}{options} : {types}")
            want = self.source_tile(k, self.shape, c, k.rank, pad or 0)
            k.expect(got, want, "tile.load", self.shape, self.element)
            self.close_loops(k)
        name = self.program.kernel(f"load{tag}_{self.name}",
                                   [("src", self.memref)], body)
        self.ops.append((name, None))
        self.program.cases += 2 * self.windows

    def gathers(self, options="", tag=""):
        """iris.gather and tile.gather with mask and else."""
        def body(k):
            pad = k.constant(self.element, PAD)
            window, o = self.window_loops(k)
            peer = k.count(k.ranks)
            idx = self.indices(k, o)
            types = (f"{self.memref}, "
                     + ", ".join([tile(self.shape, "index")] * self.rank)
                     + f" -> {tile(self.shape, self.element)}")
            mask = self.keep(k, None)
            for op, source in (("iris", peer), ("tile", k.rank)):
                head = "iris.gather %ctx, " if op == "iris" else "tile.gather "
                rank = f" from {peer}" if op == "iris" else ""
                got = k.value(f"{head}%src[{', '.join(idx)}]{rank} mask {mask}"
                              f" else {pad}{options} : {types}")
                c = [k.cast("arith.index_cast", self.shape, i, "index", "i32")
                     for i in idx]
                want = self.source_tile(k, self.shape, c, source, PAD)
                want = k.select(self.shape, self.element, mask, want,
                                k.dense(self.shape, self.element, PAD))
                k.expect(got, want, f"{op}.gather", self.shape, self.element)
            k.close()
            self.close_loops(k)
        name = self.program.kernel(f"gather{tag}_{self.name}",
                                   [("src", self.memref)], body)
        self.ops.append((name, None))
        self.program.cases += 2 * self.windows

    # Writes --------------------------------------------------------------------

    def writes(self, kind, options="", masked=False, pad=0, tag="",
               load_options=""):
        """One kernel per kind, which writes to every slot of every receiver;
        (delta, own) give the rank whose data a slot holds."""
        delta, own = {"copy": (1, 0), "tile_store": (0, 1),
                      "tile_scatter": (0, 1)}.get(kind, (0, 0))

        def body(k):
            window, o = self.window_loops(k)
            peer = k.count(k.ranks)
            so = [k.add(x, k.index(SHIFT)) for x in o]
            sender = peer if kind in ("get", "tile_store", "tile_scatter") \
                else k.rank
            dst = self.slot_view(k, sender, window)
            types = f"{self.memref}, {k.type_of(dst)}"
            at, source = f"[{', '.join(o)}]", f"[{', '.join(so)}]"
            if kind in ("get", "put", "copy"):
                ranks = {"get": f"from {peer}", "put": f"to {peer}",
                         "copy": f"from {k.neighbour()} to {peer}"}[kind]
                extra = ""
                if masked:
                    mask = self.keep(k, None)
                    extra += f" mask {mask}"
                if pad:
                    other = k.constant(self.element, pad)
                    extra += f" else {other}"
                k.emit(f"iris.{kind} %ctx, %src{source}, {dst}{at} {ranks} "
                       f"shape [{', '.join(map(str, self.shape))}]{extra}"
                       f"{options} : {types}")
            elif kind in ("store", "tile_store"):
                v = k.load("%src", so, self.shape, self.element, load_options)
                if kind == "store":
                    k.emit(f"iris.store %ctx, {v}, {dst}{at} to {peer}{options}"
                           f" : {tile(self.shape, self.element)}, "
                           f"{k.type_of(dst)}")
                else:
                    k.store(v, dst, o, self.shape, self.element, options)
            else:  # scatters
                idx = self.indices(k, o)
                c = [k.cast("arith.index_cast", self.shape, i, "index", "i32")
                     for i in idx]
                sc = k.shift(self.shape, c, [SHIFT] * self.rank)
                v = self.source_tile(k, self.shape, sc, k.rank, 0)
                # The mask is a function of the destination, not of the tile.
                base = k.splat(k.to_i32(o[-1]), self.shape, "i32")
                last = k.op("arith.subi", self.shape, "i32", c[-1], base)
                bit = k.op("arith.andi", self.shape, "i32", last,
                           k.dense(self.shape, "i32", 1))
                mask = k.compare("eq", self.shape, "i32", bit,
                                 k.dense(self.shape, "i32", 0))
                if kind == "scatter":
                    head, rank = "iris.scatter %ctx, ", f" to {peer}"
                else:
                    head, rank = "tile.scatter ", ""
                k.emit(f"{head}{v}, {dst}[{', '.join(idx)}]{rank} mask {mask}"
                       f"{options} : {tile(self.shape, self.element)}, "
                       f"{k.type_of(dst)}, "
                       + ", ".join([tile(self.shape, "index")] * self.rank))
            k.close()
            self.close_loops(k)
        name = self.program.kernel(
            f"{kind}{tag}_{self.name}",
            [("src", self.memref), ("dst", self.memref)], body)
        masked = masked or "scatter" in kind
        self.ops.append((name, (self.check(masked, pad), delta, own)))
        self.program.cases += self.windows

    def check(self, masked, pad):
        def body(k):
            window, o = self.window_loops(k)
            sender = k.count(k.ranks)
            slot = k.add(k.mul(sender, k.index(self.windows)), window)
            at = self.slot_offsets(k, slot)
            got = k.load("%dst", at, self.slot, self.element)

            theirs = k.mul(sender, k.sub(k.index(1), "%own"))
            source = k.add(k.add(theirs, k.mul(k.rank, "%own")), "%delta")
            source = k.rem(source, k.ranks)
            zero = [k.index(0)] * self.rank
            c = k.coordinates(self.slot, zero)
            c = k.shift(self.slot, c, [-m for m in self.margin])
            relative = [
                k.op("arith.subi", self.slot, "i32", x,
                     k.splat(k.to_i32(y), self.slot, "i32"))
                for x, y in zip(c, o)]
            masks = [k.inside(self.slot, c, self.view),
                     k.inside(self.slot, relative, self.shape)]
            if masked:
                masks.append(self.keep(k, relative))
            written = k.both(self.slot, masks)
            sc = k.shift(self.slot, c, [SHIFT] * self.rank)
            new = self.source_tile(k, self.slot, sc, source, pad)
            want = k.select(self.slot, self.element, written, new,
                            self.background(k, at))
            k.expect(got, want, "written", self.slot, self.element)
            k.close()
            self.close_loops(k)
        tag = ("_masked" if masked else "") + ("_else" if pad else "")
        return self.program.kernel(
            f"check{tag}_{self.name}",
            [("dst", self.memref), ("delta", "index"), ("own", "index")], body)

    # @main ---------------------------------------------------------------------

    def run(self):
        """Launches everything: fill, all ops, check."""
        p = self.program
        src = p.alloc(self.element, self.view)
        p.launch(self.fill(), 1, src)
        outputs = {}
        for name, check in self.ops:
            if check:
                rows = p.mul(p.ranks, p.index(self.windows * self.slot[0]))
                outputs[name] = p.alloc(self.element, [rows] + self.slot[1:])
                p.launch(self.clear(), PROGRAMS, outputs[name])
        p.sync()
        for name, check in self.ops:
            p.launch(name, PROGRAMS, src, *([outputs[name]] if check else []))
        p.sync()
        for name, check in self.ops:
            if check:
                kernel, delta, own = check
                p.launch(kernel, PROGRAMS, outputs[name], delta, own)
        p.sync()
        for output in reversed(list(outputs.values())):
            p.dealloc(output)
        p.dealloc(src)


SHAPES_1D = [(1,), (8,), (16,), (32,), (256,), (2048,)]
SHAPES_2D = [(1, 8), (4, 4), (8, 4), (16, 16), (8, 256)]


def accesses(element, full):
    """load, store, get, put, copy for one element type, all tile sizes."""
    program = Program()
    for number, shape in enumerate(SHAPES_1D + SHAPES_2D):
        for aligned in ((True, False) if full else (number % 2 == 0,)):
            group = Group(program, element, shape, aligned,
                          "a" if aligned else "r")
            group.reads(pad=PAD if number % 3 == 1 else None)
            for kind in ("store", "get", "put", "copy", "tile_store"):
                group.writes(kind)
            group.run()
    return program


def elements(element, full):
    """Gather, scatter, and transfers with mask and else."""
    program = Program()
    shapes = [(1,), (32,), (256,), (4, 4), (8, 32)]
    for shape in shapes + ([(2048,), (8, 256)] if full else []):
        group = Group(program, element, shape, aligned=False)
        group.gathers()
        group.writes("scatter")
        group.writes("tile_scatter")
        for kind in ("get", "put", "copy"):
            group.writes(kind, masked=True, pad=PAD, tag="_masked")
        group.run()
    return program


def modifiers(element, full):
    """Every cache modifier, with and without `volatile`, of every access."""
    program = Program()
    loads, stores = ["ca", "cg", "cv"], ["wb", "cg", "cs", "wt"]
    for shape in [(32,), (256,)] + ([(8, 256)] if full else []):
        for number, volatile in enumerate(("", " volatile")):
            group = Group(program, element, shape, number == 0, f"v{number}")
            for load in loads:
                option = f" cache({load}){volatile}"
                group.reads(option, tag=f"_{load}")
                group.gathers(option, tag=f"_{load}")
            for store in stores:
                option = f" cache({store}){volatile}"
                for kind in ("store", "tile_store", "scatter"):
                    group.writes(kind, option, tag=f"_{store}")
            group.run()
            group = Group(program, element, shape, number == 0, f"t{number}")
            for load, store in itertools.product(loads, stores):
                option = f" cache({load}) store_cache({store}){volatile}"
                for kind in ("get", "put", "copy"):
                    group.writes(kind, option, tag=f"_{load}_{store}")
            group.run()
    return program
