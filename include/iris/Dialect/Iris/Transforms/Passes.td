// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_DIALECT_IRIS_TRANSFORMS_PASSES_TD
#define IRIS_DIALECT_IRIS_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def IrisTranslatePointersPass : Pass<"iris-translate-pointers"> {
  let summary = "Expands remote accesses into a translation and a local access";
  let description = [{
    Every op that names a rank becomes one on the translated buffer:
    `iris.load`, `store`, `gather` and `scatter` become the tile dialect's;
    `get`, `put` and `copy` become a load and a store; atomics, `signal` and
    `wait` lose their rank. Translation is on the *base* of the buffer: it is
    pure, so that CSE and LICM share and hoist it, and the access keeps its
    contiguity and alignment.

    Before:

    ```mlir
    iris.store %ctx, %v, %out[%i] to %r
        : tensor<256xf16>, memref<?xf16, #iris.symmetric>
    ```

    After:

    ```mlir
    %p = iris.translate %ctx, %out to %r
        : memref<?xf16, #iris.symmetric> -> memref<?xf16, #iris.peer>
    tile.store %v, %p[%i] : tensor<256xf16>, memref<?xf16, #iris.peer>
    ```
  }];
  let dependentDialects = ["::mlir::tile::TileDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // IRIS_DIALECT_IRIS_TRANSFORMS_PASSES_TD
