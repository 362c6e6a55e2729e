// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes the decoders of the rendezvous' messages.  The first byte is the
// number of ranks that a `result` is decoded for.
#include "bootstrap/Messages.h"

#include <cstdlib>

using namespace iris::rt;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  uint32_t numRanks = data[0] % 65;
  // Of a stream, the header is decoded before the rest has arrived.
  if (size > messageHeaderBytes) {
    Expected<size_t> payload = decodePayloadSize(data + 1, helloBytes);
    require(!payload.ok() || *payload <= helloBytes);
  }
  Expected<Message> message = decodeMessage(data + 1, size - 1);
  if (!message.ok()) {
    require(!message.status().message().empty());
    return 0;
  }
  // A decoded message is encoded to one that decodes to the same.
  const MessageHeader &header = message->header;
  auto again =
      encodeMessage(header, message->payload.data(), message->payload.size());
  Expected<Message> second = decodeMessage(again.data(), again.size());
  require(second.ok() && second->payload == message->payload &&
          second->header.kind == header.kind &&
          second->header.rank == header.rank &&
          second->header.sequence == header.sequence &&
          second->header.tag == header.tag);

  // For every kind: a peer may send any payload under any kind.
  Expected<Hello> hello = decodeHello(message->payload);
  if (hello.ok())
    require(decodeHello(encodeHello(*hello)).ok());
  Expected<Challenge> challenge = decodeChallenge(message->payload);
  if (challenge.ok())
    require(encodeChallenge(*challenge).size() == message->payload.size());
  Expected<uint64_t> proof = decodeProof(message->payload);
  if (proof.ok())
    require(encodeProof(*proof) == message->payload);
  Expected<Failure> failure = decodeFailure(message->payload);
  if (failure.ok())
    require(decodeFailure(encodeFailure(*failure)).ok());
  auto contributions = decodeContributions(message->payload, numRanks);
  if (contributions.ok()) {
    require(contributions->size() == numRanks);
    auto same =
        decodeContributions(encodeContributions(*contributions), numRanks);
    require(same.ok() && *same == *contributions);
  }
  return 0;
}
