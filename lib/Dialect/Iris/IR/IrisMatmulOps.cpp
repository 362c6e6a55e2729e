// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisMatmulOps.cpp - Matmul ops -------------------------------------===//

#include "iris/Dialect/Iris/IR/IrisMatmul.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::iris;

#include "iris/Dialect/Iris/IR/IrisMatmulInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "iris/Dialect/Iris/IR/IrisMatmulOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

StringRef mlir::iris::stringifyMatmulKind(MatmulKind kind) {
  return plan::getMatmul(kind).name;
}

std::optional<MatmulKind> mlir::iris::symbolizeMatmulKind(StringRef name) {
  for (const plan::Matmul &each : plan::matmuls)
    if (name == StringRef(each.name))
      return each.kind;
  return std::nullopt;
}

ParseResult mlir::iris::parseMatmulKind(OpAsmParser &parser, StringAttr &kind) {
  StringRef keyword;
  if (failed(parser.parseKeyword(&keyword)))
    return failure();
  kind = parser.getBuilder().getStringAttr(keyword);
  return success();
}

void mlir::iris::printMatmulKind(OpAsmPrinter &printer, Operation *,
                                 StringAttr kind) {
  printer << kind.getValue();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type mlir::iris::getSumElement(Type element) {
  MLIRContext *context = element.getContext();
  if (element.isF16() || element.isBF16() || element.isF32() ||
      isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType,
          Float8E5M2FNUZType>(element))
    return Float32Type::get(context);
  if (element.isInteger(8))
    return IntegerType::get(context, 32);
  return Type();
}

/// Verifies the element types of the operands and of the result.
static LogicalResult verifyElements(Operation *op, Type element, Type result) {
  Type sum = getSumElement(element);
  if (!sum)
    return op->emitOpError("multiplies elements of ")
           << element << "; expected f16, bf16, f32, i8 or an f8 type";
  if (result == sum || result.isF16() || result.isBF16() || result.isF32())
    return success();
  return op->emitOpError("has a result of ")
         << result << " for operands of " << element << "; expected f16, bf16"
         << (sum.isF32() ? " or f32" : ", f32 or i32");
}

LogicalResult MatmulKernelOp::verify() {
  if (!symbolizeMatmulKind(getKind())) {
    InFlightDiagnostic diag = emitOpError("is of kind ")
                              << getKind() << "; expected one of ";
    llvm::interleaveComma(plan::matmuls, diag, [&](const plan::Matmul &each) {
      diag << StringRef(each.name);
    });
    return diag;
  }
  if (getSize() && (*getSize() < 1 || *getSize() > kMaxAnyGroup))
    return emitOpError("is for a group of ")
           << *getSize() << " ranks; expected 1 to " << kMaxAnyGroup;
  return verifyElements(*this, getElement(), getResultElement());
}

LogicalResult mlir::iris::verifyMatmulCall(Operation *op) {
  auto call = cast<MatmulCallOpInterface>(op);
  for (Value buffer : {call.getA(), call.getB(), call.getC()}) {
    auto type = cast<MemRefType>(buffer.getType());
    if (!isSymmetric(type) || type.getRank() != 2)
      return op->emitOpError("buffer is ")
             << type << "; expected two dimensions in #iris.symmetric";
  }
  auto a = cast<MemRefType>(call.getA().getType());
  auto b = cast<MemRefType>(call.getB().getType());
  auto c = cast<MemRefType>(call.getC().getType());
  if (a.getElementType() != b.getElementType())
    return op->emitOpError("a has elements of ")
           << a.getElementType() << ", b of " << b.getElementType()
           << "; expected the same";
  Type element = call.getElement().value_or(a.getElementType());
  if (call.getElement() &&
      (!a.getElementType().isInteger(8) || !isa<FloatType>(element) ||
       element.getIntOrFloatBitWidth() != 8))
    return op->emitOpError("has elements of ")
           << element << " in buffers of " << a.getElementType()
           << "; expected an f8 type in buffers of i8";
  if (Value bias = call.getBias()) {
    auto type = cast<MemRefType>(bias.getType());
    if (!isSymmetric(type) || type.getRank() != 1 ||
        !type.getLayout().isIdentity() ||
        type.getElementType() != c.getElementType())
      return op->emitOpError("bias is ")
             << type << "; expected one dimension of " << c.getElementType()
             << " in #iris.symmetric";
  }
  if (failed(verifyElements(op, element, c.getElementType())))
    return failure();
  return verifyGroup(op, call.getGroupAttr(), kMaxAnyGroup);
}
