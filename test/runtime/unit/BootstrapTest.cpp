// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rendezvous and host-side collectives, with ranks as threads or processes.
#include "bootstrap/Bootstrap.h"
#include "bootstrap/LauncherNotice.h"
#include "bootstrap/RankStates.h"
#include "bootstrap/Socket.h"
#include "support/Ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <numeric>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::test;

static constexpr auto limit = std::chrono::seconds(20);

static RendezvousOptions optionsOf(const LaunchInfo &launch,
                                   double seconds = 20) {
  RendezvousOptions options;
  options.rank = launch.rank;
  options.numRanks = launch.numRanks;
  options.job = launch.job;
  options.token = launch.token;
  options.directories = Env::get().rendezvousDirs();
  options.limit = secondsOf(seconds);
  return options;
}

TEST(Bootstrap, GroupsOfSomeRanks) {
  // Groups with and without rank 0, in any order, that exchange at the same
  // time as each other and as all ranks.
  const std::vector<std::vector<uint32_t>> groups = {
      {0, 2, 5}, {5, 1}, {7, 3, 4, 6}, {4}, {6, 5, 4, 3, 2, 1, 0, 7}};
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch)));
    for (uint8_t round = 0; round < 30; ++round) {
      for (uint32_t channel = 0; channel < groups.size(); ++channel) {
        const std::vector<uint32_t> &members = groups[channel];
        if (std::count(members.begin(), members.end(), launch.rank) == 0)
          continue;
        Bootstrap::Bytes mine(launch.rank + 1u, round);
        RANK_ASSIGN(auto parts,
                    boot->gatherAmong(channel, members, mine, limit));
        RANK_CHECK(parts.size() == members.size());
        for (size_t i = 0; i < members.size(); ++i)
          RANK_CHECK(parts[i] == Bootstrap::Bytes(members[i] + 1u, round));
      }
      if (round % 10 == 0)
        RANK_TRY(boot->barrier(CollectiveTag::barrier, limit));
    }
    RANK_TRY(boot->barrier(CollectiveTag::destroy, limit));
    return "";
  };
  EXPECT_EQ("", failures(runThreads(8, body)));
  EXPECT_EQ("", failures(runProcesses(8, body)));
}

TEST(Bootstrap, RanksTellHowManyKernelsTheyHaveLaunched) {
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch)));
    boot->onLaunchQuery([&] { return 100 + launch.rank; });
    RANK_TRY(boot->barrier(CollectiveTag::barrier, limit));
    // Every rank asks every other one at the same time.
    for (uint32_t rank = 0; rank < launch.numRanks; ++rank) {
      std::optional<uint32_t> launches = boot->launchesOf(rank);
      RANK_CHECK(launches.has_value() == (rank != launch.rank));
      RANK_CHECK(!launches || *launches == 100 + rank);
    }
    RANK_CHECK(!boot->launchesOf(launch.numRanks));
    RANK_TRY(boot->barrier(CollectiveTag::destroy, limit));
    return "";
  };
  EXPECT_EQ("", failures(runThreads(4, body)));
  EXPECT_EQ("", failures(runProcesses(4, body)));
}

TEST(Bootstrap, LateMembersOfAGroupAreNamed) {
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch)));
    if (launch.rank != 2 && launch.rank != 0) {
      Status status =
          boot->gatherAmong(3, {3, 2, 1}, {}, std::chrono::milliseconds(200))
              .status();
      RANK_CHECK(status.message() == "rank 2 did not join the collective of a "
                                     "group (ranks 3, 2, 1) within "
                                     "0.2 s");
      RANK_CHECK(status.code() == StatusCode::timeout);
    }
    RANK_TRY(boot->barrier(CollectiveTag::destroy, limit));
    return "";
  };
  EXPECT_EQ("", failures(runThreads(4, body)));
}

/// Waits until a process is stopped.
static void awaitStop(int pid) {
  std::string state;
  while (state != "T") {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name;
    stat >> number >> name >> state;
    ::usleep(1000);
  }
}

static Bootstrap::Bytes toBytes(int pid) {
  Bootstrap::Bytes bytes(sizeof(pid));
  std::memcpy(bytes.data(), &pid, sizeof(pid));
  return bytes;
}

TEST(Bootstrap, PausedMembersLoseNothing) {
  // More than a socket buffer holds.
  constexpr uint32_t channels = 400;
  const Bootstrap::Bytes large(maxContribution, 7);
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch)));
    RANK_ASSIGN(auto pids, boot->allGather(CollectiveTag::user,
                                           toBytes(::getpid()), limit));
    int paused = 0;
    std::memcpy(&paused, pids[3].data(), sizeof(paused));
    if (launch.rank == 3)
      ::raise(SIGSTOP);
    else
      awaitStop(paused);
    // Rank 3 is not expected yet, and messages to it do not delay the other
    // ranks.
    for (uint32_t channel = 0; launch.rank < 2 && channel < channels; ++channel)
      (void)boot->gatherAmong(channel, {0, 1, 3}, large,
                              std::chrono::milliseconds(1));
    if (launch.rank < 3) {
      RANK_ASSIGN(auto parts,
                  boot->gatherAmong(channels, {0, 1, 2}, {}, limit));
      RANK_CHECK(parts.size() == 3);
    }
    if (launch.rank == 2)
      ::kill(paused, SIGCONT);
    for (uint32_t channel = 0; launch.rank == 3 && channel < channels;
         ++channel) {
      RANK_ASSIGN(auto parts, boot->gatherAmong(channel, {0, 1, 3}, {}, limit));
      RANK_CHECK(parts[0] == large && parts[1] == large);
    }
    RANK_TRY(boot->barrier(CollectiveTag::destroy, limit));
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(4, body)));
}

TEST(Bootstrap, RankZeroThatPassesNothingOnIsNamed) {
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch)));
    RANK_ASSIGN(auto pids, boot->allGather(CollectiveTag::user,
                                           toBytes(::getpid()), limit));
    int paused = 0;
    std::memcpy(&paused, pids[0].data(), sizeof(paused));
    if (launch.rank == 0) {
      ::raise(SIGSTOP);
    } else {
      awaitStop(paused);
      // Both arrive.
      Status status =
          boot->gatherAmong(5, {1, 2}, {}, std::chrono::milliseconds(200))
              .status();
      RANK_CHECK(
          status.message() ==
          "rank 0, which forwards the messages of a group (ranks 1, 2), did "
          "not answer within 0.2 s");
    }
    // Rank 0 goes on when both have given their answer, not before.
    if (launch.rank == 2)
      ::raise(SIGSTOP);
    if (launch.rank == 1) {
      int last = 0;
      std::memcpy(&last, pids[2].data(), sizeof(last));
      awaitStop(last);
      ::kill(last, SIGCONT);
      ::kill(paused, SIGCONT);
    }
    RANK_TRY(boot->barrier(CollectiveTag::destroy, limit));
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(3, body)));
}

TEST(Bootstrap, RankZeroThatStopsPassingOnIsNamed) {
  // Rank 2's part and rank 0's are passed on, so that rank 1 has all it needs;
  // rank 1's own part finds rank 0 stopped.
  int isDone[2];
  ASSERT_EQ(::pipe(isDone), 0);
  auto body = [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch)));
    RANK_ASSIGN(auto pids, boot->allGather(CollectiveTag::user,
                                           toBytes(::getpid()), limit));
    int hub = 0;
    std::memcpy(&hub, pids[0].data(), sizeof(hub));
    auto meet = [&](std::chrono::milliseconds time) {
      return boot->gatherAmong(5, {0, 1, 2}, {}, time).status().message();
    };
    char byte = 0;
    if (launch.rank == 0) {
      (void)meet(std::chrono::milliseconds(300));
      ::raise(SIGSTOP);
    } else if (launch.rank == 1) {
      awaitStop(hub);
      (void)meet(std::chrono::milliseconds(200));
      RANK_CHECK(::write(isDone[1], &byte, 1) == 1);
    } else {
      std::string said = meet(std::chrono::seconds(3));
      RANK_CHECK(said == "rank 0, which forwards the messages of a group "
                         "(ranks 0, 1, 2), did not answer within 3 s");
      RANK_CHECK(::read(isDone[0], &byte, 1) == 1);
      ::kill(hub, SIGCONT);
    }
    RANK_TRY(boot->barrier(CollectiveTag::destroy, limit));
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(3, body)));
  ::close(isDone[0]);
  ::close(isDone[1]);
}

TEST(Bootstrap, Collectives) {
  for (uint32_t n : {1u, 2u, 5u, 8u, 64u})
    EXPECT_EQ(
        "",
        failures(runThreads(
            n,
            [&](const LaunchInfo &launch) -> std::string {
              RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch)));
              for (int round = 0; round < 20; ++round) {
                RANK_TRY(boot->barrier(CollectiveTag::barrier, limit));
                Bootstrap::Bytes mine(launch.rank % 7 + (round == 9 ? 1000 : 0),
                                      static_cast<uint8_t>(launch.rank));
                RANK_ASSIGN(auto parts,
                            boot->allGather(CollectiveTag::user, mine, limit));
                RANK_CHECK(parts.size() == n);
                for (uint32_t r = 0; r < n; ++r) {
                  RANK_CHECK(parts[r].size() ==
                             r % 7 + (round == 9 ? 1000u : 0u));
                  for (uint8_t byte : parts[r])
                    RANK_CHECK(byte == r);
                }
              }
              return "";
            })))
        << n;
  EXPECT_EQ(rendezvousLeftovers(), std::vector<std::string>());
}

TEST(Bootstrap, FdsReachEveryRank) {
  EXPECT_EQ(
      "",
      failures(runProcesses(4, [&](const LaunchInfo &launch) -> std::string {
        RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch)));
        UniqueFd mine(::memfd_create("test", MFD_CLOEXEC));
        std::string text = "I am " + std::to_string(launch.rank);
        RANK_CHECK(::write(mine.get(), text.data(), text.size()) ==
                   static_cast<ssize_t>(text.size()));
        RANK_ASSIGN(auto result, boot->exchangeFds(CollectiveTag::grow, {1},
                                                   mine.get(), limit));
        for (uint32_t r = 0; r < launch.numRanks; ++r) {
          char buffer[32] = {};
          RANK_CHECK(::pread(result.fds[r].get(), buffer, 31, 0) > 0);
          RANK_CHECK(buffer == "I am " + std::to_string(r));
        }
        return "";
      })));
}

TEST(Bootstrap, MissingRanksAreNamed) {
  auto ends = runProcesses(4, [&](const LaunchInfo &launch) -> std::string {
    if (launch.rank == 1 || launch.rank == 3)
      return "";
    auto boot = Bootstrap::create(optionsOf(launch, 0.5));
    return boot.ok() ? "met" : boot.status().message();
  });
  EXPECT_NE(ends[0].text.find("ranks 1 and 3 did not join within 0.5 s"),
            std::string::npos)
      << ends[0].text;
  EXPECT_NE(ends[2].text.find("ranks 1 and 3 did not join"), std::string::npos)
      << ends[2].text;
  EXPECT_EQ(rendezvousLeftovers(), std::vector<std::string>());
}

TEST(Bootstrap, MissingRankZeroIsNamed) {
  auto ends = runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
    if (launch.rank == 0)
      return "";
    return Bootstrap::create(optionsOf(launch, 0.3)).status().message();
  });
  EXPECT_NE(ends[1].text.find("rank 0 did not open the rendezvous"),
            std::string::npos)
      << ends[1].text;
}

TEST(Bootstrap, DeathDuringTheRendezvousIsNoticed) {
  // Rank 1 joins and dies before rank 2 arrives.
  auto member = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    if (launch.rank == 2)
      return "";
    if (launch.rank == 1)
      ::alarm(1);
    return Bootstrap::create(optionsOf(launch)).status().message();
  });
  EXPECT_EQ(member[1].signal, SIGALRM);
  EXPECT_NE(member[0].text.find("rank 1 (process"), std::string::npos)
      << member[0].text;
  EXPECT_NE(member[0].text.find("ended during the rendezvous"),
            std::string::npos);
  // Rank 0 dies while it waits for rank 2.
  auto host = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    if (launch.rank == 2)
      return "";
    if (launch.rank == 0)
      ::alarm(1);
    return Bootstrap::create(optionsOf(launch)).status().message();
  });
  EXPECT_NE(host[1].text.find("rank 0 (process"), std::string::npos)
      << host[1].text;
  sweepRendezvous(Env::get().rendezvousDirs()); // as a later job does
  EXPECT_EQ(rendezvousLeftovers(), std::vector<std::string>());
}

TEST(Bootstrap, ContradictionsAreErrorsOnAllRanks) {
  // Two claim rank 1; rank 2 exists, too.
  auto twice = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    LaunchInfo changed = launch;
    changed.rank = launch.rank == 2 ? 1 : launch.rank;
    return Bootstrap::create(optionsOf(changed, 5)).status().message();
  });
  EXPECT_NE(twice[0].text.find("both claim rank 1"), std::string::npos)
      << twice[0].text;
  // Ranks with different world sizes.
  auto sizes = runProcesses(2, [&](const LaunchInfo &launch) -> std::string {
    LaunchInfo changed = launch;
    changed.numRanks = launch.rank == 0 ? 2 : 3;
    return Bootstrap::create(optionsOf(changed, 5)).status().message();
  });
  for (const RankEnd &end : sizes)
    EXPECT_NE(end.text.find("has a world of 3 ranks, rank 0 one of 2"),
              std::string::npos)
        << end.text;
}

TEST(Bootstrap, UnidentifiedPeersAreRefused) {
  // Rank 2 of the test has the wrong token and poses as rank 1.
  auto ends = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    LaunchInfo changed = launch;
    changed.numRanks = 2;
    if (launch.rank == 2) {
      changed.rank = 1;
      changed.token = 666;
    } else if (launch.rank == 1) {
      ::usleep(200000);
    }
    auto boot = Bootstrap::create(optionsOf(changed, 5));
    if (!boot.ok())
      return boot.status().message();
    return (*boot)->barrier(CollectiveTag::barrier, limit).message();
  });
  EXPECT_EQ(ends[0].text, "");
  EXPECT_EQ(ends[1].text, "");
  EXPECT_NE(ends[2].text.find("token does not match"), std::string::npos)
      << ends[2].text;
}

TEST(Bootstrap, BothSidesSayThatATokenIsWrong) {
  auto ends = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    LaunchInfo changed = launch;
    if (launch.rank == 1)
      changed.token = 666;
    return Bootstrap::create(optionsOf(changed, 1)).status().message();
  });
  const char *refused = "which claims to be rank 1: its token does not match "
                        "that of job '";
  EXPECT_NE(ends[0].text.find("rank 1 did not join within 1 s; rank 0 ("),
            std::string::npos)
      << ends[0].text;
  for (const RankEnd &end : ends)
    EXPECT_NE(end.text.find(refused), std::string::npos) << end.text;
}

TEST(Bootstrap, ARankThatEndsEndsTheRendezvous) {
  // Like a launcher: rank 2 never joins, and the other ranks need not wait.
  NoticeSender notices;
  ASSERT_TRUE(notices.open().ok());
  notices.send({2, "its process was killed by signal 9 (Killed)"});
  notices.send({1, "this one comes too late"});
  auto start = std::chrono::steady_clock::now();
  auto ends = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    if (launch.rank == 2)
      return "";
    RendezvousOptions options = optionsOf(launch);
    options.noticeFd = notices.receiver();
    return Bootstrap::create(options).status().message();
  });
  for (uint32_t rank : {0u, 1u})
    EXPECT_NE(ends[rank].text.find("rank 2 failed: its process was killed by "
                                   "signal 9 (Killed)"),
              std::string::npos)
        << ends[rank].text;
  EXPECT_LT(std::chrono::steady_clock::now() - start, limit);
  EXPECT_EQ(rendezvousLeftovers(), std::vector<std::string>());
}

TEST(Bootstrap, OtherDescriptorsAreNoNotices) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  UniqueFd readEnd(fds[0]), writeEnd(fds[1]);
  ASSERT_EQ(::write(fds[1], "x", 1), 1);
  for (int fd : {-1, 12345, fds[0]})
    EXPECT_FALSE(peekNotice(fd).has_value());
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
  UniqueFd here(fds[0]), there(fds[1]);
  EXPECT_FALSE(peekNotice(fds[0]).has_value());
  ASSERT_EQ(::send(fds[1], "garbage", 7, 0), 7);
  EXPECT_FALSE(peekNotice(fds[0]).has_value());
}

TEST(Bootstrap, MissingRankIsNamedWhenRankZeroIsLate) {
  // Rank 1 waits for rank 0, and both wait for rank 2. Rank 1 would time out
  // first; but rank 0 knows which rank is missing.
  auto ends = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
    if (launch.rank == 2)
      return "";
    if (launch.rank == 0)
      ::usleep(2600000);
    return Bootstrap::create(optionsOf(launch, 3.2)).status().message();
  });
  for (uint32_t rank : {0u, 1u})
    EXPECT_NE(ends[rank].text.find("rank 2 did not join within 3.2 s"),
              std::string::npos)
        << ends[rank].text;
}

TEST(Bootstrap, TooManyOpenFilesAreNamed) {
  auto ends = runProcesses(4, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch)));
    UniqueFd mine(::memfd_create("test", MFD_CLOEXEC));
    if (launch.rank == 2) { // no descriptor is left for messages
      UniqueFd next(::dup(mine.get()));
      rlimit few = {static_cast<rlim_t>(next.get()),
                    static_cast<rlim_t>(next.get())};
      RANK_CHECK(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    }
    Status status =
        boot->exchangeFds(CollectiveTag::grow, {1}, mine.get(), limit).status();
    if (status.ok()) // before rank 2 could report the error
      status = boot->barrier(CollectiveTag::barrier, limit);
    return status.message();
  });
  EXPECT_NE(ends[2].text.find("Too many open files (this process may open"),
            std::string::npos)
      << ends[2].text;
  for (uint32_t rank : {0u, 1u, 3u})
    EXPECT_NE(
        ends[rank].text.find("rank 2 failed: cannot receive the descriptors "
                             "of another rank: Too many open files"),
        std::string::npos)
        << ends[rank].text;
}

TEST(Bootstrap, StaleSocketsOfDeadJobsAreReplaced) {
  std::string job = freshJob();
  // Rank 0 is killed while it waits for its peers.
  auto dead = runProcesses(
      1,
      [&](const LaunchInfo &launch) -> std::string {
        LaunchInfo changed = launch;
        changed.numRanks = 2;
        ::alarm(1);
        return Bootstrap::create(optionsOf(changed)).status().message();
      },
      10, job);
  EXPECT_EQ(dead[0].signal, SIGALRM);
  EXPECT_EQ(rendezvousLeftovers().size(), 2u); // socket and lock
  EXPECT_EQ("", failures(runProcesses(
                    2,
                    [&](const LaunchInfo &launch) -> std::string {
                      RANK_ASSIGN(auto boot,
                                  Bootstrap::create(optionsOf(launch)));
                      RANK_TRY(boot->barrier(CollectiveTag::barrier, limit));
                      return "";
                    },
                    30, job)));
  EXPECT_EQ(rendezvousLeftovers(), std::vector<std::string>());
}

TEST(Bootstrap, DifferentCollectivesAreNamed) {
  auto ends = runThreads(3, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch)));
    return boot
        ->barrier(launch.rank == 1 ? CollectiveTag::grow : CollectiveTag::sync,
                  limit)
        .message();
  });
  for (const RankEnd &end : ends)
    EXPECT_NE(end.text.find("rank 1 is in heap growth"), std::string::npos)
        << end.text;
}

TEST(Bootstrap, LateRanksAreNamed) {
  auto ends = runThreads(4, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch)));
    if (launch.rank >= 2)
      ::usleep(1500000);
    return boot->barrier(CollectiveTag::sync, std::chrono::milliseconds(500))
        .message();
  });
  for (const RankEnd &end : ends)
    EXPECT_NE(end.text.find("rank 2, 3 did not reach sync within 0.5 s"),
              std::string::npos)
        << end.text;
}

TEST(Bootstrap, LateRanksAreNamedWhenRankZeroCameLate) {
  // Rank 1 times out after 2.5 s. Rank 0, which joined after 1.5 s, would wait
  // longer; rank 2 never joins.
  auto ends = runThreads(3, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch)));
    ::usleep(launch.rank == 0 ? 1500000 : launch.rank == 2 ? 4500000 : 0);
    return boot
        ->barrier(CollectiveTag::sync,
                  std::chrono::milliseconds(launch.rank == 0 ? 5000 : 500))
        .message();
  });
  EXPECT_EQ(ends[1].text, "rank 2 did not reach sync within 0.5 s");
}

TEST(Bootstrap, ARankZeroThatIsStoppedIsNamed) {
  auto ends = runProcesses(
      2,
      [&](const LaunchInfo &launch) -> std::string {
        RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch)));
        RANK_TRY(boot->barrier(CollectiveTag::barrier, limit));
        if (launch.rank == 0)
          ::raise(SIGSTOP);
        return boot
            ->barrier(CollectiveTag::sync, std::chrono::milliseconds(500))
            .message();
      },
      8);
  EXPECT_EQ(ends[1].text, "rank 0 did not complete sync within 0.5 s");
}

TEST(Bootstrap, ADeadRankIsNoticedByAllOthers) {
  for (uint32_t victim : {0u, 1u}) {
    auto ends = runProcesses(4, [&](const LaunchInfo &launch) -> std::string {
      RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch)));
      RANK_TRY(boot->barrier(CollectiveTag::barrier, limit));
      if (launch.rank == victim)
        ::raise(SIGKILL);
      return boot->barrier(CollectiveTag::barrier, limit).message();
    });
    for (uint32_t rank = 0; rank < 4; ++rank) {
      if (rank == victim)
        continue;
      EXPECT_NE(ends[rank].text.find("rank " + std::to_string(victim) +
                                     " failed: process"),
                std::string::npos)
          << ends[rank].text;
    }
  }
}

TEST(Bootstrap, LastMessagesOfAClosedEndAreRead) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  UniqueFd leaving(ends[0]), staying(ends[1]);
  auto send = [](int fd, uint32_t sequence) {
    uint8_t payload = 7;
    return sendPacket(
        fd, encodeMessage({MessageKind::result, 0, sequence, 0}, &payload, 1),
        nullptr, 0, Deadline(limit));
  };
  // The leaving end has not read the data sent to it. Linux reports this to the
  // staying end as a reset, before the packets in its queue.
  ASSERT_TRUE(send(staying.get(), 1).ok());
  ASSERT_TRUE(send(leaving.get(), 2).ok());
  ASSERT_TRUE(send(leaving.get(), 3).ok());
  leaving.reset();
  Packet packet;
  for (uint32_t sequence : {2u, 3u}) {
    Expected<Received> received = receivePacket(staying.get(), packet);
    ASSERT_TRUE(received.ok()) << received.status().message();
    ASSERT_EQ(*received, Received::packet);
    EXPECT_EQ(packet.message.header.sequence, sequence);
  }
  Expected<Received> received = receivePacket(staying.get(), packet);
  ASSERT_TRUE(received.ok()) << received.status().message();
  EXPECT_EQ(*received, Received::end);
}

/// A process that holds a rank's state and ends as `end` does.
static std::optional<RankStates::End>
endOfProcess(const std::function<void(RankStates &)> &end) {
  RankStates ended, reader;
  EXPECT_TRUE(ended.create().ok());
  std::vector<UniqueFd> fds(2);
  fds[1].reset(::dup(ended.fd()));
  EXPECT_TRUE(reader.map(std::move(fds), /*rank=*/0).ok());
  int isHeld[2], mayEnd[2];
  EXPECT_EQ(0, ::pipe(isHeld) | ::pipe(mayEnd));
  char byte = 0;
  const pid_t child = ::fork();
  if (child == 0) {
    const bool ok = ended.hold().ok() && ::write(isHeld[1], &byte, 1) == 1 &&
                    ::read(mayEnd[0], &byte, 1) == 1;
    if (ok)
      end(ended);
    ::_exit(0);
  }
  EXPECT_EQ(1, ::read(isHeld[0], &byte, 1));
  EXPECT_FALSE(reader.endOf(1));
  EXPECT_FALSE(reader.endOf(0)); // the reader itself
  EXPECT_EQ(1, ::write(mayEnd[1], &byte, 1));
  EXPECT_EQ(child, ::waitpid(child, nullptr, 0));
  for (int fd : {isHeld[0], isHeld[1], mayEnd[0], mayEnd[1]})
    ::close(fd);
  std::optional<RankStates::End> known = reader.endOf(1);
  // What one rank reads does not change what the next one reads.
  std::optional<RankStates::End> again = reader.endOf(1);
  EXPECT_TRUE(known && again &&
              known->failure.reason == again->failure.reason &&
              known->leaves == again->leaves);
  return known;
}

TEST(Bootstrap, StatesShowHowRanksEnd) {
  auto killed = endOfProcess([](RankStates &) { ::raise(SIGKILL); });
  ASSERT_TRUE(killed);
  EXPECT_TRUE(killed->leaves);
  EXPECT_EQ(1u, killed->failure.rank);
  EXPECT_EQ("its process exited or was killed", killed->failure.reason);
  auto failed = endOfProcess([](RankStates &state) {
    state.tell({0, "it broke"}, /*leaves=*/false);
    state.tell({1, "it has ended"}, /*leaves=*/true);
    state.letGo();
  });
  ASSERT_TRUE(failed);
  EXPECT_FALSE(failed->leaves);
  EXPECT_EQ(0u, failed->failure.rank);
  EXPECT_EQ("it broke", failed->failure.reason);
  auto left = endOfProcess([](RankStates &state) {
    state.tell({7, "it wants to\033[m"}, /*leaves=*/true);
  });
  ASSERT_TRUE(left);
  EXPECT_TRUE(left->leaves);
  // Memory of a peer is not trusted: there is no rank 7.
  EXPECT_EQ(1u, left->failure.rank);
  EXPECT_EQ("it wants to\\x1b[m", left->failure.reason);
}
