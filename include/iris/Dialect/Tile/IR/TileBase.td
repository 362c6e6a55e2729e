// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile dialect and the type constraints its ops share.
//
// Include map: TileBase <- TileEnums <- TileAttrs <- TileOps.

#ifndef IRIS_DIALECT_TILE_IR_TILEBASE_TD
#define IRIS_DIALECT_TILE_IR_TILEBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/DialectBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::mlir::tile";
  let summary = "Block-level values of one program";
  let description = [{
    A kernel body is a program over *tiles*: it reads as if one thread executed
    it. A scalar is uniform across the workgroup; a value of type
    `tensor<8x256xf16>` is a tile whose elements are distributed over the
    workgroup's threads (GPU) or held by one OS thread (host).

    Arithmetic on tiles is `arith` and `math`, control flow is `scf`, splats are
    `tensor.splat`. This dialect adds only ops that upstream lacks: windowed
    loads and stores of memrefs, gathers and scatters, coordinates, broadcasts,
    reductions, transposes, the matmul loop, and the layout attributes.

    A tile type may have a layout as its encoding, `tensor<8x256xf16,
    #tile.blocked<...>>`. Kernels may omit it (the compiler selects one) or pin
    it (the compiler keeps it). Tile extents are powers of two.

    A loaded tile is a *copy* taken at the load: later stores to the buffer do
    not change it.
  }];
  let dependentDialects = [];
  let useDefaultAttributePrinterParser = 1;
}

/// Element types of tiles in memory.
def Tile_MemElement
    : AnyTypeOf<[F16, BF16, F32, F64, I8, I16, I32, I64],
                "f16, bf16, f32, f64, i8, i16, i32 or i64">;

/// Any tile: data, masks (i1) and coordinates (index).
def Tile_AnyTile
    : StaticShapeTensorOf<[F16, BF16, F32, F64, I1, I8, I16, I32, I64, Index]>;
def Tile_DataTile
    : StaticShapeTensorOf<[F16, BF16, F32, F64, I8, I16, I32, I64]>;
def Tile_IndexTile : StaticShapeTensorOf<[Index]>;
def Tile_MaskTile : StaticShapeTensorOf<[I1]>;

/// A buffer from or to which a tile can be moved.
def Tile_Buffer
    : MemRefRankOf<[F16, BF16, F32, F64, I8, I16, I32, I64], [1, 2, 3, 4]>;

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

/// The mask of a tile: same shape and layout, i1 elements.
class Tile_MaskOf<string tile, string mask>
    : OptionalTypesMatchWith<"mask has the tile's shape and i1 elements", tile,
                             mask, "::mlir::tile::maskTypeOf($_self)">;

/// The value of elements outside of a buffer: a scalar of the element type.
class Tile_ElseOf<string tile, string other>
    : OptionalTypesMatchWith<"`else` value has the tile's element type", tile,
                             other, "::mlir::getElementTypeOrSelf($_self)">;

#endif // IRIS_DIALECT_TILE_IR_TILEBASE_TD
