// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpForms.h - How ops are written --------------------------*- C++ -*-===//

#ifndef IRIS_DIALECT_IRIS_TRANSFORMS_OPFORMS_H
#define IRIS_DIALECT_IRIS_TRANSFORMS_OPFORMS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::iris {

/// An op of the iris or tile dialect that kernels and host programs contain,
/// as it is usually written; empty for other names.
llvm::StringRef getOpForm(llvm::StringRef name);

/// All forms, for the test that parses them.
llvm::ArrayRef<llvm::StringLiteral> getOpForms();

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_TRANSFORMS_OPFORMS_H
