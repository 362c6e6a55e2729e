// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Group.cpp - Group calls --------------------------------------------===//
#include "Group.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

using namespace iris::nccl;
using namespace iris::rt;

namespace {
/// The group of a thread.
struct CallGroup {
  size_t depth = 0;
  std::vector<Task> tasks;
  /// The first call that was rejected; the group then runs nothing.
  Status error;
};

/// As std::latch of one count, which is not in C++17.
class Latch {
public:
  void countDown() {
    std::lock_guard<std::mutex> lock(mutex_);
    isOpen_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return isOpen_; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool isOpen_ = false;
};

/// The tasks of one communicator.
struct Bundle {
  std::shared_ptr<ncclComm> comm;
  std::vector<Worker::Job> jobs;
  std::vector<Operation> operations;
  /// It has loaded what it loads alone; it has run, or will not.
  std::shared_ptr<Latch> loaded = std::make_shared<Latch>();
  std::shared_ptr<Latch> ended = std::make_shared<Latch>();
  /// Of the bundles that load, and of those that are enqueued, first.
  std::vector<std::shared_ptr<Latch>> before;

  /// Whether run() waits for no other rank.
  bool onlyEnqueues() const {
    return jobs.empty() && comm->options.config.isBlocking &&
           comm->onlyEnqueues(operations);
  }

  bool isOnDeviceOf(const Bundle &other) const {
    const CommOptions &mine = comm->options, &theirs = other.comm->options;
    return mine.device.kind == theirs.device.kind &&
           mine.deviceIndex == theirs.deviceIndex;
  }

  /// Whether this bundle and one of another communicator are on one stream:
  /// their order there must be the same on all ranks.
  bool mayWaitFor(const Bundle &other) const {
    const CommOptions &mine = comm->options, &theirs = other.comm->options;
    if (!isOnDeviceOf(other) || mine.secret.job() == theirs.secret.job())
      return false; // Ranks of one communicator wait for each other.
    for (const Operation &one : operations)
      for (const Operation &another : other.operations)
        if (CallerStreams::mayWait(mine.device.kind, one.stream,
                                   another.stream))
          return true;
    return false;
  }

  /// run() in its turn. Nothing runs before all bundles of the device have what
  /// they load alone: CUDA would wait for a kernel that runs, which may wait
  /// for a rank whose kernel waits for one of these bundles.
  Status runInTurn() const {
    comm->loadTransfers(operations);
    loaded->countDown();
    for (const std::shared_ptr<Latch> &each : before)
      each->wait();
    Status status = run();
    ended->countDown();
    return status;
  }

  /// Jobs come first: they create communicators.
  Status run() const {
    for (const Worker::Job &job : jobs)
      IRISRT_RETURN_IF_ERROR(job());
    return operations.empty() ? Status::success() : comm->run(operations);
  }
};
} // namespace

static CallGroup &group() {
  static thread_local CallGroup group;
  return group;
}

static std::vector<Bundle> bundle(std::vector<Task> tasks) {
  std::vector<Bundle> bundles;
  for (Task &task : tasks) {
    auto found =
        std::find_if(bundles.begin(), bundles.end(), [&](const Bundle &bundle) {
          return bundle.comm == task.comm;
        });
    if (found == bundles.end()) {
      bundles.emplace_back();
      found = std::prev(bundles.end());
      found->comm = task.comm;
    }
    if (task.job)
      found->jobs.push_back(std::move(task.job));
    else
      found->operations.push_back(task.operation);
  }
  return bundles;
}

/// Runs the bundles on this thread, which takes less time than to wake others.
static Status runInOrder(const std::vector<Bundle> &bundles) {
  Status status;
  for (const Bundle &bundle : bundles) {
    Status ended = bundle.run();
    if (status.ok())
      status = ended;
  }
  return status;
}

/// Runs the bundles, at once where one may wait for another; on one stream they
/// are enqueued in the order of the first calls.
static ncclResult_t run(const char *function, std::vector<Bundle> bundles) {
  if (bundles.size() == 1 && bundles[0].comm->options.config.isBlocking)
    return finish(function, bundles[0].run());
  if (std::all_of(bundles.begin(), bundles.end(),
                  [](const Bundle &bundle) { return bundle.onlyEnqueues(); }))
    return finish(function, runInOrder(bundles));
  for (Bundle &bundle : bundles)
    for (const Bundle &other : bundles)
      if (&other != &bundle && bundle.isOnDeviceOf(other))
        bundle.before.push_back(other.loaded);
  for (auto bundle = bundles.begin(); bundle != bundles.end(); ++bundle)
    for (auto other = bundles.begin(); other != bundle; ++other)
      if (bundle->mayWaitFor(*other))
        bundle->before.push_back(other->ended);
  std::vector<std::shared_ptr<ncclComm>> comms;
  Status started;
  bool isInProgress = false;
  for (const Bundle &bundle : bundles) {
    std::shared_ptr<ncclComm> comm = bundle.comm;
    if (started.ok())
      started = comm->worker.start([bundle] { return bundle.runInTurn(); });
    if (!started.ok()) { // others wait for no bundle that does not run
      bundle.loaded->countDown();
      bundle.ended->countDown();
      continue;
    }
    isInProgress = isInProgress || !comm->options.config.isBlocking;
    if (comm->options.config.isBlocking)
      comms.push_back(std::move(comm));
  }
  Status status = started;
  for (const std::shared_ptr<ncclComm> &comm : comms) {
    Status ended = comm->worker.wait();
    if (status.ok())
      status = ended;
  }
  if (!status.ok())
    return finish(function, status);
  return isInProgress ? ncclInProgress : ncclSuccess;
}

/// As NCCL, whose group either waits for all communicators that it creates or
/// ends, or for none.
static Status checkBlocking(const Task &task) {
  const bool isBlocking = task.comm->options.config.isBlocking;
  for (const Task &other : group().tasks)
    if (task.job && other.job &&
        other.comm->options.config.isBlocking != isBlocking)
      return Status(StatusCode::invalidArgument,
                    "a group creates or ends blocking and nonblocking "
                    "communicators; expected one of these kinds");
  return Status::success();
}

ncclResult_t iris::nccl::submit(const char *function, Task task) {
  if (group().depth > 0) {
    Status status = checkBlocking(task);
    if (!status.ok()) {
      if (task.drop)
        task.drop();
      return reject(function, status);
    }
    group().tasks.push_back(std::move(task));
    return ncclSuccess;
  }
  std::vector<Task> alone;
  alone.push_back(std::move(task));
  return run(function, bundle(std::move(alone)));
}

ncclResult_t iris::nccl::reject(const char *function, const Status &status) {
  if (group().depth > 0 && group().error.ok())
    group().error = status;
  return finish(function, status);
}

void iris::nccl::startGroup() { ++group().depth; }

/// Ends the group; its tasks, or the error that it ends with.
static Expected<std::vector<Task>> leaveGroup() {
  CallGroup &mine = group();
  if (mine.depth == 0)
    return Status(StatusCode::failedPrecondition,
                  "there is no group; expected ncclGroupStart before");
  if (--mine.depth > 0)
    return std::vector<Task>();
  std::vector<Task> tasks = std::exchange(mine.tasks, {});
  Status error = std::exchange(mine.error, Status::success());
  if (error.ok())
    return tasks;
  for (const Task &task : tasks)
    if (task.drop)
      task.drop();
  return error;
}

ncclResult_t iris::nccl::endGroup(const char *function) {
  Expected<std::vector<Task>> tasks = leaveGroup();
  if (!tasks.ok())
    return finish(function, tasks.status());
  return tasks->empty() ? ncclSuccess : run(function, bundle(tasks.take()));
}

Expected<double> iris::nccl::simulateGroup() {
  IRISRT_ASSIGN_OR_RETURN(std::vector<Task> tasks, leaveGroup());
  for (const Task &task : tasks)
    if (task.drop)
      task.drop();
  double us = 0;
  for (const Bundle &each : bundle(std::move(tasks))) {
    IRISRT_ASSIGN_OR_RETURN(double ofComm,
                            each.comm->estimate(each.operations));
    us = std::max(us, ofComm);
  }
  return us;
}
