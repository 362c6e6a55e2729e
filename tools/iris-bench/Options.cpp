// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.cpp - Command line of iris-bench ---------------------------===//
#include "Options.h"

#include "CommandLine.h"

#include "iris-c/RuntimeABI.h"
#include "iris/ccl/MatmulSelector.h"
#include "iris/rt/Env.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

using namespace iris;
using namespace iris::bench;
using namespace iris::run;
using ccl::DType;
using ccl::Op;
using ccl::ReduceOp;
using rt::Expected;
using rt::Status;
using rt::StatusCode;

static const char overview[] =
    R"(iris-bench: measures Iris' collectives and matmuls of matrices, and checks
what they compute

usage: iris-bench [options]

Every rank is a process with its own device.  A sample is a number of successive
calls, as one graph or individually; its time is that of the slowest rank.  The
median of the samples is reported, with the first and third quartile.  Every
element of the output is compared with the expected value; of a large matmul,
some elements of each region.  Lists are separated by commas.

)";

static const char remarks[] = R"(
exit status: 0 if everything ran and every result was correct, else 1.

examples:
  iris-bench -n 4 --ops=all --sizes=1K:1M
  iris-bench -n 8 --device=cuda --variants=all --json=h200.jsonl
  iris-bench -n 8 --device=cuda --explain
  iris-bench -n 8 --device=cuda --ops=all_gather_matmul --shape=4096x3584x8192 \
      --dtypes=f16 --variants=all
  iris-bench -n 8 --device=cuda --ops=matmul_reduce_scatter --dtypes=f16 \
      --shape=4096x4096x8192 --partial-type=result --tune --table=$PWD/h200.jsonl

on a machine without a compiler, with the same options in both:
  iris-bench -n 8 --device=cuda --ops=all --requests=kernels.mlir
  iris-compile kernels.mlir --split --jobs=16 --target=sm_90a -o kernels/
  iris-bench -n 8 --device=cuda --ops=all --package=kernels/

for libiris_nccl on such a machine:
  iris-bench --nccl --requests=list.mlir --target=sm_90a --nccl-types=bf16,f32
  iris-compile list.mlir --split --target=sm_90a --translation=both \
      -o $PWD/kernels.sm_90a
  IRIS_NCCL_KERNEL_DIR=$PWD ./app
)";

const char *iris::bench::modeName(Mode mode) {
  switch (mode) {
  case Mode::eager:
    return "eager";
  case Mode::graph:
    return "graph";
  case Mode::host:
    break;
  }
  return "host";
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static Status invalid(const std::string &message) {
  return Status(StatusCode::invalidArgument, message);
}

/// Those that have an op, and send, which a recv belongs to.
static std::vector<Op> listOps() {
  std::vector<Op> ops;
  for (const ccl::plan::Collective &each : ccl::plan::collectives)
    if (!each.mnemonic.empty() || each.signature == ccl::plan::Signature::send)
      ops.push_back(static_cast<Op>(each.kind));
  return ops;
}
static const std::vector<Op> allOps = listOps();

static const std::vector<ccl::MatmulKind> allMatmuls = {
    ccl::MatmulKind::matmul, ccl::MatmulKind::allGatherMatmul,
    ccl::MatmulKind::matmulAllGather, ccl::MatmulKind::matmulReduceScatter,
    ccl::MatmulKind::matmulAllReduce};
static const std::vector<DType> allDTypes = {
    DType::f16,        DType::bf16,     DType::f32,    DType::f64,
    DType::i8,         DType::i16,      DType::i32,    DType::i64,
    DType::u8,         DType::f8e4m3fn, DType::f8e5m2, DType::f8e4m3fnuz,
    DType::f8e5m2fnuz, DType::u32,      DType::u64};
static const std::vector<ReduceOp> checkable = {ReduceOp::sum, ReduceOp::prod,
                                                ReduceOp::min, ReduceOp::max};

static Status parseSizes(const std::string &option, const std::string &text,
                         std::vector<uint64_t> &sizes) {
  auto size = [&](const std::string &word, uint64_t &value) {
    return byteSize(value).parse(option, word);
  };
  std::vector<uint64_t> found;
  std::vector<std::string> ends = split(text, ':');
  if (ends.size() == 2 || ends.size() == 3) {
    uint64_t from = 0, to = 0, factor = 4;
    IRISRT_RETURN_IF_ERROR(size(ends[0], from));
    IRISRT_RETURN_IF_ERROR(size(ends[1], to));
    if (ends.size() == 3) {
      IRISRT_ASSIGN_OR_RETURN(factor, parseNumber(option, ends[2], 2, 1024));
    }
    if (from == 0 || from > to || to > uint64_t(1) << 40)
      return invalid(spelled(option, text) +
                     "; expected FROM:TO or FROM:TO:FACTOR with "
                     "0 < FROM <= TO <= 1T");
    for (uint64_t each = from; each <= to; each *= factor)
      found.push_back(each);
  } else {
    for (const std::string &word : split(text, ',')) {
      IRISRT_RETURN_IF_ERROR(size(word, found.emplace_back()));
      if (found.back() == 0)
        return invalid(spelled(option, text) + "; expected positive sizes");
    }
  }
  sizes = std::move(found);
  return {};
}

/// Parses "128x256x64".
static Status parseShape(const std::string &option, const std::string &text,
                         uint64_t most, Shape &shape) {
  std::vector<std::string> words = split(text, 'x');
  if (words.size() != 3)
    return invalid(spelled(option, text) +
                   "; expected MxNxK, such as 128x256x64");
  IRISRT_ASSIGN_OR_RETURN(shape.m, parseNumber(option, words[0], 1, most));
  IRISRT_ASSIGN_OR_RETURN(shape.n, parseNumber(option, words[1], 1, most));
  IRISRT_ASSIGN_OR_RETURN(shape.k, parseNumber(option, words[2], 1, most));
  return {};
}

/// Tiles: numbers for collectives, MxNxK for matmuls.
static Value tiles(Options &options) {
  return {[&options](const std::string &option,
                     const std::string &text) -> Status {
    if (text.find('x') == std::string::npos)
      return numbers(options.tiles, 1 << 14).parse(option, text);
    options.matmulTiles.clear();
    for (const std::string &word : split(text, ','))
      IRISRT_RETURN_IF_ERROR(
          parseShape(option, word, 256, options.matmulTiles.emplace_back()));
    return {};
  }};
}

/// Collectives and matmuls by name, in one list.
static Value operations(Options &options) {
  return {
      [&options](const std::string &option, const std::string &text) -> Status {
        options.ops.clear();
        options.matmuls.clear();
        if (text == "all") {
          options.ops = allOps;
          return {};
        }
        if (text == "matmuls") {
          options.matmuls = allMatmuls;
          return {};
        }
        std::vector<std::string> names;
        for (Op op : allOps)
          names.emplace_back(ccl::opName(op));
        for (ccl::MatmulKind kind : allMatmuls)
          names.emplace_back(ccl::kindName(kind));
        for (const std::string &each : split(text, ',')) {
          IRISRT_ASSIGN_OR_RETURN(size_t index, parseName(option, each, names));
          if (index < allOps.size())
            options.ops.push_back(allOps[index]);
          else
            options.matmuls.push_back(allMatmuls[index - allOps.size()]);
        }
        return {};
      }};
}

static Value sizes(std::vector<uint64_t> &target) {
  return {[&target](const std::string &option, const std::string &text) {
    return parseSizes(option, text, target);
  }};
}

/// The first one on a command line, or in a line of a plan, replaces the
/// shapes.
static Value shapes(std::vector<Shape> &target) {
  return {[&target, first = true](const std::string &option,
                                  const std::string &text) mutable {
    if (std::exchange(first, false))
      target.clear();
    return parseShape(option, text, 1 << 24, target.emplace_back());
  }};
}

static Value level(std::optional<rt::TuneLevel> &target) {
  return {
      [&target](const std::string &option, const std::string &text) -> Status {
        std::vector<std::string> all;
        for (rt::TuneLevel each :
             {rt::TuneLevel::off, rt::TuneLevel::quick, rt::TuneLevel::full})
          all.emplace_back(rt::tuneLevelName(each));
        IRISRT_ASSIGN_OR_RETURN(size_t index, parseName(option, text, all));
        target = static_cast<rt::TuneLevel>(index);
        return {};
      }};
}

static Value names(std::vector<std::string> &target,
                   std::vector<std::string> all) {
  return words(target, std::move(all),
               [](const std::string &name) { return name; });
}

static Value list(std::vector<std::string> &target) {
  return {[&target](const std::string &, const std::string &text) {
    target = split(text, ',');
    return Status::success();
  }};
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// "a, b, c".
template <typename T, typename Name>
static std::string listed(const std::vector<T> &all, Name nameOf) {
  std::string text;
  for (const T &each : all)
    text += (text.empty() ? "" : ", ") + std::string(nameOf(each));
  return text;
}

/// What can differ between the lines of a plan.
static void addMeasurements(CommandLine &line, Options &options) {
  line.section("what is measured");
  line.option("--ops", "LIST", operations(options),
              "all, or some of " + listed(allOps, ccl::opName) +
                  " (default all_reduce,all_gather); matmuls, or some of " +
                  listed(allMatmuls, ccl::kindName));
  line.option("--sizes", "FROM:TO[:FACTOR]", sizes(options.sizes),
              "bytes of one chunk: FROM, FROM*FACTOR, ... up to TO (default "
              "FACTOR: 4), or a list (default 1K:16M)");
  line.option("--dtypes", "LIST",
              words(options.dtypes, allDTypes, ccl::dtypeName),
              "all, or some of " + listed(allDTypes, ccl::dtypeName));
  line.option("--reduce", "OP",
              word(options.reduce, checkable, ccl::reduceOpName),
              "sum, prod, min or max");
  line.option("--variants", "LIST", list(options.variants),
              "all, or names; default: the selector's choice. \"unfused\": a "
              "matmul and a separate collective");
  line.option("--modes", "LIST",
              words(options.modes,
                    std::vector<Mode>{Mode::graph, Mode::eager, Mode::host},
                    modeName),
              "graph, eager, or host: the time of an eager call on the calling "
              "thread, not on the device");
  line.option("--programs", "LIST", numbers(options.programs, 512),
              "config field, like --tile and --warps: every combination is "
              "measured; default: the selector's choice");
  line.option("--tile", "LIST", tiles(options),
              "elements, or MxNxK of a matmul");
  line.option("--warps", "LIST", numbers(options.warps, 16),
              "warps of a program");
  line.flag({"--in-place"}, options.inPlace,
            "use one buffer for input and output");
  line.flag({"--staged"}, options.staged,
            "use the workspace, as for buffers that peers cannot access");

  line.section("for matmuls (docs/guides/fused-matmuls.md)");
  line.option("--shape", "MxNxK", shapes(options.shapes),
              "rows and columns of the matrix that a rank gathers or computes, "
              "and k over all ranks; may be given several times (default "
              "512x512x512)");
  line.option("--shard", "LIST", names(options.shards, {"k", "m", "n"}),
              "sharded dimension: k, m, n");
  line.option("--partial-type", "LIST",
              names(options.partialTypes, {"sum", "result"}),
              "type of partial sums in transit: sum (default; the "
              "accumulator's type) or result");
  line.option("--a", "LIST", names(options.aLayouts, {"row", "column"}),
              "layouts of a: row or column major");
  line.option("--b", "LIST", names(options.bLayouts, {"row", "column"}),
              "layouts of b");
  line.option("--num-fetch-programs", "LIST",
              numbers(options.fetchPrograms, 512), "config field");
  line.option("--tiles-per-comm-program", "LIST",
              numbers(options.tilesPerCommProgram, 1 << 20), "config field");
  line.option("--k-per-flag", "LIST", numbers(options.kPerFlag, 1024),
              "config field");
  line.option("--group-m", "LIST", numbers(options.groupM, 1024),
              "config field");
  line.option("--split-k", "LIST", numbers(options.splitK, 32), "config field");
}

/// The calls of a program whose kernels are compiled ahead of time.
static void addNcclCalls(CommandLine &line, nccl::CallKinds &calls) {
  line.option(
      "--nccl-sizes", "LIST",
      {[&calls](const std::string &option, const std::string &text) -> Status {
         std::vector<int64_t> sizes;
         IRISRT_RETURN_IF_ERROR(
             numbers(sizes, IRISRT_MAX_GROUP).parse(option, text));
         calls.groupSizes.assign(sizes.begin(), sizes.end());
         return {};
       },
       "2,4,8"},
      "sizes of communicators");
  line.option("--nccl-ops", "LIST",
              words(calls.ops, nccl::allOps(), ccl::opName),
              "all, or some of these");
  line.option("--nccl-types", "LIST",
              words(calls.types, nccl::allTypes(), ccl::dtypeName),
              "types of reductions: all, or some of these");
  line.option("--nccl-reductions", "LIST",
              words(calls.reductions, nccl::allReductions(), ccl::reduceOpName),
              "all, or some of these");
}

/// What holds for the whole run.
static void addRun(CommandLine &line, Options &options) {
  line.section("tuning of matmuls (docs/guides/tuning.md)");
  line.option("--tune", "N", number(options.tune, 1, 10000),
              "measure the N (default 12) configs with the lowest estimated "
              "times that match the options above, and write the best one to "
              "the table",
              "12");
  line.option("--table", "FILE", fileName(options.tablePath),
              "the table (default: IRIS_MATMUL_TABLE); the selector reads it "
              "if IRIS_MATMUL_TABLE is its path. Written after each problem");
  line.flag({"--resume"}, options.resume,
            "skip problems that are in the table");

  line.section("tuning of collectives (docs/guides/tuning.md)");
  line.option("--level", "off|quick|full", level(options.level),
              "as IRIS_TUNE: the communicator selects what is open, after it "
              "has measured so much, and says why (default: the cost model "
              "selects)");

  line.section("calibration (docs/guides/tuning.md)");
  line.option(
      "--calibrate", "FILE", fileName(options.calibratePath),
      "measure the kernels of the collectives (default: all) with every "
      "tile, warps and programs that may be good, and write the cost "
      "model of this device for IRIS_COST_MODEL");

  line.section("where and how");
  line.option("-n", "N", number(options.numRanks, 1, IRISRT_MAX_GROUP),
              "ranks");
  line.option("--device", "host|hip|cuda|emulated:CHIP", device(options.device),
              "CPU threads or GPUs");
  line.option("--target", "TARGET", text(options.target),
              "target of --nccl, and of --explain and --requests for matmuls: "
              "sm_90a, gfx942 or gfx950 (default: by the device)");
  line.option("--plan", "FILE", fileName(options.planPath),
              "file with more of the options of the first two groups in each "
              "line, in addition to those given here; all lines are measured "
              "in the same run");
  line.option("--calls", "N", number(options.calls, 1, 100000),
              "maximum number of calls per sample; fewer if a sample would "
              "take more than 20 ms");
  line.option("--samples", "N", number(options.samples, 1, 100000),
              "samples that count");
  line.option("--warmups", "N", number(options.warmups, 0, 100000),
              "samples before them");
  line.option("--heap", "SIZE", byteSize(options.heapBytes),
              "symmetric heap of one rank (default: as needed)");
  line.option("--package", "FILE", fileNames(options.packages),
              "kernels that were compiled ahead of time, for machines without "
              "a compiler, or a folder of such files; may be given several "
              "times");
  line.option("--requests", "FILE", fileName(options.requestsPath),
              "write the .mlir source of such a package (-: standard output), "
              "which iris-compile --split takes too, and exit; needs no "
              "device");

  line.section("for libiris_nccl (docs/guides/nccl.md)");
  line.flag({"--nccl"}, options.nccl,
            "with --requests and --target: write the kernels that NCCL's API "
            "may load, for iris-compile --split");
  addNcclCalls(line, options.ncclCalls);

  line.section("output");
  line.option("--json", "FILE", fileName(options.jsonPath),
              "append a line for each measurement");
  line.option("--commit", "TEXT", text(options.commit),
              "a value for the lines of --json");
  line.option("--machine", "TEXT", text(options.machine),
              "a value for the lines of --json");
  line.flag({"--explain"}, options.explain,
            "print the selector's choice (for --programs, if given), the "
            "reason, and the estimates of the other candidates, and exit; "
            "needs no device");
  line.flag({"-h", "--help"}, options.help, "print this text");
  line.flag({"--version"}, options.version, "print the version");
}

static CommandLine describe(Options &options) {
  CommandLine line;
  addMeasurements(line, options);
  addRun(line, options);
  return line;
}

std::string iris::bench::helpText() {
  Options options;
  return overview + describe(options).help() + remarks;
}

/// Parses one line of a plan, in addition to `options`.
static Status parsePlanned(const std::vector<std::string> &words,
                           const CommandLine &all, Options &options) {
  CommandLine line;
  addMeasurements(line, options);
  for (const std::string &word : words)
    if (std::string name = word.substr(0, word.find('='));
        all.knows(name) && !line.knows(name))
      return invalid(name + " is not allowed in the lines of a plan; expected "
                            "what is measured; see --help");
  return line.parse(words);
}

/// Reads lines of options, each in addition to `base`. Empty lines and comments
/// (#) are skipped.
static Expected<std::vector<Options>>
readPlan(const std::string &path, const CommandLine &all, const Options &base) {
  std::ifstream file(path);
  if (!file)
    return invalid("cannot read " + path);
  std::vector<Options> plan;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream stream(line.substr(0, line.find('#')));
    std::vector<std::string> words{std::istream_iterator<std::string>(stream),
                                   {}};
    if (words.empty())
      continue;
    Options options = base;
    Status status = parsePlanned(words, all, options);
    if (!status.ok())
      return status.withContext(path + ":" + std::to_string(number));
    plan.push_back(std::move(options));
  }
  return plan;
}

/// Checks what --calibrate is combined with. Without --ops, it measures all.
static Status completeCalibration(Options &options, int argc, char **argv) {
  if (!options.matmuls.empty() || options.tune != 0 || !options.plan.empty() ||
      !options.variants.empty() || options.explain || options.inPlace ||
      options.staged)
    return invalid("--calibrate measures every kernel of collectives, staged "
                   "or not; expected it without matmuls, --tune, --plan, "
                   "--variants, --explain, --in-place and --staged");
  if (options.dtypes.size() != 1 || options.reduce != ccl::ReduceOp::sum)
    return invalid("--calibrate measures sums of one type; expected one of "
                   "--dtypes");
  if (options.numRanks == 1)
    return invalid("--calibrate measures links; expected -n of at least 2");
  const bool isNamed = std::any_of(argv + 1, argv + argc, [](const char *arg) {
    return std::string(arg).rfind("--ops", 0) == 0;
  });
  if (isNamed)
    return {};
  options.ops.clear();
  for (int32_t i = 0; ccl::plan::findCollective(i); ++i)
    options.ops.push_back(static_cast<ccl::Op>(i));
  return {};
}

Expected<Options> iris::bench::parseOptions(int argc, char **argv) {
  Options options;
  for (uint64_t size = 1 << 10; size <= 16 << 20; size *= 4)
    options.sizes.push_back(size);
  CommandLine line = describe(options);
  IRISRT_RETURN_IF_ERROR(line.parse({argv + 1, argv + argc}));
  if (!options.planPath.empty()) {
    std::string path = std::move(options.planPath);
    options.planPath.clear();
    IRISRT_ASSIGN_OR_RETURN(options.plan, readPlan(path, line, options));
  }
  if (options.shapes.empty())
    options.shapes = {{512, 512, 512}};
  if (options.tablePath.empty())
    options.tablePath = rt::Env::get().matmulTable();
  if (options.tune != 0 && options.tablePath.empty())
    return rt::makeStatus(StatusCode::invalidArgument,
                          "--tune needs a table to write to; expected --table, "
                          "or IRIS_MATMUL_TABLE in the environment");
  for (Options &part : options.plan)
    if (part.shapes.empty())
      part.shapes = options.shapes;
  if (!options.calibratePath.empty())
    IRISRT_RETURN_IF_ERROR(completeCalibration(options, argc, argv));
  if (options.level && (options.staged || !options.calibratePath.empty()))
    return invalid("--level is for buffers on the heap; expected it without "
                   "--staged and --calibrate");
  if (options.nccl && (options.requestsPath.empty() || options.target.empty()))
    return rt::makeStatus(StatusCode::invalidArgument,
                          "--nccl writes requests for a target; expected "
                          "--requests=FILE and --target=TARGET");
  return options;
}

bool iris::bench::asksForAll(const Options &options) {
  return !options.variants.empty() && options.variants.front() == "all";
}
