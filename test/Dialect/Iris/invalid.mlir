// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every verifier error: the actual value and the expected one.
// RUN: iris-opt %s --split-input-file --verify-diagnostics

func.func @translate_plain(%ctx: !iris.ctx, %b: memref<?xf16>, %r: index) {
  // expected-error @+1 {{names a rank, but the buffer 'memref<?xf16>' is not on the symmetric heap; expected memory space #iris.symmetric}}
  %p = iris.translate %ctx, %b to %r : memref<?xf16> -> memref<?xf16, #iris.peer>
  return
}

// -----

func.func @translate_twice(%ctx: !iris.ctx, %b: memref<?xf16, #iris.peer>, %r: index) {
  // expected-error @+2 {{is not on the symmetric heap}}
  // expected-note @+1 {{a buffer in #iris.peer is already translated}}
  %p = iris.translate %ctx, %b to %r : memref<?xf16, #iris.peer> -> memref<?xf16, #iris.peer>
  return
}

// -----

func.func @translate_result(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>, %r: index) {
  // expected-error @+1 {{result is 'memref<4xf16, #iris.peer>'; expected 'memref<?xf16, #iris.peer>'}}
  %p = iris.translate %ctx, %b to %r : memref<?xf16, #iris.symmetric> -> memref<4xf16, #iris.peer>
  return
}

// -----

func.func @load_plain(%ctx: !iris.ctx, %b: memref<?xf16>, %i: index) {
  // expected-error @+1 {{names a rank, but the buffer 'memref<?xf16>' is not on the symmetric heap}}
  %v = iris.load %ctx, %b[%i] from %i : memref<?xf16> -> tensor<8xf16>
  return
}

// -----

func.func @load_offsets(%ctx: !iris.ctx, %b: memref<?x?xf16, #iris.symmetric>, %i: index) {
  // expected-error @+1 {{has 1 offsets for 'memref<?x?xf16, #iris.symmetric>'; expected 2}}
  %v = iris.load %ctx, %b[%i] from %i : memref<?x?xf16, #iris.symmetric> -> tensor<8x8xf16>
  return
}

// -----

func.func @load_rank(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>, %i: index) {
  // expected-error @+1 {{tile 'tensor<8x8xf16>' has 2 dimensions; expected 1, as 'memref<?xf16, #iris.symmetric>' has}}
  %v = iris.load %ctx, %b[%i] from %i : memref<?xf16, #iris.symmetric> -> tensor<8x8xf16>
  return
}

// -----

func.func @load_element(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>, %i: index) {
  // expected-error @+1 {{element type of 'tensor<8xf32>' differs from that of 'memref<?xf16, #iris.symmetric>'}}
  %v = iris.load %ctx, %b[%i] from %i : memref<?xf16, #iris.symmetric> -> tensor<8xf32>
  return
}

// -----

func.func @load_extent(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>, %i: index) {
  // expected-error @+1 {{tile extent 12 in dimension 0 of 'tensor<12xf16>' is not a power of two}}
  %v = iris.load %ctx, %b[%i] from %i : memref<?xf16, #iris.symmetric> -> tensor<12xf16>
  return
}

// -----

func.func @store_peer(%ctx: !iris.ctx, %b: memref<?xf16, #iris.peer>, %v: tensor<8xf16>, %i: index) {
  // expected-error @+2 {{names a rank, but the buffer 'memref<?xf16, #iris.peer>' is not on the symmetric heap}}
  // expected-note @+1 {{a buffer in #iris.peer is already translated}}
  iris.store %ctx, %v, %b[%i] to %i : tensor<8xf16>, memref<?xf16, #iris.peer>
  return
}

// -----

func.func @gather_count(%ctx: !iris.ctx, %b: memref<?x?xf16, #iris.symmetric>, %x: tensor<8xindex>, %r: index) {
  // expected-error @+1 {{has 1 index tiles for 'memref<?x?xf16, #iris.symmetric>'; expected 2}}
  %v = iris.gather %ctx, %b[%x] from %r : memref<?x?xf16, #iris.symmetric>, tensor<8xindex> -> tensor<8xf16>
  return
}

// -----

func.func @gather_index_shape(%ctx: !iris.ctx, %b: memref<?xf16, #iris.symmetric>, %x: tensor<16xindex>, %r: index) {
  // expected-error @+1 {{index tile has type 'tensor<16xindex>'; expected 'tensor<8xindex>'}}
  %v = iris.gather %ctx, %b[%x] from %r : memref<?xf16, #iris.symmetric>, tensor<16xindex> -> tensor<8xf16>
  return
}

// -----

func.func @scatter_plain(%ctx: !iris.ctx, %b: memref<?xf16>, %v: tensor<8xf16>, %x: tensor<8xindex>, %r: index) {
  // expected-error @+1 {{is not on the symmetric heap}}
  iris.scatter %ctx, %v, %b[%x] to %r : tensor<8xf16>, memref<?xf16>, tensor<8xindex>
  return
}

// -----

func.func @get_plain_source(%ctx: !iris.ctx, %a: memref<?xf16>, %i: index) {
  // expected-error @+1 {{is not on the symmetric heap}}
  iris.get %ctx, %a[%i], %a[%i] from %i shape [8] : memref<?xf16>, memref<?xf16>
  return
}

// -----

func.func @put_plain_destination(%ctx: !iris.ctx, %a: memref<?xf16>, %i: index) {
  // expected-error @+1 {{is not on the symmetric heap}}
  iris.put %ctx, %a[%i], %a[%i] to %i shape [8] : memref<?xf16>, memref<?xf16>
  return
}

// -----

func.func @copy_plain_destination(%ctx: !iris.ctx, %s: memref<?xf16, #iris.symmetric>, %a: memref<?xf16>, %i: index) {
  // expected-error @+1 {{is not on the symmetric heap}}
  iris.copy %ctx, %s[%i], %a[%i] from %i to %i shape [8] : memref<?xf16, #iris.symmetric>, memref<?xf16>
  return
}

// -----

func.func @get_elements(%ctx: !iris.ctx, %s: memref<?xf16, #iris.symmetric>, %a: memref<?xf32>, %i: index) {
  // expected-error @+1 {{element types of 'memref<?xf16, #iris.symmetric>' and 'memref<?xf32>' differ}}
  iris.get %ctx, %s[%i], %a[%i] from %i shape [8] : memref<?xf16, #iris.symmetric>, memref<?xf32>
  return
}

// -----

func.func @get_shape(%ctx: !iris.ctx, %s: memref<?xf16, #iris.symmetric>, %a: memref<?xf16>, %i: index) {
  // expected-error @+1 {{tile extent 7 in dimension 0}}
  iris.get %ctx, %s[%i], %a[%i] from %i shape [7] : memref<?xf16, #iris.symmetric>, memref<?xf16>
  return
}

// -----

// expected-note @+1 {{prior use here}}
func.func @get_mask(%ctx: !iris.ctx, %s: memref<?xf16, #iris.symmetric>, %a: memref<?xf16>, %i: index, %m: tensor<4xi1>) {
  // expected-error @+1 {{use of value '%m' expects different type than prior uses: 'tensor<8xi1>' vs 'tensor<4xi1>'}}
  iris.get %ctx, %s[%i], %a[%i] from %i shape [8] mask %m : memref<?xf16, #iris.symmetric>, memref<?xf16>
  return
}

// -----

// expected-note @+1 {{prior use here}}
func.func @get_else(%ctx: !iris.ctx, %s: memref<?xf16, #iris.symmetric>, %a: memref<?xf16>, %i: index, %e: f32) {
  // expected-error @+1 {{use of value '%e' expects different type than prior uses: 'f16' vs 'f32'}}
  iris.get %ctx, %s[%i], %a[%i] from %i shape [8] else %e : memref<?xf16, #iris.symmetric>, memref<?xf16>
  return
}

// -----

func.func @rmw_float_kind(%ctx: !iris.ctx, %b: memref<?xf32>, %v: f32, %i: index) {
  // expected-error @+1 {{kind xor needs integers; got 'f32'}}
  %o = iris.atomic_rmw xor %ctx, %v, %b[%i] : f32, memref<?xf32>
  return
}

// -----

func.func @rmw_rank_plain(%ctx: !iris.ctx, %b: memref<?xi32>, %v: i32, %i: index) {
  // expected-error @+1 {{names a rank, but the buffer 'memref<?xi32>' is not on the symmetric heap}}
  %o = iris.atomic_rmw add %ctx, %v, %b[%i] to %i : i32, memref<?xi32>
  return
}

// -----

// Upstream's default of gpu scope is a known cause of hangs.
func.func @rmw_scope(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %v: i32, %i: index) {
  // expected-error @+1 {{scope is gpu, but the access may reach another rank; expected sys}}
  %o = iris.atomic_rmw add %ctx, %v, %b[%i] to %i scope(gpu) : i32, memref<?xi32, #iris.symmetric>
  return
}

// -----

func.func @rmw_coordinates_of_scalar(%ctx: !iris.ctx, %b: memref<?xi32>, %v: i32, %i: tensor<64xindex>) {
  // expected-error @+1 {{value is 'i32'; expected a tile, as its offsets are tiles}}
  %o = iris.atomic_rmw add %ctx, %v, %b[%i] : i32, memref<?xi32>, tensor<64xindex>
  return
}

// -----

func.func @rmw_coordinates_shape(%ctx: !iris.ctx, %b: memref<?xi32>, %v: tensor<32xi32>, %i: tensor<64xindex>) {
  // expected-error @+1 {{index tile has type 'tensor<64xindex>'; expected 'tensor<32xindex>'}}
  %o = iris.atomic_rmw add %ctx, %v, %b[%i] : tensor<32xi32>, memref<?xi32>, tensor<64xindex>
  return
}

// -----

func.func @cas_coordinates_mixed(%ctx: !iris.ctx, %b: memref<?x?xi32>, %v: tensor<64xi32>, %i: index, %t: tensor<64xindex>) {
  // expected-error @+1 {{index tile has type 'index'; expected 'tensor<64xindex>'}}
  %o = iris.atomic_cas %ctx, %v, %v, %b[%i, %t] : tensor<64xi32>, memref<?x?xi32>, index, tensor<64xindex>
  return
}

// -----

func.func @cas_coordinates_number(%ctx: !iris.ctx, %b: memref<?x?xi32>, %v: tensor<64xi32>, %t: tensor<64xindex>) {
  // expected-error @+1 {{has 1 index tiles for 'memref<?x?xi32>'; expected 2}}
  %o = iris.atomic_cas %ctx, %v, %v, %b[%t] : tensor<64xi32>, memref<?x?xi32>, tensor<64xindex>
  return
}

// -----

func.func @cas_scope_peer(%ctx: !iris.ctx, %b: memref<?xi32, #iris.peer>, %v: i32, %i: index) {
  // expected-error @+1 {{scope is block, but the access may reach another rank; expected sys}}
  %o = iris.atomic_cas %ctx, %v, %v, %b[%i] scope(block) : i32, memref<?xi32, #iris.peer>
  return
}

// -----

func.func @signal_sem(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %v: i32, %i: index) {
  // expected-error @+1 {{sem is acquire; expected release or relaxed}}
  iris.signal set %ctx, %v, %b[%i] to %i sem(acquire) : i32, memref<?xi32, #iris.symmetric>
  return
}

// -----

func.func @wait_sem(%ctx: !iris.ctx, %b: memref<?xi32, #iris.symmetric>, %v: i32, %i: index) {
  // expected-error @+1 {{sem is release; expected acquire or relaxed}}
  %o = iris.wait %ctx, %b[%i] ge %v sem(release) : i32, memref<?xi32, #iris.symmetric>
  return
}

// -----

func.func @wait_element(%ctx: !iris.ctx, %b: memref<?xi64, #iris.symmetric>, %v: i32, %i: index) {
  // expected-error @+1 {{element type of 'i32' differs from that of 'memref<?xi64, #iris.symmetric>'}}
  %o = iris.wait %ctx, %b[%i] ge %v : i32, memref<?xi64, #iris.symmetric>
  return
}

// -----

func.func @barrier_plain(%ctx: !iris.ctx, %b: memref<?xi32>) {
  // expected-error @+1 {{state is 'memref<?xi32>'; expected a buffer in memory space #iris.symmetric}}
  iris.barrier %ctx, %b : memref<?xi32>
  return
}

// -----

func.func @expect_tol_int(%v: i32) {
  // expected-error @+1 {{tol needs floats; got 'i32'}}
  iris.expect_eq %v, %v, "x" tol(0.5) : i32
  return
}

// -----

func.func @expect_tol_negative(%v: f32) {
  // expected-error @+1 {{expected at least 0}}
  iris.expect_eq %v, %v, "x" tol(-0.5) : f32
  return
}

// -----

gpu.module @kernels {
  gpu.func @no_context(%v: f32) kernel {
    // expected-error @+1 {{reports to the context; expected a kernel argument of type !iris.ctx}}
    iris.expect_eq %v, %v, "x" : f32
    gpu.return
  }
}

// -----

func.func @alloc_space(%n: index) {
  // expected-error @+1 {{buffer is 'memref<?xf16>'; expected a memref in memory space #iris.symmetric}}
  %b = iris.alloc(%n) : memref<?xf16>
  return
}

// -----

func.func @alloc_layout(%n: index) {
  // expected-error @+1 {{expected a row-major one}}
  %b = iris.alloc(%n) : memref<?xf16, strided<[2]>, #iris.symmetric>
  return
}

// -----

func.func @alloc_sizes(%n: index) {
  // expected-error @+1 {{has 1 sizes for 'memref<?x?xf16, #iris.symmetric>'; expected 2}}
  %b = iris.alloc(%n) : memref<?x?xf16, #iris.symmetric>
  return
}

// -----

func.func @dealloc_space(%b: memref<?xf16>) {
  // expected-error @+1 {{expected a memref in memory space #iris.symmetric}}
  iris.dealloc %b : memref<?xf16>
  return
}

// -----

gpu.module @kernels {
  gpu.func @k(%n: index) kernel { gpu.return }
  gpu.func @not_a_kernel(%n: index) { gpu.return }
}
func.func @launch_missing(%n: index) {
  // expected-error @+1 {{there is no kernel @kernels::@absent; expected @kernels::@k}}
  iris.launch @kernels::@absent programs(%n) args(%n : index)
  return
}

// -----

gpu.module @kernels {
  gpu.func @k(%n: index) kernel { gpu.return }
  gpu.func @not_a_kernel(%n: index) { gpu.return }
}
func.func @launch_device_function(%n: index) {
  // expected-error @+1 {{@kernels::@not_a_kernel is not a kernel; expected a gpu.func with the `kernel` keyword}}
  iris.launch @kernels::@not_a_kernel programs(%n) args(%n : index)
  return
}

// -----

gpu.module @kernels {
  gpu.func @k(%n: index) kernel { gpu.return }
  gpu.func @not_a_kernel(%n: index) { gpu.return }
}
func.func @launch_count(%n: index) {
  // expected-error @+1 {{has 2 arguments; expected 1, as @kernels::@k has}}
  iris.launch @kernels::@k programs(%n) args(%n, %n : index, index)
  return
}

// -----

gpu.module @kernels {
  gpu.func @k(%n: index) kernel { gpu.return }
  gpu.func @not_a_kernel(%n: index) { gpu.return }
}
func.func @launch_type(%n: index, %f: f32) {
  // expected-error @+1 {{argument 0 has type 'f32'; expected 'index'}}
  iris.launch @kernels::@k programs(%n) args(%f : f32)
  return
}

// -----

gpu.module @kernels {
  gpu.func @k(%n: index) kernel { gpu.return }
  gpu.func @not_a_kernel(%n: index) { gpu.return }
}
func.func @launch_grid(%n: index) {
  // expected-error @+1 {{has 4 grid extents; expected 1 to 3}}
  iris.launch @kernels::@k programs(%n, %n, %n, %n) args(%n : index)
  return
}

// -----

gpu.module @kernels {
  gpu.func @k(%n: index) kernel { gpu.return }
  gpu.func @not_a_kernel(%n: index) { gpu.return }
}
func.func @launch_no_grid(%n: index) {
  // expected-error @+1 {{has 0 grid extents; expected 1 to 3}}
  iris.launch @kernels::@k programs() args(%n : index)
  return
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{iris.num_warps is 3 : i32; expected a power of two from 1 to 32}}
  gpu.func @warps() kernel attributes {iris.num_warps = 3 : i32} { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{iris.divisibility of an argument of type 'index' is 0 : i64; expected a positive integer}}
  gpu.func @zero(%n: index {iris.divisibility = 0 : i64}) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{expected a positive integer or {pointer, sizes, strides}}}
  gpu.func @kind(%b: memref<?xf16> {iris.divisibility = "16"}) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{has sizes = [8]; expected pointer, sizes and strides with one positive integer per dimension}}
  gpu.func @sizes(%b: memref<?x?xf16> {iris.divisibility = {pointer = 16, sizes = [8]}}) kernel { gpu.return }
}

// -----

func.func @field(%ctx: !iris.ctx) {
  // expected-error @+1 {{there is no field nope in the device context}}
  %a = iris.ctx_field "nope" %ctx : i32
  return
}

// -----

func.func @field_type(%ctx: !iris.ctx) {
  // expected-error @+1 {{result is 'i64'; expected i32 for field rank}}
  %a = iris.ctx_field "rank" %ctx : i64
  return
}
