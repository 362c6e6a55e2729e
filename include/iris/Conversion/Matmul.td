// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_MATMUL_TD
#define IRIS_CONVERSION_MATMUL_TD

include "mlir/Pass/PassBase.td"

def TileAssignMatmulLayoutsPass : Pass<"tile-assign-matmul-layouts"> {
  let summary = "Assign the target's layouts to matmul results";
  let description = [{
    Sets, on every `tile.matmul`, the attribute `tile.result_layout` to the
    layout of the result of the target's instructions. `tile-assign-layouts`
    uses it as the preferred layout of the result and of `init`: tiles computed
    from the result take the same layout, so that an epilogue moves no data
    between threads unless the kernel pins another layout.

    Where a target lowers matmuls in more than one way, it chooses here, for
    each kernel, by an attribute of the kernel that `tile-lower-matmul` removes:
    on chips with warpgroup instructions, `iris.without_producers` for a kernel
    that cannot be split into producer and consumer warps.

    It is an error if the target has no instruction for a tile, a type or a
    number of waves.

    Before:

    ```mlir
    %c = tile.matmul %a[%i, %z], %b[%z, %j] k(%k) block(64)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32>
    ```

    After:

    ```mlir
    %c = tile.matmul %a[%i, %z], %b[%z, %j] k(%k) block(64)
        attributes {tile.result_layout = #linear}
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "Target: a chip of lib/Chips">
  ];
  let dependentDialects = ["::mlir::tile::TileDialect"];
}

def TileLowerMatmulPass : Pass<"tile-lower-matmul"> {
  let summary = "Lower matmuls to per-thread code";
  let description = [{
    Replaces every `tile.matmul`, which must have a layout, by a loop over
    k-blocks on register vectors, workgroup memory and the target's matrix
    instructions. The op's region is cloned to each point where a k-block
    begins. `builtin.unrealized_conversion_cast` connects the thread's vectors
    and tiles until `convert-tile-to-threads` runs.

    Workgroup memory is shared with layout conversions: the kernel allocates the
    larger of both.

    In essence:

    ```mlir
    %registers = scf.for %kb = %c0 to %blocks step %c1 iter_args(%acc = %zero)
    %c = builtin.unrealized_conversion_cast %registers
        : vector<64xf32> to tensor<128x128xf32, #linear>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "Target: a chip of lib/Chips">,
    Option<"warpSize", "warp-size", "unsigned", /*default=*/"64",
           "threads per wave of the target">,
    Option<"maxScratchBytes", "max-scratch-bytes", "uint64_t",
           /*default=*/"65536",
           "workgroup memory that a program may use">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::iris::IrisDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def IrisApplyLoopAnnotationsPass : Pass<"iris-apply-loop-annotations"> {
  let summary = "Pass loop annotations on to LLVM";
  let description = [{
    `llvm.loop_annotation` on an `scf.for` becomes a discardable attribute of
    the loop's branch, which LLVM ignores. This pass converts it to the branch's
    inherent attribute.

    Before, and after:

    ```mlir
    llvm.br ^header {llvm.loop_annotation = #annotation}
    llvm.br ^header {loop_annotation = #annotation}
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // IRIS_CONVERSION_MATMUL_TD
