// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Matmul.cpp - Fused matmuls and their calls -------------------------===//
#include "iris/ccl/Matmul.h"

#include "ccl/Agreement.h"
#include "ccl/CopyEngine.h"
#include "ccl/MatmulPlan.h"
#include "ccl/MatmulUnfused.h"
#include "ccl/Spec.h"
#include "iris/ccl/Communicator.h"
#include "iris/rt/Env.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <optional>
#include <vector>

using namespace iris::ccl;
using namespace iris::rt;

struct Matmul::Impl {
  Impl(World &world, const MatmulProblem &problem,
       std::shared_ptr<KernelCache> cache, uint32_t channel)
      : world(world), problem(problem),
        cache(cache ? std::move(cache) : KernelCache::shared()),
        channel(channel) {}

  MatmulTuningKey tuningKey() const;
  Agreement agreement() { return {world, group, channel}; }
  Status choose();
  Status load();
  Expected<uint64_t> loadAlone();
  Status prepareCommunication();
  Status allocate();
  Status free();
  Status launch(uint64_t a, uint64_t b, uint64_t c, uint64_t bias, float scale,
                Stream stream);
  Status communicate(const void *in, void *out, Stream stream);
  Status runUnfused(uint64_t a, uint64_t b, uint64_t c, uint64_t bias,
                    float scale, Stream stream);
  Status runCopied(uint64_t a, uint64_t b, uint64_t c, uint64_t bias,
                   float scale, Stream stream);
  Status checkMatrix(const char *name, const void *matrix, uint64_t bytes,
                     uint32_t alignment) const;

  World &world;
  /// The problem with its complete config, and why that config was selected.
  MatmulProblem problem;
  std::string reason;
  const std::shared_ptr<KernelCache> cache;
  /// For exchanges with the other ranks.
  const uint32_t channel;
  Group group;
  /// The sizes of the matrices that a call takes.
  MatmulPlan matrices;
  /// The kernel's problem: all of `problem` if it is fused, else its local
  /// matmul.
  MatmulProblem kernelProblem;
  MatmulPlan plan;
  Kernel kernel;
  uint64_t programs = 1;
  uint64_t staging = 0, workspace = 0;
  /// If unfused: the collective, and the buffer between it and the kernel.
  std::optional<UnfusedPlan> unfused;
  std::unique_ptr<Communicator> communicator;
  uint64_t intermediate = 0;
  /// If the variant is copy_engine.
  std::unique_ptr<CopyEngine> copies;
  bool isDestroyed = false;
};

//===----------------------------------------------------------------------===//
// Construction and destruction
//===----------------------------------------------------------------------===//

Matmul::Matmul(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Matmul::~Matmul() = default;

Expected<std::unique_ptr<Matmul>>
Matmul::create(World &world, const MatmulProblem &problem,
               std::shared_ptr<KernelCache> cache) {
  // Take the channel before any check, so that a rank with an invalid problem
  // numbers later channels as its peers do.
  const uint32_t channel = world.makeChannel();
  auto impl = std::make_unique<Impl>(world, problem, std::move(cache), channel);
  Status status = impl->load();
  if (status.ok())
    status = impl->prepareCommunication();
  if (status.ok())
    status = impl->allocate();
  if (!status.ok()) {
    // All ranks get here: the checks above fail on all ranks or on none.
    impl->free().ignore("the first error is reported");
    return status.withContext(kindName(problem.kind));
  }
  return std::unique_ptr<Matmul>(new Matmul(std::move(impl)));
}

/// Gets the kernel and loads it. Returns the maximum number of programs of a
/// launch.
Expected<uint64_t> Matmul::Impl::loadAlone() {
  KernelRequest request;
  request.source = kernelSource(kernelProblem, world.numRanks());
  request.target = world.target();
  request.translation = world.translation();
  request.matches = [this](const KernelInfo &kernel) {
    return isKernelOf(kernel, kernelProblem, world.numRanks());
  };
  IRISRT_ASSIGN_OR_RETURN(CompiledKernel compiled, cache->find(request));
  IRISRT_ASSIGN_OR_RETURN(Module module, world.load(compiled.package));
  IRISRT_ASSIGN_OR_RETURN(kernel, module.kernel(compiled.name));
  size_t expected = 4 + (kernelProblem.bias != Bias::none) +
                    kernelProblem.hasScale + (plan.stagingBytes != 0) +
                    (plan.workspaceBytes != 0);
  if (kernel.info().args.size() != expected)
    return makeStatus(
        StatusCode::internal, "the kernel from %s is another one: %s",
        originName(compiled.origin), kernel.info().signature().c_str());
  uint64_t most = kernel.info().maxPrograms.value_or(1);
  if (!kernel.info().coresident)
    return most;
  IRISRT_ASSIGN_OR_RETURN(uint32_t fit, world.maxCoresident(kernel));
  return std::min<uint64_t>(most, fit);
}

MatmulTuningKey Matmul::Impl::tuningKey() const {
  MatmulTuningKey tuningKey;
  tuningKey.problem = problem;
  tuningKey.groupSize = world.numRanks();
  tuningKey.device = world.deviceKind();
  tuningKey.target = world.target();
  tuningKey.attributes = &world.deviceAttributes();
  constexpr uint64_t usualQueues = 8;
  tuningKey.hasFewQueues =
      world.deviceKind() == DeviceKind::cuda &&
      Env::get().deviceQueues().value_or(usualQueues) < usualQueues;
  return tuningKey;
}

/// Completes the config and plans the buffers.
Status Matmul::Impl::choose() {
  IRISRT_ASSIGN_OR_RETURN(MatmulChoice choice, select(tuningKey()));
  problem.config = choice.config;
  reason = choice.reason;
  IRISRT_ASSIGN_OR_RETURN(matrices, makePlan(problem, world.numRanks()));
  kernelProblem = problem;
  if (isUnfused(problem.kind, problem.config.variant)) {
    IRISRT_ASSIGN_OR_RETURN(unfused, planUnfused(problem, tuningKey()));
    kernelProblem = unfused->matmul;
    reason += "; " + std::string(opName(unfused->op)) + " " +
              describe(unfused->collective);
  }
  IRISRT_ASSIGN_OR_RETURN(plan, makePlan(kernelProblem, world.numRanks()));
  return Status::success();
}

/// Loads the same kernel on all ranks, or fails on all of them.
Status Matmul::Impl::load() {
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 0; rank < world.numRanks(); ++rank)
    ranks.push_back(rank);
  Expected<Group> all = world.makeGroup(ranks);
  if (all.ok())
    group = all.take();
  else
    return all.status();
  Agreement agreement = this->agreement();
  IRISRT_RETURN_IF_ERROR(agreement.succeeded(choose()));
  std::string requested = describeRequest(problem, world.numRanks()) +
                          ", m = " + std::to_string(problem.m) +
                          ", n = " + std::to_string(problem.n) +
                          ", k = " + std::to_string(problem.k);
  IRISRT_RETURN_IF_ERROR(agreement.same("a matmul", requested));
  // One rank compiles; its peers then find the package on disk.
  Expected<uint64_t> most = uint64_t(1);
  if (group.index == 0)
    most = loadAlone();
  IRISRT_RETURN_IF_ERROR(agreement.succeeded(most.status()));
  if (group.index != 0)
    most = loadAlone();
  IRISRT_ASSIGN_OR_RETURN(programs, agreement.least(most));
  return agreement.same("a kernel", kernel.info().config);
}

/// Creates the collective or the copies, so that calls can be captured.
Status Matmul::Impl::prepareCommunication() {
  if (plan.form.isCopied()) {
    IRISRT_ASSIGN_OR_RETURN(
        copies, CopyEngine::create(world, cache, problem, agreement()));
    return Status::success();
  }
  if (!unfused)
    return Status::success();
  CommunicatorOptions options;
  options.cache = cache;
  IRISRT_ASSIGN_OR_RETURN(communicator, Communicator::create(world, options));
  // The kernels of the all-gather, which runs in place, support that.
  return communicator->prepare(unfused->op, unfused->dtype, ReduceOp::sum,
                               &unfused->collective);
}

Status Matmul::Impl::allocate() {
  Status status;
  auto take = [&](uint64_t bytes, uint64_t &address) {
    if (bytes == 0 || !status.ok())
      return;
    Expected<uint64_t> got = world.allocate(bytes);
    status = got.status();
    if (got.ok())
      address = *got;
  };
  take(plan.stagingBytes, staging);
  take(plan.workspaceBytes, workspace);
  take(unfused ? unfused->stagingBytes : 0, intermediate);
  if (status.ok() && copies)
    status = agreement().succeeded(copies->prepare(workspace, staging));
  return status;
}

/// Frees everything and returns the first error.
Status Matmul::Impl::free() {
  Status status;
  auto note = [&status](Status each) {
    if (status.ok())
      status = std::move(each);
  };
  for (uint64_t *address : {&staging, &workspace, &intermediate})
    if (*address != 0)
      note(world.deallocate(std::exchange(*address, 0)));
  if (copies)
    note(copies->destroy());
  if (communicator)
    note(communicator->destroy());
  return status;
}

Status Matmul::destroy() {
  if (std::exchange(impl_->isDestroyed, true))
    return Status::success();
  return impl_->free();
}

uint64_t Matmul::sharedBytes() const {
  Expected<uint64_t> bytes = ccl::sharedBytes(impl_->tuningKey());
  return bytes.ok() ? *bytes : 0; // create() has checked the problem
}

const MatmulConfig &Matmul::config() const { return impl_->problem.config; }

const std::string &Matmul::explain() const { return impl_->reason; }

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// A matrix as a kernel argument.
static IrisRtArg matrixArg(IrisRtElement element, uint64_t address,
                           Extents extents, bool isColumnMajor) {
  auto rows = static_cast<int64_t>(extents.rows);
  auto columns = static_cast<int64_t>(extents.columns);
  IrisRtArg arg = makeMemrefArg(element, address, {rows, columns});
  if (isColumnMajor) {
    arg.strides[0] = 1;
    arg.strides[1] = rows;
  }
  return arg;
}

Status Matmul::Impl::checkMatrix(const char *name, const void *matrix,
                                 uint64_t bytes, uint32_t alignment) const {
  auto address = reinterpret_cast<uint64_t>(matrix);
  const char *kind = kindName(problem.kind);
  if (address == 0 || address % alignment != 0)
    return makeStatus(StatusCode::invalidArgument,
                      "%s: %s is at 0x%" PRIx64 "; expected a multiple of %u",
                      kind, name, address, alignment);
  if (!world.isSymmetric(address, bytes))
    return makeStatus(StatusCode::invalidArgument,
                      "%s: %s, %" PRIu64 " bytes at 0x%" PRIx64
                      ", is not on the symmetric heap; expected memory from "
                      "World::allocate",
                      kind, name, bytes, address);
  return Status::success();
}

/// Launches the kernel. The arguments have been checked.
Status Matmul::Impl::launch(uint64_t a, uint64_t b, uint64_t c, uint64_t bias,
                            float scale, Stream stream) {
  const MatmulProblem &p = kernelProblem;
  std::vector<IrisRtArg> args = {
      makeContextArg(),
      matrixArg(bufferElement(p.element), a, plan.a, p.aIsColumnMajor),
      matrixArg(bufferElement(p.element), b, plan.b, p.bIsColumnMajor),
      matrixArg(bufferElement(p.result), c, plan.c, false)};
  if (p.bias != Bias::none) {
    uint64_t count = p.bias == Bias::row ? plan.c.rows : plan.c.columns;
    args.push_back(makeMemrefArg(bufferElement(p.result), bias,
                                 {static_cast<int64_t>(count)}));
  }
  if (p.hasScale) {
    uint32_t bits = 0;
    std::memcpy(&bits, &scale, sizeof bits);
    args.push_back(makeScalarArg(IRISRT_ELT_F32, bits));
  }
  if (plan.stagingBytes != 0) {
    const ArgInfo &info = kernel.info().args[args.size()];
    args.push_back(
        matrixArg(info.element, staging, plan.staging, !info.identity));
  }
  if (plan.workspaceBytes != 0)
    args.push_back(makeMemrefArg(IRISRT_ELT_I8, workspace,
                                 {static_cast<int64_t>(plan.workspaceBytes)}));
  uint64_t grid[3] = {plan.programs(programs), 1, 1};
  return world.launch(kernel, grid, args.data(), args.size(), stream, &group);
}

Status Matmul::Impl::communicate(const void *in, void *out, Stream stream) {
  const UnfusedPlan &u = *unfused;
  switch (u.op) {
  case Op::allGather:
    return communicator->allGather(in, out, u.count, u.dtype, stream,
                                   &u.collective);
  case Op::reduceScatter:
    return communicator->reduceScatter(in, out, u.count, u.dtype, ReduceOp::sum,
                                       stream, &u.collective);
  default:
    return communicator->allReduce(in, out, u.count, u.dtype, ReduceOp::sum,
                                   stream, &u.collective);
  }
}

Status Matmul::Impl::runUnfused(uint64_t a, uint64_t b, uint64_t c,
                                uint64_t bias, float scale, Stream stream) {
  auto at = [](uint64_t address) { return reinterpret_cast<void *>(address); };
  if (unfused->collectiveFirst) {
    IRISRT_RETURN_IF_ERROR(communicate(at(a), at(intermediate), stream));
    return launch(intermediate, b, c, bias, scale, stream);
  }
  if (intermediate != 0) {
    IRISRT_RETURN_IF_ERROR(launch(a, b, intermediate, bias, scale, stream));
    return communicate(at(intermediate), at(c), stream);
  }
  // This rank's rows of C and of a row bias.
  uint64_t result = dtypeBytes(kernelProblem.result);
  uint64_t own = c + world.rank() * plan.c.rows * plan.c.columns * result;
  if (kernelProblem.bias == Bias::row)
    bias += world.rank() * plan.c.rows * result;
  IRISRT_RETURN_IF_ERROR(launch(a, b, own, bias, scale, stream));
  return communicate(at(own), at(c), stream);
}

Status Matmul::Impl::runCopied(uint64_t a, uint64_t b, uint64_t c,
                               uint64_t bias, float scale, Stream stream) {
  IRISRT_RETURN_IF_ERROR(copies->begin(a, c, stream));
  Status launched = launch(a, b, c, bias, scale, stream);
  if (launched.ok())
    return copies->end(a, c, stream);
  copies->abandon(stream);
  return launched;
}

Status Matmul::run(const void *a, const void *b, void *c,
                   const Epilogue &epilogue, Stream stream) {
  Impl &i = *impl_;
  const MatmulProblem &p = i.problem;
  const MatmulPlan &given = i.matrices;
  IRISRT_RETURN_IF_ERROR(i.world.failure());
  if (i.isDestroyed)
    return makeStatus(StatusCode::failedPrecondition,
                      "%s: the matmul was destroyed", kindName(p.kind));
  uint32_t element = dtypeBytes(p.element), result = dtypeBytes(p.result);
  auto bytes = [](Extents extents, uint32_t size) {
    return extents.rows * extents.columns * size;
  };
  IRISRT_RETURN_IF_ERROR(
      i.checkMatrix("a", a, bytes(given.a, element), element));
  IRISRT_RETURN_IF_ERROR(
      i.checkMatrix("b", b, bytes(given.b, element), element));
  IRISRT_RETURN_IF_ERROR(i.checkMatrix("c", c, bytes(given.c, result), result));
  if (p.bias != Bias::none) {
    uint64_t count = p.bias == Bias::row ? given.c.rows : given.c.columns;
    IRISRT_RETURN_IF_ERROR(
        i.checkMatrix("the bias", epilogue.bias, count * result, result));
  }
  auto address = [](const void *matrix) {
    return reinterpret_cast<uint64_t>(matrix);
  };
  auto run = i.unfused  ? &Impl::runUnfused
             : i.copies ? &Impl::runCopied
                        : &Impl::launch;
  return (i.*run)(address(a), address(b), address(c), address(epilogue.bias),
                  epilogue.scale, stream);
}
