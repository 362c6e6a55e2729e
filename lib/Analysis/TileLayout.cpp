// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Analysis/TileLayout.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Attributes to linear layouts
//===----------------------------------------------------------------------===//

/// Reads basis vectors; nothing if a vector has another rank.
static std::optional<SmallVector<SmallVector<int64_t>>>
readBases(ArrayAttr list, size_t rank) {
  SmallVector<SmallVector<int64_t>> result;
  for (Attribute row : list) {
    SmallVector<int64_t> basis;
    for (Attribute entry : cast<ArrayAttr>(row))
      basis.push_back(cast<IntegerAttr>(entry).getInt());
    if (basis.size() != rank)
      return std::nullopt;
    result.push_back(std::move(basis));
  }
  return result;
}

static std::optional<LinearLayout> getLinear(tile::LinearAttr attr,
                                             ArrayRef<int64_t> shape) {
  auto registers = readBases(attr.getRegisterBases(), shape.size());
  auto lanes = readBases(attr.getLaneBases(), shape.size());
  auto warps = readBases(attr.getWarpBases(), shape.size());
  if (!registers || !lanes || !warps)
    return std::nullopt;
  return LinearLayout::fromCoordinates(shape, *registers, *lanes, *warps);
}

std::optional<LinearLayout>
mlir::iris::getLinearLayout(Attribute encoding, ArrayRef<int64_t> shape) {
  if (auto blocked = dyn_cast_or_null<tile::BlockedAttr>(encoding)) {
    if (blocked.getSizePerThread().size() != shape.size())
      return std::nullopt;
    return LinearLayout::blocked(shape, blocked.getSizePerThread(),
                                 blocked.getThreadsPerWarp(),
                                 blocked.getWarpsPerCta(), blocked.getOrder());
  }
  if (auto slice = dyn_cast_or_null<tile::SliceAttr>(encoding)) {
    int64_t dim = slice.getDim();
    if (dim > static_cast<int64_t>(shape.size()))
      return std::nullopt;
    SmallVector<int64_t> parentShape(shape);
    parentShape.insert(parentShape.begin() + dim, 1);
    std::optional<LinearLayout> parent =
        getLinearLayout(slice.getParent(), parentShape);
    if (!parent)
      return std::nullopt;
    return parent->slice(dim);
  }
  if (auto linear = dyn_cast_or_null<tile::LinearAttr>(encoding))
    return getLinear(linear, shape);
  return std::nullopt;
}

std::optional<LinearLayout> mlir::iris::getLinearLayout(RankedTensorType type) {
  return getLinearLayout(type.getEncoding(), type.getShape());
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static int64_t product(ArrayRef<int64_t> values) {
  int64_t result = 1;
  for (int64_t value : values)
    result *= value;
  return result;
}

LogicalResult
mlir::iris::verifyLayoutFits(RankedTensorType type, unsigned numWarps,
                             unsigned warpSize,
                             function_ref<InFlightDiagnostic()> emitError) {
  // A slice fits if its parent layout does.
  Attribute encoding = type.getEncoding();
  while (auto slice = dyn_cast_or_null<tile::SliceAttr>(encoding))
    encoding = slice.getParent();

  if (auto blocked = dyn_cast_or_null<tile::BlockedAttr>(encoding)) {
    int64_t threads = product(blocked.getThreadsPerWarp());
    if (threads != warpSize)
      return emitError() << "threads_per_warp of " << blocked << " holds "
                         << threads << " threads; expected " << warpSize
                         << ", the target's wave size";
    int64_t warps = product(blocked.getWarpsPerCta());
    if (warps != numWarps)
      return emitError() << "warps_per_cta of " << blocked << " holds " << warps
                         << " waves; expected " << numWarps
                         << ", the kernel's iris.num_warps";
  } else if (auto linear = dyn_cast_or_null<tile::LinearAttr>(encoding)) {
    size_t lanes = linear.getLaneBases().size();
    if (lanes != llvm::Log2_32(warpSize))
      return emitError() << "layout " << linear << " has " << lanes
                         << " lane bases; expected " << llvm::Log2_32(warpSize)
                         << " for the target's wave size of " << warpSize;
    size_t warps = linear.getWarpBases().size();
    if (warps != llvm::Log2_32(numWarps))
      return emitError() << "layout " << linear << " has " << warps
                         << " warp bases; expected " << llvm::Log2_32(numWarps)
                         << " for the kernel's iris.num_warps of " << numWarps;
  } else {
    return emitError() << "encoding " << encoding
                       << " is not a tile layout; expected #tile.blocked, "
                          "#tile.slice or #tile.linear";
  }
  std::optional<LinearLayout> layout = getLinearLayout(type);
  if (!layout)
    return emitError() << "layout of " << type
                       << " has another number of dimensions than the tile; "
                          "expected "
                       << type.getRank();
  size_t registers = layout->getBases(LayoutDim::Register).size();
  if (registers > llvm::Log2_32(kMaxElementsPerThread))
    return emitError() << "tile of type " << type << " gives every thread 2^"
                       << registers << " elements; expected at most "
                       << kMaxElementsPerThread
                       << ": use smaller tiles or more waves";
  return success();
}

//===----------------------------------------------------------------------===//
// Creating layouts
//===----------------------------------------------------------------------===//

unsigned mlir::iris::getInnerDim(MemRefType buffer, ArrayRef<int64_t> shape) {
  unsigned last = shape.size() - 1;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(buffer.getStridesAndOffset(strides, offset)) || strides[last] == 1)
    return last;
  for (unsigned dim = last; dim-- > 0;)
    if (strides[dim] == 1 && shape[dim] > 1)
      return dim;
  return last;
}

tile::BlockedAttr
mlir::iris::getDefaultLayout(MLIRContext *context, ArrayRef<int64_t> shape,
                             int64_t vectorSize, unsigned numWarps,
                             unsigned warpSize, int64_t minSize) {
  size_t rank = shape.size();
  int64_t threads = static_cast<int64_t>(numWarps) * warpSize;
  SmallVector<int64_t> sizePerThread(rank, 1), lanes(rank, 1), warps(rank, 1);
  SmallVector<int64_t> order(llvm::reverse(llvm::seq<int64_t>(0, rank)));

  // Use all threads before giving a thread more elements.
  int64_t elementsPerThread = std::max<int64_t>(1, product(shape) / threads);
  sizePerThread.back() = std::min(
      std::max(std::min(vectorSize, elementsPerThread), minSize), shape.back());
  // Fill whole rows before adding elements of other rows.
  for (size_t dim = rank; dim-- > 1 && sizePerThread[dim] == shape[dim];) {
    minSize = std::max<int64_t>(1, minSize / shape[dim]);
    sizePerThread[dim - 1] = std::min(minSize, shape[dim - 1]);
  }

  // Distributes `count` threads over the remaining extents, fastest dimension
  // first; excess threads hold duplicates.
  SmallVector<int64_t> left(shape);
  for (size_t dim = 0; dim < rank; ++dim)
    left[dim] /= sizePerThread[dim];
  auto distribute = [&](int64_t count, SmallVectorImpl<int64_t> &out) {
    for (int64_t dim : order) {
      int64_t n = std::min(count, left[dim]);
      out[dim] = n;
      left[dim] /= n;
      count /= n;
    }
    out.front() *= count;
  };
  distribute(warpSize, lanes);
  distribute(numWarps, warps);
  return tile::BlockedAttr::get(context, sizePerThread, lanes, warps, order);
}

int64_t mlir::iris::getRowMajorBytes(RankedTensorType type) {
  std::optional<LinearLayout> layout = getLinearLayout(type);
  if (!layout)
    return 0;
  int64_t elements = int64_t(1) << layout->getRowMajorRegisterBits().size();
  return elements * type.getElementTypeBitWidth() / 8;
}

Attribute mlir::iris::transposeLayout(Attribute layout,
                                      ArrayRef<int64_t> permutation) {
  auto permute = [&](ArrayRef<int64_t> list) {
    SmallVector<int64_t> result;
    for (int64_t dim : permutation)
      result.push_back(list[dim]);
    return result;
  };
  if (auto blocked = dyn_cast<tile::BlockedAttr>(layout)) {
    SmallVector<int64_t> order;
    for (int64_t dim : blocked.getOrder())
      order.push_back(llvm::find(permutation, dim) - permutation.begin());
    return tile::BlockedAttr::get(layout.getContext(),
                                  permute(blocked.getSizePerThread()),
                                  permute(blocked.getThreadsPerWarp()),
                                  permute(blocked.getWarpsPerCta()), order);
  }
  if (auto slice = dyn_cast<tile::SliceAttr>(layout)) {
    // Insert the sliced dimension where the parent has it.
    int64_t sliced = slice.getDim();
    SmallVector<int64_t> parent;
    for (int64_t dim : permutation)
      parent.push_back(dim < sliced ? dim : dim + 1);
    parent.insert(parent.begin() + sliced, sliced);
    return tile::SliceAttr::get(layout.getContext(), sliced,
                                transposeLayout(slice.getParent(), parent));
  }
  if (auto linear = dyn_cast<tile::LinearAttr>(layout)) {
    auto permuteBases = [&](ArrayAttr bases) {
      SmallVector<Attribute> rows;
      for (Attribute row : bases) {
        ArrayRef<Attribute> entries = cast<ArrayAttr>(row).getValue();
        SmallVector<Attribute> permuted;
        for (int64_t dim : permutation)
          permuted.push_back(entries[dim]);
        rows.push_back(ArrayAttr::get(layout.getContext(), permuted));
      }
      return ArrayAttr::get(layout.getContext(), rows);
    };
    return tile::LinearAttr::get(layout.getContext(),
                                 permuteBases(linear.getRegisterBases()),
                                 permuteBases(linear.getLaneBases()),
                                 permuteBases(linear.getWarpBases()));
  }
  return {};
}
