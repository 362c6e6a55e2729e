// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows: collectives on them use the memory where it is. Which kernels they
// load shows in the log, whose level a process reads once.
#include "nccl/NcclRanks.h"

#include "support/Hash.h"

#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

namespace {
/// Keeps what this process writes to its standard error.
class LogLines {
public:
  LogLines()
      : saved_(::dup(STDERR_FILENO)),
        file_(::memfd_create("log", MFD_CLOEXEC)) {
    ::dup2(file_, STDERR_FILENO);
  }
  ~LogLines() {
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
    ::close(file_);
  }
  /// The lines since the last call.
  std::string take() {
    std::string text(static_cast<size_t>(::lseek(file_, 0, SEEK_END)), '\0');
    if (::pread(file_, text.data(), text.size(), 0) < 0 ||
        ::ftruncate(file_, 0) != 0 || ::lseek(file_, 0, SEEK_SET) != 0)
      return "cannot read the log";
    return text;
  }

private:
  int saved_, file_;
};

class NcclWindows : public testing::TestWithParam<int> {
protected:
  /// Runs the body on ranks that are processes and log.
  static std::string logged(const NcclBody &body) {
    return onRanks(
        RankKind::processes, GetParam(),
        [&](ncclUniqueId id, int rank) -> std::string {
          NcclRank mine = {nullptr, rank, GetParam()};
          NCCL_TRY(ncclCommInitRank(&mine.comm, GetParam(), id, rank));
          TRY_TEXT(body(mine));
          NCCL_TRY(ncclCommDestroy(mine.comm));
          return "";
        },
        [] { ::setenv("IRIS_LOG", "info", 1); });
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, NcclWindows, testing::Values(1, 2, 3, 4, 8));

constexpr size_t count = 50000;

int32_t elementOf(int rank, size_t i) {
  return static_cast<int32_t>(hash(static_cast<uint64_t>(rank), i, 11) %
                              100000);
}
} // namespace

static bool has(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

/// An all-reduce of all ranks' data, in place or not.
static std::string reduce(const NcclRank &rank, int32_t *in, int32_t *out) {
  for (size_t i = 0; i < count; ++i)
    in[i] = elementOf(rank.rank, i);
  NCCL_TRY(
      ncclAllReduce(in, out, count, ncclInt32, ncclSum, rank.comm, nullptr));
  for (size_t i = 0; i < count; ++i) {
    int32_t want = 0;
    for (int peer = 0; peer < rank.size; ++peer)
      want += elementOf(peer, i);
    RANK_CHECK(out[i] == want);
  }
  return "";
}

TEST_P(NcclWindows, UsedInPlace) {
  EXPECT_EQ("", logged([](NcclRank &rank) -> std::string {
              LogLines log;
              void *in = nullptr, *out = nullptr;
              NCCL_TRY(ncclMemAlloc(&in, count * 4 + 4096));
              NCCL_TRY(ncclMemAlloc(&out, count * 4 + 4096));
              auto *a = static_cast<int32_t *>(in) + 256;
              auto *b = static_cast<int32_t *>(out) + 128;
              TRY_TEXT(reduce(rank, a, b));
              std::string text = log.take();
              const bool loads = rank.size > 1;
              RANK_CHECK(has(text, "staged") == loads);
              for (int round = 0; round < 3; ++round) {
                ncclWindow_t windows[2] = {};
                NCCL_TRY(ncclCommWindowRegister(rank.comm, in, count * 4 + 4096,
                                                &windows[0],
                                                NCCL_WIN_COLL_SYMMETRIC));
                NCCL_TRY(ncclCommWindowRegister(rank.comm, out,
                                                count * 4 + 4096, &windows[1],
                                                NCCL_WIN_COLL_SYMMETRIC));
                text = log.take();
                RANK_CHECK(has(text, "use it where it is"));
                RANK_CHECK(!has(text, "stage it"));
                // Not in place, and in place; the kernels are loaded once.
                TRY_TEXT(reduce(rank, a, b));
                TRY_TEXT(reduce(rank, a, a));
                text = log.take();
                RANK_CHECK(!has(text, "staged"));
                RANK_CHECK(has(text, "all_reduce") == (loads && round == 0));
                NCCL_TRY(ncclCommWindowDeregister(rank.comm, windows[0]));
                NCCL_TRY(ncclCommWindowDeregister(rank.comm, windows[1]));
                NCCL_EXPECT(ncclInvalidArgument,
                            ncclCommWindowDeregister(rank.comm, windows[1]));
                TRY_TEXT(reduce(rank, a, b)); // staged again
              }
              // One that the communicator's end deregisters.
              ncclWindow_t kept = nullptr;
              NCCL_TRY(ncclCommWindowRegister(rank.comm, in, 4096, &kept,
                                              NCCL_WIN_COLL_SYMMETRIC));
              NCCL_TRY(ncclMemFree(out));
              return "";
            }));
}

/// Windows that peers cannot map, and those without the flag, are staged.
TEST_P(NcclWindows, Staged) {
  EXPECT_EQ("", logged([](NcclRank &rank) -> std::string {
              LogLines log;
              std::vector<int32_t> ordinary(count);
              void *memory = nullptr;
              NCCL_TRY(ncclMemAlloc(&memory, count * 4));
              auto *words = static_cast<int32_t *>(memory);
              ncclWindow_t window = nullptr, other = nullptr, third = nullptr;
              // Memory that is not the same on all ranks.
              const bool isFirst = rank.rank == 0;
              NCCL_TRY(ncclCommWindowRegister(
                  rank.comm, isFirst ? ordinary.data() : memory, count * 4,
                  &window, NCCL_WIN_COLL_SYMMETRIC));
              RANK_CHECK(has(log.take(), "stage it"));
              NCCL_TRY(ncclCommWindowRegister(rank.comm, memory, count * 4,
                                              &other, NCCL_WIN_DEFAULT));
              TRY_TEXT(reduce(rank, words, ordinary.data()));
              TRY_TEXT(reduce(rank, words, words));
              RANK_CHECK(has(log.take(), "staged") == (rank.size > 1));
              NCCL_TRY(ncclCommWindowDeregister(rank.comm, window));
              // Twice.
              NCCL_TRY(ncclCommWindowRegister(rank.comm, memory, count * 4,
                                              &window,
                                              NCCL_WIN_COLL_SYMMETRIC));
              NCCL_TRY(ncclCommWindowRegister(rank.comm, memory, 4096, &third,
                                              NCCL_WIN_COLL_SYMMETRIC));
              RANK_CHECK(has(log.take(), "imported already"));
              TRY_TEXT(reduce(rank, words, words));
              for (ncclWindow_t each : {third, other, window})
                NCCL_TRY(ncclCommWindowDeregister(rank.comm, each));
              NCCL_TRY(ncclMemFree(memory));
              return "";
            }));
}

/// Memory in use is not freed: peers would go on to access it.
TEST_P(NcclWindows, FreedLast) {
  EXPECT_EQ("",
            onRanks(RankKind::processes, GetParam(),
                    [](ncclUniqueId id, int me) -> std::string {
                      NcclRank rank = {nullptr, me, GetParam()};
                      NCCL_TRY(ncclCommInitRank(&rank.comm, rank.size, id, me));
                      ncclWindow_t window = nullptr;
                      void *memory = nullptr, *other = nullptr;
                      NCCL_TRY(ncclMemAlloc(&memory, count * 4 + 4096));
                      NCCL_TRY(ncclMemAlloc(&other, 4096));
                      auto *words = static_cast<int32_t *>(memory) + 1024;
                      NCCL_TRY(ncclCommWindowRegister(rank.comm, words,
                                                      count * 4, &window,
                                                      NCCL_WIN_COLL_SYMMETRIC));
                      NCCL_EXPECT(ncclInvalidUsage, ncclMemFree(memory));
                      RANK_CHECK(has(ncclGetLastError(nullptr), "Deregister"));
                      NCCL_TRY(ncclMemFree(other));
                      TRY_TEXT(reduce(rank, words, words));
                      NCCL_TRY(ncclCommWindowDeregister(rank.comm, window));
                      NCCL_TRY(ncclMemFree(memory));
                      // One that the communicator's end deregisters.
                      NCCL_TRY(ncclMemAlloc(&memory, 4096));
                      NCCL_TRY(ncclCommWindowRegister(rank.comm, memory, 4096,
                                                      &window,
                                                      NCCL_WIN_COLL_SYMMETRIC));
                      NCCL_EXPECT(ncclInvalidUsage, ncclMemFree(memory));
                      NCCL_TRY(ncclCommDestroy(rank.comm));
                      NCCL_TRY(ncclMemFree(memory));
                      return "";
                    }));
}

/// One thread registers the windows of several communicators in a group, and
/// deregisters them one after another.
TEST_P(NcclWindows, OneThread) {
  const int size = GetParam();
  auto body = [size](const LaunchInfo &) -> std::string {
    std::vector<ncclComm_t> comms(static_cast<size_t>(size));
    NCCL_TRY(ncclCommInitAll(comms.data(), size, nullptr));
    std::vector<void *> memory(comms.size());
    std::vector<ncclWindow_t> windows(comms.size());
    NCCL_TRY(ncclGroupStart());
    for (size_t i = 0; i < comms.size(); ++i) {
      NCCL_TRY(ncclMemAlloc(&memory[i], count * 4));
      NCCL_TRY(ncclCommWindowRegister(comms[i], memory[i], count * 4,
                                      &windows[i], NCCL_WIN_COLL_SYMMETRIC));
      RANK_CHECK(windows[i] == nullptr);
    }
    NCCL_TRY(ncclGroupEnd());
    for (size_t i = 0; i < comms.size(); ++i) {
      RANK_CHECK(windows[i] != nullptr);
      for (size_t j = 0; j < count; ++j)
        static_cast<int32_t *>(memory[i])[j] =
            elementOf(static_cast<int>(i), j);
    }
    NCCL_TRY(ncclGroupStart());
    for (size_t i = 0; i < comms.size(); ++i)
      NCCL_TRY(ncclAllReduce(memory[i], memory[i], count, ncclInt32, ncclSum,
                             comms[i], nullptr));
    NCCL_TRY(ncclGroupEnd());
    for (size_t i = 0; i < comms.size(); ++i) {
      for (size_t j = 0; j < count; ++j) {
        int32_t want = 0;
        for (int peer = 0; peer < size; ++peer)
          want += elementOf(peer, j);
        RANK_CHECK(static_cast<int32_t *>(memory[i])[j] == want);
      }
      NCCL_TRY(ncclCommWindowDeregister(comms[i], windows[i]));
    }
    for (size_t i = 0; i < comms.size(); ++i) {
      NCCL_TRY(ncclMemFree(memory[i]));
      NCCL_TRY(ncclCommDestroy(comms[i]));
    }
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(1, body)));
}
