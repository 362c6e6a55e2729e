// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions, step by step (iris/Conversion/ReducePlan.h): steps of registers
// are arithmetic of a thread, those of lanes are butterfly shuffles, and those
// of warps go through scratch memory.
//
// Where a register's step comes after lanes' or warps', as in a row that is
// longer than what all threads load at once, every step before it would be done
// for both values of the register. Instead, at a lane's step each lane of a
// pair takes over one of the values: it sends the other one and adds what it
// receives. From then on, the bit of the lane number stands for that of the
// register number, and the step of the register becomes one of the lane.
#include "Patterns.h"

#include "iris/Analysis/TileLayout.h"
#include "iris/Conversion/ReducePlan.h"
#include "iris/Dialect/Tile/Utils/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::iris;

/// Enumerates all subsets of `bits`, starting with the empty set.
static SmallVector<uint64_t> getSettings(uint64_t bits) {
  SmallVector<uint64_t> result;
  uint64_t setting = 0;
  do {
    result.push_back(setting);
    setting = (setting - bits) & bits;
  } while (setting != 0);
  return result;
}

uint64_t mlir::iris::getScratchBytes(Operation *op, unsigned numWarps) {
  if (needsExchange(op)) {
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    return getExchangeBytes(*getLinearLayout(type), type.getElementType());
  }
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return getReductionBytes(reduce);
  if (isa<AtomicRMWOp, AtomicCASOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || op->getResult(0).use_empty())
      return 0;
    LinearLayout layout = *getLinearLayout(type);
    if (layout.getFreeBits() == LayoutIndex())
      return 0;
    return getExchangeBytes(layout, type.getElementType());
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Returns the value of the lane whose index differs in the bits of `mask`.
/// Shuffles move 32 bits on every target.
static Value shuffleXor(ThreadBuilder &t, Value value, uint64_t mask) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type)) {
    Value bits =
        arith::BitcastOp::create(t.b, t.loc, t.b.getIntegerType(width), value);
    return arith::BitcastOp::create(t.b, t.loc, type,
                                    shuffleXor(t, bits, mask));
  }
  Type word = t.b.getI32Type();
  if (width == 64) {
    Value shift = t.i64(32);
    Value low = arith::TruncIOp::create(t.b, t.loc, word, value);
    Value high = arith::TruncIOp::create(
        t.b, t.loc, word, arith::ShRUIOp::create(t.b, t.loc, value, shift));
    auto widen = [&](Value half) {
      return arith::ExtUIOp::create(t.b, t.loc, type,
                                    shuffleXor(t, half, mask));
    };
    Value top = arith::ShLIOp::create(t.b, t.loc, widen(high), shift);
    return arith::OrIOp::create(t.b, t.loc, top, widen(low));
  }
  if (width < 32) {
    Value wide = arith::ExtUIOp::create(t.b, t.loc, word, value);
    return arith::TruncIOp::create(t.b, t.loc, type, shuffleXor(t, wide, mask));
  }
  return gpu::ShuffleOp::create(t.b, t.loc, value, t.i32(mask),
                                t.i32(t.kernel.warpSize), gpu::ShuffleMode::XOR)
      .getShuffleResult();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {

/// Bits of a register number, and what each adds to another number.
using BitMap = SmallVector<std::pair<uint64_t, uint64_t>>;

/// Where partial results are in memory while warps exchange them: the number of
/// one has its index in the slice in the lower bits, and above them a bit for
/// each step to come. The slice's registers are those of one round.
struct WarpExchange {
  /// Partial results of the slice in a round.
  uint64_t count;
  /// What the bits of the lane and the warp add to the number of a partial
  /// result that the thread writes, and to that of one that it reads.
  SmallVector<uint64_t> lanes, writingWarps, readingWarps;
  /// What register bits of the result add, and those with a step to come.
  BitMap kept, pending;
  /// Register bits whose settings are rounds.
  uint64_t rounds = 0;
  /// Of register 0, the numbers that a thread writes and reads; if it writes.
  Value writeIndex, readIndex, writer;
};

/// The partial results of a thread while the steps are done.
class ThreadReduction {
public:
  ThreadReduction(ThreadBuilder &t, tile::ReduceOp op, ReducePlan plan)
      : t(t), op(op), plan(std::move(plan)), steps(this->plan.steps),
        free(this->plan.layout.getFreeBits()) {}

  /// Returns the results for the registers of the slice.
  SmallVector<Value> run(Value source);

private:
  void load(Value source);
  void combineRegisters(unsigned bit);
  void combineLanes(unsigned bit);
  void divideRegister(ReduceStep &lane, ReduceStep &later);
  ReduceStep *findDivided(ReduceStep &lane);

  void moveWarpsToRegisters(size_t next);
  WarpExchange beginExchange(size_t next) const;
  uint64_t addSteps(WarpExchange &exchange, size_t next);
  void exchangeRound(const WarpExchange &exchange, ArrayRef<uint64_t> before,
                     ArrayRef<uint64_t> after);
  Value getWriter() const;

  Value combine(Value lhs, Value rhs) {
    return tile::combinePartials(t.b, t.loc, op.getKind(), lhs, rhs);
  }

  ThreadBuilder &t;
  tile::ReduceOp op;
  ReducePlan plan;
  SmallVector<ReduceStep> &steps;
  LayoutIndex free;
  /// Register bits of the result.
  uint64_t kept = 0;
  /// `kept`, and those with a step to come. Values are numbered by them; the
  /// other bits of a register number are 0.
  uint64_t live = 0;
  SmallVector<Value> values;
  /// Bits of the lane and the warp on which the partial results do not depend
  /// any more.
  uint64_t doneLanes = 0, movedWarps = 0;
};

} // namespace

SmallVector<Value> ThreadReduction::run(Value source) {
  load(source);
  for (size_t next = 0; next < steps.size(); ++next) {
    if (steps[next].input == LayoutDim::Warp)
      moveWarpsToRegisters(next);
    ReduceStep &step = steps[next];
    if (step.input == LayoutDim::Register)
      combineRegisters(step.bit);
    else if (ReduceStep *later = findDivided(step))
      divideRegister(step, *later);
    else
      combineLanes(step.bit);
  }
  return llvm::map_to_vector(getSettings(kept),
                             [&](uint64_t reg) { return values[reg]; });
}

void ThreadReduction::load(Value source) {
  uint64_t mask = plan.layout.getDimMask(op.getDim());
  for (auto [i, basis] :
       llvm::enumerate(plan.layout.getBases(LayoutDim::Register)))
    if (basis & ~mask)
      kept |= uint64_t(1) << i;
  live = kept;
  for (const ReduceStep &step : steps)
    if (step.input == LayoutDim::Register)
      live |= uint64_t(1) << step.bit;
  values.resize(plan.layout.getNumRegisters());
  Type partial = tile::getAccumulatorType(op);
  for (uint64_t reg : getSettings(live))
    values[reg] =
        tile::convertPartial(t.b, t.loc, t.extract(source, reg), partial);
}

void ThreadReduction::combineRegisters(unsigned bit) {
  uint64_t upper = uint64_t(1) << bit;
  live &= ~upper;
  for (uint64_t reg : getSettings(live))
    values[reg] = combine(values[reg], values[reg | upper]);
}

void ThreadReduction::combineLanes(unsigned bit) {
  uint64_t mask = uint64_t(1) << bit;
  doneLanes |= mask;
  for (uint64_t reg : getSettings(live))
    values[reg] = combine(values[reg], shuffleXor(t, values[reg], mask));
}

/// Returns the last step of a register behind step `lane`, if dividing its
/// values among lanes saves work: one more shuffle at that step against half of
/// the work at every step of lanes and warps before it, of which a single one
/// is no gain.
ReduceStep *ThreadReduction::findDivided(ReduceStep &lane) {
  ReduceStep *later = nullptr;
  unsigned between = 0, saved = 0;
  for (ReduceStep *step = &lane; step != steps.end(); ++step) {
    if (step->input == LayoutDim::Register) {
      later = step;
      saved = between;
    } else {
      ++between;
    }
  }
  return saved > 1 ? later : nullptr;
}

void ThreadReduction::divideRegister(ReduceStep &lane, ReduceStep &later) {
  uint64_t mask = uint64_t(1) << lane.bit, upper = uint64_t(1) << later.bit;
  Value bit = arith::AndIOp::create(t.b, t.loc, t.kernel.lane, t.i32(mask));
  Value isUpper = arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::ne,
                                        bit, t.i32(0));
  auto select = [&](Value ifUpper, Value ifLower) {
    return arith::SelectOp::create(t.b, t.loc, isUpper, ifUpper, ifLower);
  };
  live &= ~upper;
  for (uint64_t reg : getSettings(live)) {
    Value low = values[reg], high = values[reg | upper];
    Value own = select(high, low);
    values[reg] = combine(own, shuffleXor(t, select(low, high), mask));
  }
  later.input = LayoutDim::Lane;
  later.bit = lane.bit;
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// True in one of the threads that hold the same partial results; null if it is
/// the only one.
Value ThreadReduction::getWriter() const {
  Value writer;
  for (auto [input, bits] :
       {std::pair<Value, uint64_t>(t.kernel.lane, free.lane | doneLanes),
        std::pair<Value, uint64_t>(t.kernel.warp, free.warp | movedWarps)}) {
    if (!bits)
      continue;
    Value rest = arith::AndIOp::create(t.b, t.loc, input, t.i32(bits));
    writer = emitAnd(t, writer,
                     arith::CmpIOp::create(t.b, t.loc, arith::CmpIPredicate::eq,
                                           rest, t.i32(0)));
  }
  return writer;
}

/// Removes the bits of `omitted` from a number.
static uint64_t omitBits(uint64_t number, uint64_t omitted) {
  uint64_t result = 0;
  unsigned to = 0;
  for (unsigned bit = 0; number >> bit; ++bit)
    if (!(omitted >> bit & 1))
      result |= (number >> bit & 1) << to++;
  return result;
}

static uint64_t apply(const BitMap &map, uint64_t reg) {
  uint64_t result = 0;
  for (auto [bit, value] : map)
    if (reg & bit)
      result ^= value;
  return result;
}

/// The exchange before step `next`, without the steps to come.
WarpExchange ThreadReduction::beginExchange(size_t next) const {
  uint64_t width = values.front().getType().getIntOrFloatBitWidth() / 8;
  uint64_t rounds = getRoundBits(plan, plan.getNumPartials(next), width);
  ArrayRef<uint64_t> registers = plan.slice.getBases(LayoutDim::Register);
  uint64_t omitted = 0;
  for (auto [i, basis] : llvm::enumerate(registers))
    if (rounds >> i & 1)
      omitted |= basis;
  auto omit = [&](ArrayRef<uint64_t> bases) {
    return llvm::map_to_vector(
        bases, [&](uint64_t basis) { return omitBits(basis, omitted); });
  };
  WarpExchange exchange;
  exchange.count = plan.slice.getNumElements() >> llvm::popcount(omitted);
  exchange.lanes = omit(plan.slice.getBases(LayoutDim::Lane));
  exchange.writingWarps = omit(plan.slice.getBases(LayoutDim::Warp));
  exchange.readingWarps = exchange.writingWarps;
  uint64_t rest = kept;
  for (auto [i, basis] : llvm::enumerate(omit(registers))) {
    uint64_t bit = rest & -rest;
    rest &= ~bit;
    exchange.kept.push_back({bit, basis});
    if (rounds >> i & 1)
      exchange.rounds |= bit;
  }
  return exchange;
}

/// Adds the steps from `next` on. Those of warps become steps of registers, up
/// to the next step of a lane. Returns the new bits of register numbers.
uint64_t ThreadReduction::addSteps(WarpExchange &exchange, size_t next) {
  bool isBeforeLane = true;
  uint64_t newBits = 0, stepBit = exchange.count;
  for (ReduceStep &step : MutableArrayRef(steps).drop_front(next)) {
    isBeforeLane &= step.input != LayoutDim::Lane;
    if (step.input == LayoutDim::Lane) {
      exchange.lanes[step.bit] |= stepBit;
    } else if (step.input == LayoutDim::Warp) {
      exchange.writingWarps[step.bit] |= stepBit;
      if (!isBeforeLane)
        exchange.readingWarps[step.bit] |= stepBit;
    }
    if (step.input == LayoutDim::Warp && isBeforeLane) {
      movedWarps |= uint64_t(1) << step.bit;
      step.input = LayoutDim::Register;
      step.bit = llvm::Log2_64(values.size());
      newBits |= uint64_t(1) << step.bit;
      values.resize(2 * values.size());
    }
    if (step.input == LayoutDim::Register)
      exchange.pending.push_back({uint64_t(1) << step.bit, stepBit});
    stepBit *= 2;
  }
  return newBits;
}

/// Every thread gets the partial results of the warps that differ in the bits
/// of the next steps, up to the next step of a lane.
void ThreadReduction::moveWarpsToRegisters(size_t next) {
  WarpExchange exchange = beginExchange(next);
  exchange.writer = getWriter();
  uint64_t newBits = addSteps(exchange, next);
  exchange.writeIndex = t.applyBases(exchange.lanes, exchange.writingWarps);
  exchange.readIndex = t.applyBases(exchange.lanes, exchange.readingWarps);
  for (uint64_t round : getSettings(exchange.rounds)) {
    auto inRound = [&](uint64_t bits) {
      return llvm::map_to_vector(getSettings(bits & ~exchange.rounds),
                                 [&](uint64_t reg) { return reg | round; });
    };
    exchangeRound(exchange, inRound(live), inRound(live | newBits));
  }
  live |= newBits;
}

/// Writes the registers `before` the exchange, and reads those after it.
void ThreadReduction::exchangeRound(const WarpExchange &exchange,
                                    ArrayRef<uint64_t> before,
                                    ArrayRef<uint64_t> after) {
  Type type = values[before.front()].getType();
  auto pointer = [&](ThreadBuilder &inner, Value thread, uint64_t reg) {
    Value index = inner.b.createOrFold<arith::XOrIOp>(
        inner.loc, thread, inner.i32(apply(exchange.kept, reg)));
    Value stepBits = inner.i32(apply(exchange.pending, reg));
    return inner.getScratchPointer(type, inner.add(index, stepBits));
  };
  t.barrier();
  emitGuarded(t, exchange.writer, [&](ThreadBuilder &inner) {
    for (uint64_t reg : before)
      LLVM::StoreOp::create(inner.b, inner.loc, values[reg],
                            pointer(inner, exchange.writeIndex, reg));
  });
  t.barrier();
  for (uint64_t reg : after)
    values[reg] = LLVM::LoadOp::create(t.b, t.loc, type,
                                       pointer(t, exchange.readIndex, reg));
}

//===----------------------------------------------------------------------===//
// Pattern
//===----------------------------------------------------------------------===//

/// The elements of a thread in the plan's layout.
static Value convertSource(ThreadBuilder &t, tile::ReduceOp op, Value source,
                           const ReducePlan &plan) {
  if (!plan.conversion)
    return source;
  if (plan.needsExchange())
    return t.exchange(source, *getLinearLayout(op.getSource().getType()),
                      plan.layout, [](uint64_t index) { return index; });
  SmallVector<Value> elements;
  for (uint64_t reg = 0; reg < plan.layout.getNumRegisters(); ++reg)
    elements.push_back(
        t.extract(source, plan.conversion->apply({reg, 0, 0}).reg));
  return t.pack(elements);
}

namespace {

struct ReducePattern : ThreadPattern<tile::ReduceOp> {
  using ThreadPattern::ThreadPattern;

  LogicalResult
  matchAndRewrite(tile::ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ThreadBuilder t = getBuilder(rewriter, op);
    std::optional<ReducePlan> plan = planReduction(op);
    if (!plan)
      return op.emitOpError("layout of the source has a basis that changes "
                            "dimension ")
             << op.getDim() << " and another one; expected separate bases";
    Value source = convertSource(t, op, adaptor.getSource(), *plan);
    SmallVector<Value> results = ThreadReduction(t, op, *plan).run(source);

    Type wanted = getElementTypeOrSelf(op.getResult().getType());
    for (Value &value : results)
      value = tile::convertPartial(rewriter, t.loc, value, wanted);
    bool isScalar = !isa<RankedTensorType>(op.getResult().getType());
    rewriter.replaceOp(op, isScalar ? results.front() : t.pack(results));
    return success();
  }
};

} // namespace

void mlir::iris::populateReducePatterns(const TypeConverter &converter,
                                        const ConversionFacts &facts,
                                        RewritePatternSet &patterns) {
  patterns.add<ReducePattern>(converter, patterns.getContext(), facts);
}
