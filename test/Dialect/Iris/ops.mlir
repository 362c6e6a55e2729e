// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --verify-roundtrip | FileCheck %s

#flat = #tile.blocked<size_per_thread = [8], threads_per_warp = [64], warps_per_cta = [4], order = [0]>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @world
  gpu.func @world(%ctx: !iris.ctx, %buf: memref<?xf16, #iris.symmetric>, %r: index) kernel {
    // CHECK: iris.rank %{{.*}} : index
    %rank = iris.rank %ctx : index
    // CHECK: iris.num_ranks %{{.*}} : index
    %n = iris.num_ranks %ctx : index
    // CHECK: iris.translate %{{.*}}, %{{.*}} to %{{.*}} : memref<?xf16, #iris.symmetric> -> memref<?xf16, #iris.peer>
    %p = iris.translate %ctx, %buf to %r : memref<?xf16, #iris.symmetric> -> memref<?xf16, #iris.peer>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @windows
  gpu.func @windows(%ctx: !iris.ctx, %buf: memref<?x?xf16, #iris.symmetric>,
                    %own: memref<?x?xf16>, %i: index, %r: index, %pad: f16) kernel {
    // CHECK: iris.load %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] from %{{.*}} : memref<?x?xf16, #iris.symmetric> -> tensor<8x256xf16>
    %v = iris.load %ctx, %buf[%i, %i] from %r : memref<?x?xf16, #iris.symmetric> -> tensor<8x256xf16>
    // CHECK: iris.load {{.*}} else %{{.*}} cache(cv) volatile :
    %w = iris.load %ctx, %buf[%i, %i] from %r else %pad cache(cv) volatile : memref<?x?xf16, #iris.symmetric> -> tensor<8x256xf16>
    // CHECK: iris.store %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} : tensor<8x256xf16>, memref<?x?xf16, #iris.symmetric>
    iris.store %ctx, %v, %buf[%i, %i] to %r : tensor<8x256xf16>, memref<?x?xf16, #iris.symmetric>
    // CHECK: iris.store {{.*}} cache(wt) volatile :
    iris.store %ctx, %v, %buf[%i, %i] to %r cache(wt) volatile : tensor<8x256xf16>, memref<?x?xf16, #iris.symmetric>
    // CHECK: iris.get {{.*}} from %{{.*}} shape [8, 256] : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16>
    iris.get %ctx, %buf[%i, %i], %own[%i, %i] from %r shape [8, 256] : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16>
    // CHECK: iris.put {{.*}} to %{{.*}} shape [8, 256] : memref<?x?xf16>, memref<?x?xf16, #iris.symmetric>
    iris.put %ctx, %own[%i, %i], %buf[%i, %i] to %r shape [8, 256] : memref<?x?xf16>, memref<?x?xf16, #iris.symmetric>
    // CHECK: iris.copy {{.*}} from %{{.*}} to %{{.*}} shape [8, 256] else %{{.*}} cache(cg) store_cache(cs) volatile :
    iris.copy %ctx, %buf[%i, %i], %buf[%i, %i] from %r to %i shape [8, 256] else %pad cache(cg) store_cache(cs) volatile : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16, #iris.symmetric>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @elements
  gpu.func @elements(%ctx: !iris.ctx, %buf: memref<?xf32, #iris.symmetric>, %r: index,
                     %pad: f32) kernel {
    %i = tile.range : tensor<256xindex>
    %m = arith.cmpi slt, %i, %i : tensor<256xindex>
    // CHECK: iris.gather {{.*}} from %{{.*}} mask %{{.*}} else %{{.*}} : memref<?xf32, #iris.symmetric>, tensor<256xindex> -> tensor<256xf32>
    %v = iris.gather %ctx, %buf[%i] from %r mask %m else %pad : memref<?xf32, #iris.symmetric>, tensor<256xindex> -> tensor<256xf32>
    // CHECK: iris.scatter {{.*}} to %{{.*}} mask %{{.*}} : tensor<256xf32>, memref<?xf32, #iris.symmetric>, tensor<256xindex>
    iris.scatter %ctx, %v, %buf[%i] to %r mask %m : tensor<256xf32>, memref<?xf32, #iris.symmetric>, tensor<256xindex>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @synchronisation
  gpu.func @synchronisation(%ctx: !iris.ctx, %flags: memref<?xi32, #iris.symmetric>,
                            %own: memref<?xi32>, %i: index, %r: index, %v: i32) kernel {
    // The defaults are not printed.
    // CHECK: iris.atomic_rmw add %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] to %{{.*}} : i32, memref<?xi32, #iris.symmetric>
    %a = iris.atomic_rmw add %ctx, %v, %flags[%i] to %r sem(acq_rel) scope(sys) : i32, memref<?xi32, #iris.symmetric>
    // CHECK: iris.atomic_rmw umax {{.*}} sem(relaxed) scope(gpu) : i32, memref<?xi32>
    %b = iris.atomic_rmw umax %ctx, %v, %own[%i] sem(relaxed) scope(gpu) : i32, memref<?xi32>
    %t = tile.range : tensor<64xi32>
    %m = arith.cmpi slt, %t, %t : tensor<64xi32>
    // CHECK: iris.atomic_rmw xchg {{.*}} mask %{{.*}} sem(release) : tensor<64xi32>
    %c = iris.atomic_rmw xchg %ctx, %t, %flags[%i] to %r mask %m sem(release) : tensor<64xi32>, memref<?xi32, #iris.symmetric>
    // CHECK: %[[AT:.*]] = arith.index_cast
    %at = arith.index_cast %t : tensor<64xi32> to tensor<64xindex>
    // CHECK: iris.atomic_rmw add {{.*}}[%[[AT]]] mask %{{.*}} : tensor<64xi32>, memref<?xi32, #iris.symmetric>, tensor<64xindex>
    %g = iris.atomic_rmw add %ctx, %t, %flags[%at] mask %m : tensor<64xi32>, memref<?xi32, #iris.symmetric>, tensor<64xindex>
    // CHECK: iris.atomic_cas {{.*}}[%[[AT]]] to %{{.*}} : tensor<64xi32>, memref<?xi32, #iris.symmetric>, tensor<64xindex>
    %h = iris.atomic_cas %ctx, %t, %t, %flags[%at] to %r : tensor<64xi32>, memref<?xi32, #iris.symmetric>, tensor<64xindex>
    // CHECK: iris.atomic_cas %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] to %{{.*}} sem(acquire) : i32
    %d = iris.atomic_cas %ctx, %v, %v, %flags[%i] to %r sem(acquire) scope(sys) : i32, memref<?xi32, #iris.symmetric>
    // CHECK: iris.signal set %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] to %{{.*}} : i32, memref<?xi32, #iris.symmetric>
    iris.signal set %ctx, %v, %flags[%i] to %r scope(sys) : i32, memref<?xi32, #iris.symmetric>
    // CHECK: iris.signal add {{.*}} sem(relaxed) : i32
    iris.signal add %ctx, %v, %flags[%i] sem(relaxed) : i32, memref<?xi32, #iris.symmetric>
    // CHECK: iris.wait %{{.*}}, %{{.*}}[%{{.*}}] ge %{{.*}} : i32, memref<?xi32, #iris.symmetric>
    %e = iris.wait %ctx, %flags[%i] ge %v scope(sys) : i32, memref<?xi32, #iris.symmetric>
    // CHECK: iris.wait {{.*}} eq %{{.*}} owed_by(%{{.*}}) :
    %f = iris.wait %ctx, %flags[%i] eq %v owed_by(%r) : i32, memref<?xi32, #iris.symmetric>
    // CHECK: iris.barrier %{{.*}}, %{{.*}} : memref<?xi32, #iris.symmetric>
    iris.barrier %ctx, %flags : memref<?xi32, #iris.symmetric>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @checks
  gpu.func @checks(%ctx: !iris.ctx, %own: memref<?xf16>, %i: index, %x: f32) kernel {
    // CHECK: tile.load {{.*}} -> tensor<2048xf16, #{{.*}}>
    %v = tile.load %own[%i] : memref<?xf16> -> tensor<2048xf16, #flat>
    // CHECK: iris.expect_eq %{{.*}}, %{{.*}}, "same" : tensor<2048xf16, #{{.*}}>
    iris.expect_eq %v, %v, "same" : tensor<2048xf16, #flat>
    // CHECK: iris.expect_eq %{{.*}}, %{{.*}}, "close" tol(1.000000e-03) : f32
    iris.expect_eq %x, %x, "close" tol(1.0e-3) : f32
    gpu.return
  }
}

// CHECK-LABEL: func.func @main
func.func @main(%ctx: !iris.ctx) {
  %n = arith.constant 64 : index
  %i = arith.constant 0 : index
  %x = arith.constant 0.0 : f32
  // CHECK: iris.alloc(%{{.*}}) : memref<?xf16, #iris.symmetric>
  %b = iris.alloc(%n) : memref<?xf16, #iris.symmetric>
  // CHECK: iris.alloc(%{{.*}}) workspace : memref<?xi8, #iris.symmetric>
  %w = iris.alloc(%n) workspace : memref<?xi8, #iris.symmetric>
  // CHECK: iris.launch @kernels::@world programs(%{{.*}}) args(%{{.*}}, %{{.*}}, %{{.*}} : !iris.ctx, memref<?xf16, #iris.symmetric>, index)
  iris.launch @kernels::@world programs(%n) args(%ctx, %b, %i : !iris.ctx, memref<?xf16, #iris.symmetric>, index)
  // CHECK: iris.sync %{{.*}}
  iris.sync %ctx
  // CHECK: iris.dealloc %{{.*}} : memref<?xf16, #iris.symmetric>
  iris.dealloc %b : memref<?xf16, #iris.symmetric>
  return
}
