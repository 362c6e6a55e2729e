// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LastStores.h - The latest stores of all waves ------------*- C++ -*-===//
//
// For reports: who stored to what a wave waits for. An atomic that changes
// nothing is no store.
#ifndef IRIS_EMULATOR_LASTSTORES_H
#define IRIS_EMULATOR_LASTSTORES_H

#include "Instruction.h"
#include <vector>

namespace mlir::iris::emulator {

class Program;

/// A store or atomic of a wave.
struct StoreRecord {
  const Program *program;
  const Instruction *instruction;
  /// Its bytes are among these: addresses, or offsets in LDS.
  uint64_t begin, end;
  unsigned launch;
  uint32_t ids[3];
  unsigned wave;
  bool isShared;

  bool covers(uint64_t address) const {
    return address >= begin && address < end;
  }
};

class LastStores {
public:
  /// A new record, in place of the oldest one. The caller fills it in.
  StoreRecord &add() { return records[numStores++ % kNumRecords]; }
  /// The latest one with a property, or null.
  template <class Predicate>
  const StoreRecord *find(Predicate predicate) const {
    for (uint64_t i = 0; i < countKept(); ++i)
      if (const StoreRecord &record =
              records[(numStores - 1 - i) % kNumRecords];
          predicate(record))
        return &record;
    return nullptr;
  }
  uint64_t countKept() const {
    return numStores < kNumRecords ? numStores : kNumRecords;
  }
  /// Whether there were no others.
  bool hasAll() const { return numStores <= kNumRecords; }

private:
  static constexpr uint64_t kNumRecords = 4096;
  std::vector<StoreRecord> records = std::vector<StoreRecord>(kNumRecords);
  uint64_t numStores = 0;
};

} // namespace mlir::iris::emulator

#endif // IRIS_EMULATOR_LASTSTORES_H
