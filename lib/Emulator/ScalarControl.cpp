// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarControl.cpp - Branches, masks, barriers, loads, clocks -------===//
#include "Program.h"
#include "Scalars.h"

using namespace mlir::iris::emulator;
using llvm::Error;
using llvm::StringRef;

static BuildFunction withoutOperands(Handler run) {
  return [run](InstructionBuilder &builder) {
    builder.instruction.run = run;
    return Error::success();
  };
}

static void doNothing(Wave &, const Instruction &) {}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// A branch where the handler says so. The offset is in words, from the
/// instruction that follows.
template <class Condition>
static void addBranch(InstructionTable &table, StringRef name,
                      Condition condition) {
  static Condition stateless = condition;
  Handler run = [](Wave &wave, const Instruction &instruction) {
    if (stateless(wave))
      wave.position += int32_t(instruction.offset);
  };
  table.add(name, [run](InstructionBuilder &builder) -> Error {
    llvm::Expected<int64_t> offset = builder.integer(0);
    if (!offset)
      return offset.takeError();
    builder.instruction.offset = int16_t(*offset);
    builder.instruction.run = run;
    return Error::success();
  });
}

static void addBranches(InstructionTable &table) {
  addBranch(table, "s_branch", [](Wave &) { return true; });
  addBranch(table, "s_cbranch_scc0", [](Wave &wave) { return !wave.scc; });
  addBranch(table, "s_cbranch_scc1", [](Wave &wave) { return wave.scc != 0; });
  addBranch(table, "s_cbranch_vccz",
            [](Wave &wave) { return wave.laneMask(kVcc) == 0; });
  addBranch(table, "s_cbranch_vccnz",
            [](Wave &wave) { return wave.laneMask(kVcc) != 0; });
  addBranch(table, "s_cbranch_execz",
            [](Wave &wave) { return wave.exec() == 0; });
  addBranch(table, "s_cbranch_execnz",
            [](Wave &wave) { return wave.exec() != 0; });

  table.add("s_getpc_b64", [](InstructionBuilder &builder) {
    builder.instruction.run = [](Wave &wave, const Instruction &instruction) {
      wave.setScalar64(instruction.result.index,
                       wave.program.addressOf(wave.position));
    };
    return builder.result(0, builder.instruction.result,
                          scalarType<uint64_t>());
  });
  // A jump to an address, and a call.
  auto jump = [](Wave &wave, const Instruction &instruction) {
    uint64_t target = readScalar<uint64_t>(wave, instruction.sources[0]);
    if (instruction.result.kind == Operand::Scalar)
      wave.setScalar64(instruction.result.index,
                       wave.program.addressOf(wave.position));
    wave.position = uint32_t((target - wave.program.addressOf(0)) / 4);
  };
  Handler run = jump;
  table.add("s_setpc_b64", [run](InstructionBuilder &builder) {
    builder.instruction.run = run;
    return builder.source(0, builder.instruction.sources[0],
                          scalarType<uint64_t>());
  });
  table.add("s_swappc_b64", [run](InstructionBuilder &builder) -> Error {
    builder.instruction.run = run;
    if (Error error = builder.result(0, builder.instruction.result,
                                     scalarType<uint64_t>()))
      return error;
    return builder.source(1, builder.instruction.sources[0],
                          scalarType<uint64_t>());
  });
}

//===----------------------------------------------------------------------===//
// The mask of active lanes
//===----------------------------------------------------------------------===//

/// Saves EXEC, and replaces it by a function of it and of the source.
template <class Function>
static void addSaveExec(InstructionTable &table, StringRef operation,
                        Function function) {
  static Function stateless = function;
  Handler wide = [](Wave &wave, const Instruction &instruction) {
    uint64_t exec = wave.exec();
    uint64_t source = readScalar<uint64_t>(wave, instruction.sources[0]);
    wave.setScalar64(instruction.result.index, exec);
    uint64_t changed = stateless(source, exec);
    wave.setScalar64(kExec, changed);
    wave.scc = changed != 0;
  };
  Handler narrow = [](Wave &wave, const Instruction &instruction) {
    uint32_t exec = wave.scalars[kExec];
    uint32_t source = readScalar<uint32_t>(wave, instruction.sources[0]);
    wave.scalars[instruction.result.index] = exec;
    uint32_t changed = uint32_t(stateless(source, exec));
    wave.scalars[kExec] = changed;
    wave.scc = changed != 0;
  };
  for (bool isWide : {true, false}) {
    OperandType type = {isWide ? 2u : 1u, isWide ? 64u : 32u, false};
    Handler run = isWide ? wide : narrow;
    table.add(
        ("s_" + operation + "_saveexec_" + (isWide ? "b64" : "b32")).str(),
        [run, type](InstructionBuilder &builder) -> Error {
          builder.instruction.run = run;
          if (Error error = builder.result(0, builder.instruction.result, type))
            return error;
          return builder.source(1, builder.instruction.sources[0], type);
        });
  }
}

static void addSaveExecs(InstructionTable &table) {
  using u64 = uint64_t;
  addSaveExec(table, "and", [](u64 a, u64 exec) { return a & exec; });
  addSaveExec(table, "or", [](u64 a, u64 exec) { return a | exec; });
  addSaveExec(table, "xor", [](u64 a, u64 exec) { return a ^ exec; });
  addSaveExec(table, "nand", [](u64 a, u64 exec) { return ~(a & exec); });
  addSaveExec(table, "nor", [](u64 a, u64 exec) { return ~(a | exec); });
  addSaveExec(table, "xnor", [](u64 a, u64 exec) { return ~(a ^ exec); });
  for (auto name : {"andn2", "and_not1"})
    addSaveExec(table, name, [](u64 a, u64 exec) { return a & ~exec; });
  for (auto name : {"orn2", "or_not1"})
    addSaveExec(table, name, [](u64 a, u64 exec) { return a | ~exec; });
  for (auto name : {"andn1", "and_not0"})
    addSaveExec(table, name, [](u64 a, u64 exec) { return ~a & exec; });
  for (auto name : {"orn1", "or_not0"})
    addSaveExec(table, name, [](u64 a, u64 exec) { return ~a | exec; });
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

/// The number in `name(N)`, or none.
static std::optional<unsigned> countIn(StringRef text, StringRef name) {
  size_t at = text.find((name + "(").str());
  if (at == StringRef::npos)
    return std::nullopt;
  unsigned count;
  if (text.substr(at + name.size() + 1)
          .take_until([](char c) { return c == ')'; })
          .getAsInteger(0, count))
    return std::nullopt;
  return count;
}

constexpr uint32_t kNoLimit = ~uint32_t(0);

static void addWaits(InstructionTable &table) {
  // `detail` and `detail2` are the counts.
  static constexpr auto wait = [](Wave &wave, const Instruction &instruction) {
    if (instruction.detail != kNoLimit) {
      wave.wait(Counter::Load, instruction.detail, instruction);
      if (wave.cache &&
          wave.execution.counters == irischips::WaitCounters::VectorAndScalar)
        wave.cache->drain(&wave, instruction.detail);
    }
    if (instruction.detail2 != kNoLimit)
      wave.wait(Counter::Lds, instruction.detail2, instruction);
  };
  table.add("s_waitcnt", [](InstructionBuilder &builder) -> Error {
    Instruction &instruction = builder.instruction;
    StringRef text = instruction.text;
    if (!text.contains('('))
      return builder.error("the emulator cannot read the counts");
    instruction.detail = countIn(text, "vmcnt").value_or(kNoLimit);
    instruction.detail2 = countIn(text, "lgkmcnt").value_or(kNoLimit);
    instruction.run = wait;
    return Error::success();
  });
  auto addCount = [&table](StringRef name, Handler run, unsigned operand) {
    table.add(name, [run, operand](InstructionBuilder &builder) -> Error {
      llvm::Expected<int64_t> count = builder.integer(operand);
      if (!count)
        return count.takeError();
      builder.instruction.detail = uint32_t(*count);
      builder.instruction.run = run;
      return Error::success();
    });
  };
  Handler waitForStores = [](Wave &wave, const Instruction &instruction) {
    wave.waitForStores(instruction.detail, instruction);
  };
  addCount("s_waitcnt_vscnt", waitForStores, 1);
  addCount("s_wait_storecnt", waitForStores, 0);
  addCount(
      "s_wait_loadcnt",
      [](Wave &wave, const Instruction &instruction) {
        wave.wait(Counter::Load, instruction.detail, instruction);
      },
      0);
  addCount(
      "s_wait_dscnt",
      [](Wave &wave, const Instruction &instruction) {
        wave.wait(Counter::Lds, instruction.detail, instruction);
      },
      0);
  addCount(
      "s_wait_kmcnt",
      [](Wave &wave, const Instruction &instruction) {
        wave.wait(Counter::Scalar, instruction.detail, instruction);
      },
      0);
  addCount(
      "s_wait_loadcnt_dscnt",
      [](Wave &wave, const Instruction &instruction) {
        wave.wait(Counter::Load, instruction.detail >> 8, instruction);
        wave.wait(Counter::Lds, instruction.detail & 0xFF, instruction);
      },
      0);
  addCount(
      "s_wait_storecnt_dscnt",
      [](Wave &wave, const Instruction &instruction) {
        wave.waitForStores(instruction.detail >> 8, instruction);
        wave.wait(Counter::Lds, instruction.detail & 0xFF, instruction);
      },
      0);
  // Nothing that is emulated is counted by these, or takes time.
  for (auto name :
       {"s_wait_samplecnt", "s_wait_bvhcnt", "s_wait_expcnt", "s_wait_alu",
        "s_wait_idle", "s_delay_alu", "s_nop", "s_clause", "s_setprio",
        "s_set_inst_prefetch_distance", "s_icache_inv", "s_dcache_inv",
        "s_dcache_wb", "s_code_end", "s_waitcnt_depctr", "s_ttracedata"})
    table.add(name, withoutOperands(doNothing));
}

//===----------------------------------------------------------------------===//
// Barriers, ends, clocks
//===----------------------------------------------------------------------===//

static void signalBarrier(Wave &wave, const Instruction &instruction) {
  Workgroup &group = wave.group;
  if (wave.machine.order)
    wave.machine.order->arrive(wave, instruction);
  wave.barrier = group.generation;
  if (++group.numSignaled == group.numLive) {
    group.numSignaled = 0;
    ++group.generation;
  }
}

static void endProgram(Wave &wave, const Instruction &) {
  wave.status = WaveStatus::Done;
  if (wave.machine.order)
    wave.machine.order->end(wave);
  wave.completeStores();
  Workgroup &group = wave.group;
  --group.numLive;
  // The others do not wait for waves that have ended.
  if (group.numLive && group.numSignaled == group.numLive) {
    group.numSignaled = 0;
    ++group.generation;
  }
}

static void addFlow(InstructionTable &table) {
  table.add("s_barrier",
            withoutOperands([](Wave &wave, const Instruction &instruction) {
              signalBarrier(wave, instruction);
              if (wave.status != WaveStatus::Failed)
                wave.status = WaveStatus::AtBarrier;
            }));
  table.add("s_barrier_signal", withoutOperands(signalBarrier));
  table.add("s_barrier_wait",
            withoutOperands([](Wave &wave, const Instruction &) {
              wave.status = WaveStatus::AtBarrier;
            }));
  table.add("s_endpgm", withoutOperands(endProgram));
  table.add("s_sleep", withoutOperands([](Wave &wave, const Instruction &) {
              wave.status = WaveStatus::Yields;
              wave.completeStores();
            }));
  table.add("s_trap", withoutOperands([](Wave &wave, const Instruction &) {
              wave.fail("the kernel trapped");
            }));
  // Tells the device that registers are free.
  table.add("s_sendmsg", [](InstructionBuilder &builder) -> Error {
    if (!StringRef(builder.instruction.text).contains("DEALLOC_VGPRS"))
      return builder.error("the emulator does not know the message");
    builder.instruction.run = doNothing;
    return Error::success();
  });
  Handler readClock = [](Wave &wave, const Instruction &instruction) {
    MachineState &machine = wave.machine;
    ++machine.clockReads;
    wave.setScalar64(instruction.result.index,
                     machine.clock ? machine.clock() : machine.executed);
    wave.outstanding.issue(Counter(instruction.detail), Order::Any, instruction,
                           {instruction.result.index, 2});
  };
  auto buildClock = [readClock](InstructionBuilder &builder) {
    builder.instruction.run = readClock;
    builder.instruction.detail =
        unsigned(builder.execution.counters == irischips::WaitCounters::PerKind
                     ? Counter::Scalar
                     : Counter::Lds);
    return builder.result(0, builder.instruction.result,
                          scalarType<uint64_t>());
  };
  table.add("s_memtime", buildClock);
  table.add("s_memrealtime", buildClock);
  table.add("s_sendmsg_rtn_b64",
            [buildClock](InstructionBuilder &builder) -> Error {
              if (!StringRef(builder.instruction.text)
                       .contains("MSG_RTN_GET_REALTIME"))
                return builder.error("the emulator does not know the message");
              return buildClock(builder);
            });
}

//===----------------------------------------------------------------------===//
// Hardware registers
//===----------------------------------------------------------------------===//

static Error buildHardwareRegister(InstructionBuilder &builder,
                                   unsigned operand) {
  StringRef text = builder.parsed.operands[operand];
  Instruction &instruction = builder.instruction;
  if (!text.consume_front("hwreg(") || !text.consume_back(")"))
    return builder.error("the emulator cannot read the register");
  llvm::SmallVector<StringRef, 3> parts;
  text.split(parts, ',');
  unsigned offset = 0, size = 32;
  if (parts.size() == 3 && (parts[1].trim().getAsInteger(0, offset) ||
                            parts[2].trim().getAsInteger(0, size)))
    return builder.error("the emulator cannot read the bits");
  instruction.detail = offset;
  instruction.detail2 = size;
  if (parts[0] != "HW_REG_MODE")
    return builder.error("the emulator does not know '" + parts[0] + "'");
  return Error::success();
}

static uint32_t lowBits(unsigned count) {
  return count >= 32 ? ~uint32_t(0) : (uint32_t(1) << count) - 1;
}

static void addHardwareRegisters(InstructionTable &table) {
  table.add("s_getreg_b32", [](InstructionBuilder &builder) -> Error {
    if (Error error = buildHardwareRegister(builder, 1))
      return error;
    builder.instruction.run = [](Wave &wave, const Instruction &instruction) {
      wave.scalars[instruction.result.index] =
          wave.mode >> instruction.detail & lowBits(instruction.detail2);
    };
    return builder.result(0, builder.instruction.result,
                          scalarType<uint32_t>());
  });
  Handler set = [](Wave &wave, const Instruction &instruction) {
    uint32_t mask = lowBits(instruction.detail2);
    uint32_t value = readScalar<uint32_t>(wave, instruction.sources[0]) & mask;
    uint32_t mode = (wave.mode & ~(mask << instruction.detail)) |
                    value << instruction.detail;
    // Rounding and denormals.
    if ((mode & 0xFF) != (wave.mode & 0xFF))
      wave.fail("the emulator only rounds to nearest and keeps denormals");
    if ((mode ^ wave.mode) & kIndexMode)
      wave.fail("the emulator only knows the mode of s_set_gpr_idx_on where "
                "that sets it");
    wave.mode = mode;
  };
  for (auto name : {"s_setreg_b32", "s_setreg_imm32_b32"})
    table.add(name, [set](InstructionBuilder &builder) -> Error {
      if (Error error = buildHardwareRegister(builder, 0))
        return error;
      builder.instruction.run = set;
      return builder.source(1, builder.instruction.sources[0],
                            scalarType<uint32_t>());
    });
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// The address, a multiple of `alignment`, or 0 after a failure.
static uint64_t addressOfScalars(Wave &wave, const Instruction &instruction,
                                 unsigned bytes, unsigned alignment) {
  uint64_t address = wave.scalar64(instruction.sources[0].index);
  address += int64_t(instruction.offset);
  if (instruction.sources[1].kind != Operand::None)
    address += readScalar<uint32_t>(wave, instruction.sources[1]);
  address &= ~uint64_t(alignment - 1);
  if (wave.machine.memory.contains(address, bytes, /*isStore=*/false))
    return address;
  wave.fail("loads " + llvm::Twine(bytes) + " bytes at " +
            wave.machine.memory.describe(address, bytes, false));
  return 0;
}

static void loadBytes(Wave &wave, const Instruction &instruction,
                      uint64_t address, unsigned bytes, void *into) {
  if (wave.cache &&
      wave.machine.memory.contains(address, bytes, /*isStore=*/true))
    wave.cache->load(address, bytes, Scope::Wave, static_cast<uint8_t *>(into));
  else
    std::memcpy(into, reinterpret_cast<const void *>(address), bytes);
  wave.outstanding.issue(
      Counter(instruction.detail2), Order::Any, instruction,
      {instruction.result.index, uint16_t(std::max(bytes / 4, 1u))});
}

/// `detail`: words; `detail2`: the counter.
static void loadScalars(Wave &wave, const Instruction &instruction) {
  unsigned bytes = instruction.detail * 4;
  if (uint64_t address = addressOfScalars(wave, instruction, bytes, 4))
    loadBytes(wave, instruction, address, bytes,
              wave.scalars + instruction.result.index);
}

/// A byte or half, extended to a register.
template <class T>
static void loadPart(Wave &wave, const Instruction &instruction) {
  T part = 0;
  uint64_t address = addressOfScalars(wave, instruction, sizeof(T), sizeof(T));
  if (!address)
    return;
  loadBytes(wave, instruction, address, sizeof(T), &part);
  wave.scalars[instruction.result.index] = uint32_t(int32_t(part));
}

static Error buildLoad(InstructionBuilder &builder, Handler run,
                       unsigned words) {
  Instruction &instruction = builder.instruction;
  if (Error error = builder.expectOperands(3))
    return error;
  if (Error error = builder.result(0, instruction.result, {words, 32, false}))
    return error;
  if (Error error =
          builder.source(1, instruction.sources[0], scalarType<uint64_t>()))
    return error;
  if (std::optional<int64_t> offset =
          parseInteger(builder.parsed.operands[2])) {
    instruction.offset = *offset;
  } else {
    if (Error error =
            builder.source(2, instruction.sources[1], scalarType<uint32_t>()))
      return error;
    instruction.offset = builder.parsed.getNumber("offset", 0);
  }
  instruction.run = run;
  instruction.detail = words;
  instruction.detail2 =
      unsigned(builder.execution.counters == irischips::WaitCounters::PerKind
                   ? Counter::Scalar
                   : Counter::Lds);
  return Error::success();
}

static void addLoads(InstructionTable &table) {
  struct Width {
    StringRef old, name;
    unsigned words;
  };
  for (Width width :
       {Width{"dword", "b32", 1}, Width{"dwordx2", "b64", 2},
        Width{"dwordx3", "b96", 3}, Width{"dwordx4", "b128", 4},
        Width{"dwordx8", "b256", 8}, Width{"dwordx16", "b512", 16}}) {
    auto build = [words = width.words](InstructionBuilder &builder) {
      return buildLoad(builder, loadScalars, words);
    };
    table.add(("s_load_" + width.old).str(), build);
    table.add(("s_load_" + width.name).str(), build);
  }
  auto addPart = [&](StringRef name, Handler run) {
    table.add(name, [run](InstructionBuilder &builder) {
      return buildLoad(builder, run, 1);
    });
  };
  addPart("s_load_u8", loadPart<uint8_t>);
  addPart("s_load_i8", loadPart<int8_t>);
  addPart("s_load_u16", loadPart<uint16_t>);
  addPart("s_load_i16", loadPart<int16_t>);
}

void mlir::iris::emulator::addScalarControl(InstructionTable &table) {
  addBranches(table);
  addSaveExecs(table);
  addWaits(table);
  addFlow(table);
  addHardwareRegisters(table);
  addLoads(table);
}
