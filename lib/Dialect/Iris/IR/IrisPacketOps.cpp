// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisPacketOps.cpp - Packets (LL protocol) --------------------------===//

#include "iris/Dialect/Iris/IR/Iris.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// RankedAccessOpInterface
//===----------------------------------------------------------------------===//

OpOperand &PacketStoreOp::getBufferOperand() { return getBufferMutable(); }
Value PacketStoreOp::getAccessedRank() { return getRank(); }
void PacketStoreOp::dropAccessedRank() { getRankMutable().clear(); }

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// The minimum payload in bytes: one access of 16 bytes in each of two threads.
static constexpr int64_t kMinPacketBytes = 16;
/// Offsets must be a multiple of this, so that accesses may have 16 bytes.
static constexpr int64_t kOffsetDivisor = 4;

static LogicalResult verifyPacket(Operation *op, RankedTensorType tile,
                                  MemRefType buffer, Value offset) {
  if (failed(tile::verifyTileShape(op, tile)))
    return failure();
  int64_t bytes = tile.getNumElements() * tile.getElementTypeBitWidth() / 8;
  if (bytes < kMinPacketBytes || !llvm::isPowerOf2_64(bytes))
    return op->emitOpError("tile ")
           << tile << " has " << bytes
           << " bytes; expected a power of two, at least " << kMinPacketBytes;
  SmallVector<int64_t> strides;
  int64_t start;
  if (failed(buffer.getStridesAndOffset(strides, start)) || strides[0] != 1)
    return op->emitOpError("buffer ")
           << buffer << " has gaps; expected a stride of 1";
  std::optional<int64_t> constant = getConstantIntValue(offset);
  if (constant && *constant % kOffsetDivisor != 0)
    return op->emitOpError("offset is ") << *constant << "; expected a multiple"
                                         << " of " << kOffsetDivisor;
  return success();
}

LogicalResult PacketStoreOp::verify() {
  MemRefType buffer = getBuffer().getType();
  if (getRank() && !isSymmetric(buffer)) {
    InFlightDiagnostic diag =
        emitOpError("names a rank, but the buffer ")
        << buffer
        << " is not on the symmetric heap; expected memory space "
           "#iris.symmetric";
    if (isPeer(buffer))
      diag.attachNote() << "a buffer in #iris.peer is already translated";
    return diag;
  }
  return verifyPacket(*this, getValue().getType(), buffer, getOffset());
}

LogicalResult PacketLoadOp::verify() {
  if (failed(
          verifyPacket(*this, getType(), getBuffer().getType(), getOffset())))
    return failure();
  if (std::optional<uint64_t> members = getMembers()) {
    if (getOwedBy())
      return emitOpError(
          "is owed by members and by a rank; expected one of them");
    // Packets carry 4 bytes of data each.
    uint64_t words = static_cast<uint64_t>(getType().getNumElements()) *
                     getType().getElementTypeBitWidth() / 32;
    if (*members < 1 || *members > kMaxGroup || words % *members != 0)
      return emitOpError("has ") << words << " words owed by " << *members
                                 << " members; expected 1 to " << kMaxGroup
                                 << " members that divide them evenly";
  }
  return success();
}

/// Words are divided evenly among offsets, one or two for each.
static LogicalResult verifyWordsPerOffset(Operation *op, VectorType words,
                                          int64_t numOffsets) {
  int64_t count = words.getNumElements();
  if (numOffsets > 0 && (count == numOffsets || count == 2 * numOffsets))
    return success();
  return op->emitOpError("has ") << count << " words for " << numOffsets
                                 << " offsets; expected one or two for each";
}

LogicalResult WritePacketsOp::verify() {
  return verifyWordsPerOffset(*this, getWords().getType(), getOffsets().size());
}

LogicalResult ReadPacketsOp::verify() {
  return verifyWordsPerOffset(*this, getWords().getType(), getOffsets().size());
}
