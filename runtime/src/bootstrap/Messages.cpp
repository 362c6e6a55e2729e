// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Messages.cpp - Messages between ranks ------------------------------===//
#include "bootstrap/Messages.h"

#include "iris-c/RuntimeABI.h"

#include <algorithm>
#include <cstring>

using namespace iris::rt;

namespace {
/// The header of a message on the wire.
struct WireHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t kind;
  uint32_t rank;
  uint32_t sequence;
  uint32_t tag;
  uint32_t payloadBytes;
};
static_assert(sizeof(WireHeader) == messageHeaderBytes,
              "no padding on the wire");

struct WireChallenge {
  uint32_t pid;
  uint32_t reserved;
  uint64_t nonce[2];
};
static_assert(sizeof(WireChallenge) == 24, "no padding on the wire");

struct WireHello {
  uint16_t protocol;
  uint16_t abiMajor;
  uint16_t abiMinor;
  uint16_t reserved;
  uint32_t numRanks;
  uint32_t pid;
  uint64_t jobTag;
  uint64_t nonce[2];
  uint64_t proof;
};
static_assert(sizeof(WireHello) == helloBytes, "no padding on the wire");
} // namespace

static Status malformed(const char *what) {
  return makeStatus(StatusCode::invalidArgument,
                    "malformed rendezvous message: %s", what);
}

std::vector<uint8_t> iris::rt::encodeMessage(const MessageHeader &header,
                                             const void *payload,
                                             size_t payloadBytes) {
  WireHeader wire = {messageMagic,
                     protocolVersion,
                     static_cast<uint16_t>(header.kind),
                     header.rank,
                     header.sequence,
                     header.tag,
                     static_cast<uint32_t>(payloadBytes)};
  std::vector<uint8_t> bytes(sizeof(wire) + payloadBytes);
  std::memcpy(bytes.data(), &wire, sizeof(wire));
  if (payloadBytes != 0)
    std::memcpy(bytes.data() + sizeof(wire), payload, payloadBytes);
  return bytes;
}

/// Checks everything but the size.
static Status checkHeader(const WireHeader &wire) {
  if (wire.magic != messageMagic)
    return malformed("not from Iris");
  if (wire.version != protocolVersion)
    return makeStatus(StatusCode::invalidArgument,
                      "a rank uses rendezvous protocol %u, this one uses "
                      "%u: they are linked against different versions of Iris",
                      wire.version, protocolVersion);
  if (wire.kind < static_cast<uint16_t>(MessageKind::hello) ||
      wire.kind > static_cast<uint16_t>(MessageKind::admitted))
    return malformed("unknown kind");
  if (wire.rank >= IRISRT_MAX_RANKS)
    return malformed("rank out of bounds");
  return Status::success();
}

Expected<size_t> iris::rt::decodePayloadSize(const uint8_t *header,
                                             size_t maxPayload) {
  WireHeader wire;
  std::memcpy(&wire, header, sizeof(wire));
  IRISRT_RETURN_IF_ERROR(checkHeader(wire));
  if (wire.payloadBytes > std::min(maxPayload, maxMessageBytes - sizeof(wire)))
    return malformed("longer than the message may be");
  return static_cast<size_t>(wire.payloadBytes);
}

Expected<Message> iris::rt::decodeMessage(const uint8_t *bytes, size_t size) {
  WireHeader wire;
  if (size < sizeof(wire))
    return malformed("shorter than its header");
  if (size > maxMessageBytes)
    return malformed("longer than any message may be");
  std::memcpy(&wire, bytes, sizeof(wire));
  IRISRT_RETURN_IF_ERROR(checkHeader(wire));
  if (wire.payloadBytes != size - sizeof(wire))
    return malformed("size does not match its header");

  Message message;
  message.header.kind = static_cast<MessageKind>(wire.kind);
  message.header.rank = wire.rank;
  message.header.sequence = wire.sequence;
  message.header.tag = wire.tag;
  message.payload.assign(bytes + sizeof(wire), bytes + size);
  if (message.header.kind == MessageKind::contribution &&
      message.payload.size() > maxContribution)
    return malformed("contribution too large");
  return message;
}

std::vector<uint8_t> iris::rt::encodeChallenge(const Challenge &challenge) {
  WireChallenge wire = {
      challenge.pid, 0, {challenge.nonce[0], challenge.nonce[1]}};
  std::vector<uint8_t> bytes(sizeof(wire));
  std::memcpy(bytes.data(), &wire, sizeof(wire));
  return bytes;
}

Expected<Challenge>
iris::rt::decodeChallenge(const std::vector<uint8_t> &payload) {
  WireChallenge wire;
  if (payload.size() != sizeof(wire))
    return malformed("challenge of a wrong size");
  std::memcpy(&wire, payload.data(), sizeof(wire));
  Challenge challenge;
  challenge.pid = wire.pid;
  challenge.nonce = {wire.nonce[0], wire.nonce[1]};
  return challenge;
}

std::vector<uint8_t> iris::rt::encodeProof(uint64_t proof) {
  std::vector<uint8_t> bytes(sizeof(proof));
  std::memcpy(bytes.data(), &proof, sizeof(proof));
  return bytes;
}

Expected<uint64_t> iris::rt::decodeProof(const std::vector<uint8_t> &payload) {
  uint64_t proof = 0;
  if (payload.size() != sizeof(proof))
    return malformed("proof of a wrong size");
  std::memcpy(&proof, payload.data(), sizeof(proof));
  return proof;
}

std::vector<uint8_t> iris::rt::encodeHello(const Hello &hello) {
  WireHello wire = {hello.protocol, hello.abiMajor,
                    hello.abiMinor, 0,
                    hello.numRanks, hello.pid,
                    hello.jobTag,   {hello.nonce[0], hello.nonce[1]},
                    hello.proof};
  std::vector<uint8_t> bytes(sizeof(wire));
  std::memcpy(bytes.data(), &wire, sizeof(wire));
  return bytes;
}

Expected<Hello> iris::rt::decodeHello(const std::vector<uint8_t> &payload) {
  WireHello wire;
  if (payload.size() != sizeof(wire))
    return malformed("hello of a wrong size");
  std::memcpy(&wire, payload.data(), sizeof(wire));
  if (wire.numRanks == 0 || wire.numRanks > IRISRT_MAX_RANKS)
    return malformed("hello with a world size out of bounds");
  Hello hello;
  hello.protocol = wire.protocol;
  hello.abiMajor = wire.abiMajor;
  hello.abiMinor = wire.abiMinor;
  hello.numRanks = wire.numRanks;
  hello.pid = wire.pid;
  hello.jobTag = wire.jobTag;
  hello.nonce = {wire.nonce[0], wire.nonce[1]};
  hello.proof = wire.proof;
  return hello;
}

std::vector<uint8_t> iris::rt::encodeContributions(
    const std::vector<std::vector<uint8_t>> &contributions) {
  std::vector<uint8_t> bytes;
  for (const std::vector<uint8_t> &each : contributions) {
    uint32_t size = static_cast<uint32_t>(each.size());
    const uint8_t *raw = reinterpret_cast<const uint8_t *>(&size);
    bytes.insert(bytes.end(), raw, raw + sizeof(size));
    bytes.insert(bytes.end(), each.begin(), each.end());
  }
  return bytes;
}

Expected<std::vector<std::vector<uint8_t>>>
iris::rt::decodeContributions(const std::vector<uint8_t> &payload,
                              uint32_t numRanks) {
  if (numRanks > IRISRT_MAX_RANKS)
    return malformed("too many contributions");
  std::vector<std::vector<uint8_t>> contributions;
  size_t at = 0;
  for (uint32_t rank = 0; rank < numRanks; ++rank) {
    uint32_t size = 0;
    if (payload.size() - at < sizeof(size))
      return malformed("result cut short");
    std::memcpy(&size, payload.data() + at, sizeof(size));
    at += sizeof(size);
    if (size > maxContribution || payload.size() - at < size)
      return malformed("result with a contribution out of bounds");
    contributions.emplace_back(payload.begin() + at,
                               payload.begin() + at + size);
    at += size;
  }
  if (at != payload.size())
    return malformed("result with bytes left over");
  return contributions;
}

std::vector<uint8_t>
iris::rt::encodeGroupContribution(const GroupContribution &contribution) {
  std::vector<uint8_t> bytes(sizeof(contribution.ranks) +
                             contribution.bytes.size());
  std::memcpy(bytes.data(), &contribution.ranks, sizeof(contribution.ranks));
  std::copy(contribution.bytes.begin(), contribution.bytes.end(),
            bytes.begin() + sizeof(contribution.ranks));
  return bytes;
}

Expected<GroupContribution>
iris::rt::decodeGroupContribution(const std::vector<uint8_t> &payload) {
  GroupContribution contribution;
  if (payload.size() < sizeof(contribution.ranks) ||
      payload.size() > sizeof(contribution.ranks) + maxContribution)
    return malformed("contribution to a group's collective of a wrong size");
  std::memcpy(&contribution.ranks, payload.data(), sizeof(contribution.ranks));
  contribution.bytes.assign(payload.begin() + sizeof(contribution.ranks),
                            payload.end());
  return contribution;
}

std::vector<uint8_t> iris::rt::encodeLateRanks(uint64_t ranks) {
  std::vector<uint8_t> bytes(sizeof(ranks));
  std::memcpy(bytes.data(), &ranks, sizeof(ranks));
  return bytes;
}

Expected<uint64_t>
iris::rt::decodeLateRanks(const std::vector<uint8_t> &payload) {
  uint64_t ranks = 0;
  if (payload.size() != sizeof(ranks))
    return malformed("list of late ranks of a wrong size");
  std::memcpy(&ranks, payload.data(), sizeof(ranks));
  return ranks;
}

std::vector<uint8_t> iris::rt::encodeLaunchCount(uint32_t launches) {
  std::vector<uint8_t> bytes(sizeof(launches));
  std::memcpy(bytes.data(), &launches, sizeof(launches));
  return bytes;
}

Expected<uint32_t>
iris::rt::decodeLaunchCount(const std::vector<uint8_t> &payload) {
  uint32_t launches = 0;
  if (payload.size() != sizeof(launches))
    return malformed("number of launches of a wrong size");
  std::memcpy(&launches, payload.data(), sizeof(launches));
  return launches;
}

std::vector<uint8_t> iris::rt::encodeFailure(const Failure &failure) {
  size_t length = std::min(failure.reason.size(), maxReasonBytes);
  std::vector<uint8_t> bytes(sizeof(uint32_t) + length);
  std::memcpy(bytes.data(), &failure.rank, sizeof(uint32_t));
  std::memcpy(bytes.data() + sizeof(uint32_t), failure.reason.data(), length);
  return bytes;
}

Expected<Failure> iris::rt::decodeFailure(const std::vector<uint8_t> &payload) {
  Failure failure;
  if (payload.size() < sizeof(uint32_t) ||
      payload.size() > sizeof(uint32_t) + maxReasonBytes)
    return malformed("failure of a wrong size");
  std::memcpy(&failure.rank, payload.data(), sizeof(uint32_t));
  if (failure.rank >= IRISRT_MAX_RANKS)
    return malformed("failure of a rank out of bounds");
  failure.reason = escapeControls(
      std::string(payload.begin() + sizeof(uint32_t), payload.end()));
  return failure;
}
