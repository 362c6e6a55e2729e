// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.cpp - Command line of iris-bench ---------------------------===//
#include "Options.h"

#include "iris-c/RuntimeABI.h"
#include "iris/ccl/MatmulSelector.h"
#include "iris/rt/Env.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

using namespace iris;
using namespace iris::bench;
using ccl::DType;
using ccl::Op;
using ccl::ReduceOp;
using rt::Expected;
using rt::Status;
using rt::StatusCode;

/// "$OPS" stands for the operations.
static const char helpTemplate[] =
    R"(iris-bench: measures Iris' collectives and matmuls of matrices, and checks
what they compute

usage: iris-bench [options]

Every rank is a process with its own device.  A sample is a number of successive
calls, as one graph or individually; its time is that of the slowest rank.  The
median of the samples is reported, with the first and third quartile.  Every
element of the output is compared with the expected value; of a large matmul,
some elements of each region.

what is measured (lists are separated by commas):
  --ops=LIST            all, or some of
                        $OPS
                        (default all_reduce,all_gather); matmuls, or some of
                        matmul, all_gather_matmul, matmul_all_gather,
                        matmul_reduce_scatter, matmul_all_reduce
  --sizes=FROM:TO[:FACTOR]
                        bytes of one chunk: FROM, FROM*FACTOR, ... up to TO
                        (default FACTOR: 4), or a list (default 1K:16M)
  --dtypes=LIST         f16 bf16 f32 f64 i8 i16 i32 i64 u8 f8e4m3fn f8e5m2 ...
                        (default bf16)
  --reduce=OP           sum (default), prod, min or max
  --variants=LIST       all, or names; default: the selector's choice.
                        "unfused": a matmul and a separate collective
  --modes=LIST          graph (default), eager, or host: the time of an eager
                        call on the calling thread, not on the device
  --plan=FILE           file with more of these options in each line, in
                        addition to those given here; all lines are measured in
                        the same run
  --programs=LIST --tile=LIST --warps=LIST
                        config fields, in every combination; default: the
                        selector's choice.  A matmul's tile is MxNxK
  --in-place            use one buffer for input and output
  --staged              use the workspace, as for buffers that peers cannot
                        access
for matmuls (docs/guides/fused-matmuls.md):
  --shape=MxNxK         rows and columns of the matrix that a rank gathers or
                        computes, and k over all ranks; may be given several
                        times (default 512x512x512)
  --shard=LIST          sharded dimension: k, m, n
  --partial-type=LIST   type of partial sums in transit: sum (default; the
                        accumulator's type) or result
  --a=LIST --b=LIST     layouts of the matrices: row (default) or column major
  --num-fetch-programs=LIST --tiles-per-comm-program=LIST --k-per-flag=LIST
  --group-m=LIST --split-k=LIST
                        config fields
  --tune[=N]            measure the N (default 12) configs with the lowest
                        estimated times that match the options above, and write
                        the best one to the table:
  --table=FILE          the table (default: IRIS_MATMUL_TABLE); the selector
                        reads it if IRIS_MATMUL_TABLE is its path.  Written
                        after each problem
  --resume              skip problems that are in the table
where and how:
  -n N                  ranks (default 2)
  --device=host|cuda|hip|emulated:CHIP
  --target=TARGET       target of --explain and --requests for matmuls: sm_90a,
                        gfx942 or gfx950 (default: by the device)
  --calls=N             maximum number of calls per sample (default 20); fewer
                        if a sample would take more than 20 ms
  --samples=N           samples (default 15), after --warmups=N (default 3)
  --heap=SIZE           symmetric heap of one rank (default: as needed)
  --package=FILE        kernels that were compiled ahead of time, for machines
                        without a compiler; may be given several times
  --requests=FILE       write the .mlir source of such a package (-: standard
                        output) and exit; needs no device
output:
  --json=FILE           append a line for each measurement
  --commit=TEXT, --machine=TEXT
                        values for the lines of --json
  --explain             print the selector's choice (for --programs, if given),
                        the reason, and the estimates of the other candidates,
                        and exit; needs no device
  --help, --version

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
  iris-compile kernels.mlir --target=sm_90a -o kernels.iris
  iris-bench -n 8 --device=cuda --ops=all --package=kernels.iris
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

static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (true) {
    size_t end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string::npos)
      return parts;
    start = end + 1;
  }
}

static Status parseNumber(const std::string &name, const std::string &text,
                          uint64_t least, uint64_t most, uint64_t &value) {
  char *end = nullptr;
  errno = 0;
  unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] == '-' || *end != '\0' || errno != 0 ||
      number < least || number > most)
    return rt::makeStatus(StatusCode::invalidArgument,
                          "%s=%s; expected a number from %llu to %llu",
                          name.c_str(), text.c_str(),
                          static_cast<unsigned long long>(least),
                          static_cast<unsigned long long>(most));
  value = number;
  return {};
}

static Status parseNumbers(const std::string &name, const std::string &text,
                           uint64_t most, std::vector<int64_t> &numbers) {
  numbers.clear();
  for (const std::string &word : split(text, ',')) {
    uint64_t number = 0;
    IRISRT_RETURN_IF_ERROR(parseNumber(name, word, 1, most, number));
    numbers.push_back(static_cast<int64_t>(number));
  }
  return {};
}

/// The element of `all` whose name is `text`.
template <typename T, typename Name>
static Status parseWord(const char *what, const std::string &text,
                        const std::vector<T> &all, Name name, T &value) {
  std::string allowed;
  for (T each : all) {
    if (text == name(each)) {
      value = each;
      return {};
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(name(each));
  }
  return rt::makeStatus(StatusCode::invalidArgument,
                        "%s '%s'; expected one of %s", what, text.c_str(),
                        allowed.c_str());
}

template <typename T, typename Name>
static Status parseWords(const char *what, const std::string &text,
                         const std::vector<T> &all, Name name,
                         std::vector<T> &values) {
  values.clear();
  if (text == "all") {
    values = all;
    return {};
  }
  for (const std::string &word : split(text, ',')) {
    T value{};
    IRISRT_RETURN_IF_ERROR(parseWord(what, word, all, name, value));
    values.push_back(value);
  }
  return {};
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

std::string iris::bench::helpText() {
  constexpr size_t indent = 24, width = 80;
  std::string ops;
  size_t column = indent;
  for (Op op : allOps) {
    const std::string word(ccl::opName(op));
    if (!ops.empty()) {
      bool fits = column + word.size() + 3 < width;
      ops += fits ? ", " : ",\n" + std::string(indent, ' ');
      column = fits ? column + 2 : indent;
    }
    ops += word;
    column += word.size();
  }
  std::string text = helpTemplate;
  return text.replace(text.find("$OPS"), 4, ops);
}
static const std::vector<ccl::MatmulKind> allMatmuls = {
    ccl::MatmulKind::matmul, ccl::MatmulKind::allGatherMatmul,
    ccl::MatmulKind::matmulAllGather, ccl::MatmulKind::matmulReduceScatter,
    ccl::MatmulKind::matmulAllReduce};
static const std::vector<DType> allDTypes = {
    DType::f16,       DType::bf16,     DType::f32,    DType::f64,
    DType::i8,        DType::i16,      DType::i32,    DType::i64,
    DType::u8,        DType::f8e4m3fn, DType::f8e5m2, DType::f8e4m3fnuz,
    DType::f8e5m2fnuz};
static const std::vector<ReduceOp> checkable = {ReduceOp::sum, ReduceOp::prod,
                                                ReduceOp::min, ReduceOp::max};

static Status parseSizes(const std::string &text,
                         std::vector<uint64_t> &sizes) {
  sizes.clear();
  std::vector<std::string> ends = split(text, ':');
  if (ends.size() == 2 || ends.size() == 3) {
    IRISRT_ASSIGN_OR_RETURN(uint64_t from, rt::parseByteSize(ends[0]));
    IRISRT_ASSIGN_OR_RETURN(uint64_t to, rt::parseByteSize(ends[1]));
    uint64_t factor = 4;
    if (ends.size() == 3)
      IRISRT_RETURN_IF_ERROR(parseNumber("--sizes", ends[2], 2, 1024, factor));
    if (from == 0 || from > to || to > uint64_t(1) << 40)
      return rt::makeStatus(StatusCode::invalidArgument,
                            "--sizes=%s; expected FROM:TO or FROM:TO:FACTOR "
                            "with 0 < FROM <= TO <= 1T",
                            text.c_str());
    for (uint64_t size = from; size <= to; size *= factor)
      sizes.push_back(size);
    return {};
  }
  for (const std::string &word : split(text, ',')) {
    IRISRT_ASSIGN_OR_RETURN(uint64_t size, rt::parseByteSize(word));
    if (size == 0)
      return rt::makeStatus(StatusCode::invalidArgument,
                            "--sizes=%s; expected positive sizes",
                            text.c_str());
    sizes.push_back(size);
  }
  return {};
}

/// Parses "128x256x64".
static Status parseShape(const std::string &name, const std::string &text,
                         uint64_t most, Shape &shape) {
  std::vector<std::string> words = split(text, 'x');
  if (words.size() != 3)
    return rt::makeStatus(StatusCode::invalidArgument,
                          "%s=%s; expected MxNxK, such as 128x256x64",
                          name.c_str(), text.c_str());
  IRISRT_RETURN_IF_ERROR(parseNumber(name, words[0], 1, most, shape.m));
  IRISRT_RETURN_IF_ERROR(parseNumber(name, words[1], 1, most, shape.n));
  return parseNumber(name, words[2], 1, most, shape.k);
}

/// Parses tiles: numbers for collectives, MxNxK for matmuls.
static Status parseTiles(const std::string &name, const std::string &text,
                         Options &options) {
  if (text.find('x') == std::string::npos)
    return parseNumbers(name, text, 1 << 14, options.tiles);
  options.matmulTiles.clear();
  for (const std::string &word : split(text, ','))
    IRISRT_RETURN_IF_ERROR(
        parseShape(name, word, 256, options.matmulTiles.emplace_back()));
  return {};
}

/// Parses a list of names of collectives and matmuls.
static Status parseOps(const std::string &text, Options &options) {
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
  for (const std::string &word : split(text, ',')) {
    auto matmul = std::find_if(
        allMatmuls.begin(), allMatmuls.end(),
        [&](ccl::MatmulKind kind) { return word == ccl::kindName(kind); });
    if (matmul != allMatmuls.end()) {
      options.matmuls.push_back(*matmul);
      continue;
    }
    Op op{};
    IRISRT_RETURN_IF_ERROR(
        parseWord("operation", word, allOps, ccl::opName, op));
    options.ops.push_back(op);
  }
  return {};
}

static Status parseNames(const char *what, const std::string &text,
                         const std::vector<std::string> &all,
                         std::vector<std::string> &names) {
  return parseWords(
      what, text, all, [](const std::string &name) { return name; }, names);
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Parses an option with a value; false if there is no option with that name.
static Expected<bool> parseValue(const std::string &name,
                                 const std::string &value, Options &options) {
  uint64_t number = 0;
  auto count = [&](uint64_t least, uint64_t most, auto &target) -> Status {
    IRISRT_RETURN_IF_ERROR(parseNumber(name, value, least, most, number));
    target = static_cast<std::remove_reference_t<decltype(target)>>(number);
    return {};
  };
  Status status;
  if (name == "-n") {
    status = count(1, IRISRT_MAX_GROUP, options.numRanks);
  } else if (name == "--device") {
    IRISRT_ASSIGN_OR_RETURN(options.device, rt::parseDevice(value));
  } else if (name == "--target") {
    options.target = value;
  } else if (name == "--ops") {
    status = parseOps(value, options);
  } else if (name == "--dtypes") {
    status =
        parseWords("type", value, allDTypes, ccl::dtypeName, options.dtypes);
  } else if (name == "--reduce") {
    status = parseWord("reduction", value, checkable, ccl::reduceOpName,
                       options.reduce);
  } else if (name == "--modes") {
    status = parseWords("mode", value,
                        std::vector<Mode>{Mode::graph, Mode::eager, Mode::host},
                        modeName, options.modes);
  } else if (name == "--sizes") {
    status = parseSizes(value, options.sizes);
  } else if (name == "--variants") {
    options.variants = split(value, ',');
  } else if (name == "--programs") {
    status = parseNumbers(name, value, 512, options.programs);
  } else if (name == "--tile") {
    status = parseTiles(name, value, options);
  } else if (name == "--shape") {
    status = parseShape(name, value, 1 << 24, options.shapes.emplace_back());
  } else if (name == "--shard") {
    status = parseNames("shard", value, {"k", "m", "n"}, options.shards);
  } else if (name == "--partial-type") {
    status = parseNames("partial_type", value, {"sum", "result"},
                        options.partialTypes);
  } else if (name == "--a" || name == "--b") {
    status = parseNames("layout", value, {"row", "column"},
                        name == "--a" ? options.aLayouts : options.bLayouts);
  } else if (name == "--num-fetch-programs") {
    status = parseNumbers(name, value, 512, options.fetchPrograms);
  } else if (name == "--tiles-per-comm-program") {
    status = parseNumbers(name, value, 1 << 20, options.tilesPerCommProgram);
  } else if (name == "--split-k") {
    status = parseNumbers(name, value, 32, options.splitK);
  } else if (name == "--k-per-flag") {
    status = parseNumbers(name, value, 1024, options.kPerFlag);
  } else if (name == "--group-m") {
    status = parseNumbers(name, value, 1024, options.groupM);
  } else if (name == "--tune") {
    status = count(1, 10000, options.tune);
  } else if (name == "--table") {
    options.tablePath = value;
  } else if (name == "--warps") {
    status = parseNumbers(name, value, 16, options.warps);
  } else if (name == "--calls") {
    status = count(1, 100000, options.calls);
  } else if (name == "--samples") {
    status = count(1, 100000, options.samples);
  } else if (name == "--warmups") {
    status = count(0, 100000, options.warmups);
  } else if (name == "--heap") {
    IRISRT_ASSIGN_OR_RETURN(options.heapBytes, rt::parseByteSize(value));
  } else if (name == "--plan") {
    options.planPath = value;
  } else if (name == "--package") {
    options.packages.push_back(value);
  } else if (name == "--requests") {
    options.requestsPath = value;
  } else if (name == "--json") {
    options.jsonPath = value;
  } else if (name == "--commit") {
    options.commit = value;
  } else if (name == "--machine") {
    options.machine = value;
  } else {
    return false;
  }
  if (!status.ok())
    return status;
  return true;
}

static bool parseFlag(const std::string &name, Options &options) {
  if (name == "--help" || name == "-h")
    options.help = true;
  else if (name == "--version")
    options.version = true;
  else if (name == "--explain")
    options.explain = true;
  else if (name == "--in-place")
    options.inPlace = true;
  else if (name == "--staged")
    options.staged = true;
  else if (name == "--tune")
    options.tune = 12;
  else if (name == "--resume")
    options.resume = true;
  else
    return false;
  return true;
}

static Status parseInto(const std::vector<std::string> &words,
                        Options &options) {
  for (size_t index = 0; index < words.size(); ++index) {
    const std::string &arg = words[index];
    if (parseFlag(arg, options))
      continue;
    size_t equals = arg.find('=');
    std::string name = arg.substr(0, equals), value;
    if (equals != std::string::npos)
      value = arg.substr(equals + 1);
    else if (index + 1 < words.size())
      value = words[index + 1];
    IRISRT_ASSIGN_OR_RETURN(bool known, parseValue(name, value, options));
    if (!known)
      return rt::makeStatus(StatusCode::invalidArgument,
                            "unknown option '%s'; see --help", arg.c_str());
    if (equals == std::string::npos && ++index == words.size())
      return rt::makeStatus(StatusCode::invalidArgument,
                            "%s has no value; see --help", arg.c_str());
  }
  return {};
}

/// Checks that a line of a plan has only options that can differ between lines.
static Status checkPlanned(const std::vector<std::string> &words) {
  static const std::set<std::string> general = {
      "-n",        "--device", "--target",  "--calls",   "--samples",
      "--warmups", "--heap",   "--package", "--plan",    "--requests",
      "--json",    "--commit", "--machine", "--explain", "--resume",
      "--tune",    "--table"};
  for (const std::string &word : words)
    if (std::string name = word.substr(0, word.find('='));
        general.count(name) != 0)
      return rt::makeStatus(
          StatusCode::invalidArgument,
          "%s is not allowed in the lines of a plan; see --help", name.c_str());
  return {};
}

/// Reads lines of options, each in addition to `base`. Empty lines and comments
/// (#) are skipped.
static Expected<std::vector<Options>> readPlan(const std::string &path,
                                               const Options &base) {
  std::ifstream file(path);
  if (!file)
    return rt::makeStatus(StatusCode::invalidArgument, "cannot read %s",
                          path.c_str());
  std::vector<Options> plan;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream stream(line.substr(0, line.find('#')));
    std::vector<std::string> words{std::istream_iterator<std::string>(stream),
                                   {}};
    if (words.empty())
      continue;
    Options options = base;
    Status status = checkPlanned(words);
    if (std::any_of(words.begin(), words.end(), [](const std::string &word) {
          return word.compare(0, 7, "--shape") == 0;
        }))
      options.shapes.clear();
    if (status.ok())
      status = parseInto(words, options);
    if (!status.ok())
      return status.withContext(path + ":" + std::to_string(number));
    plan.push_back(std::move(options));
  }
  return plan;
}

Expected<Options> iris::bench::parseOptions(int argc, char **argv) {
  Options options;
  for (uint64_t size = 1 << 10; size <= 16 << 20; size *= 4)
    options.sizes.push_back(size);
  IRISRT_RETURN_IF_ERROR(
      parseInto(std::vector<std::string>(argv + 1, argv + argc), options));
  if (!options.planPath.empty()) {
    std::string path = std::move(options.planPath);
    options.planPath.clear();
    IRISRT_ASSIGN_OR_RETURN(options.plan, readPlan(path, options));
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
  return options;
}
