// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: iris-opt %s --iris-narrow-integers --canonicalize --cse --split-input-file | FileCheck %s
// RUN: iris-opt %s --iris-narrow-integers --iris-narrow-integers --canonicalize --cse --split-input-file | FileCheck %s

// Values in [0, 2^31).
// CHECK-LABEL: func.func @small(
// CHECK-SAME: %[[A:.+]]: i16, %[[B:.+]]: i16
// CHECK: %[[Y:.+]] = arith.ori {{.*}} : i32
// CHECK: %[[X:.+]] = arith.extui %[[A]] : i16 to i32
// CHECK: %[[S:.+]] = arith.addi %[[X]], %[[Y]] : i32
// CHECK: arith.cmpi slt, %[[S]], %[[Y]] : i32
// CHECK: arith.divui {{.*}} : i32
// CHECK: arith.remsi {{.*}} : i32
// CHECK: arith.minsi {{.*}} : i32
func.func @small(%a: i16, %b: i16) -> (i1, i64, i64, i64) {
  %x = arith.extui %a : i16 to i64
  %c1 = arith.constant 1 : i64
  %z = arith.extui %b : i16 to i64
  %y = arith.ori %z, %c1 : i64
  %s = arith.addi %x, %y : i64
  %lt = arith.cmpi slt, %s, %y : i64
  %q = arith.divui %s, %y : i64
  %r = arith.remsi %s, %y : i64
  %m = arith.minsi %s, %y : i64
  return %lt, %q, %r, %m : i1, i64, i64, i64
}

// -----

// Values in [0, 2^32): unsigned operations and equality only.
// CHECK-LABEL: func.func @unsigned(
// CHECK: arith.cmpi slt, {{.*}} : i64
// CHECK: arith.cmpi ult, {{.*}} : i32
// CHECK: arith.cmpi eq, {{.*}} : i32
// CHECK: arith.minsi {{.*}} : i64
// CHECK: arith.divsi {{.*}} : i64
// CHECK: arith.shrsi {{.*}} : i64
// CHECK: arith.divui {{.*}} : i32
func.func @unsigned(%a: i32, %b: i32, %n: i64)
    -> (i1, i1, i1, i64, i64, i64, i64) {
  %x = arith.extui %a : i32 to i64
  %y = arith.extui %b : i32 to i64
  %lt = arith.cmpi slt, %x, %y : i64
  %below = arith.cmpi ult, %x, %y : i64
  %same = arith.cmpi eq, %x, %y : i64
  %m = arith.minsi %x, %y : i64
  %q = arith.divsi %x, %y : i64
  %c3 = arith.constant 3 : i64
  %amount = arith.andi %n, %c3 : i64
  %s = arith.shrsi %x, %amount : i64
  %u = arith.divui %x, %y : i64
  return %lt, %below, %same, %m, %q, %s, %u
      : i1, i1, i1, i64, i64, i64, i64
}

// -----

// Values in [-2^31, 2^31): signed operations only. -2^31 / -1 and -2^31 % -1
// are defined for i64 only.
// CHECK-LABEL: func.func @signed(
// CHECK: arith.cmpi slt, {{.*}} : i32
// CHECK: arith.cmpi ult, {{.*}} : i32
// CHECK: arith.maxsi {{.*}} : i32
// CHECK: arith.remui {{.*}} : i64
// CHECK: arith.remsi {{.*}} : i64
// CHECK: arith.divsi {{.*}} : i64
// CHECK: arith.remsi {{.*}} : i32
func.func @signed(%a: i32, %b: i32, %c: i16)
    -> (i1, i1, i64, i64, i64, i64, i64) {
  %x = arith.extsi %a : i32 to i64
  %y = arith.extsi %b : i32 to i64
  %c1 = arith.constant 1 : i64
  %d = arith.extui %c : i16 to i64
  %z = arith.ori %d, %c1 : i64
  %lt = arith.cmpi slt, %x, %y : i64
  %below = arith.cmpi ult, %x, %y : i64
  %m = arith.maxsi %x, %y : i64
  %u = arith.remui %x, %y : i64
  %r = arith.remsi %x, %y : i64
  %q = arith.divsi %x, %y : i64
  %p = arith.remsi %x, %z : i64
  return %lt, %below, %m, %u, %r, %q, %p
      : i1, i1, i64, i64, i64, i64, i64
}

// -----

// Shift amounts of 32 and more have no 32-bit form.
// CHECK-LABEL: func.func @shifts(
// CHECK: arith.shrui {{.*}} : i64
// CHECK: arith.shrsi {{.*}} : i64
// CHECK: arith.shrui {{.*}} : i32
// CHECK: arith.shli {{.*}} : i32
func.func @shifts(%a: i16, %n: i64) -> (i64, i64, i64, i64) {
  %x = arith.extui %a : i16 to i64
  %c63 = arith.constant 63 : i64
  %c7 = arith.constant 7 : i64
  %wide = arith.andi %n, %c63 : i64
  %low = arith.andi %n, %c7 : i64
  %0 = arith.shrui %x, %wide : i64
  %1 = arith.shrsi %x, %wide : i64
  %2 = arith.shrui %x, %low : i64
  %3 = arith.shli %x, %low : i64
  return %0, %1, %2, %3 : i64, i64, i64, i64
}

// -----

// What does not overflow with 64 bits may do so with 32: no flags.
// CHECK-LABEL: func.func @flags(
// CHECK: arith.addi {{[^ ]*}}, {{[^ ]*}} : i32
func.func @flags(%a: i16) -> i64 {
  %x = arith.extui %a : i16 to i64
  %c = arith.constant 4294900000 : i64
  %s = arith.addi %x, %c overflow<nsw> : i64
  return %s : i64
}

// -----

// CHECK-LABEL: func.func @loops(
// CHECK: scf.for {{.*}} : i32
// CHECK: scf.for {{.*}} step %{{.*}} {
// CHECK-NOT: : i32
// The last step leaves 32 bits.
// CHECK: scf.for {{.*}} step %{{.*}} {
// CHECK-NOT: : i32
// CHECK: scf.for unsigned {{.*}} : i32
func.func @loops(%out: memref<?xindex>, %n: i16) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.index_castui %n : i16 to index
  scf.for %i = %c0 to %end step %c1 {
    memref.store %i, %out[%i] : memref<?xindex>
  }
  %far = arith.constant 3000000000 : index
  %step = arith.constant 300000000 : index
  scf.for %i = %c0 to %far step %step {
    memref.store %i, %out[%c0] : memref<?xindex>
  }
  %last = arith.constant 2147483647 : index
  scf.for %i = %end to %last step %step {
    memref.store %i, %out[%c0] : memref<?xindex>
  }
  scf.for unsigned %i = %end to %far step %step : index {
    memref.store %i, %out[%c0] : memref<?xindex>
  }
  return
}

// -----

// Tiles, and indices.
// CHECK-LABEL: func.func @tiles(
// CHECK: arith.remui {{.*}} : tensor<64xi32>
// CHECK: arith.index_castui {{.*}} : tensor<64xi32> to tensor<64xindex>
func.func @tiles(%a: tensor<64xi16>, %b: tensor<64xi16>) -> tensor<64xindex> {
  %x = arith.index_castui %a : tensor<64xi16> to tensor<64xindex>
  %y = arith.index_castui %b : tensor<64xi16> to tensor<64xindex>
  %r = arith.remui %x, %y : tensor<64xindex>
  return %r : tensor<64xindex>
}
