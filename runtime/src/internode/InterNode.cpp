// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InterNode.cpp - Messages between the nodes of a job ----------------===//
#include "iris/rt/InterNode.h"

#include "core/Deadline.h"
#include "core/DefaultLimits.h"
#include "core/ForkGuard.h"
#include "core/WorldAccess.h"
#include "internode/EngineLibrary.h"
#include "internode/EngineStream.h"
#include "internode/InterNodeAccess.h"

#include <map>
#include <mutex>
#include <sched.h>
#include <set>
#include <thread>

using namespace iris::rt;

/// Polls between two looks at the clock and at the job.
static constexpr uint32_t pollsPerCheck = 64;
/// Polls without a completion after which a poll sleeps.
static constexpr uint32_t pollsBeforeSleep = 20000;
static constexpr auto sleepBetweenPolls = std::chrono::microseconds(20);

namespace {
/// A transfer that was started.
struct Pending {
  uint64_t request = 0;
  uint32_t peer = 0;
};
} // namespace

struct InterNode::Impl {
  Impl(Job &job, World *world, const InterNodeOptions &options)
      : job(job), world(world), options(options) {}
  ~Impl();

  Status open();
  Status compareNames();
  Status openOnHost(const std::string &library);
  Status openOnStreams(const std::string &library);
  Status exchangeOnRail();
  Status waitFor(Stream stream);
  Status connectAll(const std::vector<std::string> &addresses);
  Status exchangeWithAll();
  Status check(const std::vector<Transfer> &transfers) const;
  Status start(const Transfer &transfer, uint64_t &request);
  Status runChecked(const std::vector<Transfer> &transfers);
  Status complete(std::vector<Pending> pending);
  void close();
  std::string name() const { return onStreams ? onStreams->name() : api->name; }

  const ProcessOwner owner;
  Job &job;
  World *const world; ///< null: the engine moves host memory
  const InterNodeOptions options;
  std::chrono::nanoseconds limit{};
  /// One of both.
  const IrisRtInterNodeApi *api = nullptr;
  std::shared_ptr<NcclEngine> onStreams;

  std::mutex mutex; ///< guards what follows
  IrisRtInterNodeEngine *engine = nullptr;
  /// Messages to, and from, each rank.
  std::map<uint32_t, uint32_t> numSent, numReceived;
};

namespace {
/// Receives the text of an engine's error.
struct EngineError {
  char text[256] = "";

  Status status(const IrisRtInterNodeApi *api, int32_t code) {
    if (code == IRISRT_OK)
      return Status::success();
    text[sizeof(text) - 1] = 0;
    return makeStatus(code > IRISRT_OK && code <= IRISRT_DEVICE_ERROR
                          ? static_cast<StatusCode>(code)
                          : StatusCode::internal,
                      "%s: %s", api->name, text);
  }
};
} // namespace

InterNode::InterNode(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
InterNode::~InterNode() = default;
std::string InterNode::name() const { return impl_->name(); }
bool InterNode::isOnStreams() const { return impl_->onStreams != nullptr; }

std::shared_ptr<NcclEngine> InterNodeAccess::onStreams(InterNode &engine) {
  return engine.impl_->onStreams;
}

std::chrono::nanoseconds InterNodeAccess::limitOf(InterNode &engine) {
  return engine.impl_->limit;
}

InterNode::Impl::~Impl() { close(); }

void InterNode::Impl::close() {
  std::lock_guard<std::mutex> lock(mutex);
  if (engine && owner.isHere())
    api->close(engine);
  engine = nullptr;
}

//===----------------------------------------------------------------------===//
// Connecting
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<InterNode>>
InterNode::connect(Job &job, const InterNodeOptions &options) {
  return connect(std::make_unique<Impl>(job, nullptr, options));
}

Expected<std::unique_ptr<InterNode>>
InterNode::connect(Job &job, World &world, const InterNodeOptions &options) {
  return connect(std::make_unique<Impl>(job, &world, options));
}

Expected<std::unique_ptr<InterNode>>
InterNode::connect(std::unique_ptr<Impl> impl) {
  Job &job = impl->job;
  IRISRT_RETURN_IF_ERROR(job.failure());
  Status status = impl->open();
  if (!status.ok()) {
    job.fail(status);
    return status;
  }
  return std::unique_ptr<InterNode>(new InterNode(std::move(impl)));
}

Status InterNode::Impl::open() {
  const Env &env = Env::get();
  limit = secondsOf(options.limit.value_or(
      env.collectiveLimitSeconds().value_or(defaultCollectiveSeconds)));
  const std::string &library =
      options.library.empty() ? env.interNodeLibrary() : options.library;
  // Only NCCL and RCCL reach the memory of GPUs.
  const bool isOnGpus = world && world->deviceKind() != DeviceKind::host;
  if (isOnGpus || (world && !library.empty() && NcclLibrary::isNccl(library)))
    return openOnStreams(library);
  return openOnHost(library);
}

Status InterNode::Impl::compareNames() {
  IRISRT_ASSIGN_OR_RETURN(std::vector<std::string> names,
                          job.allGather(name()));
  for (uint32_t rank = 1; rank < job.numRanks(); ++rank)
    if (names[rank] != names[0])
      return makeStatus(StatusCode::failedPrecondition,
                        "the engines between nodes differ: rank 0 has %s, rank "
                        "%u has %s; install the same on all machines",
                        names[0].c_str(), rank, names[rank].c_str());
  return Status::success();
}

Status InterNode::Impl::openOnHost(const std::string &library) {
  IRISRT_ASSIGN_OR_RETURN(api, openEngineLibrary(library));
  IRISRT_RETURN_IF_ERROR(compareNames());
  EngineError error;
  IRISRT_RETURN_IF_ERROR(error.status(
      api, api->open(job.rank(), &engine, error.text, sizeof(error.text))));
  const void *address = nullptr;
  size_t bytes = 0;
  IRISRT_RETURN_IF_ERROR(
      error.status(api, api->address(engine, &address, &bytes, error.text,
                                     sizeof(error.text))));
  IRISRT_ASSIGN_OR_RETURN(
      std::vector<std::string> addresses,
      job.allGather(std::string(static_cast<const char *>(address), bytes)));
  IRISRT_RETURN_IF_ERROR(connectAll(addresses));
  return exchangeWithAll();
}

Status InterNode::Impl::openOnStreams(const std::string &library) {
  IRISRT_ASSIGN_OR_RETURN(onStreams, NcclEngine::open(library, *world));
  IRISRT_RETURN_IF_ERROR(compareNames());
  if (job.numNodes() == 1)
    return Status::success();
  IRISRT_RETURN_IF_ERROR(onStreams->connect(job, limit));
  // Ends waits for a rank that does not exist any more.
  job.onFailure([weak = std::weak_ptr<NcclEngine>(onStreams)](const Status &) {
    if (std::shared_ptr<NcclEngine> engine = weak.lock())
      NcclEngine::abort(engine);
  });
  return exchangeOnRail();
}

/// One byte to and from every rank of this rail: the library connects at the
/// first message, and errors belong to connect().
Status InterNode::Impl::exchangeOnRail() {
  Backend &backend = WorldAccess::backend(*world);
  IRISRT_ASSIGN_OR_RETURN(uint64_t bytes, backend.allocate(2 * job.numNodes()));
  auto at = [&](uint32_t index) {
    return reinterpret_cast<void *>(bytes + index);
  };
  std::vector<Transfer> transfers;
  for (uint32_t node = 0; node < job.numNodes(); ++node) {
    const std::vector<uint32_t> &ranks = job.ranksOf(node);
    if (node == job.node() || job.localRank() >= ranks.size())
      continue;
    const uint32_t peer = ranks[job.localRank()];
    transfers.push_back(InterNode::send(peer, at(2 * node), 1));
    transfers.push_back(InterNode::recv(peer, at(2 * node + 1), 1));
  }
  EngineStream stream(*world);
  Status status = stream.open();
  Expected<void *> native =
      status.ok() ? nativeStreamOf(*world, stream.stream()) : status;
  status = native.ok() && !transfers.empty()
               ? onStreams->transfer(transfers, *native)
               : native.status();
  if (status.ok())
    status = waitFor(stream.stream());
  if (status.ok())
    status = stream.close();
  if (!status.ok()) {
    NcclEngine::abort(onStreams);
    return status;
  }
  IRISRT_RETURN_IF_ERROR(backend.free(bytes));
  return job.barrier();
}

/// Waits until the stream's transfers are complete, the limit has passed, or
/// the job has failed.
Status InterNode::Impl::waitFor(Stream stream) {
  Backend &backend = WorldAccess::backend(*world);
  Deadline deadline(limit);
  for (;;) {
    IRISRT_ASSIGN_OR_RETURN(
        bool isDone, backend.query(WorldAccess::handleOf(*world, stream)));
    if (isDone)
      return onStreams->poll();
    IRISRT_RETURN_IF_ERROR(job.failure());
    IRISRT_RETURN_IF_ERROR(onStreams->poll());
    if (deadline.passed())
      return makeStatus(StatusCode::timeout,
                        "%s: the first messages between nodes were not "
                        "complete within %.3g s",
                        name().c_str(),
                        std::chrono::duration<double>(limit).count());
    std::this_thread::sleep_for(sleepBetweenPolls);
  }
}

Status InterNode::Impl::connectAll(const std::vector<std::string> &addresses) {
  EngineError error;
  for (uint32_t rank = 0; rank < job.numRanks(); ++rank) {
    if (job.nodeOf(rank) == job.node())
      continue;
    if (addresses[rank].empty() ||
        addresses[rank].size() > IRISRT_INTERNODE_MAX_ADDRESS)
      return makeStatus(StatusCode::internal,
                        "rank %u has an address of %zu bytes", rank,
                        addresses[rank].size());
    IRISRT_RETURN_IF_ERROR(
        error.status(api, api->connect(engine, rank, addresses[rank].data(),
                                       addresses[rank].size(), error.text,
                                       sizeof(error.text))));
  }
  return Status::success();
}

/// One byte to and from every peer: an engine may connect at the first message,
/// and errors belong to connect().
Status InterNode::Impl::exchangeWithAll() {
  std::vector<uint8_t> bytes(2 * job.numRanks());
  std::vector<Transfer> transfers;
  for (uint32_t rank = 0; rank < job.numRanks(); ++rank) {
    if (job.nodeOf(rank) == job.node())
      continue;
    transfers.push_back(InterNode::send(rank, &bytes[2 * rank], 1));
    transfers.push_back(InterNode::recv(rank, &bytes[2 * rank + 1], 1));
  }
  IRISRT_RETURN_IF_ERROR(runChecked(transfers));
  return job.barrier();
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

InterNode::Transfer InterNode::send(uint32_t peer, const void *from,
                                    uint64_t bytes) {
  Transfer transfer;
  transfer.isSend = true;
  transfer.peer = peer;
  transfer.from = from;
  transfer.bytes = bytes;
  return transfer;
}

InterNode::Transfer InterNode::recv(uint32_t peer, void *to, uint64_t bytes) {
  Transfer transfer;
  transfer.peer = peer;
  transfer.to = to;
  transfer.bytes = bytes;
  return transfer;
}

Status InterNode::Impl::check(const std::vector<Transfer> &transfers) const {
  for (const Transfer &transfer : transfers) {
    if (transfer.peer >= job.numRanks() ||
        job.nodeOf(transfer.peer) == job.node())
      return makeStatus(StatusCode::invalidArgument,
                        "a transfer with rank %u; expected a rank of another "
                        "node than %u",
                        transfer.peer, job.node());
    const void *memory = transfer.isSend ? transfer.from : transfer.to;
    if (transfer.bytes != 0 && !memory)
      return makeStatus(StatusCode::invalidArgument,
                        "a transfer of %llu bytes without memory",
                        static_cast<unsigned long long>(transfer.bytes));
  }
  return Status::success();
}

Status InterNode::Impl::start(const Transfer &transfer, uint64_t &request) {
  EngineError error;
  if (transfer.isSend)
    return error.status(api, api->send(engine, transfer.peer,
                                       numSent[transfer.peer]++, transfer.from,
                                       transfer.bytes, &request, error.text,
                                       sizeof(error.text)));
  return error.status(api, api->recv(engine, transfer.peer,
                                     numReceived[transfer.peer]++, transfer.to,
                                     transfer.bytes, &request, error.text,
                                     sizeof(error.text)));
}

/// "rank 3", or "ranks 0, 3".
static std::string listPeers(const std::vector<Pending> &pending) {
  std::set<uint32_t> peers;
  for (const Pending &each : pending)
    peers.insert(each.peer);
  std::string text = peers.size() == 1 ? "rank" : "ranks";
  const char *separator = " ";
  for (uint32_t peer : peers) {
    text += separator + std::to_string(peer);
    separator = ", ";
  }
  return text;
}

/// Waits until all transfers are complete, the limit has passed, or the job has
/// failed.
Status InterNode::Impl::complete(std::vector<Pending> pending) {
  Deadline deadline(limit);
  EngineError error;
  uint32_t idle = 0;
  for (uint32_t polls = 0; !pending.empty(); ++polls, ++idle) {
    api->progress(engine);
    for (size_t i = pending.size(); i-- > 0;) {
      int32_t isComplete = 0;
      IRISRT_RETURN_IF_ERROR(
          error.status(api, api->test(engine, pending[i].request, &isComplete,
                                      error.text, sizeof(error.text))));
      if (isComplete == 0)
        continue;
      pending.erase(pending.begin() + static_cast<ptrdiff_t>(i));
      idle = 0;
    }
    if (polls % pollsPerCheck == pollsPerCheck - 1) {
      IRISRT_RETURN_IF_ERROR(job.failure());
      if (deadline.passed())
        return makeStatus(
            StatusCode::timeout,
            "%zu transfers with %s between nodes were not complete within "
            "%.3g s",
            pending.size(), listPeers(pending).c_str(),
            std::chrono::duration<double>(limit).count());
      ::sched_yield();
    }
    if (idle > pollsBeforeSleep)
      std::this_thread::sleep_for(sleepBetweenPolls);
  }
  return Status::success();
}

Status InterNode::Impl::runChecked(const std::vector<Transfer> &transfers) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!engine)
    return Status(StatusCode::failedPrecondition,
                  "the connections between nodes were ended");
  std::vector<Pending> pending;
  Status status;
  for (const Transfer &transfer : transfers) {
    Pending started = {0, transfer.peer};
    status = start(transfer, started.request);
    if (!status.ok())
      break;
    pending.push_back(started);
  }
  if (status.ok())
    status = complete(std::move(pending));
  if (status.ok())
    return status;
  // The engine must not use the memory after this call.
  api->close(engine);
  engine = nullptr;
  // The end of a peer is the job's failure, which names it, in a moment.
  if (status.code() == StatusCode::aborted) {
    Deadline deadline(std::chrono::seconds(1));
    while (job.failure().ok() && !deadline.passed())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  job.fail(status);
  return job.failure();
}

Status InterNode::run(const std::vector<Transfer> &transfers) {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  IRISRT_RETURN_IF_ERROR(impl_->job.failure());
  if (isOnStreams())
    return makeStatus(StatusCode::failedPrecondition,
                      "transfers of %s are enqueued on streams; expected "
                      "InterNode::enqueue",
                      name().c_str());
  IRISRT_RETURN_IF_ERROR(impl_->check(transfers));
  return impl_->runChecked(transfers);
}

Status InterNode::enqueue(const std::vector<Transfer> &transfers,
                          Stream stream) {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  IRISRT_RETURN_IF_ERROR(impl_->job.failure());
  if (!isOnStreams())
    return makeStatus(StatusCode::failedPrecondition,
                      "transfers of %s are not enqueued on streams; expected "
                      "InterNode::run",
                      name().c_str());
  IRISRT_RETURN_IF_ERROR(impl_->check(transfers));
  IRISRT_ASSIGN_OR_RETURN(void *native, nativeStreamOf(*impl_->world, stream));
  return transfers.empty() ? Status::success()
                           : impl_->onStreams->transfer(transfers, native);
}

Status InterNode::destroy() {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  Status status = impl_->job.barrier();
  if (impl_->onStreams) {
    impl_->job.onFailure(nullptr);
    if (status.ok())
      status = impl_->onStreams->close();
    else
      NcclEngine::abort(impl_->onStreams);
  }
  impl_->close();
  return status;
}
