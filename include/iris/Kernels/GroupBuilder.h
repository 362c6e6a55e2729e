// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GroupBuilder.h - Programs of a group of ranks ------------*- C++ -*-===//
//
// The common base of kernels that run on several ranks: the program index, the
// rank in the group, and the barrier and memory of the workspace.
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
  /// Launch parameters of a kernel.
  struct Launch {
    /// Number of ranks in the group; 0: any number up to kMaxAnyGroup.
    int64_t size = 0;
    int64_t warps = 4;
    /// XCDs over which the hardware distributes programs round-robin.
    int64_t xcds = 1;
  };

  /// Creates the kernel in `module`, with the module's name and with the
  /// context and `arguments` as arguments. The insertion point is in its body.
  GroupBuilder(gpu::GPUModuleOp module, TypeRange arguments,
               const Launch &launch);

  /// Sets the "config" entry of the kernel's metadata.
  void setDescription(DictionaryAttr description);
  /// Ends the kernel.
  void finish();

  Value ctx;
  /// The index of this program (0 <= program < programs) and the number of
  /// programs.
  Value program, programs;
  /// The number of ranks in the group, and the index of this rank in it.
  Value size, me;

  /// Whether loops over the members are unrolled: the size is known, and the
  /// registers of AMD's GPUs have room for the addresses of all members.
  bool unrollsMembers() const {
    return knownSize != 0 && knownSize <= kMaxAnyGroup;
  }
  /// body(k) for k = first .. size - 1, in order.
  void forMembers(int64_t first, Body body);
  /// (start + k) mod size: member k in an order that begins at `start`.
  Value rotate(Value start, Value k);
  /// The world rank of a member of the group.
  Value rankOf(Value member);

  /// A buffer of shape `sizes` and element type `type` that starts at byte
  /// `offset` of the workspace.
  Value view(Value offset, ValueRange sizes, Type type);
  /// An i32 buffer over `bytes` bytes of the workspace from `offset` on.
  Value words(int64_t offset, int64_t bytes);
  /// A barrier between this program and its peer programs in the group.
  void barrier();

  /// Records the ops that `body` creates as a trace span that moves `bytes`
  /// (index; null: not recorded); see docs/guides/tracing.md.
  void span(StringRef name, Value bytes, llvm::function_ref<void()> body);

  /// Ends the epoch `last`: stores it to all `maxPrograms` words of `epochs`,
  /// so that the next kernel finds it whatever its number of programs.
  void storeEpoch(Value epochs, int64_t maxPrograms, Value last);

protected:
  gpu::GPUFuncOp kernel;
  /// The workspace as memref<?xi8>, and the barrier's state in it. Null if the
  /// kernel has no workspace.
  Value workspace, barrierState;

private:
  /// Number of ranks in the group; 0 if unknown.
  int64_t knownSize;
};

} // namespace mlir::iris

#endif // IRIS_KERNELS_GROUPBUILDER_H
