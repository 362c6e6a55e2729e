// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_KERNELS_PASSES_TD
#define IRIS_KERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def IrisExpandCollectivesPass
    : Pass<"iris-expand-collectives", "::mlir::ModuleOp"> {
  let summary = "Generate the kernels of collectives";
  let description = [{
    A collective in a host program becomes a launch of a kernel, which an
    `iris.collective` declares; collectives with the same operation, types and
    config share one kernel. All kernels of a group share one workspace,
    allocated at the start of the host program. Every `iris.collective` becomes
    a `gpu.module` with the kernel.

    Before:

    ```mlir
    func.func @main(%ctx: !iris.ctx) {
      %n = arith.constant 1000 : index
      %b = iris.alloc(%n) : memref<?xf32, #iris.symmetric>
      iris.all_reduce sum %ctx, %b, %b
          : memref<?xf32, #iris.symmetric>, memref<?xf32, #iris.symmetric>
      return
    }
    ```

    After:

    ```mlir
    gpu.module @all_reduce { gpu.func @all_reduce(...) kernel { ... } }
    func.func @main(%ctx: !iris.ctx) {
      %bytes = arith.constant ... : index
      %workspace = iris.alloc(%bytes) : memref<?xi8, #iris.symmetric>
      %n = arith.constant 1000 : index
      %b = iris.alloc(%n) : memref<?xf32, #iris.symmetric>
      %programs = ...
      iris.launch @all_reduce::@all_reduce programs(%programs) args(%ctx, %b, %b,
          %workspace, %n, %root : ...)
      return
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::iris::IrisDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
    "::mlir::tile::TileDialect"];
  let options = [
    Option<"waveSize", "wave-size", "unsigned", "64",
           "Threads of a warp; reductions have smaller default tiles where "
           "warps are narrower than 64">
  ];
}

def IrisExpandMatmulsPass : Pass<"iris-expand-matmuls", "::mlir::ModuleOp"> {
  let summary = "Generate the kernels of matmuls, local and fused";
  let description = [{
    A matmul in a host program becomes a launch of a kernel, which an
    `iris.matmul_kernel` declares; matmuls with the same kind, types and config
    share one kernel. Calls of one kernel on the same matrices share a
    workspace, allocated before the first call. Every `iris.matmul_kernel`
    becomes a `gpu.module` with the kernel.

    Before:

    ```mlir
    iris.matmul_kernel @mm matmul f16 -> f16 {tile_m = 64}
    ```

    After:

    ```mlir
    gpu.module @mm {
      gpu.func @mm(%ctx: !iris.ctx, %a: memref<?x?xf16, #iris.symmetric>,
                   %b: memref<?x?xf16, #iris.symmetric>,
                   %c: memref<?x?xf16, #iris.symmetric>) kernel { ... }
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::iris::IrisDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::mlir::tile::TileDialect"];
}

#endif // IRIS_KERNELS_PASSES_TD
