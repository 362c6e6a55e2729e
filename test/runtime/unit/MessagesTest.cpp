// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bootstrap/Messages.h"

#include <gtest/gtest.h>

#include <random>

using namespace iris::rt;

TEST(Messages, LateRanks) {
  Expected<uint64_t> late =
      decodeLateRanks(encodeLateRanks(0x8000000000000005u));
  ASSERT_TRUE(late.ok());
  EXPECT_EQ(*late, 0x8000000000000005u);
  for (size_t size : {0, 7, 9})
    EXPECT_FALSE(decodeLateRanks(std::vector<uint8_t>(size)).ok());
}

TEST(Messages, LaunchCounts) {
  Expected<uint32_t> launches = decodeLaunchCount(encodeLaunchCount(70000));
  ASSERT_TRUE(launches.ok());
  EXPECT_EQ(*launches, 70000u);
  for (size_t size : {0u, 3u, 5u})
    EXPECT_FALSE(decodeLaunchCount(std::vector<uint8_t>(size)).ok());
}

TEST(Messages, RoundTrip) {
  std::vector<uint8_t> payload = {1, 2, 3};
  std::vector<uint8_t> bytes =
      encodeMessage({MessageKind::contribution, 5, 77, 3}, payload.data(), 3);
  Expected<Message> message = decodeMessage(bytes.data(), bytes.size());
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->header.kind, MessageKind::contribution);
  EXPECT_EQ(message->header.rank, 5u);
  EXPECT_EQ(message->header.sequence, 77u);
  EXPECT_EQ(message->header.tag, 3u);
  EXPECT_EQ(message->payload, payload);

  Hello hello;
  hello.numRanks = 8;
  hello.pid = 7;
  hello.jobTag = 42;
  hello.nonce = {43, 44};
  hello.proof = 45;
  Expected<Hello> decoded = decodeHello(encodeHello(hello));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->numRanks, 8u);
  EXPECT_EQ(decoded->pid, 7u);
  EXPECT_EQ(decoded->jobTag, 42u);
  EXPECT_EQ(decoded->nonce, hello.nonce);
  EXPECT_EQ(decoded->proof, 45u);
  EXPECT_EQ(encodeHello(hello).size(), helloBytes);

  Expected<Challenge> challenge =
      decodeChallenge(encodeChallenge({9, {10, 11}}));
  ASSERT_TRUE(challenge.ok());
  EXPECT_EQ(challenge->pid, 9u);
  EXPECT_EQ(challenge->nonce[1], 11u);
  Expected<uint64_t> proof = decodeProof(encodeProof(12));
  ASSERT_TRUE(proof.ok());
  EXPECT_EQ(*proof, 12u);
  for (size_t size : {0u, 7u, 23u, 25u, 47u, 49u}) {
    std::vector<uint8_t> other(size);
    EXPECT_FALSE(decodeChallenge(other).ok());
    EXPECT_FALSE(decodeProof(other).ok());
    EXPECT_FALSE(decodeHello(other).ok());
  }

  std::vector<std::vector<uint8_t>> parts = {{1}, {}, {2, 3}};
  Expected<std::vector<std::vector<uint8_t>>> gathered =
      decodeContributions(encodeContributions(parts), 3);
  ASSERT_TRUE(gathered.ok());
  EXPECT_EQ(*gathered, parts);

  Expected<GroupContribution> part =
      decodeGroupContribution(encodeGroupContribution({5, {1, 2}}));
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->ranks, 5u);
  EXPECT_EQ(part->bytes, (std::vector<uint8_t>{1, 2}));
  EXPECT_FALSE(decodeGroupContribution({1, 2, 3}).ok());
  EXPECT_FALSE(decodeGroupContribution(std::vector<uint8_t>(2000)).ok());

  Expected<Failure> failure = decodeFailure(encodeFailure({3, "no\033 way"}));
  ASSERT_TRUE(failure.ok());
  EXPECT_EQ(failure->rank, 3u);
  EXPECT_EQ(failure->reason, "no\\x1b way"); // no escape codes on terminals
}

TEST(Messages, EveryTruncationAndBitFlipIsAnErrorOrAMessage) {
  std::vector<uint8_t> payload(100, 7);
  std::vector<uint8_t> bytes =
      encodeMessage({MessageKind::result, 1, 2, 3}, payload.data(), 100);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(decodeMessage(bytes.data(), size).ok());
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::vector<uint8_t> flipped = bytes;
    flipped[at] ^= 0x80;
    Expected<Message> message = decodeMessage(flipped.data(), flipped.size());
    if (message.ok())
      EXPECT_LT(message->header.rank, 64u);
  }
}

TEST(Messages, OtherVersionsAreNamed) {
  std::vector<uint8_t> bytes =
      encodeMessage({MessageKind::goodbye, 0, 0, 0}, nullptr, 0);
  bytes[4] = 9;
  Status status = decodeMessage(bytes.data(), bytes.size()).status();
  EXPECT_NE(status.message().find("protocol 9"), std::string::npos);
}

TEST(Messages, GarbageNeverReachesOutside) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes(random() % 80);
    for (uint8_t &byte : bytes)
      byte = static_cast<uint8_t>(random());
    (void)decodeMessage(bytes.data(), bytes.size()).ok();
    (void)decodeHello(bytes).ok();
    (void)decodeContributions(bytes, random() % 70).ok();
    (void)decodeFailure(bytes).ok();
    (void)decodeGroupContribution(bytes).ok();
  }
}
