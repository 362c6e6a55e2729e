// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_CONVERSION_MATMUL_TD
#define IRIS_CONVERSION_MATMUL_TD

include "mlir/Pass/PassBase.td"

def TileAssignMatmulLayoutsPass : Pass<"tile-assign-matmul-layouts"> {
  let summary = "Asks the target for the layouts of matmul results";
  let description = [{
    Leaves on every `tile.matmul` the layout in which the target's instructions
    give the result, as the attribute `tile.result_layout`.
    `tile-assign-layouts` treats it as the layout that the result and `init`
    have by themselves: what is computed with the result follows it, so that an
    epilogue moves nothing between threads, unless the kernel pins another
    layout.

    A tile, a type or a number of waves for which the target has no instruction
    is an error.

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
  let summary = "Replaces matmuls by what each thread does";
  let description = [{
    Replaces every `tile.matmul`, which has a layout by now, by a loop over
    k-blocks on vectors of registers, workgroup memory and the target's matrix
    instructions. The region is copied to wherever the loop begins a block.
    `builtin.unrealized_conversion_cast` stands between the thread's vectors and
    tiles until `convert-tile-to-threads` runs.

    Workgroup memory is shared with what exchanges elements between layouts:
    the kernel takes the larger of both.

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
           "workgroup memory that a program may take">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::iris::IrisDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::ROCDL::ROCDLDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"
  ];
}

def IrisApplyLoopAnnotationsPass : Pass<"iris-apply-loop-annotations"> {
  let summary = "Hands annotations of loops on to LLVM";
  let description = [{
    `llvm.loop_annotation` on an `scf.for` reaches the loop's branch as an
    attribute that says nothing to LLVM. This pass makes it the branch's own.

    Before, and after:

    ```mlir
    llvm.br ^header {llvm.loop_annotation = #annotation}
    llvm.br ^header {loop_annotation = #annotation}
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // IRIS_CONVERSION_MATMUL_TD
