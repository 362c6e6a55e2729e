// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Transfers.h - Arguments of several sends and receives ----*- C++ -*-===//
//
// The arguments of the kernel that runs the sends and receives of a group
// (Trait::grouped) are the context, the workspace, memory of this rank from
// which distances count, the number of connections, and then numbers:
//
//   connections   Connection
//   distances     of each message, the bytes from that memory to its buffer
//   messages      Message
//
// A connection is a peer and a direction; message m of connection c has number
// m * countConnections() + c. There are always as many arguments as a group of
// the size can need; those beyond are unused.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_TRANSFERS_H
#define IRIS_PLAN_TRANSFERS_H

#include "iris/Plan/Workspace.h"

#include <algorithm>
#include <cstdint>

namespace irisplan {

/// The most connections of a launch in a group of `members`.
constexpr int64_t countConnections(int64_t members) {
  return 2 * std::max<int64_t>(members - 1, 1);
}
/// The most messages of one of them: few in large groups, because arguments
/// are in registers when a kernel starts.
constexpr int64_t countMessages(int64_t members) {
  return std::max<int64_t>(16 / countConnections(members), 2);
}

/// A number that is one of several in an argument: bits from `first` on.
struct TransferField {
  int64_t first, bits;

  constexpr int64_t put(int64_t value) const { return value << first; }
};

struct Connection {
  static constexpr TransferField peerField = {0, 16}, sendField = {16, 1},
                                 messagesField = {17, 16};

  int64_t peer = 0;
  bool isSend = false;
  int64_t messages = 0;

  constexpr int64_t pack() const {
    return peerField.put(peer) | sendField.put(isSend) |
           messagesField.put(messages);
  }
};

struct Message {
  static constexpr TransferField countField = {0, 52}, packetsField = {52, 1},
                                 programsField = {53, 10};

  /// Elements.
  int64_t count = 0;
  /// Whether it travels in packets.
  bool inPackets = false;
  /// Programs that a send or receive of its own would have; those of the group
  /// do their work.
  int64_t programs = 0;

  constexpr int64_t pack() const {
    return countField.put(count) | packetsField.put(inPackets) |
           programsField.put(programs);
  }
};

static_assert(Workspace::fifoPrograms(1) < int64_t(1)
                                               << Message::programsField.bits);

} // namespace irisplan

#endif // IRIS_PLAN_TRANSFERS_H
