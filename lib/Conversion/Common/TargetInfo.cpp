// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TargetInfo.cpp - Defaults shared by most targets -------------------===//

#include "iris/Conversion/TargetInfo.h"

#include "iris/Conversion/EmitHelpers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::iris;

TargetInfo::~TargetInfo() = default;

AccessPolicy TargetInfo::getLoadPolicy(tile::LoadCache cache,
                                       bool isVolatile) const {
  // `cg` only specifies where not to cache the data, so it is a hint; `cv`
  // requires that they are fetched again.
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

//===----------------------------------------------------------------------===//
// Packets: relaxed 64-bit atomics, each with a word and its flag
//===----------------------------------------------------------------------===//

Value TargetInfo::emitPacketBase(ImplicitLocOpBuilder &, Value pointer) const {
  return pointer;
}

/// The address of word `word` of the packet at `offset`.
static Value emitPairAddress(ImplicitLocOpBuilder &b, Value base, Value offset,
                             int64_t word) {
  Value distance = arith::ExtUIOp::create(b, b.getI64Type(), offset);
  Value address = LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                                      ArrayRef<LLVM::GEPArg>{distance});
  if (word == 0)
    return address;
  return LLVM::GEPOp::create(
      b, base.getType(), b.getI64Type(), address,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(word)});
}

void TargetInfo::emitPacketStores(ImplicitLocOpBuilder &b, ValueRange words,
                                  Value flag, Value base,
                                  ValueRange offsets) const {
  Type i64 = b.getI64Type();
  Value high = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i64, flag),
                                     emitI64(b, 32));
  unsigned wordsEach = words.size() / offsets.size();
  for (auto [i, word] : llvm::enumerate(words)) {
    Value low = arith::ExtUIOp::create(b, i64, word);
    Value address =
        emitPairAddress(b, base, offsets[i / wordsEach], i % wordsEach);
    emitAtomicStore(b, arith::OrIOp::create(b, low, high), address,
                    LLVM::AtomicOrdering::monotonic, getSyncScope(Scope::Sys));
  }
}

SmallVector<Value> TargetInfo::emitPacketLoads(ImplicitLocOpBuilder &b,
                                               unsigned wordsEach, Value base,
                                               ValueRange offsets) const {
  SmallVector<Value> pairs, result;
  for (Value offset : offsets)
    for (unsigned word = 0; word < wordsEach; ++word)
      pairs.push_back(emitAtomicLoad(
          b, b.getI64Type(), emitPairAddress(b, base, offset, word),
          LLVM::AtomicOrdering::monotonic, getSyncScope(Scope::Sys)));
  for (Value pair : pairs) {
    Value high = arith::ShRUIOp::create(b, pair, emitI64(b, 32));
    result.push_back(arith::TruncIOp::create(b, b.getI32Type(), pair));
    result.push_back(arith::TruncIOp::create(b, b.getI32Type(), high));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

Value TargetInfo::emitClock(ImplicitLocOpBuilder &b) const {
  // LLVM's steady counter is s_memrealtime, the real-time message or
  // %globaltimer: the clocks that RuntimeABI.h specifies.
  return LLVM::CallIntrinsicOp::create(
             b, b.getI64Type(), b.getStringAttr("llvm.readsteadycounter"),
             ValueRange())
      .getResult(0);
}
