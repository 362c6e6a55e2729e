// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisMatmul.h - Matmul ops --------------------------------*- C++ -*-===//
//
// Ops of the iris dialect for kernels with matmuls. They have a separate header
// because only the kernel generators use them.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_DIALECT_IRIS_IR_IRISMATMUL_H
#define IRIS_DIALECT_IRIS_IR_IRISMATMUL_H

#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Plan/Matmuls.h"

namespace mlir::iris {

using plan::MatmulKind;

/// The name of a kind, which is the mnemonic of its call.
StringRef stringifyMatmulKind(MatmulKind kind);
std::optional<MatmulKind> symbolizeMatmulKind(StringRef name);

/// The accumulator type of matmuls of `element`; null if there is none.
Type getSumElement(Type element);

/// Verifies a matmul of a host program.
LogicalResult verifyMatmulCall(Operation *op);

/// The name of a kind, as a keyword.
ParseResult parseMatmulKind(OpAsmParser &parser, StringAttr &kind);
void printMatmulKind(OpAsmPrinter &printer, Operation *op, StringAttr kind);

} // namespace mlir::iris

#include "iris/Dialect/Iris/IR/IrisMatmulInterfaces.h.inc"

#define GET_OP_CLASSES
#include "iris/Dialect/Iris/IR/IrisMatmulOps.h.inc"

#endif // IRIS_DIALECT_IRIS_IR_IRISMATMUL_H
