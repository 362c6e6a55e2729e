// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops outside the portable kernel language are rejected before any lowering,
// with the same message for every target.
//
// RUN: iris-opt %s --iris-verify-portable --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=host --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=gfx942 --split-input-file --verify-diagnostics
// RUN: iris-opt %s --iris-pipeline=target=sm_90a --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @supported(%b: memref<?xbf16>, %c: memref<?xf32>, %i: index) kernel {
    %0 = tile.load %b[%i] : memref<?xbf16> -> tensor<32xbf16>
    %1 = arith.addf %0, %0 : tensor<32xbf16>
    %2 = math.exp %1 : tensor<32xbf16>
    tile.store %2, %b[%i] : tensor<32xbf16>, memref<?xbf16>
    %3 = vector.load %c[%i] : memref<?xf32>, vector<4xf32>
    %4 = math.exp %3 : vector<4xf32>
    vector.store %4, %c[%i] : memref<?xf32>, vector<4xf32>
    gpu.return
  }
  // Ops of the LLVM dialect were written for one target.
  llvm.func @one_target(%x: vector<8xbf16>) {
    llvm.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @threads(%b: memref<?xindex>, %i: index) kernel {
    // expected-error @below {{'gpu.thread_id' op is not in the portable kernel language, which all targets compile; see docs/reference/kernel-language.md}}
    // expected-note @below {{of 'gpu' kernels may use barrier, block_id, func, grid_dim, module, return; other dialects are iris, tile, func, arith, math, scf, memref, affine, tensor, vector}}
    %0 = gpu.thread_id x
    memref.store %0, %b[%i] : memref<?xindex>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @print(%x: f32, %j: i32) kernel {
    // expected-error @below {{'gpu.printf' op is not in the portable kernel language}}
    // expected-note @below {{of 'gpu' kernels may use}}
    gpu.printf "%f", %x : f32
    // expected-error @below {{'gpu.shuffle' op is not in the portable kernel language}}
    // expected-note @below {{of 'gpu' kernels may use}}
    %0, %1 = gpu.shuffle xor %x, %j, %j : f32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @dialect(%j: i32) kernel {
    // expected-error @below {{'llvm.add' op is not in the portable kernel language}}
    // expected-note @below {{expected ops of the dialects iris, tile, gpu, func, arith, math, scf, memref, affine, tensor, vector}}
    %0 = llvm.add %j, %j : i32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @elements(%b: memref<?xf32>, %i: index) kernel {
    %0 = tile.load %b[%i] : memref<?xf32> -> tensor<32xf32>
    // expected-error @below {{'tensor.extract' op is not in the portable kernel language}}
    // expected-note @below {{of 'tensor' kernels may use splat; other dialects are}}
    %1 = tensor.extract %0[%i] : tensor<32xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @constant(%b: memref<?xi32>, %i: index) kernel {
    // expected-error @below {{'arith.constant' op is a tile of differing elements; expected a splat, or a tile computed from tile.range or loaded from a buffer}}
    %0 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    tile.store %0, %b[%i] : tensor<4xi32>, memref<?xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @huge(%b: memref<?xi32>, %i: index) kernel {
    // expected-error @below {{'tile.load' op works on 'tensor<131072xi32>'; expected tiles of at most 65536 elements and 262144 bytes, which a program can hold in registers; take a large tile in steps}}
    %0 = tile.load %b[%i] : memref<?xi32> -> tensor<131072xi32>
    // expected-error @below {{'tile.store' op works on 'tensor<131072xi32>'}}
    tile.store %0, %b[%i] : tensor<131072xi32>, memref<?xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @extents(%x: f32) kernel {
    // expected-error @below {{'tensor.splat' op works on 'tensor<3xf32>'; expected tiles of static extents that are powers of two}}
    %0 = tensor.splat %x : tensor<3xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @math(%x: f32, %y: f64) kernel {
    // expected-error @below {{'math.exp' op works on 'f64'; expected f16, bf16 or f32}}
    %0 = math.exp %y : f64
    // expected-error @below {{'math.sinh' op is not in the portable kernel language}}
    // expected-note @below {{of 'math' kernels may use absf, absi,}}
    %1 = math.sinh %x : f32
    // expected-error @below {{'arith.remf' op is not in the portable kernel language}}
    // expected-note @below {{of 'arith' kernels may use addf,}}
    %2 = arith.remf %x, %x : f32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @vectors(%x: f32, %y: bf16) kernel {
    // expected-error @below {{'arith.constant' op works on 'vector<4x4xf32>'; expected tiles (tensors), or vectors of one dimension and a fixed length of at most 64}}
    %0 = arith.constant dense<1.0> : vector<4x4xf32>
    // expected-error @below {{'vector.broadcast' op works on 'vector<[4]xf32>'; expected tiles (tensors)}}
    %1 = vector.broadcast %x : f32 to vector<[4]xf32>
    // expected-error @below {{'vector.broadcast' op works on 'bf16'; expected i1, i8, i16, i32, i64, index, f16, f32 or f64}}
    %2 = vector.broadcast %y : bf16 to vector<8xbf16>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @types(%j: i32, %x: f32) kernel {
    // expected-error @below {{'arith.trunci' op works on 'i7'; expected i1, i8, i16, i32 or i64, a tile, a memref with a rank or !iris.ctx}}
    %0 = arith.trunci %j : i32 to i7
    %1 = arith.constant 1.0 : f8E4M3FN
    // expected-error @below {{'arith.addf' op works on 'f8E4M3FN'; expected f16, bf16, f32 or f64; f8 is widened by arith.extf first}}
    %2 = arith.addf %1, %1 : f8E4M3FN
    // expected-error @below {{'arith.truncf' op rounds upward; expected to_nearest_even, which all targets support}}
    %3 = arith.truncf %x upward : f32 to f16
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @memory(%n: index) kernel {
    // expected-error @below {{'memref.alloca' op has a dynamic size; expected a static shape}}
    %0 = memref.alloca(%n) : memref<?xf32>
    // expected-error @below {{'memref.alloca' op works on 'memref<4xf32, 3>'; expected no memory space, #iris.symmetric or #iris.peer}}
    %1 = memref.alloca() : memref<4xf32, 3>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @unranked(%b: memref<?xf32>) kernel {
    // expected-error @below {{'memref.cast' op works on 'memref<*xf32>'; expected i1, i8, i16, i32, i64, index, f16, bf16, f32 or f64, a tile, a memref with a rank or !iris.ctx}}
    %0 = memref.cast %b : memref<?xf32> to memref<*xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op works on 'tensor<4xf32>'; expected scalars and memrefs (docs/reference/kernel-language.md)}}
  gpu.func @tile(%t: tensor<4xf32>) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @space(%s: memref<?xf32, #iris.symmetric>, %b: memref<?xf32>) kernel {
    %0 = memref.memory_space_cast %s : memref<?xf32, #iris.symmetric> to memref<?xf32>
    // expected-error @below {{casts 'memref<?xf32>' to 'memref<?xf32, #iris.symmetric>'; expected a buffer of #iris.symmetric or #iris.peer, and no memory space in the result}}
    %1 = memref.memory_space_cast %b : memref<?xf32> to memref<?xf32, #iris.symmetric>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @reshape(%b: memref<64xf32>, %shape: memref<2xindex>) kernel {
    // expected-error @below {{'memref.reshape' op is not in the portable kernel language}}
    // expected-note @below {{of 'memref' kernels may use alloca, assume_alignment, cast, collapse_shape, dim, expand_shape, extract_aligned_pointer_as_index, extract_strided_metadata, load, memory_space_cast, reinterpret_cast, store, subview, transpose, view}}
    %0 = memref.reshape %b(%shape) : (memref<64xf32>, memref<2xindex>) -> memref<?x?xf32>
    // expected-error @below {{'memref.cast' op works on 'memref<*xf32>'; expected}}
    %1 = memref.cast %b : memref<64xf32> to memref<*xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @warp(%b: memref<?xf32>, %i: index) kernel
      attributes {iris.num_warps = 1 : i32} {
    %0 = tile.load %b[%i] : memref<?xf32> -> tensor<16384xf32>
    // expected-error @below {{'tile.load' op works on 'tensor<32768xf32>'; expected tiles of at most 16384 elements for each of the kernel's 1 warps (iris.num_warps)}}
    %1 = tile.load %b[%i] : memref<?xf32> -> tensor<32768xf32>
    tile.store %0, %b[%i] : tensor<16384xf32>, memref<?xf32>
    gpu.return
  }
}
