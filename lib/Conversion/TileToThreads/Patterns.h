// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pattern sets of convert-tile-to-threads, by kind of op.
#ifndef IRIS_LIB_CONVERSION_TILETOTHREADS_PATTERNS_H
#define IRIS_LIB_CONVERSION_TILETOTHREADS_PATTERNS_H

#include "AccessPlan.h"
#include "iris/Conversion/BufferView.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::iris {

/// Results of the analysis before the conversion; must outlive the patterns.
struct ConversionFacts {
  KernelInfos kernels;
  llvm::DenseMap<Operation *, AccessPlan> plans;

  const KernelInfo &getKernel(Operation *op) const {
    Operation *function = op->getParentOfType<FunctionOpInterface>();
    return kernels.find(function)->second;
  }
};

/// Element `reg` of each vector.
SmallVector<Value> extractEach(ThreadBuilder &t, ValueRange vectors,
                               int64_t reg);

/// Base class of patterns with access to the facts.
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

/// Constants, splats, ranges, shape and layout changes, and elementwise ops.
void populateShapePatterns(const TypeConverter &converter,
                           const ConversionFacts &facts,
                           RewritePatternSet &patterns);

/// tile.reduce.
void populateReducePatterns(const TypeConverter &converter,
                            const ConversionFacts &facts,
                            RewritePatternSet &patterns);

/// True if converting a tile to the layout of `op`'s result must move elements
/// between threads.
bool needsExchange(Operation *op);

/// Bytes of scratch memory that `op` needs.
uint64_t getScratchBytes(Operation *op, unsigned numWarps);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_TILETOTHREADS_PATTERNS_H
