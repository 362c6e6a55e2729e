// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SendRecv.cpp - send, recv ------------------------------------------===//
//
// `root` is the other member. The sender stores a tile to one of two FIFO slots
// in the receiver's workspace; slots are per program and sender. It then stores
// the number of tiles put to the receiver's memory. After the receiver has
// taken the tile, it stores the number of tiles taken to the sender's memory.
// Tile n uses slot n mod 2, which may be written once tile n - 2 has been
// taken. Counters never reset; each side keeps its own counter beside the other
// side's.
//
// No other collective uses the FIFO slots: a tile stays until it is received,
// whatever else the ranks do in between. A send of more than two tiles per
// program ends only when the receiver receives.
//
//===----------------------------------------------------------------------===//

#include "iris/Kernels/CollectiveKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// The counters and FIFO slots that one program uses with one member.
struct Fifo {
  explicit Fifo(KernelBuilder &k)
      : k(k), counters(k.words(Workspace::fifoCounters,
                               Workspace::fifoCounterBytes)) {}

  /// The number of tiles that `sender` has put, stored in this rank's memory,
  /// and the number that `receiver` has taken. Word 1 of a line is this rank's
  /// own counter of the opposite direction of the same exchange.
  Value putBy(Value sender) { return line(sender, 0); }
  Value takenBy(Value receiver) { return line(receiver, 1); }

  Value slot(Value sender, Value number) {
    Value pair =
        k.add(k.mul(k.program, k.index(Workspace::maxMembers)), sender);
    Value parity = arith::AndIOp::create(k.b, number, k.i32(1));
    Value half = arith::IndexCastUIOp::create(k.b, k.b.getIndexType(), parity);
    Value which = k.add(k.mul(pair, k.index(2)), half);
    return k.fifoSlot(which);
  }

  /// Runs `body(offset, number)` for this program's tiles. Numbers continue
  /// from the counter at `own`, which is updated at the end.
  void forTiles(Value own, llvm::function_ref<void(Value, Value)> body) {
    auto &b = k.b;
    Value last = memref::LoadOp::create(b, counters, own);
    Value tiles = k.tilesIn(k.count);
    auto loop =
        scf::ForOp::create(b, k.program, tiles, k.programs, last,
                           [](OpBuilder &, Location, Value, ValueRange) {});
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value number = k.addI32(loop.getRegionIterArg(0), k.i32(1));
      body(k.mul(loop.getInductionVar(), k.tileSize()), number);
      scf::YieldOp::create(b, number);
    }
    SignalOp::create(b, SignalKind::Set, k.ctx, loop.getResult(0), counters,
                     own, /*rank=*/Value(), MemSemantic::Relaxed, Scope::Gpu);
  }

  KernelBuilder &k;
  Value counters;

private:
  Value line(Value member, int64_t which) {
    Value pair =
        k.add(k.mul(k.program, k.index(Workspace::maxMembers)), member);
    Value number = k.add(k.mul(pair, k.index(2)), k.index(which));
    return k.mul(number, k.index(Workspace::line / 4));
  }
};
} // namespace

void mlir::iris::buildSend(KernelBuilder &k) {
  Fifo fifo(k);
  Value peer = k.rankOf(k.root);
  Value taken = fifo.takenBy(k.root), put = fifo.putBy(k.me);
  fifo.forTiles(k.add(taken, k.index(1)), [&](Value offset, Value number) {
    Value tile = k.load(k.in, offset);
    Value before = k.addI32(number, k.i32(-2));
    WaitOp::create(k.b, k.b.getI32Type(), k.ctx, fifo.counters, taken,
                   Comparison::GE, before,
                   /*rank=*/Value(), /*owedBy=*/peer, MemSemantic::Acquire,
                   Scope::Sys);
    k.storeTo(k.root, tile, fifo.slot(k.me, number), k.index(0));
    SignalOp::create(k.b, SignalKind::Set, k.ctx, number, fifo.counters, put,
                     peer, MemSemantic::Release, Scope::Sys);
  });
}

void mlir::iris::buildRecv(KernelBuilder &k) {
  Fifo fifo(k);
  Value peer = k.rankOf(k.root);
  Value put = fifo.putBy(k.root), taken = fifo.takenBy(k.me);
  fifo.forTiles(k.add(put, k.index(1)), [&](Value offset, Value number) {
    WaitOp::create(k.b, k.b.getI32Type(), k.ctx, fifo.counters, put,
                   Comparison::GE, number,
                   /*rank=*/Value(), /*owedBy=*/peer, MemSemantic::Acquire,
                   Scope::Sys);
    k.store(k.load(fifo.slot(k.root, number), k.index(0)), k.out, offset);
    SignalOp::create(k.b, SignalKind::Set, k.ctx, number, fifo.counters, taken,
                     peer, MemSemantic::Release, Scope::Sys);
  });
}
