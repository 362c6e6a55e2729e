// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu.module(iris-lower-kernel-abi{target=gfx942}))'

gpu.module @kernels {
  // expected-error @+1 {{argument 0 is 'memref<?xf16, strided<[1], offset: ?>>' with a dynamic offset; expected a static one}}
  gpu.func @offset(%b: memref<?xf16, strided<[1], offset: ?>>) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{argument 0 is 'memref<?xf16, affine_map<(d0) -> (d0 mod 2)>>'; expected a strided layout}}
  gpu.func @map(%b: memref<?xf16, affine_map<(d0) -> (d0 mod 2)>>) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{expected at most 6 dimensions of f16, bf16, f32, f64, i8, i16, i32 or i64}}
  gpu.func @element(%b: memref<?xi4>) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{argument 0 has type 'tensor<8xf32>'; expected !iris.ctx, a memref, an index, an integer or a float}}
  gpu.func @tile(%b: tensor<8xf32>) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  gpu.func @context(%ctx: !iris.ctx) kernel {
    // expected-error @+1 {{uses the context; expected iris.ctx_field}}
    %r = iris.rank %ctx : index
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{declares memory of type 'memref<?xf16, 3>'; expected static sizes, no layout and elements of}}
  gpu.func @dynamic() workgroup(%w: memref<?xf16, 3>) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @+1 {{declares memory of type 'memref<8xf16, affine_map<(d0) -> (d0 mod 2)>, 5>'}}
  gpu.func @map() private(%p: memref<8xf16, affine_map<(d0) -> (d0 mod 2)>, 5>) kernel { gpu.return }
}

// -----

gpu.module @kernels {
  // expected-error @below {{has 131072 bytes of declared buffers (memref.alloca) and 0 bytes of workgroup memory for the compiler; expected at most 65536 in all on gfx942}}
  gpu.func @workgroup(%i: index) workgroup(%a: memref<32768xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}
