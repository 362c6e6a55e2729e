// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceComparison.h - Compares a device and reference -----*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_INTERPRET_DEVICECOMPARISON_H
#define IRIS_TOOLS_IRIS_INTERPRET_DEVICECOMPARISON_H

#include "iris/Interpreter/Compare.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"
#include <cstdint>
#include <string>
#include <vector>

namespace iristools {

/// Compares the buffers of the ranks of a device, which are in files
/// (compare/SyncDump.h), with those of the reference, and prints the
/// differences of the first sync that has any.
class DeviceComparison {
public:
  /// `tool` and `device` are names for messages; `files` has the descriptor of
  /// each rank's file.
  DeviceComparison(std::string tool, std::string device, std::vector<int> files)
      : tool(std::move(tool)), device(std::move(device)),
        offsets(files.size(), 0), files(std::move(files)) {}

  /// Reads "f16=1e-3,f32=1e-5". Prints an error.
  mlir::LogicalResult setTolerances(llvm::StringRef text);

  /// Compares all buffers of all ranks. Fails after it has printed differences.
  mlir::LogicalResult compare(const mlir::iris::SyncSnapshot &sync);

  /// Prints what was compared, after the reference has ended; fails if that was
  /// nothing, or if a rank of the device had more syncs.
  mlir::LogicalResult finish();

private:
  /// A buffer of a rank of the device.
  struct Found {
    uint64_t number;
    std::vector<uint8_t> bytes;
  };
  /// The next bytes of a rank's file; false at its end.
  bool read(unsigned rank, void *to, uint64_t bytes);
  /// The buffers of the next sync of a rank; false if it reached none.
  bool readSync(unsigned rank, std::vector<Found> &buffers);
  /// Returns the number of buffers that differ, after it has printed them.
  uint64_t compareRank(const mlir::iris::SyncSnapshot &sync, unsigned rank);
  bool compareOne(const mlir::iris::SyncSnapshot &sync,
                  const mlir::iris::BufferSnapshot &expected,
                  const Found &found);
  double toleranceOf(mlir::Type element) const;
  /// Starts a line about a rank.
  llvm::raw_ostream &print(unsigned rank);

  std::string tool, device;
  std::vector<uint64_t> offsets;
  std::vector<int> files;
  llvm::StringMap<double> tolerances;
  uint64_t numSyncs = 0, numBuffers = 0, numElements = 0;
};

} // namespace iristools

#endif // IRIS_TOOLS_IRIS_INTERPRET_DEVICECOMPARISON_H
