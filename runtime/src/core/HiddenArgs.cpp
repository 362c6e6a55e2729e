// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HiddenArgs.cpp - Launch arguments that the runtime creates ---------===//
#include "core/HiddenArgs.h"

#include "core/Align.h"

#include <cstring>

using namespace iris::rt;

static constexpr uint64_t tensorMapAlignment = 16;
static constexpr uint64_t maxTensorMapSize = uint64_t(1) << 32;
static constexpr uint64_t maxTensorMapStride = uint64_t(1) << 40;

static bool isTensorMapStride(uint64_t bytes) {
  return bytes != 0 && bytes % tensorMapAlignment == 0 &&
         bytes < maxTensorMapStride;
}

std::optional<TensorMapSpec>
iris::rt::describeTensorMap(const HiddenArgInfo &hidden,
                            const IrisRtContext &context,
                            const IrisRtArg &arg) {
  uint32_t near = hidden.contiguous, far = 1 - near;
  uint64_t bytes = elementBytes(arg.element);
  for (uint32_t dim : {near, far})
    if (arg.sizes[dim] <= 0 ||
        static_cast<uint64_t>(arg.sizes[dim]) > maxTensorMapSize)
      return std::nullopt;
  if (arg.sizes[near] > 1 && arg.strides[near] != 1)
    return std::nullopt;

  TensorMapSpec spec;
  spec.element = static_cast<IrisRtElement>(arg.element);
  spec.address = arg.value;
  spec.sizes[0] = static_cast<uint64_t>(arg.sizes[near]);
  spec.sizes[1] = static_cast<uint64_t>(arg.sizes[far]);
  // The stride of a dimension with one element is unused, but it must be valid.
  spec.strides[0] = alignTo(spec.sizes[0] * bytes, tensorMapAlignment);
  if (arg.sizes[far] > 1) {
    if (arg.strides[far] <= 0 ||
        static_cast<uint64_t>(arg.strides[far]) >= maxTensorMapStride / bytes)
      return std::nullopt;
    spec.strides[0] = static_cast<uint64_t>(arg.strides[far]) * bytes;
  }
  if (spec.strides[0] >= maxTensorMapStride / spec.sizes[1])
    return std::nullopt;
  spec.strides[1] = spec.strides[0] * spec.sizes[1];
  if (hidden.ranks && context.numRanks > 1) {
    // A map over all ranks needs heaps at a uniform stride.
    if (context.heapStride <= 0)
      return std::nullopt;
    spec.sizes[2] = context.numRanks;
    spec.strides[1] = static_cast<uint64_t>(context.heapStride);
    spec.address -= context.rank * spec.strides[1];
  }
  if (spec.address % tensorMapAlignment != 0 ||
      !isTensorMapStride(spec.strides[0]) ||
      !isTensorMapStride(spec.strides[1]))
    return std::nullopt;
  spec.box[0] = hidden.box[0];
  spec.box[1] = hidden.box[1];
  spec.swizzle = hidden.swizzle;
  return spec;
}

Status iris::rt::packHiddenArgs(const KernelInfo &kernel,
                                const IrisRtContext &context,
                                const IrisRtArg *args, Backend &backend,
                                std::vector<uint8_t> &block) {
  using Kind = HiddenArgInfo::Kind;
  uint64_t made = 0;
  uint32_t number = 0;
  for (const HiddenArgInfo &hidden : kernel.hidden) {
    if (hidden.kind != Kind::tensorMap)
      continue;
    uint32_t map = number++;
    std::optional<TensorMapSpec> spec =
        describeTensorMap(hidden, context, args[hidden.arg]);
    if (!spec)
      continue;
    IRISRT_ASSIGN_OR_RETURN(
        bool isMade,
        backend.encodeTensorMap(*spec, block.data() + hidden.offset));
    made |= uint64_t(isMade) << map;
  }
  for (const HiddenArgInfo &hidden : kernel.hidden)
    if (hidden.kind == Kind::tensorMapMask)
      std::memcpy(block.data() + hidden.offset, &made, sizeof(made));
  return Status::success();
}
