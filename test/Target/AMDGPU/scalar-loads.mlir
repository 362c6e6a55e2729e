// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-compile %s --allow-nonportable --target=gfx942 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX9,GFX940
// RUN: iris-compile %s --allow-nonportable --target=gfx950 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX9,GFX940
// RUN: iris-compile %s --allow-nonportable --target=gfx90a --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX9,GFX90A
// RUN: iris-compile %s --allow-nonportable --target=gfx1100 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX11
// RUN: iris-compile %s --allow-nonportable --target=gfx1201 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX12,GFX1201
// RUN: iris-compile %s --allow-nonportable --target=gfx1250 --emit=asm -o - | FileCheck %s --check-prefixes=CHECK,GFX12,GFX1250

// Uniform loads may use the scalar cache, which no acquire invalidates: not
// after an acquire. Each kernel has one load of data after its acquire, and it
// is a vector load.

gpu.module @kernels {
  // Only the fence indicates that memory may have changed.
  // CHECK-LABEL: {{^}}fence:
  // GFX940:    buffer_inv sc0 sc1
  // GFX90A:    buffer_wbinvl1_vol
  // GFX11:     buffer_gl1_inv
  // GFX12:     global_inv scope:SCOPE_SYS
  // CHECK-NOT: s_load_{{dword|b32}} {{.*}}, 0x0{{$}}
  // CHECK:     global_load_{{dword|b32}}
  // CHECK:     s_endpgm
  gpu.func @fence(%ctx: !iris.ctx, %d: memref<?xi32>, %o: memref<?xi32>,
                  %i: index) kernel {
    iris.fence acquire scope(sys)
    %x = memref.load %d[%i] : memref<?xi32>
    %t = gpu.thread_id x
    memref.store %x, %o[%t] : memref<?xi32>
    gpu.return
  }

  // CHECK-LABEL: {{^}}fence_gpu:
  // GFX940:    buffer_inv sc1
  // GFX90A:    buffer_wbinvl1_vol
  // GFX11:     buffer_gl1_inv
  // GFX12:     global_inv scope:SCOPE_DEV
  // CHECK-NOT: s_load_{{dword|b32}} {{.*}}, 0x0{{$}}
  // CHECK:     global_load_{{dword|b32}}
  // CHECK:     s_endpgm
  gpu.func @fence_gpu(%ctx: !iris.ctx, %d: memref<?xf32>, %o: memref<?xf32>,
                      %i: index) kernel {
    iris.fence acquire scope(gpu)
    %x = memref.load %d[%i] : memref<?xf32>
    %t = gpu.thread_id x
    memref.store %x, %o[%t] : memref<?xf32>
    gpu.return
  }

  // A flag that is polled without iris.wait.
  // CHECK-LABEL: {{^}}fence_after_volatile:
  // GFX940:    buffer_inv sc0 sc1
  // GFX90A:    buffer_wbinvl1_vol
  // GFX11:     buffer_gl1_inv
  // GFX12:     global_inv scope:SCOPE_SYS
  // CHECK-NOT: s_load_{{dword|b32}} {{.*}}, 0x0{{$}}
  // CHECK:     global_load_{{dword|b32}}
  // CHECK:     s_endpgm
  gpu.func @fence_after_volatile(%ctx: !iris.ctx, %d: memref<?xf32>,
                                 %o: memref<?xf32>, %f: memref<?xi32>,
                                 %g: memref<?xi32>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    %flag = tile.load %f[%c0] volatile : memref<?xi32> -> tensor<64xi32>
    iris.fence acquire scope(sys)
    %x = memref.load %d[%i] : memref<?xf32>
    %t = gpu.thread_id x
    memref.store %x, %o[%t] : memref<?xf32>
    tile.store %flag, %g[%c0] : tensor<64xi32>, memref<?xi32>
    gpu.return
  }

  // The same element before and after: the first load may be a scalar one.
  // CHECK-LABEL: {{^}}wait:
  // CHECK:     s_load_{{dword|b32}} {{.*}}, 0x0{{$}}
  // GFX940:    buffer_inv sc0 sc1
  // GFX90A:    buffer_wbinvl1_vol
  // GFX11:     buffer_gl1_inv
  // GFX12:     global_inv scope:SCOPE_SYS
  // CHECK-NOT: s_load_{{dword|b32}} {{.*}}, 0x0{{$}}
  // CHECK:     global_load_{{dword|b32}}
  // CHECK:     s_endpgm
  gpu.func @wait(%ctx: !iris.ctx, %d: memref<?xi32>, %o: memref<?xi32>,
                 %f: memref<?xi32, #iris.symmetric>, %v: i32, %i: index)
      kernel {
    %y = memref.load %d[%i] : memref<?xi32>
    iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    %x = memref.load %d[%i] : memref<?xi32>
    %z = arith.addi %x, %y : i32
    %t = gpu.thread_id x
    memref.store %z, %o[%t] : memref<?xi32>
    gpu.return
  }

  // Only this program has written: only caches that its waves do not share are
  // invalidated.
  // CHECK-LABEL: {{^}}wait_block:
  // GFX9:      s_barrier
  // GFX11:     buffer_gl0_inv
  // GFX1201:   global_inv scope:SCOPE_SE
  // GFX1250:   s_barrier_wait
  // CHECK-NOT: s_load_{{dword|b32}} {{.*}}, 0x0{{$}}
  // CHECK:     global_load_{{dword|b32}}
  // CHECK:     s_endpgm
  gpu.func @wait_block(%ctx: !iris.ctx, %d: memref<?xi32>, %o: memref<?xi32>,
                       %f: memref<?xi32, #iris.symmetric>, %v: i32, %i: index)
      kernel {
    iris.wait %ctx, %f[%i] ge %v scope(block)
        : i32, memref<?xi32, #iris.symmetric>
    %x = memref.load %d[%i] : memref<?xi32>
    %t = gpu.thread_id x
    memref.store %x, %o[%t] : memref<?xi32>
    gpu.return
  }

  // CHECK-LABEL: {{^}}atomic:
  // GFX940:    buffer_inv sc0 sc1
  // GFX90A:    buffer_wbinvl1_vol
  // GFX11:     buffer_gl1_inv
  // GFX12:     global_inv scope:SCOPE_SYS
  // CHECK-NOT: s_load_{{dword|b32}} {{.*}}, 0x0{{$}}
  // CHECK:     global_load_{{dword|b32}}
  // CHECK:     s_endpgm
  gpu.func @atomic(%ctx: !iris.ctx, %d: memref<?xi32>, %o: memref<?xi32>,
                   %f: memref<?xi32, #iris.symmetric>, %v: i32, %i: index)
      kernel {
    %s = iris.atomic_rmw add %ctx, %v, %f[%i] sem(acquire)
        : i32, memref<?xi32, #iris.symmetric>
    %x = memref.load %d[%i] : memref<?xi32>
    %t = gpu.thread_id x
    memref.store %x, %o[%t] : memref<?xi32>
    gpu.return
  }

  // A word that a peer wrote before the barrier: roots of collectives publish
  // the addresses of their buffers this way.
  // CHECK-LABEL: {{^}}barrier:
  // GFX940:    buffer_inv sc0 sc1
  // GFX90A:    buffer_wbinvl1_vol
  // GFX11:     buffer_gl1_inv
  // GFX12:     global_inv scope:SCOPE_SYS
  // CHECK-NOT: s_load_{{dwordx2|b64}} {{.*}}, 0x0{{$}}
  // CHECK:     global_load_{{dwordx2|b64}}
  // CHECK:     s_endpgm
  gpu.func @barrier(%ctx: !iris.ctx, %d: memref<?xi64, #iris.symmetric>,
                    %o: memref<?xi64>, %f: memref<?xi32, #iris.symmetric>)
      kernel {
    iris.barrier %ctx, %f : memref<?xi32, #iris.symmetric>
    %p = gpu.block_id x
    %x = memref.load %d[%p] : memref<?xi64, #iris.symmetric>
    %t = gpu.thread_id x
    memref.store %x, %o[%t] : memref<?xi64>
    gpu.return
  }

  // Tiles of one element, local and from a peer.
  // CHECK-LABEL: {{^}}tiles:
  // GFX940: buffer_inv sc0 sc1
  // GFX90A: buffer_wbinvl1_vol
  // GFX11:  buffer_gl1_inv
  // GFX12:  global_inv scope:SCOPE_SYS
  // CHECK:  global_load_{{dword|b32}}
  // CHECK:  global_load_{{dword|b32}}
  // CHECK:  .end_amdhsa_kernel
  gpu.func @tiles(%ctx: !iris.ctx, %d: memref<?xf32, #iris.symmetric>,
                  %o: memref<?xf32>, %f: memref<?xi32, #iris.symmetric>,
                  %v: i32, %r: index, %i: index) kernel {
    iris.wait %ctx, %f[%i] ge %v : i32, memref<?xi32, #iris.symmetric>
    %x = tile.load %d[%i] : memref<?xf32, #iris.symmetric> -> tensor<1xf32>
    %y = iris.load %ctx, %d[%i] from %r
        : memref<?xf32, #iris.symmetric> -> tensor<1xf32>
    %z = arith.addf %x, %y : tensor<1xf32>
    tile.store %z, %o[%i] : tensor<1xf32>, memref<?xf32>
    gpu.return
  }
}
