// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of kernels whose warps have different roles: some load what others
// compute with. Passes emit them below the tile level, and each thread executes
// them on its own.

#ifndef IRIS_DIALECT_IRIS_IR_IRISPIPELINEOPS_TD
#define IRIS_DIALECT_IRIS_IR_IRISPIPELINEOPS_TD

include "iris/Dialect/Iris/IR/IrisTypes.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Iris_HasFailedOp : Iris_Op<"has_failed", [MemoryEffects<[MemRead]>]> {
  let summary = "Asks whether a wait of the program was given up";
  let description = [{
    Each thread asks for itself, and threads that ask at the same time may get
    different answers: for loops that wait for other threads of the program,
    which may never come once a wait has failed. False in a kernel that never
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
  let summary = "Those who load operand tiles wait for those who multiply";
  let description = [{
    What the program has written, or waited for, before the producer fence is there for
    the loads of every `tile.matmul` after it. All waves of the program come by
    it.

    Example:

    ```mlir
    iris.producer_fence
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Iris_TensorMapOp : Iris_Op<"tensor_map", [Pure]> {
  let summary = "The copy engine's description of a kernel's buffer";
  let description = [{
    A hidden argument that the runtime makes for each launch: a descriptor of
    128 bytes with which the copy engine moves `box` elements, neighbours first,
    between `buffer` and shared memory, there in rows of `swizzle` bytes, XOR
    swizzled. `buffer` is an argument of the kernel, of two dimensions;
    `contiguous` is the one whose elements are neighbours.

    Coordinates are the element's along `contiguous`, along the other dimension,
    and a rank. With `ranks` the map covers every rank's copy; without it the
    rank is 0, and it is this rank's. Elements outside are 0.

    `made` says whether there is a map: the engine needs an address, a pitch
    and, with `ranks`, a distance between heaps that are multiples of 16 bytes.

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
