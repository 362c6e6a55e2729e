// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- iris-emulate.cpp - Runs code objects of AMD GPUs -------------------===//
//
// A kernel of any code object, from iris-compile, hipcc or Triton, on the
// emulator.
#include "Arguments.h"
#include "Server.h"
#include "iris/Emulator/Emulator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir::iris::emulator;
namespace cl = llvm::cl;
using llvm::Error;
using llvm::StringRef;

static cl::OptionCategory category("iris-emulate options");

static cl::opt<std::string> inputPath(cl::Positional, cl::desc("<IN.hsaco>"),
                                      cl::cat(category));
static cl::opt<std::string>
    kernelName("kernel",
               cl::desc("The kernel; without it the kernels are listed"),
               cl::value_desc("NAME"), cl::cat(category));
static cl::opt<std::string> grid("grid", cl::desc("Workgroups (default: 1)"),
                                 cl::value_desc("X[,Y[,Z]]"), cl::init("1"),
                                 cl::cat(category));
static cl::opt<std::string>
    block("block",
          cl::desc("Threads of a workgroup (default: as many as the kernel "
                   "was compiled for)"),
          cl::value_desc("X[,Y[,Z]]"), cl::cat(category));
static cl::opt<std::string> arguments("args", cl::desc("Arguments: see below"),
                                      cl::value_desc("LIST"),
                                      cl::cat(category));
static cl::opt<unsigned> sharedBytes("lds",
                                     cl::desc("Bytes of LDS beyond those that "
                                              "the kernel has"),
                                     cl::value_desc("N"), cl::init(0),
                                     cl::cat(category));
static cl::opt<Schedule> schedule(
    "schedule", cl::desc("The order in which waves run:"),
    cl::values(
        clEnumValN(Schedule::Random, "random",
                   "in random order, a few instructions each (default)"),
        clEnumValN(Schedule::RoundRobin, "round-robin", "one instruction each"),
        clEnumValN(Schedule::Ahead, "ahead",
                   "each one as far as it can go without others"),
        clEnumValN(Schedule::Behind, "behind", "some only if no other one can"),
        clEnumValN(Schedule::First, "first",
                   "the first one that can run, as far as it can go"),
        clEnumValN(Schedule::Last, "last", "the last one, likewise"),
        clEnumValN(Schedule::LeaderLast, "leader-last",
                   "likewise, where the first wave of a workgroup only "
                   "runs if no other one can"),
        clEnumValN(Schedule::LeaderFirst, "leader-first",
                   "likewise, where it runs first"),
        clEnumValN(Schedule::Shuffled, "shuffled",
                   "likewise, in an order that changes at barriers"),
        clEnumValN(Schedule::Starved, "starved",
                   "likewise, where one wave of each workgroup only "
                   "runs if no other one can"),
        clEnumValN(Schedule::Bursts, "bursts",
                   "a random one for up to 1024 instructions"),
        clEnumValN(Schedule::Crossed, "crossed",
                   "likewise, in opposite orders on devices of even and "
                   "odd numbers")),
    cl::init(Schedule::Random), cl::cat(category));
static cl::opt<Caches> caches(
    "memory", cl::desc("What memory is not coherent with:"),
    cl::values(
        clEnumValN(Caches::None, "coherent",
                   "nothing: stores are visible at once (default)"),
        clEnumValN(Caches::Device, "device", "a cache of each device"),
        clEnumValN(Caches::Workgroup, "wg", "a cache of each workgroup"),
        clEnumValN(Caches::ComputeUnit, "cu",
                   "likewise, written through, on gfx9: the cache of the "
                   "workgroup's compute unit"),
        clEnumValN(Caches::Wave, "wave",
                   "a cache of each wave, on chips whose workgroups may "
                   "have several")),
    cl::init(Caches::None), cl::cat(category));
static cl::opt<bool>
    checksOrder("check-order",
                cl::desc("Report accesses of two waves that nothing orders by "
                         "the memory model of the chip"),
                cl::cat(category));
static cl::opt<uint64_t> seed("seed", cl::desc("Determines the order"),
                              cl::value_desc("N"), cl::init(0),
                              cl::cat(category));
static cl::opt<uint64_t>
    budget("budget",
           cl::desc("Most instructions of all waves together (default: 10^10)"),
           cl::value_desc("N"), cl::init(10000000000u), cl::cat(category));
static cl::opt<unsigned>
    resident("resident",
             cl::desc("The most workgroups of a launch that run at the same "
                      "time (default: 1024)"),
             cl::value_desc("N"), cl::init(1024), cl::cat(category));
static cl::opt<unsigned> repeat("repeat",
                                cl::desc("Run the kernel N times, one after "
                                         "the other"),
                                cl::value_desc("N"), cl::init(1),
                                cl::cat(category));
static cl::opt<bool>
    checksInit("check-init",
               cl::desc("Report addresses, branches and stores that depend on "
                        "registers or LDS that nothing has written"),
               cl::cat(category));
static cl::opt<bool>
    trace("trace",
          cl::desc("Print each instruction that is executed, and its results, "
                   "to standard error"),
          cl::cat(category));
static cl::opt<std::string> tracedGroup("trace-group",
                                        cl::desc("Trace only this workgroup"),
                                        cl::value_desc("X[,Y[,Z]]"),
                                        cl::cat(category));
static cl::list<std::string>
    breakpoints("break",
                cl::desc("End where the first wave reaches this address of the "
                         "code, or a source line, and print its registers"),
                cl::value_desc("ADDRESS or [FILE:]LINE"), cl::cat(category));
static cl::opt<bool>
    allRegisters("registers",
                 cl::desc("Print all registers of the wave after an error, not "
                          "only those of the instruction"),
                 cl::cat(category));
static cl::opt<bool>
    statistics("statistics",
               cl::desc("Print how often each instruction was executed, and "
                        "the time"),
               cl::cat(category));
static cl::opt<unsigned>
    vectorBytes("vector-bytes",
                cl::desc("Execute what hosts with vectors of N bytes execute, "
                         "32: AVX2, fewer: neither that nor AVX-512; slower, "
                         "with the same results (default: 64)"),
                cl::value_desc("N"), cl::init(64), cl::cat(category));
static cl::opt<bool> listKnown("list-instructions",
                               cl::desc("Print the instructions that the "
                                        "emulator knows, and exit"),
                               cl::cat(category));
static cl::opt<bool> serves("serve",
                            cl::desc("Execute launches of a rank on a device "
                                     "emulated:CHIP; started by the runtime"),
                            cl::cat(category));
static cl::opt<bool> listsUnknown("list-unknown",
                                  cl::desc("Print the instructions of all "
                                           "kernels that the emulator cannot "
                                           "execute, and why"),
                                  cl::cat(category));

static Error parseDimensions(StringRef option, StringRef text,
                             Dimensions &dimensions) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ',');
  bool isBad = parts.size() > 3;
  for (unsigned i = 0; i < 3 && i < parts.size(); ++i)
    isBad |= parts[i].getAsInteger(0, dimensions[i]);
  if (isBad)
    return llvm::createStringError("--" + option + " is '" + text +
                                   "'; expected up to three numbers");
  return Error::success();
}

/// The kernels and their arguments.
static void listKernels(const CodeObject &code) {
  llvm::outs() << code.getName() << ": code of " << code.getChip() << "\n";
  for (const Kernel &kernel : code.getKernels()) {
    llvm::outs() << "kernel " << kernel.name << ": up to "
                 << kernel.maxWorkgroupSize << " threads in waves of "
                 << kernel.waveSize << ", " << kernel.numVectors
                 << " vector registers, " << kernel.ldsBytes
                 << " bytes of LDS, " << kernel.scratchBytes
                 << " bytes of scratch for each thread\n";
    unsigned number = 0;
    for (const KernelArgument &argument : kernel.arguments)
      if (!argument.isHidden()) {
        llvm::outs() << "  argument " << number++ << ": " << argument.size
                     << " bytes, " << argument.kind;
        if (!argument.name.empty())
          llvm::outs() << ", " << argument.name;
        llvm::outs() << "\n";
      }
  }
}

static void printStatistics(const RunStatistics &counts, double seconds) {
  std::vector<std::pair<uint64_t, StringRef>> sorted;
  for (const auto &[name, count] : counts.executions)
    sorted.push_back({count, name});
  llvm::sort(sorted, [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (const auto &[count, name] : sorted)
    llvm::outs() << llvm::format("%12llu  ", (unsigned long long)count) << name
                 << "\n";
  llvm::outs() << llvm::format("%12llu",
                               (unsigned long long)counts.instructions)
               << "  instructions of waves in "
               << llvm::format("%.3f s (%.2f million a second)\n", seconds,
                               double(counts.instructions) / seconds / 1e6);
}

static Error runTool() {
  limitVectors(vectorBytes);
  if (listKnown) {
    for (const std::string &name : listInstructions())
      llvm::outs() << name << "\n";
    return Error::success();
  }
  if (serves)
    return iristools::serve(/*socket=*/0);
  if (inputPath.empty())
    return llvm::createStringError("no code object; see --help");
  auto file = llvm::MemoryBuffer::getFile(inputPath, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return llvm::createStringError("cannot read '" + inputPath +
                                   "': " + file.getError().message());
  auto code = CodeObject::load((*file)->getBuffer(), inputPath);
  if (!code)
    return code.takeError();
  if (listsUnknown) {
    auto reasons = listUnknown(**code);
    if (!reasons)
      return reasons.takeError();
    for (const std::string &reason : *reasons)
      llvm::outs() << reason << "\n";
    return Error::success();
  }
  if (kernelName.empty()) {
    listKernels(**code);
    return Error::success();
  }
  auto kernel = (*code)->find(kernelName);
  if (!kernel)
    return kernel.takeError();
  Launch launch;
  launch.code = code->get();
  launch.kernel = *kernel;
  launch.threads[0] = (*kernel)->maxWorkgroupSize;
  launch.extraLdsBytes = sharedBytes;
  if (Error error = parseDimensions("grid", grid, launch.groups))
    return error;
  if (!block.empty()) {
    launch.threads = {1, 1, 1};
    if (Error error = parseDimensions("block", block, launch.threads))
      return error;
  }
  Memory memory;
  auto parsed = iristools::parseArguments(arguments, memory);
  if (!parsed)
    return parsed.takeError();
  auto packed = packArguments(**kernel, parsed->values, launch);
  if (!packed)
    return packed.takeError();
  launch.arguments = std::move(*packed);

  RunOptions options;
  options.schedule = schedule;
  options.seed = seed;
  options.caches = caches;
  options.checksOrder = checksOrder;
  options.checksInit = checksInit;
  options.registersOfErrors =
      allRegisters ? Registers::All : Registers::Operands;
  if (trace)
    options.trace = &llvm::errs();
  if (!tracedGroup.empty()) {
    options.tracedGroup = {0, 0, 0};
    if (Error error =
            parseDimensions("trace-group", tracedGroup, *options.tracedGroup))
      return error;
    options.trace = &llvm::errs();
  }
  for (const std::string &text : breakpoints) {
    auto positions = findPositions(**code, text);
    if (!positions)
      return positions.takeError();
    llvm::append_range(options.breakpoints, *positions);
  }
  options.budget = budget;
  options.residentGroups = std::max(1u, unsigned(resident));
  auto begin = std::chrono::steady_clock::now();
  Emulator emulator(memory, options);
  for (unsigned i = 0; i < std::max(1u, unsigned(repeat)); ++i) {
    auto number = emulator.launch(launch);
    if (!number)
      return number.takeError();
  }
  if (Error error = emulator.finish())
    return error;
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  if (Error error = iristools::finish(*parsed))
    return error;
  if (statistics)
    printStatistics(emulator.getStatistics(), time.count());
  return Error::success();
}

int main(int argc, char **argv) {
  cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "iris-emulate " << IRIS_VERSION << "\n";
  });
  cl::HideUnrelatedOptions(category);
  std::string more = iristools::explainArguments;
  more += R"(EXAMPLES

  iris-compile kernels.mlir --target=gfx942 --emit=obj -o kernels.hsaco
  iris-emulate kernels.hsaco
      the kernels and their arguments
  iris-emulate add.hsaco --kernel=add --grid=4 --block=64 \
      --args=buf:1024:hash=1,buf:1024:print,i32:256
      four workgroups; the second buffer is printed
  iris-emulate add.hsaco --kernel=add --schedule=behind --seed=7 --args=...
      the same in another order, which the seed determines
  iris-emulate add.hsaco --kernel=add --check-init --trace-group=0 --args=...
      the instructions of the first workgroup, and what they write
  iris-emulate add.hsaco --kernel=add --break=kernels.mlir:12 --args=...
      the registers of the first wave that reaches this line

The emulator executes machine code as the ISA documents specify it, and reports
accesses out of bounds, results that are used before a wait, and deadlocks:
waves that wait at barriers or poll forever, with what they load and which wave
stored there last. Errors have the registers of the instruction. It says nothing
about speed.
)";
  cl::extrahelp help(more);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Runs a kernel of a code object for AMD GPUs, without a GPU\n");
  if (Error error = runTool()) {
    llvm::errs() << "iris-emulate: " << llvm::toString(std::move(error))
                 << "\n";
    return 1;
  }
  return 0;
}
