// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulTarget.cpp - The k-blocks of a matmul ------------------------===//

#include "iris/Conversion/MatmulTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::iris;

MatmulTarget::~MatmulTarget() = default;

LogicalResult MatmulTarget::lowerKernel(FunctionOpInterface function,
                                        const KernelInfo &, uint64_t) const {
  return function.emitOpError("is rewritten as a whole; expected a target that "
                              "does so");
}

void mlir::iris::remarkMissed(tile::MatmulOp op, StringRef why) {
  using namespace mlir::remark;
  missed(op.getLoc(), RemarkOpts::name("matmul").category("tile-lower-matmul"))
      << reason("{0}", why);
}

bool mlir::iris::yieldsOperandTiles(tile::MatmulOp op) {
  tile::YieldOp yield = op.getYield();
  return yield && yield.getA();
}

KStepStarts mlir::iris::emitBlockRegion(OpBuilder &builder, tile::MatmulOp op,
                                        Value block) {
  IRMapping mapping;
  if (tile::YieldOp yield = op.getYield()) {
    Block &body = op.getBody().front();
    mapping.map(body.getArgument(0), block);
    for (Operation &inner : body.without_terminator())
      builder.clone(inner, mapping);
  }
  auto locate = [&](Value buffer, ValueRange offsets) {
    OperandTileStart result;
    result.buffer = mapping.lookupOrDefault(buffer);
    for (Value offset : offsets)
      result.offsets.push_back(mapping.lookupOrDefault(offset));
    return result;
  };
  // Blocks are contiguous along k.
  auto advance = [&](OperandTileStart &operandTile, unsigned dim) {
    Value size = arith::ConstantIndexOp::create(
        builder, op.getLoc(), static_cast<int64_t>(op.getBlock()));
    Value first = builder.createOrFold<arith::MulIOp>(op.getLoc(), block, size);
    operandTile.offsets[dim] = builder.createOrFold<arith::AddIOp>(
        op.getLoc(), operandTile.offsets[dim], first);
  };

  tile::YieldOp yield = op.getYield();
  KStepStarts starts;
  if (yield && yield.getA()) {
    starts.a = locate(yield.getA(), yield.getAOffsets());
  } else {
    starts.a = locate(op.getA(), op.getAOffsets());
    advance(starts.a, 1);
  }
  if (yield && yield.getB()) {
    starts.b = locate(yield.getB(), yield.getBOffsets());
  } else {
    starts.b = locate(op.getB(), op.getBOffsets());
    advance(starts.b, 0);
  }
  return starts;
}
