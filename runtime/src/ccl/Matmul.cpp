// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Matmul.cpp - Fused matmuls and their calls -------------------------===//
#include "iris/ccl/Matmul.h"

#include "ccl/MatmulTuner.h"
#include "iris/rt/Env.h"

#include <cinttypes>
#include <utility>
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
  MatmulSite site() { return {world, cache, group, channel}; }
  Status open(const MatmulTuning &tuning);
  Expected<MatmulChoice> choose(const MatmulTuneRequest &request);
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
  std::unique_ptr<MatmulExecution> execution;
  bool isDestroyed = false;
};

//===----------------------------------------------------------------------===//
// Construction and destruction
//===----------------------------------------------------------------------===//

Matmul::Matmul(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Matmul::~Matmul() = default;

Expected<std::unique_ptr<Matmul>>
Matmul::create(World &world, const MatmulProblem &problem,
               std::shared_ptr<KernelCache> cache, const MatmulTuning &tuning) {
  // Take the channel before any check, so that a rank with an invalid problem
  // numbers later channels as its peers do.
  const uint32_t channel = world.makeChannel();
  auto impl = std::make_unique<Impl>(world, problem, std::move(cache), channel);
  Status status = impl->open(tuning);
  if (!status.ok())
    return status.withContext(kindName(problem.kind));
  return std::unique_ptr<Matmul>(new Matmul(std::move(impl)));
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

static const char *sourceName(ChoiceSource source) {
  switch (source) {
  case ChoiceSource::model:
    return "model";
  case ChoiceSource::table:
  case ChoiceSource::builtInTable:
    return "table";
  case ChoiceSource::measured:
    return "measured";
  }
  return "unknown";
}

/// Completes the config, by a measurement if one is possible and allowed. May
/// also make the execution. All ranks get the same choice, or all fail.
Expected<MatmulChoice> Matmul::Impl::choose(const MatmulTuneRequest &request) {
  Agreement agreement = site().agreement();
  const MatmulTuningKey key = tuningKey();
  Expected<MatmulChoice> choice = select(key);
  IRISRT_RETURN_IF_ERROR(agreement.succeeded(choice.status()));
  std::string requested =
      formatString("%s, m = %" PRIu64 ", n = %" PRIu64 ", k = %" PRIu64
                   ", tuning %s, %s: ",
                   describeRequest(problem, world.numRanks()).c_str(),
                   problem.m, problem.n, problem.k, request.describe().c_str(),
                   sourceName(choice->source)) +
      describe(choice->config);
  IRISRT_RETURN_IF_ERROR(agreement.same("a matmul", requested));
  // Tables hold measurements. Those of the built-in one are of other machines.
  bool isKnown = choice->source == ChoiceSource::table ||
                 (choice->source == ChoiceSource::builtInTable &&
                  request.level != TuneLevel::full);
  if (request.level == TuneLevel::off || isKnown)
    return choice;
  IRISRT_ASSIGN_OR_RETURN(TunedMatmul tuned,
                          tuneMatmul(site(), key, *choice, request));
  execution = std::move(tuned.execution);
  if (tuned.choice)
    return *tuned.choice;
  choice->reason += "; not measured: " + tuned.why;
  return choice;
}

Status Matmul::Impl::open(const MatmulTuning &tuning) {
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 0; rank < world.numRanks(); ++rank)
    ranks.push_back(rank);
  IRISRT_ASSIGN_OR_RETURN(group, world.makeGroup(ranks));
  IRISRT_ASSIGN_OR_RETURN(
      MatmulChoice choice,
      choose(MatmulTuneRequest::from(tuning, world.deviceKind())));
  if (!execution) {
    MatmulTuningKey key = tuningKey();
    key.problem.config = choice.config;
    IRISRT_ASSIGN_OR_RETURN(execution, MatmulExecution::create(site(), key));
  }
  problem = execution->problem();
  reason = std::string(sourceName(choice.source)) + ": " + choice.reason;
  if (const std::optional<UnfusedPlan> &unfused = execution->unfused())
    reason += "; " + std::string(opName(unfused->op)) + " " +
              describe(unfused->collective);
  if (const char *library = execution->libraryName())
    reason += std::string("; matmul by ") + library;
  return Status::success();
}

Status Matmul::destroy() {
  if (std::exchange(impl_->isDestroyed, true))
    return Status::success();
  return impl_->execution->destroy();
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
  const MatmulPlan &given = i.execution->matrices();
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
  return i.execution->run({address(a), address(b), address(c),
                           address(epilogue.bias), epilogue.scale},
                          stream);
}
