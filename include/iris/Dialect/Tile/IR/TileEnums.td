// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enums shared by the tile and iris dialects.

#ifndef IRIS_DIALECT_TILE_IR_TILEENUMS_TD
#define IRIS_DIALECT_TILE_IR_TILEENUMS_TD

include "iris/Dialect/Tile/IR/TileBase.td"
include "mlir/IR/EnumAttr.td"

def Tile_LoadCache : I32EnumAttr<"LoadCache", "cache modifier of a load", [
    I32EnumAttrCase<"ca", 0>, // all levels (default)
    I32EnumAttrCase<"cg", 1>, // bypass the processor's own cache
    I32EnumAttrCase<"cv", 2>  // fetch again from memory
  ]> {
  let cppNamespace = "::mlir::tile";
  let genSpecializedAttr = 0;
}
def Tile_LoadCacheAttr : EnumAttr<Tile_Dialect, Tile_LoadCache, "load_cache">;

def Tile_StoreCache : I32EnumAttr<"StoreCache", "cache modifier of a store", [
    I32EnumAttrCase<"wb", 0>, // write back (default)
    I32EnumAttrCase<"cg", 1>, // cache at the shared level only
    I32EnumAttrCase<"cs", 2>, // streaming, evict first
    I32EnumAttrCase<"wt", 3>  // write through
  ]> {
  let cppNamespace = "::mlir::tile";
  let genSpecializedAttr = 0;
}
def Tile_StoreCacheAttr
    : EnumAttr<Tile_Dialect, Tile_StoreCache, "store_cache">;

def Tile_ReduceKind : I32EnumAttr<"ReduceKind", "kind of reduction", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>,
    I32EnumAttrCase<"min", 2>, I32EnumAttrCase<"max", 3>,
    I32EnumAttrCase<"umin", 4>, I32EnumAttrCase<"umax", 5>,
    I32EnumAttrCase<"And", 6, "and">, I32EnumAttrCase<"Or", 7, "or">,
    I32EnumAttrCase<"Xor", 8, "xor">
  ]> {
  let cppNamespace = "::mlir::tile";
  let genSpecializedAttr = 0;
}
def Tile_ReduceKindAttr : EnumAttr<Tile_Dialect, Tile_ReduceKind, "reduce">;

def Tile_Precision : I32EnumAttr<"Precision", "arithmetic of a matmul", [
    I32EnumAttrCase<"exact", 0>, // operands are not rounded (default)
    I32EnumAttrCase<"tf32", 1>   // f32 operands may lose mantissa bits
  ]> {
  let cppNamespace = "::mlir::tile";
  let genSpecializedAttr = 0;
}
def Tile_PrecisionAttr : EnumAttr<Tile_Dialect, Tile_Precision, "precision">;

#endif // IRIS_DIALECT_TILE_IR_TILEENUMS_TD
