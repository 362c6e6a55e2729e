// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulTarget.h - Matrix instructions of a target ---------*- C++ -*-===//
//
// `tile.matmul` is lowered in two steps. Before layouts are assigned, the
// target determines the layout of its instructions' result. The result, `init`,
// and all tiles computed from them take that layout, unless the kernel pins
// another one. Later, when every tile has a layout and barriers are inserted,
// the target replaces the op by per-thread code.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_CONVERSION_MATMULTARGET_H
#define IRIS_CONVERSION_MATMULTARGET_H

#include "iris/Conversion/ThreadContext.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include <memory>

namespace mlir::iris {

/// The location of a k-block of an operand: a buffer and the offsets of the
/// block's first element.
struct OperandTileStart {
  Value buffer;
  SmallVector<Value> offsets;
};

/// The locations of the two operand tiles of a k-block.
struct KStepStarts {
  OperandTileStart a, b;
};

/// Emits the region of `op` for k-block `block` (index) at the builder's
/// insertion point, and returns the locations of its operand tiles.
KStepStarts emitBlockRegion(OpBuilder &builder, tile::MatmulOp op, Value block);

/// True if the region yields locations that may differ from the operands'.
bool yieldsOperandTiles(tile::MatmulOp op);

/// Emits a remark of category `tile-lower-matmul` that says why `op` does not
/// take the target's fast path.
void remarkMissed(tile::MatmulOp op, StringRef why);

/// Matrix instructions of one target. Immutable; shared by kernels.
class MatmulTarget {
public:
  virtual ~MatmulTarget();

  /// Chooses how the matmuls of `function` are lowered, before they get
  /// layouts. May set attributes of the function, which the other methods read.
  virtual void prepareKernel(FunctionOpInterface function) const {}

  /// Returns the layout of the result in a program of `numWarps` waves, or
  /// reports an error if there is none.
  virtual FailureOr<tile::LinearAttr>
  getResultLayout(tile::MatmulOp op, unsigned numWarps) const = 0;

  /// Returns the maximum number of bytes of workgroup memory that `op` needs.
  /// The result layout must exist.
  virtual uint64_t getWorkgroupBytes(tile::MatmulOp op,
                                     unsigned numWarps) const = 0;

  /// Emits the per-thread code of `op` at the builder's insertion point; does
  /// not erase `op`. `init` is the thread's elements of the initial value, or
  /// null. `kernel.scratch` has the requested size; other waves may still be
  /// using it. Returns the thread's elements of the result, a vector.
  virtual FailureOr<Value> emit(tile::MatmulOp op, ThreadBuilder &builder,
                                Value init) const = 0;

  /// True if the target lowers all matmuls of a kernel at once, by
  /// `lowerKernel`; then `getWorkgroupBytes` and `emit` are not called.
  virtual bool lowersKernels() const { return false; }
  /// Replaces every matmul of `function`; only the numbers of waves and threads
  /// in `kernel` are valid. Thread vectors are converted to tiles by casts.
  /// `scratchBytes` is the maximum static workgroup memory of other ops.
  virtual LogicalResult lowerKernel(FunctionOpInterface function,
                                    const KernelInfo &kernel,
                                    uint64_t scratchBytes) const;
};

/// The matrix instructions of the target `name`; null if it has none.
std::unique_ptr<MatmulTarget> createMatmulTarget(StringRef name);

/// Reports that `createMatmulTarget(name)` is null: `name` is unknown, or the
/// chip has no matrix instructions.
LogicalResult reportNoMatmulTarget(tile::MatmulOp op, StringRef name);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_MATMULTARGET_H
