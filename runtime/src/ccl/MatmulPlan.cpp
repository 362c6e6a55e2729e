// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulPlan.cpp - Shapes and memory of matmuls ----------------------===//
//
// The formulas are the compiler's: iris/Plan/MatmulForm.h and FusedSizes.h.
#include "ccl/MatmulPlan.h"

#include "ccl/Spec.h"

#include <algorithm>
#include <cinttypes>
#include <tuple>

using namespace iris::ccl;
using namespace iris::rt;

#define IRIS_MATMUL(Kind, kind, ...)                                           \
  static_assert(static_cast<int>(MatmulKind::kind) ==                          \
                static_cast<int>(plan::MatmulKind::Kind));
#include "iris/Plan/Matmuls.def"

static const plan::Matmul *findMatmul(MatmulKind kind) {
  return plan::findMatmul(static_cast<int32_t>(kind));
}

const char *iris::ccl::kindName(MatmulKind kind) {
  // Names are string literals.
  return findMatmul(kind) ? findMatmul(kind)->name.data() : "unknown";
}

const plan::MatmulVariant &iris::ccl::getVariant(MatmulKind kind,
                                                 const std::string &variant) {
  static constexpr plan::MatmulVariant none = {};
  const plan::Matmul *matmul = findMatmul(kind);
  const plan::MatmulVariant *found = matmul ? matmul->find(variant) : nullptr;
  return found ? *found : none;
}

DType iris::ccl::sumType(DType element) {
  return element == DType::i8 ? DType::i32 : DType::f32;
}

bool MatmulConfig::operator==(const MatmulConfig &other) const {
  auto names = [](const MatmulConfig &c) {
    return std::tie(c.variant, c.shard, c.stagedLayout, c.partialType,
                    c.library);
  };
  return names(*this) == names(other) &&
         std::all_of(std::begin(matmulNumbers), std::end(matmulNumbers),
                     [&](const MatmulNumber &number) {
                       return this->*number.value == other.*number.value;
                     });
}

const std::vector<std::string> &iris::ccl::variantsOf(MatmulKind kind) {
  static const auto table = [] {
    std::vector<std::vector<std::string>> all;
    for (const plan::Matmul &each : plan::matmuls) {
      all.emplace_back();
      for (const plan::MatmulVariant &variant : each)
        if (variant.isPublic())
          all.back().emplace_back(variant.name);
    }
    return all;
  }();
  return table[findMatmul(kind) ? static_cast<size_t>(kind) : 0];
}

bool iris::ccl::hasUnits(MatmulKind kind, const std::string &variant) {
  return getVariant(kind, variant).has(plan::movesUnits);
}

bool iris::ccl::hasCommPrograms(MatmulKind kind, const std::string &variant) {
  return getVariant(kind, variant).has(plan::hasCommPrograms);
}

bool iris::ccl::hasSplits(MatmulKind kind, const std::string &variant) {
  return getVariant(kind, variant).has(plan::splitsK);
}

bool iris::ccl::addsInResult(MatmulKind kind, const std::string &variant) {
  return getVariant(kind, variant).has(plan::addsInResult);
}

bool iris::ccl::isUnfused(MatmulKind kind, const std::string &variant) {
  return getVariant(kind, variant).has(plan::separateKernels);
}

bool iris::ccl::usesCopyEngine(MatmulKind kind, const std::string &variant) {
  return getVariant(kind, variant).has(plan::copiedByEngine);
}

/// The dimensions by which the operands can be sharded; the first is the
/// default.
static std::vector<std::string> shardsOf(MatmulKind kind) {
  std::vector<std::string> shards;
  for (std::string_view shard : getMatmul(kind).shards)
    if (!shard.empty())
      shards.emplace_back(shard);
  return shards;
}

static bool hasPartialSums(MatmulKind kind) {
  return getMatmul(kind).reduces();
}

/// Checks that a named field of the config is empty or one of `all`.
static Status checkWord(MatmulKind kind, const char *what,
                        const std::string &word,
                        const std::vector<std::string> &all) {
  if (word.empty() || std::find(all.begin(), all.end(), word) != all.end())
    return Status::success();
  std::string allowed;
  for (const std::string &each : all)
    allowed += (allowed.empty() ? "" : ", ") + each;
  return makeStatus(StatusCode::invalidArgument, "%s: %s '%s'; expected %s%s",
                    kindName(kind), what, word.c_str(),
                    all.empty() ? "none" : "one of ", allowed.c_str());
}

/// Checks the fields that decide how the problem is computed, before the
/// compiler could check them.
static Status checkWords(const MatmulProblem &p) {
  const MatmulConfig &config = p.config;
  IRISRT_RETURN_IF_ERROR(
      checkWord(p.kind, "variant", config.variant, variantsOf(p.kind)));
  IRISRT_RETURN_IF_ERROR(
      checkWord(p.kind, "shard", config.shard, shardsOf(p.kind)));
  if (config.shard == "n" && formOf(p).copiesRowsOfC())
    return makeStatus(StatusCode::invalidArgument,
                      "%s: copy_engine copies whole rows; expected shard m, or "
                      "another variant",
                      kindName(p.kind));
  std::vector<std::string> partialTypes;
  if (hasPartialSums(p.kind))
    partialTypes = {"sum", "result"};
  IRISRT_RETURN_IF_ERROR(
      checkWord(p.kind, "partial_type", config.partialType, partialTypes));
  IRISRT_RETURN_IF_ERROR(
      checkWord(p.kind, "library", config.library, {"vendor"}));
  auto bias = static_cast<int>(p.bias);
  auto activation = static_cast<int>(p.activation);
  if (bias < 0 || bias > static_cast<int>(Bias::column) || activation < 0 ||
      activation > static_cast<int>(Activation::gelu))
    return makeStatus(StatusCode::invalidArgument,
                      "%s: bias %d, activation %d; expected a Bias and an "
                      "Activation",
                      kindName(p.kind), bias, activation);
  return Status::success();
}

/// Checks the limits that keep the computation of shapes from overflowing.
Status iris::ccl::checkProblem(const MatmulProblem &p, uint32_t groupSize) {
  const char *name = kindName(p.kind);
  if (std::string(name) == "unknown")
    return makeStatus(StatusCode::invalidArgument,
                      "matmul: %d is no kind of matmul",
                      static_cast<int>(p.kind));
  if (groupSize > IRISRT_MAX_ANY_GROUP)
    return makeStatus(StatusCode::invalidArgument,
                      "%s: a world of %u ranks; expected at most %u", name,
                      groupSize, static_cast<unsigned>(IRISRT_MAX_ANY_GROUP));
  constexpr uint64_t most = uint64_t(1) << 24;
  if (p.m == 0 || p.n == 0 || p.k == 0 || p.m > most || p.n > most ||
      p.k > most)
    return makeStatus(StatusCode::invalidArgument,
                      "%s: m = %" PRIu64 ", n = %" PRIu64 ", k = %" PRIu64
                      "; expected 1 to %" PRIu64,
                      name, p.m, p.n, p.k, most);
  if (dtypeBytes(p.element) == 0 || dtypeBytes(p.result) == 0)
    return makeStatus(StatusCode::invalidArgument,
                      "%s: element type %d, result type %d; expected DTypes",
                      name, static_cast<int>(p.element),
                      static_cast<int>(p.result));
  for (const MatmulNumber &field : matmulNumbers) {
    const int64_t value = p.config.*field.value;
    if (value != 0 && !field.number.accepts(value))
      return makeStatus(StatusCode::invalidArgument,
                        "%s: the config's %s is %" PRId64
                        "; expected %s, or 0 to have it chosen",
                        name, field.key().c_str(), value,
                        field.number.describe().c_str());
  }
  if (p.config.tileN != 0 && !plan::isTileWidth(p.config.tileN))
    return makeStatus(StatusCode::invalidArgument,
                      "%s: the config's tile_n is %" PRId64
                      "; expected a power of two or a multiple of %" PRId64,
                      name, p.config.tileN, plan::matmulColumnUnit);
  return checkWords(p);
}

void iris::ccl::fillSemantics(MatmulProblem &p) {
  if (p.config.shard.empty())
    p.config.shard = shardsOf(p.kind).front();
  if (hasPartialSums(p.kind) && p.config.partialType.empty() &&
      !getVariant(p.kind, p.config.variant).has(plan::addsInResult))
    p.config.partialType = "sum";
  // The same, which kernels call by the first name.
  if (p.config.partialType == "result" && p.result == sumType(p.element))
    p.config.partialType = "sum";
}

plan::MatmulForm iris::ccl::formOf(const MatmulProblem &p) {
  const MatmulConfig &config = p.config;
  const plan::Matmul &matmul = getMatmul(p.kind);
  plan::MatmulForm form;
  form.kind = matmul.kind;
  form.variant = config.variant.empty() ? matmul.begin()
                                        : &getVariant(p.kind, config.variant);
  form.shard = config.shard.empty() ? matmul.shards[0] : config.shard;
  auto take = [](int64_t &number, int64_t requested) {
    number = requested == 0 ? number : requested;
  };
  take(form.tileM, config.tileM);
  take(form.tileN, config.tileN);
  take(form.tileK, config.tileK);
  take(form.groupM, config.groupM);
  take(form.kPerFlag, config.kPerFlag);
  if (form.has(plan::splitsK))
    take(form.splitK, config.splitK);
  return form;
}

static plan::MatmulMatrices matricesOf(const MatmulProblem &p,
                                       const plan::MatmulForm &form,
                                       uint64_t groupSize) {
  return plan::getMatrices(form, static_cast<int64_t>(p.m),
                           static_cast<int64_t>(p.n), static_cast<int64_t>(p.k),
                           static_cast<int64_t>(groupSize));
}

plan::MatmulShape<int64_t> iris::ccl::shapeOf(const MatmulProblem &p,
                                              const plan::MatmulForm &form,
                                              uint64_t groupSize) {
  return matricesOf(p, form, groupSize).shape(static_cast<int64_t>(groupSize));
}

CopiedLayout iris::ccl::copiedLayout(const MatmulProblem &p,
                                     uint32_t groupSize) {
  plan::IntegerArithmetic n;
  const plan::MatmulForm form = formOf(p);
  const plan::MatmulShape<int64_t> shape = shapeOf(p, form, groupSize);
  plan::CopyLayout<plan::IntegerArithmetic> copies(n, form, shape.aRows,
                                                   shape.bColumns, shape.size);
  CopiedLayout layout;
  layout.rows = static_cast<uint64_t>(copies.rows);
  layout.groupRows = static_cast<uint64_t>(copies.groupBegin(1));
  layout.groups = static_cast<uint64_t>(copies.groups);
  layout.flags = copies.flags;
  layout.doneFlag = static_cast<uint64_t>(copies.doneFlag(0));
  return layout;
}

uint64_t MatmulPlan::programs(uint64_t most) const {
  plan::IntegerArithmetic n;
  return static_cast<uint64_t>(
      plan::countPrograms(n, form, shape, static_cast<int64_t>(most)));
}

Expected<MatmulPlan> iris::ccl::makePlan(MatmulProblem &p, uint32_t groupSize) {
  MatmulConfig &config = p.config;
  if (config.variant.empty())
    config.variant = variantsOf(p.kind).front();
  fillSemantics(p);
  MatmulPlan plan;
  plan.form = formOf(p);
  const plan::MatmulForm &form = plan.form;
  // Sizes depend on these, so requests have them.
  config.tileM = form.tileM;
  config.tileN = form.tileN;
  config.tileK = form.tileK;
  if (form.isCopied())
    config.groupM = form.groupM;
  if (form.has(plan::movesUnits))
    config.kPerFlag = form.kPerFlag;
  const plan::MatmulMatrices matrices = matricesOf(p, form, groupSize);
  plan.a = Extents(matrices.a);
  plan.b = Extents(matrices.b);
  plan.c = Extents(matrices.c);
  plan.shape = matrices.shape(groupSize);
  if (!form.variant->hasKernel())
    return plan;
  plan::IntegerArithmetic n;
  plan::FusedSizes<int64_t> sizes = plan::getFusedSizes(n, form, plan.shape);
  if (form.hasStaging()) {
    plan.staging = {static_cast<uint64_t>(sizes.stagingRows),
                    static_cast<uint64_t>(sizes.stagingColumns)};
    const DType staged = form.isStaged()                  ? p.element
                         : config.partialType == "result" ? p.result
                                                          : sumType(p.element);
    plan.stagingBytes =
        plan.staging.rows * plan.staging.columns * dtypeBytes(staged);
  }
  int64_t flags = sizes.numFlags;
  if (form.isCopied())
    flags = static_cast<int64_t>(copiedLayout(p, groupSize).words());
  if (form.hasWorkspace())
    plan.workspaceBytes =
        static_cast<uint64_t>(plan::FusedWorkspace::bytes(n, flags));
  return plan;
}
