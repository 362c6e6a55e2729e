// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The meaning of affine ops in the interpreter, with expected values from their
// definitions.
//
// RUN: iris-run --device=reference -n 1 %s | FileCheck %s
// CHECK: 1 rank on reference: all 13 checks passed

!buffer = memref<?x?xi32, #iris.symmetric>
#inside = affine_set<(d0)[s0] : (d0 - 2 >= 0, s0 - d0 - 1 >= 0)>
#four = affine_set<(d0) : (d0 - 4 == 0)>

gpu.module @kernels {
  gpu.func @k(%ctx: !iris.ctx, %b: !buffer) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %7 = arith.constant 7 : index
    %minus = arith.constant -7 : index

    // floordiv rounds down, ceildiv up, mod is not negative.
    %floor = affine.apply affine_map<(d0) -> (d0 floordiv 3)>(%minus)
    %floor.want = arith.constant -3 : index
    iris.expect_eq %floor, %floor.want, "floordiv" : index
    %ceil = affine.apply affine_map<(d0) -> (d0 ceildiv 3)>(%minus)
    %ceil.want = arith.constant -2 : index
    iris.expect_eq %ceil, %ceil.want, "ceildiv" : index
    %mod = affine.apply affine_map<(d0) -> (d0 mod 3)>(%minus)
    %mod.want = arith.constant 2 : index
    iris.expect_eq %mod, %mod.want, "mod" : index
    %sum = affine.apply affine_map<(d0)[s0] -> (2 * d0 - s0 + 1)>(%7)[%c3]
    %sum.want = arith.constant 12 : index
    iris.expect_eq %sum, %sum.want, "dimensions and symbols" : index

    // The least and the largest of all results of the map, signed.
    %min = affine.min affine_map<(d0)[s0] -> (d0, s0, 5)>(%7)[%minus]
    iris.expect_eq %min, %minus, "min" : index
    %max = affine.max affine_map<(d0)[s0] -> (d0 - 4, s0, 2)>(%7)[%minus]
    iris.expect_eq %max, %c3, "max" : index

    // From the largest of the lower bounds (1, -7) to before the least of the
    // upper ones (7, 9), by 2: 1, 3 and 5.
    %total = affine.for %i = max affine_map<(d0)[s0] -> (d0, s0)>(%c1)[%minus]
        to min affine_map<(d0) -> (d0, 9)>(%7) step 2 iter_args(%s = %c0) -> index {
      %next = affine.apply affine_map<(d0, d1) -> (10 * d0 + d1)>(%s, %i)
      affine.yield %next : index
    }
    %total.want = arith.constant 135 : index
    iris.expect_eq %total, %total.want, "for" : index
    // No iteration: the initial value.
    %none = affine.for %i = 5 to 5 iter_args(%s = %7) -> index {
      affine.yield %c0 : index
    }
    iris.expect_eq %none, %7, "for without iterations" : index

    // All constraints of the set have to hold.
    %in = affine.if #inside(%c3)[%c4] -> index {
      affine.yield %c1 : index
    } else {
      affine.yield %c0 : index
    }
    iris.expect_eq %in, %c1, "if, both hold" : index
    %out = affine.if #inside(%c4)[%c4] -> index {
      affine.yield %c1 : index
    } else {
      affine.yield %c0 : index
    }
    iris.expect_eq %out, %c0, "if, one holds" : index
    %is = affine.if #four(%c4) -> index {
      affine.yield %c1 : index
    } else {
      affine.yield %c0 : index
    }
    iris.expect_eq %is, %c1, "if, an equation" : index

    // The maps give the indices: (3 floordiv 2, 4 - 1) is (1, 3).
    %v = arith.constant 42 : i32
    affine.store %v, %b[%c3 floordiv 2, %c4 - 1] : !buffer
    %stored = memref.load %b[%c1, %c3] : !buffer
    iris.expect_eq %stored, %v, "store" : i32
    %loaded = affine.load %b[%c4 mod 3, symbol(%c3)] : !buffer
    iris.expect_eq %loaded, %v, "load" : i32
    gpu.return
  }
}
func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %b = iris.alloc(%c2, %c4) : !buffer
  iris.launch @kernels::@k programs(%c1) args(%ctx, %b : !iris.ctx, !buffer)
  iris.sync %ctx
  return
}
