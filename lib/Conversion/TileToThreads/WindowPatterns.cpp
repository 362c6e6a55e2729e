// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windowed loads and stores.
//
// An access has up to four forms. The fast form moves `AccessPlan::width`
// consecutive elements at a time without checks. The word form does the same
// for a window that is inside but aligned to words only, as that of a chunk in
// the middle of a buffer may be; the backend splits an access where the target
// requires it. If the window may exceed a buffer whose rows end at a multiple
// of the width, such a group of elements is inside or outside as a whole: the
// third form checks each group. The last form moves and checks single elements;
// if a thread has many, it is a loop, because the code of a large tile would
// take minutes to compile. Uniform conditions select the form; facts of the
// plan simplify these conditions or make them unnecessary.
#include "Patterns.h"

#include "iris/Analysis/TileLayout.h"
#include "iris/Conversion/TileToThreads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

/// Maximum number of single elements accessed without a loop.
static constexpr uint64_t kUnrolledElements = 16;

/// Bytes of the narrowest accesses that a vector is split into.
static constexpr int64_t kWordBytes = 4;

/// Size of an access's immediate offset, on the targets with the smallest.
static constexpr int64_t kImmediateBytes = 4096;

//===----------------------------------------------------------------------===//
// Cache modifiers
//===----------------------------------------------------------------------===//

namespace {

/// LLVM flags of an access.
struct AccessFlags {
  bool isVolatile = false;
  bool isNontemporal = false;
};

} // namespace

/// Volatile accesses go to the point of coherence of the system: they bypass
/// the processor's own cache, as `cg` and `cv` require, and write through, as
/// `wt` requires. Stores are never delayed by that cache: `cg` is the default.
static AccessFlags getFlags(tile::LoadOp op) {
  return {op.getIsVolatile() || op.getCache() != tile::LoadCache::ca, false};
}
static AccessFlags getFlags(tile::StoreOp op) {
  return {op.getIsVolatile() || op.getCache() == tile::StoreCache::wt,
          op.getCache() == tile::StoreCache::cs};
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

namespace {

/// A conjunction of tests; null if there are none.
struct Condition {
  explicit Condition(ThreadBuilder &t) : t(t) {}

  void require(Value test) {
    value = value ? t.b.createOrFold<arith::AndIOp>(t.loc, value, test) : test;
  }
  void compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    require(t.b.createOrFold<arith::CmpIOp>(t.loc, predicate, lhs, rhs));
  }
  /// `divisor` is a power of two.
  void requireMultiple(Value number, int64_t divisor) {
    Value rest =
        t.b.createOrFold<arith::AndIOp>(t.loc, number, t.index(divisor - 1));
    compare(arith::CmpIPredicate::eq, rest, t.index(0));
  }

  ThreadBuilder &t;
  Value value;
};

/// Emits the accesses of one window.
class WindowAccess {
public:
  WindowAccess(ThreadBuilder &t, Value buffer, ValueRange offsets,
               RankedTensorType tile, const AccessPlan &plan, AccessFlags flags)
      : t(t), view(buffer, t), offsets(offsets), tile(tile), plan(plan),
        flags(flags), layout(*getLinearLayout(tile)) {}

  /// Returns the condition of the fast form, or of the word form; null if it
  /// always holds.
  Value emitCondition(ThreadBuilder &t, int64_t alignment);
  /// Returns the condition of the form that checks groups of elements.
  Value emitGroupCondition(ThreadBuilder &t);

  /// Emit all forms and the selection.
  Value emitLoad(Value other);
  void emitStore(Value registers);

private:
  using Visit =
      llvm::function_ref<void(ThreadBuilder &, uint64_t reg, Value pointer)>;

  /// Calls `visit` with the first register of every vector access and its
  /// address.
  void forEachVector(ThreadBuilder &t, bool owned, Visit visit);
  Value getThreadOffset(ThreadBuilder &t, uint64_t reg, Value &uniform);

  /// Whether some windows of the word form have no fast form.
  bool hasWordForm() const {
    return !plan.neverInside && getVectorBytes() > getWordAlignment() &&
           (plan.checkPointer || plan.checkBufferOffset ||
            plan.checkInnerOffset || !plan.alignedStrides.empty());
  }
  /// Single elements are aligned to their size.
  int64_t getWordAlignment() const {
    return std::max(kWordBytes, plan.elementBytes);
  }
  int64_t getVectorBytes() const {
    return static_cast<int64_t>(plan.width) * plan.elementBytes;
  }

  Value loadVectors(ThreadBuilder &t, int64_t alignment);
  Value loadGroups(ThreadBuilder &t, Value other);
  /// A thread's single element: whether it is inside, and its address.
  struct Element {
    Value isInside;
    std::function<Value(ThreadBuilder &)> getPointer;
  };
  /// Whether a thread has several elements next to each other: those of its
  /// first one plus constants.
  bool isVector() const {
    return plan.width > 1 && view.getRank() == 1 &&
           getConstantIntValue(view.getStride(0)) == 1 && isSeparable(0) &&
           hasDisjointRegisters();
  }
  /// Whether each register bit has its own bits of the first coordinate.
  bool hasDisjointRegisters() const {
    uint64_t seen = 0, mask = layout.getDimMask(0);
    for (uint64_t basis : layout.getBases(LayoutDim::Register)) {
      if (seen & basis & mask)
        return false;
      seen |= basis & mask;
    }
    return true;
  }
  /// The elements of an iteration of `count` registers; of all without one.
  SmallVector<Element> getElements(ThreadBuilder &t, Value iteration = {},
                                   uint64_t count = 0);
  SmallVector<Element> getElementsOfVector(ThreadBuilder &t, Value iteration,
                                           uint64_t count);

  Value loadElements(ThreadBuilder &t, Value other);
  /// The third or the last form.
  Value loadParts(ThreadBuilder &t, Value other);
  /// Any form but the fast one.
  Value loadChecked(ThreadBuilder &t, Value other);
  void storeVectors(ThreadBuilder &t, Value registers, int64_t alignment);
  void storeGroups(ThreadBuilder &t, Value registers);
  void storeElements(ThreadBuilder &t, Value registers);
  void storeParts(ThreadBuilder &t, Value registers);
  void storeChecked(ThreadBuilder &t, Value registers);

  /// Requires that the buffer's groups of elements are aligned.
  void requireAlignment(Condition &condition, int64_t alignment);
  /// Requires the same of the window's first element.
  void requireAlignedWindow(Condition &condition, int64_t alignment);
  /// Registers that do not begin an access.
  uint64_t getSkippedRegisters(bool owned) const {
    uint64_t skip = owned ? layout.getFreeBits().reg : 0;
    for (unsigned bit : plan.vectorBits)
      skip |= uint64_t(1) << bit;
    return skip;
  }

  Value load(ThreadBuilder &t, Type type, Value pointer, int64_t alignment = 0);
  void store(ThreadBuilder &t, Value value, Value pointer,
             int64_t alignment = 0);

  /// Registers of the access that begins at `reg`.
  SmallVector<int64_t> getRun(uint64_t reg) const {
    SmallVector<int64_t> result;
    for (uint64_t i = 0; i < plan.width; ++i) {
      uint64_t bits = 0;
      for (auto [k, bit] : llvm::enumerate(plan.vectorBits))
        bits |= ((i >> k) & 1) << bit;
      result.push_back(reg | bits);
    }
    return result;
  }

  /// True if one access covers all of a thread's registers in order.
  bool isWholeThread() const {
    return plan.width > 1 && plan.width == layout.getNumRegisters() &&
           llvm::equal(getRun(0), llvm::seq<int64_t>(0, plan.width));
  }

  /// True if the register bits and the thread bits of this coordinate are
  /// disjoint, so that their contributions may be added.
  bool isSeparable(unsigned dim) const {
    uint64_t mask = layout.getDimMask(dim), registers = 0, threads = 0;
    for (uint64_t basis : layout.getBases(LayoutDim::Register))
      registers |= basis & mask;
    for (LayoutDim input : {LayoutDim::Lane, LayoutDim::Warp})
      for (uint64_t basis : layout.getBases(input))
        threads |= basis & mask;
    return (registers & threads) == 0;
  }

  ThreadBuilder &t;
  BufferView view;
  ValueRange offsets;
  RankedTensorType tile;
  const AccessPlan &plan;
  AccessFlags flags;
  LinearLayout layout;
};

} // namespace

void WindowAccess::requireAlignment(Condition &condition, int64_t alignment) {
  ThreadBuilder &t = condition.t;
  const int64_t elements = alignment / plan.elementBytes;
  // First the conditions that do not depend on the window, so that they can be
  // hoisted out of loops as one value. Divisors are powers of two, so an `or`
  // combines all numbers that must be multiples.
  Value multiples;
  auto collect = [&](Value number) {
    multiples = multiples
                    ? t.b.createOrFold<arith::OrIOp>(t.loc, multiples, number)
                    : number;
  };
  if (plan.checkBufferOffset)
    collect(view.getOffset());
  for (unsigned dim : plan.alignedStrides)
    collect(view.getStride(dim));
  if (multiples && elements > 1)
    condition.requireMultiple(multiples, elements);
  if (plan.checkPointer && elements > 1)
    condition.requireMultiple(view.getOwnAddress(), alignment);
}

void WindowAccess::requireAlignedWindow(Condition &condition,
                                        int64_t alignment) {
  const int64_t elements = alignment / plan.elementBytes;
  if (plan.checkInnerOffset && elements > 1)
    condition.requireMultiple(offsets[plan.innerDim], elements);
}

Value WindowAccess::emitCondition(ThreadBuilder &t, int64_t alignment) {
  Condition condition(t);
  requireAlignment(condition, alignment);
  for (auto [dim, limit] : plan.smallStrides)
    condition.compare(arith::CmpIPredicate::ule, view.getStride(dim),
                      t.index(limit));
  requireAlignedWindow(condition, alignment);
  for (unsigned dim : plan.lowerBounds)
    condition.compare(arith::CmpIPredicate::sge, offsets[dim], t.index(0));
  for (unsigned dim : plan.upperBounds) {
    Value lastStart = t.add(view.getSize(dim), t.index(-tile.getDimSize(dim)));
    condition.compare(arith::CmpIPredicate::sle, offsets[dim], lastStart);
  }
  return condition.value;
}

Value WindowAccess::emitGroupCondition(ThreadBuilder &t) {
  Condition condition(t);
  requireAlignment(condition, plan.alignment);
  condition.requireMultiple(view.getSize(plan.innerDim), plan.width);
  if (plan.alignment != getVectorBytes())
    condition.requireMultiple(offsets[plan.innerDim], plan.width);
  requireAlignedWindow(condition, plan.alignment);
  return condition.value;
}

/// Returns the byte offset from the window's start of this thread's access at
/// `reg` (i32, or i64 if the plan has wide offsets), and adds the uniform part
/// to `uniform` (elements, index).
Value WindowAccess::getThreadOffset(ThreadBuilder &t, uint64_t reg,
                                    Value &uniform) {
  SmallVector<int64_t> constants =
      layout.getCoordinates(layout.apply({reg, 0, 0}));
  bool wide = plan.wideOffsets;
  auto number = [&](Value coordinate) {
    return wide ? arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(),
                                         coordinate)
                      .getResult()
                : coordinate;
  };
  Value offset = wide ? t.i64(0) : t.i32(0);
  for (unsigned dim = 0; dim < view.getRank(); ++dim) {
    if (tile.getDimSize(dim) == 1)
      continue;
    Value coordinate = t.getThreadCoordinate(layout, dim);
    if (isSeparable(dim))
      uniform = t.add(uniform, t.mul(view.getStride(dim), constants[dim]));
    else
      coordinate = t.b.createOrFold<arith::XOrIOp>(t.loc, coordinate,
                                                   t.i32(constants[dim]));
    Value stride = t.b.createOrFold<arith::IndexCastOp>(
        t.loc, offset.getType(), t.mul(view.getStride(dim), plan.elementBytes));
    offset = t.add(offset, t.mul(number(coordinate), stride));
  }
  return offset;
}

void WindowAccess::forEachVector(ThreadBuilder &t, bool owned, Visit visit) {
  // A uniform address plus a small offset per thread: the addressing mode of
  // the hardware.
  Value start = t.index(0);
  for (auto [dim, offset] : llvm::enumerate(offsets))
    start = t.add(start, t.mul(offset, view.getStride(dim)));
  Value window = view.getPointer(t, plan.narrowStart ? t.index(0) : start);
  // In loops over tiles, this keeps the address loop-invariant: one address per
  // rank, in scalar registers, and one offset for all of them.
  Value narrow;
  if (plan.narrowStart)
    narrow = t.b.createOrFold<arith::IndexCastOp>(
        t.loc, t.b.getI32Type(), t.mul(start, plan.elementBytes));

  uint64_t skip = getSkippedRegisters(owned);
  auto advance = [&](Value pointer, LLVM::GEPArg bytes) -> Value {
    return LLVM::GEPOp::create(t.b, t.loc, pointer.getType(), t.b.getI8Type(),
                               pointer, ArrayRef<LLVM::GEPArg>{bytes});
  };
  for (uint64_t reg = 0; reg < layout.getNumRegisters(); ++reg) {
    if (reg & skip)
      continue;
    Value uniform = t.index(0);
    Value offset = getThreadOffset(t, reg, uniform);
    Value bytes = t.mul(uniform, plan.elementBytes);
    Value pointer = window;
    // A constant is added last, as the instruction's immediate; any other value
    // is added to the uniform address first.
    std::optional<int64_t> constant = getConstantIntValue(bytes);
    if (!constant)
      pointer = advance(pointer, t.toI64(bytes));
    int64_t immediate = constant.value_or(0);
    if (narrow) {
      // The part that exceeds the immediate is added to the offset.
      int64_t rest = immediate % kImmediateBytes;
      offset = t.add(t.add(narrow, offset),
                     t.i32(static_cast<int32_t>(immediate - rest)));
      immediate = rest;
    }
    // The fast path's condition ensures that it is not negative.
    if (!plan.wideOffsets)
      offset = arith::ExtUIOp::create(t.b, t.loc, t.b.getI64Type(), offset);
    pointer = advance(pointer, offset);
    if (immediate != 0)
      pointer = advance(pointer, t.i64(immediate));
    visit(t, reg, pointer);
  }
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static int64_t getAlignment(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.getNumElements() * vector.getElementTypeBitWidth() / 8;
  return type.getIntOrFloatBitWidth() / 8;
}

/// Without an alignment, that of the type.
Value WindowAccess::load(ThreadBuilder &t, Type type, Value pointer,
                         int64_t alignment) {
  return LLVM::LoadOp::create(t.b, t.loc, type, pointer,
                              alignment ? alignment : getAlignment(type),
                              flags.isVolatile, flags.isNontemporal);
}

void WindowAccess::store(ThreadBuilder &t, Value value, Value pointer,
                         int64_t alignment) {
  LLVM::StoreOp::create(t.b, t.loc, value, pointer,
                        alignment ? alignment : getAlignment(value.getType()),
                        flags.isVolatile, flags.isNontemporal);
}

Value WindowAccess::loadVectors(ThreadBuilder &t, int64_t alignment) {
  Type element = tile.getElementType();
  auto vectorType = VectorType::get({plan.width}, element);
  SmallVector<Value> elements(layout.getNumRegisters());
  Value whole;
  forEachVector(t, /*owned=*/false,
                [&](ThreadBuilder &t, uint64_t reg, Value pointer) {
                  if (plan.width == 1) {
                    elements[reg] = load(t, element, pointer);
                    return;
                  }
                  whole = load(t, vectorType, pointer, alignment);
                  for (auto [i, r] : llvm::enumerate(getRun(reg)))
                    elements[r] = t.extract(whole, i);
                });
  // A single access in register order is the result.
  return isWholeThread() ? whole : t.pack(elements);
}

Value WindowAccess::loadGroups(ThreadBuilder &t, Value other) {
  auto group = VectorType::get({plan.width}, tile.getElementType());
  Value others = vector::BroadcastOp::create(t.b, t.loc, group, other);
  SmallVector<Value> elements(layout.getNumRegisters());
  uint64_t skip = getSkippedRegisters(/*owned=*/false);
  for (auto [reg, coordinates] :
       llvm::enumerate(getWindowCoordinates(t, layout, offsets))) {
    if (reg & skip)
      continue;
    Value loaded = emitGuardedValue(
        t, view.isInside(t, coordinates), others,
        [&, &coordinates = coordinates](ThreadBuilder &inner) {
          return load(inner, group, view.getElementPointer(inner, coordinates),
                      plan.alignment);
        });
    for (auto [i, r] : llvm::enumerate(getRun(reg)))
      elements[r] = t.extract(loaded, i);
  }
  return t.pack(elements);
}

/// `vector` from element `end.size()` on, followed by the elements of `end`.
static Value shift(ThreadBuilder &t, Value vector, ArrayRef<Value> end) {
  SmallVector<Value> elements = t.unpack(vector);
  SmallVector<Value> result(ArrayRef<Value>(elements).drop_front(end.size()));
  llvm::append_range(result, end);
  return t.pack(result);
}

/// Runs `body(inner, iteration, registers)` for segments of kUnrolledElements
/// registers, which are the first ones of the vector `registers`. The body
/// returns the vector for the next iteration; the last one is the result.
static Value
emitIterations(ThreadBuilder &t, uint64_t numRegisters, Value registers,
               llvm::function_ref<Value(ThreadBuilder &, Value, Value)> body) {
  auto numIterations = static_cast<int64_t>(numRegisters / kUnrolledElements);
  auto loop = scf::ForOp::create(
      t.b, t.loc, t.i32(0), t.i32(numIterations), t.i32(1), registers,
      [&](OpBuilder &b, Location loc, Value iteration, ValueRange carried) {
        ThreadBuilder inner(b, loc, t.kernel);
        scf::YieldOp::create(b, loc, body(inner, iteration, carried.front()));
      });
  loop->setAttr(kElementLoopAttr, t.b.getUnitAttr());
  // The loop is there to keep the code small.
  disableUnrolling(loop);
  return loop.getResult(0);
}

/// Bounds are numbers of 32 bits that all threads share, and the address is a
/// uniform one plus one offset per thread: a number for each element would be
/// hoisted out of loops and take a register.
SmallVector<WindowAccess::Element>
WindowAccess::getElementsOfVector(ThreadBuilder &t, Value iteration,
                                  uint64_t count) {
  Value offset = offsets[0];
  Value first = getFirstCoordinate(t, layout, 0, iteration, count);
  // A limit of the elements' numbers in the window, if it has no others.
  auto limit = [&](Value number) {
    Value least = t.b.createOrFold<arith::MaxSIOp>(t.loc, number, t.index(0));
    Value most = t.b.createOrFold<arith::MinSIOp>(t.loc, least,
                                                  t.index(kOffsetLimit - 1));
    return t.b.createOrFold<arith::IndexCastOp>(t.loc, t.b.getI32Type(), most);
  };
  Value end =
      limit(t.b.createOrFold<arith::SubIOp>(t.loc, view.getSize(0), offset));
  std::optional<int64_t> known = getConstantIntValue(offset);
  const bool isBelow =
      known ? *known < 0 : llvm::is_contained(plan.lowerBounds, 0u);
  Value begin =
      isBelow
          ? limit(t.b.createOrFold<arith::SubIOp>(t.loc, t.index(0), offset))
          : Value();
  Value window = view.getPointer(t, offset);
  auto advance = [](ThreadBuilder &t, Value pointer, LLVM::GEPArg bytes) {
    return LLVM::GEPOp::create(t.b, t.loc, pointer.getType(), t.b.getI8Type(),
                               pointer, ArrayRef<LLVM::GEPArg>{bytes})
        .getResult();
  };
  Value bytes = arith::ExtUIOp::create(
      t.b, t.loc, t.b.getI64Type(),
      t.mul(first, t.i32(static_cast<int32_t>(plan.elementBytes))));
  Value pointer = advance(t, window, bytes);
  SmallVector<Element> elements;
  for (uint64_t reg = 0; reg < (iteration ? count : layout.getNumRegisters());
       ++reg) {
    int64_t number = layout.getCoordinates(layout.apply({reg, 0, 0}))[0];
    auto compare = [&](arith::CmpIPredicate predicate, Value bound) -> Value {
      Value moved = t.b.createOrFold<arith::SubIOp>(
          t.loc, bound, t.i32(static_cast<int32_t>(number)));
      return arith::CmpIOp::create(t.b, t.loc, predicate, first, moved);
    };
    Value isInside = compare(arith::CmpIPredicate::slt, end);
    if (begin)
      isInside =
          emitAnd(t, isInside, compare(arith::CmpIPredicate::sge, begin));
    int64_t distance = number * plan.elementBytes;
    elements.push_back({isInside, [=](ThreadBuilder &inner) {
                          return advance(inner, pointer, inner.i64(distance));
                        }});
  }
  return elements;
}

SmallVector<WindowAccess::Element>
WindowAccess::getElements(ThreadBuilder &t, Value iteration, uint64_t count) {
  if (isVector())
    return getElementsOfVector(t, iteration, count);
  return llvm::map_to_vector(
      getWindowCoordinates(t, layout, offsets, iteration, count),
      [&](const SmallVector<Value> &coordinates) -> Element {
        return {view.isInside(t, coordinates),
                [this, coordinates](ThreadBuilder &inner) {
                  return view.getElementPointer(inner, coordinates);
                }};
      });
}

Value WindowAccess::loadElements(ThreadBuilder &t, Value other) {
  Type element = tile.getElementType();
  auto loadAll = [&](ThreadBuilder &t, ArrayRef<Element> elements) {
    return llvm::map_to_vector(elements, [&](const Element &each) {
      return emitGuardedValue(
          t, each.isInside, other, [&](ThreadBuilder &inner) {
            return load(inner, element, each.getPointer(inner));
          });
    });
  };
  uint64_t count = layout.getNumRegisters();
  if (count <= kUnrolledElements)
    return t.pack(loadAll(t, getElements(t)));
  auto type = VectorType::get({static_cast<int64_t>(count)}, element);
  Value none = arith::ConstantOp::create(t.b, t.loc, t.b.getZeroAttr(type));
  return emitIterations(
      t, count, none, [&](ThreadBuilder &inner, Value iteration, Value loaded) {
        return shift(
            inner, loaded,
            loadAll(inner, getElements(inner, iteration, kUnrolledElements)));
      });
}

Value WindowAccess::loadParts(ThreadBuilder &t, Value other) {
  if (plan.width == 1)
    return loadElements(t, other);
  return scf::IfOp::create(
             t.b, t.loc, emitGroupCondition(t),
             [&](OpBuilder &b, Location loc) {
               ThreadBuilder inner(b, loc, t.kernel);
               scf::YieldOp::create(b, loc, loadGroups(inner, other));
             },
             [&](OpBuilder &b, Location loc) {
               ThreadBuilder inner(b, loc, t.kernel);
               scf::YieldOp::create(b, loc, loadElements(inner, other));
             })
      .getResult(0);
}

Value WindowAccess::loadChecked(ThreadBuilder &t, Value other) {
  if (!hasWordForm())
    return loadParts(t, other);
  const int64_t alignment = getWordAlignment();
  Value condition = emitCondition(t, alignment);
  if (!condition)
    return loadVectors(t, alignment);
  return scf::IfOp::create(
             t.b, t.loc, condition,
             [&](OpBuilder &b, Location loc) {
               ThreadBuilder inner(b, loc, t.kernel);
               scf::YieldOp::create(b, loc, loadVectors(inner, alignment));
             },
             [&](OpBuilder &b, Location loc) {
               ThreadBuilder inner(b, loc, t.kernel);
               scf::YieldOp::create(b, loc, loadParts(inner, other));
             })
      .getResult(0);
}

Value WindowAccess::emitLoad(Value other) {
  if (!other)
    other = arith::ConstantOp::create(t.b, t.loc,
                                      t.b.getZeroAttr(tile.getElementType()));
  if (plan.neverInside)
    return loadChecked(t, other);
  Value condition = emitCondition(t, plan.alignment);
  if (!condition)
    return loadVectors(t, plan.alignment);
  auto choice = scf::IfOp::create(
      t.b, t.loc, condition,
      [&](OpBuilder &b, Location loc) {
        ThreadBuilder inner(b, loc, t.kernel);
        scf::YieldOp::create(b, loc, loadVectors(inner, plan.alignment));
      },
      [&](OpBuilder &b, Location loc) {
        ThreadBuilder inner(b, loc, t.kernel);
        scf::YieldOp::create(b, loc, loadChecked(inner, other));
      });
  choice->setAttr(kCheckedFormAttr, t.b.getUnitAttr());
  return choice.getResult(0);
}

void WindowAccess::storeVectors(ThreadBuilder &t, Value registers,
                                int64_t alignment) {
  forEachVector(t, /*owned=*/true,
                [&](ThreadBuilder &t, uint64_t reg, Value pointer) {
                  if (plan.width == 1)
                    return store(t, t.extract(registers, reg), pointer);
                  if (isWholeThread())
                    return store(t, registers, pointer, alignment);
                  store(t,
                        vector::ShuffleOp::create(t.b, t.loc, registers,
                                                  registers, getRun(reg)),
                        pointer, alignment);
                });
}

void WindowAccess::storeGroups(ThreadBuilder &t, Value registers) {
  uint64_t skip = getSkippedRegisters(/*owned=*/true);
  for (auto [reg, coordinates] :
       llvm::enumerate(getWindowCoordinates(t, layout, offsets))) {
    if (reg & skip)
      continue;
    Value group = vector::ShuffleOp::create(t.b, t.loc, registers, registers,
                                            getRun(reg));
    emitGuarded(t, view.isInside(t, coordinates),
                [&, &coordinates = coordinates](ThreadBuilder &inner) {
                  store(inner, group,
                        view.getElementPointer(inner, coordinates),
                        plan.alignment);
                });
  }
}

void WindowAccess::storeElements(ThreadBuilder &t, Value registers) {
  uint64_t free = layout.getFreeBits().reg;
  auto storeAll = [&](ThreadBuilder &t, Value registers,
                      ArrayRef<Element> elements) {
    for (auto [reg, each] : llvm::enumerate(elements)) {
      if (reg & free)
        continue;
      Value value = t.extract(registers, reg);
      emitGuarded(t, each.isInside, [&, &each = each](ThreadBuilder &inner) {
        store(inner, value, each.getPointer(inner));
      });
    }
  };
  uint64_t count = layout.getNumRegisters();
  if (count <= kUnrolledElements)
    return storeAll(t, registers, getElements(t));
  emitIterations(t, count, registers,
                 [&](ThreadBuilder &inner, Value iteration, Value rest) {
                   storeAll(inner, rest,
                            getElements(inner, iteration, kUnrolledElements));
                   SmallVector<Value> first = inner.unpack(rest);
                   first.resize(kUnrolledElements);
                   return shift(inner, rest, first);
                 });
}

void WindowAccess::storeParts(ThreadBuilder &t, Value registers) {
  if (plan.width == 1)
    return storeElements(t, registers);
  scf::IfOp::create(
      t.b, t.loc, emitGroupCondition(t),
      [&](OpBuilder &b, Location loc) {
        ThreadBuilder inner(b, loc, t.kernel);
        storeGroups(inner, registers);
        scf::YieldOp::create(b, loc);
      },
      [&](OpBuilder &b, Location loc) {
        ThreadBuilder inner(b, loc, t.kernel);
        storeElements(inner, registers);
        scf::YieldOp::create(b, loc);
      });
}

void WindowAccess::storeChecked(ThreadBuilder &t, Value registers) {
  if (!hasWordForm())
    return storeParts(t, registers);
  const int64_t alignment = getWordAlignment();
  Value condition = emitCondition(t, alignment);
  if (!condition)
    return storeVectors(t, registers, alignment);
  scf::IfOp::create(
      t.b, t.loc, condition,
      [&](OpBuilder &b, Location loc) {
        ThreadBuilder inner(b, loc, t.kernel);
        storeVectors(inner, registers, alignment);
        scf::YieldOp::create(b, loc);
      },
      [&](OpBuilder &b, Location loc) {
        ThreadBuilder inner(b, loc, t.kernel);
        storeParts(inner, registers);
        scf::YieldOp::create(b, loc);
      });
}

void WindowAccess::emitStore(Value registers) {
  Value owner = t.getOwnerPredicate(layout);
  auto fast = [&](ThreadBuilder &t) {
    emitGuarded(t, owner, [&](ThreadBuilder &inner) {
      storeVectors(inner, registers, plan.alignment);
    });
  };
  auto slow = [&](ThreadBuilder &t) {
    emitGuarded(t, owner,
                [&](ThreadBuilder &inner) { storeChecked(inner, registers); });
  };
  if (plan.neverInside)
    return slow(t);
  Value condition = emitCondition(t, plan.alignment);
  if (!condition)
    return fast(t);
  auto choice = scf::IfOp::create(
      t.b, t.loc, condition,
      [&](OpBuilder &b, Location loc) {
        ThreadBuilder inner(b, loc, t.kernel);
        fast(inner);
        scf::YieldOp::create(b, loc);
      },
      [&](OpBuilder &b, Location loc) {
        ThreadBuilder inner(b, loc, t.kernel);
        slow(inner);
        scf::YieldOp::create(b, loc);
      });
  choice->setAttr(kCheckedFormAttr, t.b.getUnitAttr());
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

struct LoadPattern : ThreadPattern<tile::LoadOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(tile::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = getBuilder(rewriter, op);
    const AccessPlan &plan = facts.plans.find(op)->second;
    WindowAccess access(t, adaptor.getSource(), adaptor.getOffsets(),
                        op.getResult().getType(), plan, getFlags(op));
    rewriter.replaceOp(op, access.emitLoad(adaptor.getOther()));
    return success();
  }
};

struct StorePattern : ThreadPattern<tile::StoreOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(tile::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = getBuilder(rewriter, op);
    const AccessPlan &plan = facts.plans.find(op)->second;
    WindowAccess access(t, adaptor.getDestination(), adaptor.getOffsets(),
                        op.getValue().getType(), plan, getFlags(op));
    access.emitStore(adaptor.getValue());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::iris::populateWindowPatterns(const TypeConverter &converter,
                                        const ConversionFacts &facts,
                                        RewritePatternSet &patterns) {
  patterns.add<LoadPattern, StorePattern>(converter, patterns.getContext(),
                                          facts);
}
