// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs random programs of NCCL's API and checks every byte:
//
//   nccl-random RANKS SEED [STEPS (100)] [--one-thread | --processes]
//               [--nodes=NAMES] [--nonblocking] [--max-bytes=N]
//
// A program creates and splits communicators, registers windows, and calls
// operations of any type, length, reduction, root, alignment and stream, alone
// and in groups, on the GPU also in graphs. The ranks are threads, or one
// thread, or processes; with --nodes=aab, processes on nodes a and b, joined by
// the engine of IRIS_INTERNODE_LIBRARY. It links Iris' library or NCCL's, with
// either's header:
//
//   c++ -std=c++17 -Iruntime/nccl/include/iris-nccl -o nccl-random
//     test/runtime/nccl/random/*.cpp -Lbuild/lib/iris-nccl -lnccl -ldl -pthread
//   IRIS_NCCL_DEVICE=host ./nccl-random 4 1
#include "Rank.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace nccl_random;

namespace {

enum class Mode { threads, oneThread, processes };

struct Options {
  int ranks = 2;
  uint64_t seed = 0, steps = 100, maxBytes = 1 << 20;
  Mode mode = Mode::threads;
  /// A letter for each rank; empty: all are on one node.
  std::string nodes;
  bool isBlocking = true;
};

/// Ranks that one thread drives, through the same program as all others.
class Driver {
public:
  Driver(const Options &options, std::vector<int> numbers, ncclUniqueId id);
  uint64_t run();

private:
  bool isAlone() const { return ranks_.size() == 1; }
  /// What a thread calls for several ranks of a communicator is a group.
  void begin(bool isGrouped) const {
    if (isGrouped || !isAlone())
      NCCL_RANDOM_TRY(ncclGroupStart());
  }
  void end(bool isGrouped) const {
    if (isGrouped || !isAlone())
      NCCL_RANDOM_TRY(ncclGroupEnd());
  }
  void awaitIdle() {
    for (auto &rank : ranks_)
      for (const Group &group : program_.groups())
        rank->awaitIdle(group.id);
  }
  void check() {
    for (auto &rank : ranks_)
      rank->check();
  }
  void call(const Step &step);
  void split(const Step &step);
  void registerWindow(const Step &step);
  void destroy(int group);

  Program program_;
  const uint64_t steps_;
  const ncclUniqueId id_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

} // namespace

Driver::Driver(const Options &options, std::vector<int> numbers,
               ncclUniqueId id)
    : program_([&] {
        ProgramOptions program;
        program.ranks = options.ranks;
        program.seed = options.seed;
        program.maxBytes = options.maxBytes;
        program.canCapture = !isOnHost();
        program.alwaysGroups = options.mode == Mode::oneThread;
        return Program(program);
      }()),
      steps_(options.steps), id_(id) {
  for (int number : numbers)
    ranks_.push_back(std::make_unique<Rank>(
        number, ProgramOptions().streams, 256 * options.maxBytes,
        options.isBlocking, /*usesNullStream=*/isOnHost() && options.seed % 2));
}

void Driver::call(const Step &step) {
  if (step.isCaptured)
    check(); // only the captured operations are refilled
  for (auto &rank : ranks_)
    if (step.isCaptured) {
      rank->bind();
      rank->device().beginCapture(rank->stream(0));
    }
  begin(step.isGrouped);
  for (const Operation &operation : step.operations)
    for (auto &rank : ranks_) {
      rank->call(program_.group(operation.group), operation);
      if (!step.isGrouped && isAlone())
        rank->awaitIdle(operation.group);
    }
  end(step.isGrouped);
  awaitIdle();
  if (step.isCaptured) {
    std::vector<void *> graphs;
    for (auto &rank : ranks_) {
      rank->bind();
      graphs.push_back(rank->device().endCapture(rank->stream(0)));
    }
    for (int replay = 0; replay < 2; ++replay) {
      for (auto &rank : ranks_)
        rank->refill();
      for (size_t i = 0; i < ranks_.size(); ++i) {
        ranks_[i]->bind();
        ranks_[i]->device().launch(graphs[i], ranks_[i]->stream(0));
      }
      for (auto &rank : ranks_) {
        rank->bind();
        rank->device().synchronize(rank->stream(0));
      }
    }
    check();
    for (size_t i = 0; i < ranks_.size(); ++i) {
      ranks_[i]->bind();
      ranks_[i]->device().destroyGraph(graphs[i]);
    }
  }
  if (step.isChecked)
    check();
}

void Driver::split(const Step &step) {
  begin(false);
  for (auto &rank : ranks_)
    rank->split(step, program_.group(step.group));
  end(false);
  awaitIdle();
  for (auto &rank : ranks_)
    rank->adopt(step);
}

void Driver::registerWindow(const Step &step) {
  for (auto &rank : ranks_)
    rank->allocateWindow(step.group, step.windowBytes);
  begin(false);
  for (auto &rank : ranks_)
    rank->registerWindow(step.group, step.windowBytes);
  end(false);
  awaitIdle();
}

void Driver::destroy(int group) {
  check();
  for (auto &rank : ranks_)
    rank->destroy(group);
}

uint64_t Driver::run() {
  begin(false);
  for (auto &rank : ranks_)
    rank->create(program_.group(0), id_);
  end(false);
  awaitIdle();
  for (uint64_t i = 0; i < steps_; ++i) {
    const Step step = program_.next();
    if (const char *trace = std::getenv("NCCL_RANDOM_TRACE"); trace && *trace) {
      std::string text = "step " + std::to_string(i) + " kind " +
                         std::to_string(step.kind) + " communicator " +
                         std::to_string(step.group) +
                         (step.isGrouped ? " grouped" : "") +
                         (step.isCaptured ? " captured" : "") +
                         (step.isChecked ? " checked" : "");
      for (const Operation &operation : step.operations)
        text += "\n    " + operation.describe();
      std::fprintf(stderr, "rank %d.. %s\n", ranks_[0]->number(), text.c_str());
    }
    switch (step.kind) {
    case Step::call:
      call(step);
      break;
    case Step::split:
      split(step);
      break;
    case Step::registerWindow:
      registerWindow(step);
      break;
    case Step::destroy:
      destroy(step.group);
      break;
    }
  }
  std::vector<int> left;
  for (const Group &group : program_.groups())
    left.push_back(group.id);
  for (auto id = left.rbegin(); id != left.rend(); ++id)
    destroy(*id);
  uint64_t checked = 0;
  for (auto &rank : ranks_)
    checked += rank->checked();
  return checked;
}

/// \return the buffers that were compared
static uint64_t runThreads(const Options &options) {
  ncclUniqueId id;
  NCCL_RANDOM_TRY(ncclGetUniqueId(&id));
  std::atomic<uint64_t> checked{0};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < options.ranks; ++rank)
    threads.emplace_back(
        [&, rank] { checked += Driver(options, {rank}, id).run(); });
  for (std::thread &thread : threads)
    thread.join();
  return checked;
}

static uint64_t runOneThread(const Options &options) {
  ncclUniqueId id;
  NCCL_RANDOM_TRY(ncclGetUniqueId(&id));
  std::vector<int> all;
  for (int rank = 0; rank < options.ranks; ++rank)
    all.push_back(rank);
  return Driver(options, all, id).run();
}

static uint64_t runProcesses(const Options &options) {
  struct Shared {
    std::atomic<bool> hasId{false};
    ncclUniqueId id;
    std::atomic<uint64_t> checked{0};
  };
  void *memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto *shared = new (memory) Shared;
  std::vector<pid_t> children;
  for (int rank = 0; rank < options.ranks; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      if (!options.nodes.empty()) {
        ::setenv("IRIS_NODE",
                 options.nodes.substr(static_cast<size_t>(rank), 1).c_str(), 1);
        ::setenv("IRIS_NODE_ADDRESS", "127.0.0.1", 1);
      }
      if (rank == 0) {
        NCCL_RANDOM_TRY(ncclGetUniqueId(&shared->id));
        shared->hasId = true;
      }
      while (!shared->hasId)
        ::usleep(1000);
      shared->checked += Driver(options, {rank}, shared->id).run();
      std::exit(0);
    }
    children.push_back(child);
  }
  bool ok = true;
  for (pid_t child : children) {
    int status = 0;
    ok = ::waitpid(child, &status, 0) == child && status == 0 && ok;
  }
  if (!ok)
    die("a rank", "failed");
  return shared->checked;
}

int main(int argc, char **argv) {
  Options options;
  std::vector<uint64_t> numbers;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--one-thread")
      options.mode = Mode::oneThread;
    else if (word == "--processes")
      options.mode = Mode::processes;
    else if (word.rfind("--nodes=", 0) == 0)
      options.nodes = word.substr(8);
    else if (word == "--nonblocking")
      options.isBlocking = false;
    else if (word.rfind("--max-bytes=", 0) == 0)
      options.maxBytes = std::strtoull(word.c_str() + 12, nullptr, 0);
    else
      numbers.push_back(std::strtoull(word.c_str(), nullptr, 0));
  }
  if (numbers.size() < 2 || numbers.size() > 3 || numbers[0] == 0 ||
      options.maxBytes < 2048 ||
      (!options.nodes.empty() && options.nodes.size() != numbers[0])) {
    std::fprintf(stderr,
                 "usage: nccl-random RANKS SEED [STEPS] [--one-thread | "
                 "--processes] [--nodes=NAMES] [--nonblocking] "
                 "[--max-bytes=N]\n");
    return 1;
  }
  options.ranks = static_cast<int>(numbers[0]);
  if (!options.nodes.empty())
    options.mode = Mode::processes;
  options.seed = numbers[1];
  if (numbers.size() > 2)
    options.steps = numbers[2];
  const uint64_t checked = options.mode == Mode::threads ? runThreads(options)
                           : options.mode == Mode::oneThread
                               ? runOneThread(options)
                               : runProcesses(options);
  std::printf("nccl-random: %d ranks, seed %llu, %llu steps: %llu buffers, all "
              "right\n",
              options.ranks, static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(options.steps),
              static_cast<unsigned long long>(checked));
  return 0;
}
