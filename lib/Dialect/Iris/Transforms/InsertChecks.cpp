// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InsertChecks.cpp - Run-time checks in debug mode -------------------===//
//
// Inserts, before every op with a rank or with indices of a buffer element,
// checks of the op's preconditions. Windows need no check: elements outside of
// the buffer read as 0 and are not written.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "iris/Dialect/Iris/IR/IrisChecks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-insert-checks"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISINSERTCHECKSPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// Elements of a barrier's state for each program and rank.
static constexpr int64_t kBarrierLine = 32;

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// Describes the origin of a buffer: "argument 2", "a view of argument 2".
static std::string describeBuffer(Value buffer) {
  StringRef prefix;
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto translate = dyn_cast<TranslateOp>(op)) {
      buffer = translate.getSource();
    } else if (isa<memref::CastOp, memref::AssumeAlignmentOp,
                   memref::MemorySpaceCastOp>(op)) {
      buffer = op->getOperand(0);
    } else if (isa<memref::SubViewOp, memref::CollapseShapeOp,
                   memref::ExpandShapeOp, memref::ReinterpretCastOp,
                   memref::ExtractStridedMetadataOp, memref::TransposeOp,
                   memref::ViewOp>(op)) {
      prefix = "a view of ";
      buffer = op->getOperand(0);
    } else {
      return (prefix + (isa<memref::AllocaOp>(op) ? "the program's own memory"
                                                  : "a buffer"))
          .str();
    }
  }
  auto argument = cast<BlockArgument>(buffer);
  if (!isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return (prefix + "a buffer").str();
  return (prefix + "argument " + Twine(argument.getArgNumber())).str();
}

//===----------------------------------------------------------------------===//
// Checks of one op
//===----------------------------------------------------------------------===//

namespace {
/// Inserts the checks of one kernel.
class Inserter {
public:
  explicit Inserter(Value ctx) : ctx(ctx) {}

  void insert(Operation *op);

private:
  using Builder = ImplicitLocOpBuilder;

  /// Checks the indices of one element; with `mask`, only if that is true.
  void checkElement(Builder &b, Value buffer, ValueRange indices,
                    Value mask = {});
  /// Checks the indices of the first of `length` elements of the last
  /// dimension.
  void checkVector(Builder &b, Value buffer, ValueRange indices,
                   VectorType type);
  void checkRank(Builder &b, Value rank);
  /// Checks an index of dimension `dim`; `what` is the start of the message.
  void checkIndex(Builder &b, Value buffer, int64_t dim, Value index,
                  const Twine &what, Value mask = {});
  /// Checks that dimension `dim` has at least `count` elements.
  void checkExtent(Builder &b, Value buffer, int64_t dim, Value count);
  void checkState(Builder &b, BarrierOp op);
  void checkPacket(Builder &b, Value buffer, Value offset,
                   RankedTensorType tile);
  void checkView(Builder &b, memref::SubViewOp op);
  template <typename OpT>
  void checkAtomic(Builder &b, OpT op, Value mask);

  static Value constant(Builder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  static Value extentOf(Builder &b, Value buffer, int64_t dim) {
    return b.createOrFold<memref::DimOp>(buffer, dim);
  }
  /// 0 <= value < bound.
  void requireBelow(Builder &b, Value value, Value bound, const Twine &what) {
    require(b, value, bound, /*atLeast=*/false, what.str());
  }
  /// value >= bound.
  void requireAtLeast(Builder &b, Value value, Value bound, const Twine &what) {
    require(b, value, bound, /*atLeast=*/true, what.str());
  }
  void require(Builder &b, Value value, Value bound, bool atLeast,
               const std::string &what) {
    LDBG() << opName << " at " << b.getLoc() << ": check that it does not \""
           << what << "\"";
    CheckOp::create(b, ctx, value, bound, atLeast, opName, what);
  }

  Value ctx;
  /// The name of the checked op.
  StringRef opName;
};
} // namespace

void Inserter::checkRank(Builder &b, Value rank) {
  Value ranks = NumRanksOp::create(b, b.getIndexType(), ctx);
  requireBelow(
      b, rank, ranks,
      "names rank $value; expected 0 to $last, the ranks of the world");
}

void Inserter::checkIndex(Builder &b, Value buffer, int64_t dim, Value index,
                          const Twine &what, Value mask) {
  Value extent = extentOf(b, buffer, dim);
  if (mask) {
    index = arith::SelectOp::create(b, mask, index, constant(b, 0));
    extent = arith::SelectOp::create(b, mask, extent, constant(b, 1));
  }
  requireBelow(b, index, extent,
               what + " $value of dimension " + Twine(dim) + " of " +
                   describeBuffer(buffer) + "; expected 0 to $last");
}

void Inserter::checkExtent(Builder &b, Value buffer, int64_t dim, Value count) {
  requireAtLeast(b, extentOf(b, buffer, dim), count,
                 "needs $bound elements in dimension " + Twine(dim) + " of " +
                     describeBuffer(buffer) + ", which has $value");
}

void Inserter::checkElement(Builder &b, Value buffer, ValueRange indices,
                            Value mask) {
  for (auto [dim, index] : llvm::enumerate(indices))
    checkIndex(b, buffer, dim, index, "accesses index", mask);
}

void Inserter::checkVector(Builder &b, Value buffer, ValueRange indices,
                           VectorType type) {
  checkElement(b, buffer, indices);
  Value end = arith::AddIOp::create(b, indices.back(),
                                    constant(b, type.getNumElements()));
  checkExtent(b, buffer, indices.size() - 1, end);
}

void Inserter::checkState(Builder &b, BarrierOp op) {
  Value count = constant(b, kBarrierLine);
  auto times = [&](Value factor) {
    count = arith::MulIOp::create(b, count, factor);
  };
  for (auto dim : {gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z})
    times(gpu::GridDimOp::create(b, dim));
  if (op.getGroup())
    times(GroupSizeOp::create(b, b.getIndexType(), ctx));
  else
    times(NumRanksOp::create(b, b.getIndexType(), ctx));
  requireAtLeast(
      b, extentOf(b, op.getState(), 0), count,
      "needs $bound elements of state, 32 for each program and rank; " +
          Twine(describeBuffer(op.getState())) + " has $value");
}

void Inserter::checkPacket(Builder &b, Value buffer, Value offset,
                           RankedTensorType tile) {
  checkIndex(b, buffer, 0, offset, "accesses index");
  // A word and its flag per 4 bytes of data.
  int64_t words =
      tile.getNumElements() * tile.getElementTypeBitWidth() / 8 / 4 * 2;
  checkExtent(b, buffer, 0,
              arith::AddIOp::create(b, offset, constant(b, words)));
}

void Inserter::checkView(Builder &b, memref::SubViewOp op) {
  auto valueOf = [&](OpFoldResult folded) {
    if (auto value = dyn_cast<Value>(folded))
      return value;
    return constant(b, cast<IntegerAttr>(cast<Attribute>(folded)).getInt());
  };
  Value zero = constant(b, 0), one = constant(b, 1);
  for (auto [dim, offset, size, stride] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    Value count = valueOf(size), first = valueOf(offset);
    requireAtLeast(b, count, zero,
                   "has size $value in dimension " + Twine(dim) +
                       "; expected at least $bound");
    // An empty view may begin anywhere.
    Value some =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, count, zero);
    checkIndex(b, op.getSource(), dim, first, "begins at index", some);
    Value steps = arith::SubIOp::create(b, count, one);
    Value last = arith::AddIOp::create(
        b, first, arith::MulIOp::create(b, steps, valueOf(stride)));
    checkIndex(b, op.getSource(), dim, last, "ends with index", some);
  }
}

/// A tile's elements outside of the buffer are not accessed.
template <typename OpT>
void Inserter::checkAtomic(Builder &b, OpT op, Value mask) {
  if (op.getRank())
    checkRank(b, op.getRank());
  if (!isa<RankedTensorType>(op.getValue().getType()))
    checkElement(b, op.getBuffer(), op.getOffsets(), mask);
}

void Inserter::insert(Operation *op) {
  Builder b(op->getLoc(), op);
  opName = op->getName().getStringRef();
  llvm::TypeSwitch<Operation *>(op)
      .Case<TranslateOp, LoadOp, StoreOp, GatherOp, ScatterOp, GetOp, PutOp>(
          [&](auto access) { checkRank(b, access.getRank()); })
      .Case([&](CopyOp copy) {
        checkRank(b, copy.getFromRank());
        checkRank(b, copy.getToRank());
      })
      .Case(
          [&](AtomicRMWOp atomic) { checkAtomic(b, atomic, atomic.getMask()); })
      .Case([&](AtomicCASOp atomic) { checkAtomic(b, atomic, Value()); })
      .Case<SignalOp, WaitOp>([&](auto flag) {
        if (flag.getRank())
          checkRank(b, flag.getRank());
        checkElement(b, flag.getBuffer(), flag.getOffsets());
      })
      .Case([&](GroupMemberOp member) {
        Value size = GroupSizeOp::create(b, b.getIndexType(), ctx);
        requireBelow(
            b, member.getMember(), size,
            "names member $value; expected 0 to $last, the members of the "
            "group");
      })
      .Case([&](BarrierOp barrier) { checkState(b, barrier); })
      .Case([&](PacketStoreOp packet) {
        if (packet.getRank())
          checkRank(b, packet.getRank());
        checkPacket(b, packet.getBuffer(), packet.getOffset(),
                    packet.getValue().getType());
      })
      .Case([&](PacketLoadOp packet) {
        checkPacket(b, packet.getBuffer(), packet.getOffset(),
                    packet.getType());
      })
      .Case<memref::LoadOp, memref::StoreOp>([&](auto access) {
        checkElement(b, access.getMemRef(), access.getIndices());
      })
      .Case<vector::LoadOp, vector::StoreOp>([&](auto access) {
        checkVector(b, access.getBase(), access.getIndices(),
                    access.getVectorType());
      })
      .Case([&](memref::SubViewOp view) { checkView(b, view); })
      .Case([&](memref::ViewOp view) {
        MemRefType type = view.getType();
        Value bytes = constant(b, getElementBytes(type.getElementType()));
        auto sizes = view.getSizes().begin();
        for (int64_t size : type.getShape())
          bytes = arith::MulIOp::create(
              b, bytes,
              ShapedType::isDynamic(size) ? *sizes++ : constant(b, size));
        bytes = arith::AddIOp::create(b, bytes, view.getByteShift());
        checkExtent(b, view.getSource(), 0, bytes);
      })
      .Case([&](memref::CastOp view) {
        auto from = cast<MemRefType>(view.getSource().getType());
        auto to = cast<MemRefType>(view.getType());
        for (int64_t dim = 0; dim < to.getRank(); ++dim)
          if (from.isDynamicDim(dim) && !to.isDynamicDim(dim))
            checkExtent(b, view.getSource(), dim,
                        constant(b, to.getDimSize(dim)));
      });
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct InsertChecksPass
    : iris::impl::IrisInsertChecksPassBase<InsertChecksPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>()) {
      const auto *ctx =
          llvm::find_if(kernel.getArguments(), [](Value argument) {
            return isa<CtxType>(argument.getType());
          });
      if (ctx == kernel.getArguments().end()) {
        kernel.emitWarning("takes no !iris.ctx to report to; its accesses are "
                           "not checked");
        continue;
      }
      SmallVector<Operation *> ops;
      kernel.walk([&](Operation *op) { ops.push_back(op); });
      for (Operation *op : ops)
        Inserter(*ctx).insert(op);
      kernel->setAttr(kDebugAttr, UnitAttr::get(&getContext()));
    }
  }
};
} // namespace
