// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --verify-diagnostics --test-print-program-order

func.func @order(%ctx: !iris.ctx, %b: memref<?xf32>, %s: memref<?xi32, #iris.symmetric>, %i: index, %e: i32) {
  // expected-remark @+1 {{reads a window of shape 256 of a buffer, in the threads that hold the elements}}
  %v = tile.load %b[%i] : memref<?xf32> -> tensor<256xf32>
  // expected-remark @+1 {{reads one element of a buffer, in every thread}}
  %x = memref.load %b[%i] : memref<?xf32>
  // expected-remark @+1 {{updates one element of a buffer, in thread 0; comes after all but neighbouring earlier ones}}
  iris.signal set %ctx, %e, %s[%i] : i32, memref<?xi32, #iris.symmetric>
  // expected-remark @+1 {{reads one element of a buffer, in thread 0; comes before all but neighbouring later ones}}
  %w = iris.wait %ctx, %s[%i] ge %e : i32, memref<?xi32, #iris.symmetric>
  // expected-remark @+1 {{updates one element of a buffer, in thread 0; comes after all earlier ones; comes before all later ones}}
  %o = iris.atomic_rmw add %ctx, %e, %s[%i] sem(acq_rel) : i32, memref<?xi32, #iris.symmetric>
  // expected-remark @+1 {{comes after all earlier ones; comes before all later ones}}
  iris.barrier %ctx, %s : memref<?xi32, #iris.symmetric>
  // An op that nothing is known of accesses everything.
  // expected-remark @+1 {{updates unknown memory, in every thread}}
  func.call @other() : () -> ()
  return
}
func.func private @other()
