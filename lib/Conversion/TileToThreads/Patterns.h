// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pattern sets of convert-tile-to-threads, by op family.
#ifndef IRIS_LIB_CONVERSION_TILETOTHREADS_PATTERNS_H
#define IRIS_LIB_CONVERSION_TILETOTHREADS_PATTERNS_H

#include "AccessPlan.h"
#include "ThreadContext.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::iris {

/// What was found out before the conversion; lives as long as the patterns.
struct ConversionFacts {
  KernelInfos kernels;
  llvm::DenseMap<Operation *, AccessPlan> plans;

  const KernelInfo &getKernel(Operation *op) const {
    Operation *function = op->getParentOfType<FunctionOpInterface>();
    return kernels.find(function)->second;
  }
};

/// A pattern that knows the facts.
template <typename OpT>
class ThreadPattern : public OpConversionPattern<OpT> {
public:
  ThreadPattern(const TypeConverter &converter, MLIRContext *context,
                const ConversionFacts &facts)
      : OpConversionPattern<OpT>(converter, context), facts(facts) {}

protected:
  ThreadBuilder getBuilder(OpBuilder &builder, Operation *op) const {
    return ThreadBuilder(builder, op->getLoc(), facts.getKernel(op));
  }

  const ConversionFacts &facts;
};

/// tile.load, tile.store.
void populateWindowPatterns(const TypeConverter &converter,
                            const ConversionFacts &facts,
                            RewritePatternSet &patterns);

/// tile.gather, tile.scatter.
void populateIndexedPatterns(const TypeConverter &converter,
                             const ConversionFacts &facts,
                             RewritePatternSet &patterns);

/// iris.atomic_rmw, iris.atomic_cas, iris.expect_eq.
void populateElementPatterns(const TypeConverter &converter,
                             const ConversionFacts &facts,
                             RewritePatternSet &patterns);

/// iris.packet_store, iris.packet_load.
void populatePacketPatterns(const TypeConverter &converter,
                            const ConversionFacts &facts,
                            RewritePatternSet &patterns);

/// Constants, splats, ranges, shapes, layouts and elementwise ops.
void populateShapePatterns(const TypeConverter &converter,
                           const ConversionFacts &facts,
                           RewritePatternSet &patterns);

/// tile.reduce.
void populateReducePatterns(const TypeConverter &converter,
                            const ConversionFacts &facts,
                            RewritePatternSet &patterns);

/// True if moving a tile from its layout to that of `op`'s result takes more
/// than renumbering registers.
bool needsExchange(Operation *op);

/// Bytes of scratch memory that `op` needs.
uint64_t getScratchBytes(Operation *op, unsigned numWarps);

/// A buffer, taken apart once per access: where it starts, how far apart its
/// elements are, how large it is.
class BufferView {
public:
  BufferView(Value buffer, ThreadBuilder &t);

  /// Address of the first byte of the buffer's allocation, index, on this rank.
  Value getOwnAddress() const { return ownAddress; }
  /// Distance from there to the first element, in elements, index.
  Value getOffset() const { return offset; }
  Value getStride(unsigned dim) const { return strides[dim]; }
  Value getSize(unsigned dim) const { return sizes[dim]; }
  unsigned getRank() const { return sizes.size(); }

  /// Returns the pointer `elements` (index) behind the buffer's first one.
  Value getPointer(ThreadBuilder &t, Value elements) const;

  /// Returns the pointer to the element at `coordinates` (index each).
  Value getElementPointer(ThreadBuilder &t, ValueRange coordinates) const;

  /// Returns whether `coordinates` (index each) lie inside of the buffer.
  Value isInside(ThreadBuilder &t, ValueRange coordinates) const;

private:
  MemRefType type;
  Value ownAddress, offset;
  Value base; // pointer to the first byte, on the accessed rank
  SmallVector<Value> strides, sizes;
};

/// Returns, for each register of `layout`, the coordinates in the buffer (index
/// each) of its element of the window at `offsets`.  With `turn` (i32) it is
/// the `count` registers (a power of two) from register `turn` * `count` on.
SmallVector<SmallVector<Value>> getWindowCoordinates(ThreadBuilder &t,
                                                     const LinearLayout &layout,
                                                     ValueRange offsets,
                                                     Value turn = Value(),
                                                     uint64_t count = 0);

/// Emits `body` under `condition`, or unconditionally if that is null.
void emitGuarded(ThreadBuilder &t, Value condition,
                 llvm::function_ref<void(ThreadBuilder &)> body);

/// The same for a value; where the condition fails it is `other`.
Value emitGuardedValue(ThreadBuilder &t, Value condition, Value other,
                       llvm::function_ref<Value(ThreadBuilder &)> body);

/// The conjunction of two conditions, either of which may be null.
Value emitAnd(ThreadBuilder &t, Value lhs, Value rhs);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_TILETOTHREADS_PATTERNS_H
