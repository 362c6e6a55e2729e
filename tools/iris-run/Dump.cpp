// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dump.cpp - Buffers of a rank, for a comparison ---------------------===//
#include "Dump.h"

#include "compare/SyncDump.h"
#include "core/Files.h"

#include <algorithm>

using namespace iris;
using namespace iris::run;

/// Bytes that are copied from the device at once.
static constexpr uint64_t pieceBytes = 4 << 20;

template <typename T>
static rt::Status writeHeader(int fd, const T &header) {
  return rt::writeAll(fd,
                      {reinterpret_cast<const char *>(&header), sizeof header},
                      "the buffers to compare");
}

rt::Status BufferDump::atSync(rt::World &world,
                              const std::vector<rt::ProgramBuffer> &buffers) {
  IRISRT_RETURN_IF_ERROR(
      writeHeader(fd, iristools::SyncHeader{buffers.size()}));
  std::string piece;
  for (const rt::ProgramBuffer &buffer : buffers) {
    IRISRT_RETURN_IF_ERROR(
        writeHeader(fd, iristools::BufferHeader{buffer.number, buffer.bytes}));
    for (uint64_t at = 0; at < buffer.bytes; at += piece.size()) {
      piece.resize(std::min(pieceBytes, buffer.bytes - at));
      IRISRT_RETURN_IF_ERROR(
          world.readNow(piece.data(), buffer.address + at, piece.size()));
      IRISRT_RETURN_IF_ERROR(rt::writeAll(fd, piece, "the buffers to compare"));
    }
  }
  return {};
}
