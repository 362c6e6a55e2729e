# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of random kernels that change the shape of tiles."""
from arithmetic import Arithmetic
from elements import FLOATS, INTS, is_float, tile

# The first four are of floats, too.
REDUCTIONS = ["sum", "max", "min", "prod", "umin", "umax", "and", "or", "xor"]


class Shapes(Arithmetic):
    def tile_value(self, rank=None, elements=tuple(INTS + FLOATS)):
        found = self.visible(lambda v: v.shape and v.element in elements and
                             rank in (None, len(v.shape)))
        return self.choices.pick(found[:8]) if found else None

    def reduced(self):
        for _ in range(1 + self.choices.number(3)):
            self.reduce_tile()

    def reduce_tile(self):
        kind, elements = self.balanced(
            [(kind, "ints") for kind in REDUCTIONS] +
            [(kind, "floats") for kind in REDUCTIONS[:4]], "reduce")
        element = self.balanced(INTS if elements == "ints" else FLOATS, kind)
        value = self.tile_value(elements=(element,))
        if not value:
            value = self.cast(self.tile_value() or self.fresh(element, self.shape),
                              element)
        return self.reduction(kind, value, self.choices.number(len(value.shape)), True)

    def widened(self):
        """Repeats a tile of one dimension less, or of an extent of 1."""
        if len(self.shape) == 1 or self.choices.chance(20):
            return self.splat()
        fits = self.visible(lambda v: v.element in INTS + FLOATS and any(
            self.shape[:d] + self.shape[d + 1:] == v.shape
            for d in range(len(self.shape))))
        if fits:
            value = self.choices.pick(fits[:4])
        else:
            source = self.tile_value(len(self.shape)) or self.fresh("i32", self.shape)
            value = self.reduction("max", source,
                                   self.choices.number(len(source.shape)))
        dims = [d for d in range(len(self.shape))
                if self.shape[:d] + self.shape[d + 1:] == value.shape]
        if not dims:
            return value
        dim = self.choices.pick(dims)
        shape = value.shape[:dim] + (1,) + value.shape[dim:]
        thin = self.define(f"tile.expand_dims {self.use(value)} dim {dim} : "
                           f"{value.type} -> {tile(shape, value.element)}", shape,
                           value.element, False)
        if self.choices.chance(30):
            thin = self.binary("arith.addf" if is_float(thin.element) else "arith.addi",
                               thin, self.value(thin.shape, thin.element), False)
        return self.define(f"tile.broadcast {self.use(thin)} : {thin.type} -> "
                           f"{tile(self.shape, value.element)}", self.shape,
                           value.element)

    def splat(self):
        found = self.visible(lambda v: not v.shape and v.element in INTS + FLOATS)
        if not found:
            return self.range()
        return self.splat_of(self.choices.pick(found[:6]), self.shape, True)

    def range(self):
        element = self.balanced(["i32", "i64", "index"], "range")
        dim = self.choices.number(len(self.shape))
        return self.define(f"tile.range dim {dim} : {tile(self.shape, element)}",
                           self.shape, element)

    def transposed(self):
        value = self.tile_value(2) or self.tile_value(3)
        if not value:
            return self.range()
        order = list(range(len(value.shape)))
        order = order[::-1] if len(order) == 2 else self.choices.pick(
            [[1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]])
        shape = tuple(value.shape[d] for d in order)
        return self.define(f"tile.transpose {self.use(value)} {order} : {value.type} "
                           f"-> {tile(shape, value.element)}", shape, value.element)
