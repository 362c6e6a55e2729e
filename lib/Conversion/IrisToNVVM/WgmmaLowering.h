// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WgmmaLowering.h - A kernel with matmuls on sm_90a --------*- C++ -*-===//
//
// What the parts of this lowering share; WgmmaMatmul.cpp says how it works.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_IRISTONVVM_WGMMALOWERING_H
#define IRIS_LIB_CONVERSION_IRISTONVVM_WGMMALOWERING_H

#include "ArgumentView.h"
#include "MatmulPipeline.h"
#include "WgmmaPlan.h"
#include "iris/Conversion/MatmulTarget.h"
#include "iris/Dialect/Iris/IR/IrisWarpGroups.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <array>
#include <optional>

namespace mlir::iris {

inline constexpr int64_t kWaveSize = 32;

/// A map and whether there is one; null where there cannot be.
struct OperandMap {
  Value map, made;
  bool ranks = false;
  /// What the map's buffer is to the operand's.
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
  LogicalResult splitRoles(Block &entry, Operation *firstOp);

  void lowerProducerFences(Operation *role, bool isProducer);
  std::array<std::pair<Value, const WgmmaOperand *>, 2>
  getOperands(tile::MatmulOp op, const WgmmaPlan &plan);
  OperandMap getMap(Value buffer, const WgmmaOperand &operand);
  bool canHaveMaps(tile::MatmulOp op);

  // WgmmaConsumers.cpp
  void lowerConsumer(tile::MatmulOp op);
  /// The thread's part of the result, of the accumulators of a padded tile.
  Value emitUnpadded(LocBuilder &b, tile::MatmulOp op, const WgmmaPlan &plan,
                     Value vector);
  /// Puts `init`, or 0, where a or b has no row or column.
  Value emitMasked(LocBuilder &b, tile::MatmulOp op, const WgmmaPlan &plan,
                   Value vector, Value init);
  Value emitStages(LocBuilder &b, tile::MatmulOp op, const WgmmaPlan &plan,
                   Value numStages, Value init);

  // WgmmaProducers.cpp
  void lowerProducer(tile::MatmulOp op);
  void prepareRegion(tile::MatmulOp op, bool isInLane);
  Value emitWholeBlocks(LocBuilder &b, tile::MatmulOp op, Value count);
  void emitWholeBlock(LocBuilder &b, const WgmmaPlan &plan, KStepStarts places);
  /// Whether the engine can copy the part at `place` that is `extent` long
  /// along k, and gives what is there (i1).
  Value emitCanCopy(LocBuilder &b, const WgmmaOperand &operand,
                    const OperandTileStart &place, unsigned kDim,
                    int64_t extent, int64_t elementBytes);
  void emitWholeStage(LocBuilder &b, const WgmmaPlan &plan,
                      ArrayRef<OperandTileStart> places);
  Value emitWaitForSlot(LocBuilder &b, const PipelineState &place);
  void markTraces(tile::MatmulOp op, bool isInLane);
  void emitBlock(LocBuilder &b, tile::MatmulOp op, Value block);
  void emitStage(LocBuilder &b, const WgmmaPlan &plan,
                 ArrayRef<OperandTileStart> places, Value rest);
  void emitSlot(LocBuilder &b, const WgmmaPlan &plan,
                ArrayRef<OperandTileStart> places, Value rest,
                const PipelineState &place);
  /// Fills an operand's part of a slot by loads.
  void emitFill(LocBuilder &b, const WgmmaOperand &operand,
                const OperandTileStart &place, unsigned kDim,
                const WgmmaPlan &plan, Value rest, Value address);
  void emitCopies(LocBuilder &b, const WgmmaOperand &operand,
                  const OperandTileStart &place, unsigned kDim, Value address,
                  Value barrier);
  /// emit() in waves that have not given up.
  void emitUnlessGivenUp(LocBuilder &b,
                         llvm::function_ref<void(LocBuilder &)> emit);

  /// What code about layouts wants to know of a consumer.
  KernelInfo getThreadInfo() const {
    KernelInfo kernel;
    kernel.numWarps = numWarps;
    kernel.warpSize = kWaveSize;
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

  /// Which matmul an op is, in both roles.
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
  /// True if some wait of the kernel may fail.
  bool waits = false;
  /// Where maps are made: the kernel's entry.
  Operation *mapPoint = nullptr;
  SmallVector<TensorMapOp> maps;
  /// i32: lane, warp, warp among the producers, and how many of those work.
  Value lane, warp, producer, producers;
  Value isFirstLane;
  /// i1: all operands of all matmuls have maps.
  Value allMade;
};

/// Static shared memory that it takes to make the result of a padded tile.
uint64_t getUnpaddingBytes(const WgmmaPlan &plan);

/// ceil(k / size), 0 for k below 0; `size` is a power of two.
Value emitCount(ImplicitLocOpBuilder &b, Value k, int64_t size);

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_IRISTONVVM_WGMMALOWERING_H
