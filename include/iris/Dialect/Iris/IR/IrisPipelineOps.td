// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of warp-specialized kernels: producer warps load data for consumer warps.
// Passes emit these ops below the tile level, and each thread executes them
// independently.

#ifndef IRIS_DIALECT_IRIS_IR_IRISPIPELINEOPS_TD
#define IRIS_DIALECT_IRIS_IR_IRISPIPELINEOPS_TD

include "iris/Dialect/Iris/IR/IrisTypes.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Iris_HasFailedOp : Iris_Op<"has_failed", [MemoryEffects<[MemRead]>]> {
  let summary = "Returns whether a wait of the program has failed";
  let description = [{
    The result may differ between threads, even if they execute the op at the
    same time. It is used in loops that wait for other threads of the program,
    which may never arrive after a failed wait. False in a kernel that never
    waits for other programs.

    Example:

    ```mlir
    %failed = iris.has_failed
    ```
  }];
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict";
}

def Iris_ProducerFenceOp : Iris_Op<"producer_fence",
    [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Orders producer warps after consumer warps";
  let description = [{
    Everything the program has written, or waited for, before the fence is
    visible to the loads of every later `tile.matmul`. All waves of the program
    execute it.

    Example:

    ```mlir
    iris.producer_fence
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Iris_TensorMapOp : Iris_Op<"tensor_map", [Pure]> {
  let summary = "Tensor map of a kernel's buffer";
  let description = [{
    A hidden argument that the runtime creates for each launch: a TMA descriptor
    of 128 bytes for copies of `box` elements, along `contiguous` first, between
    `buffer` and shared memory, where rows have `swizzle` bytes and an XOR
    swizzle. `buffer` is a two-dimensional argument of the kernel; `contiguous`
    is its dimension of stride 1.

    The coordinates are the element's along `contiguous`, along the other
    dimension, and a rank. With `ranks` the map covers the copies of all ranks;
    without it, it covers this rank's copy and the rank is 0. Elements outside
    are 0.

    `made` is whether the map is valid: TMA requires the address, the pitch and,
    with `ranks`, the stride between heaps to be multiples of 16 bytes.

    Example:

    ```mlir
    %map, %made = iris.tensor_map %a contiguous 1 box [64, 128] swizzle 128
        : memref<?x?xf16> -> !llvm.ptr
    ```
  }];
  let arguments = (ins
    AnyMemRef:$buffer, I64Attr:$contiguous, DenseI64ArrayAttr:$box,
    I64Attr:$swizzle, UnitAttr:$ranks);
  let results = (outs LLVM_AnyPointer:$map, I1:$made);
  let assemblyFormat = [{
    $buffer `contiguous` $contiguous `box` $box `swizzle` $swizzle
    (`ranks` $ranks^)? attr-dict `:` type($buffer) `->` qualified(type($map))
  }];
  let hasVerifier = 1;
}

#endif // IRIS_DIALECT_IRIS_IR_IRISPIPELINEOPS_TD
