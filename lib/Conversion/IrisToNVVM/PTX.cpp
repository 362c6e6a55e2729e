// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PTX.cpp - Tensor core and TMA instructions of sm_90 ----------------===//

#include "PTX.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::iris;

Value mlir::iris::emitPTX(ImplicitLocOpBuilder &b, Type result,
                          ValueRange operands, StringRef text,
                          StringRef constraints) {
  auto op = LLVM::InlineAsmOp::create(
      b, result ? TypeRange(result) : TypeRange(), operands, text, constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
      ArrayAttr());
  return result ? op.getRes() : Value();
}

/// Inline PTX returns predicates as i32.
static Value emitIsNot0(ImplicitLocOpBuilder &b, Value value) {
  Value zero = arith::ConstantIntOp::create(b, 0, 32);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero);
}

//===----------------------------------------------------------------------===//
// Barriers in shared memory
//===----------------------------------------------------------------------===//

void mlir::iris::emitBarrierInit(ImplicitLocOpBuilder &b, Value barrier,
                                 Value count) {
  emitPTX(b, Type(), {barrier, count},
          "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}");
}

void mlir::iris::emitBarrierInitFence(ImplicitLocOpBuilder &b) {
  emitPTX(b, Type(), {}, "fence.mbarrier_init.release.cluster;", "~{memory}");
}

Value mlir::iris::emitBarrierTry(ImplicitLocOpBuilder &b, Value barrier,
                                 Value parity) {
  Value done =
      emitPTX(b, b.getI32Type(), {barrier, parity},
              "{ .reg .pred done; "
              "mbarrier.try_wait.parity.shared::cta.b64 done, [$1], $2; "
              "selp.b32 $0, 1, 0, done; }",
              "=r,r,r,~{memory}");
  return emitIsNot0(b, done);
}

void mlir::iris::emitBarrierArrive(ImplicitLocOpBuilder &b, Value barrier) {
  emitPTX(b, Type(), barrier, "mbarrier.arrive.shared::cta.b64 _, [$0];",
          "r,~{memory}");
}

void mlir::iris::emitBarrierArriveIf(ImplicitLocOpBuilder &b, Value barrier,
                                     Value condition) {
  Value flag = arith::ExtUIOp::create(b, b.getI32Type(), condition);
  emitPTX(b, Type(), {barrier, flag},
          "{ .reg .pred arrives; setp.ne.b32 arrives, $1, 0; "
          "@arrives mbarrier.arrive.shared::cta.b64 _, [$0]; }",
          "r,r,~{memory}");
}

void mlir::iris::emitBarrierArriveExpect(ImplicitLocOpBuilder &b, Value barrier,
                                         Value bytes) {
  emitPTX(b, Type(), {barrier, bytes},
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;",
          "r,r,~{memory}");
}

//===----------------------------------------------------------------------===//
// Copies and order
//===----------------------------------------------------------------------===//

void mlir::iris::emitTensorCopy(ImplicitLocOpBuilder &b, Value to, Value map,
                                Value barrier, ValueRange coordinates) {
  SmallVector<Value> operands = {to, map, barrier};
  llvm::append_range(operands, coordinates);
  emitPTX(b, Type(), operands,
          "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::"
          "complete_tx::bytes [$0], [$1, {$3, $4, $5}], [$2];",
          "r,l,r,r,r,r,~{memory}");
}

void mlir::iris::emitGlobalProxyFence(ImplicitLocOpBuilder &b) {
  emitPTX(b, Type(), {}, "fence.proxy.async.global;", "~{memory}");
}

void mlir::iris::emitSharedProxyFence(ImplicitLocOpBuilder &b) {
  emitPTX(b, Type(), {}, "fence.proxy.async.shared::cta;", "~{memory}");
}

void mlir::iris::emitWaveBarrier(ImplicitLocOpBuilder &b) {
  emitPTX(b, Type(), {}, "bar.warp.sync -1;", "~{memory}");
}

Value mlir::iris::emitInAllLanes(ImplicitLocOpBuilder &b, Value value) {
  Value flag = arith::ExtUIOp::create(b, b.getI32Type(), value);
  Value all = emitPTX(b, b.getI32Type(), flag,
                      "{ .reg .pred each, all; setp.ne.b32 each, $1, 0; "
                      "vote.sync.all.pred all, each, -1; "
                      "selp.b32 $0, 1, 0, all; }",
                      "=r,r");
  return emitIsNot0(b, all);
}

Value mlir::iris::emitMaxOfLanes(ImplicitLocOpBuilder &b, Value value) {
  return emitPTX(b, b.getI32Type(), value, "redux.sync.max.u32 $0, $1, -1;",
                 "=r,r");
}

Value mlir::iris::emitFromFirstLane(ImplicitLocOpBuilder &b, Value value) {
  return emitPTX(b, b.getI32Type(), value,
                 "shfl.sync.idx.b32 $0, $1, 0, 31, -1;", "=r,r");
}

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

/// Byte fields are in units of 16 bytes. From bit 16: the leading dimension
/// offset, between chunks of an mn-major operand; from bit 32: the stride
/// offset, between groups of eight rows of shared memory; from bit 62: the
/// swizzle.
int64_t mlir::iris::getDescriptorBits(const WgmmaOperand &operand,
                                      int64_t stageK) {
  auto units = [](int64_t bytes) { return static_cast<uint64_t>(bytes >> 4); };
  uint64_t swizzle = operand.rowBytes == 128  ? 1
                     : operand.rowBytes == 64 ? 2
                                              : 3;
  uint64_t chunkDistance =
      operand.kMajor ? 1 : units(stageK * operand.rowBytes);
  uint64_t groupDistance = units(8 * operand.rowBytes);
  return static_cast<int64_t>(chunkDistance << 16 | groupDistance << 32 |
                              swizzle << 62);
}

/// Offset between the k-steps, and between the row blocks, of an operand that
/// consecutive instructions read, in units of 16 bytes.
static int64_t getStepUnits(const WgmmaOperand &operand, int64_t stepK) {
  return (operand.kMajor ? kStepBytes : stepK * operand.rowBytes) >> 4;
}

static int64_t getBlockUnits(const WgmmaOperand &operand, int64_t rows,
                             int64_t stageK) {
  if (operand.kMajor)
    return rows * operand.rowBytes >> 4;
  return rows / 64 * stageK * operand.rowBytes >> 4;
}

static StringRef getTypeName(Type type) {
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (type.isF32())
    return "tf32";
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  return "s8";
}

/// "=f,=f,...,0,1,...": `count` read-write registers.
static std::string getTiedConstraints(StringRef kind, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += (i ? ",=" : "=") + kind.str();
  for (int64_t i = 0; i < count; ++i)
    text += "," + std::to_string(i);
  return text;
}

static SmallVector<Value> unpackStruct(ImplicitLocOpBuilder &b, Value value) {
  auto type = cast<LLVM::LLVMStructType>(value.getType());
  SmallVector<Value> fields;
  for (int64_t i = 0, e = type.getBody().size(); i < e; ++i)
    fields.push_back(LLVM::ExtractValueOp::create(b, value, i));
  return fields;
}

static StringRef getRegisterKind(const WgmmaPlan &plan) {
  return plan.aElement.isInteger(8) ? "r" : "f";
}

Value mlir::iris::emitWgmma(ImplicitLocOpBuilder &b, const WgmmaPlan &plan,
                            Value a, Value bOperand, Value accumulator,
                            Value accumulates) {
  const WgmmaOperand &first = plan.getFirst(), &second = plan.getSecond();
  int64_t registers = plan.getNumRegisters(), each = plan.getMmaRegisters();
  bool isInteger = plan.aElement.isInteger(8);
  std::string text = "{ .reg .pred first, on; .reg .b64 da, db;\n"
                     "setp.eq.b32 on, 0, 0;\n";
  llvm::raw_string_ostream os(text);
  // Operands: results, the same tied, then a, b and the flag.
  os << llvm::formatv("setp.ne.b32 first, ${0}, 0;\n", 2 * registers + 2);
  os << "wgmma.fence.sync.aligned;\n";
  for (int64_t step = 0; step < plan.stageK / plan.stepK; ++step)
    for (int64_t m = 0; m < plan.blocksM; ++m)
      for (int64_t n = 0; n < plan.blocksN; ++n) {
        int64_t aUnits = step * getStepUnits(first, plan.stepK) +
                         getBlockUnits(first, m * kMmaRows, plan.stageK);
        int64_t bUnits = step * getStepUnits(second, plan.stepK) +
                         getBlockUnits(second, n * plan.mmaN, plan.stageK);
        os << llvm::formatv("add.s64 da, ${0}, {1};\nadd.s64 db, ${2}, {3};\n",
                            2 * registers, aUnits, 2 * registers + 1, bUnits);
        os << llvm::formatv("wgmma.mma_async.sync.aligned.m64n{0}k{1}.{2}.{3}."
                            "{4} {{",
                            plan.mmaN, plan.stepK, isInteger ? "s32" : "f32",
                            getTypeName(plan.getFirstElement()),
                            getTypeName(plan.getSecondElement()));
        int64_t base = (m * plan.blocksN + n) * each;
        for (int64_t i = 0; i < each; ++i)
          os << (i ? ",$" : "$") << base + i;
        os << "}, da, db, " << (step == 0 ? "first" : "on");
        if (!isInteger)
          os << ", 1, 1";
        if (plan.elementBytes == 2)
          os << (first.kMajor ? ", 0" : ", 1")
             << (second.kMajor ? ", 0" : ", 1");
        os << ";\n";
      }
  os << "wgmma.commit_group.sync.aligned; }";

  SmallVector<Value> operands = unpackStruct(b, accumulator);
  operands.append({a, bOperand, accumulates});
  return emitPTX(b, accumulator.getType(), operands, text,
                 getTiedConstraints(getRegisterKind(plan), registers) +
                     ",l,l,r,~{memory}");
}

void mlir::iris::emitWgmmaWait(ImplicitLocOpBuilder &b, int64_t pending) {
  emitPTX(b, Type(), {},
          ("wgmma.wait_group.sync.aligned " + Twine(pending) + ";").str(),
          "~{memory}");
}

Value mlir::iris::emitWgmmaResult(ImplicitLocOpBuilder &b, Value accumulator) {
  auto type = cast<LLVM::LLVMStructType>(accumulator.getType());
  StringRef kind = type.getBody().front().isInteger() ? "r" : "f";
  return emitPTX(
      b, type, unpackStruct(b, accumulator), "wgmma.wait_group.sync.aligned 0;",
      getTiedConstraints(kind, type.getBody().size()) + ",~{memory}");
}
