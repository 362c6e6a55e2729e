// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of kernels (rank information, remote access, atomics, synchronization)
// and of host programs (allocation, launch).

#ifndef IRIS_DIALECT_IRIS_IR_IRISOPS_TD
#define IRIS_DIALECT_IRIS_IR_IRISOPS_TD

include "iris/Dialect/Iris/IR/IrisCollectiveOps.td"
include "iris/Dialect/Iris/IR/IrisInterfaces.td"
include "iris/Dialect/Iris/IR/IrisPacketOps.td"
include "iris/Dialect/Iris/IR/IrisThreadOps.td"
include "iris/Dialect/Iris/IR/IrisTraceOps.td"
include "iris/Dialect/Iris/IR/IrisTypes.td"
include "iris/Dialect/Tile/IR/TileEnums.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferIntRangeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// A scalar or a tile: the operand of an atomic.
def Iris_AtomicValue
    : AnyTypeOf<[Tile_MemElement, Tile_DataTile],
                "scalar or tile of a memory element type">;
def Iris_AtomicOffset
    : AnyTypeOf<[Index, Tile_IndexTile], "index or tile of index">;
def Iris_FlagElement : AnyTypeOf<[I32, I64], "i32 or i64">;
def Iris_FlagBuffer : MemRefRankOf<[I32, I64], [1, 2, 3, 4]>;

//===----------------------------------------------------------------------===//
// World
//===----------------------------------------------------------------------===//

def Iris_RankOp : Iris_Op<"rank", [Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "Returns this rank's number";
  let description = [{
    From 0 to num_ranks - 1; the same in all programs of the rank and in
    `@main`. Same as `ctx.get_rank()`.

    Example:

    ```mlir
    %rank = iris.rank %ctx : index
    ```
  }];
  let arguments = (ins Iris_CtxType:$ctx);
  let results = (outs Index:$result);
  let assemblyFormat = "$ctx attr-dict `:` type($result)";
}

def Iris_NumRanksOp : Iris_Op<"num_ranks", [Pure,
    DeclareOpInterfaceMethods<InferIntRangeInterface, ["inferResultRanges"]>]> {
  let summary = "Returns the number of ranks in the world";
  let description = [{
    Same as `ctx.get_num_ranks()`.

    Example:

    ```mlir
    %n = iris.num_ranks %ctx : index
    ```
  }];
  let arguments = (ins Iris_CtxType:$ctx);
  let results = (outs Index:$result);
  let assemblyFormat = "$ctx attr-dict `:` type($result)";
}

class Iris_GroupQueryOp<string mnemonic, dag args>
    : Iris_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<
        InferIntRangeInterface, ["inferResultRanges"]>]> {
  let arguments = args;
  let results = (outs Index:$result);
}

def Iris_GroupSizeOp
    : Iris_GroupQueryOp<"group_size", (ins Iris_CtxType:$ctx)> {
  let summary = "Returns the number of ranks in the launch's group";
  let description = [{
    A launch without a group has all ranks of the world as its group, if the
    world has at most 16; else the size is 0.

    Example:

    ```mlir
    %size = iris.group_size %ctx : index
    ```
  }];
  let assemblyFormat = "$ctx attr-dict `:` type($result)";
}

def Iris_GroupIndexOp
    : Iris_GroupQueryOp<"group_index", (ins Iris_CtxType:$ctx)> {
  let summary = "Returns this rank's index in the launch's group";
  let description = [{
    The place of this rank in the list of the launch, from 0 to group_size - 1;
    without a group the rank.

    Example:

    ```mlir
    %me = iris.group_index %ctx : index
    ```
  }];
  let assemblyFormat = "$ctx attr-dict `:` type($result)";
}

def Iris_GroupMemberOp
    : Iris_GroupQueryOp<"group_member",
                        (ins Iris_CtxType:$ctx, Index:$member)> {
  let summary = "Returns the rank of a member of the launch's group";
  let description = [{
    The world rank of member `member`, 0 <= member < size of the group, as used
    in the `to` and `from` clauses of other ops. The context contains the
    members, so nothing is loaded.

    Example:

    ```mlir
    %peer = iris.group_member %ctx, %i : index
    ```
  }];
  let assemblyFormat = "$ctx `,` $member attr-dict `:` type($result)";
}

def Iris_TranslateOp : Iris_Op<"translate", [Pure]> {
  let summary = "Returns the copy of a buffer on another rank";
  let description = [{
    Pure address arithmetic on the base of the buffer; shape, strides and
    alignment do not change. All remote accesses are expanded into a translation
    and a local access, so that one translation serves all accesses to a buffer.
    The rank must be less than the number of ranks.

    Example:

    ```mlir
    %p = iris.translate %ctx, %buf to %r
        : memref<?xf16, #iris.symmetric> -> memref<?xf16, #iris.peer>
    ```
  }];
  let arguments = (ins Iris_CtxType:$ctx, AnyMemRef:$source, Index:$rank);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $ctx `,` $source `to` $rank attr-dict
    `:` type($source) `->` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Value":$ctx, "::mlir::Value":$source,
                   "::mlir::Value":$rank)>];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Remote access
//===----------------------------------------------------------------------===//

class Iris_AccessOp<string mnemonic, list<Trait> traits = []>
    : Iris_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>])>;

def Iris_LoadOp : Iris_AccessOp<"load", [
    AttrSizedOperandSegments, Tile_ElseOf<"result", "other">]> {
  let summary = "Loads a window of a buffer on some rank";
  let description = [{
    `tile.load` of rank `from`'s copy. Same as
    `iris.load(ptr, to_rank, from_rank, heap_bases)`.

    Example:

    ```mlir
    %v = iris.load %ctx, %buf[%i, %j] from %r
        : memref<?x?xf16, #iris.symmetric> -> tensor<8x256xf16>
    ```
  }];
  let arguments = (ins
    Iris_CtxType:$ctx, Tile_Buffer:$source, Variadic<Index>:$offsets,
    Index:$rank, Optional<Tile_MemElement>:$other,
    DefaultValuedAttr<Tile_LoadCacheAttr, "::mlir::tile::LoadCache::ca">:$cache,
    UnitAttr:$isVolatile);
  let results = (outs Tile_DataTile:$result);
  let assemblyFormat = [{
    $ctx `,` $source `[` $offsets `]` `from` $rank (`else` $other^)?
    (`cache` `(` custom<Keyword>($cache)^ `)`)? (`volatile` $isVolatile^)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Iris_StoreOp : Iris_AccessOp<"store"> {
  let summary = "Stores a tile to a window of a buffer on some rank";
  let description = [{
    `tile.store` to rank `to`'s copy. Same as
    `iris.store(ptr, value, from_rank, to_rank, heap_bases)`.

    Example:

    ```mlir
    iris.store %ctx, %v, %buf[%i, %j] to %r
        : tensor<8x256xf16>, memref<?x?xf16, #iris.symmetric>
    ```
  }];
  let arguments = (ins
    Iris_CtxType:$ctx, Tile_DataTile:$value, Tile_Buffer:$destination,
    Variadic<Index>:$offsets, Index:$rank,
    DefaultValuedAttr<Tile_StoreCacheAttr, "::mlir::tile::StoreCache::wb">
      :$cache,
    UnitAttr:$isVolatile);
  let assemblyFormat = [{
    $ctx `,` $value `,` $destination `[` $offsets `]` `to` $rank
    (`cache` `(` custom<Keyword>($cache)^ `)`)? (`volatile` $isVolatile^)? attr-dict
    `:` type($value) `,` type($destination)
  }];
  let hasVerifier = 1;
}

def Iris_GatherOp : Iris_AccessOp<"gather", [
    AttrSizedOperandSegments, Tile_MaskOf<"result", "mask">,
    Tile_ElseOf<"result", "other">]> {
  let summary = "Loads elements at computed coordinates on some rank";
  let description = [{
    `tile.gather` of rank `from`'s copy: the general, pointer-tile form of
    `iris.load` with `mask` and `other`.

    Example:

    ```mlir
    %v = iris.gather %ctx, %buf[%i] from %r mask %m else %pad
        : memref<?xf16, #iris.symmetric>, tensor<256xindex> -> tensor<256xf16>
    ```
  }];
  let arguments = (ins
    Iris_CtxType:$ctx, Tile_Buffer:$source,
    Variadic<Tile_IndexTile>:$indices, Index:$rank,
    Optional<Tile_MaskTile>:$mask, Optional<Tile_MemElement>:$other,
    DefaultValuedAttr<Tile_LoadCacheAttr, "::mlir::tile::LoadCache::ca">:$cache,
    UnitAttr:$isVolatile);
  let results = (outs Tile_DataTile:$result);
  let assemblyFormat = [{
    $ctx `,` $source `[` $indices `]` `from` $rank (`mask` $mask^)?
    (`else` $other^)? (`cache` `(` custom<Keyword>($cache)^ `)`)?
    (`volatile` $isVolatile^)? attr-dict
    `:` type($source) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Iris_ScatterOp : Iris_AccessOp<"scatter", [
    AttrSizedOperandSegments, Tile_MaskOf<"value", "mask">]> {
  let summary = "Stores elements at computed coordinates on some rank";
  let description = [{
    `tile.scatter` to rank `to`'s copy.

    Example:

    ```mlir
    iris.scatter %ctx, %v, %buf[%i] to %r mask %m
        : tensor<256xf16>, memref<?xf16, #iris.symmetric>, tensor<256xindex>
    ```
  }];
  let arguments = (ins
    Iris_CtxType:$ctx, Tile_DataTile:$value, Tile_Buffer:$destination,
    Variadic<Tile_IndexTile>:$indices, Index:$rank,
    Optional<Tile_MaskTile>:$mask,
    DefaultValuedAttr<Tile_StoreCacheAttr, "::mlir::tile::StoreCache::wb">
      :$cache,
    UnitAttr:$isVolatile);
  let assemblyFormat = [{
    $ctx `,` $value `,` $destination `[` $indices `]` `to` $rank
    (`mask` $mask^)? (`cache` `(` custom<Keyword>($cache)^ `)`)?
    (`volatile` $isVolatile^)? attr-dict
    `:` type($value) `,` type($destination) `,` type($indices)
  }];
  let hasVerifier = 1;
}

/// get, put and copy: copies of a window from one buffer to another.
class Iris_TransferOp<string mnemonic>
    : Iris_AccessOp<mnemonic, [AttrSizedOperandSegments,
                               Tile_ElseOf<"source", "other">]> {
  code transferDecls = [{
    /// The tile that is copied: `shape` elements of the buffers' element type.
    RankedTensorType getTileType() {
      return RankedTensorType::get(getShape(),
                                   getSource().getType().getElementType());
    }
  }];
  let extraClassDeclaration = transferDecls;
  let hasVerifier = 1;
}

def Iris_GetOp : Iris_TransferOp<"get"> {
  let summary = "Copies a window from some rank to local memory";
  let description = [{
    Same as `iris.get` of ROCm/iris: a remote load and a local store. Elements
    outside of the source read as 0, or as the `else` value; elements outside of
    the destination are dropped; elements whose mask is false are not
    transferred.

    `shape` is the window. `mask %m` has its shape and elements of i1, so that
    its type is not written; `else %v` is a scalar of the source's element
    type.

    Example:

    ```mlir
    iris.get %ctx, %src[%i, %j], %dst[%k, %l] from %r shape [8, 256]
        : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16>
    iris.get %ctx, %src[%i, %j], %dst[%k, %l] from %r shape [8, 256]
        mask %m else %v : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16>
    ```
  }];
  let arguments = (ins
    Iris_CtxType:$ctx, Tile_Buffer:$source, Variadic<Index>:$sourceOffsets,
    Tile_Buffer:$destination, Variadic<Index>:$destinationOffsets,
    Index:$rank, Optional<Tile_MaskTile>:$mask,
    Optional<Tile_MemElement>:$other, DenseI64ArrayAttr:$shape,
    DefaultValuedAttr<Tile_LoadCacheAttr, "::mlir::tile::LoadCache::ca">:$cache,
    DefaultValuedAttr<Tile_StoreCacheAttr, "::mlir::tile::StoreCache::wb">
      :$storeCache,
    UnitAttr:$isVolatile);
  let assemblyFormat = [{
    $ctx `,` $source `[` $sourceOffsets `]` `,`
    $destination `[` $destinationOffsets `]` `from` $rank
    `shape` $shape custom<TransferMask>($mask, type($mask), ref($shape))
    (`else` $other^)? (`cache` `(` custom<Keyword>($cache)^ `)`)?
    (`store_cache` `(` custom<Keyword>($storeCache)^ `)`)? (`volatile` $isVolatile^)?
    attr-dict `:` type($source) `,` type($destination)
  }];
}

def Iris_PutOp : Iris_TransferOp<"put"> {
  let summary = "Copies a window from local memory to some rank";
  let description = [{
    Same as `iris.put` of ROCm/iris: a local load and a remote store. `mask` and
    `else` are those of `iris.get`.

    Example:

    ```mlir
    iris.put %ctx, %src[%i, %j], %dst[%k, %l] to %r shape [8, 256]
        : memref<?x?xf16>, memref<?x?xf16, #iris.symmetric>
    iris.put %ctx, %src[%i, %j], %dst[%k, %l] to %r shape [8, 256] mask %m
        : memref<?x?xf16>, memref<?x?xf16, #iris.symmetric>
    ```
  }];
  let arguments = (ins
    Iris_CtxType:$ctx, Tile_Buffer:$source, Variadic<Index>:$sourceOffsets,
    Tile_Buffer:$destination, Variadic<Index>:$destinationOffsets,
    Index:$rank, Optional<Tile_MaskTile>:$mask,
    Optional<Tile_MemElement>:$other, DenseI64ArrayAttr:$shape,
    DefaultValuedAttr<Tile_LoadCacheAttr, "::mlir::tile::LoadCache::ca">:$cache,
    DefaultValuedAttr<Tile_StoreCacheAttr, "::mlir::tile::StoreCache::wb">
      :$storeCache,
    UnitAttr:$isVolatile);
  let assemblyFormat = [{
    $ctx `,` $source `[` $sourceOffsets `]` `,`
    $destination `[` $destinationOffsets `]` `to` $rank
    `shape` $shape custom<TransferMask>($mask, type($mask), ref($shape))
    (`else` $other^)? (`cache` `(` custom<Keyword>($cache)^ `)`)?
    (`store_cache` `(` custom<Keyword>($storeCache)^ `)`)? (`volatile` $isVolatile^)?
    attr-dict `:` type($source) `,` type($destination)
  }];
}

def Iris_CopyOp : Iris_TransferOp<"copy"> {
  let summary = "Copies a window between any two ranks";
  let description = [{
    Same as `iris.copy` of ROCm/iris, but neither rank needs to be this one: all
    heaps are mapped. `mask` and `else` are those of `iris.get`.

    Example:

    ```mlir
    iris.copy %ctx, %src[%i, %j], %dst[%k, %l] from %a to %b shape [8, 256]
        : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16, #iris.symmetric>
    ```
  }];
  let arguments = (ins
    Iris_CtxType:$ctx, Tile_Buffer:$source, Variadic<Index>:$sourceOffsets,
    Tile_Buffer:$destination, Variadic<Index>:$destinationOffsets,
    Index:$fromRank, Index:$toRank, Optional<Tile_MaskTile>:$mask,
    Optional<Tile_MemElement>:$other, DenseI64ArrayAttr:$shape,
    DefaultValuedAttr<Tile_LoadCacheAttr, "::mlir::tile::LoadCache::ca">:$cache,
    DefaultValuedAttr<Tile_StoreCacheAttr, "::mlir::tile::StoreCache::wb">
      :$storeCache,
    UnitAttr:$isVolatile);
  let assemblyFormat = [{
    $ctx `,` $source `[` $sourceOffsets `]` `,`
    $destination `[` $destinationOffsets `]` `from` $fromRank
    `to` $toRank `shape` $shape custom<TransferMask>($mask, type($mask), ref($shape))
    (`else` $other^)? (`cache` `(` custom<Keyword>($cache)^ `)`)?
    (`store_cache` `(` custom<Keyword>($storeCache)^ `)`)? (`volatile` $isVolatile^)?
    attr-dict `:` type($source) `,` type($destination)
  }];
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// Ops that synchronize: they report a read and a write of all memory.
class Iris_OrderedOp<string mnemonic, list<Trait> traits = []>
    : Iris_Op<mnemonic, !listconcat(traits, [
        MemoryEffects<[MemRead, MemWrite]>])>;

def Iris_AtomicRMWOp : Iris_OrderedOp<"atomic_rmw", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<RankedAccessOpInterface>,
    TypesMatchWith<"result has the value's type", "value", "result", "$_self">,
    Tile_MaskOf<"value", "mask">]> {
  let summary = "Atomically updates elements and returns the old values";
  let description = [{
    Same as ROCm/iris' `atomic_add`, `_sub`, `_xchg`, `_and`, `_or`, `_xor`,
    `_min` and `_max`. A tile updates each element of a window, in no particular order.
    With tiles of coordinates in place of offsets, one for each dimension as in
    `iris.scatter`, it updates the elements there: each as often as it is named.
    Elements outside of the buffer or masked out are not updated; their result
    is 0. Integers are signless: `min` and `max` compare signed, `umin` and
    `umax` unsigned. Float `min` and `max` propagate NaN.

    `sem` is `relaxed`, `acquire`, `release` or `acq_rel` (the default), `scope`
    `block`, `gpu` or `sys` (the default). Scopes below `sys` are rejected if a
    rank is specified. A release orders the program's earlier accesses before
    this one, an acquire its later ones after it. The leader performs a scalar
    access, the owners of the tile's elements a tile access.

    Example:

    ```mlir
    %old = iris.atomic_rmw add %ctx, %v, %buf[%i] to %r sem(acq_rel) scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    %slot = iris.atomic_rmw add %ctx, %ones, %counts[%expert] to %r mask %m
        : tensor<256xi32>, memref<?xi32, #iris.symmetric>, tensor<256xindex>
    ```
  }];
  let arguments = (ins
    Iris_RMWKindAttr:$kind, Iris_CtxType:$ctx, Iris_AtomicValue:$value,
    Tile_Buffer:$buffer, Variadic<Iris_AtomicOffset>:$offsets,
    Optional<Index>:$rank, Optional<AnyTypeOf<[I1, Tile_MaskTile]>>:$mask,
    DefaultValuedAttr<Iris_MemSemanticAttr, "::mlir::iris::MemSemantic::AcqRel">
      :$sem,
    DefaultValuedAttr<Iris_ScopeAttr, "::mlir::iris::Scope::Sys">:$scope);
  let results = (outs Iris_AtomicValue:$result);
  let assemblyFormat = [{
    custom<Keyword>($kind) $ctx `,` $value `,` $buffer `[` $offsets `]` (`to` $rank^)?
    (`mask` $mask^)? (`sem` `(` custom<Keyword>($sem)^ `)`)? (`scope` `(` custom<Keyword>($scope)^ `)`)?
    attr-dict `:` type($value) `,`
    custom<ElementTypes>(type($buffer), ref($offsets), type($offsets))
  }];
  let hasVerifier = 1;
}

def Iris_AtomicCASOp : Iris_OrderedOp<"atomic_cas", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<RankedAccessOpInterface>,
    AllTypesMatch<["compare", "value", "result"]>]> {
  let summary = "Atomically replaces elements that have an expected value";
  let description = [{
    Same as `iris.atomic_cas` of ROCm/iris: an element that equals `compare` bit
    for bit becomes `value`; the result is the old value. Integers and floats.
    Ordered like `iris.atomic_rmw`; a tile is that of a window, or of elements at
    tiles of coordinates, as there.

    Example:

    ```mlir
    %old = iris.atomic_cas %ctx, %cmp, %v, %buf[%i] to %r sem(acq_rel) scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    ```
  }];
  let arguments = (ins
    Iris_CtxType:$ctx, Iris_AtomicValue:$compare, Iris_AtomicValue:$value,
    Tile_Buffer:$buffer, Variadic<Iris_AtomicOffset>:$offsets,
    Optional<Index>:$rank,
    DefaultValuedAttr<Iris_MemSemanticAttr, "::mlir::iris::MemSemantic::AcqRel">
      :$sem,
    DefaultValuedAttr<Iris_ScopeAttr, "::mlir::iris::Scope::Sys">:$scope);
  let results = (outs Iris_AtomicValue:$result);
  let assemblyFormat = [{
    $ctx `,` $compare `,` $value `,` $buffer `[` $offsets `]`
    (`to` $rank^)? (`sem` `(` custom<Keyword>($sem)^ `)`)? (`scope` `(` custom<Keyword>($scope)^ `)`)?
    attr-dict `:` type($value) `,`
    custom<ElementTypes>(type($buffer), ref($offsets), type($offsets))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Synchronisation
//===----------------------------------------------------------------------===//

def Iris_SignalOp : Iris_OrderedOp<"signal", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<RankedAccessOpInterface>]> {
  let summary = "Sets or increments a flag with release semantics";
  let description = [{
    A release: every earlier access of every thread of the program is visible to
    the program that waits for the flag. `set` stores the value, `add` adds it
    atomically. `sem(relaxed)` does not order anything. The leader performs the
    access, and the release does not include it: later ops of the program that
    depend on it get a barrier.

    Example:

    ```mlir
    iris.signal set %ctx, %epoch, %flags[%i] to %r scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    ```
  }];
  let arguments = (ins
    Iris_SignalKindAttr:$kind, Iris_CtxType:$ctx, Iris_FlagElement:$value,
    Iris_FlagBuffer:$buffer, Variadic<Index>:$offsets, Optional<Index>:$rank,
    DefaultValuedAttr<Iris_MemSemanticAttr,
                      "::mlir::iris::MemSemantic::Release">:$sem,
    DefaultValuedAttr<Iris_ScopeAttr, "::mlir::iris::Scope::Sys">:$scope);
  let assemblyFormat = [{
    custom<Keyword>($kind) $ctx `,` $value `,` $buffer `[` $offsets `]` (`to` $rank^)?
    (`sem` `(` custom<Keyword>($sem)^ `)`)? (`scope` `(` custom<Keyword>($scope)^ `)`)?
    attr-dict `:` type($value) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Iris_WaitOp : Iris_OrderedOp<"wait", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<RankedAccessOpInterface>,
    TypesMatchWith<"result has the value's type", "value", "result", "$_self">
  ]> {
  let summary = "Waits for a flag with acquire semantics";
  let description = [{
    Polls the flag until the comparison holds and returns the observed value. An
    acquire: every later access of every thread of the program sees what was
    visible to the signaling program. Values are compared by signed difference,
    so that epochs may wrap. `sem(relaxed)` does not order later accesses,
    although the threads still run a barrier. The program's earlier stores to
    the flag are ordered before the leader's first poll.

    The wait is bounded in time. On timeout it records its location, its
    condition and the flag, and the whole program ends without publishing
    anything. `owed_by` is the rank that should have signaled, for that record.
    A program that contains a wait requires all programs of its launch, and of
    its peers' launches, to be co-resident.

    Example:

    ```mlir
    %seen = iris.wait %ctx, %flags[%i] ge %epoch scope(sys)
        : i32, memref<?xi32, #iris.symmetric>
    %last = iris.wait %ctx, %flags[%j] eq %epoch owed_by(%peer)
        : i32, memref<?xi32, #iris.symmetric>
    ```
  }];
  let arguments = (ins
    Iris_CtxType:$ctx, Iris_FlagBuffer:$buffer, Variadic<Index>:$offsets,
    Iris_ComparisonAttr:$comparison, Iris_FlagElement:$value,
    Optional<Index>:$rank, Optional<Index>:$owedBy,
    DefaultValuedAttr<Iris_MemSemanticAttr,
                      "::mlir::iris::MemSemantic::Acquire">:$sem,
    DefaultValuedAttr<Iris_ScopeAttr, "::mlir::iris::Scope::Sys">:$scope);
  let results = (outs Iris_FlagElement:$result);
  let assemblyFormat = [{
    $ctx `,` $buffer `[` $offsets `]` custom<Keyword>($comparison) $value (`from` $rank^)?
    (`owed_by` `(` $owedBy^ `)`)? (`sem` `(` custom<Keyword>($sem)^ `)`)?
    (`scope` `(` custom<Keyword>($scope)^ `)`)? attr-dict
    `:` type($value) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Iris_BarrierOp : Iris_OrderedOp<"barrier"> {
  let summary = "Barrier between peer programs of all ranks";
  let description = [{
    Every program waits until its peer programs (same block id) on all ranks
    have arrived: a release before and an acquire after. Epochs count up and are
    never reset, so a barrier may be repeated any number of times and replayed
    in graphs. `state` must hold at least 32 * programs * num_ranks elements,
    initially zero, and is used by the barriers of one kernel launch at a time.
    What the barrier stores there is not specified.

    With `group` only the members of the launch's group take part; `state` then
    holds 32 * programs * group_size elements and is used by that group only.

    Example:

    ```mlir
    iris.barrier %ctx, %state : memref<?xi32, #iris.symmetric>
    iris.barrier %ctx, %state group : memref<?xi32, #iris.symmetric>
    ```
  }];
  let arguments = (ins Iris_CtxType:$ctx, MemRefRankOf<[I32], [1]>:$state,
                       UnitAttr:$group);
  let assemblyFormat = [{
    $ctx `,` $state (`group` $group^)? attr-dict `:` type($state)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

def Iris_ExpectEqOp : Iris_OrderedOp<"expect_eq", [
    AllTypesMatch<["got", "want"]>]> {
  let summary = "Counts a mismatch of two values and reports the first one";
  let description = [{
    Compares element by element; floats bit for bit (NaN equals NaN), or within
    `tol` (|got - want| <= tol) if given. The kernel must have an `!iris.ctx`
    argument: the counters and the first mismatch, with rank, program, element,
    got and want, are reported to the runtime; `iris-run` then exits with status
    1.

    Example:

    ```mlir
    iris.expect_eq %got, %want, "doubled" : tensor<256xf16>
    iris.expect_eq %sum, %ref, "sum" tol(1.0e-3) : f32
    ```
  }];
  let arguments = (ins
    AnyTypeOf<[Tile_MemElement, I1, Index, Tile_AnyTile]>:$got,
    AnyTypeOf<[Tile_MemElement, I1, Index, Tile_AnyTile]>:$want,
    StrAttr:$what, OptionalAttr<F64Attr>:$tol);
  let assemblyFormat = [{
    $got `,` $want `,` $what (`tol` `(` $tol^ `)`)?
    attr-dict `:` type($got)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Host programs
//===----------------------------------------------------------------------===//

def Iris_AllocOp : Iris_Op<"alloc", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Allocates a zeroed buffer on every rank's heap";
  let description = [{
    Every element is 0 on every rank. Every rank must make the same allocations,
    of the same size, in the same order.

    `workspace` is set on memory that the compiler adds for a collective or a
    matmul of the program: its content is not the program's, so
    `iris-run --compare=reference` does not compare it.

    Example:

    ```mlir
    %b = iris.alloc(%m, %n) : memref<?x?xf16, #iris.symmetric>
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, UnitAttr:$workspace);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    `(` $sizes `)` (`workspace` $workspace^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Iris_DeallocOp : Iris_Op<"dealloc", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Frees a buffer on every rank's heap";
  let description = [{
    Every rank frees a buffer once. Launches before it may use the buffer until
    they end, later ones may not. The memory is reused only after the earlier
    work of all ranks has completed.

    Example:

    ```mlir
    iris.dealloc %b : memref<?x?xf16, #iris.symmetric>
    ```
  }];
  let arguments = (ins AnyMemRef:$buffer);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Iris_LaunchOp : Iris_Op<"launch", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Enqueues programs of a kernel on this rank";
  let description = [{
    Takes one to three extents of the grid, each at least 1, and the arguments
    of the kernel. They have the types of the kernel's, but a symmetric buffer
    may be passed for one without a memory space. Launches run in program order:
    a launch begins when all programs of the one before it have ended. The host
    does not wait.

    `group` lists the ranks that launch, at most 16 of them in any order: they
    are the kernel's group. More than 8 are among the ranks 0 to 15. The other
    ranks do not launch.

    Example:

    ```mlir
    iris.launch @kernels::@k programs(%p) args(%ctx, %b
        : !iris.ctx, memref<?xf16, #iris.symmetric>)
    iris.launch @kernels::@k programs(%p) group([0, 2]) args(%ctx, %b
        : !iris.ctx, memref<?xf16, #iris.symmetric>)
    ```
  }];
  let arguments = (ins
    SymbolRefAttr:$kernel, Variadic<Index>:$programs,
    Variadic<AnyType>:$kernelOperands,
    OptionalAttr<DenseI32ArrayAttr>:$group);
  let assemblyFormat = [{
    $kernel `programs` `(` $programs `)` (`group` `(` $group^ `)`)?
    `args` `(` ($kernelOperands^ `:` type($kernelOperands))? `)` attr-dict
  }];
  let hasVerifier = 1;
}

def Iris_SyncOp : Iris_Op<"sync", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for the stream, then for all ranks";
  let description = [{
    A rank goes on when its launches, collectives and matmuls have ended and all
    ranks have come to their sync. Every store before it, of any rank, is then
    visible to every rank. All ranks sync equally often.

    Example:

    ```mlir
    iris.sync %ctx
    ```
  }];
  let arguments = (ins Iris_CtxType:$ctx);
  let assemblyFormat = "$ctx attr-dict";
}

#endif // IRIS_DIALECT_IRIS_IR_IRISOPS_TD
