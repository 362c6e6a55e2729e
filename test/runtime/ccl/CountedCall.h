// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of collectives with counts in device memory, for tests that draw them.
#ifndef IRIS_TEST_RUNTIME_CCL_COUNTEDCALL_H
#define IRIS_TEST_RUNTIME_CCL_COUNTEDCALL_H

#include "support/Hash.h"

#include "iris/ccl/Communicator.h"

#include <cstdint>
#include <vector>

namespace iris::rt::test {

/// The chunks of one rank that belong to one peer, in rows.
struct PeerChunks {
  uint64_t inCount, inOffset, outCount, outOffset;
};

/// The tables of a rank, one after the other: counts and offsets of the input,
/// then of the output. `chunksOf` gives the chunks of a peer.
template <typename ChunksOf>
std::vector<int64_t> chunkTables(uint32_t size, const ChunksOf &chunksOf) {
  std::vector<int64_t> tables(4 * size);
  for (uint32_t peer = 0; peer < size; ++peer) {
    const PeerChunks chunks = chunksOf(peer);
    uint32_t table = 0;
    for (uint64_t entry :
         {chunks.inCount, chunks.inOffset, chunks.outCount, chunks.outOffset})
      tables[size * table++ + peer] = static_cast<int64_t>(entry);
  }
  return tables;
}

/// Buffers of a call and its chunkTables(), as addresses on the device.
struct CountedMemory {
  uint64_t in, out, tables;
};

/// A call on a group of `size` ranks; the sizes of its buffers are not set.
inline ccl::Call countedCall(ccl::Op op, ccl::DType dtype, uint64_t rowElements,
                             uint32_t size, const CountedMemory &memory) {
  auto pointer = [](uint64_t address) {
    return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
  };
  auto *entries = static_cast<const int64_t *>(pointer(memory.tables));
  ccl::Call call;
  call.op = op;
  call.dtype = dtype;
  call.rowElements = rowElements;
  call.in = pointer(memory.in);
  call.out = pointer(memory.out);
  call.inChunks = {entries, entries + size};
  call.outChunks = {entries + 2 * size, entries + 3 * size};
  return call;
}

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_CCL_COUNTEDCALL_H
