// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulTarget.h - What the matmul loop asks of a target ---*- C++ -*-===//
//
// `tile.matmul` is lowered in two steps. Before layouts are assigned, the
// target names the layout in which its instructions leave the result;
// everything that works on the result, and `init`, takes that layout where the
// kernel pins no other. Later, when every tile has a layout and barriers are in
// place, the target replaces the op by what one thread does.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_CONVERSION_MATMULTARGET_H
#define IRIS_CONVERSION_MATMULTARGET_H

#include "iris/Conversion/ThreadContext.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include <memory>

namespace mlir::iris {

/// Where a k-block of an operand tile is read: a buffer and the offsets of the
/// block's first element.
struct OperandTileStart {
  Value buffer;
  SmallVector<Value> offsets;
};

/// The places of the two operand tiles of a k-block.
struct KStepStarts {
  OperandTileStart a, b;
};

/// Runs the region of `op` for k-block number `block` (index) at the builder's
/// insertion point, and returns where it is read.
KStepStarts emitBlockRegion(OpBuilder &builder, tile::MatmulOp op, Value block);

/// True if the region may name other places than the operands'.
bool yieldsPlaces(tile::MatmulOp op);

/// Reports as a remark of category `tile-lower-matmul` that `op` does not take
/// the target's fast path, and why.
void remarkMissed(tile::MatmulOp op, StringRef why);

/// One target's matrix instructions. Immutable; kernels share it.
class MatmulTarget {
public:
  virtual ~MatmulTarget();

  /// Returns the layout of the result in a program of `numWarps` waves, or
  /// reports why there is none.
  virtual FailureOr<tile::LinearAttr>
  getResultLayout(tile::MatmulOp op, unsigned numWarps) const = 0;

  /// Returns how many bytes of workgroup memory `op` takes at most. The result
  /// layout is known to exist.
  virtual uint64_t getWorkgroupBytes(tile::MatmulOp op,
                                     unsigned numWarps) const = 0;

  /// Emits at the builder's insertion point what a thread does for `op`, which
  /// stays. `init` is the thread's part of the initial value, or null.
  /// `kernel.scratch` has the bytes that were asked for; other waves may still
  /// be using them. Returns the thread's part of the result, a vector.
  virtual FailureOr<Value> emit(tile::MatmulOp op, ThreadBuilder &builder,
                                Value init) const = 0;

  /// True if the target rewrites a kernel with matmuls as a whole, by
  /// `lowerKernel`; then `getWorkgroupBytes` and `emit` are not called.
  virtual bool lowersKernels() const { return false; }
  /// Replaces every matmul of `function`; `kernel` has its numbers of waves and
  /// threads, nothing else. Between a thread's vectors and tiles come casts.
  /// `scratchBytes` is static workgroup memory that others will take, at most.
  virtual LogicalResult lowerKernel(FunctionOpInterface function,
                                    const KernelInfo &kernel,
                                    uint64_t scratchBytes) const;
};

/// The matrix instructions of the target called `name`; null if it has none.
std::unique_ptr<MatmulTarget> createMatmulTarget(StringRef name);

/// Reports that `createMatmulTarget(name)` is null: `name` is unknown, or the
/// chip has no matrix instructions.
LogicalResult reportNoMatmulTarget(tile::MatmulOp op, StringRef name);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_MATMULTARGET_H
