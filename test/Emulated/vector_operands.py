# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands of vector operations as specified by the ISA, where the emulator
deviates.

Operands that SDWA selects have modifiers, absolute value and negation, which
the emulator leaves out; so is the clamp of sums and differences. Of the carries
of a sum or difference that SDWA selects, the emulator keeps that of the last
lane. v_fmac_f64 adds to two registers, of which the emulator reads the lower
one in the long encoding.
"""
import re

PAD_WITH_SIGN, WHOLE_REGISTER = 1, 6  # dst_unused, dst_sel


def modified(machine, instruction, operands):
    """The operands with the modifiers of their fields."""
    def field(name):
        return machine._iattr(instruction, name)
    if field("omod") or (field("dst_unused") == PAD_WITH_SIGN
                         and field("dst_sel") != WHOLE_REGISTER):
        raise RuntimeError("SDWA with scale or sign not modelled")
    if field("clmp"):
        return clamped(machine, machine._op_name(instruction), operands)
    bits = instruction.canonical_op_bits
    return {name: machine._apply_src_mods(
        operands[name], 0, field(f"src{n}_abs"), field(f"src{n}_neg"),
        bits[f"s{n}"]) for n, name in enumerate(("S0", "S1"))
        if name in operands}


def clamped(machine, name, operands):
    """Operands with which an unsigned sum or difference does not wrap."""
    found = re.match(r"V_(ADD|SUB|SUBREV)_U(16|32)", name)
    if not found:
        raise RuntimeError(f"SDWA with clamp not modelled: {name}")
    limit = machine._c((1 << int(found[2])) - 1)
    a, b = operands["S0"] & limit, operands["S1"] & limit

    def least(x, y):
        return (x < y).where(x, y)
    if found[1] == "ADD":
        return {"S0": least(a, limit - b), "S1": b}
    return {"S0": a, "S1": least(a, b)} if found[1] == "SUB" else {
        "S0": least(a, b), "S1": b}


def accumulator(machine, instruction, operands, context):
    """The two registers of the result, of v_fmac_f64."""
    if "FMAC_F64" not in machine._op_name(instruction):
        return {}
    low = context.inst_field(type(instruction).vdst)
    lane = operands["laneId"]
    return {"D0": machine._u64(context.rvgpr_dyn(low, lane), context.rvgpr_dyn(
        low + machine._c(1), lane))}


def teach(emulator):
    """Patches the module `emulator`."""
    machine, isa = emulator.E, emulator.irc

    def with_operands(original, corrections):
        """Lets `corrections` replace operands of the ISA's pseudocode."""
        def compile_instruction(instruction, context):
            parse = machine.parse_pcode

            def corrected(text, operands):
                return parse(text, {**operands, **corrections(
                    instruction, operands, context)})
            machine.parse_pcode = corrected
            try:
                return original(instruction, context)
            finally:
                machine.parse_pcode = parse
        return compile_instruction

    def with_carry(original):
        """A mask of the carries of all lanes, then the instruction."""
        def compile_instruction(instruction, context):
            if "_CO_" not in machine._op_name(instruction):
                return original(instruction, context)
            parse = machine.parse_pcode

            def compile_rest(carries):
                """The instruction without its carry, which is appended."""
                def parse_some(text, operands):
                    variables, assigned = parse(text, operands)
                    carries.extend(value for place, value in assigned
                                   if place.startswith("VCC"))
                    return variables, [pair for pair in assigned
                                       if not pair[0].startswith("VCC")]
                machine.parse_pcode = parse_some
                try:
                    return original(instruction, context)
                finally:
                    machine.parse_pcode = parse

            def carry_of(lane):
                carries = []
                # In place of a loop of its own.
                make_range = machine._Ctx.range
                machine._Ctx.range = lambda *_: lane
                try:
                    compile_rest(carries)
                finally:
                    machine._Ctx.range = make_range
                return carries[0]
            mask = context.wmask(
                machine._c(machine.VCC_LO.offset),
                context.unroll_lanes(carry_of, context.rexec()))
            return machine.UOp.sink(*mask, *compile_rest([]).src)
        return compile_instruction

    handlers = machine._INST_HANDLERS
    for kind in (isa.VOP2_SDWA, isa.VOP2_SDWA_SDST):
        handlers[kind] = with_carry(handlers[kind])
    for kind in (isa.VOP1_SDWA, isa.VOP2_SDWA, isa.VOP2_SDWA_SDST,
                 isa.VOPC_SDWA_SDST):
        handlers[kind] = with_operands(
            handlers[kind], lambda instruction, operands, _: modified(
                machine, instruction, operands))
    handlers[isa.VOP3] = with_operands(
        handlers[isa.VOP3], lambda *arguments: accumulator(machine, *arguments))
