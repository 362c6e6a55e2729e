// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelMetadata.cpp - Argument layout and metadata ------------------===//

#include "KernelMetadata.h"

#include "iris-c/RuntimeABI.h"
#include "iris/Analysis/ArgumentOverlaps.h"
#include "iris/Analysis/WorkgroupMemory.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Iris/IR/IrisChecks.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

static_assert(kMaxRanks == IRISRT_MAX_RANKS && kMaxGroup == IRISRT_MAX_GROUP &&
                  kMaxAnyGroup == IRISRT_MAX_ANY_GROUP,
              "the same bounds in two headers");

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

namespace {
/// Appends items, each aligned to its size.
struct BlockBuilder {
  MLIRContext *context;
  BlockLayout block;

  void add(Type type, int64_t bytes) {
    block.bytes = llvm::alignTo(block.bytes, bytes);
    block.arguments.back().items.push_back({block.bytes, type});
    block.bytes += bytes;
  }
  void addInteger(unsigned bits) {
    add(IntegerType::get(context, bits), bits / 8);
  }
  void addPointer() { add(Type(), 8); }
};
} // namespace

/// True if the ABI supports elements and scalars of `type`.
static bool isElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() &&
           llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return type.isIndex() || type.isF16() || type.isBF16() || type.isF32() ||
         type.isF64();
}

static LogicalResult addMemRef(FunctionOpInterface kernel, unsigned index,
                               MemRefType type, BlockBuilder &builder) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return kernel.emitOpError("argument ")
           << index << " is " << type << "; expected a strided layout";
  if (ShapedType::isDynamic(offset))
    return kernel.emitOpError("argument ")
           << index << " is " << type
           << " with a dynamic offset; expected a static one (the pointer of "
              "the argument already points to the first element)";
  if (type.getRank() > IRISRT_MAX_DIMS || !isElement(type.getElementType()))
    return kernel.emitOpError("argument ")
           << index << " is " << type << "; expected at most "
           << IRISRT_MAX_DIMS
           << " dimensions of f16, bf16, f32, f64, i8, "
              "i16, i32 or i64";
  builder.addPointer();
  for (int64_t i = 0, e = type.getNumDynamicDims(); i < e; ++i)
    builder.addInteger(64);
  if (!type.getLayout().isIdentity())
    for (int64_t stride : strides)
      if (ShapedType::isDynamic(stride))
        builder.addInteger(64);
  return success();
}

/// A name becomes a symbol of every target's image. PTX allows the least.
static LogicalResult verifyName(FunctionOpInterface kernel) {
  StringRef name = kernel.getName();
  auto isLetter = [](char c) { return llvm::isAlpha(c) || c == '_'; };
  auto isPart = [&](char c) {
    return isLetter(c) || llvm::isDigit(c) || c == '$';
  };
  bool single = name.size() == 1 && name.front() == '_';
  if (!name.empty() && isLetter(name.front()) && !single &&
      llvm::all_of(name, isPart))
    return success();
  return kernel.emitOpError("has the name '")
         << name
         << "'; expected letters, digits, '_' and '$', a letter or '_' first, "
            "and not '_' alone";
}

/// Memory that the kernel declares becomes an LLVM array, which supports
/// neither dynamic extents nor layouts.
static LogicalResult verifyAttributions(gpu::GPUFuncOp kernel) {
  for (ArrayRef<BlockArgument> attributions :
       {kernel.getWorkgroupAttributions(), kernel.getPrivateAttributions()})
    for (BlockArgument attribution : attributions) {
      auto type = dyn_cast<MemRefType>(attribution.getType());
      if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity() ||
          !isElement(type.getElementType()))
        return kernel.emitOpError("declares memory of type ")
               << attribution.getType()
               << "; expected static sizes, no layout and elements of f16, "
                  "bf16, f32, f64, i8, i16, i32 or i64";
    }
  return success();
}

/// True if both ops can share one tensor map.
static bool isSameMap(TensorMapOp a, TensorMapOp b) {
  return a.getBuffer() == b.getBuffer() &&
         a.getContiguous() == b.getContiguous() && a.getBox() == b.getBox() &&
         a.getSwizzle() == b.getSwizzle() && a.getRanks() == b.getRanks();
}

/// Hidden arguments follow the explicit ones.
static LogicalResult layOutMaps(FunctionOpInterface kernel,
                                BlockBuilder &builder) {
  BlockLayout &block = builder.block;
  WalkResult walk = kernel->walk([&](TensorMapOp op) {
    auto argument = dyn_cast<BlockArgument>(op.getBuffer());
    if (!argument || argument.getOwner() != &kernel.getFunctionBody().front()) {
      op.emitOpError("describes a buffer created in the kernel; expected "
                     "an argument");
      return WalkResult::interrupt();
    }
    for (TensorMapLayout &map : block.maps)
      if (isSameMap(map.uses.front(), op)) {
        map.uses.push_back(op);
        return WalkResult::advance();
      }
    block.maps.push_back({0, {op}});
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  if (block.maps.empty())
    return success();
  if (block.maps.size() > IRISRT_MAX_TENSOR_MAPS)
    return kernel.emitOpError("needs ")
           << block.maps.size() << " tensor maps; expected at most "
           << IRISRT_MAX_TENSOR_MAPS;
  block.mapMaskOffset = llvm::alignTo(block.bytes, 8);
  block.bytes = block.mapMaskOffset + 8;
  for (TensorMapLayout &map : block.maps) {
    map.offset = llvm::alignTo(block.bytes, IRISRT_TENSOR_MAP_ALIGNMENT);
    block.bytes = map.offset + IRISRT_TENSOR_MAP_BYTES;
  }
  return success();
}

/// Checked for all targets alike, because kernels must compile for all: some
/// GPUs of NVIDIA take no more. Tensor maps are arguments of those targets only
/// that have them.
static LogicalResult verifyArgumentBytes(FunctionOpInterface kernel,
                                         const BlockLayout &block) {
  constexpr int64_t most = 4096;
  if (block.bytes <= most)
    return success();
  InFlightDiagnostic error = kernel.emitOpError("has ")
                             << block.bytes << " bytes of arguments";
  if (!block.maps.empty())
    error << " with " << block.maps.size()
          << " tensor maps of its matmuls' operands";
  return error << "; expected at most " << most
               << "; put the rest into a buffer";
}

FailureOr<BlockLayout> mlir::iris::layOutArguments(FunctionOpInterface kernel) {
  BlockBuilder builder{kernel.getContext(), {}};
  if (failed(verifyName(kernel)))
    return failure();
  if (auto func = dyn_cast<gpu::GPUFuncOp>(*kernel))
    if (failed(verifyAttributions(func)))
      return failure();
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    builder.block.arguments.emplace_back();
    if (isa<CtxType>(type)) {
      // The struct has the alignment of its widest field.
      builder.block.bytes = llvm::alignTo(builder.block.bytes, 8);
      for (const ContextField &field : getContextFields())
        builder.addInteger(field.bits);
    } else if (auto memref = dyn_cast<MemRefType>(type)) {
      if (failed(addMemRef(kernel, index, memref, builder)))
        return failure();
    } else if (type.isIndex()) {
      builder.addInteger(64);
    } else if (isElement(type)) {
      unsigned bits = type.getIntOrFloatBitWidth();
      if (bits == 1)
        builder.addInteger(8);
      else
        builder.add(type, bits / 8);
    } else {
      return kernel.emitOpError("argument ")
             << index << " has type " << type
             << "; expected !iris.ctx, a memref, an index, an integer or a "
                "float";
    }
  }
  if (failed(layOutMaps(kernel, builder)) ||
      failed(verifyArgumentBytes(kernel, builder.block)))
    return failure();
  return std::move(builder.block);
}

//===----------------------------------------------------------------------===//
// Description
//===----------------------------------------------------------------------===//

static std::string elementName(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

/// The attribute of an extent; unit (null in JSON) for a dynamic extent.
static Attribute extentAttr(Builder &builder, int64_t extent) {
  return ShapedType::isDynamic(extent)
             ? static_cast<Attribute>(builder.getUnitAttr())
             : builder.getI64IntegerAttr(extent);
}

static ArrayAttr extentsAttr(Builder &builder, ArrayRef<int64_t> extents) {
  return builder.getArrayAttr(llvm::map_to_vector(
      extents, [&](int64_t extent) { return extentAttr(builder, extent); }));
}

static DictionaryAttr describeArgument(Builder &builder, Type type,
                                       Attribute divisibility,
                                       const ArgumentLayout &layout) {
  NamedAttrList fields;
  fields.set("offset", builder.getI64IntegerAttr(layout.items.front().offset));
  if (isa<CtxType>(type)) {
    fields.set("kind", builder.getStringAttr("context"));
    return fields.getDictionary(builder.getContext());
  }
  auto memref = dyn_cast<MemRefType>(type);
  fields.set("kind", builder.getStringAttr(memref ? "memref" : "scalar"));
  fields.set("element",
             builder.getStringAttr(elementName(getElementTypeOrSelf(type))));
  if (!memref) {
    if (divisibility)
      fields.set("divisibility", divisibility);
    return fields.getDictionary(builder.getContext());
  }
  fields.set("symmetric", builder.getBoolAttr(isSymmetric(memref)));
  fields.set("sizes", extentsAttr(builder, memref.getShape()));
  if (memref.getLayout().isIdentity()) {
    fields.set("strides", builder.getUnitAttr());
  } else {
    SmallVector<int64_t> strides;
    int64_t offset;
    (void)memref.getStridesAndOffset(strides, offset);
    fields.set("strides", extentsAttr(builder, strides));
  }
  if (isa_and_nonnull<IntegerAttr>(divisibility))
    divisibility = builder.getDictionaryAttr(
        builder.getNamedAttr("pointer", divisibility));
  if (divisibility)
    fields.set("divisibility", divisibility);
  return fields.getDictionary(builder.getContext());
}

/// The metadata's "hidden".
static ArrayAttr describeHidden(Builder &builder, const BlockLayout &layout) {
  SmallVector<Attribute> hidden;
  auto add = [&](StringRef kind, int64_t offset, NamedAttrList fields) {
    fields.set("kind", builder.getStringAttr(kind));
    fields.set("offset", builder.getI64IntegerAttr(offset));
    hidden.push_back(fields.getDictionary(builder.getContext()));
  };
  if (!layout.maps.empty())
    add("tensor_map_mask", layout.mapMaskOffset, {});
  for (const TensorMapLayout &map : layout.maps) {
    TensorMapOp op = map.uses.front();
    NamedAttrList fields;
    fields.set("arg", builder.getI64IntegerAttr(
                          cast<BlockArgument>(op.getBuffer()).getArgNumber()));
    fields.set("contiguous", op.getContiguousAttr());
    fields.set("box", builder.getI64ArrayAttr(op.getBox()));
    fields.set("swizzle", op.getSwizzleAttr());
    fields.set("ranks", builder.getBoolAttr(op.getRanks()));
    add("tensor_map", map.offset, fields);
  }
  return builder.getArrayAttr(hidden);
}

DictionaryAttr mlir::iris::describeKernel(FunctionOpInterface kernel,
                                          const BlockLayout &layout,
                                          int64_t threads, StringRef symbol) {
  Builder builder(kernel.getContext());
  SmallVector<Attribute> arguments;
  for (auto [index, argument] : llvm::enumerate(layout.arguments))
    arguments.push_back(describeArgument(
        builder, kernel.getArgumentTypes()[index],
        kernel.getArgAttr(index, kDivisibilityAttr), argument));

  auto integer = [&](StringRef name) -> Attribute {
    auto attr = kernel->getAttrOfType<IntegerAttr>(name);
    return builder.getI64IntegerAttr(attr ? attr.getInt() : 0);
  };
  NamedAttrList meta;
  meta.set("name", builder.getStringAttr(kernel.getName()));
  if (auto module = kernel->getParentOfType<gpu::GPUModuleOp>())
    meta.set("module", builder.getStringAttr(module.getName()));
  meta.set("symbol", builder.getStringAttr(symbol));
  meta.set("workgroup", builder.getI64ArrayAttr({threads, 1, 1}));
  // The static part consists of globals that the compiler has laid out.
  auto bytes = [&](StringRef name) {
    return cast<IntegerAttr>(integer(name)).getInt();
  };
  meta.set("shared_bytes",
           builder.getI64IntegerAttr(
               bytes("iris.shared_bytes") +
               static_cast<int64_t>(getWorkgroupAttributionBytes(kernel)) +
               bytes(kDynamicSharedBytesAttr)));
  meta.set("dynamic_shared_bytes", integer(kDynamicSharedBytesAttr));
  meta.set("arena_bytes", integer("iris.arena_bytes"));
  meta.set("coresident",
           builder.getBoolAttr(kernel->hasAttr("iris.coresident")));
  meta.set("args_bytes", builder.getI64IntegerAttr(layout.bytes));
  meta.set("args", builder.getArrayAttr(arguments));
  meta.set("hidden", describeHidden(builder, layout));
  if (auto overlaps =
          kernel->getAttrOfType<DictionaryAttr>(kArgumentOverlapsAttr))
    meta.set("overlaps", overlaps);
  if (auto config = kernel->getAttrOfType<DictionaryAttr>(kConfigAttr))
    meta.set("config", config);
  if (auto sites = kernel->getAttrOfType<ArrayAttr>("iris.sites"))
    meta.set("sites", sites);
  else
    meta.set("sites", builder.getArrayAttr({}));
  if (auto barriers = kernel->getAttrOfType<ArrayAttr>("iris.barriers"))
    meta.set("barriers", barriers);
  if (kernel->hasAttr(kDependentLaunchAttr))
    meta.set("dependent_launch", builder.getBoolAttr(true));
  if (kernel->hasAttr(kDebugAttr))
    meta.set("debug", builder.getBoolAttr(true));
  return meta.getDictionary(kernel.getContext());
}
