// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Emulator.cpp - The schedule of waves -------------------------------===//
#include "iris/Emulator/Emulator.h"
#include "Deadlock.h"
#include "Decoder.h"
#include "Dispatch.h"
#include "InitCheck.h"
#include "Lines.h"
#include "Registers.h"
#include "Scheduler.h"
#include "iris/Chips/AMDExecution.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::iris::emulator;
using llvm::Error;

class Emulator::Machine {
public:
  Machine(Memory &memory, const RunOptions &options)
      : state{memory}, options(options),
        scheduler(options.schedule, options.seed) {
    state.clock = options.clock;
    state.checksInit = options.checksInit;
    isObserved =
        options.checksInit || options.trace || !options.breakpoints.empty();
    if (options.checksOrder)
      state.order = std::make_unique<OrderCheck>(options.explainsOrder);
  }
  ~Machine();

  llvm::Expected<unsigned> launch(Launch launch);
  Error advance(uint64_t instructions, bool stopsIfAllWait);
  bool isDone(unsigned launch) {
    if (ended[launch] && state.order)
      state.order->waitForLaunch(launch);
    return ended[launch];
  }
  bool isIdle() const { return groups.empty(); }
  RunStatistics getStatistics() const;
  void forEachExecuted(ExecutionFunction function) const;
  void forEachOrder(OrderFunction function) const {
    if (state.order)
      state.order->forEachOrder(function);
  }
  uint64_t countStores() const { return state.stores; }
  Error checkHostAccess(unsigned device, const void *data, uint64_t bytes,
                        bool isStore) {
    std::string report =
        state.order
            ? state.order->accessByHost(
                  device, reinterpret_cast<uintptr_t>(data), bytes, isStore)
            : "";
    return report.empty() ? Error::success() : llvm::createStringError(report);
  }
  void willChange(const void *data, uint64_t bytes) {
    uint64_t address = reinterpret_cast<uintptr_t>(data);
    if (options.caches != Caches::None)
      state.history.keep(address, bytes);
    if (state.order)
      state.order->forget(address, bytes);
  }

private:
  Error prepare(const Launch &launch);
  /// Starts launches whose predecessors have ended, and workgroups that fit.
  void startWork();
  Cache *deviceCacheOf(const Launch &launch);
  /// Removes workgroups whose waves have all ended.
  void retire();
  void collectReady();
  void completeStores();
  /// Lets waves run, each for a number of instructions.
  Error turn();
  Error runWave(Wave &wave, uint64_t count);
  /// What options ask for in front of an instruction, and after it.
  Error beginInstruction(Wave &wave, const Instruction &instruction);
  void endInstruction(Wave &wave, const Instruction &instruction);
  /// The next instruction, where the table does not have it.
  static llvm::Expected<const Instruction *> decodeNext(const Wave &wave);
  /// Starts workgroups that were left for later: another one now and then, more
  /// if all others wait, maybe for them. Whether any has started.
  bool startMore(bool isNecessary);
  /// Whether all waves that can run have slept a short while ago.
  bool isPolling() const;
  Error describe(Wave &wave, const Instruction *instruction,
                 const llvm::Twine &message) const;
  Error describe(Wave &wave, const Instruction *instruction,
                 const llvm::Twine &message, Registers registers) const;
  std::string where(const Workgroup &group) const;
  std::string where(const Wave &wave) const;
  std::string describeReady() const;
  /// An error if the waves that can run loop forever.
  Error searchDeadlock();
  Error reportDeadlock();

  MachineState state;
  RunOptions options;
  Scheduler scheduler;
  std::map<std::string, std::unique_ptr<Disassembler>> disassemblers;
  std::map<const Kernel *, std::unique_ptr<Program>> programs;
  std::vector<const CodeObject *> codes;
  /// Launches do not move: waves refer to them.
  std::deque<Launch> launches;
  std::vector<std::unique_ptr<Dispatch>> dispatches;
  /// Those of which more workgroups could run at the same time.
  std::vector<Dispatch *> unstarted;
  /// Of devices, where they are modelled.
  std::map<unsigned, Cache> deviceCaches;
  std::vector<bool> ended;
  std::vector<std::unique_ptr<Workgroup>> groups;
  std::vector<Wave *> ready;
  std::vector<Burst> bursts;
  /// Whether `beginInstruction` and `endInstruction` have anything to do.
  bool isObserved = false;
  DeadlockSearch deadlocks;
};

Emulator::Machine::~Machine() {
  for (const CodeObject *code : codes)
    state.memory.remove(code->getImage().data());
}

/// The kinds of caches and their names on command lines.
static constexpr std::pair<Caches, llvm::StringLiteral> cacheNames[] = {
    {Caches::None, "coherent"},
    {Caches::Device, "device"},
    {Caches::Workgroup, "wg"},
    {Caches::ComputeUnit, "cu"},
    {Caches::Wave, "wave"}};

/// Whether the chip may have such caches.
static bool hasCaches(const irischips::AMDExecution &execution, Caches caches) {
  switch (caches) {
  case Caches::None:
    return true;
  case Caches::Device:
    return execution.cacheControl != irischips::CacheControl::Bypass;
  case Caches::Workgroup:
    // gfx12 writes them through, so that releases of a device's scope have no
    // write-back.
    return execution.cacheControl == irischips::CacheControl::ScopeBits;
  case Caches::ComputeUnit:
    return !execution.hasCachesOfWaves;
  case Caches::Wave:
    return execution.hasCachesOfWaves;
  }
  llvm_unreachable("unknown caches");
}

/// Why the chip `name` cannot have `caches`, and which ones it has.
static std::string describeMissing(Caches caches, llvm::StringRef name,
                                   const irischips::AMDExecution &execution) {
  llvm::StringRef given;
  llvm::SmallVector<llvm::StringRef> others;
  for (auto [kind, kindName] : cacheNames) {
    if (kind == caches)
      given = kindName;
    if (hasCaches(execution, kind))
      others.push_back(kindName);
  }
  return llvm::formatv("memory is '{0}' (--memory, IRIS_EMULATOR_MEMORY), but "
                       "{1} has no such caches; expected {2}",
                       given, name, llvm::join(others, ", "));
}

Error Emulator::Machine::prepare(const Launch &launch) {
  const Kernel &kernel = *launch.kernel;
  auto fail = [&](const llvm::Twine &message) {
    return llvm::createStringError("kernel '" + kernel.name + "': " + message);
  };
  uint64_t numThreads = 1, numGroups = 1;
  for (unsigned i = 0; i < 3; ++i) {
    numThreads *= std::min<uint64_t>(launch.threads[i], 1 << 16);
    numGroups *= std::min<uint64_t>(launch.groups[i], 1 << 20);
  }
  if (numThreads == 0 || numThreads > kernel.maxWorkgroupSize)
    return fail("a workgroup of " + llvm::Twine(numThreads) +
                " threads; expected 1 to " +
                llvm::Twine(kernel.maxWorkgroupSize));
  if (numGroups == 0)
    return fail("no workgroups");
  if (launch.arguments.size() != kernel.kernargBytes)
    return fail("arguments of " + llvm::Twine(launch.arguments.size()) +
                " bytes; expected " + llvm::Twine(kernel.kernargBytes));
  const CodeObject &code = *launch.code;
  const irischips::AMDExecution &execution = code.getExecution();
  if (!hasCaches(execution, options.caches))
    return fail(describeMissing(options.caches, code.getChip(), execution));
  std::unique_ptr<Disassembler> &disassembler =
      disassemblers[code.getChip().str()];
  if (!disassembler) {
    auto created = Disassembler::create(code.getChip());
    if (!created)
      return created.takeError();
    disassembler = std::move(*created);
  }
  std::unique_ptr<Program> &program = programs[&kernel];
  if (!program)
    program =
        std::make_unique<Program>(code, kernel, *disassembler, options.removed);
  if (!llvm::is_contained(codes, &code)) {
    codes.push_back(&code);
    state.memory.add(code.getImage().data(), code.getImage().size(),
                     /*isWritable=*/false,
                     ("the code of " + code.getName()).str());
  }
  return Error::success();
}

llvm::Expected<unsigned> Emulator::Machine::launch(Launch launch) {
  if (Error error = prepare(launch))
    return std::move(error);
  if (state.order)
    state.order->addLaunch(launch.device, launch.queue);
  launches.push_back(std::move(launch));
  dispatches.emplace_back();
  ended.push_back(false);
  startWork();
  return unsigned(launches.size() - 1);
}

Cache *Emulator::Machine::deviceCacheOf(const Launch &launch) {
  if (options.caches != Caches::Device)
    return nullptr;
  return &deviceCaches
              .try_emplace(launch.device, state.history, Scope::System,
                           /*writesThrough=*/false)
              .first->second;
}

void Emulator::Machine::startWork() {
  std::vector<bool> isBusy;
  unstarted.clear();
  for (size_t i = 0; i < launches.size(); ++i) {
    const Launch &launch = launches[i];
    isBusy.resize(std::max<size_t>(isBusy.size(), launch.queue + 1));
    if (ended[i] || isBusy[launch.queue])
      continue;
    isBusy[launch.queue] = true;
    std::unique_ptr<Dispatch> &dispatch = dispatches[i];
    if (!dispatch) {
      dispatch = std::make_unique<Dispatch>(
          state, launch, unsigned(i), *programs[launch.kernel], options.caches,
          deviceCacheOf(launch));
      dispatch->mostRunning =
          std::min(options.residentGroups,
                   scheduler.countAtFirst(dispatch->countWavesOfGroup()));
    }
    while (dispatch->hasMoreGroups() &&
           dispatch->numRunning < dispatch->mostRunning) {
      groups.push_back(dispatch->startGroup());
      scheduler.start(*groups.back());
    }
    if (dispatch->hasMoreGroups() &&
        dispatch->mostRunning < options.residentGroups)
      unstarted.push_back(dispatch.get());
  }
}

void Emulator::Machine::retire() {
  bool changed = false;
  llvm::erase_if(groups, [&](const std::unique_ptr<Workgroup> &group) {
    if (group->numLive)
      return false;
    changed = true;
    Dispatch &dispatch = *dispatches[group->launch];
    if (--dispatch.numRunning == 0 && !dispatch.hasMoreGroups()) {
      ended[group->launch] = true;
      dispatch.writeBack();
      if (state.order)
        state.order->endLaunch(group->launch);
      dispatches[group->launch].reset();
    }
    return true;
  });
  if (changed)
    startWork();
  if (groups.empty())
    state.history.clear();
}

bool Emulator::Machine::startMore(bool isNecessary) {
  bool changed = false;
  for (Dispatch *dispatch : unstarted) {
    if (!isNecessary && !scheduler.startsAnother())
      continue;
    unsigned most = dispatch->mostRunning;
    dispatch->mostRunning =
        std::min(options.residentGroups, isNecessary ? 2 * most : most + 1);
    changed = true;
  }
  if (changed)
    startWork();
  return changed;
}

void Emulator::Machine::collectReady() {
  ready.clear();
  for (const std::unique_ptr<Workgroup> &group : groups)
    for (const std::unique_ptr<Wave> &wave : group->waves) {
      if (wave->status == WaveStatus::AtBarrier &&
          group->generation > wave->barrier) {
        wave->status = WaveStatus::Running;
        if (state.order)
          state.order->leave(*wave);
        scheduler.release(*wave);
      }
      if (wave->status == WaveStatus::Running)
        ready.push_back(wave.get());
    }
}

void Emulator::Machine::completeStores() {
  for (const std::unique_ptr<Workgroup> &group : groups)
    for (const std::unique_ptr<Wave> &wave : group->waves)
      wave->completeStores();
}

Error Emulator::Machine::turn() {
  collectReady();
  if (!unstarted.empty() && startMore(/*isNecessary=*/isPolling()))
    collectReady();
  if (ready.empty())
    return reportDeadlock();
  auto isAsleep = [](const Wave *wave) { return wave->isAsleep; };
  if (llvm::all_of(ready, isAsleep))
    // They may wait for stores of waves at barriers.
    completeStores();
  scheduler.choose(ready, state.executed, bursts);
  for (Burst burst : bursts)
    if (Error error = runWave(*burst.wave, burst.count))
      return error;
  return Error::success();
}

llvm::Expected<const Instruction *>
Emulator::Machine::decodeNext(const Wave &wave) {
  if (!wave.isIndexing())
    return wave.program.decodeAt(wave.position);
  // Without active lanes nothing is written, whatever the index.
  return wave.program.decodeAt(wave.position, wave.exec() ? wave.getOffsets()
                                                          : RegisterOffsets());
}

Error Emulator::Machine::runWave(Wave &wave, uint64_t count) {
  Program &program = wave.program;
  llvm::ArrayRef<const Instruction *> table = program.getTable();
  uint64_t begin = state.executed;
  wave.isAsleep = false;
  // From one instruction to the next without the table: otherwise, a chain of
  // loads would take longer than most handlers.
  const Instruction *last = nullptr, *instruction = nullptr;
  for (; count; --count) {
    if (!instruction) {
      uint32_t position = wave.position;
      bool isIndexing = wave.isIndexing();
      if (LLVM_LIKELY(position < table.size() && !isIndexing))
        instruction = table[position];
      if (LLVM_UNLIKELY(!instruction)) {
        auto decoded = decodeNext(wave);
        if (!decoded)
          return describe(wave, nullptr, llvm::toString(decoded.takeError()));
        instruction = *decoded;
      }
      if (last && last->end == position && !isIndexing)
        last->next = instruction;
    }
    if (LLVM_UNLIKELY(wave.outstanding.mayBePending(*instruction)))
      if (const Instruction *issuer =
              wave.outstanding.findPending(*instruction))
        return describe(wave, instruction,
                        describeMissingWait(program, *issuer));
    if (LLVM_UNLIKELY(isObserved))
      if (Error error = beginInstruction(wave, *instruction))
        return error;
    wave.position = instruction->end;
    ++instruction->executions;
    ++state.executed;
    instruction->run(wave, *instruction);
    if (LLVM_UNLIKELY(isObserved))
      endInstruction(wave, *instruction);
    if (wave.status != WaveStatus::Running) {
      if (wave.status == WaveStatus::Failed)
        return describe(wave, instruction, wave.error);
      if (wave.status == WaveStatus::Yields) {
        wave.status = WaveStatus::Running;
        wave.isAsleep = true;
        wave.sinceSleep = 0;
      }
      return Error::success();
    }
    last = instruction;
    instruction = nullptr;
    if (LLVM_LIKELY(wave.position == last->end))
      instruction = last->next;
  }
  wave.sinceSleep += state.executed - begin;
  return Error::success();
}

Error Emulator::Machine::beginInstruction(Wave &wave,
                                          const Instruction &instruction) {
  if (llvm::is_contained(options.breakpoints, instruction.position))
    return describe(wave, &instruction, "breakpoint", Registers::All);
  if (options.checksInit && !checkSources(wave, instruction))
    return describe(wave, &instruction, wave.error);
  return Error::success();
}

void Emulator::Machine::endInstruction(Wave &wave,
                                       const Instruction &instruction) {
  if (options.checksInit)
    recordResults(wave, instruction);
  const uint32_t *ids = wave.group.ids;
  if (options.trace &&
      (!options.tracedGroup ||
       llvm::equal(*options.tracedGroup, llvm::ArrayRef(ids, 3))))
    *options.trace << llvm::formatv(
        "launch {0} ({1}, {2}, {3}) wave {4} {5:x}: {6}{7}\n",
        wave.group.launch, ids[0], ids[1], ids[2], wave.number,
        uint64_t(instruction.position) * 4, instruction.text,
        describeResults(wave, instruction));
}

bool Emulator::Machine::isPolling() const {
  // More than an iteration of a loop that polls.
  constexpr uint64_t kFew = 256;
  return llvm::all_of(ready,
                      [](const Wave *wave) { return wave->sinceSleep < kFew; });
}

std::string Emulator::Machine::where(const Workgroup &group) const {
  const Launch &launch = launches[group.launch];
  return llvm::formatv("kernel '{0}', launch {1}, workgroup ({2}, {3}, {4})",
                       launch.kernel->name, group.launch, group.ids[0],
                       group.ids[1], group.ids[2]);
}

std::string Emulator::Machine::where(const Wave &wave) const {
  return llvm::formatv("{0}, wave {1}", where(wave.group), wave.number);
}

Error Emulator::Machine::describe(Wave &wave, const Instruction *instruction,
                                  const llvm::Twine &message) const {
  return describe(wave, instruction, message, options.registersOfErrors);
}

Error Emulator::Machine::describe(Wave &wave, const Instruction *instruction,
                                  const llvm::Twine &message,
                                  Registers registers) const {
  uint32_t position = instruction ? instruction->position : wave.position;
  std::string text = where(wave) + ": " + message.str();
  text += llvm::formatv("\n  at {0:x} in {1}", uint64_t(position) * 4,
                        wave.program.code.getName());
  if (instruction)
    text += ": " + instruction->text;
  text += describeLine(wave.program, position);
  if (registers == Registers::All)
    text += describeAllRegisters(wave);
  else if (registers == Registers::Operands && instruction)
    text += describeOperands(wave, *instruction);
  return llvm::createStringError(text);
}

Error Emulator::Machine::searchDeadlock() {
  if (startMore(/*isNecessary=*/true)) {
    deadlocks.postpone(state);
    return Error::success();
  }
  collectReady();
  if (ready.empty())
    return Error::success();
  llvm::Expected<bool> found = deadlocks.search(
      state, ready, [&](Wave &wave) { return runWave(wave, 1); });
  if (!found)
    return found.takeError();
  if (!*found)
    return Error::success();
  uint64_t lateStores = state.history.countLateStores();
  completeStores();
  return state.history.countLateStores() == lateStores ? reportDeadlock()
                                                       : Error::success();
}

Error Emulator::Machine::reportDeadlock() {
  constexpr unsigned kMost = 8;
  std::string text = "deadlock: every wave waits at a barrier";
  if (!ready.empty())
    text = llvm::formatv(
        "deadlock: {0} forever, and nothing changes what {1}",
        ready.size() == 1 ? "a wave loops"
                          : llvm::formatv("{0} waves loop", ready.size()).str(),
        ready.size() == 1 ? "it loads" : "they load");
  auto addMore = [&](size_t count, llvm::StringRef what) {
    if (count > kMost)
      text += llvm::formatv("\n  and {0} more {1}", count - kMost, what);
  };
  for (Wave *wave : llvm::ArrayRef(ready).take_front(kMost)) {
    auto loop =
        describeLoop(*wave, [&](Wave &each) { return runWave(each, 1); });
    if (!loop)
      return loop.takeError();
    text += "\n  " + where(*wave) + *loop;
  }
  addMore(ready.size(), "waves that loop");
  size_t count = 0;
  for (const std::unique_ptr<Workgroup> &group : groups)
    if (llvm::any_of(group->waves, [](const auto &wave) {
          return wave->status == WaveStatus::AtBarrier;
        }))
      if (++count <= kMost)
        text += "\n  " + where(*group) + ": " + describeBarrier(*group);
  addMore(count, "workgroups with waves at a barrier");
  for (size_t i = 0; i < launches.size(); ++i)
    if (Dispatch *dispatch = dispatches[i].get();
        dispatch && dispatch->hasMoreGroups())
      text +=
          llvm::formatv("\n  launch {0}: {1} more workgroups have not "
                        "started; at most {2} run at the same time",
                        i, dispatch->countMoreGroups(), dispatch->mostRunning);
    else if (!dispatch && !ended[i])
      text += llvm::formatv("\n  launch {0} has not started: it is behind an "
                            "earlier one in its queue",
                            i);
  return llvm::createStringError(text);
}

std::string Emulator::Machine::describeReady() const {
  std::string text;
  for (const Wave *wave : llvm::ArrayRef(ready).take_front(8))
    text += "\n  " + where(*wave) +
            llvm::formatv(" at {0:x}", uint64_t(wave->position) * 4).str();
  return text;
}

Error Emulator::Machine::advance(uint64_t instructions, bool stopsIfAllWait) {
  uint64_t end =
      state.executed + std::min(instructions, ~uint64_t(0) - state.executed);
  uint64_t stores = state.stores, quietSince = state.executed;
  bool allWait = false;
  // After a limit the caller may change memory. Without one there are only the
  // waves.
  bool isAlone = instructions == ~uint64_t(0) && !stopsIfAllWait;
  while (!groups.empty() && state.executed < end && !allWait) {
    if (Error error = turn())
      return error;
    if (state.stores != stores)
      stores = state.stores, quietSince = state.executed;
    // Long enough that each wave has looked at what it waits for.
    allWait = stopsIfAllWait &&
              state.executed - quietSince > 64 * ready.size() &&
              unstarted.empty() && isPolling();
    if (isAlone && deadlocks.isDue(state, ready.size()))
      if (Error error = searchDeadlock())
        return error;
    // Before the waves that have ended are gone.
    if (state.executed > options.budget)
      return llvm::createStringError(
          llvm::formatv("no end after {0} instructions; these waves run:",
                        state.executed)
              .str() +
          describeReady());
    retire();
  }
  return Error::success();
}

void Emulator::Machine::forEachExecuted(ExecutionFunction function) const {
  for (const auto &[kernel, program] : programs) {
    // An instruction is decoded again for each index of its registers.
    std::map<uint32_t, ExecutedInstruction> executed;
    for (const Instruction &instruction : program->getInstructions()) {
      ExecutedInstruction one = {*kernel, instruction.position,
                                 instruction.text, instruction.executions,
                                 instruction.completed};
      auto [entry, isNew] = executed.try_emplace(instruction.position, one);
      if (isNew)
        continue;
      entry->second.executions += one.executions;
      for (unsigned i = 0; i < one.completed.size(); ++i)
        entry->second.completed[i] += one.completed[i];
    }
    for (const auto &[position, instruction] : executed)
      function(instruction);
  }
}

RunStatistics Emulator::Machine::getStatistics() const {
  RunStatistics statistics;
  statistics.instructions = state.executed;
  forEachExecuted([&](const ExecutedInstruction &instruction) {
    statistics.executions[ParsedInstruction(instruction.text).name.str()] +=
        instruction.executions;
  });
  return statistics;
}

Emulator::Emulator(Memory &memory, const RunOptions &options)
    : machine(std::make_unique<Machine>(memory, options)) {}
Emulator::~Emulator() = default;
llvm::Expected<unsigned> Emulator::launch(Launch launch) {
  return machine->launch(std::move(launch));
}
Error Emulator::advance(uint64_t instructions, bool stopsIfAllWait) {
  return machine->advance(instructions, stopsIfAllWait);
}
Error Emulator::finish() {
  return machine->advance(~uint64_t(0), /*stopsIfAllWait=*/false);
}
bool Emulator::isDone(unsigned launch) { return machine->isDone(launch); }
bool Emulator::isIdle() const { return machine->isIdle(); }
RunStatistics Emulator::getStatistics() const {
  return machine->getStatistics();
}
void Emulator::forEachExecuted(ExecutionFunction function) const {
  machine->forEachExecuted(function);
}

void Emulator::forEachOrder(OrderFunction function) const {
  machine->forEachOrder(function);
}

uint64_t Emulator::countStores() const { return machine->countStores(); }
Error Emulator::checkHostAccess(unsigned device, const void *data,
                                uint64_t bytes, bool isStore) {
  return machine->checkHostAccess(device, data, bytes, isStore);
}
void Emulator::willChange(const void *data, uint64_t bytes) {
  machine->willChange(data, bytes);
}

std::vector<std::string> mlir::iris::emulator::listInstructions() {
  std::vector<std::string> names;
  for (llvm::StringRef name : getInstructionTable().getNames())
    names.push_back(name.str());
  return names;
}

llvm::Expected<std::vector<std::string>>
mlir::iris::emulator::listUnknown(const CodeObject &code) {
  auto disassembler = Disassembler::create(code.getChip());
  if (!disassembler)
    return disassembler.takeError();
  std::vector<uint64_t> ends{code.getCodeEnd()};
  for (const Kernel &kernel : code.getKernels())
    ends.push_back(kernel.entry);
  llvm::sort(ends);
  std::vector<std::string> reasons;
  for (const Kernel &kernel : code.getKernels()) {
    uint64_t end = *llvm::upper_bound(ends, kernel.entry);
    Program program(code, kernel, **disassembler);
    for (std::string &reason : program.listUnknown(uint32_t(end / 4)))
      reasons.push_back("kernel '" + kernel.name + "': " + std::move(reason));
  }
  return reasons;
}
