// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WgmmaLowering.h - Lowering of matmul kernels, sm_90a -----*- C++ -*-===//
//
// State shared by the parts of this lowering; WgmmaMatmul.cpp gives an
// overview.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_WGMMALOWERING_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_WGMMALOWERING_H

#include "ArgumentView.h"
#include "MatmulPipeline.h"
#include "Warp.h"
#include "WgmmaPlan.h"
#include "iris/Conversion/MatmulTarget.h"
#include "iris/Dialect/Iris/IR/IrisWarpGroups.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <array>
#include <optional>

namespace mlir::iris {

/// A tensor map, and whether it is valid at run time (i1); null if the operand
/// cannot have one.
struct OperandMap {
  Value map, made;
  bool ranks = false;
  /// The window of the map's buffer that is the operand.
  ArgumentView view;
};

/// Lowers the matmuls of one kernel.
class WgmmaLowering {
public:
  using LocBuilder = ImplicitLocOpBuilder;

  WgmmaLowering(FunctionOpInterface function, int64_t numWarps,
                int64_t scratchBytes, int64_t maxSharedBytes)
      : function(function), numWarps(numWarps), scratchBytes(scratchBytes),
        maxSharedBytes(maxSharedBytes), loc(function.getLoc()) {}

  LogicalResult run();

private:
  // WgmmaMatmul.cpp
  LogicalResult planAll();
  void remarkMisses(tile::MatmulOp op, const WgmmaPlan &plan);
  void emitPrologue(LocBuilder &b);
  void emitRegisterLimit(LocBuilder &b, bool isProducer);
  LogicalResult specializeWarps(Block &entry, Operation *firstOp);

  void lowerProducerFences(Operation *branch, bool isProducer);
  std::array<std::pair<Value, const WgmmaOperand *>, 2>
  getOperands(tile::MatmulOp op, const WgmmaPlan &plan);
  OperandMap getMap(Value buffer, const WgmmaOperand &operand);
  bool hasTensorMaps(tile::MatmulOp op);

  // WgmmaConsumers.cpp
  void lowerConsumer(tile::MatmulOp op);
  /// Converts the accumulators of a padded tile to the thread's elements of the
  /// result.
  Value emitUnpadded(LocBuilder &b, tile::MatmulOp op, const WgmmaPlan &plan,
                     Value vector);
  /// Replaces elements whose row of a or column of b is outside the buffer by
  /// `init`, or 0.
  Value emitMasked(LocBuilder &b, tile::MatmulOp op, const WgmmaPlan &plan,
                   Value vector, Value init);
  Value emitStages(LocBuilder &b, tile::MatmulOp op, const WgmmaPlan &plan,
                   Value numStages, Value init);

  // WgmmaProducers.cpp
  void lowerProducer(tile::MatmulOp op);
  void prepareRegion(tile::MatmulOp op, bool isInLane);
  Value emitWholeBlocks(LocBuilder &b, tile::MatmulOp op, Value count);
  void emitWholeBlock(LocBuilder &b, const WgmmaPlan &plan, KStepStarts starts);
  /// Whether TMA can copy the elements from `source` on, `extent` of them along
  /// k, with the correct bounds (i1).
  Value emitCanCopy(LocBuilder &b, const WgmmaOperand &operand,
                    const OperandTileStart &source, unsigned kDim,
                    int64_t extent, int64_t elementBytes);
  void emitWholeStage(LocBuilder &b, const WgmmaPlan &plan,
                      ArrayRef<OperandTileStart> sources);
  Value emitWaitForSlot(LocBuilder &b, const PipelineState &state);
  void markTraces(tile::MatmulOp op, bool isInLane);
  void emitBlock(LocBuilder &b, tile::MatmulOp op, Value block);
  void emitStage(LocBuilder &b, const WgmmaPlan &plan,
                 ArrayRef<OperandTileStart> sources, Value rest);
  void emitSlot(LocBuilder &b, const WgmmaPlan &plan,
                ArrayRef<OperandTileStart> sources, Value rest,
                const PipelineState &state);
  /// Copies an operand to its region of a slot with loads and stores of the
  /// threads.
  void emitThreadCopies(LocBuilder &b, const WgmmaOperand &operand,
                        const OperandTileStart &source, unsigned kDim,
                        const WgmmaPlan &plan, Value rest, Value address);
  void emitCopies(LocBuilder &b, const WgmmaOperand &operand,
                  const OperandTileStart &source, unsigned kDim, Value address,
                  Value barrier);
  /// Runs emit() in waves that have not aborted.
  void emitUnlessAborted(LocBuilder &b,
                         llvm::function_ref<void(LocBuilder &)> emit);

  /// Thread numbers of a consumer, for code that depends on layouts.
  KernelInfo getThreadInfo() const {
    KernelInfo kernel;
    kernel.numWarps = numWarps;
    kernel.warpSize = kWarpSize;
    kernel.lane = lane;
    kernel.warp = warp;
    return kernel;
  }
  const WgmmaPlan &getPlan(tile::MatmulOp op) {
    return plans[op->getAttrOfType<IntegerAttr>(kNumberAttr).getInt()];
  }
  Value constant(LocBuilder &b, int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  }
  Value index(LocBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value toI32(LocBuilder &b, Value value) {
    return arith::IndexCastOp::create(b, b.getI32Type(), value);
  }

  /// The index of a matmul's plan; the same in both kinds of warps.
  static constexpr StringLiteral kNumberAttr = "iris.matmul";

  FunctionOpInterface function;
  int64_t numWarps;
  int64_t scratchBytes;
  /// Shared memory that a program may have, static and dynamic.
  int64_t maxSharedBytes;
  Location loc;
  SmallVector<WgmmaPlan, 0> plans;
  std::optional<MatmulPipeline> ring;
  int64_t stages = 0, slotBytes = 0;
  /// True if the kernel has a wait that may fail.
  bool waits = false;
  /// The kernel's entry, where tensor maps are created.
  Operation *mapPoint = nullptr;
  SmallVector<TensorMapOp> maps;
  /// i32: lane, warp, index among the producer warps, number of active
  /// producers.
  Value lane, warp, producer, producers;
  Value isFirstLane;
  /// i1: all operands of all matmuls have valid tensor maps.
  Value allMade;
};

/// Bytes of static shared memory to convert the result of a padded tile.
uint64_t getUnpaddingBytes(const WgmmaPlan &plan);

/// ceil(k / size), 0 for negative k; `size` is a power of two.
Value emitCount(ImplicitLocOpBuilder &b, Value k, int64_t size);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_WGMMALOWERING_H
