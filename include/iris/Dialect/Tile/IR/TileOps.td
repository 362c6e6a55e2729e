// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops on tiles.

#ifndef IRIS_DIALECT_TILE_IR_TILEOPS_TD
#define IRIS_DIALECT_TILE_IR_TILEOPS_TD

include "iris/Dialect/Tile/IR/TileAttrs.td"
include "iris/Dialect/Tile/IR/TileMatmulOps.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_LoadOp : Tile_Op<"load", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    AttrSizedOperandSegments, Tile_ElseOf<"result", "other">]> {
  let summary = "Loads a window of a buffer";
  let description = [{
    Reads the window of the result's shape whose first element is at `offsets`.
    Elements outside of the buffer read as 0, or as the `else` value; offsets
    may be negative. Same as upstream's masked `tl.load`.

    `cache(ca)` (default) caches at all levels, `cache(cg)` bypasses the
    processor's own cache, `cache(cv)` fetches again. A `volatile` load is
    neither merged nor removed.

    Example:

    ```mlir
    %v = tile.load %in[%i, %j] : memref<?x?xf16> -> tensor<8x256xf16>
    %w = tile.load %in[%i, %j] else %pad cache(cg)
        : memref<?x?xf16> -> tensor<8x256xf16>
    ```
  }];
  let arguments = (ins
    Tile_Buffer:$source, Variadic<Index>:$offsets,
    Optional<Tile_MemElement>:$other,
    DefaultValuedAttr<Tile_LoadCacheAttr, "::mlir::tile::LoadCache::ca">:$cache,
    UnitAttr:$isVolatile);
  let results = (outs Tile_DataTile:$result);
  let assemblyFormat = [{
    $source `[` $offsets `]` (`else` $other^)? (`cache` `(` custom<Keyword>($cache)^ `)`)?
    (`volatile` $isVolatile^)? attr-dict
    `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Stores a tile to a window of a buffer";
  let description = [{
    Writes the tile to the window whose first element is at `offsets`. Elements
    outside of the buffer are dropped.

    Example:

    ```mlir
    tile.store %v, %out[%i, %j] : tensor<8x256xf16>, memref<?x?xf16>
    ```
  }];
  let arguments = (ins
    Tile_DataTile:$value, Tile_Buffer:$destination, Variadic<Index>:$offsets,
    DefaultValuedAttr<Tile_StoreCacheAttr, "::mlir::tile::StoreCache::wb">
      :$cache,
    UnitAttr:$isVolatile);
  let assemblyFormat = [{
    $value `,` $destination `[` $offsets `]` (`cache` `(` custom<Keyword>($cache)^ `)`)?
    (`volatile` $isVolatile^)? attr-dict
    `:` type($value) `,` type($destination)
  }];
  let hasVerifier = 1;
}

def Tile_GatherOp : Tile_Op<"gather", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    AttrSizedOperandSegments, Tile_MaskOf<"result", "mask">, Tile_ElseOf<"result", "other">]> {
  let summary = "Loads elements at computed coordinates";
  let description = [{
    Element e of the result is read at the coordinates given by element e of the
    index tiles, one per dimension of the buffer. Elements that are masked out
    or outside of the buffer read as 0, or as the `else` value.

    Example:

    ```mlir
    %v = tile.gather %in[%rows, %cols] mask %m else %pad
        : memref<?x?xf16>, tensor<256xindex>, tensor<256xindex>
        -> tensor<256xf16>
    ```
  }];
  let arguments = (ins
    Tile_Buffer:$source, Variadic<Tile_IndexTile>:$indices,
    Optional<Tile_MaskTile>:$mask, Optional<Tile_MemElement>:$other,
    DefaultValuedAttr<Tile_LoadCacheAttr, "::mlir::tile::LoadCache::ca">:$cache,
    UnitAttr:$isVolatile);
  let results = (outs Tile_DataTile:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` (`mask` $mask^)? (`else` $other^)?
    (`cache` `(` custom<Keyword>($cache)^ `)`)? (`volatile` $isVolatile^)? attr-dict
    `:` type($source) `,` type($indices) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ScatterOp : Tile_Op<"scatter", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    AttrSizedOperandSegments, Tile_MaskOf<"value", "mask">]> {
  let summary = "Stores elements at computed coordinates";
  let description = [{
    The counterpart of `tile.gather`. Elements that are masked out or outside of
    the buffer are dropped. If two elements have the same coordinates, one of
    them is stored; which one is not specified, so that the element has no
    defined value if they differ.

    Example:

    ```mlir
    tile.scatter %v, %out[%rows, %cols] mask %m
        : tensor<256xf16>, memref<?x?xf16>, tensor<256xindex>,
          tensor<256xindex>
    ```
  }];
  let arguments = (ins
    Tile_DataTile:$value, Tile_Buffer:$destination,
    Variadic<Tile_IndexTile>:$indices, Optional<Tile_MaskTile>:$mask,
    DefaultValuedAttr<Tile_StoreCacheAttr, "::mlir::tile::StoreCache::wb">
      :$cache,
    UnitAttr:$isVolatile);
  let assemblyFormat = [{
    $value `,` $destination `[` $indices `]` (`mask` $mask^)?
    (`cache` `(` custom<Keyword>($cache)^ `)`)? (`volatile` $isVolatile^)? attr-dict
    `:` type($value) `,` type($destination) `,` type($indices)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

def Tile_RangeOp : Tile_Op<"range", [Pure]> {
  let summary = "A tile of coordinates";
  let description = [{
    Every element is its coordinate along dimension `dim` (default 0). Same as
    `tl.arange`, already broadcast.

    Example:

    ```mlir
    %i   = tile.range : tensor<256xindex>
    %col = tile.range dim 1 : tensor<8x256xi32>
    ```
  }];
  let arguments = (ins DefaultValuedAttr<I64Attr, "0">:$dim);
  let results = (outs StaticShapeTensorOf<[Index, I32, I64]>:$result);
  let assemblyFormat = "(`dim` $dim^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_ExpandDimsOp : Tile_Op<"expand_dims", [Pure]> {
  let summary = "Inserts a dimension of extent 1";
  let description = [{
    The result has the same elements in row-major order, and the extent 1 in
    dimension `dim`.

    Example:

    ```mlir
    %c = tile.expand_dims %v dim 1 : tensor<8xf32> -> tensor<8x1xf32>
    ```
  }];
  let arguments = (ins Tile_AnyTile:$source, I64Attr:$dim);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = [{
    $source `dim` $dim attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "Repeats a tile along its dimensions of extent 1";
  let description = [{
    An element of the result is the element of the source with the same
    coordinates, where those along dimensions of extent 1 are 0. The extents of
    the other dimensions are the same.

    Example:

    ```mlir
    %b = tile.broadcast %c : tensor<8x1xf32> -> tensor<8x256xf32>
    ```
  }];
  let arguments = (ins Tile_AnyTile:$source);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_TransposeOp : Tile_Op<"transpose", [Pure]> {
  let summary = "Permutes the dimensions of a tile";
  let description = [{
    Dimension i of the result is dimension `permutation[i]` of the source.

    Example:

    ```mlir
    %t = tile.transpose %v [1, 0] : tensor<8x256xf16> -> tensor<256x8xf16>
    ```
  }];
  let arguments = (ins Tile_AnyTile:$source, DenseI64ArrayAttr:$permutation);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = [{
    $source $permutation attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "Converts a tile to another layout";
  let description = [{
    The same elements with another distribution over the threads. Free if only
    registers are renumbered; otherwise the tile goes through shared memory.

    Example:

    ```mlir
    %w = tile.convert_layout %v : tensor<8x256xf16, #a> -> tensor<8x256xf16, #b>
    ```
  }];
  let arguments = (ins Tile_AnyTile:$source);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "Reduces a tile along one dimension";
  let description = [{
    The result lacks dimension `dim`; reducing a one-dimensional tile returns a
    scalar. Sums and products of f16 and bf16 accumulate in f32 and are rounded
    once; the result may also be requested in f32. `min` and `max` compare
    integers as signed and propagate NaN.

    The order is the same on all targets, and so are the bits of the result:
    neighbours along `dim` are combined until one element is left, that is, from
    x[0] ... x[n-1] step k = 0, 1, ..., log2(n) - 1 computes x[i] op x[i + 2^k]
    into x[i] for all multiples i of 2^(k+1), each rounded, and x[0] is the
    result. The order depends on n alone, not on the layout, the number of warps
    or the chip. Only sums and products of floats depend on the order; targets
    take any other for the rest.

    Example:

    ```mlir
    %r = tile.reduce sum %v dim 1 : tensor<8x256xf16> -> tensor<8xf32>
    %s = tile.reduce max %u dim 0 : tensor<256xi32> -> i32
    ```
  }];
  let arguments = (ins
    Tile_ReduceKindAttr:$kind, Tile_DataTile:$source, I64Attr:$dim);
  let results = (outs AnyTypeOf<[Tile_DataTile, Tile_MemElement]>:$result);
  let assemblyFormat = [{
    custom<Keyword>($kind) $source `dim` $dim attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // IRIS_DIALECT_TILE_IR_TILEOPS_TD
