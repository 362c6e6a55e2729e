// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- fit-matmul-model.cpp - Fits the matmul model to measurements -------===//
//
// Not built by default.
//
// Coordinate descent: increases and decreases each parameter, and keeps changes
// that reduce the loss, with decreasing steps. The loss is the mean of
// |log(estimate / measured)|, with smaller weights for configs that are slower
// than the best one of their problem, because they are never selected.
#include "CommandLine.h"
#include "Matmuls.h"

#include "ccl/MatmulModel.h"
#include "ccl/Spec.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>

using namespace iris;
using namespace iris::bench;
using ccl::MatmulConfig;
using ccl::MatmulKind;
using ccl::ProcessorModel;

namespace {
struct Sample {
  std::string name;
  ccl::MatmulTuningKey tuningKey;
  MatmulConfig config;
  double us = 0, weight = 1;
};

struct Number {
  const char *name;
  double ProcessorModel::*field;
};
} // namespace

static const Number numbers[] = {
    {"processorOpsPerUs", &ProcessorModel::processorOpsPerUs},
    {"deviceOpsPerUs", &ProcessorModel::deviceOpsPerUs},
    {"nonPow2Efficiency", &ProcessorModel::nonPow2Efficiency},
    {"bf16Factor", &ProcessorModel::bf16Factor},
    {"overlapExponent", &ProcessorModel::overlapExponent},
    {"splitUs", &ProcessorModel::splitUs},
    {"splitBytesPerUs", &ProcessorModel::splitBytesPerUs},
    {"processorLoadBytesPerUs", &ProcessorModel::processorLoadBytesPerUs},
    {"deviceLoadBytesPerUs", &ProcessorModel::deviceLoadBytesPerUs},
    {"kStepUs", &ProcessorModel::kStepUs},
    {"tileUs", &ProcessorModel::tileUs},
    {"startUs", &ProcessorModel::startUs},
    {"commProgramBytesPerUs", &ProcessorModel::commProgramBytesPerUs},
    {"reduceBytesPerUs", &ProcessorModel::reduceBytesPerUs},
    {"reduceTileUs", &ProcessorModel::reduceTileUs},
    {"storeOverlapLoss", &ProcessorModel::storeOverlapLoss},
    {"fetchOverlapLoss", &ProcessorModel::fetchOverlapLoss},
    {"signalUs", &ProcessorModel::signalUs},
    {"waitUs", &ProcessorModel::waitUs},
    {"copyUs", &ProcessorModel::copyUs},
    {"copyEngineStartUs", &ProcessorModel::copyEngineStartUs},
    {"copyEngineWaitUs", &ProcessorModel::copyEngineWaitUs},
    {"copyOverlapLoss", &ProcessorModel::copyOverlapLoss},
};

static const MatmulKind kinds[] = {
    MatmulKind::matmul, MatmulKind::allGatherMatmul,
    MatmulKind::matmulAllGather, MatmulKind::matmulReduceScatter,
    MatmulKind::matmulAllReduce};

static bool read(const nlohmann::json &line, Sample &sample) {
  auto kind = std::find_if(std::begin(kinds), std::end(kinds), [&](auto each) {
    return line.value("op", "") == ccl::kindName(each);
  });
  ccl::DType dtype =
      line.value("dtype", "") == "bf16" ? ccl::DType::bf16 : ccl::DType::f16;
  if (kind == std::end(kinds) || !line.contains("us") ||
      line.value("mode", "") != "graph")
    return false;
  Shape shape{line["shape"][0], line["shape"][1], line["shape"][2]};
  auto problem =
      problemOf(line["ranks"], *kind, dtype, line.value("shard", ""),
                line.value("partial_type", ""), shape, ccl::MatmulProblem());
  if (!problem.ok())
    return false;
  sample.tuningKey.problem = *problem;
  sample.tuningKey.groupSize = line["ranks"];
  sample.tuningKey.device = rt::DeviceKind::cuda;
  sample.tuningKey.target = "sm_90a";
  MatmulConfig &config = sample.config;
  config = problem->config;
  config.variant = line["variant"];
  config.tileM = line["tile_m"];
  config.tileN = line["tile_n"];
  config.tileK = line["tile_k"];
  config.warps = line["warps"];
  config.programs = line["programs"];
  config.groupM = line.value("group_m", 0);
  config.kPerFlag = line.value("k_per_flag", 0);
  config.numFetchPrograms = line.value("num_fetch_programs", 0);
  config.tilesPerCommProgram = line.value("tiles_per_comm_program", 0);
  config.splitK = line.value("split_k", 0);
  sample.us = line["us"];
  sample.name = std::string(ccl::kindName(*kind)) + " " + line["shape"].dump() +
                " " + ccl::describe(config);
  return ccl::estimate(sample.tuningKey, config).ok();
}

static double errorOf(const ProcessorModel &chip, const Sample &sample) {
  auto estimate = ccl::estimate(chip, sample.tuningKey, sample.config);
  return std::log(estimate->us / sample.us);
}

static double lossOf(const ProcessorModel &chip,
                     const std::vector<Sample> &samples) {
  double sum = 0, weights = 0;
  for (const Sample &sample : samples) {
    sum += sample.weight * std::fabs(errorOf(chip, sample));
    weights += sample.weight;
  }
  return sum / weights;
}

/// The name of a sample's problem.
static std::string nameOfProblem(const Sample &sample) {
  return sample.name.substr(0, sample.name.find(']') + 1);
}

/// Prints the slowdown of selecting, among the measured configs, the one with
/// the lowest estimate.
static void judgeChoices(const ProcessorModel &chip,
                         const std::vector<Sample> &samples) {
  struct Choice {
    double expected = HUGE_VAL, us = 0, best = HUGE_VAL;
  };
  std::map<std::string, Choice> choices;
  for (const Sample &sample : samples) {
    Choice &choice = choices[nameOfProblem(sample)];
    double expected = ccl::estimate(chip, sample.tuningKey, sample.config)->us;
    choice.best = std::min(choice.best, sample.us);
    if (expected < choice.expected)
      choice = {expected, sample.us, choice.best};
  }
  double sum = 0, worst = 1;
  for (const auto &[name, choice] : choices) {
    double loss = choice.us / choice.best;
    sum += std::log(loss);
    worst = std::max(worst, loss);
    if (loss > 1.15)
      std::printf("  the selected config takes %.2f of the best time: %s\n",
                  loss, name.c_str());
  }
  std::printf("%zu problems: selected configs take %.3f of the best time in "
              "the geometric mean, %.2f at worst\n",
              choices.size(),
              std::exp(sum / static_cast<double>(choices.size())), worst);
}

static void judge(const ProcessorModel &chip, std::vector<Sample> samples) {
  judgeChoices(chip, samples);
  std::sort(samples.begin(), samples.end(), [&](auto &a, auto &b) {
    return std::fabs(errorOf(chip, a)) < std::fabs(errorOf(chip, b));
  });
  // Configs that are nearly as fast as the best one of their problem.
  std::vector<Sample> near;
  for (const Sample &sample : samples)
    if (sample.weight > 0.8)
      near.push_back(sample);
  auto within = [&](const std::vector<Sample> &some) {
    auto in = std::count_if(some.begin(), some.end(), [&](auto &each) {
      return std::fabs(errorOf(chip, each)) < std::log(1.15);
    });
    return 100.0 * static_cast<double>(in) / static_cast<double>(some.size());
  };
  std::printf("%zu samples, %.0f %% within 15 %%; %zu near the best of their "
              "problem, %.0f %%\n",
              samples.size(), within(samples), near.size(), within(near));
  for (size_t i = near.size(); i-- > 0 && near.size() - i <= 25;)
    std::printf("  expected %.2f of %8.1f us: %s\n",
                std::exp(errorOf(chip, near[i])), near[i].us,
                near[i].name.c_str());
}

static const char overview[] =
    R"(fit-matmul-model: fits the parameters of a ProcessorModel to measurements

usage: fit-matmul-model [options] FILE...

Reads lines of `iris-bench --json`. Prints the parameters as
runtime/src/ccl/models has them, starting from those of the library or of
IRIS_COST_MODEL, and the errors of their estimates.

)";

static int fail(const std::string &message) {
  std::fprintf(stderr, "fit-matmul-model: error: %s\n", message.c_str());
  return 1;
}

int main(int argc, char **argv) {
  std::vector<std::string> files;
  bool onlyJudge = false, help = false;
  run::CommandLine line;
  line.section("options");
  line.flag({"--judge"}, onlyJudge,
            "only print the errors of the starting parameters");
  line.flag({"-h", "--help"}, help, "print this text");
  line.positional("FILE", run::fileNames(files));
  rt::Status status = line.parse({argv + 1, argv + argc});
  if (!status.ok())
    return fail(status.message());
  if (help) {
    std::printf("%s%s", overview, line.help().c_str());
    return 0;
  }
  std::vector<Sample> samples;
  for (const std::string &name : files) {
    std::ifstream file(name);
    if (!file)
      return fail("cannot read " + name);
    for (std::string text; std::getline(file, text);) {
      auto line = nlohmann::json::parse(text, nullptr, false);
      Sample sample;
      if (!line.is_discarded() && read(line, sample))
        samples.push_back(std::move(sample));
    }
  }
  if (samples.empty())
    return fail("no measurements; expected files of iris-bench --json");
  std::map<std::string, double> best;
  for (const Sample &sample : samples) {
    double &least =
        best.emplace(nameOfProblem(sample), sample.us).first->second;
    least = std::min(least, sample.us);
  }
  for (Sample &sample : samples)
    sample.weight = std::pow(best[nameOfProblem(sample)] / sample.us, 2);
  ProcessorModel chip =
      ccl::deviceModelOf(rt::DeviceKind::cuda, "sm_90a", nullptr).processor;
  judge(chip, samples);
  if (onlyJudge)
    return 0;
  double loss = lossOf(chip, samples);
  for (double step = 0.3; step > 0.01; step *= 0.7)
    for (int round = 0; round < 6; ++round)
      for (const Number &number : numbers)
        for (double factor : {1 + step, 1 / (1 + step)}) {
          ProcessorModel other = chip;
          other.*number.field *= factor;
          double now = lossOf(other, samples);
          if (now < loss) {
            loss = now;
            chip = other;
          }
        }
  for (const Number &number : numbers)
    std::printf("    \"%s\": %.4g,\n", number.name, chip.*number.field);
  std::printf("loss %.4f\n", loss);
  judge(chip, samples);
  return 0;
}
