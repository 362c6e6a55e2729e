// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks that find each other at an address, and processes that do not belong
// there.
#include "bootstrap/Bootstrap.h"
#include "bootstrap/JobProof.h"
#include "bootstrap/TcpSocket.h"
#include "support/Ranks.h"
#include "support/SharedText.h"

#include <gtest/gtest.h>

#include <csignal>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

using namespace iris::rt;
using namespace iris::rt::test;

static constexpr auto limit = std::chrono::seconds(20);

/// Of ranks that agree on the address by `address`. Rank 0's process opens the
/// port.
static Expected<RendezvousOptions> optionsOf(const LaunchInfo &launch,
                                             SharedText &address) {
  RendezvousOptions options;
  options.rank = launch.rank;
  options.numRanks = launch.numRanks;
  options.job = launch.job;
  options.token = launch.token;
  options.limit = limit;
  if (launch.rank == 0) {
    IRISRT_ASSIGN_OR_RETURN(options.address, reserveAddress("127.0.0.1"));
    address.set(options.address);
  } else {
    options.address = address.get();
  }
  return options;
}

static Bootstrap::Bytes bytesOf(uint32_t rank, size_t size) {
  Bootstrap::Bytes bytes(size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<uint8_t>((rank + 1) * 2654435761u + i * 40503u);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

TEST(TcpAddress, Parse) {
  for (auto [text, host, port] :
       {std::tuple("node0:29400", "node0", "29400"),
        std::tuple("10.0.0.1:1", "10.0.0.1", "1"),
        std::tuple("[fd00::1]:65535", "fd00::1", "65535")}) {
    Expected<TcpAddress> address = parseAddress(text);
    ASSERT_TRUE(address.ok()) << text;
    EXPECT_EQ(address->host, host);
    EXPECT_EQ(address->port, port);
    EXPECT_EQ(address->text(), text);
  }
  for (const char *text : {"", ":", "node0", "node0:", ":1", "node0:65536",
                           "node0:-1", "node0:x", "fd00::1:1", "[]:1"}) {
    Status status = parseAddress(text).status();
    EXPECT_EQ(status.code(), StatusCode::invalidArgument) << text;
    EXPECT_NE(status.message().find("HOST:PORT"), std::string::npos);
  }
}

TEST(TcpRendezvous, AddressesOfOtherMachinesAreNamed) {
  RendezvousOptions options;
  options.numRanks = 2;
  options.job = freshJob();
  options.token = 1;
  options.limit = std::chrono::milliseconds(200);
  // Of documentation (RFC 5737): no machine has it.
  options.address = "192.0.2.1:29400";
  Status status = Bootstrap::create(options).status();
  EXPECT_NE(status.message().find("192.0.2.1:29400"), std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("IRIS_RENDEZVOUS_ADDRESS"),
            std::string::npos);
  options.address = "no address";
  status = Bootstrap::create(options).status();
  EXPECT_NE(status.message().find("HOST:PORT"), std::string::npos);
}

TEST(TcpRendezvous, TakenPortsAreNamed) {
  Expected<UniqueFd> taken = listenAtAddress({"127.0.0.1", "0"}, 1);
  ASSERT_TRUE(taken.ok());
  RendezvousOptions options;
  options.numRanks = 2;
  options.job = freshJob();
  options.token = 1;
  options.limit = std::chrono::milliseconds(200);
  options.address = "127.0.0.1:" + std::to_string(*portOf(taken->get()));
  Status status = Bootstrap::create(options).status();
  EXPECT_NE(status.message().find("in use"), std::string::npos)
      << status.message();
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

TEST(TcpRendezvous, RanksExchange) {
  for (uint32_t numRanks : {1u, 2u, 3u, 8u, 16u}) {
    SharedText address;
    auto body = [&](const LaunchInfo &launch) -> std::string {
      RANK_ASSIGN(RendezvousOptions options, optionsOf(launch, address));
      RANK_ASSIGN(auto boot, Bootstrap::create(options));
      for (size_t size : {size_t(0), size_t(1), maxContribution}) {
        RANK_ASSIGN(auto parts,
                    boot->allGather(CollectiveTag::user,
                                    bytesOf(launch.rank, size), limit));
        for (uint32_t rank = 0; rank < numRanks; ++rank)
          RANK_CHECK(parts[rank] == bytesOf(rank, size));
      }
      std::vector<uint32_t> odd;
      for (uint32_t rank = 1; rank < numRanks; rank += 2)
        odd.push_back(rank);
      if (launch.rank % 2 == 1) {
        RANK_ASSIGN(auto parts, boot->gatherAmong(
                                    7, odd, bytesOf(launch.rank, 100), limit));
        for (size_t i = 0; i < odd.size(); ++i)
          RANK_CHECK(parts[i] == bytesOf(odd[i], 100));
      }
      RANK_TRY(boot->barrier(CollectiveTag::destroy, limit));
      return "";
    };
    EXPECT_EQ("", failures(runProcesses(numRanks, body))) << numRanks;
  }
}

TEST(TcpRendezvous, DescriptorsStayOnTheirMachine) {
  SharedText address;
  auto ends = runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(RendezvousOptions options, optionsOf(launch, address));
    RANK_ASSIGN(auto boot, Bootstrap::create(options));
    Status status =
        boot->exchangeFds(CollectiveTag::grow, {}, 0, std::chrono::seconds(1))
            .status();
    RANK_CHECK(!status.ok());
    RANK_CHECK(status.message().find("another machine") != std::string::npos);
    return "";
  });
  EXPECT_EQ("", failures(ends));
}

TEST(TcpRendezvous, JobsUseAnAddressOneAfterTheOther) {
  // Both ranks of a job arrive while rank 0 still waits for those of another.
  Expected<UniqueFd> probe = listenAtAddress({"127.0.0.1", "0"}, 1);
  ASSERT_TRUE(probe.ok());
  const std::string address =
      "127.0.0.1:" + std::to_string(*portOf(probe->get()));
  probe->reset();
  const std::string job = freshJob();
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RendezvousOptions options;
    options.rank = launch.rank % 2;
    options.numRanks = 2;
    options.job = job + (launch.rank < 2 ? "a" : "b");
    options.token = 1;
    options.limit = limit;
    options.address = address;
    RANK_ASSIGN(auto boot, Bootstrap::create(options));
    RANK_TRY(boot->barrier(CollectiveTag::destroy, limit));
    return "";
  };
  for (int round = 0; round < 10; ++round)
    EXPECT_EQ("", failures(runThreads(4, body)));
}

TEST(TcpRendezvous, MissingRanksAreNamedEverywhere) {
  SharedText address;
  auto ends = runProcesses(4, [&](const LaunchInfo &launch) -> std::string {
    if (launch.rank == 2)
      return "";
    RANK_ASSIGN(RendezvousOptions options, optionsOf(launch, address));
    options.limit = std::chrono::seconds(1);
    Status status = Bootstrap::create(options).status();
    RANK_CHECK(!status.ok());
    if (status.message().find("rank 2 did not join within 1 s") ==
        std::string::npos)
      return status.message();
    return "";
  });
  EXPECT_EQ("", failures(ends));
}

TEST(TcpRendezvous, AKilledRankEndsTheWaitsOfAll) {
  for (uint32_t victim : {0u, 2u}) {
    SharedText address;
    Arrivals left;
    auto ends = runProcesses(4, [&](const LaunchInfo &launch) -> std::string {
      RANK_ASSIGN(RendezvousOptions options, optionsOf(launch, address));
      RANK_ASSIGN(auto boot, Bootstrap::create(options));
      RANK_TRY(boot->barrier(CollectiveTag::barrier, limit));
      left.arrive();
      if (launch.rank == victim && left.wait(4))
        ::raise(SIGKILL);
      Status status = boot->barrier(CollectiveTag::barrier, limit);
      RANK_CHECK(status.code() == StatusCode::aborted);
      const std::string name = "rank " + std::to_string(victim) + " failed";
      if (status.message().find(name) == std::string::npos)
        return status.message();
      return "";
    });
    for (uint32_t rank = 0; rank < 4; ++rank)
      EXPECT_EQ(ends[rank].text, "") << rank;
    EXPECT_EQ(ends[victim].signal, SIGKILL);
  }
}

//===----------------------------------------------------------------------===//
// Processes that do not belong there
//===----------------------------------------------------------------------===//

TEST(TcpRendezvous, OtherTokensAreRefused) {
  SharedText address;
  auto ends = runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(RendezvousOptions options, optionsOf(launch, address));
    options.limit = std::chrono::seconds(2);
    if (launch.rank == 1)
      options.token = 666;
    Status status = Bootstrap::create(options).status();
    RANK_CHECK(!status.ok());
    for (const char *part : {"token", "IRIS_TOKEN", "rank 1"})
      if (status.message().find(part) == std::string::npos)
        return status.message();
    return "";
  });
  EXPECT_EQ("", failures(ends));
}

/// Connects to the address and sends the bytes.
static UniqueFd intrude(const std::string &text,
                        const std::vector<uint8_t> &bytes) {
  std::string why;
  Expected<std::optional<Peer>> peer =
      connectToAddress(*parseAddress(text), Deadline(limit), why);
  if (!peer.ok() || !*peer)
    return UniqueFd();
  (void)!::send((*peer)->fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return std::move((*peer)->fd);
}

TEST(TcpRendezvous, UnidentifiedPeersDoNotDisturb) {
  SharedText address;
  const std::string job = freshJob();
  // Rank 2 joins when the other processes have come.
  std::atomic<bool> haveCome{false};
  auto body = [&](const LaunchInfo &given) -> std::string {
    LaunchInfo launch = given;
    launch.job = job;
    if (launch.rank == 2)
      while (!haveCome)
        ::usleep(1000);
    if (launch.rank == 3) { // no rank
      std::vector<UniqueFd> connections;
      const std::string at = address.get();
      std::vector<uint8_t> hello(helloBytes, 7);
      for (const std::vector<uint8_t> &bytes :
           {std::vector<uint8_t>(), std::vector<uint8_t>(5, 1),
            std::vector<uint8_t>(100000, 'x'),
            // A message that announces more than a hello.
            encodeMessage({MessageKind::hello, 2, 0, 0},
                          std::vector<uint8_t>(5000).data(), 5000),
            encodeMessage({MessageKind::failure, 2, 0, 0}, hello.data(),
                          helloBytes),
            encodeMessage({MessageKind::hello, 2, 0, 0}, hello.data(),
                          helloBytes),
            encodeMessage({MessageKind::hello, 2, 0, 0}, hello.data(), 3)})
        connections.push_back(intrude(at, bytes));
      // More than rank 0 keeps.
      for (int i = 0; i < 150; ++i)
        connections.push_back(intrude(at, {}));
      haveCome = true;
      return "";
    }
    launch.numRanks = 3;
    RANK_ASSIGN(RendezvousOptions options, optionsOf(launch, address));
    RANK_ASSIGN(auto boot, Bootstrap::create(options));
    RANK_TRY(boot->barrier(CollectiveTag::destroy, limit));
    return "";
  };
  EXPECT_EQ("", failures(runThreads(4, body)));
}

/// Receives one message of the peer.
static Expected<Packet> receiveFrom(Peer &peer) {
  peer.framing->limitPayload(maxMessageBytes);
  Deadline deadline(limit);
  Packet packet;
  while (!deadline.passed()) {
    IRISRT_ASSIGN_OR_RETURN(Received received, receivePacket(peer, packet));
    if (received == Received::packet)
      return packet;
    if (received == Received::end)
      return Status(StatusCode::aborted, "it has ended");
    pollfd entry = {peer.fd.get(), POLLIN, 0};
    ::poll(&entry, 1, 10);
  }
  return Status(StatusCode::timeout, "it sends nothing");
}

static Status sendTo(Peer &peer, MessageKind kind, uint32_t rank,
                     const std::vector<uint8_t> &payload) {
  return sendPacket(
      peer, encodeMessage({kind, rank, 0, 0}, payload.data(), payload.size()),
      nullptr, 0, Deadline(limit));
}

/// A job meets there after another one, while the port stays that of this
/// process; ranks of the next job may come before the last one's rank 0.
TEST(TcpRendezvous, LastingAddress) {
  Expected<std::string> address =
      reserveAddress("127.0.0.1", AddressUse::lasting);
  ASSERT_TRUE(address.ok());
  TcpAddress parsed = *parseAddress(*address);
  for (int round = 0; round < 3; ++round) {
    RendezvousOptions options;
    options.numRanks = 2;
    options.job = freshJob();
    options.token = 5;
    options.address = *address;
    options.limit = limit;
    Status ends[2];
    std::thread late([&, options]() mutable {
      options.rank = 1;
      ends[1] = Bootstrap::create(options).status();
    });
    ends[0] = Bootstrap::create(options).status();
    late.join();
    EXPECT_TRUE(ends[0].ok()) << ends[0].message();
    EXPECT_TRUE(ends[1].ok()) << ends[1].message();
    EXPECT_FALSE(listenAtAddress(parsed, 1).ok());
  }
  releaseAddress(*address);
  EXPECT_TRUE(listenAtAddress(parsed, 1).ok());
  releaseAddress(*address); // no effect
}

TEST(TcpRendezvous, AProofIsOfNoUseForAnotherConnection) {
  // A process that has read the hello of a rank sends it again.
  const std::string job = freshJob();
  Expected<std::string> address = reserveAddress("127.0.0.1");
  ASSERT_TRUE(address.ok());
  RendezvousOptions options;
  options.numRanks = 2;
  options.job = job;
  options.token = 5;
  options.address = *address;
  options.limit = std::chrono::seconds(3);
  Status status;
  std::thread root([&] { status = Bootstrap::create(options).status(); });
  Hello hello;
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::string why;
    auto connected =
        connectToAddress(*parseAddress(*address), Deadline(limit), why);
    ASSERT_TRUE(connected.ok() && *connected);
    Peer &peer = **connected;
    Expected<Packet> packet = receiveFrom(peer);
    ASSERT_TRUE(packet.ok());
    ASSERT_EQ(packet->message.header.kind, MessageKind::challenge);
    Challenge challenge = *decodeChallenge(packet->message.payload);
    if (attempt == 0) { // the answer of rank 1
      hello.abiMajor = IRISRT_ABI_VERSION_MAJOR;
      hello.abiMinor = IRISRT_ABI_VERSION_MINOR;
      hello.numRanks = 2;
      hello.jobTag = JobProof(job, 5).jobTag();
      hello.nonce = {1, 2};
      hello.proof = JobProof(job, 5).ofRank(1, 2, challenge.nonce, hello.nonce);
      continue; // it is never sent over this connection
    }
    ASSERT_TRUE(sendTo(peer, MessageKind::hello, 1, encodeHello(hello)).ok());
    packet = receiveFrom(peer);
    ASSERT_TRUE(packet.ok());
    EXPECT_EQ(packet->message.header.kind, MessageKind::failure);
  }
  root.join();
  EXPECT_NE(status.message().find("token"), std::string::npos)
      << status.message();
}

TEST(TcpRendezvous, ARootWithoutTheTokenIsRefused) {
  Expected<UniqueFd> listener = listenAtAddress({"127.0.0.1", "0"}, 1);
  ASSERT_TRUE(listener.ok());
  RendezvousOptions options;
  options.rank = 1;
  options.numRanks = 2;
  options.job = freshJob();
  options.token = 5;
  options.address = "127.0.0.1:" + std::to_string(*portOf(listener->get()));
  options.limit = std::chrono::seconds(5);
  Status status;
  std::thread rank([&] { status = Bootstrap::create(options).status(); });
  pollfd entry = {listener->get(), POLLIN, 0};
  ASSERT_EQ(::poll(&entry, 1, 20000), 1);
  Expected<Peer> peer = acceptRemote(listener->get());
  ASSERT_TRUE(peer.ok() && peer->fd.valid());
  ASSERT_TRUE(
      sendTo(*peer, MessageKind::challenge, 0, encodeChallenge({1, {2, 3}}))
          .ok());
  EXPECT_TRUE(receiveFrom(*peer).ok());
  ASSERT_TRUE(sendTo(*peer, MessageKind::admitted, 0, encodeProof(4)).ok());
  rank.join();
  EXPECT_NE(status.message().find("does not know the token"), std::string::npos)
      << status.message();
}
