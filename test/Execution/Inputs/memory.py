# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scratch buffers of a program, memref.alloca: tile, indexed and scalar
accesses and views, several buffers, buffers in loops, filled from peers, and
as operands of tile.matmul.

Several programs run at once, each with different data in its buffers.
"""
from tilegen import Program, tile

PROGRAMS = 3
ROUNDS = 3
SIZES = (24, 40)


def own(element, sizes):
    return f"memref<{'x'.join(map(str, sizes))}x{element}>"


class Kernels:
    def __init__(self, element):
        self.element = element

    def alloca(self, k, sizes):
        name = k.value(f"memref.alloca() : {own(self.element, sizes)}")
        k.types[name] = own(self.element, sizes)
        return name

    def values(self, k, shape, offsets, sizes, salt):
        """The program's expected data in a tile of a buffer of `sizes`."""
        c = k.coordinates(shape, offsets)
        index = k.linear_index(shape, c, sizes)
        index = k.op("arith.addi", shape, "i32", index, k.splat(
            k.to_i32(k.mul(k.pid, k.index(4096))), shape, "i32"))
        return k.hash(shape, self.element, k.rank, index, salt=salt)

    def inside(self, k, shape, offsets, sizes, value):
        zero = k.dense(shape, self.element, 0)
        return k.select(shape, self.element,
                        k.inside(shape, k.coordinates(shape, offsets), sizes),
                        value, zero)

    def fill(self, k, memory, sizes, salt, shape=(8, 16)):
        i = k.loop(k.index(0), k.index(sizes[0]), k.index(shape[0]))
        j = k.loop(k.index(0), k.index(sizes[1]), k.index(shape[1]))
        k.store(self.values(k, shape, [i, j], sizes, salt), memory, [i, j],
                shape, self.element)
        k.close()
        k.close()

    def check(self, k, memory, sizes, salt, what, shape=(32, 4)):
        """Other tiles than those of `fill`, so that other threads stored
        them."""
        i = k.loop(k.index(0), k.index(sizes[0]), k.index(shape[0]))
        j = k.loop(k.index(0), k.index(sizes[1]), k.index(shape[1]))
        got = k.load(memory, [i, j], shape, self.element)
        want = self.inside(k, shape, [i, j], sizes,
                           self.values(k, shape, [i, j], sizes, salt))
        k.expect(got, want, what, shape, self.element)
        k.close()
        k.close()

    def windows(self, k):
        """Two buffers whose sizes are not multiples of the tile's."""
        first, second = self.alloca(k, SIZES), self.alloca(k, (20, 24))
        self.fill(k, first, SIZES, 1)
        self.fill(k, second, (20, 24), 2)
        self.check(k, first, SIZES, 1, "windows of the first")
        self.check(k, second, (20, 24), 2, "windows of the second")

    def loops(self, k):
        """A buffer that is allocated in a loop, and one that outlives the
        loop."""
        outer = self.alloca(k, SIZES)
        self.fill(k, outer, SIZES, 3)
        k.count(k.index(ROUNDS))
        inner = self.alloca(k, SIZES)
        self.fill(k, inner, SIZES, 4)
        self.check(k, inner, SIZES, 4, "a buffer of a loop")
        k.close()
        self.check(k, outer, SIZES, 3, "a buffer around a loop")

    def views(self, k):
        """Views, one of them at an offset that is not constant."""
        memory = self.alloca(k, SIZES)
        self.fill(k, memory, SIZES, 5)
        at = k.rem(k.pid, k.index(4))
        type_ = (f"memref<16x16x{self.element}, strided<[{SIZES[1]}, 1], "
                 "offset: ?>>")
        part = k.value(f"memref.subview {memory}[{at}, 8] [16, 16] [1, 1] : "
                       f"{own(self.element, SIZES)} to {type_}")
        k.types[part] = type_
        shape, zero = (16, 32), k.index(0)
        got = k.load(part, [zero, zero], shape, self.element)
        values = self.values(k, shape, [at, k.index(8)], SIZES, 5)
        want = self.inside(k, shape, [zero, zero], (16, 16), values)
        k.expect(got, want, "a view", shape, self.element)
        k.store(self.values(k, shape, [zero, zero], (16, 16), 6), part,
                [zero, zero], shape, self.element)
        got = k.load(memory, [at, k.index(8)], (16, 16), self.element)
        k.expect(got, self.values(k, (16, 16), [zero, zero], (16, 16), 6),
                 "a stored view", (16, 16), self.element)

    def scalars(self, k):
        """Element-wise stores read as tiles, and the reverse."""
        memory, sizes = self.alloca(k, (7, 9)), (7, 9)
        i, j = k.count(k.index(7)), k.count(k.index(9))
        index = k.to_i32(k.add(k.mul(k.pid, k.index(4096)),
                               k.add(k.mul(i, k.index(9)), j)))
        k.emit(f"memref.store {k.hash((), self.element, k.rank, index, 7)}, "
               f"{memory}[{i}, {j}] : {own(self.element, sizes)}")
        k.close()
        k.close()
        self.check(k, memory, sizes, 7, "stored scalars", (8, 16))
        self.fill(k, memory, sizes, 8)
        i, j = k.count(k.index(7)), k.count(k.index(9))
        index = k.to_i32(k.add(k.mul(k.pid, k.index(4096)),
                               k.add(k.mul(i, k.index(9)), j)))
        got = k.value(f"memref.load {memory}[{i}, {j}] : "
                      f"{own(self.element, sizes)}")
        k.expect(got, k.hash((), self.element, k.rank, index, 8),
                 "loaded scalars", (), self.element)
        k.close()
        k.close()

    def indexed(self, k):
        """A transposition by scatter, and one by gather."""
        shape, sizes = (16, 32), (32, 16)
        memory, zero = self.alloca(k, sizes), k.index(0)
        row, column = [k.value(f"tile.range dim {d} : {tile(shape, 'index')}")
                       for d in (0, 1)]
        values = self.values(k, shape, [zero, zero], shape, 9)
        types = f"{tile(shape, 'index')}, {tile(shape, 'index')}"
        k.emit(f"tile.scatter {values}, {memory}[{column}, {row}] : "
               f"{tile(shape, self.element)}, {own(self.element, sizes)}, "
               f"{types}")
        got = k.value(f"tile.gather {memory}[{column}, {row}] : "
                      f"{own(self.element, sizes)}, {types} -> "
                      f"{tile(shape, self.element)}")
        k.expect(got, values, "gathered", shape, self.element)
        loaded = k.load(memory, [zero, zero], sizes, self.element)
        turned = k.value(f"tile.transpose {loaded} [1, 0] : "
                         f"{tile(sizes, self.element)} -> "
                         f"{tile(shape, self.element)}")
        k.expect(turned, values, "scattered", shape, self.element)

    def peers(self, k):
        """A buffer fetched from a peer."""
        memory, zero = self.alloca(k, SIZES), k.index(0)
        peer = k.neighbour()
        type_ = k.types["shared"]
        k.emit(f"iris.get %ctx, %shared[{zero}, {zero}], {memory}[{zero}, "
               f"{zero}] from {peer} shape [32, 64] : {type_}, "
               f"{own(self.element, SIZES)}")
        shape = (4, 64)
        i = k.loop(zero, k.index(SIZES[0]), k.index(shape[0]))
        got = k.load(memory, [i, zero], shape, self.element)
        index = k.linear_index(shape, k.coordinates(shape, [i, zero]), SIZES)
        want = self.inside(k, shape, [i, zero], SIZES,
                           k.hash(shape, self.element, peer, index, salt=10))
        k.expect(got, want, "fetched", shape, self.element)
        k.close()

    def publish(self, k):
        shape, zero = (8, 64), k.index(0)
        i = k.loop(k.mul(k.pid, k.index(shape[0])), k.index(SIZES[0]),
                   k.mul(k.programs, k.index(shape[0])))
        index = k.linear_index(shape, k.coordinates(shape, [i, zero]), SIZES)
        k.store(k.hash(shape, self.element, k.rank, index, salt=10), "%shared",
                [i, zero], shape, self.element)
        k.close()

    def matmuls(self, k):
        """Row sums, as a matmul with a matrix of ones; twice, with different
        operands."""
        shape, zero, n = (64, 64), k.index(0), k.index(48)
        a, b = self.alloca(k, (64, 48)), self.alloca(k, (48, 64))
        sum_ = "i32" if self.element == "i8" else "f32"
        k.store(k.dense((64, 64), self.element, 1), b, [zero, zero], (64, 64),
                self.element)
        for factor in (1, 2):
            # Element (i, j) is i % 4 times the factor, plus the program.
            row = k.value(f"tile.range dim 0 : {tile(shape, 'i32')}")
            three = k.dense(shape, "i32", 3)
            value = k.op("arith.andi", shape, "i32", row, three)
            value = k.op("arith.muli", shape, "i32", value,
                         k.dense(shape, "i32", factor))
            value = k.op("arith.addi", shape, "i32", value,
                         k.splat(k.to_i32(k.pid), shape, "i32"))
            cast = "arith.trunci" if self.element == "i8" else "arith.sitofp"
            k.store(k.cast(cast, shape, value, "i32", self.element), a,
                    [zero, zero], shape, self.element)
            got = k.value(
                f"tile.matmul {a}[{zero}, {zero}], {b}[{zero}, {zero}] k({n}) "
                f"block(32) : {own(self.element, (64, 48))}, "
                f"{own(self.element, (48, 64))} -> {tile(shape, sum_)}")
            want = k.op("arith.muli", shape, "i32", value,
                        k.dense(shape, "i32", 48))
            if sum_ == "f32":
                want = k.cast("arith.sitofp", shape, want, "i32", "f32")
            k.expect(got, want, f"a matmul, {factor}", shape, sum_)


def memory(element, full):
    p = Program()
    kernels = Kernels(element)
    shared = p.alloc(element, list(SIZES))
    p.launch(p.kernel("publish", [("shared", shared[1])], kernels.publish),
             PROGRAMS, shared)
    p.sync()
    names = ["windows", "loops", "views", "scalars", "indexed", "peers"]
    if element in ("f16", "bf16", "f32", "i8"):
        names.append("matmuls")
    for name in names:
        p.launch(p.kernel(name, [("shared", shared[1])],
                          getattr(kernels, name)), PROGRAMS, shared)
        p.sync()
        p.cases += 1
    return p
