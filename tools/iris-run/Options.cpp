// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.cpp - Command line of iris-run -----------------------------===//
#include "Options.h"

#include "compile/Interpreter.h"

#include "CommandLine.h"

#include "iris-c/RuntimeABI.h"
#include "iris/rt/Env.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>

using namespace iris;
using namespace iris::run;
using rt::Status;
using rt::StatusCode;

static const char overview[] =
    R"(iris-run: runs a self-checking Iris program on several ranks of this machine

usage: iris-run [options] PROGRAM

PROGRAM is a package (written by `iris-compile --emit=package`), which needs no
compiler on this machine, or an .mlir file, which is compiled first.  It holds
kernels and a host function

  func.func @main(%ctx: !iris.ctx)

that every rank runs: it allocates on the symmetric heap, launches kernels and
synchronizes.  Kernels check their results with iris.expect_eq.

)";

static const char remarks[] = R"(
exit status: 0 if every check on every rank held and at least one ran, else 1.

environment: IRIS_COMPILE is the path of the compiler (default: iris-compile
next to iris-run); IRIS_LOG=info|debug logs more; see docs for other variables.

examples:
  iris-run -n 4 examples/02-all-gather/all_gather.mlir
  iris-compile all_gather.mlir --target=host,sm_90a --emit=package -o ag.pkg
  iris-run -n 2 --device=cuda ag.pkg
)";

static Value seconds(std::optional<double> &target) {
  return {
      [&target](const std::string &option, const std::string &text) -> Status {
        char *end = nullptr;
        double value = std::strtod(text.c_str(), &end);
        if (text.empty() || *end != '\0' || !std::isfinite(value) || value < 0)
          return rt::makeStatus(StatusCode::invalidArgument,
                                "%s; expected seconds, 0 or more",
                                spelled(option, text).c_str());
        target = value;
        return {};
      }};
}

static Value program(std::string &target) {
  return {[&target](const std::string &, const std::string &text) -> Status {
    if (!target.empty())
      return rt::makeStatus(StatusCode::invalidArgument,
                            "two programs, '%s' and '%s'; expected one",
                            target.c_str(), text.c_str());
    target = text;
    return {};
  }};
}

/// A device, or the interpreter.
static Value deviceOrReference(Options &options) {
  Value usual = device(options.device);
  return {[parse = usual.parse, &options](const std::string &option,
                                          const std::string &text) -> Status {
            options.reference = text == "reference";
            if (options.reference)
              return {};
            Status status = parse(option, text);
            return status.ok()
                       ? status
                       : rt::makeStatus(status.code(), "%s, or reference",
                                        status.message().c_str());
          },
          usual.initial};
}

static Value comparison(bool &target) {
  return {
      [&target](const std::string &option, const std::string &text) -> Status {
        target = text == "reference";
        return target ? Status()
                      : rt::makeStatus(StatusCode::invalidArgument,
                                       "%s; expected reference",
                                       spelled(option, text).c_str());
      }};
}

/// Whether `text` is a type and a tolerance, such as "f32=1e-5".
static bool isTolerance(const std::string &text) {
  size_t equals = text.find('=');
  std::string type = text.substr(0, equals);
  if (equals == std::string::npos ||
      (type != "f16" && type != "bf16" && type != "f32" && type != "f64"))
    return false;
  const char *number = text.c_str() + equals + 1;
  char *end = nullptr;
  double value = std::strtod(number, &end);
  return end != number && *end == '\0' && value >= 0 && value < 1;
}

static Value toleranceList(std::string &target) {
  return {
      [&target](const std::string &option, const std::string &text) -> Status {
        for (const std::string &word : split(text, ','))
          if (!isTolerance(word))
            return rt::makeStatus(
                StatusCode::invalidArgument,
                "%s; expected types (f16, bf16, f32, f64) with numbers from 0 "
                "to less than 1, such as f32=1e-5,f16=1e-2",
                spelled(option, text).c_str());
        target = text;
        return {};
      }};
}

static Value wholeNumber(std::optional<uint64_t> &target) {
  return {
      [&target](const std::string &option, const std::string &text) -> Status {
        char *end = nullptr;
        errno = 0;
        uint64_t value = std::strtoull(text.c_str(), &end, 10);
        if (text.empty() || text[0] < '0' || text[0] > '9' || *end != '\0' ||
            errno != 0)
          return rt::makeStatus(StatusCode::invalidArgument,
                                "%s; expected a number from 0 to 2^64 - 1",
                                spelled(option, text).c_str());
        target = value;
        return {};
      }};
}

/// `--check` and its options; the interpreter makes the check.
static Status checkCheck(const Options &options) {
  if (options.check && options.compare)
    return rt::makeStatus(StatusCode::invalidArgument,
                          "--check executes the program in the interpreter "
                          "alone; expected no --compare");
  if (options.check && options.device.kind != rt::DeviceKind::host)
    return rt::makeStatus(StatusCode::invalidArgument,
                          "--check executes the program in the interpreter; "
                          "expected no --device");
  const rt::CheckOptions &how = options.interpreter;
  const char *ofCheck = how.numSchedules            ? "--schedules"
                        : how.exhaust               ? "--exhaust"
                        : how.maxExecutions         ? "--max-executions"
                        : !how.replay.empty()       ? "--replay"
                        : !how.saveSchedule.empty() ? "--save-schedule"
                        : !how.draw.empty()         ? "--draw"
                                                    : nullptr;
  if (!options.check && ofCheck)
    return rt::makeStatus(StatusCode::invalidArgument,
                          "%s is of a check; expected --check", ofCheck);
  return rt::validate(how);
}

/// Options of devices mean nothing to the interpreter.
static Status checkReference(const Options &options) {
  const char *wrong = options.threads            ? "--ranks=threads"
                      : options.debug            ? "--debug"
                      : options.waitLimit        ? "--timeout"
                      : options.compileLimit     ? "--compile-limit"
                      : !options.trace.empty()   ? "--trace"
                      : options.traceEvents != 0 ? "--trace-events"
                                                 : nullptr;
  if (options.reference && wrong)
    return rt::makeStatus(StatusCode::invalidArgument,
                          "%s has no meaning for --device=reference, which "
                          "compiles nothing, checks every access, and reports "
                          "waits that no step can end",
                          wrong);
  if (options.reference && options.compare)
    return rt::makeStatus(StatusCode::invalidArgument,
                          "--compare=reference compares a device with the "
                          "reference; expected another device than "
                          "--device=reference");
  if (!options.reference && !options.compare &&
      options.interpreter.scheduleSeed)
    return rt::makeStatus(StatusCode::invalidArgument,
                          "--schedule-seed orders the steps of the reference; "
                          "expected --device=reference or "
                          "--compare=reference");
  if (options.interpreter.resident && !options.reference)
    return rt::makeStatus(StatusCode::invalidArgument,
                          "--resident is of the interpreter; expected --check "
                          "or --device=reference");
  if (!options.compare && !options.tolerances.empty())
    return rt::makeStatus(StatusCode::invalidArgument,
                          "--tolerance is of a comparison; expected "
                          "--compare=reference");
  return {};
}

static CommandLine describe(Options &options) {
  rt::CheckOptions &how = options.interpreter;
  CommandLine line;
  line.section("options");
  line.option("-n", "N", number(options.numRanks, 1, IRISRT_MAX_RANKS),
              "ranks to start");
  line.option(
      "--device", "host|hip|cuda|emulated:CHIP|reference",
      deviceOrReference(options),
      "device of the ranks: CPU threads, AMD GPUs, NVIDIA GPUs, one per "
      "rank, an emulator that executes the code of an AMD chip, such "
      "as emulated:gfx942 (IRIS_EMULATOR), or the interpreter, which "
      "executes an .mlir program by the definition of its ops, compiles "
      "nothing, and reports undefined behaviour and deadlocks");
  line.option("--compare", "reference", comparison(options.compare),
              "run an .mlir program on the device and in the interpreter, and "
              "compare all buffers of all ranks at each iris.sync and at the "
              "end of @main; the program needs no checks");
  line.option("--tolerance", "TYPE=T[,...]", toleranceList(options.tolerances),
              "how far floats of a type may be from the reference, such as "
              "f32=1e-5: T times the larger of 1 and the expected magnitude "
              "(default: 0, equal bits or both NaN)");
  line.flag({"--check"}, options.check,
            "look for data races and deadlocks: the interpreter executes the "
            ".mlir program in several orders and reports accesses that no "
            "synchronization orders; the program needs no checks");
  line.option("--schedules", "N", wholeNumber(how.numSchedules),
              "of --check: the random orders to try (default 10)");
  line.flag({"--exhaust"}, how.exhaust,
            "of --check: in place of random orders, all of them, but one of "
            "those that differ only in the order of ops that do not conflict");
  line.option("--max-executions", "N", wholeNumber(how.maxExecutions),
              "of --exhaust: executions after which it stops, and says so "
              "(default 100000)");
  line.option("--resident", "N", wholeNumber(how.resident),
              "of --check and --device=reference: programs of a device that "
              "run at once; another one starts when one ends (default: all of "
              "a launch)");
  line.option("--save-schedule", "FILE", fileName(how.saveSchedule),
              "of --check: write the order that failed to FILE (--exhaust "
              "without it: to a temporary file, which the report names)");
  line.option("--replay", "FILE", fileName(how.replay),
              "of --check: repeat the order of FILE, with its ranks and "
              "resident programs");
  line.option("--draw", "FILE.svg|FILE.json", fileName(how.draw),
              "of --check: draw the order that failed, or that --replay "
              "repeats: a column for each program, and what comes before what; "
              ".json is for ui.perfetto.dev");
  line.option("--schedule-seed", "N", wholeNumber(how.scheduleSeed),
              "reference only: determines the order in which programs take "
              "steps (default 0)");
  line.option(
      "--ranks", "processes|threads",
      word(options.threads, std::vector<bool>{false, true},
           [](bool threads) { return threads ? "threads" : "processes"; }),
      "one process per rank, or all ranks as threads of one process, "
      "for debuggers and sanitizers");
  line.option("--heap", "SIZE", byteSize(options.heapBytes),
              "symmetric heap of one rank, such as 512M or 4G");
  line.option("--timeout", "S", seconds(options.waitLimit),
              "time limit of one wait in a kernel, in seconds; the program "
              "then fails and reports the wait (default 30; 0: unlimited)");
  line.option("--compile-limit", "S", seconds(options.compileLimit),
              "time limit of the compilation of an .mlir program, in seconds; "
              "the compiler is then killed (default 240)");
  line.flag({"--debug"}, options.debug,
            "host only: check every rank, index and size in remote, atomic and "
            "synchronizing accesses; the first invalid one ends the run and is "
            "reported (a package must be compiled with iris-compile --debug)");
  line.option("-g", "0|1",
              word(options.lineTables, std::vector<bool>{false, true},
                   [](bool lines) { return lines ? "1" : "0"; }),
              "compile an .mlir program with line tables, which debuggers and "
              "profilers read (-g1), or without them (-g0)");
  line.option("--trace", "FILE", fileName(options.trace),
              "write the spans of iris.trace, waits and barriers to FILE for "
              "ui.perfetto.dev, and a summary to standard output (a package "
              "must be compiled with iris-compile --trace)");
  line.option("--trace-events", "N",
              number(options.traceEvents, 1, 1u << IRISRT_TRACE_MAX_LOG2),
              "number of latest events to keep for each program (default 512, "
              "at most 32768; each takes 40 bytes of the heap, for 512 "
              "programs)");
  line.flag({"-v", "--verbose"}, options.verbose,
            "log the steps of the runtime");
  line.flag({"-h", "--help"}, options.help, "print this text");
  line.flag({"--version"}, options.version, "print the version");
  line.flag({"--help-env"}, options.helpEnv,
            "print every environment variable that the runtime reads");
  // What iris-run passes to itself.
  line.option("--result-fd", "FD", number(options.resultFd, 0, 1 << 20), "");
  line.option("--dump-fd", "FD", number(options.dumpFd, 0, 1 << 20), "");
  line.flag({"--print-target"}, options.printTarget, "");
  line.positional("PROGRAM", program(options.program));
  return line;
}

std::string iris::run::helpText() {
  Options options;
  return overview + describe(options).help() + remarks;
}

rt::Expected<Options> iris::run::parseOptions(int argc, char **argv) {
  Options options;
  IRISRT_RETURN_IF_ERROR(describe(options).parse({argv + 1, argv + argc}));
  if (options.program.empty() && !options.help && !options.helpEnv &&
      !options.version && !options.printTarget)
    return rt::makeStatus(StatusCode::invalidArgument,
                          "no program; see --help");
  if (!options.help && !options.version) {
    IRISRT_RETURN_IF_ERROR(checkCheck(options));
    options.reference |= options.check;
    IRISRT_RETURN_IF_ERROR(checkReference(options));
  }
  if (options.debug && options.device.kind != rt::DeviceKind::host)
    return rt::makeStatus(
        StatusCode::invalidArgument,
        "--debug checks accesses on the host only; expected --device=host");
  return options;
}
