// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ranks say to each other while they meet and later: pure functions from
// bytes to checked values and back.  Nothing here touches a socket, so that a
// fuzzer can drive it.
#ifndef IRIS_RT_BOOTSTRAP_MESSAGES_H
#define IRIS_RT_BOOTSTRAP_MESSAGES_H

#include "iris/rt/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace iris::rt {

/// One message is one packet of a SOCK_SEQPACKET socket: a header, then
/// `payload` bytes.  Integers are in the byte order of the machine: both ends
/// are processes on it.
enum class MessageKind : uint16_t {
  hello = 1,        ///< rank r -> 0: who I am
  welcome = 2,      ///< 0 -> r: all ranks are here
  contribution = 3, ///< r -> 0: my part of a collective
  result = 4,       ///< 0 -> r: the parts of all ranks
  failure = 5,      ///< any -> any: the world has failed, and why
  goodbye = 6,      ///< any -> any: I leave in good order
  groupPart = 7,    ///< r -> 0 -> member: my part of a group's collective
  whoIsLate = 8,    ///< r -> 0: whose part of the collective is missing?
  areLate = 9,      ///< 0 -> r: these ranks'
};

constexpr uint32_t messageMagic = 0x4d535249u; // "IRSM"
constexpr uint16_t protocolVersion = 3;
/// Most bytes that one rank adds to one collective round.
constexpr size_t maxContribution = 1024;
constexpr size_t maxReasonBytes = 2048;
/// Most bytes of one message: the result of a round with the most ranks.
constexpr size_t maxMessageBytes = 64 * (maxContribution + 4) + 64;

/// What every message starts with.
struct MessageHeader {
  MessageKind kind = MessageKind::goodbye;
  uint32_t rank = 0;     ///< sender; of a groupPart, who it comes from
  uint32_t sequence = 0; ///< number of the collective round
  uint32_t tag = 0;      ///< which collective (CollectiveTag), or channel
};

/// Payload of `hello`.
struct Hello {
  uint16_t protocol = protocolVersion;
  uint16_t abiMajor = 0;
  uint16_t abiMinor = 0;
  uint32_t numRanks = 0;
  uint64_t token = 0;
};

struct Message {
  MessageHeader header;
  std::vector<uint8_t> payload;
};

/// Bytes of a message.
std::vector<uint8_t> encodeMessage(const MessageHeader &header,
                                   const void *payload, size_t payloadBytes);
/// Checks magic, version, kind, rank bound and size.
Expected<Message> decodeMessage(const uint8_t *bytes, size_t size);

std::vector<uint8_t> encodeHello(const Hello &hello);
Expected<Hello> decodeHello(const std::vector<uint8_t> &payload);

/// Payload of `result`: per rank a u32 size, then that many bytes.
std::vector<uint8_t>
encodeParts(const std::vector<std::vector<uint8_t>> &parts);
Expected<std::vector<std::vector<uint8_t>>>
decodeParts(const std::vector<uint8_t> &payload, uint32_t numRanks);

/// Payload of `groupPart`: a bit per member of the group, then bytes.
struct GroupPart {
  uint64_t members = 0;
  std::vector<uint8_t> bytes;
};
std::vector<uint8_t> encodeGroupPart(const GroupPart &part);
Expected<GroupPart> decodeGroupPart(const std::vector<uint8_t> &payload);

/// Payload of `areLate`: a bit per rank.
std::vector<uint8_t> encodeLate(uint64_t ranks);
Expected<uint64_t> decodeLate(const std::vector<uint8_t> &payload);

/// Payload of `failure`: a rank (the culprit), then text.
struct Failure {
  uint32_t rank = 0;
  std::string reason;
};
std::vector<uint8_t> encodeFailure(const Failure &failure);
Expected<Failure> decodeFailure(const std::vector<uint8_t> &payload);

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_MESSAGES_H
