# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Epilogues of tile.matmul: sums, maxima and minima of rows and columns,
stored, and broadcast back to the tile, as in softmax and RMSNorm.

The operands are those of matmul.py, so that all results are exact. The
reference sums the products of the same hashes, one k and one row or column at
a time, in one-dimensional tiles.
"""
from collectives import FLOAT8
from matmul import fill_kernel, number, other_of, storage
from tilegen import Program, buffer, tile

KINDS = {"sum": ("arith.addi", 0), "max": ("arith.maxsi", -(1 << 30)),
         "min": ("arith.minsi", 1 << 30)}
LENGTH = 40  # extent of k


class Epilogue:
    """Statistics along one dimension of a matmul of one tile."""

    def __init__(self, element, shape, block, warps, kind, dim):
        self.a, self.b = element, other_of(element)
        self.shape, self.block, self.warps = shape, block, warps
        self.kind, self.dim = kind, dim
        self.sum = "i32" if element == "i8" else "f32"
        self.name = (f"epilogue_{element}_{shape[0]}x{shape[1]}x{block}_"
                     f"{warps}w_{kind}_{dim}")

    def op(self, name):
        return f"arith.{name}{'i' if self.sum == 'i32' else 'f'}"

    def narrow(self):
        """The shape of the statistics, whose reduced dimension has extent 1."""
        return tuple(1 if d == self.dim else n
                     for d, n in enumerate(self.shape))

    def reduce(self, k, kind, value):
        kept = (self.shape[1 - self.dim],)
        return k.value(f"tile.reduce {kind} {value} dim {self.dim} : "
                       f"{tile(self.shape, self.sum)} -> "
                       f"{tile(kept, self.sum)}")

    def expand(self, k, value):
        kept = (self.shape[1 - self.dim],)
        return k.value(f"tile.expand_dims {value} dim {self.dim} : "
                       f"{tile(kept, self.sum)} -> "
                       f"{tile(self.narrow(), self.sum)}")

    def spread(self, k, value):
        return k.value(f"tile.broadcast {value} : "
                       f"{tile(self.narrow(), self.sum)} -> "
                       f"{tile(self.shape, self.sum)}")

    def kernel(self, k):
        zero, shape = k.index(0), self.shape
        as_ = f" as({self.a}, {self.b})" if self.a in FLOAT8 else ""
        types = [buffer(storage(e), 2) for e in (self.a, self.b)]
        c = k.value(f"tile.matmul %a[{zero}, {zero}], %b[{zero}, {zero}] "
                    f"k({k.index(LENGTH)}) block({self.block}){as_} : "
                    f"{types[0]}, {types[1]} -> {tile(shape, self.sum)}")
        # The statistics.
        r = self.reduce(k, self.kind, c)
        e = self.expand(k, r)
        k.store(e, "%out", [zero, zero], self.narrow(), self.sum)
        # The tile minus the statistics, and the largest difference.
        d = k.op(self.op("sub"), shape, self.sum, c, self.spread(k, e))
        s = self.expand(k, self.reduce(k, "max", d))
        k.store(s, "%most", [zero, zero], self.narrow(), self.sum)
        # Both in one expression.
        f = k.op(self.op("add"), shape, self.sum, d, self.spread(k, s))
        k.store(f, "%tile", [zero, zero], shape, self.sum)

    def check(self, k):
        """A separate kernel, which reads the stored results."""
        zero = k.index(0)
        want, most = self.expected(k)
        expand = lambda value: k.value(
            f"tile.expand_dims {value} dim {self.dim} : "
            f"{tile((self.shape[1 - self.dim],), self.sum)} -> "
            f"{tile(self.narrow(), self.sum)}")
        for name, value in (("out", want), ("most", most)):
            got = k.load(f"%{name}", [zero, zero], self.narrow(), self.sum)
            k.expect(got, expand(value), f"{self.name} {name}", self.narrow(),
                     self.sum)
        got = k.load("%tile", [zero, zero], self.shape, self.sum)
        own = [k.value(f"tile.range dim {d} : {tile(self.shape, 'i32')}")
               for d in (0, 1)]
        product = self.matmul_element(k, self.shape, *own)
        d = k.op(self.op("sub"), self.shape, self.sum,
                 self.to_sum(k, self.shape, product),
                 self.spread(k, expand(want)))
        f = k.op(self.op("add"), self.shape, self.sum, d,
                 self.spread(k, expand(most)))
        k.expect(got, f, f"{self.name} tile", self.shape, self.sum)

    def to_sum(self, k, shape, value):
        if self.sum == "i32":
            return value
        return k.cast("arith.sitofp", shape, value, "i32", self.sum)

    def matmul_element(self, k, shape, row, column):
        """i32: a[row, :] times b[:, column]; tiles of `shape`."""
        k.counter += 3
        result, at, carried = (f"%{k.counter - n}" for n in (2, 1, 0))
        k.open(f"{result} = scf.for {at} = {k.index(0)} to {k.index(LENGTH)} "
               f"step {k.index(1)} iter_args({carried} = "
               f"{k.dense(shape, 'i32', 0)}) -> ({tile(shape, 'i32')}) {{")
        index = k.splat(k.to_i32(at), shape, "i32")
        x = number(k, shape, self.a, k.rank, row, index, 1)
        y = number(k, shape, self.b, k.rank, index, column, 2)
        xy = k.op("arith.muli", shape, "i32", x, y)
        next_ = k.op("arith.addi", shape, "i32", carried, xy)
        k.emit(f"scf.yield {next_} : {tile(shape, 'i32')}")
        k.close()
        return result

    def along(self, k, name, start, term):
        """Folds `term(tile of one index)` over the reduced dimension."""
        shape = (self.shape[1 - self.dim],)
        k.counter += 3
        result, at, carried = (f"%{k.counter - n}" for n in (2, 1, 0))
        k.open(f"{result} = scf.for {at} = {k.index(0)} to "
               f"{k.index(self.shape[self.dim])} step {k.index(1)} "
               f"iter_args({carried} = {k.dense(shape, 'i32', start)}) -> "
               f"({tile(shape, 'i32')}) {{")
        own = k.value(f"tile.range dim 0 : {tile(shape, 'i32')}")
        here = k.splat(k.to_i32(at), shape, "i32")
        coordinates = (own, here) if self.dim == 1 else (here, own)
        value = term(self.matmul_element(k, shape, *coordinates))
        next_ = k.op(name, shape, "i32", carried, value)
        k.emit(f"scf.yield {next_} : {tile(shape, 'i32')}")
        k.close()
        return result

    def expected(self, k):
        shape = (self.shape[1 - self.dim],)
        want = self.along(k, *KINDS[self.kind], lambda value: value)

        most = self.along(
            k, *KINDS["max"],
            lambda value: k.op("arith.subi", shape, "i32", value, want))
        return [self.to_sum(k, shape, v) for v in (want, most)]


def fill(p, element, sizes, salt):
    memory = p.alloc(storage(element), sizes)
    kernel = p.kernel(f"fill_{element}_{salt}", [
        ("out", memory[1]), ("rows", "index"), ("columns", "index"),
        ("eight", "index")], fill_kernel(element, "row", salt))
    p.launch(kernel, 1, memory, *sizes, 8)
    return memory


def epilogues(element, full):
    p = Program()
    least = 32 if storage(element) == "i8" else 16
    shapes = [((64, 64), 4), ((128, 64), 8), ((64, 128), 4), ((16, 64), 4),
              ((32, 16), 4)]
    if full:
        shapes += [((128, 256), 8), ((256, 64), 8), ((64, 256), 4),
                   ((128, 128), 4), ((32, 128), 8), ((16, 256), 4)]
    iteration = 0
    for shape, warps in shapes:
        for dim in (0, 1):
            for kind in KINDS if full else [list(KINDS)[iteration % 3]]:
                e = Epilogue(element, shape, max(least, [16, 32, 64][iteration % 3]),
                             warps, kind, dim)
                a = fill(p, e.a, [shape[0], LENGTH], 1)
                b = fill(p, e.b, [LENGTH, shape[1]], 2)
                outs = [p.alloc(e.sum, list(s))
                        for s in (e.narrow(), e.narrow(), shape)]
                named = [("out", outs[0][1]), ("most", outs[1][1]),
                         ("tile", outs[2][1])]
                p.launch(p.kernel(e.name, [("a", a[1]), ("b", b[1])] + named,
                                  e.kernel, warps=warps), 1, a, b, *outs)
                p.launch(p.kernel(f"check_{e.name}", named, e.check,
                                  warps=warps), 1, *outs)
                p.sync()
                for memory in outs[::-1] + [b, a]:
                    p.dealloc(memory)
                p.cases += 1
                iteration += 1
    return p
