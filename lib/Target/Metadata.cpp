// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Target/Metadata.h"

#include "iris-c/RuntimeABI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::iris;
namespace json = llvm::json;

/// The JSON value of `attr`; nothing if JSON cannot represent it.
static std::optional<json::Value> toJSON(Attribute attr);

/// Converts each of `elements` to an array.
template <typename Range>
static json::Value toArray(const Range &elements) {
  json::Array array;
  for (auto element : elements)
    array.push_back(element);
  return array;
}

static std::optional<json::Value> objectToJSON(DictionaryAttr dict) {
  json::Object object;
  for (NamedAttribute entry : dict) {
    std::optional<json::Value> value = toJSON(entry.getValue());
    if (!value)
      return std::nullopt;
    object[json::fixUTF8(entry.getName().strref())] = std::move(*value);
  }
  return object;
}

static std::optional<json::Value> arrayToJSON(ArrayAttr attrs) {
  json::Array array;
  for (Attribute element : attrs) {
    std::optional<json::Value> value = toJSON(element);
    if (!value)
      return std::nullopt;
    array.push_back(std::move(*value));
  }
  return array;
}

static std::optional<json::Value> toJSON(Attribute attr) {
  using Result = std::optional<json::Value>;
  // BoolAttr is an IntegerAttr of type i1, so it has to come first.
  return llvm::TypeSwitch<Attribute, Result>(attr)
      .Case<DictionaryAttr>([](auto a) { return objectToJSON(a); })
      .Case<ArrayAttr>([](auto a) { return arrayToJSON(a); })
      .Case<StringAttr>(
          [](auto a) -> Result { return json::fixUTF8(a.getValue()); })
      .Case<BoolAttr>([](auto a) -> Result { return a.getValue(); })
      .Case<IntegerAttr>([](auto a) -> Result {
        if (a.getValue().getSignificantBits() > 64)
          return std::nullopt;
        return a.getValue().getSExtValue();
      })
      .Case<FloatAttr>([](auto a) -> Result { return a.getValueAsDouble(); })
      .Case<UnitAttr>([](auto) -> Result { return json::Value(nullptr); })
      .Case<DenseI64ArrayAttr, DenseI32ArrayAttr>(
          [](auto a) -> Result { return toArray(a.asArrayRef()); })
      .Default([](Attribute) -> Result { return std::nullopt; });
}

SmallVector<Operation *> mlir::iris::getExportedFunctions(Operation *module) {
  SmallVector<Operation *> functions;
  for (auto function : module->getRegion(0).getOps<LLVM::LLVMFuncOp>()) {
    if (function.isExternal())
      continue;
    if (function->hasAttr(kernelMetaAttrName) ||
        function->hasAttr("rocdl.kernel") || function->hasAttr("nvvm.kernel") ||
        function.getSymName() == IRISRT_SYM_MAIN)
      functions.push_back(function);
  }
  return functions;
}

StringRef mlir::iris::getExportedSymbol(Operation *function) {
  auto meta = function->getAttrOfType<DictionaryAttr>(kernelMetaAttrName);
  auto symbol = meta ? meta.getAs<StringAttr>("symbol") : StringAttr();
  return symbol ? symbol.getValue()
                : cast<LLVM::LLVMFuncOp>(function).getSymName();
}

std::optional<int64_t> mlir::iris::getWorkgroupThreads(Operation *kernel) {
  auto meta = kernel->getAttrOfType<DictionaryAttr>(kernelMetaAttrName);
  auto sizes = meta ? meta.getAs<ArrayAttr>("workgroup") : ArrayAttr();
  if (!sizes)
    return std::nullopt;
  uint64_t threads = 1;
  for (Attribute size : sizes) {
    auto integer = dyn_cast<IntegerAttr>(size);
    if (!integer || !integer.getType().isIntOrIndex() ||
        !integer.getValue().isSignedIntN(32) || integer.getValue().slt(1))
      return std::nullopt;
    threads = llvm::SaturatingMultiply<uint64_t>(
        threads, integer.getValue().getZExtValue());
  }
  return std::min<uint64_t>(threads, INT64_MAX);
}

/// The metadata of one kernel.
static FailureOr<json::Value> buildKernel(Operation *kernel) {
  auto meta = kernel->getAttrOfType<DictionaryAttr>(kernelMetaAttrName);
  if (!meta)
    return kernel->emitOpError()
           << "cannot go into a package: its metadata are missing; expected "
              "the dictionary attribute '"
           << kernelMetaAttrName << "'";
  std::optional<json::Value> value = toJSON(meta);
  if (!value)
    return kernel->emitOpError() << "has metadata in '" << kernelMetaAttrName
                                 << "' that JSON cannot express";
  return std::move(*value);
}

FailureOr<std::string>
mlir::iris::buildKernelMetadata(ArrayRef<Operation *> gpuModules) {
  json::Array kernels;
  for (Operation *module : gpuModules) {
    for (Operation *function : getExportedFunctions(module)) {
      FailureOr<json::Value> kernel = buildKernel(function);
      if (failed(kernel))
        return failure();
      kernels.push_back(std::move(*kernel));
    }
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << json::Value(json::Object{{"kernels", std::move(kernels)}});
  return text;
}
