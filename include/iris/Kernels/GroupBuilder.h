// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GroupBuilder.h - Programs of a group of ranks ------------*- C++ -*-===//
//
// What kernels that work on several ranks share: who the own program and rank
// are, and the barrier and memory of the workspace.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_KERNELS_GROUPBUILDER_H
#define IRIS_KERNELS_GROUPBUILDER_H

#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Kernels/ScalarBuilder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::iris {

class GroupBuilder : public ScalarBuilder {
public:
  /// How a kernel is launched.
  struct Launch {
    /// Ranks of the group; 0: any number up to 8.
    int64_t size = 0;
    int64_t warps = 4;
    /// Chiplets that programs are dealt out to in turn.
    int64_t xcds = 1;
  };

  /// Starts the kernel of `module`, of the same name, whose arguments are the
  /// context and `arguments`; the insertion point is in its body.
  GroupBuilder(gpu::GPUModuleOp module, TypeRange arguments,
               const Launch &launch);

  /// Leaves the metadata's "config" at the kernel.
  void setDescription(DictionaryAttr description);
  /// Ends the kernel.
  void finish();

  Value ctx;
  /// This program, the number of programs; 0 <= program < programs.
  Value program, programs;
  /// The group's size and the own place in it.
  Value size, me;

  /// body(k) for k = first .. size - 1, in order; unrolled when the size is
  /// known.
  void forMembers(int64_t first, Body body);
  /// (start + k) mod size: member k in an order that begins at `start`.
  Value rotate(Value start, Value k);
  /// The world rank of a member of the group.
  Value rankOf(Value member);

  /// Elements of `type` from a byte of the workspace on, in a buffer of sizes
  /// `sizes`.
  Value view(Value offset, ValueRange sizes, Type type);
  /// Words of the workspace from a byte on, as a buffer of i32.
  Value words(int64_t offset, int64_t bytes);
  /// Meets this program's peer programs in the group.
  void barrier();

  /// What `body` writes is a span of the program's time, in which it moves
  /// `bytes` (index; null: not told); see docs/tracing.md.
  void span(StringRef name, Value bytes, llvm::function_ref<void()> body);

  /// Tells the next kernel, of at most `maxPrograms` programs, that the epoch
  /// `last` is over: `epochs` are as many words.
  void storeEpoch(Value epochs, int64_t maxPrograms, Value last);

protected:
  gpu::GPUFuncOp kernel;
  /// memref<?xi8>, and the state of the barrier in it; set by who has one.
  Value workspace, barrierState;

private:
  /// Ranks of the group, if known.
  int64_t knownSize;
};

} // namespace mlir::iris

#endif // IRIS_KERNELS_GROUPBUILDER_H
