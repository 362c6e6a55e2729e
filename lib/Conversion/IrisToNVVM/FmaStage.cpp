// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FmaStage.cpp - Matmuls without tensor cores ------------------------===//
//
// Rows at a distance of eight have the same swizzle, so one address with
// constant offsets addresses all rows of a thread, and two address all its
// columns.
//
//===----------------------------------------------------------------------===//

#include "FmaStage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::iris;

/// Values of k per load.
static constexpr int64_t kRun = 4;
static constexpr int64_t kRunBytes = 16;

namespace {
using LocBuilder = ImplicitLocOpBuilder;

class FmaEmitter {
public:
  FmaEmitter(const WgmmaPlan &plan, Value a, Value bPart, Value lane,
             Value warp)
      : plan(plan), a(a), bPart(bPart), lane(lane), warp(warp) {}

  Value emit(LocBuilder &b, Value accumulator);

private:
  Value i32(LocBuilder &b, int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  }
  /// Address of the `run`-th group of k-values (i32) in row `row` (i32).
  Value getAddress(LocBuilder &b, const WgmmaOperand &operand, Value start,
                   Value row, Value run);
  /// Loads `kRun` values, `rows` rows below `address`.
  SmallVector<Value> load(LocBuilder &b, const WgmmaOperand &operand,
                          Value address, int64_t rows);
  void emitRun(LocBuilder &b, Value run, SmallVectorImpl<Value> &sums);

  const WgmmaPlan &plan;
  Value a, bPart, lane, warp;
};
} // namespace

Value FmaEmitter::getAddress(LocBuilder &b, const WgmmaOperand &operand,
                             Value start, Value row, Value run) {
  Value down = arith::MulIOp::create(b, row, i32(b, operand.rowBytes));
  Value along = arith::MulIOp::create(b, run, i32(b, kRunBytes));
  Value offset = arith::AddIOp::create(b, down, along);
  int64_t mask = operand.rowBytes / 16 - 1;
  Value pattern = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, offset, i32(b, 3)), i32(b, mask << 4));
  Value swizzled = arith::XOrIOp::create(b, offset, pattern);
  Value address = arith::AddIOp::create(b, start, swizzled);
  return LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), 3), address);
}

SmallVector<Value> FmaEmitter::load(LocBuilder &b, const WgmmaOperand &operand,
                                    Value address, int64_t rows) {
  Value from = LLVM::GEPOp::create(
      b, address.getType(), b.getI8Type(), address,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(rows * operand.rowBytes)});
  auto type = VectorType::get({kRun}, plan.aElement);
  Value run = LLVM::LoadOp::create(b, type, from, /*alignment=*/kRunBytes);
  SmallVector<Value> values;
  for (int64_t i = 0; i < kRun; ++i)
    values.push_back(LLVM::ExtractElementOp::create(b, run, i32(b, i)));
  return values;
}

void FmaEmitter::emitRun(LocBuilder &b, Value run,
                         SmallVectorImpl<Value> &sums) {
  // The fragment layout of the tensor cores: a lane holds two columns, four
  // lanes hold a row of eight.
  Value quad = arith::ShRUIOp::create(b, lane, i32(b, 2));
  Value warpInGroup =
      arith::AndIOp::create(b, warp, i32(b, kWarpgroupWarps - 1));
  Value row = arith::AddIOp::create(
      b,
      arith::MulIOp::create(b, warpInGroup, i32(b, kMmaRows / kWarpgroupWarps)),
      quad);
  Value column = arith::MulIOp::create(
      b, arith::AndIOp::create(b, lane, i32(b, 3)), i32(b, 2));
  Value rowAddress = getAddress(b, plan.getFirst(), a, row, run);
  Value columnAddresses[2];
  for (int64_t i = 0; i < 2; ++i)
    columnAddresses[i] =
        getAddress(b, plan.getSecond(), bPart,
                   arith::AddIOp::create(b, column, i32(b, i)), run);

  SmallVector<SmallVector<Value>> rows;
  for (int64_t m = 0; m < plan.blocksM; ++m)
    for (int64_t half = 0; half < 2; ++half)
      rows.push_back(
          load(b, plan.getFirst(), rowAddress, m * kMmaRows + 8 * half));
  int64_t each = plan.getMmaRegisters();
  for (int64_t n = 0; n < plan.blocksN; ++n)
    for (int64_t group = 0; group < plan.mmaN / 8; ++group)
      for (int64_t i = 0; i < 2; ++i) {
        SmallVector<Value> factors = load(
            b, plan.getSecond(), columnAddresses[i], n * plan.mmaN + 8 * group);
        for (auto [number, values] : llvm::enumerate(rows)) {
          int64_t m = number / 2, half = number % 2;
          Value &sum =
              sums[(m * plan.blocksN + n) * each + 4 * group + 2 * half + i];
          for (int64_t k = 0; k < kRun; ++k)
            sum = LLVM::FMAOp::create(b, values[k], factors[k], sum);
        }
      }
}

Value FmaEmitter::emit(LocBuilder &b, Value accumulator) {
  Location loc = b.getLoc();
  auto type = cast<LLVM::LLVMStructType>(accumulator.getType());
  int64_t count = type.getBody().size();
  auto loop = scf::ForOp::create(
      b, i32(b, 0), i32(b, plan.stageK / kRun), i32(b, 1), accumulator,
      [&](OpBuilder &inner, Location, Value run, ValueRange carried) {
        LocBuilder b(loc, inner);
        SmallVector<Value> sums;
        for (int64_t i = 0; i < count; ++i)
          sums.push_back(LLVM::ExtractValueOp::create(b, carried[0], i));
        emitRun(b, run, sums);
        Value result = LLVM::UndefOp::create(b, type);
        for (int64_t i = 0; i < count; ++i)
          result = LLVM::InsertValueOp::create(b, result, sums[i], i);
        scf::YieldOp::create(b, result);
      });
  return loop.getResult(0);
}

Value mlir::iris::emitFmaStage(ImplicitLocOpBuilder &b, const WgmmaPlan &plan,
                               Value a, Value bPart, Value lane, Value warp,
                               Value accumulator) {
  return FmaEmitter(plan, a, bPart, lane, warp).emit(b, accumulator);
}
