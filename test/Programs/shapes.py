# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of random kernels that change the shape of tiles."""
from arithmetic import Arithmetic
from elements import FLOATS, INTS, MANTISSA, is_float, quiet_nan, tile, width
from values import SHAPES

# The first four are of floats, too.
REDUCTIONS = ["sum", "max", "min", "prod", "umin", "umax", "and", "or", "xor"]


class Shapes(Arithmetic):
    def tile_value(self, rank=None, elements=tuple(INTS + FLOATS)):
        found = self.visible(lambda v: v.shape and v.element in elements and
                             rank in (None, len(v.shape)))
        return self.choices.pick(found[:8]) if found else None

    def reduced(self):
        for _ in range(2 + self.choices.number(4)):
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
        dim = self.choices.number(len(value.shape))
        if self.choices.chance(50):
            value = self.telling(kind, value, dim)
        return self.reduction(kind, value, dim, True)

    def telling(self, kind, value, dim):
        """A tile whose reduction shows how it is made."""
        at = self.define(f"tile.range dim {dim} : {tile(value.shape, 'i32')}",
                         value.shape, "i32", False)
        if not is_float(value.element) or kind in ("min", "max"):
            # One line of elements that decides.
            line = self.constant(self.choices.number(value.shape[dim]), "i32",
                                 value.shape)
            literals = [quiet_nan(value.element)] if is_float(value.element) else [
                "-1", "0", str(-(1 << (width(value.element) - 1)))]
            special = self.constant(self.choices.pick(literals), value.element,
                                    value.shape)
            return self.select(self.comparison("cmpi eq", at, line), special, value)
        # Numbers of which each sum and product rounds: inverses of integers, and
        # integers of as many bits as the type has.
        first = self.constant(3 + self.choices.number(8), "i32", value.shape)
        at = self.binary("arith.addi", at, first, False)
        if width(value.element) == 16:
            odd = self.constant(37, "i32", value.shape)
            mask = self.constant((2 << MANTISSA[value.element]) - 1, "i32", value.shape)
            at = self.binary("arith.muli", at, odd, False)
            return self.convert("arith.sitofp", self.binary("arith.andi", at, mask, False),
                                value.element)
        number = self.convert("arith.sitofp", at, value.element)
        one = self.constant("1.0", value.element, value.shape)
        return self.binary("arith.divf", one, number, False)

    def widened(self):
        """Repeats a tile of one dimension less, or of an extent of 1."""
        if self.choices.chance(20):
            return self.splat()
        wide = self.shape
        if len(wide) == 1 or self.choices.chance(40):
            # Of which some have an extent of 2.
            wide = self.choices.pick(SHAPES[2] + SHAPES[3])
        fits = self.visible(lambda v: v.element in INTS + FLOATS and any(
            wide[:d] + wide[d + 1:] == v.shape for d in range(len(wide))))
        if fits:
            value = self.choices.pick(fits[:4])
        else:
            found = self.visible(lambda v: v.shape == wide and
                                 v.element in INTS + FLOATS)
            source = self.choices.pick(found[:8]) if found else self.fresh("i32", wide)
            value = self.reduction("max", source,
                                   self.choices.number(len(source.shape)))
        dims = [d for d in range(len(wide)) if wide[:d] + wide[d + 1:] == value.shape]
        if not dims:
            return value
        dim = self.choices.pick(dims)
        shape = value.shape[:dim] + (1,) + value.shape[dim:]
        thin = self.define(f"tile.expand_dims {self.use(value)} dim {dim} : "
                           f"{value.type} -> {tile(shape, value.element)}", shape,
                           value.element, False)
        if self.choices.chance(50):
            # Of which all elements are different.
            other = self.cast(self.range_of(thin.shape), thin.element) \
                if self.choices.chance(60) else self.value(thin.shape, thin.element)
            thin = self.binary("arith.addf" if is_float(thin.element) else "arith.addi",
                               thin, other, False)
        return self.define(f"tile.broadcast {self.use(thin)} : {thin.type} -> "
                           f"{tile(wide, value.element)}", wide, value.element)

    def splat(self):
        found = self.visible(lambda v: not v.shape and v.element in INTS + FLOATS)
        if not found:
            return self.range()
        return self.splat_of(self.choices.pick(found[:6]), self.shape, True)

    def range_of(self, shape):
        """Numbers along the largest dimension."""
        return self.define(f"tile.range dim {shape.index(max(shape))} : "
                           f"{tile(shape, 'i32')}", shape, "i32", False)

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
