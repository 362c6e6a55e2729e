// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadTeam.cpp - Threads for the programs of a launch --------------===//
#include "backends/host/ThreadTeam.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>

using namespace iris::rt;

/// The number of idle threads to keep between launches.
static constexpr size_t maxIdle = 64;
static constexpr size_t arenaAlignment = 64;
/// How long no item may end before another thread starts: much longer than a
/// thread takes to start.
static constexpr std::chrono::milliseconds patience(20);

/// A thread that waits for work.
struct ThreadTeam::Worker {
  ~Worker() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      quit = true;
      changed.notify_all();
    }
    thread.join();
    std::free(arena);
  }

  Status reserveArena(uint64_t bytes) {
    if (bytes <= arenaBytes)
      return Status::success();
    void *memory = nullptr;
    if (::posix_memalign(&memory, arenaAlignment, bytes) != 0)
      return makeStatus(StatusCode::outOfMemory,
                        "cannot allocate %llu bytes for the arena of a program",
                        static_cast<unsigned long long>(bytes));
    std::free(arena);
    arena = memory;
    arenaBytes = bytes;
    return Status::success();
  }

  void loop() {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return quit || body; });
      if (!body)
        return;
      const TeamBody *current = body;
      lock.unlock();
      (*current)(index, arena);
      lock.lock();
      body = nullptr;
      changed.notify_all();
    }
  }

  void start(uint32_t newIndex, const TeamBody &newBody) {
    std::lock_guard<std::mutex> lock(mutex);
    index = newIndex;
    body = &newBody;
    changed.notify_all();
  }

  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return !body; });
  }

  /// Whether it ended within the limit.
  bool waitFor(std::chrono::milliseconds limit) {
    std::unique_lock<std::mutex> lock(mutex);
    return changed.wait_for(lock, limit, [&] { return !body; });
  }

  std::mutex mutex;
  std::condition_variable changed;
  const TeamBody *body = nullptr;
  uint32_t index = 0;
  bool quit = false;
  void *arena = nullptr;
  uint64_t arenaBytes = 0;
  OsThread thread;
};

ThreadTeam::ThreadTeam() = default;
ThreadTeam::~ThreadTeam() = default;

Expected<std::shared_ptr<ThreadTeam::Worker>>
ThreadTeam::take(uint64_t arenaBytes) {
  std::shared_ptr<Worker> worker;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      worker = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!worker) {
    worker = std::make_shared<Worker>();
    Worker *raw = worker.get();
    IRISRT_ASSIGN_OR_RETURN(worker->thread,
                            OsThread::start([raw] { raw->loop(); }));
  }
  IRISRT_RETURN_IF_ERROR(worker->reserveArena(arenaBytes));
  return worker;
}

void ThreadTeam::giveBack(std::shared_ptr<Worker> worker) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.size() < maxIdle)
    idle_.push_back(std::move(worker));
}

Status ThreadTeam::run(uint32_t count, uint64_t arenaBytes,
                       const TeamBody &body) {
  std::vector<std::shared_ptr<Worker>> workers;
  workers.reserve(count);
  Status status;
  for (uint32_t i = 0; i < count && status.ok(); ++i) {
    Expected<std::shared_ptr<Worker>> worker = take(arenaBytes);
    if (worker.ok())
      workers.push_back(worker.take());
    else
      status = worker.status().withContext(
          formatString("thread %u of %u concurrent ones", i + 1, count));
  }
  if (status.ok()) {
    for (uint32_t i = 0; i < count; ++i)
      workers[i]->start(i, body);
    for (const std::shared_ptr<Worker> &worker : workers)
      worker->wait();
  }
  for (std::shared_ptr<Worker> &worker : workers)
    giveBack(std::move(worker));
  return status;
}

Status ThreadTeam::runItems(uint64_t count, uint32_t threads, uint32_t most,
                            uint64_t arenaBytes,
                            const std::function<void(uint64_t, void *)> &item) {
  std::atomic<uint64_t> next{0}, ended{0};
  TeamBody body = [&](uint32_t, void *arena) {
    uint64_t number;
    while ((number = next.fetch_add(1, std::memory_order_relaxed)) < count) {
      item(number, arena);
      ended.fetch_add(1, std::memory_order_relaxed);
    }
  };
  std::vector<std::shared_ptr<Worker>> workers;
  auto add = [&]() -> Status {
    IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<Worker> worker, take(arenaBytes));
    worker->start(static_cast<uint32_t>(workers.size()), body);
    workers.push_back(std::move(worker));
    return Status::success();
  };
  Status status = add();
  // One thread is enough for items that do not wait, so that failures to start
  // others are none.
  bool canAdd = status.ok();
  while (canAdd && workers.size() < threads)
    canAdd = add().ok();
  uint64_t before = 0;
  for (size_t i = 0; i < workers.size(); ++i)
    while (!workers[i]->waitFor(patience)) {
      uint64_t now = ended.load(std::memory_order_relaxed);
      if (now == before && workers.size() < most &&
          next.load(std::memory_order_relaxed) < count)
        (void)add();
      before = now;
    }
  for (std::shared_ptr<Worker> &worker : workers)
    giveBack(std::move(worker));
  return status;
}
