// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All paths between accesses of different threads have a barrier, or the pass says
// which one has none.
// RUN: iris-opt %s --split-input-file --test-verify-barriers \
// RUN:   --verify-diagnostics -o /dev/null
// What tile-insert-barriers makes of these is right.
// RUN: iris-opt %s --split-input-file --tile-insert-barriers \
// RUN:   --test-verify-barriers -o /dev/null

func.func @store_then_load(%a: memref<256xi32>, %v: tensor<256xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  // expected-note @below {{'tile.store' writes a window of shape 256 of a buffer}}
  tile.store %v, %a[%c0] : tensor<256xi32>, memref<256xi32>
  // expected-error @below {{depends on another thread's access without a barrier}}
  %x = memref.load %a[%c3] : memref<256xi32>
  return %x : i32
}

// -----

func.func @separated(%a: memref<256xi32>, %v: tensor<256xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  tile.store %v, %a[%c0] : tensor<256xi32>, memref<256xi32>
  gpu.barrier
  %x = memref.load %a[%c3] : memref<256xi32>
  return %x : i32
}

// -----

func.func @one_branch(%a: memref<256xi32>, %v: tensor<256xi32>, %if: i1) -> i32 {
  %c0 = arith.constant 0 : index
  // expected-note @below {{'tile.store' writes}}
  tile.store %v, %a[%c0] : tensor<256xi32>, memref<256xi32>
  scf.if %if {
    gpu.barrier
  }
  // expected-error @below {{depends on another thread's access}}
  %x = memref.load %a[%c0] : memref<256xi32>
  return %x : i32
}

// -----

func.func @both_branches(%a: memref<256xi32>, %v: tensor<256xi32>, %if: i1)
    -> i32 {
  %c0 = arith.constant 0 : index
  tile.store %v, %a[%c0] : tensor<256xi32>, memref<256xi32>
  scf.if %if {
    gpu.barrier
  } else {
    iris.fence release scope(gpu)
  }
  %x = memref.load %a[%c0] : memref<256xi32>
  return %x : i32
}

// -----

// The loop may have no iteration.
func.func @no_iteration(%a: memref<256xi32>, %v: tensor<256xi32>, %n: index)
    -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @below {{'tile.store' writes}}
  tile.store %v, %a[%c0] : tensor<256xi32>, memref<256xi32>
  scf.for %i = %c0 to %n step %c1 {
    gpu.barrier
  }
  // expected-error @below {{depends on another thread's access}}
  %x = memref.load %a[%c0] : memref<256xi32>
  return %x : i32
}

// -----

func.func @earlier_iteration(%a: memref<256xi32>, %v: tensor<256xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{depends on another thread's access}}
    %x = memref.load %a[%i] : memref<256xi32>
    gpu.barrier
    // expected-note @below {{, in an earlier iteration of 'scf.for'}}
    tile.store %v, %a[%c0] : tensor<256xi32>, memref<256xi32>
  }
  return
}

// -----

// Each iteration has elements of its own.
func.func @other_elements(%a: memref<1024xi32>, %v: tensor<256xi32>) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c1024 = arith.constant 1024 : index
  scf.for %i = %c0 to %c1024 step %c256 {
    %x = memref.load %a[%i] : memref<1024xi32>
    gpu.barrier
    tile.store %v, %a[%i] : tensor<256xi32>, memref<1024xi32>
  }
  return
}

// -----

// A release comes after the store, but its own access is pending.
func.func @signal(%ctx: !iris.ctx, %a: memref<256xi32>, %f: memref<256xi32>,
                  %v: tensor<256xi32>, %one: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  tile.store %v, %a[%c0] : tensor<256xi32>, memref<256xi32>
  // expected-note @below {{'iris.signal' updates one element of a buffer, in thread 0}}
  iris.signal set %ctx, %one, %f[%c0] : i32, memref<256xi32>
  %x = memref.load %a[%c0] : memref<256xi32>
  // expected-error @below {{depends on another thread's access}}
  %y = memref.load %f[%c0] : memref<256xi32>
  return %x, %y : i32, i32
}

// -----

// A relaxed signal orders nothing.
func.func @relaxed(%ctx: !iris.ctx, %a: memref<256xi32>, %f: memref<256xi32>,
                   %v: tensor<256xi32>, %one: i32) -> i32 {
  %c0 = arith.constant 0 : index
  // expected-note @below {{'tile.store' writes}}
  tile.store %v, %a[%c0] : tensor<256xi32>, memref<256xi32>
  iris.signal set %ctx, %one, %f[%c0] sem(relaxed) : i32, memref<256xi32>
  // expected-error @below {{depends on another thread's access}}
  %x = memref.load %a[%c0] : memref<256xi32>
  return %x : i32
}

// -----

// Waits in a row are one acquire, of what comes after the row.
func.func @waits(%ctx: !iris.ctx, %f: memref<256xi32>, %v: tensor<256xi32>,
                 %one: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = iris.wait %ctx, %f[%c0] ge %one : i32, memref<256xi32>
  %t = iris.wait %ctx, %f[%c1] ge %one : i32, memref<256xi32>
  tile.store %v, %f[%c0] : tensor<256xi32>, memref<256xi32>
  gpu.barrier
  %x = memref.load %f[%c0] : memref<256xi32>
  return %x : i32
}
