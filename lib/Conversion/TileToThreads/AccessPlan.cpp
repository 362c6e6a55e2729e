// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AccessPlan.h"
#include "WholeWindows.h"

#include "iris/Analysis/Divisibility.h"
#include "iris/Analysis/TileLayout.h"
#include "iris/Analysis/WorkgroupMemory.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "convert-tile-to-threads"

using namespace mlir;
using namespace mlir::iris;

/// Width of the widest access of all targets.
static constexpr int64_t kMaxAccessBytes = 16;

namespace {

/// Computes one plan.
class Planner {
public:
  Planner(Value buffer, ValueRange offsets, RankedTensorType tile,
          bool unalignedVectors)
      : buffer(buffer), offsets(offsets), tile(tile),
        type(cast<MemRefType>(buffer.getType())),
        layout(*getLinearLayout(tile)), rank(type.getRank()),
        isUnaligned(unalignedVectors && !isWorkgroupMemory(type)) {
    plan.elementBytes = std::max<int64_t>(1, tile.getElementTypeBitWidth() / 8);
    // Every buffer has strides: the pass has checked this.
    bool strided = succeeded(type.getStridesAndOffset(strides, bufferOffset));
    assert(strided && "buffer without strides");
    (void)strided;
  }

  AccessPlan run() {
    chooseWidth();
    limitOffsets();
    narrowStart();
    checkBounds();
    return std::move(plan);
  }

private:
  void chooseWidth();
  void alignWindow(unsigned inner);
  void limitOffsets();
  void narrowStart();
  void checkBounds();
  void limitWidth(uint64_t divisor, StringRef reason);

  Value buffer;
  ValueRange offsets;
  RankedTensorType tile;
  MemRefType type;
  LinearLayout layout;
  unsigned rank;
  /// Whether accesses may begin at any address.
  bool isUnaligned;
  SmallVector<int64_t> strides;
  int64_t bufferOffset = 0;
  Divisibility facts;
  AccessPlan plan;
};

} // namespace

/// Limits the width of the access to `divisor` elements.
void Planner::limitWidth(uint64_t divisor, StringRef reason) {
  if (divisor >= plan.width)
    return;
  plan.width = divisor;
  plan.missed = reason;
}

void Planner::chooseWidth() {
  unsigned inner = plan.innerDim = getInnerDim(type, tile.getShape());
  plan.width = kMaxAccessBytes / plan.elementBytes;
  limitWidth(layout.getContiguity(inner),
             inner == rank - 1
                 ? "the layout gives a thread fewer consecutive elements of "
                   "the last dimension"
                 : "the layout gives a thread fewer consecutive elements of "
                   "the dimension with stride 1");
  if (strides[inner] != 1)
    limitWidth(1, "inner stride not known to be 1");

  if (!isUnaligned)
    alignWindow(inner);
  plan.vectorBits = layout.getContiguousRegisterBits(inner);
  plan.vectorBits.resize(llvm::Log2_32(plan.width));
  // Single elements are aligned to their size.
  plan.alignment = isUnaligned
                       ? plan.elementBytes
                       : static_cast<int64_t>(plan.width) * plan.elementBytes;
}

/// Facts that are known to be misaligned limit the width; unknown facts are
/// checked at run time. Only the inner dimension's offset matters by itself:
/// the others are multiplied by their strides.
void Planner::alignWindow(unsigned inner) {
  if (!ShapedType::isDynamic(bufferOffset))
    limitWidth(getPowerOfTwoDivisor(bufferOffset),
               "offset of the buffer is not a multiple of the access");
  if (std::optional<int64_t> offset = getConstantIntValue(offsets[inner]))
    limitWidth(getPowerOfTwoDivisor(*offset),
               "offset of the window is not a multiple of the access");
  auto getRowDivisor = [&](unsigned dim) {
    uint64_t divisor = facts.getStrideDivisor(buffer, dim);
    if (tile.getDimSize(dim) > 1)
      return divisor;
    // A single row: only its start must be aligned.
    uint64_t start = facts.getDivisor(offsets[dim]);
    return start >= Divisibility::kMax / divisor ? Divisibility::kMax
                                                 : start * divisor;
  };
  for (unsigned dim = 0; dim < rank; ++dim)
    if (dim != inner && !ShapedType::isDynamic(strides[dim]))
      limitWidth(getRowDivisor(dim),
                 "row pitch is not a multiple of the access");

  if (plan.width == 1)
    return;
  uint64_t bytes = plan.width * plan.elementBytes;
  plan.checkPointer = facts.getPointerDivisor(buffer) < bytes;
  plan.checkBufferOffset = ShapedType::isDynamic(bufferOffset);
  plan.checkInnerOffset = facts.getDivisor(offsets[inner]) < plan.width;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (dim != inner && getRowDivisor(dim) < plan.width)
      plan.alignedStrides.push_back(dim);
}

/// Ensures that a thread's byte offsets within the window fit in 31 bits.
void Planner::limitOffsets() {
  int64_t fixed = 0, numDynamic = 0;
  for (unsigned dim = 0; dim < rank; ++dim) {
    int64_t steps = tile.getDimSize(dim) - 1;
    if (steps == 0)
      continue;
    if (ShapedType::isDynamic(strides[dim])) {
      ++numDynamic;
      continue;
    }
    int64_t bytes;
    if (strides[dim] < 0 ||
        llvm::MulOverflow(steps * plan.elementBytes, strides[dim], bytes) ||
        bytes >= kOffsetLimit / 2) {
      plan.wideOffsets = true;
      return;
    }
    fixed += bytes;
  }
  if (fixed >= kOffsetLimit / 2) {
    plan.wideOffsets = true;
    return;
  }
  for (unsigned dim = 0; dim < rank; ++dim) {
    int64_t steps = tile.getDimSize(dim) - 1;
    if (steps == 0 || !ShapedType::isDynamic(strides[dim]))
      continue;
    int64_t limit =
        (kOffsetLimit - 1 - fixed) / numDynamic / (steps * plan.elementBytes);
    plan.smallStrides.push_back({dim, limit});
  }
}

/// Finds buffers that are small enough for a thread's offset from their start
/// to be a 32-bit number, as in loops over sections.
void Planner::narrowStart() {
  if (rank != 1 || strides[0] != 1 || plan.wideOffsets ||
      getConstantIntValue(offsets[0]) ||
      !isWholeWindow(offsets[0], buffer, 0, tile.getDimSize(0)))
    return;
  std::optional<uint64_t> bound = getSizeBound(buffer, 0);
  plan.narrowStart =
      bound &&
      *bound <= static_cast<uint64_t>(kOffsetLimit / 2 / plan.elementBytes);
}

void Planner::checkBounds() {
  for (unsigned dim = 0; dim < rank; ++dim) {
    std::optional<int64_t> offset = getConstantIntValue(offsets[dim]);
    if (!offset &&
        isWholeWindow(offsets[dim], buffer, dim, tile.getDimSize(dim)))
      continue;
    // The offset of a cut window is not negative.
    if (!offset && isCutWindow(offsets[dim], buffer, dim, tile.getDimSize(dim)))
      plan.neverInside = true;
    else if (!offset)
      plan.lowerBounds.push_back(dim);
    else if (*offset < 0)
      plan.neverInside = true;

    int64_t extent = tile.getDimSize(dim);
    if (type.isDynamicDim(dim) || !offset)
      plan.upperBounds.push_back(dim);
    else if (*offset > type.getDimSize(dim) - extent)
      plan.neverInside = true;
    // A window larger than the buffer is never inside.
    if (!type.isDynamicDim(dim) && type.getDimSize(dim) < extent)
      plan.neverInside = true;
  }
  if (plan.neverInside && plan.missed.empty())
    plan.missed = "the window is never inside the buffer";
}

AccessPlan mlir::iris::planAccess(Value buffer, ValueRange offsets,
                                  RankedTensorType tile,
                                  bool unalignedVectors) {
  return Planner(buffer, offsets, tile, unalignedVectors).run();
}

void mlir::iris::remarkAccess(Operation *op, const AccessPlan &plan) {
  using namespace mlir::remark;
  auto opts = RemarkOpts::name("access").category("tile-vectorize-access");
  int64_t bytes =
      plan.neverInside ? plan.elementBytes : plan.width * plan.elementBytes;
  LDBG() << *op << ": " << bytes << " bytes per access"
         << (plan.missed.empty() ? "" : ", because ") << plan.missed
         << "; checks at run time:" << (plan.checkPointer ? " pointer" : "")
         << (plan.checkBufferOffset ? " buffer offset" : "")
         << (plan.checkInnerOffset ? " window offset" : "")
         << (plan.alignedStrides.empty() ? "" : " row pitch")
         << (plan.smallStrides.empty() ? "" : " 31-bit offsets")
         << (plan.lowerBounds.empty() && plan.upperBounds.empty() ? ""
                                                                  : " bounds")
         << (plan.hasChecks() ? "" : " none");
  if (plan.missed.empty()) {
    passed(op->getLoc(), opts) << metric("bytesPerAccess", bytes)
                               << metric("runtimeCheck", plan.hasChecks());
    return;
  }
  missed(op->getLoc(), opts)
      << reason("{0}", plan.missed) << metric("bytesPerAccess", bytes)
      << metric("runtimeCheck", plan.hasChecks());
}

void mlir::iris::remarkIndexedAccess(Operation *op, Type type) {
  using namespace mlir::remark;
  missed(op->getLoc(),
         RemarkOpts::name("access").category("tile-vectorize-access"))
      << reason("each element has coordinates of its own; expected a window "
                "(tile.load, tile.store)")
      << metric("bytesPerAccess", getElementBytes(type))
      << metric("runtimeCheck", true);
}
