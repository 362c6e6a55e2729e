# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a kernel whose loop uses more uniform values of a type from outside
than scalar registers may hold: each is an argument, or one shifted by a
constant.

    short_scalars.py TYPE
"""
import sys

NUM_ARGUMENTS = 40

element = sys.argv[1]
numbers = range(NUM_ARGUMENTS)
print(f"""gpu.module @kernels {{
  gpu.func @mix(%ctx: !iris.ctx, %out: memref<?x{element}, #iris.symmetric>,
                %steps: index,
                {', '.join(f'%v{i}: {element}' for i in numbers)}) kernel {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : {element}
    %five = arith.constant 5 : {element}""")
for i in numbers:
    print(f"""    %k{i} = arith.constant {i % 6 + 1} : {element}
    %w{i} = arith.shrui %v{i}, %k{i} : {element}""")
print(f"""    %result = scf.for %step = %c0 to %steps step %c1
        iter_args(%s0 = %zero) -> ({element}) {{""")
for i in numbers:
    print(f"""      %x{i} = arith.xori %s{i}, %v{i} : {element}
      %y{i} = arith.muli %x{i}, %five : {element}
      %s{i + 1} = arith.addi %y{i}, %w{i} : {element}""")
print(f"""      scf.yield %s{NUM_ARGUMENTS} : {element}
    }}
    iris.atomic_rmw add %ctx, %result, %out[%c0]
        : {element}, memref<?x{element}, #iris.symmetric>
    gpu.return
  }}
}}""")
