// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Conversion/ReducePlan.h"

#include "iris/Analysis/TileLayout.h"
#include "iris/Conversion/ThreadContext.h"
#include "iris/Dialect/Tile/Utils/Reduction.h"

using namespace mlir;
using namespace mlir::iris;

static uint64_t getFreeBits(const LinearLayout &layout, LayoutDim input) {
  LayoutIndex free = layout.getFreeBits();
  switch (input) {
  case LayoutDim::Register:
    return free.reg;
  case LayoutDim::Lane:
    return free.lane;
  case LayoutDim::Warp:
    return free.warp;
  }
  llvm_unreachable("all inputs are listed");
}

/// Calls `visit` with the input bits of `layout`, and whether they are free:
/// their elements are duplicates of those of the other bits.
static void
visitBits(const LinearLayout &layout,
          llvm::function_ref<void(const ReduceStep &, bool isFree)> visit) {
  for (LayoutDim input :
       {LayoutDim::Register, LayoutDim::Lane, LayoutDim::Warp}) {
    uint64_t free = getFreeBits(layout, input);
    for (auto [i, basis] : llvm::enumerate(layout.getBases(input)))
      visit({input, static_cast<unsigned>(i), basis}, free >> i & 1);
  }
}

/// Returns a layout that differs from `layout` in the bits of `mask` only: each
/// of them belongs to one input bit.
static LinearLayout separateBits(const LinearLayout &layout, uint64_t mask) {
  uint64_t unused = mask;
  bool isSeparate = true;
  visitBits(layout, [&](const ReduceStep &bit, bool isFree) {
    if (isFree || !(bit.basis & mask))
      return;
    bool isSingle = llvm::isPowerOf2_64(bit.basis);
    unused &= isSingle ? ~bit.basis : ~uint64_t(0);
    isSeparate &= isSingle;
  });
  if (isSeparate)
    return layout;
  LinearLayout::Bases bases[3];
  visitBits(layout, [&](const ReduceStep &bit, bool isFree) {
    uint64_t basis = bit.basis;
    if (isFree) {
      basis &= ~mask;
    } else if ((basis & mask) && !llvm::isPowerOf2_64(basis)) {
      basis = unused & -unused;
      unused &= ~basis;
    }
    bases[static_cast<unsigned>(bit.input)].push_back(basis);
  });
  return LinearLayout(layout.getShape(), bases[0], bases[1], bases[2]);
}

static SmallVector<ReduceStep> getSteps(const LinearLayout &layout,
                                        uint64_t mask) {
  SmallVector<ReduceStep> steps;
  visitBits(layout, [&](const ReduceStep &bit, bool isFree) {
    if (!isFree && (bit.basis & mask))
      steps.push_back(bit);
  });
  return steps;
}

std::optional<ReducePlan> mlir::iris::planReduction(tile::ReduceOp op) {
  LinearLayout layout = *getLinearLayout(op.getSource().getType());
  uint64_t mask = layout.getDimMask(op.getDim());
  for (const ReduceStep &step : getSteps(layout, mask))
    if (step.basis & ~mask)
      return std::nullopt;
  LinearLayout slice = layout.slice(op.getDim());
  if (!tile::dependsOnOrder(op))
    return ReducePlan{layout, std::nullopt, slice, getSteps(layout, mask)};

  LinearLayout separate = separateBits(layout, mask);
  ReducePlan plan{separate, std::nullopt, slice, getSteps(separate, mask)};
  if (separate != layout)
    plan.conversion = separate.sourceOf(layout);
  llvm::sort(plan.steps, [](const ReduceStep &a, const ReduceStep &b) {
    return a.basis < b.basis;
  });
  return plan;
}

/// The register bits of the result whose bases are single bits that no other
/// basis has.
static SmallVector<unsigned> getSeparateRegisters(const LinearLayout &slice) {
  SmallVector<unsigned> result;
  for (auto [i, value] : llvm::enumerate(slice.getBases(LayoutDim::Register))) {
    uint64_t basis = value;
    unsigned users = 0;
    visitBits(slice, [&](const ReduceStep &bit, bool) {
      users += (bit.basis & basis) != 0;
    });
    if (llvm::isPowerOf2_64(basis) && users == 1)
      result.push_back(i);
  }
  return result;
}

uint64_t mlir::iris::getRoundBits(const ReducePlan &plan, uint64_t numPartials,
                                  uint64_t elementBytes) {
  uint64_t bits = 0;
  for (unsigned bit : llvm::reverse(getSeparateRegisters(plan.slice))) {
    if (numPartials * elementBytes <= kMaxRoundBytes)
      break;
    bits |= uint64_t(1) << bit;
    numPartials /= 2;
  }
  return bits;
}

uint64_t mlir::iris::getReductionBytes(tile::ReduceOp op) {
  std::optional<ReducePlan> plan = planReduction(op);
  if (!plan)
    return 0;
  RankedTensorType source = op.getSource().getType();
  uint64_t bytes = plan->needsExchange()
                       ? getExchangeBytes(plan->layout, source.getElementType())
                       : 0;
  const ReduceStep *warps = llvm::find_if(plan->steps, [](const ReduceStep &s) {
    return s.input == LayoutDim::Warp;
  });
  if (warps == plan->steps.end())
    return bytes;
  uint64_t width = tile::getAccumulatorType(op).getIntOrFloatBitWidth() / 8;
  uint64_t partials = plan->getNumPartials(warps - plan->steps.begin());
  uint64_t rounds = llvm::popcount(getRoundBits(*plan, partials, width));
  return std::max(bytes, (partials >> rounds) * width);
}
