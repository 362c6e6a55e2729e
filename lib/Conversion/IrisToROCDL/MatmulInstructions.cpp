// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatmulInstructions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Rows of the result
//===----------------------------------------------------------------------===//

static constexpr RowBit mfmaRows[] = {{RowBit::Register, 0},
                                      {RowBit::Register, 1},
                                      {RowBit::Group, 0},
                                      {RowBit::Group, 1}};
static constexpr RowBit gfx11Rows[] = {{RowBit::Group, 0},
                                       {RowBit::Register, 0},
                                       {RowBit::Register, 1},
                                       {RowBit::Register, 2}};
static constexpr RowBit gfx12Rows[] = {{RowBit::Register, 0},
                                       {RowBit::Register, 1},
                                       {RowBit::Register, 2},
                                       {RowBit::Group, 0}};

//===----------------------------------------------------------------------===//
// Chips
//===----------------------------------------------------------------------===//

namespace {
/// Combinations of element types that chips support differently.
enum class ElementKind { F16, BF16, F32, TF32, I8, F8Ocp, F8Fnuz, None };

/// An entry of the tables below. `%` in a name stands for the types of A and B.
struct Entry {
  ElementKind kind;
  StringLiteral intrinsic;
  unsigned operandCount;
  MatrixInstruction::OperandElement operandElement;
};
} // namespace

using Operand = MatrixInstruction::OperandElement;

// In each table, wide instructions come before narrow ones.

static constexpr Entry gfx90aEntries[] = {
    {ElementKind::F16, "mfma.f32.16x16x16f16", 4, Operand::F16},
    {ElementKind::BF16, "mfma.f32.16x16x16bf16.1k", 4, Operand::I16},
    {ElementKind::F32, "mfma.f32.16x16x4f32", 1, Operand::F32},
    {ElementKind::TF32, "mfma.f32.16x16x4f32", 1, Operand::F32},
    {ElementKind::I8, "mfma.i32.16x16x16i8", 1, Operand::I32},
};

static constexpr Entry gfx942Entries[] = {
    {ElementKind::F16, "mfma.f32.16x16x16f16", 4, Operand::F16},
    {ElementKind::BF16, "mfma.f32.16x16x16bf16.1k", 4, Operand::I16},
    {ElementKind::F32, "mfma.f32.16x16x4f32", 1, Operand::F32},
    {ElementKind::TF32, "mfma.f32.16x16x8.xf32", 2, Operand::F32},
    {ElementKind::I8, "mfma.i32.16x16x32.i8", 1, Operand::I64},
    {ElementKind::F8Fnuz, "mfma.f32.16x16x32.%", 1, Operand::I64},
};

static constexpr Entry gfx950Entries[] = {
    {ElementKind::F16, "mfma.f32.16x16x32.f16", 8, Operand::F16},
    {ElementKind::F16, "mfma.f32.16x16x16f16", 4, Operand::F16},
    {ElementKind::BF16, "mfma.f32.16x16x32.bf16", 8, Operand::BF16},
    {ElementKind::BF16, "mfma.f32.16x16x16bf16.1k", 4, Operand::I16},
    {ElementKind::F32, "mfma.f32.16x16x4f32", 1, Operand::F32},
    {ElementKind::TF32, "mfma.f32.16x16x4f32", 1, Operand::F32},
    {ElementKind::I8, "mfma.i32.16x16x64.i8", 4, Operand::I32},
    {ElementKind::I8, "mfma.i32.16x16x32.i8", 1, Operand::I64},
    {ElementKind::F8Ocp, "mfma.f32.16x16x32.%", 1, Operand::I64},
};

static constexpr Entry gfx1100Entries[] = {
    {ElementKind::F16, "wmma.f32.16x16x16.f16", 16, Operand::F16},
    {ElementKind::BF16, "wmma.f32.16x16x16.bf16", 16, Operand::I16},
    {ElementKind::I8, "wmma.i32.16x16x16.iu8", 4, Operand::I32},
};

static constexpr Entry gfx1201Entries[] = {
    {ElementKind::F16, "wmma.f32.16x16x16.f16", 8, Operand::F16},
    {ElementKind::BF16, "wmma.f32.16x16x16.bf16", 8, Operand::I16},
    {ElementKind::I8, "wmma.i32.16x16x16.iu8", 2, Operand::I32},
    {ElementKind::F8Ocp, "wmma.f32.16x16x16.%", 2, Operand::I32},
};

namespace {
/// Common properties of the instructions of one chip.
struct Chip {
  ArrayRef<Entry> entries;
  unsigned groups;
  unsigned accumulators;
  ArrayRef<RowBit> rowBits;
  bool isMfma;
};
} // namespace

static Chip getChip(StringRef target) {
  if (target == "gfx1100")
    return {gfx1100Entries, 1, 8, gfx11Rows, false};
  if (target == "gfx1201")
    return {gfx1201Entries, 2, 8, gfx12Rows, false};
  ArrayRef<Entry> entries = gfx90aEntries;
  if (target == "gfx942")
    entries = gfx942Entries;
  else if (target == "gfx950")
    entries = gfx950Entries;
  return {entries, 4, 4, mfmaRows, true};
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

static ElementKind getElementKind(tile::MatmulOp op) {
  Type a = op.getAElementType(), b = op.getBElementType();
  if (a.isF16())
    return ElementKind::F16;
  if (a.isBF16())
    return ElementKind::BF16;
  if (a.isF32())
    return op.getPrecision() == tile::Precision::tf32 ? ElementKind::TF32
                                                      : ElementKind::F32;
  if (a.isInteger(8))
    return ElementKind::I8;
  auto isOcp = [](Type type) {
    return isa<Float8E4M3FNType, Float8E5M2Type>(type);
  };
  if (isOcp(a) && isOcp(b))
    return ElementKind::F8Ocp;
  return isOcp(a) || isOcp(b) ? ElementKind::None : ElementKind::F8Fnuz;
}

/// The name of an f8 type in intrinsics.
static StringRef getFloat8Name(Type type) {
  return isa<Float8E4M3FNType, Float8E4M3FNUZType>(type) ? "fp8" : "bf8";
}

static unsigned getBytes(Operand element) {
  switch (element) {
  case Operand::F16:
  case Operand::BF16:
  case Operand::I16:
    return 2;
  case Operand::F32:
  case Operand::I32:
    return 4;
  case Operand::I64:
    return 8;
  }
  llvm_unreachable("unknown operand");
}

Type MatrixInstruction::getOperandType(MLIRContext *context) const {
  auto element = [&]() -> Type {
    switch (operandElement) {
    case F16:
      return Float16Type::get(context);
    case BF16:
      return BFloat16Type::get(context);
    case F32:
      return Float32Type::get(context);
    case I16:
      return IntegerType::get(context, 16);
    case I32:
      return IntegerType::get(context, 32);
    case I64:
      return IntegerType::get(context, 64);
    }
    llvm_unreachable("unknown operand");
  }();
  return operandCount == 1 ? element : VectorType::get({operandCount}, element);
}

/// The element types that a chip supports, for error messages.
static std::string listElementKinds(const Chip &chip) {
  auto name = [](ElementKind kind) -> StringRef {
    switch (kind) {
    case ElementKind::F16:
      return "f16";
    case ElementKind::BF16:
      return "bf16";
    case ElementKind::F32:
    case ElementKind::TF32:
      return "f32";
    case ElementKind::I8:
      return "i8";
    case ElementKind::F8Ocp:
      return "f8E4M3FN or f8E5M2";
    case ElementKind::F8Fnuz:
      return "f8E4M3FNUZ or f8E5M2FNUZ";
    case ElementKind::None:
      break;
    }
    llvm_unreachable("not supported by any chip");
  };
  SmallVector<StringRef> names;
  for (const Entry &entry : chip.entries)
    if (!llvm::is_contained(names, name(entry.kind)))
      names.push_back(name(entry.kind));
  return llvm::join(names, ", ");
}

FailureOr<MatrixInstruction>
mlir::iris::getMatrixInstruction(StringRef target, tile::MatmulOp op) {
  Chip chip = getChip(target);
  ElementKind kind = getElementKind(op);
  unsigned elementBytes = op.getA().getType().getElementTypeBitWidth() / 8;
  uint64_t blockBytes = op.getBlock() * elementBytes;
  const Entry *narrowest = nullptr;
  for (const Entry &entry : chip.entries) {
    if (entry.kind != kind)
      continue;
    narrowest = &entry;
    unsigned operandBytes = entry.operandCount * getBytes(entry.operandElement);
    if (operandBytes * chip.groups > blockBytes)
      continue;
    MatrixInstruction result;
    auto [before, after] = entry.intrinsic.split('%');
    result.intrinsic = ("llvm.amdgcn." + before).str();
    if (entry.intrinsic.contains('%'))
      result.intrinsic += (getFloat8Name(op.getBElementType()) + "." +
                           getFloat8Name(op.getAElementType()))
                              .str();
    result.form = chip.isMfma               ? IntrinsicForm::Mfma
                  : kind == ElementKind::I8 ? IntrinsicForm::WmmaInteger
                                            : IntrinsicForm::Wmma;
    result.operandCount = entry.operandCount;
    result.operandElement = entry.operandElement;
    result.operandBytes = operandBytes;
    result.groups = chip.groups;
    result.accumulators = chip.accumulators;
    result.rowBits = chip.rowBits;
    return result;
  }
  if (!narrowest)
    return op.emitOpError("multiplies ")
           << op.getAElementType() << " by " << op.getBElementType() << " on "
           << target << "; expected " << listElementKinds(chip);
  return op.emitOpError("has k-blocks of ")
         << op.getBlock() << " for " << op.getAElementType() << " on " << target
         << "; expected at least "
         << narrowest->operandCount * getBytes(narrowest->operandElement) *
                chip.groups / elementBytes;
}
