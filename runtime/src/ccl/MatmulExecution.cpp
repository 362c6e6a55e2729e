// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulExecution.cpp - A matmul that is ready to run ----------------===//
#include "ccl/MatmulExecution.h"

#include "ccl/Spec.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

using namespace iris::ccl;
using namespace iris::rt;

//===----------------------------------------------------------------------===//
// Creation and destruction
//===----------------------------------------------------------------------===//

Expected<std::unique_ptr<MatmulExecution>>
MatmulExecution::create(const MatmulSite &site,
                        const MatmulTuningKey &tuningKey) {
  std::unique_ptr<MatmulExecution> execution(
      new MatmulExecution(site, tuningKey));
  Status status = execution->load(tuningKey);
  if (status.ok())
    status = execution->prepareCommunication();
  if (status.ok())
    status = execution->allocate();
  if (status.ok())
    return execution;
  // All ranks get here: the checks above fail on all ranks or on none.
  execution->destroy().ignore("the first error is reported");
  return status;
}

/// Completes the config and plans the buffers.
Status MatmulExecution::plan(const MatmulTuningKey &tuningKey) {
  const uint32_t ranks = site_.world.numRanks();
  IRISRT_ASSIGN_OR_RETURN(matrices_, makePlan(problem_, ranks));
  kernelProblem_ = problem_;
  if (isUnfused(problem_.kind, problem_.config.variant)) {
    IRISRT_ASSIGN_OR_RETURN(unfused_, planUnfused(problem_, tuningKey));
    kernelProblem_ = unfused_->matmul;
  }
  IRISRT_ASSIGN_OR_RETURN(plan_, makePlan(kernelProblem_, ranks));
  return Status::success();
}

KernelRequest MatmulExecution::requestOf(const World &world,
                                         const MatmulProblem &kernelProblem) {
  const uint32_t ranks = world.numRanks();
  KernelRequest request;
  request.source = kernelSource(kernelProblem, ranks);
  request.target = world.target();
  request.translation = world.translation();
  request.matches = [kernelProblem, ranks](const KernelInfo &kernel) {
    return isKernelOf(kernel, kernelProblem, ranks);
  };
  return request;
}

/// Gets the kernel and loads it. Returns the maximum number of programs of a
/// launch.
Expected<uint64_t> MatmulExecution::loadAlone() {
  World &world = site_.world;
  IRISRT_ASSIGN_OR_RETURN(CompiledKernel compiled,
                          site_.cache->find(requestOf(world, kernelProblem_)));
  IRISRT_ASSIGN_OR_RETURN(Module module, world.load(compiled.package));
  IRISRT_ASSIGN_OR_RETURN(kernel_, module.kernel(compiled.name));
  size_t expected = 4 + (kernelProblem_.bias != Bias::none) +
                    kernelProblem_.hasScale + (plan_.stagingBytes != 0) +
                    (plan_.workspaceBytes != 0);
  if (kernel_.info().args.size() != expected)
    return makeStatus(
        StatusCode::internal, "the kernel from %s is another one: %s",
        originName(compiled.origin), kernel_.info().signature().c_str());
  uint64_t most = kernel_.info().maxPrograms.value_or(1);
  if (!kernel_.info().coresident)
    return most;
  IRISRT_ASSIGN_OR_RETURN(uint32_t fit, world.maxCoresident(kernel_));
  return std::min<uint64_t>(most, fit);
}

Status MatmulExecution::loadLibrary() {
  Expected<std::unique_ptr<LibraryMatmul>> created =
      createLibraryMatmul(site_.world, kernelProblem_, plan_);
  IRISRT_RETURN_IF_ERROR(site_.agreement().succeeded(created.status()));
  library_ = created.take();
  return site_.agreement().same("a library", library_->name());
}

/// Loads the same kernel on all ranks, or fails on all of them.
Status MatmulExecution::load(const MatmulTuningKey &tuningKey) {
  Agreement agreement = site_.agreement();
  IRISRT_RETURN_IF_ERROR(agreement.succeeded(plan(tuningKey)));
  IRISRT_RETURN_IF_ERROR(agreement.same(
      "a matmul", describeRequest(problem_, site_.world.numRanks()) +
                      problem_.config.library));
  if (!problem_.config.library.empty())
    return loadLibrary();
  // One rank compiles; its peers then find the package on disk.
  Expected<uint64_t> most = uint64_t(1);
  if (site_.group.index == 0)
    most = loadAlone();
  IRISRT_RETURN_IF_ERROR(agreement.succeeded(most.status()));
  if (site_.group.index != 0)
    most = loadAlone();
  IRISRT_ASSIGN_OR_RETURN(programs_, agreement.least(most));
  return agreement.same("a kernel", kernel_.info().config);
}

/// Creates the collective or the copies, so that calls can be captured.
Status MatmulExecution::prepareCommunication() {
  if (plan_.form.isCopied()) {
    IRISRT_ASSIGN_OR_RETURN(copies_,
                            CopyEngine::create(site_.world, site_.cache,
                                               problem_, site_.agreement()));
    return Status::success();
  }
  if (!unfused_)
    return Status::success();
  CommunicatorOptions options;
  options.cache = site_.cache;
  // Its calls have a config.
  options.tuning.level = TuneLevel::off;
  IRISRT_ASSIGN_OR_RETURN(communicator_,
                          Communicator::create(site_.world, options));
  // The kernels of the all-gather, which runs in place, support that.
  return communicator_->prepare(unfused_->op, unfused_->dtype, ReduceOp::sum,
                                &unfused_->collective);
}

Status MatmulExecution::allocate() {
  Status status;
  auto take = [&](uint64_t bytes, uint64_t &address) {
    if (bytes == 0 || !status.ok())
      return;
    Expected<uint64_t> got = site_.world.allocate(bytes);
    status = got.status();
    if (got.ok())
      address = *got;
  };
  take(plan_.stagingBytes, staging_);
  take(plan_.workspaceBytes, workspace_);
  take(unfused_ ? unfused_->stagingBytes : 0, intermediate_);
  if (status.ok() && copies_)
    status =
        site_.agreement().succeeded(copies_->prepare(workspace_, staging_));
  return status;
}

Status MatmulExecution::destroy() {
  Status status;
  auto note = [&status](Status each) {
    if (status.ok())
      status = std::move(each);
  };
  for (uint64_t *address : {&staging_, &workspace_, &intermediate_})
    if (*address != 0)
      note(site_.world.deallocate(std::exchange(*address, 0)));
  if (copies_)
    note(copies_->destroy());
  if (communicator_)
    note(communicator_->destroy());
  library_.reset();
  return status;
}

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

/// Launches the kernel.
Status MatmulExecution::launch(const MatmulArgs &given, Stream stream) {
  const MatmulProblem &p = kernelProblem_;
  if (library_)
    return library_->run(WorldAccess::handleOf(site_.world, stream), given.a,
                         given.b, given.c, p.hasScale ? given.scale : 1);
  std::vector<IrisRtArg> args = {
      makeContextArg(),
      matrixArg(bufferElement(p.element), given.a, plan_.a, p.aIsColumnMajor),
      matrixArg(bufferElement(p.element), given.b, plan_.b, p.bIsColumnMajor),
      matrixArg(bufferElement(p.result), given.c, plan_.c, false)};
  if (p.bias != Bias::none) {
    uint64_t count = p.bias == Bias::row ? plan_.c.rows : plan_.c.columns;
    args.push_back(makeMemrefArg(bufferElement(p.result), given.bias,
                                 {static_cast<int64_t>(count)}));
  }
  if (p.hasScale) {
    uint32_t bits = 0;
    std::memcpy(&bits, &given.scale, sizeof bits);
    args.push_back(makeScalarArg(IRISRT_ELT_F32, bits));
  }
  if (plan_.stagingBytes != 0) {
    const ArgInfo &info = kernel_.info().args[args.size()];
    args.push_back(
        matrixArg(info.element, staging_, plan_.staging, !info.identity));
  }
  if (plan_.workspaceBytes != 0)
    args.push_back(makeMemrefArg(IRISRT_ELT_I8, workspace_,
                                 {static_cast<int64_t>(plan_.workspaceBytes)}));
  uint64_t grid[3] = {plan_.programs(programs_), 1, 1};
  return site_.world.launch(kernel_, grid, args.data(), args.size(), stream,
                            &site_.group);
}

Status MatmulExecution::communicate(uint64_t from, uint64_t to, Stream stream) {
  const UnfusedPlan &u = *unfused_;
  const void *in = reinterpret_cast<const void *>(from);
  void *out = reinterpret_cast<void *>(to);
  switch (u.op) {
  case Op::allGather:
    return communicator_->allGather(in, out, u.count, u.dtype, stream,
                                    &u.collective);
  case Op::reduceScatter:
    return communicator_->reduceScatter(in, out, u.count, u.dtype,
                                        ReduceOp::sum, stream, &u.collective);
  default:
    return communicator_->allReduce(in, out, u.count, u.dtype, ReduceOp::sum,
                                    stream, &u.collective);
  }
}

Status MatmulExecution::runUnfused(MatmulArgs args, Stream stream) {
  const uint64_t a = args.a, c = args.c;
  if (unfused_->collectiveFirst) {
    IRISRT_RETURN_IF_ERROR(communicate(a, intermediate_, stream));
    args.a = intermediate_;
    return launch(args, stream);
  }
  if (intermediate_ != 0) {
    args.c = intermediate_;
    IRISRT_RETURN_IF_ERROR(launch(args, stream));
    return communicate(intermediate_, c, stream);
  }
  // This rank's rows of C and of a row bias.
  const uint64_t rank = site_.world.rank();
  const uint64_t result = dtypeBytes(kernelProblem_.result);
  args.c += rank * plan_.c.rows * plan_.c.columns * result;
  if (kernelProblem_.bias == Bias::row)
    args.bias += rank * plan_.c.rows * result;
  IRISRT_RETURN_IF_ERROR(launch(args, stream));
  return communicate(args.c, c, stream);
}

Status MatmulExecution::runCopied(const MatmulArgs &args, Stream stream) {
  IRISRT_RETURN_IF_ERROR(copies_->begin(args.a, args.c, stream));
  Status launched = launch(args, stream);
  if (launched.ok())
    return copies_->end(args.a, args.c, stream);
  copies_->abandon(stream);
  return launched;
}

Status MatmulExecution::run(const MatmulArgs &args, Stream stream) {
  return unfused_  ? runUnfused(args, stream)
         : copies_ ? runCopied(args, stream)
                   : launch(args, stream);
}
