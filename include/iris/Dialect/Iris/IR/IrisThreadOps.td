// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops below the tile level. The passes that lower tiles to threads (GPU) or to
// loops (host) emit them; they are not used in kernels. Except for
// `iris.fence`, which all threads execute together, each thread executes them
// independently.

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
    `field` is the name of a field of IrisRtContext in RuntimeABI.h. Lowered to
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
  let summary = "The memory for the running program's tiles (host)";
  let description = [{
    `IrisRtHostProgram.arena` of RuntimeABI.h: 64-byte aligned, with the size of
    the kernel's attribute `iris.arena_bytes`. Lowered when the kernel gets its
    final signature.

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
    Executed by all threads together. After a `release`, every earlier access of
    every thread is ordered before any relaxed atomic with which any thread
    publishes next. After an `acquire`, every later access of every thread sees
    what was visible to the publishers of the values that any thread has read.
    `acq_rel` is both. Each of them also orders all accesses of the program
    before it and after it; `relaxed` has no effect.

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
  let summary = "Reports the comparisons of one thread";
  let description = [{
    Adds `checked` and `failed` to the counters of the control block. If
    `failed` is not 0 and no mismatch has been recorded yet, records element
    `element` with the raw bits `got` and `want`. `what` and `elementType` are
    stored in the kernel's metadata.

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
