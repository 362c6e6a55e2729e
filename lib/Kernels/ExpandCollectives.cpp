// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandCollectives.cpp - Generate kernels of collectives ------------===//

#include "iris/Kernels/CollectiveKernels.h"
#include "iris/Kernels/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-expand-collectives"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISEXPANDCOLLECTIVESPASS
#include "iris/Kernels/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

namespace {
/// Replaces the collectives of host programs by launches.
class CallExpansion {
public:
  CallExpansion(ModuleOp module, SymbolTable &symbols, unsigned waveSize)
      : module(module), symbols(symbols), waveSize(waveSize) {}

  LogicalResult expand(CollectiveCallOpInterface call);

private:
  FlatSymbolRefAttr findCollective(CollectiveCallOpInterface call);
  Value findWorkspace(CollectiveCallOpInterface call, int64_t bytes);
  Value flatten(ImplicitLocOpBuilder &b, Value buffer);
  Value countElements(ImplicitLocOpBuilder &b, CollectiveCallOpInterface call,
                      Value size);

  ModuleOp module;
  SymbolTable &symbols;
  unsigned waveSize;
  /// Keyed by kind, reduction, types, group size and config.
  llvm::DenseMap<Attribute, CollectiveOp> collectives;
  /// Keyed by the function, the group and the size.
  llvm::DenseMap<std::tuple<Operation *, Attribute, int64_t>, Value> workspaces;
};
} // namespace

FlatSymbolRefAttr
CallExpansion::findCollective(CollectiveCallOpInterface call) {
  MLIRContext *context = module.getContext();
  Builder b(context);
  Type element = call.getElement().value_or(
      cast<MemRefType>(call.getInput().getType()).getElementType());
  CollectiveKind kind = call.getCollectiveKind();
  std::optional<Reduction> reduction = call.getReductionKind();
  DenseI32ArrayAttr group = call.getGroupAttr();
  auto size = group ? b.getI64IntegerAttr(group.size()) : IntegerAttr();
  auto optional = [&](Attribute attr) {
    return attr ? attr : static_cast<Attribute>(b.getUnitAttr());
  };
  Attribute key = b.getArrayAttr(
      {CollectiveKindAttr::get(context, kind),
       optional(reduction ? ReductionAttr::get(context, *reduction)
                          : ReductionAttr()),
       TypeAttr::get(element), optional(size), optional(call.getConfigAttr())});
  CollectiveOp &collective = collectives[key];
  if (!collective) {
    OpBuilder at = OpBuilder::atBlockBegin(module.getBody());
    collective = CollectiveOp::create(
        at, call.getLoc(), b.getStringAttr(stringifyCollectiveKind(kind)),
        CollectiveKindAttr::get(context, kind),
        reduction ? ReductionAttr::get(context, *reduction) : ReductionAttr(),
        TypeAttr::get(element), size, call.getConfigAttr());
    symbols.insert(collective);
  }
  return FlatSymbolRefAttr::get(collective.getSymNameAttr());
}

Value CallExpansion::findWorkspace(CollectiveCallOpInterface call,
                                   int64_t bytes) {
  auto function = call->getParentOfType<FunctionOpInterface>();
  Value &workspace = workspaces[{function, call.getGroupAttr(), bytes}];
  if (workspace)
    return workspace;
  ImplicitLocOpBuilder b(call.getLoc(), function.getContext());
  b.setInsertionPointToStart(&function.getFunctionBody().front());
  auto type = MemRefType::get({ShapedType::kDynamic}, b.getI8Type(),
                              AffineMap(), SymmetricAttr::get(b.getContext()));
  workspace = AllocOp::create(
      b, type, arith::ConstantIndexOp::create(b, bytes).getResult(),
      /*workspace=*/true);
  return workspace;
}

Value CallExpansion::flatten(ImplicitLocOpBuilder &b, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  auto flat = MemRefType::get({ShapedType::kDynamic}, type.getElementType(),
                              AffineMap(), type.getMemorySpace());
  if (type.getRank() > 1) {
    SmallVector<ReassociationIndices> all(1);
    llvm::append_range(all.front(), llvm::seq<int64_t>(0, type.getRank()));
    buffer = memref::CollapseShapeOp::create(b, buffer, all);
  }
  if (buffer.getType() != flat)
    buffer = memref::CastOp::create(b, flat, buffer);
  return buffer;
}

/// Elements per chunk, taken from the buffer that holds a single chunk, if
/// there is one; the other buffer must hold `size` chunks.
Value CallExpansion::countElements(ImplicitLocOpBuilder &b,
                                   CollectiveCallOpInterface call, Value size) {
  auto extent = [&](Value buffer) {
    return memref::DimOp::create(b, flatten(b, buffer), 0).getResult();
  };
  using plan::Chunks;
  if (getCollective(call.getCollectiveKind()).hasCounts())
    return arith::MaxUIOp::create(b, extent(call.getInput()),
                                  extent(call.getOutput()));
  const plan::Collective &collective = getCollective(call.getCollectiveKind());
  if (collective.in.chunks == Chunks::one)
    return extent(call.getInput());
  if (collective.out.chunks == Chunks::one)
    return extent(call.getOutput());
  return arith::DivUIOp::create(b, extent(call.getInput()), size);
}

LogicalResult CallExpansion::expand(CollectiveCallOpInterface call) {
  if (!call->getParentOfType<func::FuncOp>())
    return call->emitOpError("is in a kernel; expected a host program");
  for (Value buffer : {call.getInput(), call.getOutput()})
    if (cast<MemRefType>(buffer.getType()).getRank() == 0)
      return call->emitOpError("buffer is ")
             << buffer.getType() << "; expected at least one dimension";
  FlatSymbolRefAttr collective = findCollective(call);
  FailureOr<CollectiveConfig> config = getConfig(
      symbols.lookup<CollectiveOp>(collective.getValue()), waveSize, call);
  if (failed(config))
    return failure();
  if (config->staged)
    return call->emitOpError("config has staged = true; expected none in a "
                             "host program, whose buffers are in the heap");
  if (call.getInput() == call.getOutput() && !config->canBeInPlace())
    return call->emitOpError("output is the input, which variant ")
           << StringRef(config->variant->name) << " of "
           << stringifyCollectiveKind(config->kind) << " does not support";
  LDBG() << *call.getOperation() << ": variant "
         << StringRef(config->variant->name) << ", tiles of " << config->tile
         << " elements, up to " << config->programs << " programs";
  Value workspace = findWorkspace(call, config->workspace.bytes);

  ScalarBuilder n(call.getLoc());
  ImplicitLocOpBuilder &b = n.b;
  b.setInsertionPoint(call);
  Type index = b.getIndexType();
  DenseI32ArrayAttr group = call.getGroupAttr();
  Value size = group ? n.index(group.size())
                     : NumRanksOp::create(b, index, call.getCtx()).getResult();
  SmallVector<Value> tables;
  for (Value table : call.getChunkTables())
    tables.push_back(flatten(b, table));
  // With counts, a row is an element, and the number of programs that of the
  // larger buffer.
  Value elements = countElements(b, call, size);
  Value count = tables.empty() ? elements : n.index(1);
  Value root = call.getRootMember() ? call.getRootMember() : n.index(0);
  Value programs = plan::countPrograms<ScalarBuilder>(
      n, n.ceilDiv(elements, n.index(config->tile)), n.index(config->programs));
  auto kernel = SymbolRefAttr::get(collective.getAttr(), collective);
  SmallVector<Value> arguments = {call.getCtx(),
                                  flatten(b, call.getInput()),
                                  flatten(b, call.getOutput()),
                                  workspace,
                                  count,
                                  root};
  arguments.append(tables);
  LaunchOp::create(b, kernel, programs, arguments, group);
  call->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct ExpandCollectivesPass
    : iris::impl::IrisExpandCollectivesPassBase<ExpandCollectivesPass> {
  using IrisExpandCollectivesPassBase::IrisExpandCollectivesPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    CallExpansion calls(module, symbols, waveSize);
    SmallVector<CollectiveCallOpInterface> found;
    module.walk([&](CollectiveCallOpInterface call) { found.push_back(call); });
    for (CollectiveCallOpInterface call : found)
      if (failed(calls.expand(call)))
        return signalPassFailure();
    for (auto op : llvm::make_early_inc_range(module.getOps<CollectiveOp>())) {
      if (failed(buildCollective(op, waveSize)))
        return signalPassFailure();
      op.erase();
    }
  }
};
} // namespace
