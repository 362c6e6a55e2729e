// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LowerTrace.cpp - Records events in the trace buffer ----------------===//
//
// The leader reserves the next entry of its program's ring and writes an event.
// One word of the context encodes the address of the rings, their number and
// their length, so that no load is needed to find the entry.
//
//===----------------------------------------------------------------------===//

#include "SyncLowering.h"

#include "iris-c/RuntimeABI.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::iris;

/// The lower `log2` bits (i64) of `value`.
static Value emitLowBits(ImplicitLocOpBuilder &b, Value value, Value log2) {
  Value size = arith::ShLIOp::create(b, emitI64(b, 1), log2);
  Value mask = arith::SubIOp::create(b, size, emitI64(b, 1));
  return arith::AndIOp::create(b, value, mask);
}

/// Bits [from, from + 4) of `value`.
static Value emitNibble(ImplicitLocOpBuilder &b, Value value, int64_t from) {
  Value shifted = arith::ShRUIOp::create(b, value, emitI64(b, from));
  return arith::AndIOp::create(b, shifted, emitI64(b, 15));
}

LogicalResult SyncLowering::lower(TraceOp op) {
  Builder b(op.getLoc(), op);
  int64_t site = addSite(op, op.getSpan(), /*element=*/Type());
  bool inWave = op->hasAttr(kInWaveAttr);
  int64_t phase =
      static_cast<int64_t>(op.getPhase()) | (inWave ? IRISRT_TRACE_LOADS : 0);
  Value trace = emitField(b, "trace", op.getCtx());
  Value isOn =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, trace, emitI64(b, 0));
  auto record = [&] {
    // Read the clock first, so that the preceding span does not include the
    // cost of the event.
    Value clock = target.emitClock(b);
    Value ringsLog2 = emitNibble(b, trace, IRISRT_TRACE_RINGS_SHIFT);
    Value eventsLog2 = emitNibble(b, trace, IRISRT_TRACE_EVENTS_SHIFT);
    Value buffer = arith::AndIOp::create(
        b, trace, emitI64(b, ~int64_t(IRISRT_TRACE_ALIGNMENT - 1)));

    Value program = emitProgramIndex(b);
    Value ring = emitLowBits(b, program, ringsLog2);
    auto scaled = [&](Value index, int64_t bytes) -> Value {
      return arith::MulIOp::create(b, index, emitI64(b, bytes));
    };
    Value counter =
        arith::AddIOp::create(b, buffer, scaled(ring, sizeof(IrisRtTraceRing)));
    Value entry = target.emitAtomicRMW(
        b, RMWKind::Add, emitI64(b, 1), emitGlobalPointer(b, counter, 0),
        LLVM::AtomicOrdering::monotonic, Scope::Gpu, /*needsResult=*/true);

    // The events follow the counters of all rings.
    Value rings = arith::ShLIOp::create(b, emitI64(b, 1), ringsLog2);
    Value first = arith::ShLIOp::create(b, ring, eventsLog2);
    Value index =
        arith::AddIOp::create(b, first, emitLowBits(b, entry, eventsLog2));
    Value events = arith::AddIOp::create(
        b, buffer, scaled(rings, sizeof(IrisRtTraceRing)));
    Value event = emitGlobalPointer(
        b,
        arith::AddIOp::create(b, events,
                              scaled(index, sizeof(IrisRtTraceEvent))),
        0);
    auto store = [&](int64_t offset, Value value) {
      emitStoreField(b, event, offset, value);
    };
    store(offsetof(IrisRtTraceEvent, clock), clock);
    Value bytes = op.getBytes() ? Value(arith::IndexCastOp::create(
                                      b, b.getI64Type(), op.getBytes()))
                                : emitI64(b, 0);
    store(offsetof(IrisRtTraceEvent, bytes), bytes);
    store(offsetof(IrisRtTraceEvent, kernelHash),
          emitI64(b, static_cast<int64_t>(getKernelHash())));
    store(offsetof(IrisRtTraceEvent, program),
          arith::TruncIOp::create(b, b.getI32Type(), program));
    store(offsetof(IrisRtTraceEvent, launchId),
          emitField(b, "launchId", op.getCtx()));
    store(offsetof(IrisRtTraceEvent, site), emitI32(b, site));
    store(offsetof(IrisRtTraceEvent, phase), emitI32(b, phase));
  };
  if (inWave)
    emitIf(b, isOn, record);
  else
    emitInLeader(b, target, [&] { emitIf(b, isOn, record); });
  op.erase();
  return success();
}
