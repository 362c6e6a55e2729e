// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileLowering.cpp - Tiles of one kernel as loops --------------------===//

#include "TileLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Constants and arithmetic
//===----------------------------------------------------------------------===//

/// A constant that is not a splat becomes a global.
LogicalResult TileLowering::lowerConstant(arith::ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return op.emitOpError("has value ")
           << op.getValue() << "; expected dense elements";
  Type element = elements.getElementType();
  SmallVector<Attribute> values(elements.getValues<Attribute>());
  if (element.isInteger(1)) {
    // Masks are stored as bytes.
    element = IntegerType::get(op.getContext(), 8);
    for (Attribute &value : values)
      value = IntegerAttr::get(element, cast<BoolAttr>(value).getValue());
  }
  int64_t count = elements.getNumElements();
  auto type = MemRefType::get({count}, element);
  auto flat =
      DenseElementsAttr::get(RankedTensorType::get({count}, element), values);

  // The symbol table of the kernels' module.
  Operation *table = SymbolTable::getNearestSymbolTable(func);
  SmallString<32> name("__tile_constant_0");
  unsigned number = 0;
  name = SymbolTable::generateSymbolName<32>(
      name,
      [&](StringRef candidate) {
        return SymbolTable::lookupSymbolIn(table, candidate) != nullptr;
      },
      number);
  auto b = ImplicitLocOpBuilder::atBlockBegin(op.getLoc(),
                                              &table->getRegion(0).front());
  memref::GlobalOp::create(b, name, b.getStringAttr("private"), type, flat,
                           /*constant=*/true, /*alignment=*/IntegerAttr());
  b.setInsertionPoint(op);
  buffers[op.getResult()] = memref::GetGlobalOp::create(b, type, name);
  return success();
}

void TileLowering::lowerExtract(tensor::ExtractOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<Value> indices(op.getIndices());
  Point point = pointAt(b, tileType(op.getTensor()).getShape(), indices);
  op.getResult().replaceAllUsesWith(element(b, op.getTensor(), point));
}

void TileLowering::lowerFromElements(tensor::FromElementsOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value buffer = allocate(b, op.getResult());
  for (auto [number, value] : llvm::enumerate(op.getElements()))
    write(b, buffer, arith::ConstantIndexOp::create(b, number), value);
  buffers[op.getResult()] = buffer;
}

/// Expressions are emitted by their consumers; results computed more than once
/// get a buffer here.
LogicalResult TileLowering::lowerCompute(Operation *op) {
  Value result = op->getResult(0);
  if (expressions.contains(result))
    return success();
  if (!isElementwiseOp(op))
    return op->emitOpError("is not supported on tiles; expected arith or math "
                           "ops that work element by element, tile ops, "
                           "tensor.splat or tensor.extract");
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value buffer = allocate(b, result);
  // `fill` must treat `result` as an expression, so its buffer is added after
  // it.
  fill(b, result, buffer);
  buffers[result] = buffer;
  return success();
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

static bool carriesTiles(Operation *op) {
  auto isTileType = [](Type type) { return isTile(type); };
  return llvm::any_of(op->getOperandTypes(), isTileType) ||
         llvm::any_of(op->getResultTypes(), isTileType);
}

LogicalResult TileLowering::lowerOp(Operation *op) {
  bool hasTiles = carriesTiles(op);
  if (auto matmul = dyn_cast<tile::MatmulOp>(op)) {
    // The matmul's region has no tiles.
    lowered.push_back(op);
    lowerMatmul(matmul);
    return success();
  }
  if (op->getNumRegions() != 0) {
    if (hasTiles) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        if (failed(lowerFor(loop)))
          return failure();
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        if (failed(lowerWhile(loop)))
          return failure();
      } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
        if (failed(lowerBranches(op)))
          return failure();
      } else {
        return op->emitOpError("cannot carry tiles; expected scf.for, "
                               "scf.while, scf.if or scf.index_switch");
      }
      carriers.push_back(op);
      return success();
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(lowerBlock(block)))
          return failure();
    return success();
  }
  // Terminators are handled with the op they belong to.
  if (!hasTiles)
    return success();
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    if (isa<scf::YieldOp, scf::ConditionOp>(op))
      return success();
    return op->emitOpError("cannot pass tiles; expected scf control flow");
  }

  lowered.push_back(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::LoadOp op) { return lowerLoad(op), success(); })
      .Case([&](tile::StoreOp op) { return lowerStore(op), success(); })
      .Case([&](tile::GatherOp op) { return lowerGather(op), success(); })
      .Case([&](tile::ScatterOp op) { return lowerScatter(op), success(); })
      .Case([&](tile::ReduceOp op) { return lowerReduce(op), success(); })
      .Case([&](AtomicRMWOp op) { return lowerAtomic(op), success(); })
      .Case([&](AtomicCASOp op) { return lowerAtomic(op), success(); })
      .Case([&](PacketStoreOp op) { return lowerPacket(op), success(); })
      .Case([&](PacketLoadOp op) { return lowerPacket(op), success(); })
      .Case([&](ExpectEqOp op) { return lowerExpect(op); })
      .Case([&](tensor::ExtractOp op) { return lowerExtract(op), success(); })
      .Case([&](tensor::FromElementsOp op) {
        return lowerFromElements(op), success();
      })
      .Case([&](arith::ConstantOp op) {
        return isLeafOp(op) ? success() : lowerConstant(op);
      })
      .Default([&](Operation *op) -> LogicalResult {
        if (op->getNumResults() != 1 || !isTile(op->getResult(0)))
          return op->emitOpError("is not supported on tiles");
        return lowerCompute(op);
      });
}

LogicalResult TileLowering::lowerBlock(Block &block) {
  fuseExpressions(block);
  // Lowering an op inserts others before it, never after.
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(lowerOp(&op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Removal of tiles
//===----------------------------------------------------------------------===//

/// The operands that are not tiles. A null operand was a tile carried by
/// another op that has already been rebuilt.
static SmallVector<Value> withoutTiles(OperandRange operands) {
  SmallVector<Value> kept;
  for (Value operand : operands)
    if (operand && !isTile(operand))
      kept.push_back(operand);
  return kept;
}

/// Drops the tiles among the operands of a terminator.
static void dropTileOperands(Operation *op) {
  SmallVector<Value> operands = withoutTiles(op->getOperands());
  op->setOperands(operands);
}

static void dropTileArguments(Block &block) {
  for (BlockArgument argument : block.getArguments())
    if (isTile(argument))
      argument.dropAllUses();
  block.eraseArguments([](BlockArgument argument) { return isTile(argument); });
}

/// Rebuilds a control flow op without tiles. Remaining uses of its tile results
/// are in ops that will be erased, so they are dropped.
static void rebuildWithoutTiles(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      dropTileOperands(block.getTerminator());
      dropTileArguments(block);
    }
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(withoutTiles(op->getOperands()));
  for (Type type : op->getResultTypes())
    if (!isTile(type))
      state.addTypes(type);
  state.addAttributes(op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  OpBuilder builder(op);
  Operation *clean = builder.create(state);
  unsigned number = 0;
  for (Value result : op->getResults()) {
    if (isTile(result))
      result.dropAllUses();
    else
      result.replaceAllUsesWith(clean->getResult(number++));
  }
  op->erase();
}

void TileLowering::eraseTiles() {
  for (Operation *op : carriers)
    rebuildWithoutTiles(op);
  for (Operation *op : lowered)
    op->dropAllReferences();
  for (Operation *op : lowered) {
    op->dropAllUses();
    op->erase();
  }
}

LogicalResult TileLowering::run() {
  if (!func.getBody().hasOneBlock())
    return func.emitOpError("has a body of ")
           << func.getBody().getBlocks().size()
           << " blocks; expected structured control flow (scf)";
  if (failed(lowerBlock(func.getBody().front())))
    return failure();
  eraseTiles();
  return success();
}
