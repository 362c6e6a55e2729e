// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Pipelines/PostConditions.h"

#include "iris/Analysis/TileLayout.h"
#include "iris/Conversion/IrisToLLVM.h"
#include "iris/Conversion/LowerSync.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Iris/IR/IrisMatmul.h"
#include "iris/Dialect/Iris/IR/IrisWarpGroups.h"
#include "iris/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

/// Every type that `op` uses, declares or returns, without its regions' ops.
static bool hasType(Operation *op, function_ref<bool(Type)> predicate) {
  if (llvm::any_of(op->getOperandTypes(), predicate) ||
      llvm::any_of(op->getResultTypes(), predicate))
    return true;
  return llvm::any_of(op->getRegions(), [&](Region &region) {
    return llvm::any_of(region, [&](Block &block) {
      return llvm::any_of(block.getArgumentTypes(), predicate);
    });
  });
}

template <typename... Dialects>
static bool isOf(Operation *op) {
  return isa_and_nonnull<Dialects...>(op->getDialect());
}

static bool isKernel(Operation *op) {
  auto function = dyn_cast<gpu::GPUFuncOp>(op);
  return (function && function.isKernel()) || op->hasAttr(kHostKernelAttr);
}

static bool isCollective(Operation *op) {
  return isa<CollectiveOp, CollectiveCallOpInterface>(op);
}

static bool isMatmulCall(Operation *op) {
  return isa<MatmulKernelOp, MatmulCallOpInterface>(op);
}

static bool namesRank(Operation *op) {
  if (isa<iris::LoadOp, iris::StoreOp, iris::GatherOp, iris::ScatterOp, GetOp,
          PutOp, CopyOp>(op))
    return true;
  auto access = dyn_cast<RankedAccessOpInterface>(op);
  return access && access.getAccessedRank();
}

static bool isFunctionOrCall(Operation *op) {
  return isa<func::FuncOp, func::CallOp>(op);
}

static bool isAlloca(Operation *op) { return isa<memref::AllocaOp>(op); }

/// Values, that is: buffers of f8 are loaded as i8.
static bool hasFloat8(Operation *op) {
  return hasType(op, [](Type type) {
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    return element && element.getWidth() == 8 && !isa<MemRefType>(type);
  });
}

static bool hasVariableDim(Operation *op) {
  auto dim = dyn_cast<memref::DimOp>(op);
  return dim && !dim.getConstantIndex();
}

static bool isAffine(Operation *op) { return isOf<affine::AffineDialect>(op); }

static bool isTile(Type type) { return isa<TensorType>(type); }

static bool lacksLayout(Operation *op) {
  return hasType(op, [](Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return tile && !getLinearLayout(tile);
  });
}

static bool lacksMatmulLayout(Operation *op) {
  return isa<tile::MatmulOp>(op) && !op->hasAttr(tile::kResultLayoutAttr);
}

static bool hasTile(Operation *op) {
  return isOf<tile::TileDialect, tensor::TensorDialect>(op) ||
         hasType(op, isTile);
}

static bool isCast(Operation *op) {
  return isa<UnrealizedConversionCastOp>(op);
}

static bool isGPUFunction(Operation *op) { return isa<gpu::GPUFuncOp>(op); }

static bool isBarrier(Operation *op) { return isa<gpu::BarrierOp>(op); }

static bool isAlloc(Operation *op) { return isa<memref::AllocOp>(op); }

/// A function that no target has an instruction for.
static bool isLibraryFunction(Operation *op) {
  return isOf<math::MathDialect>(op) &&
         !isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
              math::CountLeadingZerosOp, math::CountTrailingZerosOp,
              math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
              math::IsInfOp, math::IsNaNOp, math::IsNormalOp, math::RoundOp,
              math::RoundEvenOp, math::SqrtOp, math::TruncOp>(op);
}

static bool isStructured(Operation *op) { return isOf<scf::SCFDialect>(op); }

/// What remains is resolved with the kernel's arguments.
static bool isSync(Operation *op) {
  return isOf<IrisDialect>(op) &&
         !isa<CtxFieldOp, HostArenaOp, TensorMapOp>(op);
}

/// Arithmetic, that is neither a conversion nor a change of bits.
static bool isNarrowArithmetic(Operation *op) {
  return isOf<arith::ArithDialect>(op) &&
         !isa<arith::BitcastOp, arith::ConstantOp, arith::ExtFOp, arith::NegFOp,
              arith::SelectOp>(op) &&
         llvm::any_of(op->getOperandTypes(), [](Type type) {
           Type element = getElementTypeOrSelf(type);
           return element.isF16() || element.isBF16();
         });
}

static bool isIris(Operation *op) { return isOf<IrisDialect>(op); }

static bool hasIrisType(Operation *op) {
  return hasType(op, [](Type type) {
    auto buffer = dyn_cast<BaseMemRefType>(type);
    return isa<CtxType>(type) ||
           (buffer &&
            isa_and_nonnull<SymmetricAttr, PeerAttr>(buffer.getMemorySpace()));
  });
}

static bool lacksMetadata(Operation *op) {
  return isKernel(op) && !op->hasAttr(kMetaAttr);
}

static bool hasCompoundParameter(Operation *op) {
  return isKernel(op) &&
         llvm::any_of(cast<FunctionOpInterface>(op).getArgumentTypes(),
                      llvm::IsaPred<BaseMemRefType, IndexType, CtxType>);
}

static bool callsPlaceholder(Operation *op) {
  auto call = dyn_cast<LLVM::CallOp>(op);
  return call && call.getCallee() &&
         llvm::is_contained({kHostClockSymbol, kHostYieldSymbol},
                            *call.getCallee());
}

static bool isGPUOp(Operation *op) {
  return isOf<gpu::GPUDialect>(op) && !isa<gpu::GPUModuleOp>(op);
}

static bool isNotLLVM(Operation *op) {
  return !isOf<LLVM::LLVMDialect>(op) && !isa<gpu::GPUModuleOp>(op);
}

static bool isNotROCDL(Operation *op) {
  return isNotLLVM(op) && op->getName().getDialectNamespace() != "rocdl";
}

static bool isNotNVVM(Operation *op) {
  return isNotLLVM(op) && op->getName().getDialectNamespace() != "nvvm";
}

static bool isNotLLVMProgram(Operation *op) {
  return !isOf<LLVM::LLVMDialect>(op);
}

static bool hasIgnoredAnnotation(Operation *op) {
  return isa<LLVM::BrOp, LLVM::CondBrOp>(op) &&
         op->getDiscardableAttr("llvm.loop_annotation");
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

ArrayRef<PostCondition> mlir::iris::getPostConditions() {
  static constexpr PostCondition table[] = {
      {"expand", OnAllTargets, "no collective", "iris-expand-collectives",
       isCollective},
      {"expand", OnAllTargets, "no matmul of a host program",
       "iris-expand-matmuls", isMatmulCall},

      {"translate", OnAllTargets, "no function but kernels, and no call",
       "iris-inline-functions", isFunctionOrCall},
      {"translate", OnAllTargets, "no `memref.alloca`", "iris-place-allocas",
       isAlloca},
      {"translate", OnAllTargets, "no value of an f8 type",
       "iris-legalize-float8", hasFloat8},
      {"translate", OnAllTargets, "constant dimensions in `memref.dim`",
       "iris-resolve-dims", hasVariableDim},
      {"translate", OnAllTargets,
       "no rank on an access: it is local, at a translated address",
       "iris-translate-pointers", namesRank},
      {"translate", OnAllTargets, "no affine op", "lower-affine", isAffine},

      {"barriers", OnGPUs, "`tile.result_layout` on each matmul",
       "tile-assign-matmul-layouts", lacksMatmulLayout},
      {"barriers", OnGPUs, "a layout in each tile's type",
       "tile-assign-layouts", lacksLayout},
      {"barriers", OnGPUs, "a barrier between any two accesses that conflict",
       "tile-insert-barriers", nullptr},

      {"tiles", OnGPUs, "no tile: threads hold vectors",
       "convert-tile-to-threads", hasTile},
      {"tiles", OnGPUs, "no cast between tiles and vectors",
       "convert-tile-to-threads", isCast},
      {"tiles", OnHost, "functions in place of `gpu.func`",
       "iris-outline-kernels", isGPUFunction},
      {"tiles", OnHost, "no tile: programs loop over buffers",
       "convert-tile-to-loops", hasTile},
      {"tiles", OnHost, "no `gpu.barrier`: a program is one thread",
       "convert-tile-to-loops", isBarrier},
      {"tiles", OnHost, "no `memref.alloc`: buffers are in the arena",
       "iris-assign-arena", isAlloc},
      {"tiles", OnAllTargets, "no `math` function without an instruction",
       "iris-expand-math", isLibraryFunction},

      {"sync", OnAllTargets, "no structured control flow", "convert-scf-to-cf",
       isStructured},
      {"sync", OnAllTargets,
       "no `iris` op but `ctx_field`, `host_arena` and `tensor_map`",
       "iris-lower-sync", isSync},
      {"sync", OnHost, "no arithmetic on f16 or bf16",
       "iris-legalize-host-floats", isNarrowArithmetic},

      {"abi", OnAllTargets, "no `iris` op", "iris-lower-kernel-abi", isIris},
      {"abi", OnAllTargets, "neither `!iris.ctx` nor a memory space of iris",
       "iris-lower-kernel-abi", hasIrisType},
      {"abi", OnAllTargets, "`iris.meta` on each kernel",
       "iris-lower-kernel-abi", lacksMetadata},
      {"abi", OnAllTargets, "numbers and pointers as parameters of kernels",
       "iris-lower-kernel-abi", hasCompoundParameter},
      {"abi", OnHost, "no op of the gpu dialect", "iris-lower-kernel-abi",
       isGPUOp},
      {"abi", OnHost, "no call of `irisrtIR_clock` or `irisrtIR_yield`",
       "iris-lower-host-callbacks", callsPlaceholder},

      {"llvm", OnHost, "LLVM ops only", "convert-to-llvm", isNotLLVM},
      {"llvm", OnAMD, "LLVM and ROCDL ops only", "convert-gpu-to-rocdl",
       isNotROCDL},
      {"llvm", OnNVIDIA, "LLVM and NVVM ops only", "convert-gpu-to-nvvm",
       isNotNVVM},
      {"llvm", OnAllTargets, "loop annotations where LLVM reads them",
       "iris-apply-loop-annotations", hasIgnoredAnnotation},

      {"main", OnHost, "LLVM ops only, and no kernel",
       "convert-iris-host-program", isNotLLVMProgram},
  };
  return table;
}

bool mlir::iris::isVerifiedStage(StringRef name) {
  return llvm::any_of(getPostConditions(), [&](const PostCondition &row) {
    return row.stage == name;
  });
}

void mlir::iris::printPostConditions(raw_ostream &os) {
  os << "| stage | targets | after it | pass |\n|---|---|---|---|\n";
  for (const PostCondition &row : getPostConditions()) {
    StringRef targets = row.targets == OnAllTargets ? "all"
                        : row.targets == OnGPUs     ? "GPUs"
                        : row.targets == OnHost     ? "host"
                        : row.targets == OnAMD      ? "AMD"
                                                    : "NVIDIA";
    os << "| `" << row.stage << "` | " << targets << " | " << row.expected
       << " | `" << row.pass << "` |\n";
  }
}
