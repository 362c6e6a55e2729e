// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PacketCheck.cpp - Packets that never arrive ------------------------===//
//
// A wait for packets never ends if not all of them are stored, or if others
// have overwritten one of them. Where plain stores, signals or atomics may
// change its packets, none of this is known.
#include "Checks.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

namespace {
/// The stores that concern a wait for packets.
struct PacketStores {
  /// Where packets with its flag are stored.
  Contents sent;
  /// One with its flag that is still to be executed.
  PendingWrite pending;
  /// One with another flag, and one of these that is executed.
  const Event *otherFlag = nullptr, *overwriting = nullptr;
  /// Whether there may be other writes.
  bool hasOthers = false;
};
} // namespace

/// Whether a write of any kind may change packets that are waited for.
static bool mayChange(const Event &write, const Event &load) {
  if (!write.writes ||
      (write.buffer.root != Buffer::kUnknown &&
       write.buffer.root != load.buffer.root) ||
      (write.buffer.rank && write.buffer.rank != load.buffer.rank))
    return false;
  std::optional<Bytes> bytes = write.getBytes(), window = load.getBytes();
  return !bytes || (bytes->from < window->to && window->from < bytes->to);
}

static PacketStores findStores(const Execution &execution, const Event &load) {
  PacketStores stores;
  execution.forEachEvent(
      [&](const Event &event, const Program *program, bool isPending) {
        if (!mayChange(event, load))
          return;
        if (event.kind != Event::Kind::PacketStore) {
          stores.hasOthers = true;
          return;
        }
        if (event.value == load.value) {
          stores.sent.store(*event.getBytes(), event.value);
          if (isPending && !stores.pending.write)
            stores.pending = {&event, program};
          return;
        }
        stores.otherFlag = &event;
        if (!isPending)
          stores.overwriting = &event;
      });
  return stores;
}

std::optional<SyncFinding>
mlir::iris::sync::findLostPackets(const Execution &execution, const Event &load,
                                  PendingWrite &pending) {
  PacketStores stores = findStores(execution, load);
  if (stores.hasOthers)
    return std::nullopt;
  SyncFinding finding{SyncCheckKind::Wait, load.op, "", {}};
  // Where nothing is stored, there is no flag.
  if (!stores.sent.have(*load.getBytes(), load.value, /*initial=*/Scalar())
           .value_or(false)) {
    finding.message = nameOf(load) +
                      " never ends: not all of the packets that it waits for "
                      "are stored with its flag; store them where it reads, "
                      "with the same flag";
    if (stores.otherFlag)
      finding.notes.emplace_back(stores.otherFlag->op,
                                 "packets with another flag are stored here");
    return finding;
  }
  if (stores.pending.write) {
    pending = stores.pending;
    return std::nullopt;
  }
  if (!stores.overwriting)
    return std::nullopt;
  finding.message = nameOf(load) +
                    " never ends: other packets overwrite those that it waits "
                    "for; store them only after these have been received, or "
                    "to another half of the buffer";
  finding.notes.emplace_back(stores.overwriting->op,
                             "packets with another flag are stored here");
  return finding;
}
