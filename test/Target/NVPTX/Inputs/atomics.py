# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes kernels with every atomic, and the expected PTX.

    atomics.py TYPE...

One kernel holds one atomic: a kind, a type, an ordering, a scope, and whether
the old value is used. The expected PTX is derived from the PTX ISA,
independent of the compiler: `atom` returns the old value, `red` does not and
cannot acquire. Ops without an instruction are compare-and-swap loops, whose
swap has the ordering if PTX has one of that width, or is between fences.
"""
import itertools
import sys

SEMANTICS = ["relaxed", "acquire", "release", "acq_rel"]
SCOPES = {"block": "cta", "gpu": "gpu", "sys": "sys"}

BITWISE = ["and", "or", "xor"]
SIGNED = ["min", "max"]
UNSIGNED = {"umin": "min", "umax": "max"}
KINDS = ["add", "sub", "xchg"] + SIGNED
INTEGER_KINDS = KINDS + BITWISE + list(UNSIGNED)


def width_of(type_name):
    return int("".join(c for c in type_name if c.isdigit()))


def is_float(type_name):
    return not type_name.startswith("i")


def instruction_of(kind, type_name):
    """Operation and type of `atom`; None if there is none."""
    width = width_of(type_name)
    if is_float(type_name):
        # `atom.add.f32` flushes denormals, which the ops do not.
        if kind in ("add", "sub"):
            return {
                "f16": "add.noftz.f16",
                "bf16": "add.noftz.bf16",
                "f64": "add.f64",
            }.get(type_name)
        if kind != "xchg":
            return None
    if width < 32:
        return None
    if kind == "xchg":
        return f"exch.b{width}"
    if kind in BITWISE:
        return f"{kind}.b{width}"
    if kind in SIGNED:
        return f"{kind}.s{width}"
    if kind in UNSIGNED:
        return f"{UNSIGNED[kind]}.u{width}"
    return f"add.u{width}"


def negation_of(type_name):
    """For a float it may be a change of the sign bit."""
    if is_float(type_name):
        return f"{{{{neg[.]{type_name}|xor[.]b{width_of(type_name)}}}}}"
    return f"neg.s{width_of(type_name)}"


def expect_swap(width, semantic, scope):
    """A compare-and-swap."""
    if width >= 32:
        return [f"atom.{semantic}.{scope}.global.cas.b{width}"]
    # On the enclosing word; `fence.acq_rel` is a fence in either direction.
    lines = []
    if semantic in ("release", "acq_rel"):
        lines.append(f"fence.{{{{acq_rel|release}}}}.{scope};")
    lines.append(f"atom.relaxed.{scope}.global.cas.b32")
    if semantic in ("acquire", "acq_rel"):
        lines.append(f"fence.{{{{acq_rel|acquire}}}}.{scope};")
    return lines


def expect(kind, type_name, semantic, scope, is_used):
    instruction = None if kind == "cas" else instruction_of(kind, type_name)
    if instruction is None:
        return expect_swap(width_of(type_name), semantic, scope)
    reduces = not is_used and kind != "xchg" and "acq" not in semantic
    name = "red" if reduces else "atom"
    return [f"{name}.{semantic}.{scope}.global.{instruction} "]


def write_kernel(kind, type_name, semantic, scope, is_used):
    name = f"{kind}_{type_name}_{semantic}_{scope}_{'old' if is_used else 'none'}"
    checks = [f".entry {name}("]
    if kind == "sub" and instruction_of(kind, type_name):
        checks.append(negation_of(type_name))
    for line in expect(kind, type_name, semantic, SCOPES[scope], is_used):
        checks.append("{{[[:space:]]}}" + line)
    op = "atomic_cas %ctx, %v, %v" if kind == "cas" else f"atomic_rmw {kind} %ctx, %v"
    # The store that a release orders.
    lines = [
        f"  gpu.func @{name}(%ctx: !iris.ctx,",
        f"      %b: memref<?x{type_name}, #iris.symmetric>,",
        f"      %o: memref<?x{type_name}>, %v: {type_name}, %i: index) kernel {{",
        f"    memref.store %v, %o[%i] : memref<?x{type_name}>",
        f"    %r = iris.{op}, %b[%i] sem({semantic}) scope({scope})",
        f"        : {type_name}, memref<?x{type_name}, #iris.symmetric>",
    ]
    if is_used:
        lines.append(f"    memref.store %r, %o[%i] : memref<?x{type_name}>")
    lines += ["    gpu.return", "  }"]
    # Blocks of a loop are not in execution order.
    words = ["LABEL: "] + ["DAG: "] * len(checks)
    return [f"  // CHECK-{word}{check}" for word, check in zip(words, checks)] + lines


def main(types):
    print("gpu.module @kernels {")
    for type_name in types:
        for kind in (KINDS if is_float(type_name) else INTEGER_KINDS) + ["cas"]:
            for semantic, scope in itertools.product(SEMANTICS, SCOPES):
                for is_used in (True, False):
                    kernel = write_kernel(kind, type_name, semantic, scope, is_used)
                    print("\n".join(kernel))
    print("}")


if __name__ == "__main__":
    main(sys.argv[1:])
