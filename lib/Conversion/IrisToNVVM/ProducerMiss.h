// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProducerMiss.h - Why a kernel has no producer warps ------*- C++ -*-===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_PRODUCERMISS_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_PRODUCERMISS_H

#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <optional>

namespace mlir::iris {

/// An op whose result determines where a matmul reads, or whether it runs, and
/// which producer warps cannot repeat.
struct ProducerMiss {
  ProducerMiss(Operation *op, StringRef why)
      : loc(op->getLoc()), name(op->getName()), why(why) {}

  Location loc;
  OperationName name;
  /// What makes it so: the end of a sentence, of static storage.
  StringRef why;
};

/// Returns why `function`, a kernel with matmuls that are not lowered yet,
/// cannot be split into producer and consumer warps; nothing if it can.
std::optional<ProducerMiss> findProducerMiss(FunctionOpInterface function);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_PRODUCERMISS_H
