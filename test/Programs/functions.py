# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel of the functions of `math` that have an error (docs/reference/math.md): they
are stored for themselves, and compared with a tolerance."""
from elements import tile

FUNCTIONS = ["acos", "asin", "atan", "cbrt", "cos", "erf", "erfc", "exp", "exp2", "expm1",
             "log", "log1p", "log2", "rsqrt", "sin", "tanh", "atan2", "powf"]
OF_TWO = ["atan2", "powf"]
LANES = 16
OPTIONS = "// options: --tolerance=f32=4e-6,f16=2e-3,bf16=2e-2\n"


def functions_kernel(name, element, functions):
    """Reads %in, of at least one element; row n of %out is function n."""
    type_, memref = tile((LANES,), element), f"memref<?x{element}, #iris.symmetric>"
    lines = [f"  gpu.func @{name}(%ctx: !iris.ctx, %in: {memref}, %out: {memref}) "
             "kernel {", "    %zero = arith.constant 0 : index",
             "    %one = arith.constant 1 : index",
             f"    %x = tile.load %in[%zero] : {memref} -> {type_}",
             f"    %y = tile.load %in[%one] : {memref} -> {type_}"]
    for n, function in enumerate(functions):
        operands = "%x, %y" if function in OF_TWO else "%x"
        lines += [f"    %f{n} = math.{function} {operands} : {type_}",
                  f"    %at{n} = arith.constant {n * LANES} : index",
                  f"    tile.store %f{n}, %out[%at{n}] : {type_}, {memref}"]
    return "\n".join(lines + ["    gpu.return", "  }"])
