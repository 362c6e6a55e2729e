// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileLowering.h - Tiles of one kernel as loops ------------*- C++ -*-===//
//
// Lowering of tiles to loops. A tile value is one of two things:
//
//   * a *buffer*: a one-dimensional memref in row-major order that holds the
//     value from its definition to its last use. It is written only once,
//     except for the buffers of loop-carried tiles, which are overwritten at
//     the end of an iteration. Loaded tiles are buffers: they are copied at the
//     load.
//   * an *expression*: pure arithmetic that is emitted, element by element,
//     inside the loop of its only consumer (fusion).
//
// `fuseExpressions` selects the expressions of a block before the block is
// lowered.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_LIB_CONVERSION_TILETOLOOPS_TILELOWERING_H
#define IRIS_LIB_CONVERSION_TILETOLOOPS_TILELOWERING_H

#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::iris {

class Window;

/// A position in a tile. Loops that need no coordinates have only the index.
struct Point {
  /// One per dimension, or none.
  SmallVector<Value> coordinates;
  /// Row-major index of the element.
  Value linear;
};

/// Elements already emitted at the point of the current iteration.
using ElementCache = llvm::DenseMap<Value, Value>;

/// Bounds of a loop along one dimension.
struct Bound {
  Value low, high;
};

/// Emits the body of a loop nest at a point.
using PointBody = function_ref<void(ImplicitLocOpBuilder &, const Point &)>;

/// True for tiles; scalars and buffers are false.
inline bool isTile(Type type) { return isa<RankedTensorType>(type); }
inline bool isTile(Value value) { return isTile(value.getType()); }

/// Shape and element type of a tile.
inline RankedTensorType tileType(Value tile) {
  return cast<RankedTensorType>(tile.getType());
}

inline Value constantIndex(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

/// An op that only rearranges elements.
bool isViewOp(Operation *op);
/// An op whose elements are free to recompute.
bool isLeafOp(Operation *op);
/// A pure op that is applied element by element.
bool isElementwiseOp(Operation *op);

class TileLowering {
public:
  explicit TileLowering(func::FuncOp func) : func(func) {}

  /// Turns all tiles of the function into loops over buffers.
  LogicalResult run();

private:
  //===--- Structure (TileLowering.cpp) -----------------------------------===//

  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerOp(Operation *op);
  LogicalResult lowerCompute(Operation *op);
  LogicalResult lowerConstant(arith::ConstantOp op);
  void lowerExtract(tensor::ExtractOp op);
  void lowerFromElements(tensor::FromElementsOp op);
  /// Erases the lowered ops and their tile operands and results.
  void eraseTiles();

  //===--- Fusion (Fusion.cpp) --------------------------------------------===//

  /// Selects the results of the block's ops that become expressions.
  void fuseExpressions(Block &block);

  //===--- Control flow (ControlFlow.cpp) ---------------------------------===//

  LogicalResult lowerFor(scf::ForOp op);
  LogicalResult lowerWhile(scf::WhileOp op);
  /// scf.if and scf.index_switch.
  LogicalResult lowerBranches(Operation *op);
  /// Writes the tiles that an iteration yields to the buffers of the next one.
  void carryTiles(scf::ForOp op);
  /// True if computing `tile` reads the buffer of `carried`; with
  /// `atOtherElements`, at elements other than the computed one.
  bool readsTile(Value tile, Value carried, bool atOtherElements);

  //===--- Elements and loops (Elements.cpp) ------------------------------===//

  /// The element of `tile` at `point`.
  Value element(ImplicitLocOpBuilder &b, Value tile, const Point &point,
                ElementCache &cache);
  /// As above, without a cache.
  Value element(ImplicitLocOpBuilder &b, Value tile, const Point &point);
  Value viewElement(ImplicitLocOpBuilder &b, Operation *view,
                    const Point &point, ElementCache &cache);
  /// True if `holds` for a tile that `element` computes or reads for `tile`,
  /// and whether it does so through a view.
  bool anyOfExpression(Value tile,
                       function_ref<bool(Value, bool viaView)> holds);
  /// True if `element` needs coordinates for `tile`.
  bool needsCoordinates(Value tile);
  /// A loop nest over all elements of a tile of `shape`; if `flat`, one loop
  /// over the linear index.
  void forAll(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape, bool flat,
              PointBody body);
  /// A loop nest over part of a tile of `shape`. Dimensions from
  /// `bounds.size()` on have coordinate 0.
  void forBounds(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape,
                 ArrayRef<Bound> bounds, PointBody body);
  /// A point of a tile of `shape`.
  Point pointAt(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape,
                ArrayRef<Value> coordinates);

  //===--- Buffers (Elements.cpp) -----------------------------------------===//

  /// A new buffer for a tile.
  Value allocate(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape,
                 Type element);
  Value allocate(ImplicitLocOpBuilder &b, Value tile);
  Value read(ImplicitLocOpBuilder &b, Value buffer, Type element, Value linear);
  void write(ImplicitLocOpBuilder &b, Value buffer, Value linear, Value value);
  /// Computes all elements of `tile` into `buffer`.
  void fill(ImplicitLocOpBuilder &b, Value tile, Value buffer);
  /// The address of element `linear` of a buffer.
  Value bufferAddress(ImplicitLocOpBuilder &b, Value buffer, Value linear);

  //===--- Memory (Accesses.cpp) ------------------------------------------===//

  void lowerLoad(tile::LoadOp op);
  void lowerStore(tile::StoreOp op);
  using IndexedBody =
      function_ref<void(ImplicitLocOpBuilder &, const Point &, ElementCache &,
                        ArrayRef<Value> indices, Value exists)>;
  /// Calls `body` at each element of a tile of `shape` with its coordinates in
  /// the buffer of `window`, which are in `tiles`, and whether they are inside
  /// of it and the mask, or null, does not mask them out.
  void forIndexed(ImplicitLocOpBuilder &b, Operation *op, Window &window,
                  ValueRange tiles, ArrayRef<int64_t> shape, Value mask,
                  IndexedBody body);
  void lowerGather(tile::GatherOp op);
  void lowerScatter(tile::ScatterOp op);

  //===--- Reductions (Reduce.cpp) ----------------------------------------===//

  void lowerReduce(tile::ReduceOp op);

  //===--- Matmuls (Matmul.cpp) -------------------------------------------===//

  void lowerMatmul(tile::MatmulOp op);

  //===--- Synchronization (Sync.cpp, Packets.cpp) ------------------------===//

  using UpdateBody = function_ref<void(ImplicitLocOpBuilder &, const Point &,
                                       ElementCache &, Value address)>;
  /// Calls `body` at each element of an atomic that is inside of the buffer and
  /// that the mask, or null, does not mask out.
  void forUpdates(ImplicitLocOpBuilder &b, Operation *op,
                  TypedValue<MemRefType> memory, ValueRange offsets,
                  ArrayRef<int64_t> shape, Value mask, UpdateBody body);
  void lowerAtomic(AtomicRMWOp op);
  void lowerAtomic(AtomicCASOp op);
  void lowerPacket(PacketStoreOp op);
  void lowerPacket(PacketLoadOp op);
  LogicalResult lowerExpect(ExpectEqOp op);

  func::FuncOp func;
  /// Tiles that have a buffer.
  llvm::DenseMap<Value, Value> buffers;
  /// Tiles that are emitted at their uses.
  llvm::DenseSet<Value> expressions;
  /// Ops that are replaced by loops, in walk order.
  SmallVector<Operation *> lowered;
  /// Control flow that carries tiles, inner ops first.
  SmallVector<Operation *> carriers;
};

} // namespace mlir::iris

#endif // IRIS_LIB_CONVERSION_TILETOLOOPS_TILELOWERING_H
