// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ArgLayout.h - Layout of the argument block ---------------*- C++ -*-===//
//
// See RuntimeABI.h, section 3.
#ifndef IRIS_RT_PACKAGE_ARGLAYOUT_H
#define IRIS_RT_PACKAGE_ARGLAYOUT_H

#include "core/Align.h"
#include "iris/rt/Kernel.h"

#include <cstdint>
#include <vector>

namespace iris::rt {

/// Bytes [begin, end) of the packed block.
struct ArgExtent {
  uint64_t begin;
  uint64_t end;
};

/// The extent of an argument; the previous argument ends at `end`.
inline ArgExtent placeArg(const ArgInfo &arg, uint64_t end) {
  switch (arg.kind) {
  case IRISRT_ARG_CONTEXT: {
    uint64_t begin = alignTo(end, alignof(IrisRtContext));
    return {begin, begin + sizeof(IrisRtContext)};
  }
  case IRISRT_ARG_MEMREF: {
    uint64_t words = 1; // the pointer
    for (const auto &size : arg.sizes)
      words += !size;
    if (!arg.identity)
      for (const auto &stride : arg.strides)
        words += !stride;
    uint64_t begin = alignTo(end, 8);
    return {begin, begin + 8 * words};
  }
  case IRISRT_ARG_SCALAR:
    break;
  }
  uint64_t bytes = elementBytes(arg.element);
  uint64_t begin = alignTo(end, bytes);
  return {begin, begin + bytes};
}

/// The offset of each parameter in the packed block: every field of a context,
/// every word of a memref, every scalar, every hidden argument.
std::vector<uint32_t> placeParameters(const KernelInfo &kernel);

} // namespace iris::rt

#endif // IRIS_RT_PACKAGE_ARGLAYOUT_H
