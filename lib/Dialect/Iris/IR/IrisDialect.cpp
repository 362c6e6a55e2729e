// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisDialect.cpp - The iris dialect ---------------------------------===//

#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Iris/IR/IrisChecks.h"
#include "iris/Dialect/Iris/IR/IrisMatmul.h"
#include "iris/Dialect/Iris/IR/IrisWarpGroups.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

#include "iris/Dialect/Iris/IR/IrisDialect.cpp.inc"
#include "iris/Dialect/Iris/IR/IrisEnums.cpp.inc"
#include "iris/Dialect/Iris/IR/IrisInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "iris/Dialect/Iris/IR/IrisTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "iris/Dialect/Iris/IR/IrisAttrs.cpp.inc"

namespace {
/// Ops may be inlined wherever the function that contains them may be.
struct IrisInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void IrisDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "iris/Dialect/Iris/IR/IrisTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "iris/Dialect/Iris/IR/IrisAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "iris/Dialect/Iris/IR/IrisOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "iris/Dialect/Iris/IR/IrisPipelineOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "iris/Dialect/Iris/IR/IrisMatmulOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "iris/Dialect/Iris/IR/IrisCheckOps.cpp.inc"
      >();
  addInterfaces<IrisInlinerInterface>();
}

int64_t mlir::iris::getNumWarps(Operation *kernel) {
  auto warps = kernel->getAttrOfType<IntegerAttr>(kNumWarpsAttr);
  return warps ? warps.getInt() : kDefaultNumWarps;
}

bool mlir::iris::isSymmetric(MemRefType buffer) {
  return isa_and_nonnull<SymmetricAttr>(buffer.getMemorySpace());
}

bool mlir::iris::isPeer(MemRefType buffer) {
  return isa_and_nonnull<PeerAttr>(buffer.getMemorySpace());
}

MemRefType mlir::iris::getPeerType(MemRefType buffer) {
  return MemRefType::get(buffer.getShape(), buffer.getElementType(),
                         buffer.getLayout(),
                         PeerAttr::get(buffer.getContext()));
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

LogicalResult IrisDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attr) {
  if (attr.getName() != kNumWarpsAttr)
    return success();
  auto count = dyn_cast<IntegerAttr>(attr.getValue());
  if (!count || count.getInt() < 1 || count.getInt() > 32 ||
      !llvm::isPowerOf2_64(count.getInt()))
    return op->emitError() << kNumWarpsAttr << " is " << attr.getValue()
                           << "; expected a power of two from 1 to 32";
  return success();
}

/// A divisor is a positive integer.
static bool isDivisor(Attribute attr) {
  auto value = dyn_cast<IntegerAttr>(attr);
  return value && value.getInt() > 0;
}

/// `iris.divisibility` is one divisor (bytes of the pointer for a memref, the
/// value for a scalar), or, for a memref, {pointer, sizes, strides} with one
/// divisor per dimension.
static LogicalResult verifyDivisibility(Operation *op, Type type,
                                        Attribute attr) {
  if (isDivisor(attr) && isa<MemRefType, IntegerType, IndexType>(type))
    return success();
  auto memref = dyn_cast<MemRefType>(type);
  auto fields = dyn_cast<DictionaryAttr>(attr);
  if (!memref || !fields)
    return op->emitError() << kDivisibilityAttr << " of an argument of type "
                           << type << " is " << attr
                           << "; expected a positive integer"
                           << (memref ? " or {pointer, sizes, strides}" : "");
  for (NamedAttribute field : fields) {
    StringRef name = field.getName();
    if (name == "pointer") {
      if (isDivisor(field.getValue()))
        continue;
    } else if (name == "sizes" || name == "strides") {
      auto list = dyn_cast<ArrayAttr>(field.getValue());
      if (list && static_cast<int64_t>(list.size()) == memref.getRank() &&
          llvm::all_of(list, isDivisor))
        continue;
    }
    return op->emitError() << kDivisibilityAttr << " of an argument of type "
                           << type << " has " << name << " = "
                           << field.getValue()
                           << "; expected pointer, sizes and strides with one "
                              "positive integer per dimension";
  }
  return success();
}

LogicalResult IrisDialect::verifyRegionArgAttribute(Operation *op,
                                                    unsigned regionIndex,
                                                    unsigned argIndex,
                                                    NamedAttribute attr) {
  if (attr.getName() != kDivisibilityAttr)
    return success();
  Type type = op->getRegion(regionIndex).getArgument(argIndex).getType();
  return verifyDivisibility(op, type, attr.getValue());
}
