// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All threads read an element before one of them stores to it: the load comes
// before the barrier, although its value is used after it. LLVM 22.1.8 moves
// such loads into the block that uses them.

// RUN: iris-compile %s --allow-nonportable --target=gfx942 --emit=asm | FileCheck %s
// RUN: iris-compile %s --allow-nonportable --target=gfx950 --emit=asm | FileCheck %s
// RUN: iris-compile %s --allow-nonportable --target=gfx1100 --emit=asm | FileCheck %s
// RUN: iris-compile %s --allow-nonportable --target=gfx1201 --emit=asm | FileCheck %s

// CHECK-LABEL: {{^}}uniform:
// CHECK: s_load_{{dword|b32}} s{{.*}}, 0x0
// CHECK: s_load_{{dword|b32}} s
// CHECK: s_barrier
// CHECK-NOT: s_load
// CHECK: global_store

// CHECK-LABEL: {{^}}nested:
// CHECK: s_load_{{dword|b32}} s{{.*}}, 0x0
// CHECK: s_load_{{dword|b32}} s
// CHECK: s_barrier
// CHECK-NOT: s_load
// CHECK: global_store

// CHECK-LABEL: {{^}}bytes:
// CHECK: global_load_{{ubyte|u8|d16_u8}}
// CHECK: s_barrier
// CHECK-NOT: global_load
// CHECK: global_store_{{byte|b8}}

// CHECK-LABEL: {{^}}assembly:
// CHECK: s_load_{{dword|b32}} s{{.*}}, 0x0
// CHECK: s_load_{{dword|b32}} s
// CHECK: s_nop 1
// CHECK: s_barrier
// CHECK-NOT: s_load
// CHECK: global_store
gpu.module @kernels {
  gpu.func @uniform(%ctx: !iris.ctx, %a: memref<64xi32, #iris.symmetric>) kernel
      attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %mask = arith.constant 63 : i32
    %i = memref.load %a[%c0] : memref<64xi32, #iris.symmetric>
    %low = arith.andi %i, %mask : i32
    %at = arith.index_cast %low : i32 to index
    %value = memref.load %a[%at] : memref<64xi32, #iris.symmetric>
    %range = tile.range : tensor<64xi32>
    %splat = tensor.splat %value : tensor<64xi32>
    %sum = arith.addi %range, %splat : tensor<64xi32>
    tile.store %sum, %a[%c0] : tensor<64xi32>, memref<64xi32, #iris.symmetric>
    gpu.return
  }

  // Arithmetic with the value may move as well.
  gpu.func @nested(%ctx: !iris.ctx, %a: memref<64xi32, #iris.symmetric>,
                   %isStored: i1) kernel
      attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %mask = arith.constant 63 : i32
    %i = memref.load %a[%c0] : memref<64xi32, #iris.symmetric>
    %low = arith.andi %i, %mask : i32
    %at = arith.index_cast %low : i32 to index
    %value = memref.load %a[%at] : memref<64xi32, #iris.symmetric>
    %scaled = arith.muli %value, %mask : i32
    scf.if %isStored {
      %range = tile.range : tensor<64xi32>
      %splat = tensor.splat %scaled : tensor<64xi32>
      %sum = arith.addi %range, %splat : tensor<64xi32>
      tile.store %sum, %a[%c0] : tensor<64xi32>, memref<64xi32, #iris.symmetric>
    }
    gpu.return
  }

  // Types that instruction selection has to legalise.
  gpu.func @bytes(%ctx: !iris.ctx, %a: memref<64xi8, #iris.symmetric>,
                  %isStored: i1) kernel
      attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %value = memref.load %a[%c0] : memref<64xi8, #iris.symmetric>
    %tile = tile.load %a[%c0] : memref<64xi8, #iris.symmetric> -> tensor<64xi8>
    %splat = tensor.splat %value : tensor<64xi8>
    %sum = arith.addi %tile, %splat : tensor<64xi8>
    scf.if %isStored {
      tile.store %sum, %a[%c0] : tensor<64xi8>, memref<64xi8, #iris.symmetric>
    }
    gpu.return
  }

  // Assembly that clobbers no memory is no store for instruction selection.
  gpu.func @assembly(%ctx: !iris.ctx, %a: memref<64xi32, #iris.symmetric>) kernel
      attributes {iris.num_warps = 4 : i32} {
    %c0 = arith.constant 0 : index
    %mask = arith.constant 63 : i32
    %i = memref.load %a[%c0] : memref<64xi32, #iris.symmetric>
    %low = arith.andi %i, %mask : i32
    %at = arith.index_cast %low : i32 to index
    %value = memref.load %a[%at] : memref<64xi32, #iris.symmetric>
    llvm.inline_asm has_side_effects "s_nop 1", "" : () -> ()
    %range = tile.range : tensor<64xi32>
    %splat = tensor.splat %value : tensor<64xi32>
    %sum = arith.addi %range, %splat : tensor<64xi32>
    tile.store %sum, %a[%c0] : tensor<64xi32>, memref<64xi32, #iris.symmetric>
    gpu.return
  }
}
