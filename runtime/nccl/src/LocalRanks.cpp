// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LocalRanks.cpp - Ranks of a communicator in one process ------------===//
#include "LocalRanks.h"

#include "core/OsThread.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

using namespace iris::nccl;
using namespace iris::rt;

namespace {
struct LocalJob {
  size_t ranks = 0;
  /// Of all ranks, also those that have ended.
  std::vector<int> devices;
  /// Sessions that wait for the others of this process.
  std::vector<Session> waiting;
};
struct Jobs {
  std::mutex mutex;
  std::map<std::string, LocalJob> byName;
};
} // namespace

/// Never destroyed: a session that waits at exit must not end then.
static Jobs &allJobs() {
  static auto *jobs = new Jobs();
  return *jobs;
}

/// The sessions of a job if all of its ranks wait. The caller holds the mutex.
static std::vector<Session> takeComplete(Jobs &jobs, const std::string &name) {
  std::vector<Session> sessions;
  auto found = jobs.byName.find(name);
  if (found == jobs.byName.end() ||
      found->second.waiting.size() != found->second.ranks)
    return sessions;
  sessions = std::move(found->second.waiting);
  jobs.byName.erase(found);
  return sessions;
}

namespace {
/// Sessions that end at once, each on a thread: every one waits for the others.
/// What a rank has is freed on its thread, too. CUDA waits there for all
/// kernels of the rank's GPU, of which one may need what the calling thread
/// does next: a rank that was destroyed before has gone on.
class Endings : public std::enable_shared_from_this<Endings> {
public:
  explicit Endings(std::vector<Session> sessions)
      : sessions_(std::move(sessions)), results_(sessions_.size()) {}

  /// \return the first error of the sessions
  Status run() {
    for (size_t i = 0; i < sessions_.size(); ++i) {
      Expected<OsThread> thread =
          OsThread::start([self = shared_from_this(), i] { self->end(i); });
      if (!thread.ok()) {
        // Without a thread, the session would wait for the later ones.
        sessions_[i].world->fail(thread.status());
        end(i);
        continue;
      }
      thread->detach();
    }
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return ended_ == results_.size(); });
    changed_.wait_for(lock, freeLimit,
                      [this] { return freed_ == results_.size(); });
    for (const Status &result : results_)
      if (!result.ok())
        return result;
    return Status::success();
  }

private:
  /// Memory is free when the last rank's ncclCommDestroy returns, unless
  /// kernels hold it for longer.
  static constexpr auto freeLimit = std::chrono::seconds(1);

  void end(size_t i) {
    Status result = sessions_[i].end();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      results_[i] = std::move(result);
      ++ended_;
      changed_.notify_all();
    }
    sessions_[i].free();
    std::lock_guard<std::mutex> lock(mutex_);
    ++freed_;
    changed_.notify_all();
  }

  std::vector<Session> sessions_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Status> results_;
  size_t ended_ = 0, freed_ = 0;
};
} // namespace

static Status endAll(std::vector<Session> sessions) {
  return sessions.empty()
             ? Status::success()
             : std::make_shared<Endings>(std::move(sessions))->run();
}

void LocalRanks::add(const std::string &job, int device) {
  Jobs &jobs = allJobs();
  std::lock_guard<std::mutex> lock(jobs.mutex);
  LocalJob &added = jobs.byName[job];
  ++added.ranks;
  added.devices.push_back(device);
}

std::vector<int> LocalRanks::devices(const std::string &job) {
  Jobs &jobs = allJobs();
  std::lock_guard<std::mutex> lock(jobs.mutex);
  auto found = jobs.byName.find(job);
  return found == jobs.byName.end() ? std::vector<int>()
                                    : found->second.devices;
}

Status LocalRanks::end(const std::string &job, Session session) {
  std::vector<Session> complete;
  bool isAlone = false;
  {
    Jobs &jobs = allJobs();
    std::lock_guard<std::mutex> lock(jobs.mutex);
    LocalJob &all = jobs.byName[job];
    isAlone = all.ranks == 1;
    if (isAlone) {
      jobs.byName.erase(job);
    } else {
      all.waiting.push_back(std::move(session));
      complete = takeComplete(jobs, job);
    }
  }
  if (!isAlone)
    return endAll(std::move(complete));
  Status status = session.end();
  session.free();
  return status;
}

void LocalRanks::remove(const std::string &job) {
  std::vector<Session> complete;
  {
    Jobs &jobs = allJobs();
    std::lock_guard<std::mutex> lock(jobs.mutex);
    --jobs.byName[job].ranks;
    complete = takeComplete(jobs, job);
  }
  endAll(std::move(complete))
      .ignore("the ranks whose sessions end here were destroyed before");
}
