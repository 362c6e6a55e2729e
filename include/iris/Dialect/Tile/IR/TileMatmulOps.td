// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matmul loop.

#ifndef IRIS_DIALECT_TILE_IR_TILEMATMULOPS_TD
#define IRIS_DIALECT_TILE_IR_TILEMATMULOPS_TD

include "iris/Dialect/Tile/IR/TileEnums.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_MatmulOp : Tile_Op<"matmul", [
    AttrSizedOperandSegments, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    OptionalTypesMatchWith<"`init` has the result's type", "result", "init",
                           "$_self">]> {
  let summary = "Multiplies rows of a by columns of b";
  let description = [{
    With a result of M x N elements, the sum over k in [0, `k`) of

        a[aOffsets[0] + i, aOffsets[1] + k] * b[bOffsets[0] + k, bOffsets[1] + j]

    plus `init`, which defaults to 0. Elements outside of a buffer count as 0,
    as in `tile.load`. Buffers may have any strides: `strided<[1, ?]>` is
    column-major.

    | elements of a and b | result | |
    |---|---|---|
    | f16, bf16 | f32 | |
    | f32 | f32 | `precision(tf32)` allows to round a and b to 10 bits of mantissa |
    | i8 | i32 | wraps |
    | f8, by `as` in buffers of i8 | f32 | as far as the target has the type |

    The result has at least 16 rows and 16 columns.

    Products of elements are exact before they are added; the order of the sum
    depends on the target, and so do the last bits of floats.

    The sum is computed in *k-blocks*: `block` values of k, a power of two from
    16 (32 for 8-bit elements) to 4096; the last block may have fewer. Before a
    k-block is read, the region runs with its number, 0, 1, ... up to
    ceil(`k` / `block`) - 1, in this order and once each; a target may run it
    for several blocks before it multiplies the first one. In a fused kernel the
    region waits for a flag. `tile.yield` ends the region: it has no operands,
    or one buffer and offsets from which to read this block of `a`, or two of
    them, for `a` and `b`. Ops after `tile.matmul` are ordered after the region
    of every block. The region must not store to
    buffers, and must not use tiles.

    With `columns(n)` only the first n columns of the result are used; the
    others may have any values. Extents of tiles are powers of two, but a matmul
    with 3584 columns may need 16 tiles of 224: a target whose instructions can
    omit columns does so.

    Example:

    ```mlir
    %c = tile.matmul %a[%i, %c0], %b[%c0, %j] k(%len) block(64)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32>
    %e = tile.matmul %a[%i, %c0], %b[%c0, %j] k(%len) block(64) columns(224)
        : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x256xf32>
    %d = tile.matmul %a[%i, %c0], %b[%c0, %j] k(%len) block(64) init(%c) {
    ^bb0(%kb: index):
      %seen = iris.wait %ctx, %ready[%kb] ge %epoch : i32, memref<?xi32>
      %k = arith.muli %kb, %c64 : index
      tile.yield %staging[%i, %k] : memref<?x?xf16>
    } : memref<?x?xf16>, memref<?x?xf16> -> tensor<128x128xf32>
    ```
  }];
  let arguments = (ins
    Tile_Buffer:$a, Variadic<Index>:$aOffsets,
    Tile_Buffer:$b, Variadic<Index>:$bOffsets,
    Index:$k, Optional<Tile_DataTile>:$init, I64Attr:$block,
    OptionalAttr<I64Attr>:$columns,
    OptionalAttr<TypeAttr>:$aType, OptionalAttr<TypeAttr>:$bType,
    DefaultValuedAttr<Tile_PrecisionAttr, "::mlir::tile::Precision::exact">
      :$precision);
  let regions = (region MaxSizedRegion<1>:$body);
  let results = (outs Tile_DataTile:$result);
  let assemblyFormat = [{
    $a `[` $aOffsets `]` `,` $b `[` $bOffsets `]` `k` `(` $k `)`
    `block` `(` $block `)` (`columns` `(` $columns^ `)`)?
    (`init` `(` $init^ `)`)? (`as` `(` $aType^ `,` $bType `)`)?
    (`precision` `(` custom<Keyword>($precision)^ `)`)?
    attr-dict-with-keyword ($body^)?
    `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The element types of the operands; for f8 they differ from the buffers'.
    Type getAElementType();
    Type getBElementType();
    /// Rows and columns of the result.
    int64_t getNumRows() { return getResult().getType().getDimSize(0); }
    int64_t getNumColumns() { return getResult().getType().getDimSize(1); }
    /// The number of used columns of the result.
    int64_t getNumWantedColumns() {
      return getColumns().value_or(getNumColumns());
    }
    /// The terminator of the region; null without one.
    YieldOp getYield();
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [
    Pure, Terminator, HasParent<"MatmulOp">,
    AttrSizedOperandSegments]> {
  let summary = "Ends the region of a matmul";
  let description = [{
    Has no operands, or the location from which to read the k-block of `a`, or
    the locations for `a` and `b`. Offsets are those of the block's first
    element; buffers have the element types and strides of the operands that
    they replace.

    Example:

    ```mlir
    %c = tile.matmul %a[%i, %c0], %b[%c0, %j] k(%len) block(64) {
    ^bb0(%kb: index):
      %k = arith.muli %kb, %c64 : index
      %peer = iris.translate %ctx, %a to %rank
          : memref<?x?xf16, #iris.symmetric> -> memref<?x?xf16, #iris.peer>
      tile.yield %peer[%i, %k], %b[%k, %j]
          : memref<?x?xf16, #iris.peer>, memref<?x?xf16>
    } : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16> -> tensor<128x128xf32>
    ```
  }];
  let arguments = (ins
    Optional<Tile_Buffer>:$a, Variadic<Index>:$aOffsets,
    Optional<Tile_Buffer>:$b, Variadic<Index>:$bOffsets);
  let assemblyFormat = [{
    ($a^ `[` $aOffsets `]`)? (`,` $b^ `[` $bOffsets `]`)? attr-dict
    (`:` type($a)^)? (`,` type($b)^)?
  }];
}

#endif // IRIS_DIALECT_TILE_IR_TILEMATMULOPS_TD
