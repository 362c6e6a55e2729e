// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InterNode.cpp - Messages between the nodes of a job ----------------===//
#include "iris/rt/InterNode.h"

#include "core/Deadline.h"
#include "core/DefaultLimits.h"
#include "core/ForkGuard.h"
#include "internode/EngineLibrary.h"

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
  Impl(Job &job, const InterNodeOptions &options)
      : job(job), options(options) {}
  ~Impl();

  Status open();
  Status connectAll(const std::vector<std::string> &addresses);
  Status exchangeWithAll();
  Status check(const Transfer &transfer) const;
  Status start(const Transfer &transfer, uint64_t &request);
  Status runChecked(const std::vector<Transfer> &transfers);
  Status complete(std::vector<Pending> pending);
  void close();

  const ProcessOwner owner;
  Job &job;
  const InterNodeOptions options;
  std::chrono::nanoseconds limit{};
  const IrisRtInterNodeApi *api = nullptr;

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
    return makeStatus(code > IRISRT_OK && code <= IRISRT_INTERNAL
                          ? static_cast<StatusCode>(code)
                          : StatusCode::internal,
                      "%s: %s", api->name, text);
  }
};
} // namespace

InterNode::InterNode(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
InterNode::~InterNode() = default;
std::string InterNode::name() const { return impl_->api->name; }

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
  IRISRT_RETURN_IF_ERROR(job.failure());
  auto impl = std::make_unique<Impl>(job, options);
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
  IRISRT_ASSIGN_OR_RETURN(api, openEngineLibrary(options.library.empty()
                                                     ? env.interNodeLibrary()
                                                     : options.library));
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

Status InterNode::Impl::check(const Transfer &transfer) const {
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
  for (const Transfer &transfer : transfers)
    IRISRT_RETURN_IF_ERROR(impl_->check(transfer));
  return impl_->runChecked(transfers);
}

Status InterNode::destroy() {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  Status status = impl_->job.barrier();
  impl_->close();
  return status;
}
