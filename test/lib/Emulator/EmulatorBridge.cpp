// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmulatorBridge.cpp - The emulator for scripts ----------------------===//
//
// Functions that test/Emulated/machine.py calls. Those that can fail return -1
// and leave a message.
#include "iris/Emulator/Emulator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace mlir::iris::emulator;

namespace {
struct Bridge {
  Memory memory;
  std::vector<std::unique_ptr<CodeObject>> codes;
  std::unique_ptr<Emulator> emulator;
  std::vector<uint32_t> removed;
  bool checksOrder = false, explainsOrder = false;
  std::string error, text;

  int fail(llvm::Error failure) {
    error = llvm::toString(std::move(failure));
    return -1;
  }
};
} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT Bridge *emulatorCreate() { return new Bridge(); }
EXPORT void emulatorLimitVectors(unsigned bytes) { limitVectors(bytes); }
EXPORT void emulatorDestroy(Bridge *bridge) { delete bridge; }
EXPORT const char *emulatorError(Bridge *bridge) {
  return bridge->error.c_str();
}
EXPORT void emulatorAddMemory(Bridge *bridge, const void *data, uint64_t size,
                              const char *name) {
  bridge->memory.add(data, size, /*isWritable=*/true, name);
}
EXPORT void emulatorRemoveMemory(Bridge *bridge, const void *data) {
  bridge->memory.remove(data);
}

/// Instructions of later runs that do nothing.
EXPORT void emulatorRemove(Bridge *bridge, const uint32_t *positions,
                           unsigned count) {
  bridge->removed.assign(positions, positions + count);
}

/// Whether later runs check the order of accesses, and explain it.
EXPORT void emulatorCheckOrder(Bridge *bridge, int checksOrder,
                               int explainsOrder) {
  bridge->checksOrder = checksOrder;
  bridge->explainsOrder = explainsOrder;
}

/// Forgets all launches.
EXPORT void emulatorStart(Bridge *bridge, unsigned schedule, unsigned caches,
                          uint64_t seed, uint64_t budget) {
  RunOptions options;
  options.schedule = Schedule(schedule);
  options.caches = Caches(caches);
  options.seed = seed;
  options.budget = budget;
  options.removed = bridge->removed;
  options.checksOrder = bridge->checksOrder;
  options.explainsOrder = bridge->explainsOrder;
  bridge->emulator.reset();
  bridge->emulator = std::make_unique<Emulator>(bridge->memory, options);
}

/// Returns the number of the code object.
EXPORT int emulatorLoad(Bridge *bridge, const char *bytes, uint64_t size,
                        const char *name) {
  auto code = CodeObject::load(llvm::StringRef(bytes, size), name);
  if (!code)
    return bridge->fail(code.takeError());
  bridge->codes.push_back(std::move(*code));
  return int(bridge->codes.size()) - 1;
}

EXPORT const char *emulatorChip(Bridge *bridge, int code) {
  return bridge->codes[code]->getChip().data();
}

/// What a kernel has: 0 the most threads of a workgroup, 1 arguments that are
/// not hidden, 2 vector registers, 3 bytes of scratch.
EXPORT int emulatorProperty(Bridge *bridge, int code, const char *name,
                            int property) {
  auto found = bridge->codes[code]->find(name);
  if (!found)
    return bridge->fail(found.takeError());
  const Kernel &kernel = **found;
  if (property == 0)
    return int(kernel.maxWorkgroupSize);
  if (property == 1)
    return int(llvm::count_if(kernel.arguments, [](const KernelArgument &each) {
      return !each.isHidden();
    }));
  return int(property == 2 ? kernel.numVectors : kernel.scratchBytes);
}

/// `values`: a word of 64 bits for each argument that is not hidden. Returns
/// the number of the launch.
EXPORT int emulatorLaunch(Bridge *bridge, int code, const char *name,
                          unsigned queue, unsigned device,
                          const uint32_t *groups, const uint32_t *threads,
                          const uint64_t *values, unsigned numValues) {
  auto kernel = bridge->codes[code]->find(name);
  if (!kernel)
    return bridge->fail(kernel.takeError());
  Launch launch;
  launch.code = bridge->codes[code].get();
  launch.kernel = *kernel;
  launch.queue = queue;
  launch.device = device;
  std::copy_n(groups, 3, launch.groups.begin());
  std::copy_n(threads, 3, launch.threads.begin());
  std::vector<std::vector<uint8_t>> bytes;
  for (const KernelArgument &argument : (*kernel)->arguments) {
    if (argument.isHidden())
      continue;
    if (bytes.size() == numValues || argument.size > 8)
      return bridge->fail(llvm::createStringError("wrong arguments"));
    const char *value = reinterpret_cast<const char *>(values + bytes.size());
    bytes.emplace_back(value, value + argument.size);
  }
  auto packed = packArguments(**kernel, bytes, launch);
  if (!packed)
    return bridge->fail(packed.takeError());
  launch.arguments = std::move(*packed);
  auto number = bridge->emulator->launch(std::move(launch));
  if (!number)
    return bridge->fail(number.takeError());
  return int(*number);
}

EXPORT int emulatorAdvance(Bridge *bridge, uint64_t instructions) {
  if (llvm::Error error = bridge->emulator->advance(instructions))
    return bridge->fail(std::move(error));
  return 0;
}
EXPORT void emulatorWillChange(Bridge *bridge, const void *data,
                               uint64_t size) {
  bridge->emulator->willChange(data, size);
}
EXPORT int emulatorCheckHostAccess(Bridge *bridge, unsigned device,
                                   const void *data, uint64_t size,
                                   int isStore) {
  if (llvm::Error error =
          bridge->emulator->checkHostAccess(device, data, size, isStore))
    return bridge->fail(std::move(error));
  return 0;
}
EXPORT int emulatorIsDone(Bridge *bridge, int launch) {
  return bridge->emulator->isDone(unsigned(launch));
}
EXPORT int emulatorIsIdle(Bridge *bridge) { return bridge->emulator->isIdle(); }
/// A line for each instruction that was executed: position in words,
/// executions, accesses that completed there by counter, assembly.
EXPORT const char *emulatorExecutions(Bridge *bridge) {
  llvm::raw_string_ostream os(bridge->text = "");
  bridge->emulator->forEachExecuted([&](const ExecutedInstruction &each) {
    os << each.position << ' ' << each.executions << ' ';
    llvm::interleave(each.completed, os, ",");
    os << ' ' << each.text << '\n';
  });
  return bridge->text.c_str();
}
/// A line for each order of accesses: the positions of the first and of the
/// second one, how often they were ordered so, and the positions of the
/// instructions that order them.
EXPORT const char *emulatorOrders(Bridge *bridge) {
  llvm::raw_string_ostream os(bridge->text = "");
  bridge->emulator->forEachOrder([&](const OrderedAccesses &each) {
    os << each.first << ' ' << each.second << ' ' << each.count << ' ';
    llvm::interleave(each.by, os, ",");
    os << '\n';
  });
  return bridge->text.c_str();
}
EXPORT uint64_t emulatorInstructions(Bridge *bridge) {
  return bridge->emulator->getStatistics().instructions;
}
