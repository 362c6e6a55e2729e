// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RuntimeCalls.h - Calls through IrisRtHostApi -------------*- C++ -*-===//

#ifndef IRIS_LIB_CONVERSION_HOSTPROGRAM_RUNTIMECALLS_H
#define IRIS_LIB_CONVERSION_HOSTPROGRAM_RUNTIMECALLS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::iris {

/// Emits code of `@main` that reads IrisRtHostApi and calls its functions. The
/// last block of `@main` returns its argument, a status.
class RuntimeCalls {
public:
  /// Inserts before `op`; `api` points to the IrisRtHostApi.
  RuntimeCalls(RewriterBase &rewriter, Operation *op, Value api);

  /// A field of type `type` at byte `offset` of the struct at `base`.
  Value loadField(Type type, Value base, size_t offset);
  void storeField(Value value, Value base, size_t offset);

  /// A constant of type i32 or i64.
  Value constant(unsigned bits, int64_t value);

  /// The address of a constant string, ended by 0, which is the module's
  /// `symbol`.
  Value text(const std::string &symbol, std::string value);

  /// Stack memory of `@main`, allocated once.
  Value stackSlot(int64_t bytes);

  /// Returns `status` from `@main` if `failed`.
  void returnIf(Value failed, Value status);

  /// Calls the function at byte `offset` of IrisRtHostApi with the world and
  /// `arguments`; returns its status from `@main` if it is not 0.
  void call(size_t offset, ValueRange arguments);

private:
  RewriterBase &rewriter;
  Operation *op;
  Location loc;
  Value api;
};

/// Fills the IrisRtArg of one launch argument. `value` is the converted value,
/// `type` its type before conversion.
void packArgument(RewriterBase &rewriter, Location loc, RuntimeCalls &calls,
                  Value value, Type type, Value slot);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_HOSTPROGRAM_RUNTIMECALLS_H
