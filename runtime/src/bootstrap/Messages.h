// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Messages.h - Messages between ranks ----------------------*- C++ -*-===//
//
// Encodes and decodes the messages of the rendezvous and of collectives, with
// checks. No function uses a socket, so that a fuzzer can call them.
#ifndef IRIS_RT_BOOTSTRAP_MESSAGES_H
#define IRIS_RT_BOOTSTRAP_MESSAGES_H

#include "iris/rt/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace iris::rt {

/// A message is one packet of a SOCK_SEQPACKET socket: a header, then `payload`
/// bytes. Integers are in native byte order, because both ends are on the same
/// machine.
enum class MessageKind : uint16_t {
  hello = 1,             ///< rank r -> 0: identification
  welcome = 2,           ///< 0 -> r: all ranks are here
  contribution = 3,      ///< r -> 0: r's contribution to a collective
  result = 4,            ///< 0 -> r: the contributions of all ranks
  failure = 5,           ///< any -> any: the world has failed, and the reason
  goodbye = 6,           ///< any -> any: regular end of the connection
  groupContribution = 7, ///< r -> 0 -> ranks of a group: r's contribution
  lateQuery = 8, ///< r -> 0: whose contributions to the collective are missing?
  lateAnswer = 9,   ///< 0 -> r: those of these ranks
  launchQuery = 10, ///< r -> 0 -> rank `tag`: how many kernels has it launched?
  launchCount = 11, ///< the answer, to rank `tag`
};

constexpr uint32_t messageMagic = 0x4d535249u; // "IRSM"
constexpr uint16_t protocolVersion = 4;
/// The maximum size of one rank's contribution to a collective.
constexpr size_t maxContribution = 1024;
constexpr size_t maxReasonBytes = 2048;
/// The maximum size of a message: the result with the most ranks.
constexpr size_t maxMessageBytes = 64 * (maxContribution + 4) + 64;

/// The header of a message.
struct MessageHeader {
  MessageKind kind = MessageKind::goodbye;
  uint32_t rank = 0;     ///< original sender
  uint32_t sequence = 0; ///< number of the collective round
  uint32_t tag = 0;      ///< CollectiveTag, channel, or receiving rank
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

/// Encodes a message.
std::vector<uint8_t> encodeMessage(const MessageHeader &header,
                                   const void *payload, size_t payloadBytes);
/// Decodes a message; checks magic, version, kind, rank and size.
Expected<Message> decodeMessage(const uint8_t *bytes, size_t size);

std::vector<uint8_t> encodeHello(const Hello &hello);
Expected<Hello> decodeHello(const std::vector<uint8_t> &payload);

/// Payload of `result`: for each rank a u32 size, then that many bytes.
std::vector<uint8_t>
encodeContributions(const std::vector<std::vector<uint8_t>> &contributions);
Expected<std::vector<std::vector<uint8_t>>>
decodeContributions(const std::vector<uint8_t> &payload, uint32_t numRanks);

/// Payload of `groupContribution`: one bit for each rank of the group, then
/// bytes.
struct GroupContribution {
  uint64_t ranks = 0;
  std::vector<uint8_t> bytes;
};
std::vector<uint8_t>
encodeGroupContribution(const GroupContribution &contribution);
Expected<GroupContribution>
decodeGroupContribution(const std::vector<uint8_t> &payload);

/// Payload of `lateAnswer`: one bit for each rank.
std::vector<uint8_t> encodeLateRanks(uint64_t ranks);
Expected<uint64_t> decodeLateRanks(const std::vector<uint8_t> &payload);

/// Payload of `launchCount`: one u32.
std::vector<uint8_t> encodeLaunchCount(uint32_t launches);
Expected<uint32_t> decodeLaunchCount(const std::vector<uint8_t> &payload);

/// Payload of `failure`: the rank that failed, then the reason.
struct Failure {
  uint32_t rank = 0;
  std::string reason;
};
std::vector<uint8_t> encodeFailure(const Failure &failure);
Expected<Failure> decodeFailure(const std::vector<uint8_t> &payload);

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_MESSAGES_H
