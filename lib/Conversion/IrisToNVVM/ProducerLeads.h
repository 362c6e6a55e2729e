// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProducerLeads.h - What producer warps compute ------------*- C++ -*-===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_PRODUCERLEADS_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_PRODUCERLEADS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::iris {

/// True if `op` is a matmul, or one is in its regions.
bool holdsMatmul(Operation *op);

/// The scalars on which the address or the execution of a matmul of a kernel
/// depends, and their loads, which producers repeat.
class ProducerLeads {
public:
  explicit ProducerLeads(FunctionOpInterface function);

  llvm::SmallPtrSet<Operation *, 8> loads;

  bool contains(Value value) const { return seen.contains(value); }

private:
  void add(Value value);
  void addOperands(Operation *op);
  void visit(Value value);

  llvm::SmallDenseSet<Value> seen;
  SmallVector<Value> pending;
};

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_PRODUCERLEADS_H
