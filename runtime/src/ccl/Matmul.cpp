// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product's life and its calls.
#include "iris/ccl/Matmul.h"

#include "ccl/Agreement.h"
#include "ccl/MatmulPlan.h"
#include "ccl/Spec.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <vector>

using namespace iris::ccl;
using namespace iris::rt;

struct Matmul::Impl {
  Impl(World &world, const MatmulProblem &problem,
       std::shared_ptr<KernelCache> cache)
      : world(world), problem(problem),
        cache(cache ? std::move(cache) : KernelCache::shared()) {}

  Status load(uint32_t channel);
  Expected<uint64_t> loadAlone();
  Status allocate();
  Status checkMatrix(const char *name, const void *matrix, uint64_t bytes,
                     uint32_t alignment) const;

  World &world;
  MatmulProblem problem;
  const std::shared_ptr<KernelCache> cache;
  Group group;
  MatmulPlan plan;
  Kernel kernel;
  uint64_t programs = 1;
  uint64_t staging = 0, workspace = 0;
  bool isDestroyed = false;
};

//===----------------------------------------------------------------------===//
// Life
//===----------------------------------------------------------------------===//

Matmul::Matmul(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Matmul::~Matmul() = default;

Expected<std::unique_ptr<Matmul>>
Matmul::create(World &world, const MatmulProblem &problem,
               std::shared_ptr<KernelCache> cache) {
  // First of all, so that a rank whose problem is wrong counts along.
  const uint32_t channel = world.makeChannel();
  auto impl = std::make_unique<Impl>(world, problem, std::move(cache));
  IRISRT_RETURN_IF_ERROR(
      impl->load(channel).withContext(kindName(problem.kind)));
  IRISRT_RETURN_IF_ERROR(impl->allocate().withContext(kindName(problem.kind)));
  return std::unique_ptr<Matmul>(new Matmul(std::move(impl)));
}

/// Gets the kernel and loads it; gives the most programs of a launch.
Expected<uint64_t> Matmul::Impl::loadAlone() {
  KernelRequest request;
  request.source = kernelSource(problem, world.numRanks());
  request.target = world.target();
  request.translation = world.translation();
  IRISRT_ASSIGN_OR_RETURN(CompiledKernel compiled, cache->find(request));
  IRISRT_ASSIGN_OR_RETURN(Module module, world.load(compiled.package));
  IRISRT_ASSIGN_OR_RETURN(kernel, module.kernel(compiled.name));
  size_t expected = 4 + (problem.bias != Bias::none) + problem.hasScale +
                    (plan.stagingBytes != 0) + (plan.workspaceBytes != 0);
  if (kernel.info().args.size() != expected)
    return makeStatus(
        StatusCode::internal, "the kernel from %s is another one: %s",
        originName(compiled.origin), kernel.info().signature().c_str());
  uint64_t most = kernel.info().mostPrograms.value_or(1);
  if (!kernel.info().coresident)
    return most;
  IRISRT_ASSIGN_OR_RETURN(uint32_t fit, world.maxCoresident(kernel));
  return std::min<uint64_t>(most, fit);
}

/// All ranks load the kernel of one problem, or none does.
Status Matmul::Impl::load(uint32_t channel) {
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 0; rank < world.numRanks(); ++rank)
    ranks.push_back(rank);
  Status mine;
  Expected<Group> all = world.makeGroup(ranks);
  if (all.ok())
    group = all.take();
  else
    return all.status();
  Agreement agreement(world, group, channel);
  Expected<MatmulPlan> made = makePlan(problem, world.numRanks());
  IRISRT_RETURN_IF_ERROR(agreement.succeeded(made.status()));
  plan = *made;
  std::string wish = kernelSource(problem, world.numRanks()) +
                     " m = " + std::to_string(problem.m) +
                     ", n = " + std::to_string(problem.n) +
                     ", k = " + std::to_string(problem.k);
  IRISRT_RETURN_IF_ERROR(agreement.same("a product", wish));
  // One compiles, the others find its work on disk.
  Expected<uint64_t> most = uint64_t(1);
  if (group.index == 0)
    most = loadAlone();
  IRISRT_RETURN_IF_ERROR(agreement.succeeded(most.status()));
  if (group.index != 0)
    most = loadAlone();
  IRISRT_ASSIGN_OR_RETURN(programs, agreement.least(most));
  return agreement.same("a kernel", kernel.info().config);
}

Status Matmul::Impl::allocate() {
  if (plan.stagingBytes != 0) {
    IRISRT_ASSIGN_OR_RETURN(staging, world.allocate(plan.stagingBytes));
  }
  if (plan.workspaceBytes == 0)
    return Status::success();
  Expected<uint64_t> got = world.allocate(plan.workspaceBytes);
  if (!got.ok()) {
    if (staging != 0)
      IRISRT_RETURN_IF_ERROR(world.deallocate(std::exchange(staging, 0)));
    return got.status();
  }
  workspace = *got;
  return Status::success();
}

Status Matmul::destroy() {
  impl_->isDestroyed = true;
  if (impl_->staging != 0)
    IRISRT_RETURN_IF_ERROR(
        impl_->world.deallocate(std::exchange(impl_->staging, 0)));
  if (impl_->workspace != 0)
    IRISRT_RETURN_IF_ERROR(
        impl_->world.deallocate(std::exchange(impl_->workspace, 0)));
  return Status::success();
}

uint64_t Matmul::sharedBytes() const {
  return impl_->plan.stagingBytes + impl_->plan.workspaceBytes;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// A matrix as the kernel takes it.
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

Status Matmul::run(const void *a, const void *b, void *c,
                   const Epilogue &epilogue, Stream stream) {
  Impl &i = *impl_;
  const MatmulProblem &p = i.problem;
  const MatmulPlan &plan = i.plan;
  IRISRT_RETURN_IF_ERROR(i.world.failure());
  if (i.isDestroyed)
    return makeStatus(StatusCode::failedPrecondition, "%s: it was destroyed",
                      kindName(p.kind));
  uint32_t element = dtypeBytes(p.element), result = dtypeBytes(p.result);
  IRISRT_RETURN_IF_ERROR(
      i.checkMatrix("a", a, plan.a.rows * plan.a.columns * element, element));
  IRISRT_RETURN_IF_ERROR(
      i.checkMatrix("b", b, plan.b.rows * plan.b.columns * element, element));
  IRISRT_RETURN_IF_ERROR(
      i.checkMatrix("c", c, plan.c.rows * plan.c.columns * result, result));
  auto address = [](const void *matrix) {
    return reinterpret_cast<uint64_t>(matrix);
  };
  std::vector<IrisRtArg> args = {
      makeContextArg(),
      matrixArg(bufferElement(p.element), address(a), plan.a, p.aIsColumnMajor),
      matrixArg(bufferElement(p.element), address(b), plan.b, p.bIsColumnMajor),
      matrixArg(bufferElement(p.result), address(c), plan.c, false)};
  if (p.bias != Bias::none) {
    uint64_t count = p.bias == Bias::row ? plan.c.rows : plan.c.columns;
    IRISRT_RETURN_IF_ERROR(
        i.checkMatrix("the bias", epilogue.bias, count * result, result));
    args.push_back(makeMemrefArg(bufferElement(p.result),
                                 address(epilogue.bias),
                                 {static_cast<int64_t>(count)}));
  }
  if (p.hasScale) {
    uint32_t bits = 0;
    std::memcpy(&bits, &epilogue.scale, sizeof bits);
    args.push_back(makeScalarArg(IRISRT_ELT_F32, bits));
  }
  if (plan.stagingBytes != 0) {
    const ArgInfo &info = i.kernel.info().args[args.size()];
    args.push_back(
        matrixArg(info.element, i.staging, plan.staging, !info.identity));
  }
  if (plan.workspaceBytes != 0)
    args.push_back(makeMemrefArg(IRISRT_ELT_I8, i.workspace,
                                 {static_cast<int64_t>(plan.workspaceBytes)}));
  // Those that move have no tiles.
  uint64_t programs = plan.hasMovers
                          ? i.programs
                          : std::clamp<uint64_t>(plan.tiles, 1, i.programs);
  uint64_t grid[3] = {programs, 1, 1};
  return i.world.launch(i.kernel, grid, args.data(), args.size(), stream,
                        &i.group);
}
