// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NcclEngine.cpp - NCCL or RCCL between nodes ------------------------===//
#include "internode/NcclEngine.h"

#include "core/Deadline.h"
#include "core/OsThread.h"
#include "core/WorldAccess.h"

#include <condition_variable>
#include <cstring>

using namespace iris::rt;

/// Between two looks at the job while ranks join.
static constexpr auto joinCheck = std::chrono::milliseconds(10);
/// How long an abort waits for a call of another thread, which it then ends.
static constexpr auto callEndLimit = std::chrono::seconds(1);

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

/// "2.28.9" of 22809.
static std::string versionText(int version) {
  return formatString("%d.%d.%d", version / 10000, version / 100 % 100,
                      version % 100);
}

static const char *kindName(DeviceKind kind) {
  return kind == DeviceKind::hip ? "RCCL" : "NCCL";
}

Expected<std::shared_ptr<NcclEngine>> NcclEngine::open(const std::string &given,
                                                       World &world) {
  const DeviceKind kind = world.deviceKind();
  if (kind == DeviceKind::emulated)
    return makeStatus(StatusCode::failedPrecondition,
                      "ranks on device '%s' cannot be on several nodes; "
                      "expected the host or GPUs",
                      deviceName(world.device()).c_str());
  std::string path = given;
  if (path.empty())
    path = Env::get().ncclLibrary();
  if (path.empty())
    path = kind == DeviceKind::hip ? "librccl.so.1" : "libnccl.so.2";
  Expected<NcclLibrary> library =
      NcclLibrary::open("the engine between nodes", path);
  if (!library.ok())
    return makeStatus(library.status().code(),
                      "%s; install %s, or name it in IRIS_INTERNODE_LIBRARY",
                      library.status().message().c_str(), kindName(kind));
  if (library->isIris() && kind != DeviceKind::host)
    return makeStatus(StatusCode::failedPrecondition,
                      "the engine between nodes '%s' is libiris_nccl; expected "
                      "%s, whose absolute path IRIS_INTERNODE_LIBRARY names",
                      path.c_str(), kindName(kind));
  if (!library->isIris() && kind == DeviceKind::host)
    return makeStatus(StatusCode::failedPrecondition,
                      "the engine between nodes '%s' moves memory of GPUs, and "
                      "the ranks run on the host; unset IRIS_INTERNODE_LIBRARY",
                      path.c_str());
  if (!library->ncclSend || !library->ncclRecv || !library->ncclCommAbort ||
      !library->ncclCommDestroy || !library->ncclCommGetAsyncError)
    return makeStatus(StatusCode::unavailable,
                      "the engine between nodes '%s' cannot send; expected "
                      "%s of version 2.14 or newer",
                      path.c_str(), kindName(kind));
  std::shared_ptr<NcclEngine> engine(new NcclEngine(*library, world));
  int version = 0;
  IRISRT_RETURN_IF_ERROR(
      engine->check("ncclGetVersion", library->ncclGetVersion(&version)));
  engine->name_ = std::string(library->isIris() ? "Iris' NCCL" : kindName(kind))
                      .append(" " + versionText(version));
  return engine;
}

static StatusCode codeOf(ncclResult_t result) {
  switch (result) {
  case ncclInvalidArgument:
    return StatusCode::invalidArgument;
  case ncclInvalidUsage:
    return StatusCode::failedPrecondition;
  // A connection that has ended is a system error, too.
  case ncclSystemError:
  case ncclRemoteError:
    return StatusCode::aborted;
  case ncclUnhandledCudaError:
    return StatusCode::deviceError;
  default:
    return StatusCode::internal;
  }
}

Status NcclEngine::check(const char *what, ncclResult_t result) const {
  if (result == ncclSuccess || result == ncclInProgress)
    return Status::success();
  const char *text = library_.ncclGetLastError(nullptr);
  return makeStatus(codeOf(result), "%s: %s failed with error %d: %s",
                    name_.c_str(), what, static_cast<int>(result),
                    text && *text ? text : "NCCL_DEBUG=WARN tells more");
}

//===----------------------------------------------------------------------===//
// Begin and end
//===----------------------------------------------------------------------===//

/// The creation of communicators, by a thread: it waits for other ranks without
/// a limit, and may outlive the engine.
struct NcclEngine::Joining {
  std::mutex mutex;
  std::condition_variable changed;
  bool isStarted = false, isDone = false, isAbandoned = false;
  Comms comms{};
  Status current;
  ncclResult_t result = ncclSuccess;
  std::string error;
};

Expected<ncclUniqueId> NcclEngine::makeId() const {
  ncclUniqueId id{};
  IRISRT_RETURN_IF_ERROR(
      check("ncclGetUniqueId", library_.isIris()
                                   ? library_.irisNcclGetLocalUniqueId(&id)
                                   : library_.ncclGetUniqueId(&id)));
  return id;
}

/// Rank 0 makes the id of all ranks, and the first node those of the rails.
Expected<NcclEngine::Ids> NcclEngine::exchangeIds(Job &job) const {
  const std::vector<uint32_t> &first = job.ranksOf(0);
  Ids mine{};
  if (job.rank() == 0) {
    IRISRT_ASSIGN_OR_RETURN(mine[0], makeId());
  }
  if (job.node() == 0 && isOnRail_) {
    IRISRT_ASSIGN_OR_RETURN(mine[1], makeId());
  }
  IRISRT_ASSIGN_OR_RETURN(
      std::vector<std::string> texts,
      job.allGather(std::string(reinterpret_cast<const char *>(mine.data()),
                                sizeof(mine))));
  Ids ids{};
  auto take = [&](uint32_t from, size_t index) -> Status {
    if (texts[from].size() != sizeof(Ids))
      return makeStatus(StatusCode::internal,
                        "rank %u sent unique ids of %zu bytes; expected %zu",
                        from, texts[from].size(), sizeof(Ids));
    std::memcpy(&ids[index], texts[from].data() + index * sizeof(ncclUniqueId),
                sizeof(ncclUniqueId));
    return Status::success();
  };
  IRISRT_RETURN_IF_ERROR(take(0, 0));
  if (isOnRail_)
    IRISRT_RETURN_IF_ERROR(take(first[job.localRank()], 1));
  return ids;
}

Status NcclEngine::join(Job &job, const Ids &ids,
                        std::chrono::nanoseconds limit) {
  auto joining = std::make_shared<Joining>();
  auto create = [joining, &backend = WorldAccess::backend(world_),
                 library = library_, ids, isOnRail = isOnRail_,
                 rank = static_cast<int>(job.rank()),
                 node = static_cast<int>(job.node()),
                 numRanks = static_cast<int>(job.numRanks()),
                 numNodes = static_cast<int>(job.numNodes())] {
    std::unique_lock<std::mutex> lock(joining->mutex);
    joining->current = backend.useThread();
    joining->isStarted = true;
    joining->changed.notify_all();
    lock.unlock();
    // From here on, the engine and its world may end.
    Comms comms{};
    ncclResult_t result = ncclInternalError;
    if (joining->current.ok())
      result = library.ncclCommInitRank(&comms[0], numRanks, ids[0], rank);
    if (result == ncclSuccess && isOnRail)
      result = library.ncclCommInitRank(&comms[1], numNodes, ids[1], node);
    const char *text =
        result == ncclSuccess ? nullptr : library.ncclGetLastError(nullptr);
    lock.lock();
    joining->comms = comms;
    joining->result = result;
    joining->error = text ? text : "";
    joining->isDone = true;
    joining->changed.notify_all();
    for (ncclComm_t comm : comms)
      if (comm && joining->isAbandoned)
        (void)library.ncclCommAbort(comm);
  };
  IRISRT_ASSIGN_OR_RETURN(OsThread thread, OsThread::start(create));
  thread.detach();
  std::unique_lock<std::mutex> lock(joining->mutex);
  joining->changed.wait(lock, [&] { return joining->isStarted; });
  Deadline deadline(limit);
  Status status = joining->current;
  while (status.ok() && !joining->isDone) {
    joining->changed.wait_for(lock, joinCheck);
    status = job.failure();
    if (status.ok() && !joining->isDone && deadline.passed())
      status = makeStatus(StatusCode::timeout,
                          "%s: the ranks had not joined within %.3g s; "
                          "NCCL_DEBUG=INFO tells for whom it waits",
                          name_.c_str(),
                          std::chrono::duration<double>(limit).count());
  }
  joining->isAbandoned = !joining->isDone;
  if (joining->isDone)
    comms_ = joining->comms;
  if (status.ok() && joining->result != ncclSuccess)
    status = makeStatus(codeOf(joining->result),
                        "%s: ncclCommInitRank failed with error %d: %s",
                        name_.c_str(), static_cast<int>(joining->result),
                        joining->error.empty() ? "NCCL_DEBUG=WARN tells more"
                                               : joining->error.c_str());
  return status;
}

Status NcclEngine::connect(Job &job, std::chrono::nanoseconds limit) {
  size_t least = job.numRanks(), most = 0;
  for (uint32_t node = 0; node < job.numNodes(); ++node) {
    least = std::min(least, job.ranksOf(node).size());
    most = std::max(most, job.ranksOf(node).size());
  }
  isOnRail_ = most > 1 && job.localRank() < least;
  IRISRT_ASSIGN_OR_RETURN(Ids ids, exchangeIds(job));
  return join(job, ids, limit);
}

NcclEngine::~NcclEngine() {
  if (owner_.isHere())
    abortNow();
}

void NcclEngine::abortNow() {
  isAborted_ = true;
  std::unique_lock<std::timed_mutex> lock(mutex_, std::defer_lock);
  // A call that waits for a peer ends only by the abort.
  (void)lock.try_lock_for(callEndLimit);
  for (ncclComm_t comm : std::exchange(comms_, {}))
    if (comm)
      (void)library_.ncclCommAbort(comm);
}

void NcclEngine::abort(const std::shared_ptr<NcclEngine> &engine) {
  if (engine->isAborted_.exchange(true))
    return;
  Expected<OsThread> thread = OsThread::start([engine] { engine->abortNow(); });
  if (thread.ok())
    thread->detach();
  else
    engine->abortNow();
}

Status NcclEngine::close() {
  std::lock_guard<std::timed_mutex> lock(mutex_);
  Status status;
  Backend &backend = WorldAccess::backend(world_);
  Comms comms = std::exchange(comms_, {});
  for (auto each = comms.rbegin(); each != comms.rend(); ++each)
    if (*each && status.ok())
      status = backend.callOnDevice([&] {
        return check("ncclCommDestroy", library_.ncclCommDestroy(*each));
      });
  return status;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

Status NcclEngine::checkUsable() const {
  if (isAborted_)
    return makeStatus(StatusCode::aborted, "%s was aborted", name_.c_str());
  if (!comms_[0])
    return Status(StatusCode::failedPrecondition,
                  "the connections between nodes were ended");
  return Status::success();
}

Status NcclEngine::call(const char *what, Ranks ranks,
                        const Function &function) {
  std::lock_guard<std::timed_mutex> lock(mutex_);
  IRISRT_RETURN_IF_ERROR(checkUsable());
  const ncclComm_t comm =
      ranks == Ranks::rail && isOnRail_ ? comms_[1] : comms_[0];
  return WorldAccess::backend(world_).callOnDevice(
      [&] { return check(what, function(library_, comm)); });
}

Status NcclEngine::transfer(const Transfers &transfers, void *native) {
  auto start = [&](const NcclLibrary &library, ncclComm_t comm) {
    ncclResult_t result = library.ncclGroupStart();
    if (result != ncclSuccess)
      return result;
    const auto stream = static_cast<cudaStream_t>(native);
    for (const InterNode::Transfer &each : transfers) {
      const int peer = static_cast<int>(each.peer);
      result = each.isSend ? library.ncclSend(each.from, each.bytes, ncclInt8,
                                              peer, comm, stream)
                           : library.ncclRecv(each.to, each.bytes, ncclInt8,
                                              peer, comm, stream);
      if (result != ncclSuccess)
        break;
    }
    // Ends the group in any case.
    const ncclResult_t ended = library.ncclGroupEnd();
    return result == ncclSuccess ? ended : result;
  };
  return call("ncclGroupEnd", Ranks::all, start);
}

Status NcclEngine::poll() {
  std::unique_lock<std::timed_mutex> lock(mutex_, std::try_to_lock);
  // During a call of another thread, which returns its error.
  if (!lock.owns_lock())
    return Status::success();
  if (isAborted_)
    return checkUsable();
  for (ncclComm_t comm : comms_) {
    ncclResult_t error = ncclSuccess;
    if (comm)
      IRISRT_RETURN_IF_ERROR(
          check("ncclCommGetAsyncError",
                library_.ncclCommGetAsyncError(comm, &error)));
    IRISRT_RETURN_IF_ERROR(check("a transfer between nodes", error));
  }
  return Status::success();
}
