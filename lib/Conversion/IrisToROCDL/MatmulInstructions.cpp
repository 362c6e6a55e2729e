// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatmulInstructions.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

static MatrixElement getElement(tile::MatmulOp op) {
  Type a = op.getAElementType(), b = op.getBElementType();
  if (a.isF16())
    return MatrixElement::F16;
  if (a.isBF16())
    return MatrixElement::BF16;
  if (a.isF32())
    return op.getPrecision() == tile::Precision::tf32 ? MatrixElement::TF32
                                                      : MatrixElement::F32;
  if (a.isInteger(8))
    return MatrixElement::I8;
  auto isOcp = [](Type type) {
    return isa<Float8E4M3FNType, Float8E5M2Type>(type);
  };
  if (isOcp(a) && isOcp(b))
    return MatrixElement::F8Ocp;
  return isOcp(a) || isOcp(b) ? MatrixElement::None : MatrixElement::F8Fnuz;
}

/// The name of an f8 type in intrinsics.
static StringRef getFloat8Name(Type type) {
  return isa<Float8E4M3FNType, Float8E4M3FNUZType>(type) ? "fp8" : "bf8";
}

static unsigned getBytes(OperandElement element) {
  switch (element) {
  case OperandElement::F16:
  case OperandElement::BF16:
  case OperandElement::I16:
    return 2;
  case OperandElement::F32:
  case OperandElement::I32:
    return 4;
  case OperandElement::I64:
    return 8;
  }
  llvm_unreachable("unknown operand");
}

Type MatrixInstruction::getOperandType(MLIRContext *context) const {
  auto element = [&]() -> Type {
    switch (operandElement) {
    case OperandElement::F16:
      return Float16Type::get(context);
    case OperandElement::BF16:
      return BFloat16Type::get(context);
    case OperandElement::F32:
      return Float32Type::get(context);
    case OperandElement::I16:
      return IntegerType::get(context, 16);
    case OperandElement::I32:
      return IntegerType::get(context, 32);
    case OperandElement::I64:
      return IntegerType::get(context, 64);
    }
    llvm_unreachable("unknown operand");
  }();
  return operandCount == 1 ? element : VectorType::get({operandCount}, element);
}

/// The element types that a chip multiplies, for people.
static std::string listElements(const MatrixUnit &unit) {
  auto name = [](MatrixElement element) -> StringRef {
    switch (element) {
    case MatrixElement::F16:
      return "f16";
    case MatrixElement::BF16:
      return "bf16";
    case MatrixElement::F32:
    case MatrixElement::TF32:
      return "f32";
    case MatrixElement::I8:
      return "i8";
    case MatrixElement::F8Ocp:
      return "f8E4M3FN or f8E5M2";
    case MatrixElement::F8Fnuz:
      return "f8E4M3FNUZ or f8E5M2FNUZ";
    case MatrixElement::None:
      break;
    }
    llvm_unreachable("no element type of a chip");
  };
  SmallVector<StringRef> names;
  for (const MatrixInstructionInfo &info : unit.instructions)
    if (!llvm::is_contained(names, name(info.element)))
      names.push_back(name(info.element));
  return llvm::join(names, ", ");
}

FailureOr<MatrixInstruction>
mlir::iris::getMatrixInstruction(const ChipInfo &chip, tile::MatmulOp op) {
  const MatrixUnit &unit = chip.amd.matrix;
  MatrixElement element = getElement(op);
  unsigned elementBytes = op.getA().getType().getElementTypeBitWidth() / 8;
  uint64_t blockBytes = op.getBlock() * elementBytes;
  const MatrixInstructionInfo *smallest = nullptr;
  for (const MatrixInstructionInfo &info : unit.instructions) {
    if (info.element != element)
      continue;
    smallest = &info;
    unsigned operandBytes = info.operandCount * getBytes(info.operandElement);
    if (operandBytes * unit.groups > blockBytes)
      continue;
    MatrixInstruction result;
    StringRef intrinsic = info.intrinsic;
    result.intrinsic = ("llvm.amdgcn." + intrinsic.split('%').first).str();
    if (intrinsic.contains('%'))
      result.intrinsic += (getFloat8Name(op.getBElementType()) + "." +
                           getFloat8Name(op.getAElementType()))
                              .str();
    result.operands = info.operands;
    result.operandCount = info.operandCount;
    result.operandElement = info.operandElement;
    result.operandBytes = operandBytes;
    result.groups = unit.groups;
    result.accumulators = unit.accumulators;
    result.rowBits = unit.rowBits;
    return result;
  }
  if (!smallest)
    return op.emitOpError("multiplies ")
           << op.getAElementType() << " by " << op.getBElementType() << " on "
           << chip.name << "; expected " << listElements(unit);
  return op.emitOpError("has k-blocks of ")
         << op.getBlock() << " for " << op.getAElementType() << " on "
         << chip.name << "; expected at least "
         << smallest->operandCount * getBytes(smallest->operandElement) *
                unit.groups / elementBytes;
}
