// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerKernelABI.cpp - Lowers kernels to the runtime ABI -------------===//
//
// Replaces the arguments of every kernel of a gpu.module by the items of the
// argument block (RuntimeABI.h, section 3), and rebuilds the original values
// from them at the kernel's entry. On GPUs an item is a parameter; on the host
// it is a load from the block. Memrefs are rebuilt as descriptors of the LLVM
// conversion, with unrealized casts that the conversion removes.
//
//===----------------------------------------------------------------------===//

#include "iris/Conversion/KernelABI.h"

#include "KernelMetadata.h"
#include "iris-c/RuntimeABI.h"
#include "iris/Analysis/WorkgroupMemory.h"
#include "iris/Chips/ChipInfo.h"
#include "iris/Conversion/LowerSync.h"
#include "iris/Conversion/TargetInfo.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "iris-lower-kernel-abi"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISLOWERKERNELABIPASS
#include "iris/Conversion/KernelABI.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Memory spaces
//===----------------------------------------------------------------------===//

/// Replaces #iris.symmetric, #iris.peer and the default space, which are all
/// global memory at this point, by `addressSpace`.
static void lowerMemorySpaces(Operation *root, unsigned addressSpace) {
  MLIRContext *context = root->getContext();
  Attribute space;
  if (addressSpace != 0)
    space = IntegerAttr::get(IntegerType::get(context, 64), addressSpace);
  AttrTypeReplacer replacer;
  replacer.addReplacement([=](MemRefType type) -> std::optional<Type> {
    Attribute old = type.getMemorySpace();
    if (old && !isa<SymmetricAttr, PeerAttr>(old))
      return std::nullopt;
    return MemRefType::get(type.getShape(), type.getElementType(),
                           type.getLayout(), space);
  });
  replacer.recursivelyReplaceElementsIn(root, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

//===----------------------------------------------------------------------===//
// Rebuilding arguments
//===----------------------------------------------------------------------===//

namespace {
/// Provides the items of an argument.
class ItemSource {
public:
  virtual ~ItemSource() = default;
  /// The value of `item`; a null type means a pointer to global memory.
  virtual Value get(OpBuilder &builder, Location loc,
                    const BlockItem &item) = 0;
};

/// GPU: the next parameter of the kernel.
class ParameterSource : public ItemSource {
public:
  explicit ParameterSource(ValueRange parameters) : parameters(parameters) {}
  Value get(OpBuilder &, Location, const BlockItem &) override {
    return parameters[next++];
  }

private:
  ValueRange parameters;
  unsigned next = 0;
};

/// Host: a load from the argument block.
class BlockSource : public ItemSource {
public:
  explicit BlockSource(Value block) : block(block) {}
  Value get(OpBuilder &builder, Location loc, const BlockItem &item) override {
    Value address = LLVM::GEPOp::create(
        builder, loc, block.getType(), builder.getI8Type(), block,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(item.offset)});
    Type type = item.type ? item.type : block.getType();
    return LLVM::LoadOp::create(builder, loc, type, address);
  }

private:
  Value block;
};

/// Lowers one kernel to its final signature.
class KernelLowering {
public:
  KernelLowering(FunctionOpInterface kernel, const BlockLayout &layout,
                 unsigned addressSpace)
      : kernel(kernel), layout(layout), builder(kernel.getContext()),
        loc(kernel.getLoc()),
        pointer(LLVM::LLVMPointerType::get(kernel.getContext(), addressSpace)) {
  }

  LogicalResult lowerForGPU();
  LogicalResult lowerForHost();

private:
  LogicalResult rebuildArguments(ItemSource &source);
  LogicalResult replaceContext(Value context, ArrayRef<Value> fields);
  void replaceMaps(Value mask, ValueRange maps);
  Value buildMemRef(MemRefType type, ArrayRef<Value> items);
  Value buildScalar(Type type, Value item);
  Value loadProgramField(OpBuilder &at, Value program, Type type,
                         size_t offset);
  void replaceHostIds(Value program);
  void replaceHostArena(Value program);

  FunctionOpInterface kernel;
  const BlockLayout &layout;
  OpBuilder builder;
  Location loc;
  LLVM::LLVMPointerType pointer;
};
} // namespace

/// Builds a descriptor of the LLVM conversion: {allocated, aligned, offset,
/// sizes, strides}. The first item is the address of the first element, which
/// is `offset` elements after the descriptor's pointer.
Value KernelLowering::buildMemRef(MemRefType type, ArrayRef<Value> items) {
  int64_t rank = type.getRank();
  Type i64 = builder.getI64Type();
  SmallVector<Type> fields = {pointer, pointer, i64};
  if (rank > 0)
    fields.append(2, LLVM::LLVMArrayType::get(i64, rank));
  auto structType =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), fields);

  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i64,
                                    builder.getI64IntegerAttr(value));
  };
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);

  const Value *next = items.begin();
  Value descriptor = LLVM::UndefOp::create(builder, loc, structType);
  auto insert = [&](Value value, ArrayRef<int64_t> position) {
    descriptor =
        LLVM::InsertValueOp::create(builder, loc, descriptor, value, position);
  };
  Value base = *next++;
  if (offset != 0)
    base = LLVM::GEPOp::create(
        builder, loc, pointer, builder.getI8Type(), base,
        constant(-offset * getElementBytes(type.getElementType())));
  insert(base, {0});
  insert(base, {1});
  insert(constant(offset), {2});
  SmallVector<Value> sizes;
  for (int64_t extent : type.getShape())
    sizes.push_back(ShapedType::isDynamic(extent) ? *next++ : constant(extent));
  for (auto [dim, size] : llvm::enumerate(sizes))
    insert(size, {3, static_cast<int64_t>(dim)});

  // Row-major strides are computed from the sizes; others are items or static.
  bool identity = type.getLayout().isIdentity();
  SmallVector<Value> strideValues(rank);
  for (int64_t dim = rank - 1; dim >= 0 && identity; --dim) {
    if (!ShapedType::isDynamic(strides[dim]))
      strideValues[dim] = constant(strides[dim]);
    else
      strideValues[dim] = LLVM::MulOp::create(
          builder, loc, strideValues[dim + 1], sizes[dim + 1]);
  }
  for (int64_t dim = 0; dim < rank && !identity; ++dim)
    strideValues[dim] =
        ShapedType::isDynamic(strides[dim]) ? *next++ : constant(strides[dim]);
  for (auto [dim, stride] : llvm::enumerate(strideValues))
    insert(stride, {4, static_cast<int64_t>(dim)});

  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
      .getResult(0);
}

Value KernelLowering::buildScalar(Type type, Value item) {
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, item);
  if (type.isInteger(1))
    return arith::TruncIOp::create(builder, loc, type, item);
  return item;
}

LogicalResult KernelLowering::replaceContext(Value context,
                                             ArrayRef<Value> fields) {
  for (Operation *user : llvm::make_early_inc_range(context.getUsers())) {
    auto field = dyn_cast<CtxFieldOp>(user);
    if (!field)
      return user->emitOpError("uses the context; expected iris.ctx_field "
                               "to be the only use");
    for (auto [index, entry] : llvm::enumerate(getContextFields()))
      if (entry.name == field.getField())
        field.getResult().replaceAllUsesWith(fields[index]);
    field.erase();
  }
  return success();
}

LogicalResult KernelLowering::rebuildArguments(ItemSource &source) {
  // Contexts come last: replacing one erases ops, possibly the insertion point.
  SmallVector<std::pair<Value, SmallVector<Value>>> contexts;
  builder.setInsertionPointToStart(&kernel.getFunctionBody().front());
  for (auto [index, argument] : llvm::enumerate(layout.arguments)) {
    Value old = kernel.getArgument(index);
    SmallVector<Value> items;
    for (const BlockItem &item : argument.items)
      items.push_back(source.get(builder, loc, item));
    if (isa<CtxType>(old.getType())) {
      contexts.emplace_back(old, std::move(items));
      continue;
    }
    auto memref = dyn_cast<MemRefType>(old.getType());
    old.replaceAllUsesWith(memref ? buildMemRef(memref, items)
                                  : buildScalar(old.getType(), items.front()));
  }
  for (auto &[context, fields] : contexts)
    if (failed(replaceContext(context, fields)))
      return failure();
  return success();
}

/// Bit i of `mask` is set if map i is valid.
void KernelLowering::replaceMaps(Value mask, ValueRange maps) {
  builder.setInsertionPointToStart(&kernel.getFunctionBody().front());
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, i64,
                                    builder.getI64IntegerAttr(value));
  };
  for (auto [i, map] : llvm::enumerate(layout.maps)) {
    Value bit =
        LLVM::AndOp::create(builder, loc, mask, constant(int64_t(1) << i));
    Value made = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                      bit, constant(0));
    for (TensorMapOp op : map.uses) {
      op.getMap().replaceAllUsesWith(maps[i]);
      op.getMade().replaceAllUsesWith(made);
      op.erase();
    }
  }
}

LogicalResult KernelLowering::lowerForGPU() {
  SmallVector<Type> types;
  for (const ArgumentLayout &argument : layout.arguments)
    for (const BlockItem &item : argument.items)
      types.push_back(item.type ? item.type : pointer);
  unsigned firstHidden = types.size();
  if (!layout.maps.empty()) {
    types.push_back(builder.getI64Type());
    types.append(layout.maps.size(),
                 LLVM::LLVMPointerType::get(builder.getContext()));
  }

  Block &entry = kernel.getFunctionBody().front();
  unsigned numOld = kernel.getNumArguments();
  // Memory attributions follow the arguments; the new ones are inserted
  // between.
  for (auto [index, type] : llvm::enumerate(types))
    entry.insertArgument(numOld + index, type, loc);
  ValueRange parameters = entry.getArguments().slice(numOld, types.size());
  if (!layout.maps.empty()) {
    replaceMaps(parameters[firstHidden],
                parameters.drop_front(firstHidden + 1));
    // The attributes of by-value parameters exist only on LLVM functions.
    kernel->setAttr(kFirstMapParameterAttr,
                    builder.getI64IntegerAttr(firstHidden + 1));
  }
  ParameterSource source(parameters);
  if (failed(rebuildArguments(source)))
    return failure();
  entry.eraseArguments(0, numOld);
  kernel.removeArgAttrsAttr();
  kernel.setType(builder.getFunctionType(types, {}));
  return success();
}

Value KernelLowering::loadProgramField(OpBuilder &at, Value program, Type type,
                                       size_t offset) {
  Value address =
      LLVM::GEPOp::create(at, loc, pointer, at.getI8Type(), program,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  return LLVM::LoadOp::create(at, loc, type, address);
}

/// Block ids and grid dimensions are read from IrisRtHostProgram.
void KernelLowering::replaceHostIds(Value program) {
  auto replaceId = [&](Operation *op, gpu::Dimension dim, size_t base) {
    builder.setInsertionPointToStart(&kernel.getFunctionBody().front());
    Value id = loadProgramField(builder, program, builder.getI32Type(),
                                base + 4 * static_cast<size_t>(dim));
    Value index =
        arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), id);
    op->getResult(0).replaceAllUsesWith(index);
    op->erase();
  };
  kernel.walk([&](Operation *op) {
    if (auto id = dyn_cast<gpu::BlockIdOp>(op))
      replaceId(op, id.getDimension(), offsetof(IrisRtHostProgram, id));
    else if (auto dim = dyn_cast<gpu::GridDimOp>(op))
      replaceId(op, dim.getDimension(), offsetof(IrisRtHostProgram, count));
  });
}

/// The arena's address is in IrisRtHostProgram, its size in the kernel's
/// attribute.
void KernelLowering::replaceHostArena(Value program) {
  auto bytes = kernel->getAttrOfType<IntegerAttr>("iris.arena_bytes");
  kernel.walk([&](HostArenaOp arena) {
    builder.setInsertionPointToStart(&kernel.getFunctionBody().front());
    Value base = loadProgramField(builder, program, pointer,
                                  offsetof(IrisRtHostProgram, arena));
    Value size =
        LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), bytes);
    arena.getResult().replaceAllUsesWith(
        buildMemRef(arena.getType(), {base, size}));
    arena.erase();
  });
}

LogicalResult KernelLowering::lowerForHost() {
  Block &entry = kernel.getFunctionBody().front();
  unsigned numOld = kernel.getNumArguments();
  Value block = entry.addArgument(pointer, loc);
  Value program = entry.addArgument(pointer, loc);
  BlockSource source(block);
  if (failed(rebuildArguments(source)))
    return failure();
  replaceHostIds(program);
  replaceHostArena(program);
  entry.eraseArguments(0, numOld);
  kernel.removeArgAttrsAttr();
  kernel.setType(builder.getFunctionType({pointer, pointer}, {}));
  return success();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// Checks the workgroup memory of `kernel`: the sum of declared buffers and the
/// compiler's own use.
static LogicalResult verifyWorkgroupMemory(FunctionOpInterface kernel,
                                           const TargetInfo &target,
                                           uint64_t most) {
  uint64_t declared = getWorkgroupAttributionBytes(kernel);
  if (declared == 0)
    return success();
  llvm::SmallPtrSet<Operation *, 4> known;
  uint64_t taken = 0;
  DataLayout layout = DataLayout::closest(kernel);
  SymbolTableCollection tables;
  kernel.walk([&](LLVM::AddressOfOp op) {
    LLVM::GlobalOp global = op.getGlobal(tables);
    if (global && global.getAddrSpace() == target.getWorkgroupAddressSpace() &&
        known.insert(global).second)
      taken += layout.getTypeSize(global.getType());
  });
  if (llvm::SaturatingAdd(declared, taken) <= most)
    return success();
  InFlightDiagnostic diagnostic =
      kernel.emitOpError("has ")
      << declared << " bytes of declared buffers (memref.alloca) and " << taken
      << " bytes of workgroup memory for the compiler; "
      << "expected at most " << most << " in all on " << target.getName();
  for (BlockArgument buffer :
       cast<gpu::GPUFuncOp>(*kernel).getWorkgroupAttributions())
    diagnostic.attachNote(buffer.getLoc())
        << "a buffer of " << getBufferBytes(cast<MemRefType>(buffer.getType()))
        << " bytes";
  return diagnostic;
}

/// Threads that a program has on any GPU.
static constexpr int64_t kMaxThreads = 1024;

/// Checks the number of warps, which may be valid for smaller warps.
static LogicalResult verifyThreads(FunctionOpInterface kernel, int64_t warps,
                                   const TargetInfo &target) {
  int64_t most = kMaxThreads / target.getWaveSize();
  if (warps <= most)
    return success();
  return kernel.emitOpError("has ")
         << warps << " warps of " << target.getWaveSize()
         << " threads; expected at most " << most << " on " << target.getName()
         << ", as a program has at most " << kMaxThreads << " threads";
}

namespace {
struct LowerKernelABIPass
    : iris::impl::IrisLowerKernelABIPassBase<LowerKernelABIPass> {
  using IrisLowerKernelABIPassBase::IrisLowerKernelABIPassBase;

  void runOnOperation() override {
    std::unique_ptr<TargetInfo> info = createTargetInfo(target);
    if (!info) {
      getOperation()->emitError(describeUnknownTarget(target));
      return signalPassFailure();
    }
    bool host = info->hasOneThread();
    unsigned addressSpace = info->getGlobalAddressSpace();
    // Layouts and metadata refer to the kernel's original types.
    SmallVector<std::pair<FunctionOpInterface, BlockLayout>> kernels;
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      if (!isKernel(function))
        continue;
      FailureOr<BlockLayout> layout = layOutArguments(function);
      if (failed(layout) ||
          failed(verifyWorkgroupMemory(function, *info, maxWorkgroupBytes)))
        return signalPassFailure();
      int64_t warps = countAllWarps(function);
      if (!host && failed(verifyThreads(function, warps, *info)))
        return signalPassFailure();
      int64_t threads = host ? 1 : warps * info->getWaveSize();
      LDBG() << function.getName() << ": " << layout->bytes
             << " bytes of arguments, " << threads << " threads";
      if (info->hasDependentLaunch())
        function->setAttr(kDependentLaunchAttr,
                          UnitAttr::get(function.getContext()));
      function->setAttr(kMetaAttr,
                        describeKernel(function, *layout, threads,
                                       getSymbol(function.getName(), host)));
      if (auto kernel = dyn_cast<gpu::GPUFuncOp>(function.getOperation()))
        kernel.setKnownBlockSize(
            ArrayRef<int32_t>{static_cast<int32_t>(threads), 1, 1});
      kernels.emplace_back(function, std::move(*layout));
    }
    lowerMemorySpaces(getOperation(), addressSpace);
    for (auto &[function, layout] : kernels) {
      KernelLowering lowering(function, layout, addressSpace);
      if (failed(host ? lowering.lowerForHost() : lowering.lowerForGPU()))
        return signalPassFailure();
      if (info->hasDependentLaunch())
        emitDependentStart(function, *info);
    }
  }

private:
  /// Programs of the next kernel take registers and threads while they wait. A
  /// kernel that waits for other ranks lets none start early: it might never
  /// end, if theirs lack the room that the next kernel has taken here.
  static void emitDependentStart(FunctionOpInterface kernel,
                                 const TargetInfo &target) {
    ImplicitLocOpBuilder b(kernel.getLoc(), kernel.getContext());
    b.setInsertionPointToStart(&kernel.getFunctionBody().front());
    target.emitDependentStart(b,
                              /*startsNext=*/!kernel->hasAttr(kCoresidentAttr));
  }

  static bool isKernel(FunctionOpInterface function) {
    if (auto kernel = dyn_cast<gpu::GPUFuncOp>(function.getOperation()))
      return kernel.isKernel();
    return function->hasAttr("iris.kernel");
  }

  /// The symbol of a kernel. Machine code of the host calls functions of the C
  /// library by their names, and the linker defines some of its own; a kernel
  /// with such a name would be called in their place. No name of a kernel or of
  /// a library contains a period.
  static std::string getSymbol(StringRef name, bool host) {
    return (host ? "iris." + name : Twine(name)).str();
  }

  static int64_t countAllWarps(FunctionOpInterface function) {
    auto producers = function->getAttrOfType<IntegerAttr>(kProducerWarpsAttr);
    return getNumWarps(function) + (producers ? producers.getInt() : 0);
  }
};
} // namespace
