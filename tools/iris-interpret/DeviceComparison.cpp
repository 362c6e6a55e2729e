// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceComparison.cpp - Compares a device with the reference --------===//
#include "DeviceComparison.h"

#include "compare/SyncDump.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <limits>
#include <unistd.h>

using namespace iristools;
using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Tolerances
//===----------------------------------------------------------------------===//

LogicalResult DeviceComparison::setTolerances(StringRef text) {
  constexpr StringLiteral types[] = {"f16", "bf16", "f32", "f64"};
  for (StringRef word : llvm::split(text, ',')) {
    auto [type, value] = word.split('=');
    double tolerance = 0;
    if (!llvm::is_contained(types, type) || value.getAsDouble(tolerance) ||
        !(tolerance >= 0 && tolerance < 1)) {
      llvm::errs() << tool << ": --tolerance: '" << word
                   << "'; expected one of f16, bf16, f32 and f64, '=' and a "
                      "number from 0 to less than 1, such as f32=1e-5\n";
      return failure();
    }
    tolerances[type] = tolerance;
  }
  return success();
}

static std::string nameOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

double DeviceComparison::toleranceOf(Type element) const {
  return tolerances.empty() ? 0 : tolerances.lookup(nameOf(element));
}

//===----------------------------------------------------------------------===//
// The device's buffers
//===----------------------------------------------------------------------===//

bool DeviceComparison::read(unsigned rank, void *to, uint64_t bytes) {
  auto *next = static_cast<char *>(to);
  while (bytes != 0) {
    ssize_t step = ::pread(files[rank], next, bytes, offsets[rank]);
    if (step < 0 && errno == EINTR)
      continue;
    if (step <= 0)
      return false;
    next += step;
    offsets[rank] += step;
    bytes -= step;
  }
  return true;
}

bool DeviceComparison::readSync(unsigned rank, std::vector<Found> &buffers) {
  SyncHeader sync;
  if (!read(rank, &sync, sizeof sync))
    return false;
  for (uint64_t n = 0; n < sync.numBuffers; ++n) {
    BufferHeader header;
    if (!read(rank, &header, sizeof header))
      return false; // the rank ended while it wrote
    Found buffer{header.number, std::vector<uint8_t>(header.bytes)};
    if (!read(rank, buffer.bytes.data(), header.bytes))
      return false;
    buffers.push_back(std::move(buffer));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

static std::string positionOf(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto line = op->getLoc()->findInstanceOf<FileLineColLoc>())
    os << line.getFilename().getValue() << ":" << line.getLine() << ":"
       << line.getColumn();
  else
    os << op->getLoc();
  return text;
}

/// "sync 1 (a.mlir:40:3)".
static std::string describe(const SyncSnapshot &sync) {
  if (!sync.op)
    return "the end of @main";
  return "sync " + std::to_string(sync.number) + " (" + positionOf(sync.op) +
         ")";
}

/// "allocation 2 (iris.alloc at a.mlir:33:8 of memref<?xf32>)".
static std::string describe(const BufferSnapshot &buffer) {
  std::string text = "allocation " + std::to_string(buffer.number) +
                     " (iris.alloc at " + positionOf(buffer.alloc) + ", ";
  for (int64_t size : buffer.sizes)
    text += std::to_string(size) + "x";
  return text + nameOf(buffer.element) + ")";
}

raw_ostream &DeviceComparison::print(unsigned rank) {
  return llvm::errs() << tool << ": rank " << rank << " on " << device << ": ";
}

bool DeviceComparison::compareOne(const SyncSnapshot &sync,
                                  const BufferSnapshot &expected,
                                  const Found &found) {
  if (found.bytes.size() != expected.bytes.size()) {
    print(expected.rank) << "at " << describe(sync) << ", "
                         << describe(expected) << " has " << found.bytes.size()
                         << " bytes; expected " << expected.bytes.size()
                         << "\n";
    return false;
  }
  BufferDifference difference =
      compareBuffer(expected, found.bytes, toleranceOf(expected.element));
  ++numBuffers;
  numElements += difference.compared;
  if (difference.count == 0)
    return true;
  print(expected.rank) << "at " << describe(sync) << ", " << describe(expected)
                       << ", index [" << llvm::interleaved(difference.index)
                       << "]: found " << difference.found << ", expected "
                       << difference.expected;
  if (difference.count > 1)
    llvm::errs() << "; " << difference.count << " of " << difference.compared
                 << " elements differ";
  llvm::errs() << "\n";
  return false;
}

uint64_t DeviceComparison::compareRank(const SyncSnapshot &sync,
                                       unsigned rank) {
  std::vector<Found> buffers;
  if (!readSync(rank, buffers)) {
    print(rank) << "did not reach " << describe(sync) << "\n";
    return 1;
  }
  uint64_t differing = 0;
  auto next = buffers.begin();
  // Those of the device with lesser numbers than `limit`.
  auto reportFreed = [&](uint64_t limit) {
    for (; next != buffers.end() && next->number < limit; ++next, ++differing)
      print(rank) << "at " << describe(sync) << ", allocation " << next->number
                  << " is live; expected that it is not\n";
  };
  for (const BufferSnapshot &expected : sync.buffers) {
    if (expected.rank != rank)
      continue;
    reportFreed(expected.number);
    if (next != buffers.end() && next->number == expected.number) {
      differing += !compareOne(sync, expected, *next++);
      continue;
    }
    ++differing;
    print(rank) << "at " << describe(sync) << ", " << describe(expected)
                << " is not live; expected that it is\n";
  }
  reportFreed(std::numeric_limits<uint64_t>::max());
  return differing;
}

LogicalResult DeviceComparison::compare(const SyncSnapshot &sync) {
  uint64_t differing = 0;
  for (unsigned rank = 0; rank < files.size(); ++rank)
    differing += compareRank(sync, rank);
  numSyncs += sync.op != nullptr;
  return success(differing == 0);
}

LogicalResult DeviceComparison::finish() {
  for (unsigned rank = 0; rank < files.size(); ++rank) {
    std::vector<Found> buffers;
    if (!readSync(rank, buffers))
      continue;
    print(rank) << "has a sync after the end of the reference, which has "
                << numSyncs << "\n";
    return failure();
  }
  std::string where = std::to_string(files.size()) +
                      (files.size() == 1 ? " rank" : " ranks") + " on " +
                      device;
  if (numElements == 0) {
    llvm::errs() << tool << ": FAILED: " << where
                 << " had no element to compare; expected live buffers at an "
                    "iris.sync or at the end of @main\n";
    return failure();
  }
  llvm::outs() << tool << ": " << where << ": all " << numElements
               << " elements of " << numBuffers << " buffers at " << numSyncs
               << (numSyncs == 1 ? " sync" : " syncs")
               << " and the end of @main are as in the reference\n";
  return success();
}
