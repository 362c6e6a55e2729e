// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Line tables, from which debuggers and profilers name the line of a kernel:
// also those of a function that is inlined, and of a location in another file.

// RUN: iris-compile %s --target=gfx942 --emit=obj -o %t.gfx942
// RUN: llvm-dwarfdump --debug-info --debug-line %t.gfx942 | FileCheck %s --check-prefixes=INFO,LINES
// RUN: llvm-dwarfdump --verify %t.gfx942
// RUN: iris-compile %s --target=host --emit=obj -o %t.host
// RUN: llvm-dwarfdump --debug-info --debug-line %t.host | FileCheck %s --check-prefixes=INFO,LINES
// RUN: llvm-dwarfdump --verify %t.host

// The unit is named as on the command line, without a directory, so that the
// output does not depend on where it is compiled.
// INFO: DW_AT_producer ("iris-compile")
// INFO: DW_AT_name ("{{.*}}line-tables.mlir")
// INFO-NOT: DW_AT_comp_dir
// INFO: DW_AT_name ("twice")
// INFO: DW_AT_name ("lines")
// INFO: DW_TAG_inlined_subroutine
// INFO-NEXT: DW_AT_abstract_origin ({{.*}} "twice")
// INFO: DW_AT_call_file ("{{.*}}line-tables.mlir")
// INFO-NEXT: DW_AT_call_line ([[#CALL:]])

// The kernel, the load, the function (ten lines before its call), the other
// file, the store.
// LINES: name: "line-tables.mlir"
// LINES: name: "generated.py"
// LINES: {{^0x[0-9a-f]+ +}}[[#CALL-5]] {{.*}} 1
// LINES: {{^0x[0-9a-f]+ +}}[[#CALL-1]] {{.*}} 1
// LINES: {{^0x[0-9a-f]+ +}}[[#CALL-9]] {{.*}} 1
// LINES: {{^0x[0-9a-f]+ +}}3 {{.*}} 2
// LINES: {{^0x[0-9a-f]+ +}}[[#CALL+2]] {{.*}} 1

// PTX has directives, and no `debug` in .target, with which ptxas would not
// optimize.
// RUN: iris-compile %s --target=sm_90a --emit=ptx | FileCheck %s --check-prefix=PTX
// PTX: .target sm_90a{{$}}
// PTX: .entry lines
// PTX: .loc {{.*}}line-tables.mlir:[[#CALL:]]:{{[0-9]+}} ]
// PTX: .loc {{.*}}generated.py:3:1
// PTX: .loc {{.*}}line-tables.mlir:[[#CALL+2]]:
// PTX: .file 1 "{{.*}}line-tables.mlir"
// PTX: .file 2 "generated.py"

// -g0 turns them off.
// RUN: iris-compile %s --target=gfx942 --emit=obj -g0 -o %t.none
// RUN: llvm-readobj --sections %t.none | FileCheck %s --check-prefix=NONE
// RUN: iris-compile %s --target=sm_90a --emit=ptx -g0 | FileCheck %s --check-prefix=NONE
// RUN: iris-compile %s --target=gfx942,host -g0 -o %t.iris
// RUN: FileCheck %s --check-prefix=NONE --input-file=%t.iris
// NONE-NOT: debug_
// NONE-NOT: .loc

!buffer = memref<?xf32, #iris.symmetric>

gpu.module @kernels {
  func.func @twice(%v: tensor<64xf32>) -> tensor<64xf32> {
    %sum = arith.addf %v, %v : tensor<64xf32>
    return %sum : tensor<64xf32>
  }

  gpu.func @lines(%ctx: !iris.ctx, %buffer: !buffer) kernel {
    %pid = gpu.block_id x
    %c64 = arith.constant 64 : index
    %at = arith.muli %pid, %c64 : index
    %v = tile.load %buffer[%at] : !buffer -> tensor<64xf32>
    %w = func.call @twice(%v) : (tensor<64xf32>) -> tensor<64xf32>
    %x = arith.mulf %w, %v : tensor<64xf32> loc("generated.py":3:1)
    tile.store %x, %buffer[%at] : tensor<64xf32>, !buffer
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %n = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %buffer = iris.alloc(%n) : !buffer
  iris.launch @kernels::@lines programs(%c1)
      args(%ctx, %buffer : !iris.ctx, !buffer)
  iris.sync %ctx
  return
}
