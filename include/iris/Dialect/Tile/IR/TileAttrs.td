// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layout attributes: which thread holds which element of a tile.

#ifndef IRIS_DIALECT_TILE_IR_TILEATTRS_TD
#define IRIS_DIALECT_TILE_IR_TILEATTRS_TD

include "iris/Dialect/Tile/IR/TileEnums.td"
include "mlir/IR/AttrTypeBase.td"

class Tile_Attr<string name, string attrMnemonic>
    : AttrDef<Tile_Dialect, name> {
  let mnemonic = attrMnemonic;
  // Layouts are long: `#blocked = #tile.blocked<...>` before the module.
  let genMnemonicAlias = 1;
}

def Tile_BlockedAttr : Tile_Attr<"Blocked", "blocked"> {
  let summary = "Contiguous blocks of elements per thread";
  let description = [{
    Along each dimension a thread holds `size_per_thread` consecutive elements,
    a wave has `threads_per_warp` threads and the workgroup has `warps_per_cta`
    waves; `order` lists the dimensions from the fastest to the slowest. The
    pattern repeats for larger tiles; smaller tiles are held by several threads.
    The product of `threads_per_warp` must be the target's wave size, that of
    `warps_per_cta` the kernel's `iris.num_warps`. Same as Gluon's
    `BlockedLayout(size_per_thread, threads_per_warp, warps_per_cta, order)`.

    Example: each thread holds eight consecutive elements of a row, a wave two
    rows.

    ```mlir
    tensor<8x256xf16, #tile.blocked<size_per_thread = [1, 8],
                                    threads_per_warp = [2, 32],
                                    warps_per_cta = [4, 1], order = [1, 0]>>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$sizePerThread,
    ArrayRefParameter<"int64_t">:$threadsPerWarp,
    ArrayRefParameter<"int64_t">:$warpsPerCta,
    ArrayRefParameter<"int64_t">:$order);
  let assemblyFormat = [{
    `<` `size_per_thread` `=` `[` $sizePerThread `]` `,`
        `threads_per_warp` `=` `[` $threadsPerWarp `]` `,`
        `warps_per_cta` `=` `[` $warpsPerCta `]` `,`
        `order` `=` `[` $order `]` `>`
  }];
  let genVerifyDecl = 1;
}

def Tile_SliceAttr : Tile_Attr<"Slice", "slice"> {
  let summary = "A layout with one dimension removed";
  let description = [{
    The layout of a tile that was reduced along `dim` of a tile with layout
    `parent`: every thread that held some element of the removed dimension
    holds the result. Same as Gluon's `SliceLayout(dim, parent)`.

    ```mlir
    #tile.slice<dim = 1,
                parent = #tile.blocked<size_per_thread = [1, 8],
                                       threads_per_warp = [2, 32],
                                       warps_per_cta = [4, 1], order = [1, 0]>>
    ```
  }];
  let parameters = (ins "int64_t":$dim, "::mlir::Attribute":$parent);
  let assemblyFormat = "`<` `dim` `=` $dim `,` `parent` `=` $parent `>`";
  let genVerifyDecl = 1;
}

def Tile_LinearAttr : Tile_Attr<"Linear", "linear"> {
  let summary = "The general layout: a linear map over GF(2)";
  let description = [{
    Basis vectors: bit i of the register (lane, warp) index, when set, flips
    the tile coordinates by the i-th row. Each row has one entry per tile
    dimension. All other layouts are special cases.

    ```mlir
    #tile.linear<register = [[0, 1], [0, 2]], lane = [[0, 4], [1, 0]],
                 warp = []>
    ```
  }];
  let parameters = (ins
    "::mlir::ArrayAttr":$registerBases,
    "::mlir::ArrayAttr":$laneBases,
    "::mlir::ArrayAttr":$warpBases);
  let assemblyFormat = [{
    `<` `register` `=` $registerBases `,` `lane` `=` $laneBases `,`
        `warp` `=` $warpBases `>`
  }];
  let genVerifyDecl = 1;
}

#endif // IRIS_DIALECT_TILE_IR_TILEATTRS_TD
