// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobCommunicator.cpp - Collectives between nodes --------------------===//
#include "ccl/JobCommunicatorImpl.h"

#include "ccl/CombineKernel.h"
#include "ccl/NodeRanks.h"
#include "core/Deadline.h"
#include "core/Log.h"

#include <algorithm>
#include <cinttypes>
#include <thread>

using namespace iris::ccl;
using namespace iris::rt;

static constexpr uint64_t leastStagingBytes = 64 << 10;
static constexpr uint64_t stagingUnit = 256;
static constexpr uint64_t maxPrograms = 64;
/// Bytes that the pieces of long slices are a multiple of: kernels have wide
/// accesses to aligned buffers only.
static constexpr uint64_t sliceAlignment = 4096;
/// How long the failure of a node's world waits for that of the job, which
/// names the rank by its number in the job.
static constexpr auto jobFailureLimit = std::chrono::seconds(1);

JobCommunicator::JobCommunicator(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}

JobCommunicator::~JobCommunicator() {
  impl_->close().ignore("a destructor cannot return an error");
}

//===----------------------------------------------------------------------===//
// Creation and end
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<JobCommunicator>>
JobCommunicator::create(Job &job, World &world, Communicator &node,
                        InterNode &engine,
                        const JobCommunicatorOptions &options) {
  IRISRT_RETURN_IF_ERROR(job.failure());
  auto impl = std::make_unique<Impl>(job, world, node, engine, options);
  Status status = impl->open();
  std::unique_ptr<JobCommunicator> comm(new JobCommunicator(std::move(impl)));
  if (!status.ok()) {
    job.fail(status);
    return status;
  }
  return comm;
}

Status JobCommunicator::Impl::checkArguments() const {
  if (world.deviceKind() != DeviceKind::host && !onStreams)
    return makeStatus(
        StatusCode::failedPrecondition,
        "%s moves memory of the host between nodes; the ranks run "
        "on device '%s'; pass the world to InterNode::connect",
        engine.name().c_str(), deviceName(world.device()).c_str());
  if (world.numRanks() != map.sizeOf(myNode) || world.rank() != myLocal)
    return makeStatus(StatusCode::invalidArgument,
                      "the world has rank %u of %u; expected rank %u of %u, "
                      "those of this node (Job::nodeLaunch)",
                      world.rank(), world.numRanks(), myLocal,
                      map.sizeOf(myNode));
  if (node.size() != world.numRanks() ||
      node.index() != static_cast<int32_t>(myLocal))
    return makeStatus(StatusCode::invalidArgument,
                      "the communicator of the node has rank %d of %u; "
                      "expected all ranks of the world, in their order",
                      node.index(), node.size());
  if (options.stagingBytes < leastStagingBytes ||
      options.stagingBytes % stagingUnit != 0)
    return makeStatus(StatusCode::invalidArgument,
                      "a staging buffer of %" PRIu64 " bytes; expected a "
                      "multiple of %" PRIu64 ", at least %" PRIu64,
                      options.stagingBytes, stagingUnit, leastStagingBytes);
  const InterNodeModel given = options.model.value_or(InterNodeModel());
  for (double value : {given.latencyUs, given.bandwidthGBs,
                       given.nodeBandwidthGBs, given.sliceUs})
    if (!(value > 0))
      return makeStatus(StatusCode::invalidArgument,
                        "a parameter of the model between nodes is %g; "
                        "expected more than 0",
                        value);
  return Status::success();
}

/// Fails on every rank unless all of them pass the same text.
Status JobCommunicator::Impl::same(const char *what, const std::string &mine) {
  IRISRT_ASSIGN_OR_RETURN(std::vector<std::string> texts, job.allGather(mine));
  for (uint32_t rank = 1; rank < map.numRanks(); ++rank)
    if (texts[rank] != texts[0])
      return makeStatus(StatusCode::failedPrecondition,
                        "%s differ: rank 0 has %s, rank %u has %s", what,
                        texts[0].c_str(), rank, texts[rank].c_str());
  return Status::success();
}

/// The slices follow from the options.
Status JobCommunicator::Impl::compareOptions() {
  std::string text =
      formatString("staging of %" PRIu64 " bytes, ", options.stagingBytes);
  if (!options.model)
    return same("the options of ranks", text + "a model to be measured");
  const InterNodeModel &given = *options.model;
  text +=
      formatString("%g us, %g GB/s, %g GB/s in the node, %g us for a slice "
                   "of at least %" PRIu64 " bytes",
                   given.latencyUs, given.bandwidthGBs, given.nodeBandwidthGBs,
                   given.sliceUs, given.minSliceBytes);
  return same("the options of ranks", text);
}

Status JobCommunicator::Impl::open() {
  IRISRT_RETURN_IF_ERROR(checkArguments());
  IRISRT_RETURN_IF_ERROR(compareOptions());
  IRISRT_ASSIGN_OR_RETURN(staging,
                          world.allocate(options.stagingBytes + stagingUnit));
  IRISRT_RETURN_IF_ERROR(transfers.open());
  IRISRT_ASSIGN_OR_RETURN(forked, world.createEvent(/*isTimed=*/false));
  for (Event &event : joined) {
    IRISRT_ASSIGN_OR_RETURN(event, world.createEvent(/*isTimed=*/false));
  }
  watched = std::make_shared<Watched>();
  watched->world = &world;
  job.onFailure([watched = watched, weak = std::weak_ptr<NcclEngine>(
                                        onStreams)](const Status &status) {
    if (std::shared_ptr<NcclEngine> aborted = weak.lock())
      NcclEngine::abort(aborted);
    std::lock_guard<std::mutex> lock(watched->mutex);
    if (watched->world)
      watched->world->fail(status);
  });
  if (onStreams && map.numNodes() > 1) {
    IRISRT_ASSIGN_OR_RETURN(watcher,
                            OsThread::start([this] { watchEngine(); }));
  }
  if (options.model) {
    model = *options.model;
    return Status::success();
  }
  IRISRT_ASSIGN_OR_RETURN(model, measureModel());
  return Status::success();
}

Status JobCommunicator::Impl::close() {
  Status status;
  auto keep = [&status](Status next) {
    if (status.ok())
      status = std::move(next);
  };
  endWatch();
  if (transfers.isOpen()) {
    // Pending transfers use this object. After a failure they end by
    // themselves.
    keep(poll());
    if (status.ok())
      keep(world.synchronize(transfers.stream()));
    if (!status.ok())
      fail(status);
    keep(transfers.close());
  }
  if (watched) {
    job.onFailure(nullptr);
    std::lock_guard<std::mutex> lock(watched->mutex);
    watched->world = nullptr;
  }
  watched.reset();
  for (Event *event : {&forked, &joined[0], &joined[1]})
    if (event->id != 0)
      keep(world.destroyEvent(std::exchange(*event, {})));
  if (staging != 0 && world.failure().ok())
    keep(world.deallocate(std::exchange(staging, 0)));
  return status;
}

Status JobCommunicator::destroy() { return impl_->close(); }

//===----------------------------------------------------------------------===//
// Failure
//===----------------------------------------------------------------------===//

const InterNodeModel &JobCommunicator::model() const { return impl_->model; }
Status JobCommunicator::poll() { return impl_->poll(); }
void JobCommunicator::fail(const Status &status) { impl_->fail(status); }

void JobCommunicator::Impl::fail(const Status &status) {
  world.fail(status);
  job.fail(status);
  if (onStreams)
    NcclEngine::abort(onStreams);
}

Status JobCommunicator::Impl::poll() {
  Status status = job.failure();
  if (!status.ok()) {
    world.fail(status);
    return status;
  }
  status = world.poll();
  if (status.ok() && onStreams)
    status = pollEngine();
  if (status.ok())
    return status;
  world.fail(status);
  if (status.code() == StatusCode::aborted) {
    Deadline deadline(jobFailureLimit);
    while (job.failure().ok() && !deadline.passed())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // That of a call names ranks by their numbers in the node.
  if (job.failure().ok())
    job.fail(status.code() == StatusCode::invalidArgument
                 ? namedInNode(job, status)
                 : status);
  if (onStreams)
    NcclEngine::abort(onStreams);
  return job.failure();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

bool JobCommunicator::serves(Op op) {
  const plan::Collective *row = findCollective(op);
  return row && !row->isPointToPoint();
}

Status JobCommunicator::run(const Call &call) { return impl_->run(call); }

bool JobCommunicator::Impl::comparesCalls() const {
  return options.checkCalls.value_or(Env::get().checkCollectives());
}

/// Debug check: the ranks compare their calls.
Status JobCommunicator::Impl::compareCalls(const Call &call,
                                           const CheckedCall &checked) {
  std::string text = std::string(opName(call.op)) + ", " +
                     std::string(dtypeName(call.dtype)) + " x " +
                     std::to_string(call.count);
  if (reduces(call.op))
    text += ", " + std::string(reduceOpName(call.reduce));
  if (hasRoot(call.op))
    text += ", root " + std::to_string(call.root);
  else if (checked.inPlace)
    text += ", in place";
  return same("the ranks' calls", text);
}

Status JobCommunicator::Impl::start(const Call &call,
                                    const CheckedCall &checked) {
  if (comparesCalls())
    IRISRT_RETURN_IF_ERROR(compareCalls(call, checked));
  const bool isWhole = isEngineCall(call, checked);
  if (reduces(call.op) && !isWhole &&
      !(call.op == Op::allReduce && engineReduces(call)))
    IRISRT_RETURN_IF_ERROR(loadCombine(call));
  const Enqueuing enqueuing(*this, {call.stream});
  if (isWhole)
    return runOnEngine(call.stream, [&](void *native) {
      return enqueueEngineCall(call, native);
    });
  switch (call.op) {
  case Op::allReduce:
    return allReduce(call);
  case Op::reduceScatter:
    return reduceScatter(call);
  case Op::allGather:
    return allGather(call);
  case Op::broadcast:
    return broadcast(call);
  case Op::reduce:
    return reduce(call);
  case Op::gather:
    return gather(call);
  case Op::scatter:
    return scatter(call);
  default:
    return allToAll(call);
  }
}

Status JobCommunicator::Impl::checkUsable() {
  if (!watched)
    return Status(StatusCode::failedPrecondition,
                  "the communicator between nodes was destroyed");
  return poll();
}

/// A barrier is an all-reduce of one word, which no rank ends before all have
/// begun.
Call JobCommunicator::Impl::barrierOf(const Call &call) const {
  Call word;
  word.op = Op::allReduce;
  word.in = word.out = reinterpret_cast<void *>(staging + options.stagingBytes);
  word.count = 1;
  word.dtype = DType::i32;
  word.reduce = ReduceOp::max;
  word.stream = call.stream;
  word.maxPrograms = call.maxPrograms;
  return word;
}

Status JobCommunicator::Impl::run(const Call &call) {
  IRISRT_RETURN_IF_ERROR(checkUsable());
  if (!serves(call.op))
    return makeStatus(StatusCode::failedPrecondition,
                      "%s between nodes is not a collective; expected "
                      "JobCommunicator::transfer",
                      std::string(opName(call.op)).c_str());
  if (call.config)
    return makeStatus(StatusCode::invalidArgument,
                      "%s between nodes has a config; expected none",
                      std::string(opName(call.op)).c_str());
  IRISRT_ASSIGN_OR_RETURN(CheckedCall checked,
                          checkCall(call, map.numRanks(), me));
  if (map.numNodes() == 1)
    return node.run(call);
  if (call.op == Op::barrier)
    return run(barrierOf(call));
  if (getCollective(call.op).hasCounts())
    return runCounted(call);
  if (call.count == 0 && !comparesCalls())
    return Status::success();
  Status status = start(call, checked);
  // A part of the work may be enqueued, for which peers wait. A capture that
  // fails runs nothing.
  if (!status.ok() && !world.isCaptured(call.stream))
    fail(status);
  return status;
}

int64_t JobCommunicator::Impl::maxNodePrograms() const {
  return onStreams ? world.deviceAttributes().processors / 2 : 0;
}

Status JobCommunicator::Impl::inNode(const Call &call, Op op, uint64_t in,
                                     uint64_t out, uint64_t count,
                                     uint32_t root, const Config *config) {
  Call inner;
  inner.config = config;
  inner.op = op;
  inner.in = reinterpret_cast<const void *>(in);
  inner.out = reinterpret_cast<void *>(out);
  inner.count = count;
  inner.dtype = call.dtype;
  // The last sum is divided, between the nodes.
  inner.reduce = call.reduce == ReduceOp::avg ? ReduceOp::sum : call.reduce;
  inner.root = root;
  inner.stream = call.stream;
  inner.maxPrograms = smallerLimit(call.maxPrograms, maxNodePrograms());
  return node.run(inner);
}

Status JobCommunicator::Impl::copy(const Call &call, uint64_t to, uint64_t from,
                                   uint64_t bytes) {
  return bytes == 0 ? Status::success()
                    : world.copyOnDevice(to, from, bytes, call.stream);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

Slices JobCommunicator::Impl::slicesOf(const Call &call, uint64_t most,
                                       uint64_t unit) const {
  const uint64_t count = call.count, width = dtypeBytes(call.dtype);
  const uint64_t bytes = (reduces(call.op) ? fixedModel() : model)
                             .sliceBytes(count * width, most * width);
  const uint64_t slice = std::min(bytes / width, most);
  const uint64_t aligned = unit * (sliceAlignment / width);
  const uint64_t step = slice >= aligned ? aligned : unit;
  return {count, std::max(slice - slice % step, unit)};
}

Status JobCommunicator::Impl::runSlices(const Slices &slices, Stream stream,
                                        const Steps &steps) {
  auto run = [](const Steps::Step &step, uint64_t slice) {
    return step ? step(slice) : Status::success();
  };
  auto end = [&](uint64_t slice) -> Status {
    IRISRT_RETURN_IF_ERROR(world.waitFor(joined[slice % 2], stream));
    return run(steps.after, slice);
  };
  const uint64_t numSlices = slices.number();
  for (uint64_t slice = 0; slice < numSlices; ++slice) {
    IRISRT_RETURN_IF_ERROR(run(steps.before, slice));
    IRISRT_RETURN_IF_ERROR(world.record(forked, stream));
    IRISRT_RETURN_IF_ERROR(world.waitFor(forked, transfers.stream()));
    IRISRT_RETURN_IF_ERROR(run(steps.transfer, slice));
    IRISRT_RETURN_IF_ERROR(world.record(joined[slice % 2], transfers.stream()));
    IRISRT_RETURN_IF_ERROR(run(steps.beside, slice));
    if (slice > 0)
      IRISRT_RETURN_IF_ERROR(end(slice - 1));
  }
  return numSlices == 0 ? Status::success() : end(numSlices - 1);
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

void JobCommunicator::Impl::addSend(Transfers &list, uint32_t peer,
                                    uint64_t from, uint64_t bytes) {
  if (bytes != 0)
    list.push_back(
        InterNode::send(peer, reinterpret_cast<const void *>(from), bytes));
}

void JobCommunicator::Impl::addRecv(Transfers &list, uint32_t peer, uint64_t to,
                                    uint64_t bytes) {
  if (bytes != 0)
    list.push_back(InterNode::recv(peer, reinterpret_cast<void *>(to), bytes));
}

Status JobCommunicator::Impl::transfer(std::vector<Transfers> lists) {
  if (onStreams) {
    for (const Transfers &list : lists)
      if (!list.empty())
        IRISRT_RETURN_IF_ERROR(engine.enqueue(list, transfers.stream()));
    return Status::success();
  }
  return world.callOnHost([this, lists = std::move(lists)] { exchange(lists); },
                          transfers.stream());
}

void JobCommunicator::Impl::exchange(const std::vector<Transfers> &lists) {
  for (const Transfers &list : lists) {
    if (list.empty())
      continue;
    Status status = poll();
    if (status.ok())
      status = engine.run(list);
    if (status.ok())
      continue;
    fail(status);
    return;
  }
}

//===----------------------------------------------------------------------===//
// Combination
//===----------------------------------------------------------------------===//

Status JobCommunicator::Impl::loadCombine(const Call &call) {
  const CombineKernel combine = CombineKernel::of(call.dtype, call.reduce);
  if (kernels.count(combine.name) != 0)
    return Status::success();
  if (!world.canLoad())
    return Status(StatusCode::failedPrecondition,
                  "the kernel that combines the nodes' results is not loaded, "
                  "and this driver cannot load it while a stream is captured; "
                  "run the call once before");
  KernelRequest request;
  request.source = combine.source;
  request.name = combine.name;
  request.target = world.target();
  request.translation = world.translation();
  KernelCache &cache = options.cache ? *options.cache : *KernelCache::shared();
  IRISRT_ASSIGN_OR_RETURN(CompiledKernel compiled, cache.find(request));
  IRISRT_ASSIGN_OR_RETURN(Module module, world.load(compiled.package));
  IRISRT_ASSIGN_OR_RETURN(Kernel kernel, module.kernel(combine.name));
  Log(me, map.numRanks())
      .info("%s comes from %s", combine.name.c_str(),
            originName(compiled.origin));
  kernels[combine.name] = kernel;
  return Status::success();
}

Status JobCommunicator::Impl::combine(const Call &call, uint64_t in,
                                      uint64_t out, uint64_t count) {
  if (count == 0)
    return Status::success();
  const CombineKernel combine = CombineKernel::of(call.dtype, call.reduce);
  const uint64_t programs = std::min(
      maxPrograms, (count + CombineKernel::tile - 1) / CombineKernel::tile);
  const auto size = static_cast<int64_t>(count);
  return world.launch(
      kernels.at(combine.name), {programs, 1, 1},
      {makeContextArg(),
       makeMemrefArg(combine.element, in, {size * map.numNodes()}, false),
       makeMemrefArg(combine.element, out, {size}, false),
       makeScalarArg(IRISRT_ELT_INDEX, map.numNodes()),
       makeScalarArg(IRISRT_ELT_INDEX, map.numRanks())},
      transfers.stream());
}
