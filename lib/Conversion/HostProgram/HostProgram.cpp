// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostProgram.cpp - Lowers @main to runtime calls --------------------===//

#include "iris/Conversion/HostProgram.h"

#include "RuntimeCalls.h"

#include "iris-c/RuntimeABI.h"
#include "iris/Conversion/SourceLocation.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#define DEBUG_TYPE "convert-iris-host-program"

namespace mlir::iris {
#define GEN_PASS_DEF_CONVERTIRISHOSTPROGRAMPASS
#include "iris/Conversion/HostProgramPasses.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

/// The IrisRtHostApi, to which the context, `@main`'s only argument, is
/// lowered.
static Value apiOf(Operation *op) {
  return op->getParentRegion()->front().getArgument(0);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
template <typename OpT>
struct LowerRankQuery : ConvertOpToLLVMPattern<OpT> {
  LowerRankQuery(const LLVMTypeConverter &converter, size_t offset)
      : ConvertOpToLLVMPattern<OpT>(converter), offset(offset) {}

  LogicalResult
  matchAndRewrite(OpT op, typename OpT::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RuntimeCalls calls(rewriter, op, adaptor.getCtx());
    Value value =
        calls.loadField(rewriter.getI32Type(), adaptor.getCtx(), offset);
    rewriter.replaceOpWithNewOp<LLVM::ZExtOp>(op, rewriter.getI64Type(), value);
    return success();
  }

  size_t offset;
};

struct LowerAlloc : ConvertOpToLLVMPattern<AllocOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(AllocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = cast<MemRefType>(op.getType());
    RuntimeCalls calls(rewriter, op, apiOf(op));
    SmallVector<Value> sizes;
    unsigned dynamic = 0;
    for (int64_t size : type.getShape())
      sizes.push_back(ShapedType::isDynamic(size)
                          ? adaptor.getSizes()[dynamic++]
                          : calls.constant(64, size));

    Value bytes = checkedBytes(rewriter, calls, op, type, sizes);
    Value slot = calls.stackSlot(sizeof(uint64_t));
    std::string site = printLocation(loc);
    calls.call(offsetof(IrisRtHostApi, allocAt),
               {bytes, slot, calls.text("__alloc_site_" + site, site),
                calls.constant(32, op.getWorkspace())});

    Value address = calls.loadField(rewriter.getI64Type(), slot, 0);
    Value base = LLVM::IntToPtrOp::create(
        rewriter, loc, LLVM::LLVMPointerType::get(rewriter.getContext()),
        address);
    SmallVector<Value> strides(sizes.size());
    Value stride = calls.constant(64, 1);
    for (size_t dim = sizes.size(); dim-- > 0;) {
      strides[dim] = stride;
      stride = LLVM::MulOp::create(rewriter, loc, stride, sizes[dim]);
    }
    rewriter.replaceOp(op,
                       {describe(loc, type, base, sizes, strides, rewriter)});
    return success();
  }

private:
  /// Returns the size of the buffer in bytes; emits a return from `@main` if a
  /// size is negative or the product overflows, which the runtime reports.
  Value checkedBytes(RewriterBase &rewriter, RuntimeCalls &calls, AllocOp op,
                     MemRefType type, ArrayRef<Value> sizes) const {
    Location loc = op.getLoc();
    Value bytes =
        calls.constant(64, tile::getElementBytes(type.getElementType()));
    Value zero = calls.constant(64, 0);
    Value invalid;
    auto reject = [&](Value reason) {
      invalid =
          invalid
              ? LLVM::OrOp::create(rewriter, loc, invalid, reason).getResult()
              : reason;
    };
    auto resultType = LLVM::LLVMStructType::getLiteral(
        rewriter.getContext(), {rewriter.getI64Type(), rewriter.getI1Type()});
    for (Value size : sizes) {
      reject(LLVM::ICmpOp::create(rewriter, loc, LLVM::ICmpPredicate::slt, size,
                                  zero));
      Value product = LLVM::SMulWithOverflowOp::create(rewriter, loc,
                                                       resultType, bytes, size);
      bytes = LLVM::ExtractValueOp::create(rewriter, loc, product, 0);
      reject(LLVM::ExtractValueOp::create(rewriter, loc, product, 1));
    }
    if (invalid)
      calls.returnIf(invalid, calls.constant(32, IRISRT_INVALID_ARGUMENT));
    return bytes;
  }

  Value describe(Location loc, MemRefType type, Value base,
                 ArrayRef<Value> sizes, ArrayRef<Value> strides,
                 ConversionPatternRewriter &rewriter) const {
    auto descriptor = MemRefDescriptor::poison(
        rewriter, loc, getTypeConverter()->convertType(type));
    descriptor.setAllocatedPtr(rewriter, loc, base);
    descriptor.setAlignedPtr(rewriter, loc, base);
    descriptor.setConstantOffset(rewriter, loc, 0);
    for (auto [dim, size] : llvm::enumerate(sizes))
      descriptor.setSize(rewriter, loc, dim, size);
    for (auto [dim, stride] : llvm::enumerate(strides))
      descriptor.setStride(rewriter, loc, dim, stride);
    return descriptor;
  }
};

struct LowerDealloc : ConvertOpToLLVMPattern<DeallocOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(DeallocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RuntimeCalls calls(rewriter, op, apiOf(op));
    MemRefDescriptor buffer(adaptor.getBuffer());
    Value address =
        LLVM::PtrToIntOp::create(rewriter, op.getLoc(), rewriter.getI64Type(),
                                 buffer.allocatedPtr(rewriter, op.getLoc()));
    calls.call(offsetof(IrisRtHostApi, dealloc), address);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerSync : ConvertOpToLLVMPattern<SyncOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(SyncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RuntimeCalls calls(rewriter, op, adaptor.getCtx());
    calls.call(offsetof(IrisRtHostApi, sync), {});
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerLaunch : ConvertOpToLLVMPattern<LaunchOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(LaunchOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    RuntimeCalls calls(rewriter, op, apiOf(op));
    Value programs = calls.stackSlot(3 * sizeof(uint64_t));
    for (size_t dim = 0; dim < 3; ++dim) {
      Value extent = dim < adaptor.getPrograms().size()
                         ? adaptor.getPrograms()[dim]
                         : calls.constant(64, 1);
      calls.storeField(extent, programs, dim * sizeof(uint64_t));
    }

    size_t count = adaptor.getKernelOperands().size();
    Value arguments = calls.stackSlot(count * sizeof(IrisRtArg));
    for (auto [index, value] : llvm::enumerate(adaptor.getKernelOperands())) {
      Value slot = LLVM::GEPOp::create(
          rewriter, loc, arguments.getType(), rewriter.getI8Type(), arguments,
          ArrayRef<LLVM::GEPArg>{
              static_cast<int32_t>(index * sizeof(IrisRtArg))});
      packArgument(rewriter, loc, calls, value,
                   op.getKernelOperands()[index].getType(), slot);
    }
    SmallVector<Value> operands = {kernelName(calls, op), programs, arguments,
                                   calls.constant(32, count)};
    size_t entry = offsetof(IrisRtHostApi, launch);
    if (std::optional<ArrayRef<int32_t>> group = op.getGroup()) {
      entry = offsetof(IrisRtHostApi, launchGroup);
      operands.push_back(members(calls, *group));
      operands.push_back(calls.constant(32, group->size()));
    }
    calls.call(entry, operands);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// The ranks of the group in memory, as uint32_t.
  Value members(RuntimeCalls &calls, ArrayRef<int32_t> group) const {
    Value slot = calls.stackSlot(group.size() * sizeof(uint32_t));
    for (auto [index, rank] : llvm::enumerate(group))
      calls.storeField(calls.constant(32, rank), slot,
                       index * sizeof(uint32_t));
    return slot;
  }

  /// The address of "module::function".
  Value kernelName(RuntimeCalls &calls, LaunchOp op) const {
    std::string name = op.getKernel().getRootReference().str();
    for (FlatSymbolRefAttr part : op.getKernel().getNestedReferences())
      name += "::" + part.getValue().str();
    return calls.text("__kernel_name_" + name, name);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// Gives `@main` the name and the result type of IrisRtMain.
static void adoptSignature(func::FuncOp main) {
  Type status = IntegerType::get(main.getContext(), 32);
  main.setName(IRISRT_SYM_MAIN);
  main.setType(
      FunctionType::get(main.getContext(), main.getArgumentTypes(), {status}));
  main.walk([&](func::ReturnOp op) {
    OpBuilder builder(op);
    Value zero = arith::ConstantIntOp::create(builder, op.getLoc(), status, 0);
    op->setOperands(zero);
  });
}

/// Adds a final block to `main` that returns its argument, the status of a
/// failed call. With one return per call, LLVM would take quadratic time to
/// merge them. Splits the block after every op that becomes a call, from the
/// end: the conversion splits there, and each split moves the ops that follow.
static void prepareExits(func::FuncOp main) {
  SmallVector<Operation *> ops;
  main.walk([&](Operation *op) {
    if (isa_and_nonnull<IrisDialect>(op->getDialect()))
      ops.push_back(op);
  });
  OpBuilder builder(main.getContext());
  for (Operation *op : llvm::reverse(ops)) {
    Block *rest = op->getBlock()->splitBlock(op->getNextNode());
    builder.setInsertionPointAfter(op);
    cf::BranchOp::create(builder, op->getLoc(), rest);
  }
  Block *exit = builder.createBlock(&main.getBody(), main.getBody().end(),
                                    builder.getI32Type(), main.getLoc());
  // The block is not reachable yet, so the conversion would skip it.
  LLVM::ReturnOp::create(builder, main.getLoc(), exit->getArguments());
}

static void convertTypes(LLVMTypeConverter &converter) {
  converter.addConversion([](CtxType type) {
    return LLVM::LLVMPointerType::get(type.getContext());
  });
  auto toDefault = [](BaseMemRefType type, Attribute) {
    return IntegerAttr::get(IntegerType::get(type.getContext(), 64), 0);
  };
  converter.addTypeAttributeConversion(
      [=](BaseMemRefType type, SymmetricAttr space) {
        return toDefault(type, space);
      });
  converter.addTypeAttributeConversion(
      [=](BaseMemRefType type, PeerAttr space) {
        return toDefault(type, space);
      });
}

namespace {
struct HostProgramPass
    : iris::impl::ConvertIrisHostProgramPassBase<HostProgramPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    ModuleOp module = getOperation();
    dropTheRest(module);
    module.walk([](func::FuncOp main) {
      adoptSignature(main);
      prepareExits(main);
    });

    LowerToLLVMOptions options(context);
    LLVMTypeConverter converter(context, options);
    convertTypes(converter);
    RewritePatternSet patterns(context);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    // Conversions of integers to bf16 count leading zeros.
    populateMathToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    patterns.add<LowerRankQuery<RankOp>>(converter,
                                         offsetof(IrisRtHostApi, rank));
    patterns.add<LowerRankQuery<NumRanksOp>>(converter,
                                             offsetof(IrisRtHostApi, numRanks));
    patterns.add<LowerAlloc, LowerDealloc, LowerLaunch, LowerSync>(converter);

    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    if (failed(applyFullConversion(module, target, std::move(patterns))))
      signalPassFailure();
  }

private:
  /// Removes kernels, and functions that were inlined into `@main`.
  static void dropTheRest(ModuleOp module) {
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      auto func = dyn_cast<func::FuncOp>(op);
      if (isa<gpu::GPUModuleOp>(op) || (func && func.getName() != "main"))
        op.erase();
    }
  }
};
} // namespace
