// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileDialect.cpp - The tile dialect and its attributes --------------===//

#include "iris/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile;

#include "iris/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "iris/Dialect/Tile/IR/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "iris/Dialect/Tile/IR/TileAttrs.cpp.inc"

namespace {
/// Ops may be inlined wherever the function that contains them may be.
struct TileInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "iris/Dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "iris/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
  addInterfaces<TileInlinerInterface>();
}

//===----------------------------------------------------------------------===//
// Layout attributes
//===----------------------------------------------------------------------===//

LogicalResult BlockedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> sizePerThread,
                                  ArrayRef<int64_t> threadsPerWarp,
                                  ArrayRef<int64_t> warpsPerCta,
                                  ArrayRef<int64_t> order) {
  size_t rank = sizePerThread.size();
  if (rank == 0)
    return emitError() << "size_per_thread is empty; expected one entry per "
                          "tile dimension";
  const std::pair<StringRef, ArrayRef<int64_t>> lists[] = {
      {"size_per_thread", sizePerThread},
      {"threads_per_warp", threadsPerWarp},
      {"warps_per_cta", warpsPerCta}};
  for (auto [name, list] : lists) {
    if (list.size() != rank)
      return emitError() << name << " has " << list.size()
                         << " entries; expected " << rank
                         << ", as size_per_thread has";
    for (int64_t extent : list)
      if (extent <= 0 || !llvm::isPowerOf2_64(extent))
        return emitError() << name << " has the entry " << extent
                           << "; expected a power of two";
  }
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  if (sorted.size() != rank ||
      !llvm::equal(sorted, llvm::seq<int64_t>(0, rank)))
    return emitError() << "order [" << order << "] is not a permutation of the "
                       << rank << " tile dimensions";
  return success();
}

/// The number of tile dimensions of a layout; -1 for other attributes.
static int64_t getLayoutRank(Attribute layout) {
  return llvm::TypeSwitch<Attribute, int64_t>(layout)
      .Case([](BlockedAttr attr) { return attr.getSizePerThread().size(); })
      .Case([](SliceAttr attr) { return getLayoutRank(attr.getParent()) - 1; })
      .Case([](LinearAttr attr) -> int64_t {
        for (ArrayAttr bases : {attr.getRegisterBases(), attr.getLaneBases(),
                                attr.getWarpBases()})
          if (!bases.empty())
            return cast<ArrayAttr>(bases[0]).size();
        return 0;
      })
      .Default([](Attribute) { return -1; });
}

LogicalResult SliceAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t dim, Attribute parent) {
  if (!isa_and_nonnull<BlockedAttr, SliceAttr, LinearAttr>(parent))
    return emitError() << "parent is " << parent << "; expected a tile layout";
  int64_t rank = getLayoutRank(parent);
  if (dim < 0 || dim >= rank)
    return emitError() << "dim is " << dim << "; expected one of the parent's "
                       << rank << " dimensions";
  return success();
}

LogicalResult LinearAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayAttr registerBases, ArrayAttr laneBases,
                                 ArrayAttr warpBases) {
  std::optional<size_t> rank;
  for (ArrayAttr bases : {registerBases, laneBases, warpBases})
    for (Attribute row : bases) {
      auto vector = dyn_cast<ArrayAttr>(row);
      if (!vector)
        return emitError() << "basis " << row << " is not a list of integers";
      for (Attribute entry : vector) {
        auto value = dyn_cast<IntegerAttr>(entry);
        if (!value || value.getValue().isNegative())
          return emitError()
                 << "basis entry " << entry << " is not a non-negative integer";
      }
      if (rank && *rank != vector.size())
        return emitError() << "basis " << row << " has " << vector.size()
                           << " entries; expected " << *rank;
      rank = vector.size();
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Helpers shared with the iris dialect
//===----------------------------------------------------------------------===//

Type mlir::tile::maskTypeOf(Type tile) {
  Type i1 = IntegerType::get(tile.getContext(), 1);
  if (auto tensor = dyn_cast<RankedTensorType>(tile))
    return tensor.clone(i1);
  return i1;
}

int64_t mlir::tile::getElementBytes(Type element) {
  if (element.isIndex())
    return 8;
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

LogicalResult mlir::tile::verifyTileShape(Operation *op,
                                          RankedTensorType tile) {
  for (auto [dim, extent] : llvm::enumerate(tile.getShape()))
    if (extent <= 0 || !llvm::isPowerOf2_64(extent))
      return op->emitOpError("tile extent ")
             << extent << " in dimension " << dim << " of " << tile
             << " is not a power of two";
  int64_t numElements = 1;
  for (int64_t extent : tile.getShape()) {
    if (extent > kMaxTileElements / numElements)
      return op->emitOpError("tile ")
             << tile << " has too many elements; expected at most "
             << kMaxTileElements;
    numElements *= extent;
  }
  if (Attribute layout = tile.getEncoding())
    if (int64_t rank = getLayoutRank(layout);
        rank >= 0 && rank != tile.getRank())
      return op->emitOpError("layout of ")
             << tile << " has " << rank << " dimensions; expected "
             << tile.getRank();
  return success();
}

LogicalResult mlir::tile::verifyWindow(Operation *op, MemRefType buffer,
                                       unsigned numOffsets, Type tile) {
  if (numOffsets != buffer.getRank())
    return op->emitOpError("has ") << numOffsets << " offsets for " << buffer
                                   << "; expected " << buffer.getRank();
  if (getElementTypeOrSelf(tile) != buffer.getElementType())
    return op->emitOpError("element type of ")
           << tile << " differs from that of " << buffer;
  auto tensor = dyn_cast<RankedTensorType>(tile);
  if (!tensor)
    return success();
  if (tensor.getRank() != buffer.getRank())
    return op->emitOpError("tile ")
           << tensor << " has " << tensor.getRank() << " dimensions; expected "
           << buffer.getRank() << ", as " << buffer << " has";
  return verifyTileShape(op, tensor);
}

LogicalResult mlir::tile::verifyIndexed(Operation *op, MemRefType buffer,
                                        ValueRange indices,
                                        RankedTensorType tile) {
  if (static_cast<int64_t>(indices.size()) != buffer.getRank())
    return op->emitOpError("has ")
           << indices.size() << " index tiles for " << buffer << "; expected "
           << buffer.getRank();
  if (tile.getElementType() != buffer.getElementType())
    return op->emitOpError("element type of ")
           << tile << " differs from that of " << buffer;
  Type expected = tile.clone(IndexType::get(op->getContext()));
  for (Value index : indices)
    if (index.getType() != expected)
      return op->emitOpError("index tile has type ")
             << index.getType() << "; expected " << expected;
  return verifyTileShape(op, tile);
}
