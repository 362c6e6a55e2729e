// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops below the tile level. The passes that spread tiles over threads (GPU) or
// into loops (host) emit them; kernels are not written with them. Except for
// `iris.fence`, which all threads execute together, each thread executes them
// on its own.

#ifndef IRIS_DIALECT_IRIS_IR_IRISTHREADOPS_TD
#define IRIS_DIALECT_IRIS_IR_IRISTHREADOPS_TD

include "iris/Dialect/Iris/IR/IrisTypes.td"
include "iris/Dialect/Tile/IR/TileBase.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Iris_ThreadOp<string mnemonic, list<Trait> traits = []>
    : Iris_Op<mnemonic, traits>;

def Iris_CtxFieldOp : Iris_ThreadOp<"ctx_field", [Pure]> {
  let summary = "Reads a field of the device context";
  let description = [{
    `field` is the name of a field of IrisRtContext in RuntimeABI.h. Replaced by
    the kernel's parameter when the kernel gets its final signature.

    Example:

    ```mlir
    %stride = iris.ctx_field "heapStride" %ctx : i64
    ```
  }];
  let arguments = (ins StrAttr:$field, Iris_CtxType:$ctx);
  let results = (outs AnyTypeOf<[I32, I64]>:$result);
  let assemblyFormat = "$field $ctx attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Iris_HostArenaOp : Iris_ThreadOp<"host_arena", [Pure]> {
  let summary = "The memory of the running program's tiles (host)";
  let description = [{
    `IrisRtHostProgram.arena` of RuntimeABI.h: as many bytes as the kernel's
    attribute `iris.arena_bytes` says, 64-byte aligned. Replaced when the kernel
    gets its final signature.

    Example:

    ```mlir
    %arena = iris.host_arena : memref<?xi8>
    ```
  }];
  let results = (outs MemRefRankOf<[I8], [1]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Iris_FenceOp
    : Iris_ThreadOp<"fence", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Orders the accesses of the whole program";
  let description = [{
    Executed by all threads together. After a `release` every earlier access of
    every thread comes before whatever any thread publishes next with a relaxed
    atomic. After an `acquire` every later access of every thread sees what was
    visible to those whose values any thread has read. `acq_rel` is both. Each
    of them orders all accesses of the program before it and after it; `relaxed`
    is nothing.

    Example:

    ```mlir
    iris.fence release scope(sys)
    ```
  }];
  let arguments = (ins
    Iris_MemSemanticAttr:$sem,
    DefaultValuedAttr<Iris_ScopeAttr, "::mlir::iris::Scope::Sys">:$scope);
  let assemblyFormat = "custom<Keyword>($sem) (`scope` `(` custom<Keyword>($scope)^ `)`)? attr-dict";
}

def Iris_ElementRMWOp
    : Iris_ThreadOp<"element_rmw", [MemoryEffects<[MemRead, MemWrite]>,
        AllTypesMatch<["value", "result"]>]> {
  let summary = "A relaxed atomic update of one element by one thread";
  let description = [{
    Example:

    ```mlir
    %old = iris.element_rmw add %v, %p scope(sys) : f32, !llvm.ptr<1>
    ```
  }];
  let arguments = (ins
    Iris_RMWKindAttr:$kind, Tile_MemElement:$value, LLVM_AnyPointer:$address,
    DefaultValuedAttr<Iris_ScopeAttr, "::mlir::iris::Scope::Sys">:$scope);
  let results = (outs Tile_MemElement:$result);
  let assemblyFormat = [{
    custom<Keyword>($kind) $value `,` $address (`scope` `(` custom<Keyword>($scope)^ `)`)? attr-dict
    `:` type($value) `,` qualified(type($address))
  }];
}

def Iris_ElementCASOp
    : Iris_ThreadOp<"element_cas", [MemoryEffects<[MemRead, MemWrite]>,
        AllTypesMatch<["compare", "value", "result"]>]> {
  let summary = "A relaxed compare-and-swap of one element by one thread";
  let description = [{
    Example:

    ```mlir
    %old = iris.element_cas %c, %v, %p scope(sys) : i32, !llvm.ptr<1>
    ```
  }];
  let arguments = (ins
    Tile_MemElement:$compare, Tile_MemElement:$value,
    LLVM_AnyPointer:$address,
    DefaultValuedAttr<Iris_ScopeAttr, "::mlir::iris::Scope::Sys">:$scope);
  let results = (outs Tile_MemElement:$result);
  let assemblyFormat = [{
    $compare `,` $value `,` $address (`scope` `(` custom<Keyword>($scope)^ `)`)? attr-dict
    `:` type($value) `,` qualified(type($address))
  }];
}

def Iris_RecordExpectOp
    : Iris_ThreadOp<"record_expect", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Reports what one thread compared";
  let description = [{
    Adds `checked` and `failed` to the counters of the control block, and, if
    `failed` is not 0 and nothing was recorded before, records element
    `element` with the raw bits `got` and `want`. `what` and `elementType` go to
    the kernel's metadata.

    Example:

    ```mlir
    iris.record_expect %ctx, %checked, %failed, %element, %got, %want
        "doubled" f16
    ```
  }];
  let arguments = (ins
    Iris_CtxType:$ctx, I64:$checked, I64:$failed, I64:$element, I64:$got,
    I64:$want, StrAttr:$what, TypeAttr:$elementType);
  let assemblyFormat = [{
    $ctx `,` $checked `,` $failed `,` $element `,` $got `,` $want
    $what $elementType attr-dict
  }];
}

#endif // IRIS_DIALECT_IRIS_IR_IRISTHREADOPS_TD
