// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Kernel.cpp - Kernel metadata and launch arguments ------------------===//
#include "iris/rt/Kernel.h"

#include "package/ArgLayout.h"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstring>

using namespace iris::rt;

namespace {
struct ElementRow {
  std::string_view name;
  uint32_t bytes;
};
} // namespace

/// In the order of IrisRtElement.
static constexpr ElementRow elements[] = {
    {"i1", 1},  {"i8", 1},   {"i16", 2}, {"i32", 4}, {"i64", 8},
    {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"f64", 8}, {"index", 8}};
static_assert(sizeof(elements) / sizeof(elements[0]) == IRISRT_ELT_INDEX + 1,
              "one row for each IrisRtElement");

std::string_view iris::rt::elementName(uint32_t element) {
  return element <= IRISRT_ELT_INDEX ? elements[element].name : "unknown";
}

uint32_t iris::rt::elementBytes(uint32_t element) {
  return element <= IRISRT_ELT_INDEX ? elements[element].bytes : 0;
}

std::optional<IrisRtElement> iris::rt::parseElement(std::string_view name) {
  for (uint32_t i = 0; i <= IRISRT_ELT_INDEX; ++i)
    if (elements[i].name == name)
      return static_cast<IrisRtElement>(i);
  return std::nullopt;
}

uint64_t iris::rt::fnv1a64(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3ull;
  return hash;
}

//===----------------------------------------------------------------------===//
// Types as text
//===----------------------------------------------------------------------===//

static std::string dimText(const std::optional<int64_t> &dim) {
  return dim ? std::to_string(*dim) : "?";
}

std::string ArgInfo::typeName() const {
  if (kind == IRISRT_ARG_CONTEXT)
    return "!iris.ctx";
  if (kind == IRISRT_ARG_SCALAR)
    return std::string(elementName(element));
  std::string text = "memref<";
  for (const auto &size : sizes)
    text += dimText(size) + "x";
  text += elementName(element);
  if (!identity) {
    text += ", strided<[";
    for (size_t i = 0; i < strides.size(); ++i)
      text += (i ? ", " : "") + dimText(strides[i]);
    text += "]>";
  }
  return text + (symmetric ? ", symmetric>" : ">");
}

/// The type of a passed argument, in the format of ArgInfo::typeName.
static std::string typeName(const IrisRtArg &arg) {
  if (arg.kind == IRISRT_ARG_CONTEXT)
    return "!iris.ctx";
  if (arg.kind == IRISRT_ARG_SCALAR)
    return std::string(elementName(arg.element));
  if (arg.kind != IRISRT_ARG_MEMREF)
    return formatString("an argument of unknown kind %" PRIu32, arg.kind);
  std::string text = "memref<";
  if (arg.rank > IRISRT_MAX_DIMS)
    text += formatString("%" PRIu32 " dimensions of ", arg.rank);
  else
    for (uint32_t i = 0; i < arg.rank; ++i)
      text += std::to_string(arg.sizes[i]) + "x";
  text += elementName(arg.element);
  return text + (arg.symmetric ? ", symmetric>" : ">");
}

uint64_t KernelInfo::nameHash() const { return fnv1a64(name); }

std::string KernelInfo::signature() const {
  std::string text = fullName() + "(";
  for (size_t i = 0; i < args.size(); ++i)
    text += (i ? ", " : "") + args[i].typeName();
  return text + ")";
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Sign-extends the bits of an integer scalar.
static int64_t signExtend(uint64_t bits, uint32_t bytes) {
  if (bytes >= 8)
    return static_cast<int64_t>(bits);
  uint64_t sign = uint64_t(1) << (8 * bytes - 1);
  return static_cast<int64_t>((bits ^ sign) - sign);
}

/// |value| % divisor == 0, without overflow for INT64_MIN.
static bool divides(uint64_t divisor, int64_t value) {
  uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value)
                                 : static_cast<uint64_t>(value);
  return divisor <= 1 || magnitude % divisor == 0;
}

static bool isInteger(IrisRtElement element) {
  return element <= IRISRT_ELT_I64 || element == IRISRT_ELT_INDEX;
}

static Status wrong(const std::string &what) {
  return Status(StatusCode::invalidArgument, what);
}

static Status checkScalar(const ArgInfo &want, const IrisRtArg &got) {
  uint32_t bytes = elementBytes(want.element);
  bool fits = bytes == 8 || got.value >> (8 * bytes) == 0;
  if (want.element == IRISRT_ELT_I1)
    fits = got.value <= 1;
  if (!fits)
    return wrong(formatString("value 0x%" PRIx64 " does not fit %s", got.value,
                              want.typeName().c_str()));
  if (!isInteger(want.element))
    return Status::success();
  int64_t value = signExtend(got.value, bytes);
  if (!divides(want.divisibility, value))
    return wrong(formatString("value %" PRId64
                              " should be a multiple of %" PRIu64,
                              value, want.divisibility));
  return Status::success();
}

/// Computes the address range of a memref's elements; false if it exceeds the
/// address space.
static bool footprint(const IrisRtArg &arg, uint64_t &begin, uint64_t &bytes) {
  int64_t low = 0, high = 0; // element offsets
  for (uint32_t i = 0; i < arg.rank; ++i) {
    if (arg.sizes[i] == 0) {
      begin = arg.value;
      bytes = 0;
      return true;
    }
    int64_t reach;
    if (__builtin_mul_overflow(arg.sizes[i] - 1, arg.strides[i], &reach))
      return false;
    if (__builtin_add_overflow(reach < 0 ? low : high, reach,
                               reach < 0 ? &low : &high))
      return false;
  }
  int64_t size = elementBytes(arg.element), span;
  if (__builtin_sub_overflow(high, low, &span) ||
      __builtin_add_overflow(span, int64_t(1), &span) ||
      __builtin_mul_overflow(span, size, &span) ||
      __builtin_mul_overflow(low, size, &low))
    return false;
  bytes = static_cast<uint64_t>(span);
  begin = arg.value + static_cast<uint64_t>(low); // wraps for negative strides
  uint64_t end;
  return (low > 0 ? begin >= arg.value : begin <= arg.value) &&
         !__builtin_add_overflow(begin, bytes, &end);
}

static Status checkSizes(const ArgInfo &want, const IrisRtArg &got) {
  for (uint32_t i = 0; i < got.rank; ++i) {
    int64_t size = got.sizes[i];
    if (size < 0)
      return wrong(
          formatString("size %" PRIu32 " is negative: %" PRId64, i, size));
    if (want.sizes[i] && *want.sizes[i] != size)
      return wrong(formatString("size %" PRIu32 " should be %" PRId64
                                ", but is %" PRId64,
                                i, *want.sizes[i], size));
    if (!want.sizeDivisibility.empty() &&
        !divides(want.sizeDivisibility[i], size))
      return wrong(formatString("size %" PRIu32 " should be a multiple of "
                                "%" PRIu64 ", but is %" PRId64,
                                i, want.sizeDivisibility[i], size));
  }
  return Status::success();
}

static Status checkStrides(const ArgInfo &want, const IrisRtArg &got) {
  bool empty = std::count(got.sizes, got.sizes + got.rank, 0) != 0;
  int64_t rowMajor = 1;
  for (uint32_t i = got.rank; i-- > 0;) {
    int64_t stride = got.strides[i];
    // The stride of a dimension with at most one element is unused.
    bool matters = got.sizes[i] > 1 && !empty;
    if (want.identity && matters && stride != rowMajor)
      return wrong(formatString("stride %" PRIu32 " should be %" PRId64
                                " (row major), but is %" PRId64,
                                i, rowMajor, stride));
    if (!want.identity && want.strides[i] && *want.strides[i] != stride)
      return wrong(formatString("stride %" PRIu32 " should be %" PRId64
                                ", but is %" PRId64,
                                i, *want.strides[i], stride));
    if ((matters || !want.identity) && !want.strideDivisibility.empty() &&
        !divides(want.strideDivisibility[i], stride))
      return wrong(formatString("stride %" PRIu32 " should be a multiple of "
                                "%" PRIu64 ", but is %" PRId64,
                                i, want.strideDivisibility[i], stride));
    if (__builtin_mul_overflow(rowMajor, std::max<int64_t>(got.sizes[i], 1),
                               &rowMajor))
      return wrong("the memref is larger than the address space");
  }
  return Status::success();
}

static Status checkMemref(const ArgInfo &want, const IrisRtArg &got,
                          const HeapCheck &inHeap) {
  if (got.rank > IRISRT_MAX_DIMS || got.rank != want.sizes.size())
    return wrong(formatString("expected %zu dimensions, but got %" PRIu32,
                              want.sizes.size(), got.rank));
  IRISRT_RETURN_IF_ERROR(checkSizes(want, got));
  IRISRT_RETURN_IF_ERROR(checkStrides(want, got));
  if (want.divisibility > 1 && got.value % want.divisibility != 0)
    return wrong(formatString("address 0x%" PRIx64
                              " should be a multiple of %" PRIu64,
                              got.value, want.divisibility));
  uint64_t begin, bytes;
  if (!footprint(got, begin, bytes))
    return wrong("the memref is larger than the address space");
  if (!want.symmetric)
    return Status::success();
  if (!got.symmetric)
    return wrong("the buffer should be on the symmetric heap, but is passed "
                 "as non-symmetric");
  if (inHeap && !inHeap(begin, bytes))
    return wrong(formatString("%" PRIu64 " bytes at 0x%" PRIx64
                              " are not on the symmetric heap",
                              bytes, begin));
  return Status::success();
}

static Status checkArg(const ArgInfo &want, const IrisRtArg &got,
                       const HeapCheck &inHeap) {
  if (want.kind != got.kind ||
      (want.kind != IRISRT_ARG_CONTEXT && want.element != got.element))
    return wrong("the types differ");
  switch (want.kind) {
  case IRISRT_ARG_CONTEXT:
    return Status::success();
  case IRISRT_ARG_MEMREF:
    return checkMemref(want, got, inHeap);
  case IRISRT_ARG_SCALAR:
    break;
  }
  return checkScalar(want, got);
}

/// Whether both are the same view of the same buffer.
static bool isSameBuffer(const IrisRtArg &a, const IrisRtArg &b) {
  if (a.value != b.value || a.element != b.element || a.rank != b.rank)
    return false;
  for (uint32_t i = 0; i < a.rank; ++i)
    if (a.sizes[i] != b.sizes[i] ||
        (a.sizes[i] > 1 && a.strides[i] != b.strides[i]))
      return false;
  return true;
}

/// Requires checked arguments, which fit the address space.
static Status checkOverlaps(const KernelInfo &kernel, const IrisRtArg *args) {
  for (const OverlapInfo &overlap : kernel.overlaps) {
    const IrisRtArg &a = args[overlap.first], &b = args[overlap.second];
    uint64_t beginA = 0, bytesA = 0, beginB = 0, bytesB = 0;
    (void)footprint(a, beginA, bytesA);
    (void)footprint(b, beginB, bytesB);
    bool apart = bytesA == 0 || bytesB == 0 || beginA + bytesA <= beginB ||
                 beginB + bytesB <= beginA;
    if (apart || (overlap.same && isSameBuffer(a, b)))
      continue;
    return makeStatus(
        StatusCode::invalidArgument,
        "kernel %s: arguments %u (%s, %" PRIu64 " bytes at 0x%" PRIx64
        ") and %u (%s, %" PRIu64 " bytes at 0x%" PRIx64
        ") overlap, and the kernel writes to one of them; expected buffers "
        "that do not overlap%s. A kernel that orders such accesses itself "
        "declares so with the attribute iris.may_overlap",
        kernel.fullName().c_str(), overlap.first, typeName(a).c_str(), bytesA,
        beginA, overlap.second, typeName(b).c_str(), bytesB, beginB,
        overlap.same ? ", or the same buffer twice" : "");
  }
  return Status::success();
}

Status iris::rt::checkArgs(const KernelInfo &kernel, const IrisRtArg *args,
                           size_t count, const HeapCheck &inHeap) {
  for (const HiddenArgInfo &hidden : kernel.hidden)
    if (hidden.kind == HiddenArgInfo::Kind::unknown)
      return makeStatus(StatusCode::unavailable,
                        "kernel %s needs a hidden argument of kind '%s', which "
                        "this runtime does not support",
                        kernel.fullName().c_str(), hidden.kindName.c_str());
  if (count != kernel.args.size())
    return makeStatus(StatusCode::invalidArgument,
                      "kernel %s takes %zu arguments, but got %zu",
                      kernel.signature().c_str(), kernel.args.size(), count);
  for (size_t i = 0; i < count; ++i) {
    Status status = checkArg(kernel.args[i], args[i], inHeap);
    if (!status.ok())
      return status.withContext(formatString(
          "kernel %s: argument %zu should be %s, but got %s",
          kernel.fullName().c_str(), i, kernel.args[i].typeName().c_str(),
          typeName(args[i]).c_str()));
  }
  return checkOverlaps(kernel, args);
}

Status iris::rt::checkBarriers(const KernelInfo &kernel, const IrisRtArg *args,
                               uint64_t programs, uint32_t ranks,
                               uint32_t groupSize) {
  for (const BarrierInfo &barrier : kernel.barriers) {
    uint64_t need, line = 32, sharers = barrier.group ? groupSize : ranks;
    auto has = static_cast<uint64_t>(args[barrier.arg].sizes[0]);
    if (!__builtin_mul_overflow(line * sharers, programs, &need) &&
        !__builtin_add_overflow(need, barrier.offset, &need) && need <= has)
      continue;
    return makeStatus(
        StatusCode::invalidArgument,
        "kernel %s: argument %u, the state of a barrier, has %" PRIu64
        " elements; expected at least 32 for each of %" PRIu64
        " programs and %" PRIu64 " ranks%s: %" PRIu64,
        kernel.fullName().c_str(), barrier.arg, has, programs, sharers,
        barrier.group ? " of the group" : "", need);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// The offsets of the context's fields, in order (RuntimeABI.h, section 1).
static constexpr uint32_t contextOffsets[] = {
    offsetof(IrisRtContext, rank),       offsetof(IrisRtContext, numRanks),
    offsetof(IrisRtContext, heapBase),   offsetof(IrisRtContext, heapStride),
    offsetof(IrisRtContext, heapTable),  offsetof(IrisRtContext, heapBytes),
    offsetof(IrisRtContext, control),    offsetof(IrisRtContext, waitLimit),
    offsetof(IrisRtContext, trace),      offsetof(IrisRtContext, groupMembers),
    offsetof(IrisRtContext, groupSize),  offsetof(IrisRtContext, groupIndex),
    offsetof(IrisRtContext, memoryKind), offsetof(IrisRtContext, launchId)};

std::vector<uint32_t> iris::rt::placeParameters(const KernelInfo &kernel) {
  std::vector<uint32_t> offsets;
  for (const ArgInfo &arg : kernel.args) {
    if (arg.kind == IRISRT_ARG_CONTEXT) {
      for (uint32_t field : contextOffsets)
        offsets.push_back(arg.offset + field);
      continue;
    }
    uint64_t end = placeArg(arg, arg.offset).end;
    uint32_t step =
        arg.kind == IRISRT_ARG_MEMREF ? 8 : elementBytes(arg.element);
    for (uint32_t offset = arg.offset; offset < end; offset += step)
      offsets.push_back(offset);
  }
  for (const HiddenArgInfo &hidden : kernel.hidden)
    offsets.push_back(hidden.offset);
  return offsets;
}

Status iris::rt::packArgs(const KernelInfo &kernel,
                          const IrisRtContext &context, const IrisRtArg *args,
                          size_t count, std::vector<uint8_t> &block) {
  if (count != kernel.args.size())
    return makeStatus(StatusCode::internal,
                      "packing %zu arguments of kernel %s, which takes %zu",
                      count, kernel.fullName().c_str(), kernel.args.size());
  block.assign(kernel.argsBytes, 0);
  for (size_t i = 0; i < count; ++i) {
    const ArgInfo &info = kernel.args[i];
    const IrisRtArg &arg = args[i];
    ArgExtent extent = placeArg(info, info.offset);
    if (extent.begin != info.offset || extent.end > block.size() ||
        (info.kind == IRISRT_ARG_MEMREF && arg.rank != info.sizes.size()))
      return makeStatus(StatusCode::internal,
                        "argument %zu of kernel %s does not fit its block", i,
                        kernel.fullName().c_str());
    uint8_t *out = block.data() + info.offset;
    auto put = [&out](const void *value, size_t bytes) {
      std::memcpy(out, value, bytes);
      out += bytes;
    };
    switch (info.kind) {
    case IRISRT_ARG_CONTEXT:
      put(&context, sizeof(context));
      break;
    case IRISRT_ARG_MEMREF:
      put(&arg.value, 8);
      for (size_t d = 0; d < info.sizes.size(); ++d)
        if (!info.sizes[d])
          put(&arg.sizes[d], 8);
      for (size_t d = 0; d < info.strides.size(); ++d)
        if (!info.strides[d])
          put(&arg.strides[d], 8);
      break;
    case IRISRT_ARG_SCALAR: // little endian: the low bytes come first
      put(&arg.value, elementBytes(info.element));
      break;
    }
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Construction of arguments
//===----------------------------------------------------------------------===//

IrisRtArg iris::rt::makeContextArg() {
  IrisRtArg arg = {};
  arg.kind = IRISRT_ARG_CONTEXT;
  return arg;
}

IrisRtArg iris::rt::makeMemrefArg(IrisRtElement element, uint64_t address,
                                  const std::vector<int64_t> &sizes,
                                  bool symmetric) {
  IrisRtArg arg = {};
  arg.kind = IRISRT_ARG_MEMREF;
  arg.element = element;
  arg.rank = static_cast<uint32_t>(sizes.size());
  arg.symmetric = symmetric;
  arg.value = address;
  int64_t stride = 1;
  for (size_t i = std::min<size_t>(sizes.size(), IRISRT_MAX_DIMS); i-- > 0;) {
    arg.sizes[i] = sizes[i];
    arg.strides[i] = stride;
    // checkArgs rejects sizes whose product overflows.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(sizes[i], 1), &stride))
      stride = 0;
  }
  return arg;
}

IrisRtArg iris::rt::makeScalarArg(IrisRtElement element, uint64_t bits) {
  IrisRtArg arg = {};
  arg.kind = IRISRT_ARG_SCALAR;
  arg.element = element;
  arg.value = bits;
  return arg;
}
