// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Session.cpp - A communicator's rank in its world -------------------===//
#include "Session.h"

#include "KernelFolders.h"
#include "core/OsThread.h"

#include <map>
#include <mutex>
#include <vector>

using namespace iris::nccl;
using namespace iris::rt;

Expected<Session> Session::open(const WorldOptions &options) {
  Session session;
  IRISRT_ASSIGN_OR_RETURN(session.world, World::create(options));
  session.cache = kernelCacheFor(session.world->target());
  ccl::CommunicatorOptions communicator;
  communicator.cache = session.cache;
  communicator.workspaceBytes = workspaceBytes;
  IRISRT_ASSIGN_OR_RETURN(
      session.collectives,
      ccl::Communicator::create(*session.world, communicator));
  session.channel = session.world->makeChannel();
  return session;
}

Status Session::end() {
  if (!world)
    return Status::success();
  Status status = collectives->destroy();
  Status ended = world->destroy();
  collectives.reset();
  world.reset();
  return status.ok() ? ended : status;
}

//===----------------------------------------------------------------------===//
// LocalRanks
//===----------------------------------------------------------------------===//

namespace {
struct Job {
  size_t ranks = 0;
  /// Of all ranks, also those that have ended.
  std::vector<int> devices;
  /// Sessions that wait for the others of this process.
  std::vector<Session> waiting;
};
struct Jobs {
  std::mutex mutex;
  std::map<std::string, Job> byName;
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

/// Ends the sessions at once, each on a thread: every one waits for the others.
static Status endAll(std::vector<Session> sessions) {
  std::vector<Status> results(sessions.size());
  {
    std::vector<OsThread> threads;
    for (size_t i = 1; i < sessions.size(); ++i) {
      auto end = [&results, &sessions, i] { results[i] = sessions[i].end(); };
      Expected<OsThread> thread = OsThread::start(end);
      if (!thread.ok()) {
        // Without a thread, the session would wait for the later ones.
        sessions[i].world->fail(thread.status());
        end();
        continue;
      }
      threads.push_back(thread.take());
    }
    if (!sessions.empty())
      results[0] = sessions[0].end();
  }
  for (const Status &result : results)
    if (!result.ok())
      return result;
  return Status::success();
}

void LocalRanks::add(const std::string &job, int device) {
  Jobs &jobs = allJobs();
  std::lock_guard<std::mutex> lock(jobs.mutex);
  Job &added = jobs.byName[job];
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
  {
    Jobs &jobs = allJobs();
    std::lock_guard<std::mutex> lock(jobs.mutex);
    jobs.byName[job].waiting.push_back(std::move(session));
    complete = takeComplete(jobs, job);
  }
  return endAll(std::move(complete));
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
