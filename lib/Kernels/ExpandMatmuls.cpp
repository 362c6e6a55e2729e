// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandMatmuls.cpp - Generate kernels of matmuls --------------------===//

#include "iris/Kernels/MatmulKernels.h"
#include "iris/Kernels/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "iris-expand-matmuls"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISEXPANDMATMULSPASS
#include "iris/Kernels/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

namespace {
/// Replaces the matmuls of host programs by launches.
class MatmulExpansion {
public:
  MatmulExpansion(ModuleOp module, SymbolTable &symbols)
      : module(module), symbols(symbols) {}

  LogicalResult expand(MatmulCallOpInterface call);

private:
  FailureOr<DictionaryAttr> completeConfig(MatmulCallOpInterface call);
  MatmulKernelOp findKernel(MatmulCallOpInterface call, DictionaryAttr config);
  /// Appends the staging buffer and the workspace, if the kernel has them.
  void appendMemory(MatmulCallOpInterface call, MatmulKernelOp kernel,
                    const MatmulConfig &config,
                    SmallVectorImpl<Value> &arguments);

  ModuleOp module;
  SymbolTable &symbols;
  /// Keyed by kind, types, group size and config.
  llvm::DenseMap<Attribute, MatmulKernelOp> kernels;
  /// Buffers shared by calls with the same kernel and matrices.
  struct Known {
    MatmulKernelOp kernel;
    SmallVector<Value> matrices;
    Attribute group;
    SmallVector<Value> buffers;
  };
  SmallVector<Known> memory;
};
} // namespace

/// The call's config, completed with the entries that its operands imply.
FailureOr<DictionaryAttr>
MatmulExpansion::completeConfig(MatmulCallOpInterface call) {
  NamedAttrList entries(call.getConfigAttr());
  Builder b(call.getContext());
  for (auto [name, matrix] :
       {std::pair("a", call.getA()), std::pair("b", call.getB())}) {
    std::optional<MatmulConfig::Layout> layout =
        getLayout(cast<MemRefType>(matrix.getType()));
    if (!layout)
      return call->emitOpError(name)
             << " is " << matrix.getType() << "; expected no offset";
    if (entries.get(name))
      return call->emitOpError("config has ")
             << name
             << "; expected none in a call, whose operand determines it";
    if (*layout != MatmulConfig::Layout::Row)
      entries.set(name, b.getStringAttr(stringifyLayout(*layout)));
  }
  if (!cast<MemRefType>(call.getC().getType()).getLayout().isIdentity())
    return call->emitOpError("c is ")
           << call.getC().getType() << "; expected contiguous rows";
  if (call.getBias() && !entries.get("bias"))
    entries.set("bias", b.getStringAttr("column"));
  if (!call.getBias() && entries.get("bias"))
    return call->emitOpError("config has bias = ")
           << entries.get("bias") << "; expected bias(...) in the call";
  if (entries.get("scale"))
    return call->emitOpError(
        "config has scale; expected scale(...) in the call");
  if (call.getScale())
    entries.set("scale", b.getBoolAttr(true));
  return entries.empty() ? DictionaryAttr()
                         : entries.getDictionary(call.getContext());
}

MatmulKernelOp MatmulExpansion::findKernel(MatmulCallOpInterface call,
                                           DictionaryAttr config) {
  Builder b(module.getContext());
  MatmulKind kind = call.getMatmulKind();
  StringAttr name = b.getStringAttr(stringifyMatmulKind(kind));
  Type element = call.getElement().value_or(
      cast<MemRefType>(call.getA().getType()).getElementType());
  Type result = cast<MemRefType>(call.getC().getType()).getElementType();
  DenseI32ArrayAttr group = call.getGroupAttr();
  auto size = group ? b.getI64IntegerAttr(group.size()) : IntegerAttr();
  auto optional = [&](Attribute attr) {
    return attr ? attr : static_cast<Attribute>(b.getUnitAttr());
  };
  Attribute key =
      b.getArrayAttr({name, TypeAttr::get(element), TypeAttr::get(result),
                      optional(size), optional(config)});
  MatmulKernelOp &kernel = kernels[key];
  if (!kernel) {
    OpBuilder at = OpBuilder::atBlockBegin(module.getBody());
    kernel = MatmulKernelOp::create(at, call.getLoc(), name, name,
                                    TypeAttr::get(element),
                                    TypeAttr::get(result), size, config);
    symbols.insert(kernel);
  }
  return kernel;
}

/// Sets the insertion point after the definitions of all `matrices`.
static void setInsertionPointAfter(OpBuilder &b, ArrayRef<Value> matrices) {
  Value last;
  for (Value matrix : matrices) {
    Region *region = matrix.getParentRegion();
    if (!last || last.getParentRegion()->isProperAncestor(region)) {
      last = matrix;
      continue;
    }
    Operation *before = last.getDefiningOp(), *now = matrix.getDefiningOp();
    if (now && region == last.getParentRegion() &&
        (!before || before->isBeforeInBlock(now)))
      last = matrix;
  }
  b.setInsertionPointAfterValue(last);
}

/// Allocates a contiguous row-major or column-major matrix of `type`.
static Value allocate(ImplicitLocOpBuilder &b, MemRefType type, Value rows,
                      Value columns) {
  if (type.getLayout().isIdentity())
    return AllocOp::create(b, type, ValueRange{rows, columns},
                           /*workspace=*/true);
  MemRefType turned =
      MatmulConfig::matrix(type.getElementType(), MatmulConfig::Layout::Row);
  Value buffer = AllocOp::create(b, turned, ValueRange{columns, rows},
                                 /*workspace=*/true);
  return memref::ReinterpretCastOp::create(
      b, type, buffer, /*offset=*/OpFoldResult(b.getIndexAttr(0)),
      ArrayRef<OpFoldResult>{rows, columns},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1), rows});
}

static plan::MatmulShape<Value> getShape(ScalarBuilder &n,
                                         MatmulCallOpInterface call) {
  auto extent = [&](Value matrix, int64_t dim) -> Value {
    return memref::DimOp::create(n.b, matrix, dim);
  };
  DenseI32ArrayAttr group = call.getGroupAttr();
  Value size = group
                   ? n.index(group.size())
                   : NumRanksOp::create(n.b, n.b.getIndexType(), call.getCtx())
                         .getResult();
  return {extent(call.getA(), 0), extent(call.getA(), 1),
          extent(call.getB(), 1), size};
}

/// Calls of one kernel on the same matrices share the staging buffer and the
/// workspace, because other matrices may have other shapes. They are allocated
/// after the definitions of the matrices.
void MatmulExpansion::appendMemory(MatmulCallOpInterface call,
                                   MatmulKernelOp kernel,
                                   const MatmulConfig &config,
                                   SmallVectorImpl<Value> &arguments) {
  if (!config.hasWorkspace())
    return;
  SmallVector<Value> matrices = {call.getA(), call.getB(), call.getC()};
  for (const Known &known : memory)
    if (known.kernel == kernel && known.matrices == matrices &&
        known.group == call.getGroupAttr()) {
      arguments.append(known.buffers);
      return;
    }

  ScalarBuilder n(call.getLoc());
  setInsertionPointAfter(n.b, matrices);
  plan::FusedSizes<Value> sizes =
      plan::getFusedSizes<ScalarBuilder>(n, config, getShape(n, call));
  SmallVector<Value> buffers;
  if (config.hasStaging())
    buffers.push_back(allocate(n.b, config.stagingType(), sizes.stagingRows,
                               sizes.stagingColumns));
  auto bytes =
      MemRefType::get({ShapedType::kDynamic}, n.b.getI8Type(), AffineMap(),
                      SymmetricAttr::get(n.b.getContext()));
  buffers.push_back(AllocOp::create(
      n.b, bytes, ValueRange{FusedWorkspace::bytes(n, sizes.numFlags)},
      /*workspace=*/true));
  arguments.append(buffers);
  memory.push_back({kernel, matrices, call.getGroupAttr(), buffers});
}

/// Whether a host program can call the variant: its kernel needs nothing of its
/// caller but the launch.
static bool isCallable(const plan::MatmulVariant &variant) {
  return variant.hasKernel() && !variant.has(plan::copiedByEngine) &&
         !variant.has(plan::takesGathered);
}

/// Fails if the config names a variant that a host program cannot call.
static LogicalResult checkVariant(MatmulCallOpInterface call) {
  DictionaryAttr config = call.getConfigAttr();
  auto name = config ? config.getAs<StringAttr>("variant") : StringAttr();
  const plan::Matmul &matmul =
      plan::getMatmul(static_cast<plan::MatmulKind>(call.getMatmulKind()));
  const plan::MatmulVariant *variant =
      name ? matmul.find(name.getValue()) : matmul.begin();
  if (variant && isCallable(*variant))
    return success();
  InFlightDiagnostic diag = call->emitOpError("config has variant = ") << name;
  if (variant && variant->isPublic())
    diag << ", which only library calls have (iris/ccl/Matmul.h)";
  SmallVector<StringRef> callable;
  for (const plan::MatmulVariant &each : matmul)
    if (isCallable(each))
      callable.push_back(each.name);
  return diag << "; expected one of " << llvm::join(callable, ", ");
}

LogicalResult MatmulExpansion::expand(MatmulCallOpInterface call) {
  if (!call->getParentOfType<func::FuncOp>())
    return call->emitOpError("is in a kernel; expected a host program");
  if (failed(checkVariant(call)))
    return failure();
  FailureOr<DictionaryAttr> entries = completeConfig(call);
  if (failed(entries))
    return failure();
  MatmulKernelOp kernel = findKernel(call, *entries);
  FailureOr<MatmulConfig> config = getConfig(kernel, call);
  if (failed(config))
    return failure();

  LDBG() << *call.getOperation() << ": variant " << config->variantName()
         << ", tiles of " << config->tileM << " x " << config->tileN
         << ", k-blocks of " << config->tileK << ", up to " << config->programs
         << " programs";

  ScalarBuilder n(call.getLoc());
  n.b.setInsertionPoint(call);
  SmallVector<Value> arguments = {call.getA(), call.getB(), call.getC()};
  if (Value bias = call.getBias())
    arguments.push_back(bias);
  if (Value scale = call.getScale())
    arguments.push_back(scale);
  appendMemory(call, kernel, *config, arguments);
  // Static sizes of the host program are dynamic in the kernel.
  for (auto [argument, type] :
       llvm::zip_equal(arguments, config->argumentTypes()))
    if (argument.getType() != type)
      argument = memref::CastOp::create(n.b, type, argument);
  Value programs = plan::countPrograms<ScalarBuilder>(
      n, *config, getShape(n, call), n.index(config->programs));
  arguments.insert(arguments.begin(), call.getCtx());
  LaunchOp::create(
      n.b,
      SymbolRefAttr::get(kernel.getSymNameAttr(),
                         {FlatSymbolRefAttr::get(kernel.getSymNameAttr())}),
      programs, arguments, call.getGroupAttr());
  call->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct ExpandMatmulsPass
    : iris::impl::IrisExpandMatmulsPassBase<ExpandMatmulsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    MatmulExpansion calls(module, symbols);
    SmallVector<MatmulCallOpInterface> found;
    module.walk([&](MatmulCallOpInterface call) { found.push_back(call); });
    for (MatmulCallOpInterface call : found)
      if (failed(calls.expand(call)))
        return signalPassFailure();
    for (auto op :
         llvm::make_early_inc_range(module.getOps<MatmulKernelOp>())) {
      if (failed(buildMatmulKernel(op)))
        return signalPassFailure();
      op.erase();
    }
  }
};
} // namespace
