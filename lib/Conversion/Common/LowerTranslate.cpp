// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerTranslate.cpp - Ranks and addresses ---------------------------===//

#include "SyncLowering.h"

#include "iris-c/RuntimeABI.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::iris;

Value SyncLowering::emitField(Builder &b, StringRef field, Value ctx) {
  for (const ContextField &entry : getContextFields())
    if (entry.name == field)
      return CtxFieldOp::create(b, b.getIntegerType(entry.bits), field, ctx);
  llvm_unreachable("no such field in the context");
}

template <typename OpTy>
LogicalResult SyncLowering::lowerQuery(OpTy op, StringRef field) {
  Builder b(op.getLoc(), op);
  Value value = emitField(b, field, op.getCtx());
  op.replaceAllUsesWith(
      arith::IndexCastUIOp::create(b, b.getIndexType(), value).getResult());
  op.erase();
  return success();
}

LogicalResult SyncLowering::lower(RankOp op) { return lowerQuery(op, "rank"); }

LogicalResult SyncLowering::lower(NumRanksOp op) {
  return lowerQuery(op, "numRanks");
}

LogicalResult SyncLowering::lower(GroupSizeOp op) {
  return lowerQuery(op, "groupSize");
}

LogicalResult SyncLowering::lower(GroupIndexOp op) {
  return lowerQuery(op, "groupIndex");
}

/// The size of the groups that may launch a generated kernel; that of the
/// largest one if it serves any. None for other kernels.
static std::optional<int64_t> getGroupSize(FunctionOpInterface kernel) {
  auto config = kernel->getAttrOfType<DictionaryAttr>(kConfigAttr);
  if (!config || !(config.contains("collective") || config.contains("matmul")))
    return std::nullopt;
  auto group = config.getAs<IntegerAttr>("group");
  return group && group.getInt() != 0 ? group.getInt() : kMaxAnyGroup;
}

Value SyncLowering::emitGroupMember(Builder &b, Value ctx, Value member) {
  auto bitsOf = [](int64_t size) { return IRISRT_GROUP_MEMBER_BITS(size); };
  auto maskOf = [](int64_t bits) { return (int64_t(1) << bits) - 1; };
  Value bits, mask;
  if (std::optional<int64_t> size = getGroupSize(kernel)) {
    bits = emitI64(b, bitsOf(*size));
    mask = emitI64(b, maskOf(bitsOf(*size)));
  } else {
    Value isLarge = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt,
                                          emitField(b, "groupSize", ctx),
                                          emitI32(b, kMaxAnyGroup));
    auto choose = [&](int64_t large, int64_t small) -> Value {
      return arith::SelectOp::create(b, isLarge, emitI64(b, large),
                                     emitI64(b, small));
    };
    const int64_t large = bitsOf(kMaxGroup), small = bitsOf(kMaxAnyGroup);
    bits = choose(large, small);
    mask = choose(maskOf(large), maskOf(small));
  }
  Value shift = arith::MulIOp::create(b, member, bits);
  Value rest =
      arith::ShRUIOp::create(b, emitField(b, "groupMembers", ctx), shift);
  return arith::AndIOp::create(b, rest, mask);
}

LogicalResult SyncLowering::lower(GroupMemberOp op) {
  Builder b(op.getLoc(), op);
  Value member = arith::IndexCastOp::create(b, b.getI64Type(), op.getMember());
  Value rank = emitGroupMember(b, op.getCtx(), member);
  op.replaceAllUsesWith(
      arith::IndexCastUIOp::create(b, b.getIndexType(), rank).getResult());
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Value SyncLowering::emitGlobalPointer(Builder &b, Value address,
                                      int64_t offset) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext(),
                                            target.getGlobalAddressSpace());
  Value base = LLVM::IntToPtrOp::create(b, pointer, address);
  if (offset == 0)
    return base;
  return LLVM::GEPOp::create(
      b, pointer, b.getI8Type(), base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
}

Value SyncLowering::emitTranslate(Builder &b, Value ctx, Value address,
                                  Value rank) {
  Type pointer = address.getType();
  if (translation == Translation::Stride) {
    // address + (rank - this rank) * stride; no load.
    Value me =
        arith::ExtUIOp::create(b, b.getI64Type(), emitField(b, "rank", ctx));
    Value ranks = arith::SubIOp::create(b, rank, me);
    Value stride = emitField(b, "heapStride", ctx);
    Value distance = arith::MulIOp::create(b, ranks, stride);
    return LLVM::GEPOp::create(b, pointer, b.getI8Type(), address,
                               ArrayRef<LLVM::GEPArg>{distance});
  }
  // table[rank] + (address - base of this rank's heap).
  Value table = emitGlobalPointer(b, emitField(b, "heapTable", ctx), 0);
  Value entry = LLVM::GEPOp::create(b, table.getType(), b.getI64Type(), table,
                                    ArrayRef<LLVM::GEPArg>{rank});
  Value peerBase = LLVM::LoadOp::create(b, b.getI64Type(), entry,
                                        /*alignment=*/8);
  Value distance =
      arith::SubIOp::create(b, peerBase, emitField(b, "heapBase", ctx));
  return LLVM::GEPOp::create(b, pointer, b.getI8Type(), address,
                             ArrayRef<LLVM::GEPArg>{distance});
}

/// `type` with the address space of global memory, unless it has another memory
/// space.
static MemRefType inGlobalMemory(MemRefType type, unsigned addressSpace) {
  Attribute space = type.getMemorySpace();
  if (space && !isa<SymmetricAttr, PeerAttr>(space))
    return type;
  Attribute global;
  if (addressSpace != 0)
    global =
        IntegerAttr::get(IntegerType::get(type.getContext(), 64), addressSpace);
  return MemRefType::get(type.getShape(), type.getElementType(),
                         type.getLayout(), global);
}

Value SyncLowering::emitDescriptor(Builder &b, Value memref) {
  Type type = typeConverter.convertType(inGlobalMemory(
      cast<MemRefType>(memref.getType()), target.getGlobalAddressSpace()));
  return UnrealizedConversionCastOp::create(b, type, memref).getResult(0);
}

Value SyncLowering::emitElementAddress(Builder &b, Value memref,
                                       ValueRange indices) {
  MemRefType type = inGlobalMemory(cast<MemRefType>(memref.getType()),
                                   target.getGlobalAddressSpace());
  SmallVector<Value> offsets;
  for (Value index : indices)
    offsets.push_back(
        arith::IndexCastOp::create(b, b.getI64Type(), index).getResult());
  return LLVM::getStridedElementPtr(b, b.getLoc(), typeConverter, type,
                                    emitDescriptor(b, memref), offsets);
}

LogicalResult SyncLowering::lower(TranslateOp op) {
  Builder b(op.getLoc(), op);
  Value rank = arith::IndexCastOp::create(b, b.getI64Type(), op.getRank());
  // Only the two pointers change. The rest of the descriptor stays that of this
  // rank's buffer, so that known sizes and strides remain known.
  MemRefDescriptor descriptor(emitDescriptor(b, op.getSource()));
  Value pointer =
      emitTranslate(b, op.getCtx(), descriptor.alignedPtr(b, b.getLoc()), rank);
  descriptor.setAllocatedPtr(b, b.getLoc(), pointer);
  descriptor.setAlignedPtr(b, b.getLoc(), pointer);
  op.replaceAllUsesWith(
      UnrealizedConversionCastOp::create(b, op.getType(), Value(descriptor))
          .getResult(0));
  op.erase();
  return success();
}
