// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TargetInfo.cpp - Defaults that most targets share ------------------===//

#include "iris/Conversion/TargetInfo.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::iris;

TargetInfo::~TargetInfo() = default;

AccessPolicy TargetInfo::getLoadPolicy(tile::LoadCache cache,
                                       bool isVolatile) const {
  // `cg` only says where not to keep the data, `cv` that they must be fetched
  // again: the first one is a hint, the second one is not.
  AccessPolicy policy;
  policy.isVolatile = isVolatile || cache == tile::LoadCache::cv;
  policy.isNontemporal = cache == tile::LoadCache::cg;
  return policy;
}

AccessPolicy TargetInfo::getStorePolicy(tile::StoreCache cache,
                                        bool isVolatile) const {
  AccessPolicy policy;
  policy.isVolatile = isVolatile || cache == tile::StoreCache::wt;
  policy.isNontemporal = cache == tile::StoreCache::cs;
  return policy;
}

Value TargetInfo::emitThreadId(ImplicitLocOpBuilder &b) const {
  Value id = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  return arith::IndexCastUIOp::create(b, b.getI32Type(), id);
}

Value TargetInfo::emitGridDim(ImplicitLocOpBuilder &b,
                              gpu::Dimension dim) const {
  return gpu::GridDimOp::create(b, dim);
}

Value TargetInfo::emitUniform(ImplicitLocOpBuilder &, Value value) const {
  return value;
}

Value TargetInfo::emitClock(ImplicitLocOpBuilder &b) const {
  // LLVM's steady counter is s_memrealtime, the real-time message or
  // %globaltimer: the clocks that the ABI names.
  return LLVM::CallIntrinsicOp::create(
             b, b.getI64Type(), b.getStringAttr("llvm.readsteadycounter"),
             ValueRange())
      .getResult(0);
}
