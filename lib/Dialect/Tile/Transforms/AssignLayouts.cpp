// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assigns a layout to every tile of a kernel.
//
// Tiles that must agree (operands and results of elementwise ops, values
// carried by control flow, ...) form *groups*. Each group gets one layout,
// which depends on (register, lane, warp) and not on extents, so a group may
// contain tiles of several shapes (`tile.broadcast`). *Flows* connect groups:
// ops that derive one layout from another (reduce, expand_dims, transpose).
//
// The order of assignment: pinned layouts, then groups from the largest tile to
// the smallest. Each group takes the layout that flows in from an assigned
// group, or else the best layout for its memory accesses. Remaining conflicts
// are resolved by conversions at the ops where they occur.
#include "iris/Dialect/Tile/Transforms/Passes.h"

#include "ThreadOrder.h"
#include "iris/Analysis/TileLayout.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Tile/Utils/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/InterleavedRange.h"

#define DEBUG_TYPE "tile-assign-layouts"

namespace mlir::tile {
#define GEN_PASS_DEF_TILEASSIGNLAYOUTSPASS
#include "iris/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static RankedTensorType getTileType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

static Attribute getLayout(Value value) {
  return getTileType(value).getEncoding();
}

static RankedTensorType withLayout(RankedTensorType type, Attribute layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

static SmallVector<Value> getTiles(ValueRange values) {
  return llvm::filter_to_vector(values,
                                [](Value v) { return bool(getTileType(v)); });
}

/// True for ops that are cheaper to duplicate than to convert.
static bool isCheapSource(Operation *op) {
  return isa<arith::ConstantOp, tensor::SplatOp, RangeOp>(op);
}

/// Calls `visit` with lists of tiles that must have the same layout at `op`.
static void visitTies(Operation *op,
                      function_ref<void(ArrayRef<Value>)> visit) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, arg, yielded, result] :
         llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(),
                         loop.getYieldedValues(), loop.getResults()))
      if (getTileType(arg))
        visit({arg, init, yielded, result});
    return;
  }
  if (auto conditional = dyn_cast<scf::IfOp>(op)) {
    for (OpResult result : conditional.getResults()) {
      unsigned i = result.getResultNumber();
      if (getTileType(result))
        visit({result, conditional.thenYield().getOperand(i),
               conditional.elseYield().getOperand(i)});
    }
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    for (auto [arg, init, yielded] :
         llvm::zip_equal(loop.getBeforeArguments(), loop.getInits(),
                         loop.getYieldOp().getOperands()))
      if (getTileType(arg))
        visit({arg, init, yielded});
    for (auto [arg, passed, result] :
         llvm::zip_equal(loop.getAfterArguments(),
                         loop.getConditionOp().getArgs(), loop.getResults()))
      if (getTileType(arg))
        visit({arg, passed, result});
    return;
  }
  if (auto matmul = dyn_cast<MatmulOp>(op)) {
    if (matmul.getInit())
      visit({matmul.getResult(), matmul.getInit()});
    return;
  }
  bool elementwise = op->hasTrait<OpTrait::Elementwise>();
  if (elementwise || isa<GatherOp, ScatterOp, BroadcastOp, iris::AtomicRMWOp,
                         iris::AtomicCASOp, iris::ExpectEqOp>(op)) {
    SmallVector<Value> tiles = getTiles(op->getResults());
    llvm::append_range(tiles, getTiles(op->getOperands()));
    visit(tiles);
  }
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {

/// Tiles with one layout.
struct Group {
  Attribute layout;
  bool pinned = false;
  /// Bytes of the widest element that is loaded or stored; 0 if none is.
  int64_t accessBytes = 0;
  /// The dimensions along which windows of buffers are contiguous: a bit each.
  /// They are accessed by several elements at once, but gathers and scatters,
  /// which have no such bit, element by element.
  uint64_t innerDims = 0;
  int64_t elementBytes = 1;
  /// Elements of one packet access, if tiles are sent as packets; otherwise 0.
  int64_t packetElements = 0;
  /// Dimensions that are reduced in a given order, neighbours first: a bit
  /// each.
  uint64_t orderedDims = 0;
  /// Extents of the largest tile.
  SmallVector<int64_t> shape;
  int64_t numElements = 0;
};

/// An op that derives a layout of one group from that of another.
struct Flow {
  unsigned from, to;
  std::function<Attribute(Attribute)> derive;
  /// Transposed layouts are inefficient for memory accesses, so groups with
  /// accesses prefer their own.
  bool worseForAccess = false;
};

class LayoutAssigner {
public:
  LayoutAssigner(FunctionOpInterface function, unsigned numWarps,
                 unsigned warpSize)
      : function(function), numWarps(numWarps), warpSize(warpSize) {}

  LogicalResult run();

private:
  void duplicateCheapSources();
  LogicalResult collectTiles();
  void formGroups();
  void collectFlows();
  void assign();
  void applyLayouts();
  void convertBoundaries(Operation *op);

  unsigned getRoot(unsigned id) {
    while (parents[id] != id)
      id = parents[id] = parents[parents[id]];
    return id;
  }
  unsigned getGroup(Value tile) { return getRoot(ids.lookup(tile)); }
  void tie(Value a, Value b);
  void convertOperand(OpOperand &operand, Attribute layout);
  void convertResult(OpResult result, Attribute natural);
  BlockedAttr getAccessLayout(const Group &group, unsigned inner,
                              int64_t vectorSize);
  Attribute getPacketLayout(Value tile);
  bool staysInThread(RankedTensorType from, RankedTensorType to);

  FunctionOpInterface function;
  unsigned numWarps, warpSize;
  llvm::MapVector<Value, unsigned> ids;
  SmallVector<unsigned> parents;
  SmallVector<Group> groups;
  SmallVector<Flow> flows;
};

} // namespace

LogicalResult LayoutAssigner::run() {
  duplicateCheapSources();
  if (failed(collectTiles()))
    return failure();
  if (ids.empty())
    return success();
  formGroups();
  collectFlows();
  assign();
  applyLayouts();
  SmallVector<Operation *> ops;
  function->walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    convertBoundaries(op);
  return success();
}

/// Constants and coordinates may be used in groups with different layouts: each
/// use gets its own copy.
void LayoutAssigner::duplicateCheapSources() {
  SmallVector<Operation *> sources;
  function->walk([&](Operation *op) {
    if (isCheapSource(op) && op->getNumResults() == 1 &&
        getTileType(op->getResult(0)) && !getLayout(op->getResult(0)))
      sources.push_back(op);
  });
  for (Operation *source : sources) {
    SmallVector<OpOperand *> uses = llvm::map_to_vector(
        source->getResult(0).getUses(), [](OpOperand &use) { return &use; });
    for (OpOperand *use : ArrayRef(uses).drop_front(uses.empty() ? 0 : 1)) {
      OpBuilder builder(use->getOwner());
      use->set(builder.clone(*source)->getResult(0));
    }
  }
}

LogicalResult LayoutAssigner::collectTiles() {
  // No launch can pass a tile.
  if (auto kernel = dyn_cast<gpu::GPUFuncOp>(*function);
      kernel && kernel.isKernel())
    for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes()))
      if (isa<TensorType>(type))
        return kernel.emitError("parameter ")
               << number << " is a tile of type " << type
               << "; expected a scalar, a memref or !iris.ctx";
  auto add = [&](Value value) -> LogicalResult {
    RankedTensorType type = getTileType(value);
    if (!type)
      return success();
    Operation *op = value.getDefiningOp();
    if (!op)
      op = cast<BlockArgument>(value).getOwner()->getParentOp();
    if (type.getRank() == 0 || !type.hasStaticShape())
      return op->emitError("tile of type ")
             << type << " has no static extents; expected at least one";
    if (failed(verifyTileShape(op, type)))
      return failure();
    Group group;
    group.elementBytes = getElementBytes(type.getElementType());
    group.shape = SmallVector<int64_t>(type.getShape());
    group.numElements = type.getNumElements();
    if (type.getEncoding()) {
      if (failed(iris::verifyLayoutFits(type, numWarps, warpSize,
                                        [&] { return op->emitError(); })))
        return failure();
      group.layout = type.getEncoding();
      group.pinned = true;
    } else if (isa<MatmulOp>(op)) {
      if (Attribute natural = op->getAttr(kResultLayoutAttr)) {
        group.layout = natural;
        group.pinned = true;
      }
    }
    ids[value] = groups.size();
    parents.push_back(groups.size());
    groups.push_back(std::move(group));
    return success();
  };
  WalkResult result = function->walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (failed(add(value)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value value : block.getArguments())
          if (failed(add(value)))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void LayoutAssigner::tie(Value a, Value b) {
  unsigned x = getGroup(a), y = getGroup(b);
  if (x == y)
    return;
  Group &first = groups[x], &second = groups[y];
  // Two different pinned layouts: both are kept, and a conversion is inserted.
  if (first.pinned && second.pinned && first.layout != second.layout)
    return;
  if (second.pinned) {
    first.pinned = true;
    first.layout = second.layout;
  }
  first.accessBytes = std::max(first.accessBytes, second.accessBytes);
  first.innerDims |= second.innerDims;
  first.elementBytes = std::max(first.elementBytes, second.elementBytes);
  first.packetElements = std::max(first.packetElements, second.packetElements);
  first.orderedDims |= second.orderedDims;
  if (second.numElements > first.numElements) {
    first.numElements = second.numElements;
    first.shape = second.shape;
  }
  parents[y] = x;
}

void LayoutAssigner::formGroups() {
  auto addAccess = [&](Value tile) {
    int64_t bytes = getElementBytes(getTileType(tile).getElementType());
    Group &group = groups[getGroup(tile)];
    group.accessBytes = std::max(group.accessBytes, bytes);
  };
  auto addWindow = [&](Value tile, Value buffer) {
    addAccess(tile);
    groups[getGroup(tile)].innerDims |=
        uint64_t(1) << iris::getInnerDim(cast<MemRefType>(buffer.getType()),
                                         getTileType(tile).getShape());
  };
  auto addPacketAccess = [&](Value tile) {
    addAccess(tile);
    int64_t bytes = getElementBytes(getTileType(tile).getElementType());
    Group &group = groups[getGroup(tile)];
    group.packetElements =
        std::max(group.packetElements, iris::kPacketBytes / bytes);
  };
  function->walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case(
            [&](LoadOp load) { addWindow(load.getResult(), load.getSource()); })
        .Case([&](StoreOp store) {
          addWindow(store.getValue(), store.getDestination());
        })
        .Case([&](GatherOp gather) { addAccess(gather.getResult()); })
        .Case([&](ScatterOp scatter) { addAccess(scatter.getValue()); })
        .Case<iris::AtomicRMWOp, iris::AtomicCASOp>([&](auto atomic) {
          if (getTileType(atomic.getResult()))
            addAccess(atomic.getResult());
        })
        .Case(
            [&](iris::PacketLoadOp load) { addPacketAccess(load.getResult()); })
        .Case([&](iris::PacketStoreOp store) {
          addPacketAccess(store.getValue());
        })
        .Case([&](ReduceOp reduce) {
          if (dependsOnOrder(reduce))
            groups[getGroup(reduce.getSource())].orderedDims |=
                uint64_t(1) << reduce.getDim();
        });
    visitTies(op, [&](ArrayRef<Value> tiles) {
      for (Value tile : tiles.drop_front(tiles.empty() ? 0 : 1))
        tie(tiles.front(), tile);
    });
  });
}

void LayoutAssigner::collectFlows() {
  // A slice of the larger tile's layout; the reverse only if it is a slice.
  auto addSlice = [&](Value large, Value small, int64_t dim) {
    flows.push_back({getGroup(large), getGroup(small), [dim](Attribute layout) {
                       return SliceAttr::get(layout.getContext(), dim, layout);
                     }});
    flows.push_back({getGroup(small), getGroup(large), [dim](Attribute layout) {
                       auto slice = dyn_cast<SliceAttr>(layout);
                       return slice && slice.getDim() == dim ? slice.getParent()
                                                             : Attribute();
                     }});
  };
  function->walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](ReduceOp reduce) {
          if (getTileType(reduce.getResult()))
            addSlice(reduce.getSource(), reduce.getResult(), reduce.getDim());
        })
        .Case([&](ExpandDimsOp expand) {
          addSlice(expand.getResult(), expand.getSource(), expand.getDim());
        })
        .Case([&](TransposeOp transpose) {
          SmallVector<int64_t> permutation(transpose.getPermutation());
          SmallVector<int64_t> inverse(permutation.size());
          for (auto [i, dim] : llvm::enumerate(permutation))
            inverse[dim] = i;
          unsigned source = getGroup(transpose.getSource());
          unsigned result = getGroup(transpose.getResult());
          flows.push_back({source, result,
                           [permutation](Attribute layout) {
                             return iris::transposeLayout(layout, permutation);
                           },
                           /*worseForAccess=*/true});
          flows.push_back({result, source,
                           [inverse](Attribute layout) {
                             return iris::transposeLayout(layout, inverse);
                           },
                           /*worseForAccess=*/true});
        });
  });
}

/// Bytes of a row from which on threads may access rows that are apart: those
/// of the smallest transaction of a GPU's memory.
static constexpr int64_t kMinRowBytes = 32;

/// Gives each thread consecutive rows where it has several, so that a reduction
/// in order starts in the thread. The inner dimension has the elements of an
/// access.
static BlockedAttr withConsecutiveRows(BlockedAttr layout, const Group &group,
                                       int64_t elementBytes) {
  SmallVector<int64_t> size(layout.getSizePerThread());
  int64_t inner = layout.getOrder().front();
  for (int64_t dim = 0; dim < static_cast<int64_t>(size.size()); ++dim) {
    if (dim == inner)
      continue;
    int64_t lanes = layout.getThreadsPerWarp()[dim];
    bool isWide = group.shape[inner] * elementBytes >= kMinRowBytes;
    int64_t covered = size[dim] * lanes * layout.getWarpsPerCta()[dim];
    if ((group.orderedDims >> dim & 1) && (lanes == 1 || isWide) &&
        covered < group.shape[dim])
      size[dim] *= group.shape[dim] / covered;
  }
  return BlockedAttr::get(layout.getContext(), size, layout.getThreadsPerWarp(),
                          layout.getWarpsPerCta(), layout.getOrder());
}

/// The dimension along which a thread should have neighbours: where all windows
/// are contiguous along another one than the last, that one.
static unsigned getInnerDim(const Group &group) {
  if (llvm::has_single_bit(group.innerDims) && !group.packetElements)
    return llvm::countr_zero(group.innerDims);
  return group.shape.size() - 1;
}

/// The layout for accesses of `vectorSize` elements along dimension `inner`.
BlockedAttr LayoutAssigner::getAccessLayout(const Group &group, unsigned inner,
                                            int64_t vectorSize) {
  // The dimensions of a tile whose last one is `inner`, and back.
  size_t rank = group.shape.size();
  SmallVector<int64_t> shape(group.shape), back;
  shape.erase(shape.begin() + inner);
  shape.push_back(group.shape[inner]);
  for (size_t dim = 0; dim < rank; ++dim)
    back.push_back(dim == inner ? rank - 1 : dim < inner ? dim : dim - 1);
  return cast<BlockedAttr>(iris::transposeLayout(
      iris::getDefaultLayout(
          function.getContext(), shape, vectorSize, numWarps, warpSize,
          /*minSize=*/std::max<int64_t>(1, group.packetElements)),
      back));
}

void LayoutAssigner::assign() {
  SmallVector<unsigned> order;
  for (unsigned id = 0; id < groups.size(); ++id)
    if (getRoot(id) == id)
      order.push_back(id);
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    if (groups[a].pinned != groups[b].pinned)
      return groups[a].pinned;
    return groups[a].numElements > groups[b].numElements;
  });

  for (unsigned id : order) {
    Group &group = groups[id];
    for (Flow &flow : flows) {
      if (group.layout)
        break;
      if (flow.to != id || !groups[flow.from].layout ||
          (flow.worseForAccess && group.accessBytes))
        continue;
      group.layout = flow.derive(groups[flow.from].layout);
      LDBG() << "tiles of shape " << llvm::interleaved(group.shape, "x") << ": "
             << group.layout << ", derived from " << groups[flow.from].layout;
    }
    if (group.layout)
      continue;
    int64_t bytes = group.accessBytes ? group.accessBytes : group.elementBytes;
    // The data of a single packet access: with flags it is 16 bytes of memory,
    // and consecutive threads write consecutive packets. Accesses of single
    // elements are of neighbours where neighbouring threads have neighbours;
    // but reductions in order start with neighbours, and should in the thread.
    unsigned inner = getInnerDim(group);
    bool isInOrder = group.orderedDims >> inner & 1;
    int64_t vectorSize = 16 / bytes;
    if (group.packetElements)
      vectorSize = group.packetElements;
    else if (group.accessBytes && !group.innerDims && !isInOrder)
      vectorSize = 1;
    group.layout = withConsecutiveRows(
        getAccessLayout(group, inner, vectorSize), group, bytes);
    LDBG() << "tiles of shape " << llvm::interleaved(group.shape, "x") << ": "
           << group.layout << ", for accesses of " << vectorSize
           << " elements of " << bytes << " bytes"
           << (group.packetElements ? ", as packets" : "");
  }
}

void LayoutAssigner::applyLayouts() {
  for (auto [value, id] : ids) {
    Attribute layout = groups[getRoot(id)].layout;
    RankedTensorType type = withLayout(getTileType(value), layout);
    Value(value).setType(type);
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
        constant.setValueAttr(
            elements.isSplat() ? DenseElementsAttr::get(
                                     type, elements.getSplatValue<Attribute>())
                               : DenseElementsAttr::getFromRawBuffer(
                                     type, elements.getRawData()));
  }
}

//===----------------------------------------------------------------------===//
// Boundaries
//===----------------------------------------------------------------------===//

void LayoutAssigner::convertOperand(OpOperand &operand, Attribute layout) {
  if (getLayout(operand.get()) == layout)
    return;
  OpBuilder builder(operand.getOwner());
  operand.set(ConvertLayoutOp::create(
      builder, operand.getOwner()->getLoc(),
      withLayout(getTileType(operand.get()), layout), operand.get()));
}

/// The op's result has layout `natural`; users see the assigned one.
void LayoutAssigner::convertResult(OpResult result, Attribute natural) {
  RankedTensorType assigned = getTileType(result);
  RankedTensorType given = withLayout(assigned, natural);
  if (given == assigned ||
      iris::getLinearLayout(given) == iris::getLinearLayout(assigned))
    return;
  Operation *op = result.getOwner();
  result.setType(given);
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto convert =
      ConvertLayoutOp::create(builder, op->getLoc(), assigned, result);
  result.replaceAllUsesExcept(convert.getResult(), convert);
}

/// True if converting a tile of type `from` to type `to` moves nothing.
bool LayoutAssigner::staysInThread(RankedTensorType from, RankedTensorType to) {
  return iris::getLinearLayout(from) == iris::getLinearLayout(to);
}

/// The layout for a tile that is sent as packets; null if its layout is
/// suitable, or pinned by the kernel.
Attribute LayoutAssigner::getPacketLayout(Value tile) {
  RankedTensorType type = getTileType(tile);
  bool isPinned = ids.contains(tile) && groups[getGroup(tile)].pinned;
  if (isPinned || iris::getRowMajorBytes(type) >= iris::kMinPacketBytes)
    return {};
  int64_t elements =
      iris::kPacketBytes / getElementBytes(type.getElementType());
  return iris::getDefaultLayout(type.getContext(), type.getShape(), elements,
                                numWarps, warpSize, /*minSize=*/elements);
}

void LayoutAssigner::convertBoundaries(Operation *op) {
  auto convertTo = [&](MutableOperandRange operands, ValueRange likes) {
    for (auto [operand, like] : llvm::zip_equal(operands, likes))
      if (getTileType(like))
        convertOperand(operand, getLayout(like));
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [init, arg] :
         llvm::zip_equal(loop.getInitArgsMutable(), loop.getRegionIterArgs()))
      if (getTileType(arg))
        convertOperand(init, getLayout(arg));
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    convertTo(yield.getResultsMutable(), loop.getRegionIterArgs());
    for (auto [result, arg] :
         llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
      if (getTileType(arg))
        convertResult(result, getLayout(arg));
    return;
  }
  if (auto conditional = dyn_cast<scf::IfOp>(op)) {
    if (conditional.getNumResults() == 0)
      return;
    for (scf::YieldOp yield :
         {conditional.thenYield(), conditional.elseYield()})
      convertTo(yield.getResultsMutable(), conditional.getResults());
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    convertTo(loop.getInitsMutable(), loop.getBeforeArguments());
    convertTo(loop.getYieldOp().getResultsMutable(), loop.getBeforeArguments());
    convertTo(loop.getConditionOp().getArgsMutable(), loop.getAfterArguments());
    for (auto [result, arg] :
         llvm::zip_equal(loop.getResults(), loop.getAfterArguments()))
      if (getTileType(arg))
        convertResult(result, getLayout(arg));
    return;
  }
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    Attribute layout = getLayout(expand.getResult());
    Attribute wanted =
        SliceAttr::get(op->getContext(), expand.getDim(), layout);
    RankedTensorType source = getTileType(expand.getSource());
    if (!staysInThread(source, withLayout(source, wanted)))
      convertOperand(expand.getSourceMutable(), wanted);
    return;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (getTileType(reduce.getResult()))
      convertResult(cast<OpResult>(reduce.getResult()),
                    SliceAttr::get(op->getContext(), reduce.getDim(),
                                   getLayout(reduce.getSource())));
    return;
  }
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    convertResult(cast<OpResult>(transpose.getResult()),
                  iris::transposeLayout(getLayout(transpose.getSource()),
                                        transpose.getPermutation()));
    return;
  }
  if (auto matmul = dyn_cast<MatmulOp>(op)) {
    RankedTensorType assigned = getTileType(matmul.getResult());
    Attribute natural = op->getAttr(kResultLayoutAttr);
    if (!natural || staysInThread(withLayout(assigned, natural), assigned))
      natural = getLayout(matmul.getResult());
    for (OpOperand &init : matmul.getInitMutable())
      convertOperand(init, natural);
    convertResult(cast<OpResult>(matmul.getResult()), natural);
    return;
  }
  // Other layouts may split the words of a packet. Pinned layouts are kept, or
  // rejected later.
  if (auto store = dyn_cast<iris::PacketStoreOp>(op)) {
    if (Attribute layout = getPacketLayout(store.getValue()))
      convertOperand(store.getValueMutable(), layout);
    return;
  }
  if (auto load = dyn_cast<iris::PacketLoadOp>(op)) {
    if (Attribute layout = getPacketLayout(load.getResult()))
      convertResult(cast<OpResult>(load.getResult()), layout);
    return;
  }
  // All tiles of the op must have the layout of its result, or of its first
  // operand.
  visitTies(op, [&](ArrayRef<Value> tiles) {
    if (tiles.empty())
      return;
    Attribute layout = getLayout(tiles.front());
    for (OpOperand &operand : op->getOpOperands())
      if (getTileType(operand.get()))
        convertOperand(operand, layout);
  });
}

LogicalResult tile::assignLayouts(FunctionOpInterface function,
                                  unsigned warpSize) {
  return LayoutAssigner(function, iris::getNumWarps(function), warpSize).run();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct TileAssignLayoutsPass
    : tile::impl::TileAssignLayoutsPassBase<TileAssignLayoutsPass> {
  using TileAssignLayoutsPassBase::TileAssignLayoutsPassBase;

  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](FunctionOpInterface function) {
      return failed(assignLayouts(function, warpSize)) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
