// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InitCheck.h - What depends on unwritten registers and LDS *- C++ -*-===//
//
// Code may read registers and LDS that nothing has written: compilers load in
// front of a condition, and select later. So each lane of a register, each bit
// of a scalar one and each byte of LDS has a value or not, and operations pass
// that on, as in Valgrind's Memcheck (Seward and Nethercote, "Using Valgrind to
// Detect Undefined Value Errors with Bit-Precision", USENIX 2005). An error is
// where it matters: an address, a branch, which lanes are active, and what is
// stored to memory. Results of operations that move values between lanes, of
// matrix instructions and of operations on parts of registers count as written,
// and so does scratch.
#ifndef IRIS_EMULATOR_INITCHECK_H
#define IRIS_EMULATOR_INITCHECK_H

#include "Wave.h"

namespace mlir::iris::emulator {

/// What a wave's registers have.
struct InitState {
  /// Where what has no value comes from: a load of LDS, or a register that
  /// nothing wrote, numbered as in `RegisterRange`.
  struct Origin {
    const Instruction *load = nullptr;
    unsigned number = 0;
  };
  /// What an operation reads.
  struct Sources {
    /// Lanes in which all of it has a value.
    uint64_t lanes = ~uint64_t(0);
    Origin origin;
  };

  /// Bits with values.
  std::array<uint32_t, kNumScalars> scalars;
  bool scc = true;
  /// Lanes with values, of each row.
  std::vector<uint64_t> rows;
  /// Of registers without values, numbered as in `RegisterRange`.
  std::vector<Origin> origins;
  Origin originOfScc;

  /// Of the instruction that is executed. `low` is what the lower word of its
  /// result depends on, `second` is of the second operation of two.
  Sources sources, low, second;
  /// Lanes whose loads of LDS found only values.
  uint64_t loaded = 0;
  /// Bits of a scalar operation that have values.
  uint64_t bits = 0;
};

/// Prepares the check of a wave whose registers are as a kernel expects them.
void startInitCheck(Wave &wave);

/// Looks at what an instruction reads. An error of the wave, and false, if
/// something depends on what has no value.
bool checkSources(Wave &wave, const Instruction &instruction);

/// Passes on what its results have.
void recordResults(Wave &wave, const Instruction &instruction);

/// Checks an access to LDS inside of its bounds, as options say: also its
/// order. False, with an error of the wave, if it is not allowed.
bool checkShared(Wave &wave, const Instruction &instruction, unsigned lane,
                 uint32_t offset, unsigned bytes, bool isStore);

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_INITCHECK_H
