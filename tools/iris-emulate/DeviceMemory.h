// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceMemory.h - Memory shared with a rank's process -----*- C++ -*-===//
//
// A rank's process and its emulator map the same files at the same addresses.
#ifndef IRIS_EMULATE_DEVICEMEMORY_H
#define IRIS_EMULATE_DEVICEMEMORY_H

#include "iris/Emulator/Memory.h"
#include "llvm/Support/Error.h"
#include <map>

namespace iristools {

/// Mappings, which the kernels may access, and reservations of addresses.
class DeviceMemory {
public:
  /// Each returns false if this process already uses the addresses.
  llvm::Expected<bool> reserve(uint64_t address, uint64_t bytes);
  /// Inside of a reservation, or at free addresses.
  llvm::Expected<bool> map(uint64_t address, uint64_t bytes, int file);
  llvm::Error release(uint64_t address, uint64_t bytes);
  llvm::Error unmap(uint64_t address, uint64_t bytes);

  mlir::iris::emulator::Memory &getMemory() { return memory; }

private:
  bool isReserved(uint64_t address, uint64_t bytes) const;

  mlir::iris::emulator::Memory memory;
  /// Bytes by address.
  std::map<uint64_t, uint64_t> mappings, reservations;
};

} // namespace iristools

#endif // IRIS_EMULATE_DEVICEMEMORY_H
