// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VerifyPortable.cpp - Verifies the portable kernel language ---------===//
//
// Ops that some target cannot compile are rejected for all targets, before any
// lowering, with the same message. The table is in KernelLanguage.cpp.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/KernelLanguage.h"
#include "iris/Dialect/Iris/Transforms/Passes.h"

#include "iris/Analysis/TileLayout.h"
#include "iris/Dialect/Iris/IR/BufferSpan.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "iris-verify-portable"

namespace mlir::iris {
#define GEN_PASS_DEF_IRISVERIFYPORTABLEPASS
#include "iris/Dialect/Iris/Transforms/Passes.h.inc"
} // namespace mlir::iris

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The member of ElementSet for `type`; 0 if there is none.
static uint32_t elementOf(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (!integer.isSignless())
      return 0;
    switch (integer.getWidth()) {
    case 1:
      return EltI1;
    case 8:
      return EltI8;
    case 16:
      return EltI16;
    case 32:
      return EltI32;
    case 64:
      return EltI64;
    default:
      return 0;
    }
  }
  if (type.isIndex())
    return EltIndex;
  if (type.isF16())
    return EltF16;
  if (type.isBF16())
    return EltBF16;
  if (type.isF32())
    return EltF32;
  if (type.isF64())
    return EltF64;
  if (isa<Float8E4M3FNType, Float8E5M2Type, Float8E4M3FNUZType,
          Float8E5M2FNUZType>(type))
    return EltF8;
  return 0;
}

/// Elements of a tile that a warp of every target holds: that of the smallest
/// warps.
static constexpr int64_t kMaxWarpElements = 32 * kMaxElementsPerThread;

namespace {
/// Checks one op; each method reports errors and returns failure.
class OpChecker {
public:
  OpChecker(Operation *op, const KernelOp &row) : op(op), row(row) {}

  /// Checks all types.
  LogicalResult check();
  /// Checks vectors, and the sizes of tiles and buffers, only.
  LogicalResult checkSizes();

private:
  LogicalResult forTypes(llvm::function_ref<LogicalResult(Type)> visit);
  LogicalResult check(Type type);
  LogicalResult checkTile(RankedTensorType type);
  LogicalResult checkTileSize(RankedTensorType type);
  LogicalResult checkVector(VectorType type);
  LogicalResult checkBuffer(MemRefType type);
  LogicalResult checkElement(Type type, uint32_t shape);

  /// Starts an error "works on T; expected ...", to which callers append.
  InFlightDiagnostic refuse(Type type) {
    return op->emitOpError("works on ") << type << "; expected ";
  }

  Operation *op;
  const KernelOp &row;
};
} // namespace

LogicalResult OpChecker::checkElement(Type type, uint32_t shape) {
  Type element = getElementTypeOrSelf(type);
  uint32_t elements = row.elements;
  if (shape == OnVectors)
    elements &= EltInVectors;
  // Memory holds f8 as i8.
  if (shape == OnBuffers)
    elements &= ~uint32_t(EltF8);
  if ((row.shapes & shape) && (elementOf(element) & elements))
    return success();
  if (!(row.shapes & shape))
    return refuse(type) << (row.shapes ? describeShapes(row.shapes)
                                       : "no operands")
                        << " (" << kKernelLanguagePage << ")";
  InFlightDiagnostic diagnostic = refuse(type) << describeElements(elements);
  if (elementOf(element) == EltF8)
    diagnostic << (shape == OnBuffers
                       ? "; buffers hold f8 as i8, which arith.bitcast turns "
                         "into f8"
                       : "; f8 is widened by arith.extf first");
  return diagnostic;
}

LogicalResult OpChecker::checkTile(RankedTensorType type) {
  if (!type.hasStaticShape() || type.getRank() == 0 ||
      !llvm::all_of(type.getShape(), llvm::isPowerOf2_64))
    return refuse(type) << "tiles of static extents that are powers of two";
  if (failed(checkElement(type, OnTiles)) || failed(checkTileSize(type)))
    return failure();
  // Functions are inlined: their tiles are checked where kernels pass them on.
  auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
  int64_t warps = kernel ? getNumWarps(kernel) : kDefaultNumWarps;
  if (type.getNumElements() > warps * kMaxWarpElements)
    return refuse(type) << "tiles of at most " << kMaxWarpElements
                        << " elements for each of the kernel's " << warps
                        << " warps (" << kNumWarpsAttr << ")";
  return success();
}

LogicalResult OpChecker::checkTileSize(RankedTensorType type) {
  int64_t bytes = getElementBytes(type.getElementType()), elements = 1;
  for (int64_t extent : type.getShape()) {
    // Extents are at most 2^62, so this cannot overflow.
    elements = extent > kMaxTileElements ? extent : elements * extent;
    if (elements > kMaxTileElements)
      break;
  }
  if (elements > kMaxTileElements || elements * bytes > kMaxTileBytes)
    return refuse(type) << "tiles of at most " << kMaxTileElements
                        << " elements and " << kMaxTileBytes
                        << " bytes, which a program can hold in registers; "
                           "take a large tile in steps";
  return success();
}

LogicalResult OpChecker::checkVector(VectorType type) {
  if (type.getRank() != 1 || type.isScalable() ||
      type.getNumElements() > kMaxVectorElements)
    return refuse(type) << "tiles (tensors), or vectors of one dimension and "
                           "a fixed length of at most "
                        << kMaxVectorElements;
  return checkElement(type, OnVectors);
}

LogicalResult OpChecker::checkBuffer(MemRefType type) {
  if (!type.isStrided())
    return refuse(type) << "an identity or strided layout";
  if (Attribute space = type.getMemorySpace();
      space && !isa<IrisDialect>(space.getDialect()))
    return refuse(type) << "no memory space, #iris.symmetric or #iris.peer";
  if (failed(checkElement(type, OnBuffers)))
    return failure();
  return isAddressable(type) ? success() : refuse(type) << kAddressableBytes;
}

LogicalResult OpChecker::check(Type type) {
  if (isa<CtxType>(type) || isa<FunctionType>(type))
    return success();
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return checkTile(tile);
  if (auto vector = dyn_cast<VectorType>(type))
    return checkVector(vector);
  if (auto buffer = dyn_cast<MemRefType>(type))
    return checkBuffer(buffer);
  if (elementOf(type))
    return checkElement(type, OnScalars);
  return refuse(type) << describeElements(row.elements & ~uint32_t(EltF8))
                      << ", a tile, a memref with a rank or !iris.ctx";
}

LogicalResult
OpChecker::forTypes(llvm::function_ref<LogicalResult(Type)> visit) {
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (failed(visit(type)))
        return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes())
        if (failed(visit(type)))
          return failure();
  return success();
}

LogicalResult OpChecker::check() {
  return forTypes([&](Type type) { return check(type); });
}

LogicalResult OpChecker::checkSizes() {
  return forTypes([&](Type type) -> LogicalResult {
    if (auto vector = dyn_cast<VectorType>(type))
      return checkVector(vector);
    if (auto tile = dyn_cast<RankedTensorType>(type);
        tile && tile.hasStaticShape() &&
        tile.getElementType().isIntOrIndexOrFloat())
      return checkTileSize(tile);
    if (auto buffer = dyn_cast<MemRefType>(type);
        buffer && !isAddressable(buffer))
      return refuse(type) << kAddressableBytes;
    return success();
  });
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Checks the restrictions of an entry's note that types do not express.
static LogicalResult checkDetails(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (isa<RankedTensorType>(constant.getType()) &&
        !isa<SplatElementsAttr>(constant.getValue()))
      return op->emitOpError("is a tile of differing elements; expected a "
                             "splat, or a tile computed from tile.range or "
                             "loaded from a buffer");
    return success();
  }
  if (auto narrowing = dyn_cast<arith::TruncFOp>(op)) {
    std::optional<arith::RoundingMode> mode = narrowing.getRoundingmode();
    if (mode && *mode != arith::RoundingMode::to_nearest_even)
      return op->emitOpError("rounds ")
             << arith::stringifyRoundingMode(*mode)
             << "; expected to_nearest_even, which all targets support";
    return success();
  }
  if (auto memory = dyn_cast<memref::AllocaOp>(op)) {
    if (!memory.getType().hasStaticShape())
      return op->emitOpError("has a dynamic size; expected a static shape");
    return success();
  }
  if (auto cast = dyn_cast<memref::MemorySpaceCastOp>(op)) {
    BaseMemRefType from = cast.getSource().getType();
    BaseMemRefType to = cast.getDest().getType();
    if (!from.getMemorySpace() || to.getMemorySpace())
      return op->emitOpError("casts ")
             << from << " to " << to
             << "; expected a buffer of #iris.symmetric or #iris.peer, and no "
                "memory space in the result";
    return success();
  }
  if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op)) {
    if (kernel.getNumWorkgroupAttributions() ||
        kernel.getNumPrivateAttributions())
      return op->emitOpError("declares workgroup or private memory; expected "
                             "tiles, or memref.alloca in its body");
    return success();
  }
  return success();
}

/// Reports an op that is not in the language.
static LogicalResult refuseOp(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  InFlightDiagnostic error =
      op->emitOpError("is not in the portable kernel language, which all "
                      "targets compile; see ")
      << kKernelLanguagePage;
  SmallVector<StringRef> names = getKernelOpNames(dialect);
  SmallVector<StringRef> dialects;
  for (StringRef other : getKernelDialects())
    if (other != dialect)
      dialects.push_back(other);
  Diagnostic &note = error.attachNote();
  if (names.empty())
    note << "expected ops of the dialects " << llvm::join(dialects, ", ");
  else
    note << "of '" << dialect << "' kernels may use " << llvm::join(names, ", ")
         << "; other dialects are " << llvm::join(dialects, ", ");
  return error;
}

static LogicalResult verifyOp(Operation *op) {
  const KernelOp *row = findKernelOp(op->getName().getStringRef());
  if (!row)
    return refuseOp(op);
  // Checked first: a dynamic size must not be reported as an element type.
  if (failed(checkDetails(op)))
    return failure();
  return OpChecker(op, *row).check();
}

/// Checks the rules that hold on every target, even for target-specific ops.
static LogicalResult verifyNonportableOp(Operation *op) {
  const KernelOp *row = findKernelOp(op->getName().getStringRef());
  bool isMath = isa_and_nonnull<math::MathDialect>(op->getDialect());
  if (!row && (isMath || isa<arith::RemFOp>(op)))
    return refuseOp(op);
  static constexpr KernelOp any = {OnAny, EltAnyF8, ""};
  OpChecker checker(op, isMath ? *row : any);
  return isMath ? checker.check() : checker.checkSizes();
}

namespace {
struct VerifyPortablePass
    : iris::impl::IrisVerifyPortablePassBase<VerifyPortablePass> {
  using IrisVerifyPortablePassBase::IrisVerifyPortablePassBase;

  void runOnOperation() override {
    bool valid = true;
    getOperation()->walk(
        [&](gpu::GPUModuleOp module) { valid &= verifyModule(module); });
    if (!valid)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  bool verifyModule(gpu::GPUModuleOp module) {
    bool valid = true;
    module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      // LLVM dialect functions are target-specific already.
      if (isa<LLVM::LLVMFuncOp, LLVM::GlobalOp>(op))
        return WalkResult::skip();
      if (succeeded(verifyIrisAttributes(op)) &&
          succeeded(allowNonportable ? verifyNonportableOp(op) : verifyOp(op)))
        return WalkResult::advance();
      valid = false;
      // Nested ops may be invalid for the same reason.
      return WalkResult::skip();
    });
    return valid;
  }
};
} // namespace
