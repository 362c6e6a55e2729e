// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Messages.h - Messages between ranks ----------------------*- C++ -*-===//
//
// Encodes and decodes the messages of the rendezvous and of collectives, with
// checks. No function uses a socket, so that a fuzzer can call them.
#ifndef IRIS_RT_BOOTSTRAP_MESSAGES_H
#define IRIS_RT_BOOTSTRAP_MESSAGES_H

#include "iris/rt/Status.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace iris::rt {

/// A message is a header, then `payload` bytes: one packet of a local socket,
/// or a part of a TCP stream (Framing.h). Integers are in native byte order; a
/// machine with another one sees a wrong magic number.
enum class MessageKind : uint16_t {
  hello = 1,             ///< rank r -> 0: identification and proof
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
  challenge = 12,   ///< 0 -> a process that has connected: who are you?
  otherJob = 13,    ///< 0 -> that process: I meet the ranks of another job
  admitted = 14,    ///< 0 -> that process: you are a rank, and I am rank 0
};

constexpr uint32_t messageMagic = 0x4d535249u; // "IRSM"
constexpr uint16_t protocolVersion = 6;
/// The bytes of a message's header.
constexpr size_t messageHeaderBytes = 24;
/// The maximum size of one rank's contribution to a collective.
constexpr size_t maxContribution = 1024;
constexpr size_t maxReasonBytes = 2048;
/// The maximum size of a message: the result with the most ranks.
constexpr size_t maxMessageBytes = 64 * (maxContribution + 4) + 64;

/// The header of a message.
struct MessageHeader {
  MessageKind kind = MessageKind::goodbye;
  uint32_t rank = 0; ///< original sender
  /// Number of the collective round; of a rank that leaves, its last one.
  uint32_t sequence = 0;
  uint32_t tag = 0; ///< CollectiveTag, channel, or receiving rank
};

/// Payload of `challenge`.
struct Challenge {
  uint32_t pid = 0;
  std::array<uint64_t, 2> nonce{};
};

/// Payload of `hello`. JobProof.h says what the proof is.
struct Hello {
  uint16_t protocol = protocolVersion;
  uint16_t abiMajor = 0;
  uint16_t abiMinor = 0;
  uint32_t numRanks = 0;
  uint32_t pid = 0;
  uint64_t jobTag = 0;
  std::array<uint64_t, 2> nonce{};
  uint64_t proof = 0;
};
constexpr size_t helloBytes = 48;

struct Message {
  MessageHeader header;
  std::vector<uint8_t> payload;
};

/// Encodes a message.
std::vector<uint8_t> encodeMessage(const MessageHeader &header,
                                   const void *payload, size_t payloadBytes);
/// Decodes a message; checks magic, version, kind, rank and size.
Expected<Message> decodeMessage(const uint8_t *bytes, size_t size);
/// The payload's size, from messageHeaderBytes of a header whose payload is yet
/// to come; checks magic, version, kind and rank, and that the payload is at
/// most `maxPayload` bytes.
Expected<size_t> decodePayloadSize(const uint8_t *header, size_t maxPayload);

std::vector<uint8_t> encodeChallenge(const Challenge &challenge);
Expected<Challenge> decodeChallenge(const std::vector<uint8_t> &payload);

/// Payload of `admitted`: rank 0's proof.
std::vector<uint8_t> encodeProof(uint64_t proof);
Expected<uint64_t> decodeProof(const std::vector<uint8_t> &payload);

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
