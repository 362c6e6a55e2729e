// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: iris-opt %s --iris-verify-host-program --split-input-file --verify-diagnostics

// expected-error @below {{there is no host program; expected func.func @main(%ctx: !iris.ctx)}}
module {
}

// -----

// expected-error @below {{has type '(index) -> ()'; expected (!iris.ctx) -> ()}}
func.func @main(%n: index) {
  return
}

// -----

func.func @main(%ctx: !iris.ctx) {
  %c4 = arith.constant 4 : index
  %b = iris.alloc(%c4) : memref<?xi32, #iris.symmetric>
  // expected-error @below {{'memref.load' op cannot run on the host; expected scalar arith, scf, views of buffers or iris ops of host programs in @main}}
  %v = memref.load %b[%c4] : memref<?xi32, #iris.symmetric>
  return
}

// -----

func.func @main(%ctx: !iris.ctx) {
  %c4 = arith.constant 4 : index
  // expected-error @below {{'math.ctpop' op cannot run on the host}}
  %v = math.ctpop %c4 : index
  return
}

// -----

func.func private @elsewhere(index)

func.func @main(%ctx: !iris.ctx) {
  %c4 = arith.constant 4 : index
  // expected-error @below {{'func.call' op cannot be inlined into @main; expected a function defined in this module}}
  func.call @elsewhere(%c4) : (index) -> ()
  return
}

// -----

func.func @once(%n: index) {
  func.call @again(%n) : (index) -> ()
  return
}

func.func @again(%n: index) {
  func.call @once(%n) : (index) -> ()
  return
}

func.func @main(%ctx: !iris.ctx) {
  %c4 = arith.constant 4 : index
  // expected-error @below {{'func.call' op cannot be inlined into @main; @once calls itself; expected no recursion, but scf.for or scf.while}}
  func.call @once(%c4) : (index) -> ()
  return
}

// -----

func.func @early(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  return
^b:
  return
}

func.func @main(%ctx: !iris.ctx) {
  %c = arith.constant true
  scf.if %c {
    // expected-error @below {{'func.call' op cannot be inlined into @main; expected a function of one block, without early returns}}
    func.call @early(%c) : (i1) -> ()
  }
  return
}

// -----

func.func @main(%ctx: !iris.ctx) {
  %n = iris.rank %ctx : index
  %c = arith.constant -1 : index
  // expected-error @below {{'iris.alloc' op size 1 is -1; expected 0 or more}}
  %b = iris.alloc(%n, %c) : memref<?x?xi32, #iris.symmetric>
  return
}

// -----

gpu.module @kernels {
  gpu.func @k() kernel {
    gpu.return
  }
}

func.func @main(%ctx: !iris.ctx) {
  %c1 = arith.constant 1 : index
  // expected-error @below {{'iris.launch' op has the attribute 'iris.num_warps' where it means nothing; expected it on a kernel (gpu.func)}}
  iris.launch @kernels::@k programs(%c1) args() {iris.num_warps = 8 : i32}
  return
}

// -----

func.func @main(%ctx: !iris.ctx) {
  // expected-error @below {{'iris.alloc' op result is 'memref<4294967296x4294967296xf32, #iris.symmetric>'; expected a buffer of fewer than 2^63 bytes}}
  %b = iris.alloc() : memref<4294967296x4294967296xf32, #iris.symmetric>
  return
}

// -----

func.func @main(%ctx: !iris.ctx) {
  %n = iris.rank %ctx : index
  %b = iris.alloc(%n, %n) : memref<?x?xf32, #iris.symmetric>
  // expected-error @below {{'memref.cast' op has a result of type 'memref<4294967296x4294967296xf32, #iris.symmetric>'; expected a buffer of fewer than 2^63 bytes}}
  %c = memref.cast %b : memref<?x?xf32, #iris.symmetric>
      to memref<4294967296x4294967296xf32, #iris.symmetric>
  return
}

// -----

func.func @main(%ctx: !iris.ctx) {
  // expected-error @below {{has a result of type 'tensor<4xi32>'; expected index, i1, i8, i16, i32, i64, f16, bf16, f32, f64 or a strided buffer of these of at most 6 dimensions in @main}}
  %v = arith.constant dense<1> : tensor<4xi32>
  return
}

// -----

func.func @main(%ctx: !iris.ctx) {
  return
}
%c4 = arith.constant 4 : index // expected-error {{'arith.constant' op is outside of @main; expected only functions and kernels at module level}}
%b = iris.alloc(%c4) : memref<?xi32, #iris.symmetric> // expected-error {{'iris.alloc' op is outside of @main}}

// -----

func.func @main(%ctx: !iris.ctx) {
  %r = iris.rank %ctx : index
  %i = arith.index_cast %r : index to i32
  %f = arith.sitofp %i : i32 to f32
  // expected-error @below {{'arith.truncf' op has a result of type 'f8E4M3FN'; expected index, i1, i8}}
  %q = arith.truncf %f : f32 to f8E4M3FN
  return
}

// -----

func.func @main(%ctx: !iris.ctx) {
  %r = iris.rank %ctx : index
  %i = arith.index_cast %r : index to i32
  %f = arith.sitofp %i : i32 to f32
  // expected-error @below {{'arith.remf' op cannot run on the host; expected an op of arith that kernels may use (docs/reference/kernel-language.md)}}
  %q = arith.remf %f, %f : f32
  return
}

// -----

func.func @main(%ctx: !iris.ctx) {
  %true = arith.constant true
  // expected-error @below {{'cf.assert' op cannot run on the host}}
  cf.assert %true, "never"
  return
}
