// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

const char iris::bench::helpText[] =
    R"(iris-bench: measures Iris' collectives and matmuls of matrices, and checks
what they compute

usage: iris-bench [options]

Every rank is a process on a device of its own.  A sample is a number of calls
back to back, as one graph or one by one; its time is that of the slowest rank.
The median of the samples is reported, with the first and third quartile.  The
output is compared with the right one, element by element; of a large matmul
some elements, spread over all of it.

what is measured (lists are separated by commas):
  --ops=LIST            all, or some of all_reduce, all_gather, reduce_scatter,
                        all_to_all, broadcast, reduce, gather, scatter, send
                        (default all_reduce,all_gather); matmuls, or some of
                        matmul, all_gather_matmul, matmul_all_gather,
                        matmul_reduce_scatter, matmul_all_reduce
  --sizes=FROM:TO[:FACTOR]
                        bytes of one chunk, each FACTOR (default 4) times the
                        one before, or a list (default 1K:16M)
  --dtypes=LIST         f16 bf16 f32 f64 i8 i16 i32 i64 u8 f8e4m3fn f8e5m2 ...
                        (default bf16)
  --reduce=OP           sum (default), prod, min or max
  --variants=LIST       all, or some; by default what the selector chooses.
                        "unfused": a matmul and a collective
  --modes=LIST          graph (default), eager, host: what an eager call takes
                        of the calling thread, not of the device
  --plan=FILE           more of these options from each line of a file, on top
                        of those given here; the lines are measured one after
                        the other in the same run
  --programs=LIST --tile=LIST --warps=LIST
                        of the config, every combination; by default the
                        selector's.  A matmul's tile is MxNxK
  --in-place            the output is the input
  --staged              through the workspace, as for buffers that peers cannot
                        reach
of matmuls (docs/fused.md):
  --shape=MxNxK         rows and columns of what a rank gets or computes, and
                        values of k over all ranks; may be given several times
                        (default 512x512x512)
  --shard=LIST          what ranks have parts of: k, m, n
  --partial-type=LIST          what sums over ranks travel in: sum (default), result
  --a=LIST --b=LIST     how matrices lie in memory: row (default), column
  --num-fetch-programs=LIST --tiles-per-comm-program=LIST --k-per-flag=LIST
  --group-m=LIST --split-k=LIST
                        of the config
  --tune[=N]            measures the N (default 12) configs that the model finds
                        most promising, of those that agree with the options
                        above, and writes the best to the table:
  --table=FILE          (default: IRIS_MATMUL_TABLE) where later calls find it
                        if IRIS_MATMUL_TABLE names it.  It is written after
                        each problem
  --resume              leaves out problems that the table has
where and how:
  -n N                  ranks (default 2)
  --device=host|cuda|hip
  --target=TARGET       of --explain and --requests for matmuls: sm_90a, gfx942
                        or gfx950 (default: by the device)
  --calls=N             most calls in a sample (default 20); fewer if the
                        sample would take more than 20 ms
  --samples=N           samples (default 15), after --warmups=N (default 3)
  --heap=SIZE           symmetric heap of one rank (default: what is needed)
  --package=FILE        kernels that were compiled ahead, for machines without
                        a compiler; may be given several times
  --requests=FILE       writes the .mlir file that such a package is compiled
                        of (- for the output), and does nothing else; needs no
                        device
output:
  --json=FILE           appends a line for each measurement
  --commit=TEXT, --machine=TEXT
                        are noted there
  --explain             only says what the selector chooses (for --programs, if
                        they are given), what it expects of that and of the
                        others, and why; needs no device
  --help, --version

exit status: 0 if everything ran and every result was right, else 1.

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

static const std::vector<Op> allOps = {
    Op::allReduce, Op::allGather, Op::reduceScatter,
    Op::allToAll,  Op::broadcast, Op::reduce,
    Op::gather,    Op::scatter,   Op::send};
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
                            "--sizes=%s; expected sizes over 0", text.c_str());
    sizes.push_back(size);
  }
  return {};
}

/// "128x256x64".
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

/// Tiles of collectives are numbers, those of matmuls MxNxK.
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

/// Names of collectives and of matmuls, in one list.
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

/// An option with a value; whether there is one of that name.
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
    IRISRT_ASSIGN_OR_RETURN(options.device, rt::parseDeviceKind(value));
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
    status =
        parseNames("partial_type", value, {"sum", "result"}, options.shares);
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

/// A line of a plan says what is measured; where and how is for all lines.
static Status checkPlanned(const std::vector<std::string> &words) {
  static const std::set<std::string> general = {
      "-n",        "--device", "--target",  "--calls",   "--samples",
      "--warmups", "--heap",   "--package", "--plan",    "--requests",
      "--json",    "--commit", "--machine", "--explain", "--resume",
      "--tune",    "--table"};
  for (const std::string &word : words)
    if (std::string name = word.substr(0, word.find('='));
        general.count(name) != 0)
      return rt::makeStatus(StatusCode::invalidArgument,
                            "%s is not for the lines of a plan; see --help",
                            name.c_str());
  return {};
}

/// Lines of options, each on top of `base`. Empty ones and comments (#) are
/// skipped.
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
                          "--tune has nowhere to write to; expected --table, "
                          "or IRIS_MATMUL_TABLE in the environment");
  for (Options &part : options.plan)
    if (part.shapes.empty())
      part.shapes = options.shapes;
  return options;
}
