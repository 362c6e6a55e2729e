// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Access.h"
#include "InitCheck.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::iris::emulator;
using llvm::Error;

void mlir::iris::emulator::computeAddresses(Wave &wave,
                                            const Instruction &instruction,
                                            LaneAddresses &result) {
  computeAddressesHere(wave, instruction, result);
}

Location mlir::iris::emulator::resolve(Wave &wave,
                                       const Instruction &instruction,
                                       unsigned lane, uint64_t address,
                                       unsigned bytes, bool isStore) {
  Space space = instruction.space;
  if (space == Space::Flat || space == Space::Buffer) {
    uint32_t aperture = uint32_t(address >> 32);
    if (aperture == kSharedAperture) {
      std::vector<uint8_t> &lds = wave.group.lds;
      uint32_t offset = uint32_t(address);
      if (offset <= lds.size() && bytes <= lds.size() - offset) {
        if (wave.machine.watchesShared() &&
            !checkShared(wave, instruction, lane, offset, bytes, isStore))
          return {};
        return {lds.data() + offset};
      }
      wave.fail(
          llvm::formatv("lane {0} accesses {1} bytes at {2} of LDS, which "
                        "has {3} bytes",
                        lane, bytes, offset, lds.size()));
      return {};
    }
    if (aperture == kPrivateAperture)
      space = Space::Scratch;
  }
  if (space == Space::Scratch) {
    uint32_t offset = uint32_t(address);
    if (offset <= wave.scratchBytes && bytes <= wave.scratchBytes - offset)
      return {wave.scratch.data() + uint64_t(lane) * wave.scratchBytes +
              offset};
    wave.fail(llvm::formatv("lane {0} accesses {1} bytes at {2} of scratch, "
                            "which has {3} bytes for each lane",
                            lane, bytes, offset, wave.scratchBytes));
    return {};
  }
  Memory &memory = wave.machine.memory;
  if (memory.contains(address, bytes, isStore)) {
    uint8_t *data = reinterpret_cast<uint8_t *>(address);
    // What no kernel writes, such as code and arguments, is in no cache.
    if (!wave.isWatched || !memory.contains(address, bytes, /*isStore=*/true))
      return {data};
    return {data, wave.cache, wave.machine.order.get()};
  }
  wave.fail(llvm::formatv(
      "lane {0} {1} {2} bytes at {3}", lane, isStore ? "stores" : "loads",
      bytes, wave.machine.memory.describe(address, bytes, isStore)));
  return {};
}

bool mlir::iris::emulator::loadBytes(Wave &wave, const Instruction &instruction,
                                     unsigned lane, uint64_t address,
                                     unsigned bytes, void *result) {
  Location location =
      resolve(wave, instruction, lane, address, bytes, /*isStore=*/false);
  if (!location.data ||
      (location.order && !location.order->access(wave, instruction, address,
                                                 bytes, /*isStore=*/false)))
    return false;
  if (location.cache)
    location.cache->load(address, bytes, instruction.scope,
                         static_cast<uint8_t *>(result));
  else
    std::memcpy(result, location.data, bytes);
  return true;
}

bool mlir::iris::emulator::storeBytes(Wave &wave,
                                      const Instruction &instruction,
                                      unsigned lane, uint64_t address,
                                      unsigned bytes, const void *data) {
  Location location =
      resolve(wave, instruction, lane, address, bytes, /*isStore=*/true);
  if (!location.data)
    return false;
  // It does not matter to who loads it that what is there is stored again.
  if (location.order && std::memcmp(location.data, data, bytes) != 0 &&
      !location.order->access(wave, instruction, address, bytes,
                              /*isStore=*/true))
    return false;
  if (location.cache)
    location.cache->store(address, bytes, instruction.scope,
                          static_cast<const uint8_t *>(data),
                          {&wave, wave.machine.executed});
  else
    std::memcpy(location.data, data, bytes);
  return true;
}

void mlir::iris::emulator::recordStores(Wave &wave,
                                        const Instruction &instruction,
                                        const LaneAddresses &lanes,
                                        unsigned bytes) {
  if (!lanes.active || instruction.space == Space::Scratch)
    return;
  uint64_t least = lanes.least, most = lanes.most;
  if (least > most)
    forLanes(lanes.active, [&](unsigned lane) {
      least = std::min(least, lanes.addresses[lane]);
      most = std::max(most, lanes.addresses[lane]);
    });
  bool isShared =
      instruction.space == Space::Flat && least >> 32 == kSharedAperture;
  if (isShared) {
    least = uint32_t(least);
    most = uint32_t(most);
  }
  recordStore(wave, instruction, least, most + bytes, isShared);
}

Scope mlir::iris::emulator::scopeOf(const InstructionBuilder &builder,
                                    bool isAtomic) {
  const ParsedInstruction &parsed = builder.parsed;
  switch (builder.execution.cacheControl) {
  case irischips::CacheControl::Bypass:
    // Atomics are executed behind the nearest cache.
    return isAtomic || parsed.has("glc") ? Scope::System : Scope::Wave;
  case irischips::CacheControl::ScopeBits:
    // sc0 of an atomic says whether it returns a value.
    if (isAtomic)
      return parsed.has("sc1") ? Scope::System : Scope::Agent;
    return Scope(unsigned(parsed.has("sc0")) + 2 * unsigned(parsed.has("sc1")));
  case irischips::CacheControl::ScopeName:
    return llvm::StringSwitch<Scope>(parsed.getText("scope").value_or(""))
        .Case("SCOPE_SYS", Scope::System)
        .Case("SCOPE_DEV", Scope::Agent)
        .Case("SCOPE_SE", Scope::Workgroup)
        .Default(isAtomic ? Scope::Workgroup : Scope::Wave);
  }
  llvm_unreachable("an unknown kind of cache control");
}

Error mlir::iris::emulator::buildAccess(InstructionBuilder &builder,
                                        Space space, int result,
                                        unsigned resultWords, int address,
                                        int data, unsigned dataWords,
                                        int base) {
  Instruction &instruction = builder.instruction;
  const ParsedInstruction &parsed = builder.parsed;
  instruction.space = space;
  instruction.scope = scopeOf(builder, /*isAtomic=*/false);
  instruction.offset = parsed.getNumber("offset", 0);
  if (parsed.has("tfe") || parsed.has("gds") || parsed.has("idxen"))
    return builder.error("the emulator does not know all modifiers");
  if (result >= 0) {
    if (Error error = builder.result(result, instruction.result,
                                     {resultWords, 32, false}))
      return error;
    // Loads of one order may write a register after each other.
    --instruction.numRanges;
  }
  Operand &vector = instruction.sources[0];
  if (!builder.isOff(address) &&
      (space != Space::Buffer || parsed.has("offen"))) {
    if (Error error = builder.source(address, vector, {1, 32, false}))
      return error;
    if (vector.kind != Operand::Vector)
      return builder.error("the emulator expects addresses in vectors");
  }
  if (data >= 0) {
    if (Error error = builder.source(data, instruction.sources[2],
                                     {dataWords, 32, false}))
      return error;
    if (instruction.sources[2].kind != Operand::Vector)
      return builder.error("the emulator expects data in vectors");
  }
  Operand &scalar = instruction.sources[1];
  if (base >= 0 && !builder.isOff(base)) {
    unsigned words = space == Space::Buffer    ? 4
                     : space == Space::Scratch ? 1
                                               : 2;
    if (Error error = builder.source(base, scalar, {words, 32 * words, false}))
      return error;
  }
  if (space == Space::Buffer) {
    if (scalar.kind != Operand::Scalar)
      return builder.error("the emulator expects a descriptor");
    return builder.source(base + 1, instruction.sources[3], {1, 32, false});
  }
  if (space != Space::Scratch && scalar.kind == Operand::None &&
      vector.count != 2)
    return builder.error("the emulator expects addresses of two registers");
  return Error::success();
}

void mlir::iris::emulator::issueAccess(Wave &wave,
                                       const Instruction &instruction,
                                       bool isLoad, unsigned resultWords,
                                       bool isToShared) {
  // Loads and stores of gfx9 have one counter, and complete in order.
  if (wave.cache && isLoad &&
      wave.execution.counters == irischips::WaitCounters::VectorAndScalar)
    wave.cache->countStore({&wave, wave.machine.executed});
  Counter counter = Counter::Load;
  if (!isLoad &&
      wave.execution.counters != irischips::WaitCounters::VectorAndScalar)
    counter = Counter::Store;
  RegisterRange registers;
  if (resultWords)
    registers = {uint16_t(kFirstRowBit + instruction.result.index),
                 uint16_t(resultWords)};
  if (instruction.space == Space::Flat)
    wave.outstanding.issueFlat(counter, instruction, registers);
  else
    wave.outstanding.issue(counter, Order::Vector, instruction, registers,
                           isToShared);
}
