// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LaunchArguments.cpp - Launch arguments as IrisRtArg ----------------===//

#include "RuntimeCalls.h"

#include "iris-c/RuntimeABI.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::iris;

static IrisRtElement elementCode(Type type) {
  return llvm::TypeSwitch<Type, IrisRtElement>(type)
      .Case([](Float16Type) { return IRISRT_ELT_F16; })
      .Case([](BFloat16Type) { return IRISRT_ELT_BF16; })
      .Case([](Float32Type) { return IRISRT_ELT_F32; })
      .Case([](Float64Type) { return IRISRT_ELT_F64; })
      .Case([](IndexType) { return IRISRT_ELT_INDEX; })
      .Case([](IntegerType integer) {
        switch (integer.getWidth()) {
        case 1:
          return IRISRT_ELT_I1;
        case 8:
          return IRISRT_ELT_I8;
        case 16:
          return IRISRT_ELT_I16;
        case 32:
          return IRISRT_ELT_I32;
        default:
          return IRISRT_ELT_I64;
        }
      })
      .Default([](Type) -> IrisRtElement {
        llvm_unreachable("checked by iris-verify-host-program");
      });
}

static void packMemRef(RewriterBase &rewriter, Location loc,
                       RuntimeCalls &calls, Value value, MemRefType type,
                       Value slot) {
  Type element = type.getElementType();
  calls.storeField(calls.constant(32, IRISRT_ARG_MEMREF), slot,
                   offsetof(IrisRtArg, kind));
  calls.storeField(calls.constant(32, elementCode(element)), slot,
                   offsetof(IrisRtArg, element));
  calls.storeField(calls.constant(32, type.getRank()), slot,
                   offsetof(IrisRtArg, rank));
  calls.storeField(calls.constant(32, isSymmetric(type)), slot,
                   offsetof(IrisRtArg, symmetric));

  MemRefDescriptor buffer(value);
  Type i64 = rewriter.getI64Type();
  Value address = LLVM::PtrToIntOp::create(rewriter, loc, i64,
                                           buffer.alignedPtr(rewriter, loc));
  Value offset =
      LLVM::MulOp::create(rewriter, loc, buffer.offset(rewriter, loc),
                          calls.constant(64, getElementBytes(element)));
  address = LLVM::AddOp::create(rewriter, loc, address, offset);
  calls.storeField(address, slot, offsetof(IrisRtArg, value));
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    calls.storeField(buffer.size(rewriter, loc, dim), slot,
                     offsetof(IrisRtArg, sizes) + dim * sizeof(int64_t));
    calls.storeField(buffer.stride(rewriter, loc, dim), slot,
                     offsetof(IrisRtArg, strides) + dim * sizeof(int64_t));
  }
}

static void packScalar(RewriterBase &rewriter, Location loc,
                       RuntimeCalls &calls, Value value, Type type,
                       Value slot) {
  calls.storeField(calls.constant(32, IRISRT_ARG_SCALAR), slot,
                   offsetof(IrisRtArg, kind));
  calls.storeField(calls.constant(32, elementCode(type)), slot,
                   offsetof(IrisRtArg, element));
  if (isa<FloatType>(type))
    value = LLVM::BitcastOp::create(
        rewriter, loc, rewriter.getIntegerType(type.getIntOrFloatBitWidth()),
        value);
  if (value.getType() != rewriter.getI64Type())
    value = LLVM::ZExtOp::create(rewriter, loc, rewriter.getI64Type(), value);
  calls.storeField(value, slot, offsetof(IrisRtArg, value));
}

void mlir::iris::packArgument(RewriterBase &rewriter, Location loc,
                              RuntimeCalls &calls, Value value, Type type,
                              Value slot) {
  // Fields that this kind does not use are 0.
  LLVM::MemsetOp::create(rewriter, loc, slot, calls.constant(8, 0),
                         calls.constant(64, sizeof(IrisRtArg)),
                         /*isVolatile=*/false);
  if (isa<CtxType>(type)) {
    calls.storeField(calls.constant(32, IRISRT_ARG_CONTEXT), slot,
                     offsetof(IrisRtArg, kind));
    return;
  }
  if (auto buffer = dyn_cast<MemRefType>(type))
    return packMemRef(rewriter, loc, calls, value, buffer, slot);
  packScalar(rewriter, loc, calls, value, type, slot);
}
