// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices and cases of scf.index_switch beyond 32 bits.
//
// RUN: iris-run -n 1 %s
// RUN: iris-run -n 3 --device=emulated:gfx942 %s
//
// MLIR still has the defect that the guard is for.
// RUN: sed '/^ *.. FAR-BEGIN/,/^ *.. FAR-END/d' %s > %t.mlir
// RUN: iris-compile %t.mlir --disable-guards=wide-cases -o %t.iris
// RUN: not iris-run -n 1 %t.iris 2>&1 | FileCheck %s
// CHECK: checks failed

gpu.module @kernels {
  // i is 2^32 + 5, j 2^32 - 1.
  gpu.func @choose(%ctx: !iris.ctx, %i: index, %j: index, %k: index) kernel
      attributes {iris.num_warps = 1 : i32} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %four = arith.constant 4 : i32
    %a = scf.index_switch %i -> i32
    case 5 {
      scf.yield %one : i32
    }
    default {
      scf.yield %zero : i32
    }
    iris.expect_eq %a, %zero, "2^32 + 5 is not 5" : i32
    %b = scf.index_switch %j -> i32
    case -1 {
      scf.yield %one : i32
    }
    case 0 {
      scf.yield %two : i32
    }
    default {
      scf.yield %three : i32
    }
    iris.expect_eq %b, %three, "2^32 - 1 is not -1" : i32
    // k is -2^31.
    %c = scf.index_switch %k -> i32
    case -2147483648 {
      scf.yield %four : i32
    }
    default {
      scf.yield %zero : i32
    }
    iris.expect_eq %c, %four, "-2^31" : i32
    // FAR-BEGIN: MLIR refuses these cases as duplicates.
    %d = scf.index_switch %i -> i32
    case 5 {
      scf.yield %one : i32
    }
    case 4294967301 {
      scf.yield %two : i32
    }
    case 1 {
      scf.yield %three : i32
    }
    default {
      scf.yield %zero : i32
    }
    iris.expect_eq %d, %two, "case 2^32 + 5" : i32
    %e = scf.index_switch %k -> i32
    case 4294967301 {
      scf.yield %two : i32
    }
    case 2147483648 {
      scf.yield %one : i32
    }
    default {
      scf.yield %zero : i32
    }
    iris.expect_eq %e, %zero, "-2^31 is not 2^31" : i32
    // FAR-END
    gpu.return
  }

  gpu.func @check(%ctx: !iris.ctx, %got: i32) kernel
      attributes {iris.num_warps = 1 : i32} {
    %want = arith.constant 3 : i32
    iris.expect_eq %got, %want, "@main" : i32
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %one = arith.constant 1 : index
  %i = arith.constant 4294967301 : index
  %j = arith.constant 4294967295 : index
  %k = arith.constant -2147483648 : index
  iris.launch @kernels::@choose programs(%one) args(%ctx, %i, %j, %k : !iris.ctx, index, index, index)
  %rank = iris.rank %ctx : index
  %zero = arith.constant 0 : index
  %none = arith.muli %rank, %zero : index
  %far = arith.addi %i, %none : index
  %got = scf.index_switch %far -> i32
  case 5 {
    %a = arith.constant 1 : i32
    scf.yield %a : i32
  }
  default {
    %a = arith.constant 3 : i32
    scf.yield %a : i32
  }
  iris.launch @kernels::@check programs(%one) args(%ctx, %got : !iris.ctx, i32)
  iris.sync %ctx
  return
}
