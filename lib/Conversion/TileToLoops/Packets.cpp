// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Packets.cpp - Packets (LL protocol) on the host --------------------===//
//
// Words are accessed one after the other: each word and its flag are a 64-bit
// atomic, and the load waits for each of them.
//
//===----------------------------------------------------------------------===//

#include "TileLowering.h"
#include "Window.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::iris;

static int64_t countWords(RankedTensorType type) {
  return type.getNumElements() * type.getElementTypeBitWidth() / 32;
}

/// The address of word `word` (index) of the payload.
static Value wordAddress(ImplicitLocOpBuilder &b, Value payload, Value word) {
  Value index = arith::IndexCastOp::create(b, b.getI64Type(), word);
  return LLVM::GEPOp::create(b, payload.getType(), b.getI32Type(), payload,
                             ArrayRef<LLVM::GEPArg>{index});
}

/// Runs `body` for each word, with its number (index) and the offset in bytes
/// (i32) of its packet.
static void
forWords(ImplicitLocOpBuilder &b, int64_t words,
         function_ref<void(ImplicitLocOpBuilder &, Value, Value)> body) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = scf::ForOp::create(b, arith::ConstantIndexOp::create(b, 0),
                                 arith::ConstantIndexOp::create(b, words),
                                 arith::ConstantIndexOp::create(b, 1));
  b.setInsertionPointToStart(loop.getBody());
  Value word = loop.getInductionVar();
  Value offset =
      arith::MulIOp::create(b, word, arith::ConstantIndexOp::create(b, 8));
  body(b, word, arith::IndexCastOp::create(b, b.getI32Type(), offset));
}

void TileLowering::lowerPacket(PacketStoreOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  int64_t words = countWords(op.getValue().getType());
  Window window(b, op.getBuffer(), op.getOffset(), 2 * words);
  Value buffer = buffers.lookup(op.getValue());
  if (!buffer) {
    buffer = allocate(b, op.getValue());
    fill(b, op.getValue(), buffer);
  }
  auto branch = scf::IfOp::create(b, window.isInside(b),
                                  /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  Value start = arith::ConstantIndexOp::create(b, 0);
  Value base = window.address(b, start);
  Value payload = bufferAddress(b, buffer, start);
  forWords(b, words, [&](ImplicitLocOpBuilder &b, Value word, Value offset) {
    Value from = wordAddress(b, payload, word);
    auto type = VectorType::get({1}, b.getI32Type());
    Value data = LLVM::LoadOp::create(b, type, from, /*alignment=*/4);
    WritePacketsOp::create(b, data, op.getFlag(), base, offset);
  });
}

void TileLowering::lowerPacket(PacketLoadOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  RankedTensorType type = op.getType();
  int64_t words = countWords(type);
  Window window(b, op.getBuffer(), op.getOffset(), 2 * words);
  Value buffer = allocate(b, op.getResult());
  auto branch = scf::IfOp::create(b, window.isInside(b),
                                  /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  Value start = arith::ConstantIndexOp::create(b, 0);
  Value base = window.address(b, start);
  Value payload = bufferAddress(b, buffer, start);
  forWords(b, words, [&](ImplicitLocOpBuilder &b, Value word, Value offset) {
    auto type = VectorType::get({1}, b.getI32Type());
    Value data =
        ReadPacketsOp::create(b, type, op.getCtx(), base, offset, op.getFlag(),
                              op.getOwedBy(), op.getMemberBytes());
    LLVM::StoreOp::create(b, data, wordAddress(b, payload, word),
                          /*alignment=*/4);
  });
  b.setInsertionPointToStart(branch.elseBlock());
  Value zero =
      arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
  forAll(b, type.getShape(), /*flat=*/true,
         [&](ImplicitLocOpBuilder &b, const Point &point) {
           write(b, buffer, point.linear, zero);
         });
  buffers[op.getResult()] = buffer;
}
