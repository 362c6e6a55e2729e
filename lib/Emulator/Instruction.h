// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Instruction.h - Decoded instructions ---------------------*- C++ -*-===//
//
// An instruction is decoded once, when it is first executed, to a function and
// operands that need no further interpretation.
#ifndef IRIS_EMULATOR_INSTRUCTION_H
#define IRIS_EMULATOR_INSTRUCTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace mlir::iris::emulator {

class Wave;
struct Instruction;

/// Where a vector memory access goes.
enum class Space : uint8_t { Global, Flat, Scratch, Buffer };

/// How far an access, or an operation on caches, reaches.
enum class Scope : uint8_t { Wave, Workgroup, Agent, System };

/// Lanes of a vector register. Waves of 32 lanes use the first half.
constexpr unsigned kLanes = 64;

/// Executes an instruction for all active lanes of a wave.
using Handler = void (*)(Wave &, const Instruction &);

/// Scalar registers, by the numbers of their encoding.
enum ScalarRegister : unsigned {
  kNumPlainScalars = 106,
  kVcc = 106,
  kTrapRegisters = 108,
  /// Where writes to `null` go: trap registers that nothing reads.
  kNull = 120,
  kM0 = 124,
  kExec = 126,
  kNumScalars = 128,
};

/// The upper words of flat addresses in LDS and in scratch.
constexpr uint32_t kSharedAperture = 0x10000, kPrivateAperture = 0x20000;

/// The descriptor of scratch, on chips that access it as a buffer. Swizzling
/// gives each lane words of its own; the other fields of its second word are
/// what the runtime sets for waves, and are not looked at.
constexpr uint32_t kSwizzledBuffer = 1u << 31;
constexpr uint32_t kScratchDescriptor[4] = {0, kSwizzledBuffer, ~0u, 0};

/// Scratch rows of a wave behind its vector registers, for operands that are
/// permuted or selected before the operation.
constexpr unsigned kNumTemporaries = 12;

/// A vector register.
struct alignas(64) Row {
  uint32_t lanes[kLanes];
};

/// A decoded operand.
struct Operand {
  enum Kind : uint8_t { None, Vector, Scalar, Constant, Scc };

  Kind kind = None;
  /// Registers.
  uint8_t count = 1;
  /// The first row or scalar register.
  uint16_t index = 0;
  /// For f16 operands in a register: the upper half of it. For packed ones: the
  /// half that the lower, and the upper, operation read.
  bool isHigh : 1, isHighForHigh : 1;
  /// Of floats: the absolute value, then the negated one. The latter also of
  /// the upper of two packed operations.
  bool isAbsolute : 1, isNegated : 1, isNegatedForHigh : 1;
  /// Of a constant: bits, extended to what the operation reads.
  uint64_t constant = 0;
  /// Of a constant: a row of the lower half of these bits, or null.
  const Row *row = nullptr;

  Operand()
      : isHigh(false), isHighForHigh(true), isAbsolute(false), isNegated(false),
        isNegatedForHigh(false) {}
  bool hasModifiers() const { return isAbsolute || isNegated; }
};

/// Registers: first the scalar ones, then the rows.
struct RegisterRange {
  uint16_t first = 0, count = 0;
};
constexpr unsigned kFirstRowBit = kNumScalars;
/// No operand has more.
constexpr unsigned kMaxRangeRegisters = 32;

/// The parts of registers that an operation reads and writes (SDWA). A part has
/// the shift in bits 0 to 4, the width in bits 8 to 13, and whether it is
/// sign-extended in bit 16.
struct Selection {
  /// The registers; without a kind where there is nothing to select.
  Operand sources[2], result;
  uint32_t parts[2] = {0, 0}, resultPart = 0;
  /// What becomes of the rest of the result's register.
  enum Unused : uint8_t { Clear, SignExtend, Preserve } unused = Clear;
};

/// The lane that each lane reads (DPP), where it reads one.
struct Permutation {
  std::array<uint8_t, kLanes> from = {};
  uint64_t hasSource = 0;
};

struct DualOperation;

/// What is added to the numbers of an instruction's vector registers: of its
/// result, then of each source.
using RegisterOffsets = std::array<uint32_t, 4>;
/// The mode in which M0 has them: bits 0 to 7 are the offset, bits 12 to 14 the
/// sources, and bit 15 is the result that it is added to.
constexpr uint32_t kIndexMode = 1u << 27;

/// What every execution reads comes first, in two cache lines for most.
struct alignas(64) Instruction {
  Handler run = nullptr;
  /// Executions.
  mutable uint64_t executions = 0;
  /// The instruction after it, once it was executed after this one.
  mutable const Instruction *next = nullptr;
  /// Position in the code, and of what comes after it, in words.
  uint32_t position = 0, end = 0;
  /// Registers of all operands: bits of the words of OutstandingAccesses, and
  /// whether there are more than these. A bit for each word that has any.
  uint8_t registerWords[3] = {0, 0, 0};
  bool hasMoreRegisters = false;
  uint16_t wordsWithRegisters = 0;
  uint64_t registerBits[3] = {0, 0, 0};

  Operand result;
  Operand sources[4];
  Operand result2;
  /// Immediate, or byte offset of an access.
  int64_t offset = 0;
  /// What else the handler needs: see there.
  uint32_t detail = 0, detail2 = 0;
  /// Multiplies float results by 2^x, then clamps them.
  int8_t outputScale = 0;
  bool clamps = false;
  /// Of a 16-bit result: whether the other half of its register is kept.
  bool keepsOtherHalf = false;
  /// Of a memory access: where.
  Space space = Space::Global;
  bool isAtomic = false;
  /// Of an atomic: whether it stores only if it finds an expected value.
  bool comparesToo = false;
  Scope scope = Scope::Wave;
  /// Of the code that wraps `run` for DPP and SDWA.
  Handler inner = nullptr;
  /// For DPP, and the lanes that are written.
  std::shared_ptr<const Permutation> permutation;
  uint64_t enabledLanes = ~uint64_t(0);
  std::shared_ptr<const Selection> selection;
  std::shared_ptr<const DualOperation> dual;
  /// Of a wait: accesses that completed there, of each counter.
  mutable std::array<uint64_t, 4> completed{};
  /// Registers operand by operand.
  uint8_t numRanges = 0;
  RegisterRange ranges[8];
  /// Registers that it writes, also after a wait.
  uint8_t numResults = 0;
  RegisterRange results[2];
  std::string text;

  bool modifiesResult() const { return outputScale != 0 || clamps; }
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_INSTRUCTION_H
