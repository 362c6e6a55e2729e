// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadTeam.cpp - Threads for the programs of a launch --------------===//
#include "backends/host/ThreadTeam.h"

#include <condition_variable>
#include <cstdlib>

using namespace iris::rt;

/// The number of idle threads to keep between launches.
static constexpr size_t maxIdle = 64;
static constexpr size_t arenaAlignment = 64;

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

Expected<std::shared_ptr<ThreadTeam::Worker>> ThreadTeam::take() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      std::shared_ptr<Worker> worker = std::move(idle_.back());
      idle_.pop_back();
      return worker;
    }
  }
  auto worker = std::make_shared<Worker>();
  Worker *raw = worker.get();
  IRISRT_ASSIGN_OR_RETURN(worker->thread,
                          OsThread::start([raw] { raw->loop(); }));
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
    Expected<std::shared_ptr<Worker>> worker = take();
    if (!worker.ok()) {
      status = worker.status().withContext(
          formatString("thread %u of %u concurrent ones", i + 1, count));
      break;
    }
    status = (*worker)->reserveArena(arenaBytes);
    workers.push_back(worker.take());
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
