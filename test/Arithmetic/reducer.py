# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reduces a kernel that fails to the ops that it fails for.

Every value's results are known, so an op can be cut off: its result becomes an
input with those results, and the ops that led to it are not needed any more.
Other rewrites (an op becomes its operand, a loop one iteration, a tile a scalar)
compute all results again; one that leaves an op undefined is not tried.
`fails` tells for a list of kernels which ones fail.
"""
import copy

import exact_floats as floats
import operations as ops
from operations import FLOATS, INTEGERS
from program import COUNT, Op, Program, Undefined, Value, walk

AT_ONCE = 24  # kernels in one image


def bits_of(t, result):
    """Bits of a result; of a NaN any."""
    if result != floats.NAN:
        return result
    if t in FLOATS:
        return floats.infinity(t) + 1 | 1 << floats.FORMATS[t][2] - 1
    return 0x80 if floats.FORMATS8[t][3] == "fnuz" else 0x7F


def plain(kernel):
    """A copy without what drew it."""
    program = Program(kernel.name, kernel.form, kernel.shape)
    program.inputs, program.outputs = kernel.inputs, kernel.outputs
    program.body = kernel.body
    return copy.deepcopy(program)


def blocks_of(block):
    yield block
    for op in block.ops:
        for inner in op.blocks:
            yield from blocks_of(inner)


def replace(program, old, new):
    for block in blocks_of(program.body):
        block.yields = [new if v is old else v for v in block.yields]
        for op in block.ops:
            op.operands = [new if v is old else v for v in op.operands]
    program.outputs = list(dict.fromkeys(
        new if v is old else v for v in program.outputs))


def prune(program):
    """Removes what no output depends on."""
    needed = program.live()
    program.inputs = [v for v in program.inputs if v in needed]
    for block in list(blocks_of(program.body)):
        block.ops = [op for op in block.ops if needed.intersection(op.results)]
    computed = set(v for op in walk(program.body) for v in op.results)
    program.outputs = [v for v in program.outputs if v in computed]
    return program


def cost(program):
    """Ops count most, then what is stored and loaded."""
    count = sum(3 if op.blocks else 1 for op in walk(program.body)
                if op.name != "arith.constant")
    constants = len(list(walk(program.body))) - count
    return (count, len(program.outputs), len(program.inputs), program.elements,
            program.group, constants, len({r for v in program.inputs
                                           for r in v.raw}))


# Rewrites: each yields changes, functions of (program, items of it) -----------


def keep_outputs(program, *kept):
    program.outputs = list(kept)


def cut(program, value):
    if None in value.results:
        raise Undefined
    new = Value(value.t, value.shape, value.results,
                [bits_of(value.t, r) for r in value.results])
    program.outputs = [v for v in program.outputs if v is not value]
    program.inputs.append(new)
    replace(program, value, new)


def to_constant(program, value):
    if len(set(value.results)) > 1 or None in value.results:
        raise Undefined
    new = Value(value.t, value.shape, value.results)
    program.body.ops.insert(0, Op("arith.constant", [], [new],
                                  bits_of(value.t, value.results[0])))
    program.outputs = [v for v in program.outputs if v is not value]
    replace(program, value, new)


def bypass(program, value, operand):
    replace(program, value, operand)


def inline(program, block, op, chosen):
    """One side of a branch, one iteration of a loop."""
    if op.name == "scf.for":
        for argument, value in zip(chosen.arguments,
                                   op.operands[:1] + op.operands[3:]):
            replace(program, argument, value)
    position = block.ops.index(op)
    block.ops[position:position + 1] = chosen.ops
    for result, value in zip(op.results, chosen.yields):
        replace(program, result, value)


def drop_result(program, op, number):
    """A result of a loop or branch that nothing uses."""
    if any(op.results[number] in v for v in [program.outputs] + [
            o.operands for o in walk(program.body)] + [
                b.yields for b in blocks_of(program.body)]):
        raise Undefined
    del op.results[number]
    for block in op.blocks:
        del block.yields[number]
    if op.name == "scf.for":
        argument = op.blocks[0].arguments.pop(1 + number)
        replace(program, argument, op.operands.pop(3 + number))


def single_set(program, number):
    """All sets of inputs are that one."""
    for value in program.inputs:
        value.raw = [value.raw[number]] * COUNT
        value.results = [value.results[number]] * COUNT


def reshape(program, form, shape):
    everything = program.inputs + [
        v for block in blocks_of(program.body) for v in block.arguments] + [
        v for op in walk(program.body) for v in op.results]
    if any(op.name in ("tile.reduce", "tile.expand_dims")
           for op in walk(program.body)):
        raise Undefined
    full, program.form, program.shape = program.shape, form, shape
    for value in everything:
        value.shape = shape if value.shape == full else value.shape
        if value.t == "bf16" and form == "vector":
            raise Undefined
    rename = {"math.fma": "vector.fma", "tensor.splat": "vector.broadcast"}
    back = {new: old for old, new in rename.items()}
    for block in blocks_of(program.body):
        for op in list(block.ops):
            if op.results[0].shape and form == "vector":
                op.name = rename.get(op.name, op.name)
            else:
                op.name = back.get(op.name, op.name)
            if op.name in ops.SAME and not shape:
                block.ops.remove(op)
                replace(program, op.results[0], op.operands[0])


def simple_input(program, value, number):
    value.raw = [number] * COUNT
    value.results = [number if value.t in INTEGERS
                     else floats.canonical(value.t, number)] * COUNT


class Reducer:
    def __init__(self, kernel, fails, log=lambda text: None):
        self.best = prune(plain(kernel))
        self.fails, self.log = fails, log

    def changed(self, change, *items):
        """A copy of the best program with a change, or None."""
        memo = {}
        program = copy.deepcopy(self.best, memo)
        try:
            change(program, *(memo.get(id(x), x) for x in items))
            prune(program)
            program.evaluate()
        except Undefined:
            return None
        return program if program.outputs else None

    def attempt(self, changes):
        """Takes the cheapest of the changed programs that fail; of several
        that do, first all at once."""
        programs = [p for p in (self.changed(*c) for c in changes)
                    if p and cost(p) < cost(self.best)]
        found = []
        for start in range(0, len(programs), AT_ONCE):
            part = programs[start:start + AT_ONCE]
            for number, program in enumerate(part):
                program.name = f"r{number}"
            found += [p for p, failed in zip(part, self.fails(part)) if failed]
        if not found:
            return False
        self.best = min(found, key=cost)
        self.log(f"{cost(self.best)[0]} ops, {len(self.best.outputs)} results, "
                 f"{len(self.best.inputs)} inputs")
        return True

    def changes(self):
        """Lists of changes, those first that remove most."""
        best = self.best
        outputs = best.outputs
        yield [(keep_outputs, v) for v in outputs]
        half = len(outputs) // 2
        yield [(keep_outputs, *outputs[:half]), (keep_outputs, *outputs[half:])]
        values = [v for op in best.body.ops for v in op.results]
        yield [(cut, v) for v in values]
        yield [(keep_outputs, *(x for x in outputs if x is not v))
               for v in outputs]
        yield [(inline, block, op, chosen) for block in blocks_of(best.body)
               for op in block.ops if op.name != "scf.while"
               for chosen in op.blocks]
        yield [(drop_result, op, n) for op in walk(best.body) if op.blocks and
               op.name != "scf.while" and len(op.results) > 1
               for n in range(len(op.results))]
        yield [(single_set, n) for n in range(COUNT)]
        yield [(reshape, "scalar", ())] + [
            (reshape, best.form, (n,)) for n in (2, 64)
            if best.form != "scalar" and (best.form == "tile") == (n == 64)]
        yield [(bypass, v, operand) for op in walk(best.body)
               for v in op.results for operand in op.operands
               if operand.t == v.t and operand.shape == v.shape]
        yield [(to_constant, v) for v in best.inputs + values]
        yield [(simple_input, v, n) for v in best.inputs for n in (0, 1)]

    def run(self):
        progress = True
        while progress:
            progress = any(self.attempt(changes) for changes in self.changes())
        return self.best


# The program with checks ------------------------------------------------------


SPACE = ", #iris.symmetric"
CHECKED = """\
{note}
// RUN: iris-run -n 1 %s

gpu.module @kernels {{
gpu.func @fill({inputs}) kernel
    attributes {{iris.num_warps = 1 : i32}} {{
{fill}
gpu.return
}}

{kernel}

gpu.func @check(%ctx: !iris.ctx, {outputs}) kernel
    attributes {{iris.num_warps = 1 : i32}} {{
{check}
gpu.return
}}
}}

func.func @main(%ctx: !iris.ctx) {{
%one = arith.constant 1 : index
{main}
iris.sync %ctx
return
}}
"""


class Checked:
    """A program with a kernel that stores the inputs and one that checks the
    outputs, so that the kernel between them is compiled as it was."""

    def __init__(self, program):
        self.program = program
        program.space = SPACE

    def element(self, number):
        """Indices of an element, as constants."""
        extents = self.program.shape if self.program.form == "tile" else (COUNT,)
        indices = []
        for extent in reversed(extents):
            indices.insert(0, f"%i{number % extent}")
            number //= extent
        return ", ".join(indices)

    def constants(self):
        largest = max(COUNT, *self.program.shape, 1)
        return [f"%i{n} = arith.constant {n} : index" for n in range(largest)]

    def tile(self, t):
        extents = self.program.shape if self.program.form == "tile" else (COUNT,)
        return f"tensor<{'x'.join(map(str, extents))}x{t}>"

    def number(self, t, result):
        return Program.number(t, bits_of(t, result))

    def fill(self):
        lines = self.constants()
        for n, value in enumerate(self.program.inputs):
            t = Program.stored(value)
            memory = self.program.buffer(t)
            if len(set(value.raw)) == 1:
                text = Program.number(t, value.raw[0])
                lines += [f"%x{n} = arith.constant dense<{text}> : {self.tile(t)}",
                          f"tile.store %x{n}, %in{n}[{self.element(0)}] : "
                          f"{self.tile(t)}, {memory}"]
                continue
            for e in range(self.program.elements):
                text = Program.number(t, value.raw[e % COUNT])
                lines += [f"%x{n}_{e} = arith.constant {text} : {t}",
                          f"memref.store %x{n}_{e}, %in{n}[{self.element(e)}] : "
                          f"{memory}"]
        return lines

    def check(self):
        lines = self.constants()
        for n, value in enumerate(self.program.outputs):
            if len(set(value.results)) == 1 and (
                    value.shape == self.program.shape
                    and self.program.group == 1 or value.shape):
                lines += self.comparison(f"{n}", n, value, None)
                continue
            places = (range(self.program.elements) if value.shape else
                      range(0, COUNT, self.program.group))
            for e in places:
                lines += self.comparison(f"{n}_{e}", n, value, e)
        return lines

    def comparison(self, name, n, value, element):
        """Of one element, or of all."""
        t, memory = Program.stored(value), None
        memory = self.program.buffer(t)
        result = value.results[(element or 0) % COUNT]
        shaped = self.tile if element is None else (lambda x: x)
        load = (f"tile.load %out{n}[{self.element(0)}] : {memory} -> "
                f"{self.tile(t)}" if element is None else
                f"memref.load %out{n}[{self.element(element)}] : {memory}")
        lines = [f"%g{name} = {load}"]
        got, kind = f"%g{name}", t
        if value.t in ops.FLOATS8:  # which NaN it is does not count
            kind = "f32"
            lines += [f"%b{name} = arith.bitcast %g{name} : {shaped(t)} to "
                      f"{shaped(value.t)}",
                      f"%f{name} = arith.extf %b{name} : {shaped(value.t)} to "
                      f"{shaped(kind)}"]
            got, result = f"%f{name}", floats.convert(value.t, "f32", result)
        text = self.number(kind, result)
        text = f"dense<{text}>" if element is None else text
        return lines + [
            f"%w{name} = arith.constant {text} : {shaped(kind)}",
            f'iris.expect_eq {got}, %w{name}, "result {name}" : {shaped(kind)}']

    def main(self):
        program, lines = self.program, []
        buffers = {}
        for kind, values in (("in", program.inputs), ("out", program.outputs)):
            buffers[kind] = [(f"%{kind}{n}", program.buffer(Program.stored(v)))
                             for n, v in enumerate(values)]
            lines += [f"{name} = iris.alloc() : {t}"
                      for name, t in buffers[kind]]

        def launch(kernel, arguments):
            names = ", ".join(name for name, _ in arguments)
            types = ", ".join(t for _, t in arguments)
            return (f"iris.launch @kernels::@{kernel} programs(%one) "
                    f"args({names} : {types})")
        context = ("%ctx", "!iris.ctx")
        return lines + [
            *([launch("fill", buffers["in"])] if buffers["in"] else []),
            launch(program.name, buffers["in"] + buffers["out"]),
            launch("check", [context] + buffers["out"])]

    def text(self, note):
        program = self.program
        program.name = "reduced"
        return CHECKED.format(
            note=note, kernel=program.text(),
            inputs=", ".join(f"%in{n}: {program.buffer(Program.stored(v))}"
                             for n, v in enumerate(program.inputs)),
            outputs=", ".join(f"%out{n}: {program.buffer(Program.stored(v))}"
                              for n, v in enumerate(program.outputs)),
            fill="\n".join(self.fill()), check="\n".join(self.check()),
            main="\n".join(self.main()))
