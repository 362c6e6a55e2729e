// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tile.h - The tile dialect --------------------------------*- C++ -*-===//

#ifndef IRIS_DIALECT_TILE_IR_TILE_H
#define IRIS_DIALECT_TILE_IR_TILE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "iris/Dialect/Tile/IR/TileDialect.h.inc"
#include "iris/Dialect/Tile/IR/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "iris/Dialect/Tile/IR/TileAttrs.h.inc"

namespace mlir::tile {

/// The type of a mask for tiles of type `tile`: the same shape and layout, i1
/// elements; i1 for a scalar.
Type maskTypeOf(Type tile);

/// Bytes of an element in memory.
int64_t getElementBytes(Type element);

/// Verifies that a window of `tile`'s shape at `numOffsets` offsets of `buffer`
/// is valid: equal ranks and element types, and power-of-two extents. `tile`
/// may be a scalar: a single element.
LogicalResult verifyWindow(Operation *op, MemRefType buffer,
                           unsigned numOffsets, Type tile);

/// More elements than any workgroup holds in registers, but few enough to
/// compile.
inline constexpr int64_t kMaxTileElements = 1 << 20;

/// Verifies that every extent of `tile` is a power of two, and that it has at
/// most kMaxTileElements elements.
LogicalResult verifyTileShape(Operation *op, RankedTensorType tile);

/// Verifies that `indices` are one index tile per dimension of `buffer`, each
/// with `tile`'s shape and layout, and that the element types agree.
LogicalResult verifyIndexed(Operation *op, MemRefType buffer,
                            ValueRange indices, RankedTensorType tile);

/// Enum attributes of ops print as bare keywords: `cache(cg)`, `atomic_rmw
/// add`. (An attribute in an assembly format would print a space first.)
template <typename EnumAttrT>
ParseResult parseKeyword(OpAsmParser &parser, EnumAttrT &attr) {
  using EnumT = decltype(attr.getValue());
  FailureOr<EnumT> value = FieldParser<EnumT>::parse(parser);
  if (failed(value))
    return failure();
  attr = EnumAttrT::get(parser.getContext(), *value);
  return success();
}
template <typename EnumAttrT>
void printKeyword(OpAsmPrinter &printer, Operation *, EnumAttrT attr) {
  printer << stringifyEnum(attr.getValue());
}

} // namespace mlir::tile

namespace mlir::iris {
using tile::getElementBytes;
using tile::parseKeyword;
using tile::printKeyword;
} // namespace mlir::iris

#define GET_OP_CLASSES
#include "iris/Dialect/Tile/IR/TileOps.h.inc"

#endif // IRIS_DIALECT_TILE_IR_TILE_H
