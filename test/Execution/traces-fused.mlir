// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events of generated matmul kernels: matmuls, transfers, waits. Waits in the
// region of a matmul nest in it, and the byte counts are those of the
// transfers.
//
// RUN: %python %iris_src_root/benchmarks/fused/trace_program.py -n 2 \
// RUN:   -m 100 --columns 72 -k 192 --calls 2 \
// RUN:   all_gather_matmul,variant=hbm_buffer,programs=5,num_fetch_programs=2,tile_m=32,tile_n=32,tile_k=32,warps=4,k_per_flag=2 > %t.2.mlir
// RUN: iris-run -n 2 --trace=%t.2.json %t.2.mlir | FileCheck %s --check-prefixes=TABLE,FETCH
// RUN: %python %S/Inputs/check-fused-trace.py %t.2.json --ranks=2 --launches=2 \
// RUN:   --fetch=100x96
// RUN: %python %iris_src_root/benchmarks/trace-picture.py %t.2.json -o %t.svg \
// RUN:   --ranks=all | FileCheck %s --check-prefix=PICTURE
// RUN: %python -c "import sys, xml.dom.minidom as x; x.parse(sys.argv[1])" %t.svg
//
// RUN: %python %iris_src_root/benchmarks/fused/trace_program.py -n 4 \
// RUN:   -m 70 --columns 40 -k 256 --calls 1 \
// RUN:   all_gather_matmul,variant=push,programs=4,num_fetch_programs=1,tile_m=32,tile_n=32,tile_k=32,warps=4,k_per_flag=1 > %t.4.mlir
// RUN: iris-run -n 4 --trace=%t.4.json %t.4.mlir | FileCheck %s --check-prefixes=TABLE,SEND
// RUN: %python %S/Inputs/check-fused-trace.py %t.4.json --ranks=4 --launches=1 \
// RUN:   --send=70x64
//
// A ring buffer of few events keeps the latest and counts the dropped ones.
// RUN: iris-run -n 2 --trace=%t.few.json --trace-events=16 %t.2.mlir | FileCheck %s --check-prefix=FEW
// RUN: not iris-run -n 2 --trace=%t.few.json --trace-events=0 %t.2.mlir 2>&1 | FileCheck %s --check-prefix=NONE
//
// Kernels in separate modules share one clock.
// RUN: iris-compile %s --trace --target=host -o %t.kernels.iris
// RUN: iris-compile %s --trace --target=sm_90a -g0 --emit=asm -o - | FileCheck %s --check-prefix=CLOCK
//
// Without --trace the output is unchanged, byte for byte.
// RUN: iris-opt %s --iris-expand-matmuls | FileCheck %s --check-prefix=SPANS
// RUN: iris-opt %s --iris-expand-matmuls | sed '/iris.trace/d' > %t.without.mlir
// RUN: iris-compile %s --target=gfx942 -g0 --emit=obj -o %t.with.hsaco
// RUN: iris-compile %t.without.mlir --target=gfx942 -g0 --emit=obj -o %t.without.hsaco
// RUN: cmp %t.with.hsaco %t.without.hsaco
// RUN: iris-compile %s --target=sm_90a -g0 --emit=asm -o %t.with.ptx
// RUN: iris-compile %t.without.mlir --target=sm_90a -g0 --emit=asm -o %t.without.ptx
// RUN: cmp %t.with.ptx %t.without.ptx
// RUN: iris-compile %s --target=host -g0 --emit=obj -o %t.with.o
// RUN: iris-compile %t.without.mlir --target=host -g0 --emit=obj -o %t.without.o
// RUN: cmp %t.with.o %t.without.o
//
// FETCH: 0  fetch
// TABLE: 0  gemm
// SEND: 0  send
// TABLE: 0  wait
// TABLE: 0  exposed
// TABLE: events, 0 dropped
// TABLE: all {{[0-9]+}} checks passed
// PICTURE: | rank | programs | number |
// PICTURE: | 0 | move | 2 | {{.*}} | 19200 |
// PICTURE: | 0 | multiply | 3 | {{.*}} | 0 |
// PICTURE: | 1 | move | 2 | {{.*}} | 19200 |
// FEW: events, {{[1-9][0-9]*}} dropped
// NONE: --trace-events=0; expected a number from 1 to 32768
// CLOCK-COUNT-1: .entry __iris_clock
// CLOCK-NOT: .entry __iris_clock
// SPANS: iris.trace begin %{{.*}}, "fetch"
// SPANS: iris.trace end %{{.*}}, "fetch" bytes(%{{.*}})
// SPANS: iris.trace begin %{{.*}}, "gemm"
// SPANS-NEXT: tile.matmul
// SPANS: iris.trace end %{{.*}}, "gemm"
// SPANS: iris.trace begin %{{.*}}, "send"
// SPANS: iris.trace begin %{{.*}}, "reduce"

iris.matmul_kernel @fetch all_gather_matmul f16 -> f16 size 8
    {variant = "hbm_buffer", tile_m = 128, tile_n = 256, warps = 8}
iris.matmul_kernel @scatter matmul_reduce_scatter f16 -> f16 size 4
