// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.cpp - Command line of iris-run -----------------------------===//
#include "Options.h"

#include "iris-c/RuntimeABI.h"
#include "iris/rt/Env.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>

using namespace iris;
using namespace iris::run;
using rt::StatusCode;

const char iris::run::helpText[] =
    R"(iris-run: runs a self-checking Iris program on several ranks of this machine

usage: iris-run [options] PROGRAM

PROGRAM is a package (written by `iris-compile --emit=package`), which needs no
compiler on this machine, or an .mlir file, which is compiled first.  It holds
kernels and a host function

  func.func @main(%ctx: !iris.ctx)

that every rank runs: it allocates on the symmetric heap, launches kernels and
synchronizes.  Kernels check their results with iris.expect_eq.

options:
  -n N                  ranks to start (default 2)
  --device=host|hip|cuda|emulated:CHIP
                        device of the ranks: CPU threads (default), AMD GPUs,
                        NVIDIA GPUs, one per rank, or an emulator that executes
                        the code of an AMD chip, such as emulated:gfx942, found
                        by IRIS_EMULATOR
  --ranks=processes|threads
                        one process per rank (default), or all ranks as threads
                        of one process, for debuggers and sanitizers
  --heap=SIZE           symmetric heap of one rank, such as 512M or 4G
  --timeout=S           time limit of one wait in a kernel, in seconds; the
                        program then fails and reports the wait (default 30;
                        0: unlimited)
  --debug               host only: check every rank, index and size in remote,
                        atomic and synchronizing accesses; the first invalid
                        one ends the run and is reported (a package must be
                        compiled with iris-compile --debug)
  --trace=FILE          write the spans of iris.trace, waits and barriers to
                        FILE for ui.perfetto.dev, and a summary to standard
                        output (a package must be compiled with iris-compile
                        --trace)
  --trace-events=N      number of latest events to keep for each program
                        (default 512, at most 32768; each takes 40 bytes of the
                        heap, for 512 programs)
  -v                    log the steps of the runtime
  --help, --version
  --help-env            print every environment variable that the runtime reads

exit status: 0 if every check on every rank held and at least one ran, else 1.

environment: IRIS_COMPILE is the path of the compiler (default: iris-compile
next to iris-run); IRIS_LOG=info|debug logs more; see docs for other variables.

examples:
  iris-run -n 4 examples/02-all-gather/all_gather.mlir
  iris-compile all_gather.mlir --target=host,sm_90a --emit=package -o ag.pkg
  iris-run -n 2 --device=cuda ag.pkg
)";

/// The value of "--name=value" or "--name value"; none for other options.
static std::optional<std::string> valueOf(const std::string &name, int argc,
                                          char **argv, int &index) {
  std::string arg = argv[index];
  if (arg.rfind(name + "=", 0) == 0)
    return arg.substr(name.size() + 1);
  if (arg == name && index + 1 < argc)
    return std::string(argv[++index]);
  return std::nullopt;
}

static rt::Expected<uint64_t> parseCount(const std::string &text, uint64_t most,
                                         const char *what) {
  char *end = nullptr;
  errno = 0;
  unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] == '-' || *end != '\0' || errno != 0 ||
      value > most)
    return rt::makeStatus(StatusCode::invalidArgument,
                          "%s '%s'; expected a number up to %llu", what,
                          text.c_str(), static_cast<unsigned long long>(most));
  return static_cast<uint64_t>(value);
}

static rt::Status parseRanks(const std::string &text, Options &options) {
  IRISRT_ASSIGN_OR_RETURN(uint64_t ranks,
                          parseCount(text, IRISRT_MAX_RANKS, "-n"));
  if (ranks == 0)
    return rt::makeStatus(StatusCode::invalidArgument,
                          "-n 0; expected 1 to %d ranks", IRISRT_MAX_RANKS);
  options.numRanks = static_cast<uint32_t>(ranks);
  return {};
}

static rt::Status parseSeconds(const std::string &text, Options &options) {
  char *end = nullptr;
  double seconds = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(seconds) || seconds < 0)
    return rt::makeStatus(StatusCode::invalidArgument,
                          "--timeout=%s; expected seconds", text.c_str());
  options.waitLimit = seconds;
  return {};
}

/// Parses argv[index], and argv[index + 1] if it is the value.
static rt::Status parseOne(int argc, char **argv, int &index,
                           Options &options) {
  std::string arg = argv[index];
  if (arg == "--help" || arg == "-h") {
    options.help = true;
    return {};
  }
  if (arg == "--help-env") {
    options.helpEnv = true;
    return {};
  }
  if (arg == "--version") {
    options.version = true;
    return {};
  }
  if (arg == "-v" || arg == "--verbose") {
    options.verbose = true;
    return {};
  }
  if (arg == "--debug") {
    options.debug = true;
    return {};
  }
  if (arg == "--print-target") {
    options.printTarget = true;
    return {};
  }
  if (arg.rfind("-n", 0) == 0 && arg.size() > 2)
    return parseRanks(arg.substr(2), options);
  if (auto value = valueOf("-n", argc, argv, index))
    return parseRanks(*value, options);
  if (auto value = valueOf("--device", argc, argv, index)) {
    IRISRT_ASSIGN_OR_RETURN(options.device, rt::parseDevice(*value));
    return {};
  }
  if (auto value = valueOf("--ranks", argc, argv, index)) {
    if (*value != "processes" && *value != "threads")
      return rt::makeStatus(StatusCode::invalidArgument,
                            "--ranks=%s; expected processes or threads",
                            value->c_str());
    options.threads = *value == "threads";
    return {};
  }
  if (auto value = valueOf("--heap", argc, argv, index)) {
    IRISRT_ASSIGN_OR_RETURN(options.heapBytes, rt::parseByteSize(*value));
    return {};
  }
  if (auto value = valueOf("--timeout", argc, argv, index))
    return parseSeconds(*value, options);
  if (auto value = valueOf("--trace", argc, argv, index)) {
    if (value->empty())
      return rt::makeStatus(StatusCode::invalidArgument,
                            "--trace=; expected the name of a file");
    options.trace = *value;
    return {};
  }
  if (auto value = valueOf("--trace-events", argc, argv, index)) {
    IRISRT_ASSIGN_OR_RETURN(
        uint64_t events,
        parseCount(*value, 1u << IRISRT_TRACE_MAX_LOG2, "--trace-events"));
    if (events == 0)
      return rt::makeStatus(StatusCode::invalidArgument,
                            "--trace-events=0; expected 1 or more");
    options.traceEvents = static_cast<uint32_t>(events);
    return {};
  }
  if (auto value = valueOf("--result-fd", argc, argv, index)) {
    IRISRT_ASSIGN_OR_RETURN(uint64_t fd,
                            parseCount(*value, 1 << 20, "--result-fd"));
    options.resultFd = static_cast<int>(fd);
    return {};
  }
  if (arg.size() > 1 && arg[0] == '-')
    return rt::makeStatus(StatusCode::invalidArgument,
                          "unknown option '%s'; see --help", arg.c_str());
  if (!options.program.empty())
    return rt::makeStatus(StatusCode::invalidArgument,
                          "two programs, '%s' and '%s'; expected one",
                          options.program.c_str(), arg.c_str());
  options.program = arg;
  return {};
}

rt::Expected<Options> iris::run::parseOptions(int argc, char **argv) {
  Options options;
  for (int index = 1; index < argc; ++index)
    IRISRT_RETURN_IF_ERROR(parseOne(argc, argv, index, options));
  if (options.program.empty() && !options.help && !options.helpEnv &&
      !options.version && !options.printTarget)
    return rt::makeStatus(StatusCode::invalidArgument,
                          "no program; see --help");
  if (options.debug && options.device.kind != rt::DeviceKind::host)
    return rt::makeStatus(
        StatusCode::invalidArgument,
        "--debug checks accesses on the host only; expected --device=host");
  return options;
}
