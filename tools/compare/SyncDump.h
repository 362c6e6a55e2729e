// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SyncDump.h - Buffers of a rank at its syncs --------------*- C++ -*-===//
//
// What a rank of iris-run writes and iris-interpret reads: for each `iris.sync`
// and the end of `@main` a SyncHeader, then for each live buffer a BufferHeader
// and its bytes. Both tools are of one build.
#ifndef IRIS_TOOLS_COMPARE_SYNCDUMP_H
#define IRIS_TOOLS_COMPARE_SYNCDUMP_H

#include <cstdint>

namespace iristools {

struct SyncHeader {
  uint64_t numBuffers;
};

struct BufferHeader {
  /// The number of the allocation, from 0, in program order, without those of
  /// workspaces.
  uint64_t number;
  uint64_t bytes;
};

} // namespace iristools

#endif // IRIS_TOOLS_COMPARE_SYNCDUMP_H
