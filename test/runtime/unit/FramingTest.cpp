// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages over a stream of bytes, which may arrive in any pieces.
#include "bootstrap/Framing.h"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <thread>

using namespace iris::rt;

static const Deadline now(std::chrono::nanoseconds(0));

namespace {
class FramingTest : public testing::Test {
protected:
  void SetUp() override {
    int fds[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    near.reset(fds[0]);
    far.reset(fds[1]);
    receiver.limitPayload(maxMessageBytes);
  }

  void write(const uint8_t *bytes, size_t size) {
    ASSERT_EQ(::send(near.get(), bytes, size, 0), static_cast<ssize_t>(size));
  }
  Expected<Received> receive() { return receiver.receive(far.get(), packet); }

  UniqueFd near, far;
  Framing sender, receiver;
  Packet packet;
};
} // namespace

static std::vector<uint8_t> messageOf(size_t size, uint8_t seed) {
  std::vector<uint8_t> payload(size);
  for (size_t i = 0; i < size; ++i)
    payload[i] = static_cast<uint8_t>(seed + i * 31 + i / 256);
  return encodeMessage({MessageKind::result, 3, seed, 5}, payload.data(), size);
}

TEST_F(FramingTest, BytesArriveOneByOne) {
  for (size_t size : {0u, 1u, 24u, 1000u}) {
    std::vector<uint8_t> bytes = messageOf(size, 9);
    for (size_t i = 0; i < bytes.size(); ++i) {
      Expected<Received> got = receive();
      ASSERT_TRUE(got.ok());
      ASSERT_EQ(*got, Received::nothing) << i;
      write(&bytes[i], 1);
    }
    Expected<Received> got = receive();
    ASSERT_TRUE(got.ok());
    ASSERT_EQ(*got, Received::packet);
    EXPECT_EQ(packet.message.header.sequence, 9u);
    EXPECT_EQ(
        packet.message.payload,
        std::vector<uint8_t>(bytes.begin() + messageHeaderBytes, bytes.end()));
  }
}

TEST_F(FramingTest, MessagesArriveTogether) {
  std::vector<uint8_t> all;
  for (uint8_t i = 0; i < 10; ++i) {
    std::vector<uint8_t> bytes = messageOf(i * 7u, i);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  write(all.data(), all.size());
  for (uint8_t i = 0; i < 10; ++i) {
    Expected<Received> got = receive();
    ASSERT_TRUE(got.ok() && *got == Received::packet);
    EXPECT_EQ(packet.message.header.sequence, i);
    EXPECT_EQ(packet.message.payload.size(), i * 7u);
  }
  EXPECT_EQ(*receive(), Received::nothing);
}

TEST_F(FramingTest, WhatTheSocketDoesNotTakeIsSentLater) {
  // More than the buffers hold, so that a message is sent in part.
  const int small = 4096;
  ::setsockopt(near.get(), SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
  uint8_t accepted = 0;
  while (sender.send(near.get(), messageOf(10000, accepted), now).ok() &&
         accepted < 200)
    ++accepted;
  ASSERT_GT(accepted, 0);
  ASSERT_LT(accepted, 200);
  uint8_t received = 0;
  while (received < accepted) {
    sender.flush(near.get(), now).ignore("the socket may be full");
    Expected<Received> got = receive();
    ASSERT_TRUE(got.ok());
    if (*got == Received::nothing)
      continue;
    ASSERT_EQ(*got, Received::packet);
    const std::vector<uint8_t> expected = messageOf(10000, received);
    ASSERT_EQ(packet.message.payload,
              std::vector<uint8_t>(expected.begin() + messageHeaderBytes,
                                   expected.end()));
    ++received;
  }
  EXPECT_FALSE(sender.hasUnsent());
  EXPECT_EQ(*receive(), Received::nothing);
}

TEST_F(FramingTest, SizesAreCheckedBeforeAnythingElseArrives) {
  receiver.limitPayload(helloBytes);
  std::vector<uint8_t> bytes = messageOf(helloBytes + 1, 1);
  write(bytes.data(), messageHeaderBytes);
  Expected<Received> got = receive();
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.status().code(), StatusCode::invalidArgument);
}

TEST_F(FramingTest, OtherProtocolsAreErrors) {
  const char text[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  write(reinterpret_cast<const uint8_t *>(text), sizeof(text));
  Expected<Received> got = receive();
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.status().message().find("not from Iris"), std::string::npos);
}

TEST_F(FramingTest, TheEndOfTheStreamIsTheEnd) {
  std::vector<uint8_t> bytes = messageOf(100, 1);
  write(bytes.data(), bytes.size() - 1);
  EXPECT_EQ(*receive(), Received::nothing);
  near.reset();
  EXPECT_EQ(*receive(), Received::end);
  // A socket that is closed is no error of the sender's process.
  Status sent = sender.send(far.get(), bytes, now);
  EXPECT_EQ(sent.code(), StatusCode::aborted);
}
