// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Metadata.cpp - Parser of kernel metadata ---------------------------===//
#include "package/Metadata.h"

#include "package/ArgLayout.h"
#include "package/JsonReader.h"

#include <set>

namespace iris::rt {
namespace {

// Limits that no compiler reaches, so that a damaged or malicious package
// cannot use more resources than its size justifies.
constexpr size_t maxMetadataBytes = size_t(16) << 20;
constexpr size_t maxDepth = 64;
constexpr size_t maxKernels = 65536;
constexpr size_t maxArgs = 1024;
constexpr size_t maxSites = size_t(1) << 20;
constexpr uint64_t maxWorkgroup = 1024;
constexpr uint64_t maxSharedBytes = uint64_t(1) << 24;
constexpr uint64_t maxArenaBytes = uint64_t(1) << 40;
constexpr uint64_t maxArgsBytes = 32764; // CUDA 12.1's limit, the largest one
constexpr uint64_t maxDivisibility = uint64_t(1) << 40;

/// Whether arrays and objects are nested more than `maxDepth` deep. Checked
/// before parsing, because the parser is recursive.
bool nestsTooDeep(std::string_view text) {
  size_t depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        inString = false;
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxDepth)
        return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

IrisRtElement readElement(const JsonValue &value) {
  std::string name = value.string();
  std::optional<IrisRtElement> element = parseElement(name);
  if (!element)
    value.fail("is '" + name + "', which is not an element type");
  return element.value_or(IRISRT_ELT_I32);
}

/// Static extents or strides; null means dynamic.
std::vector<std::optional<int64_t>> readDims(const JsonValue &value,
                                             bool negativeAllowed) {
  std::vector<std::optional<int64_t>> dims;
  size_t count = value.arraySize(IRISRT_MAX_DIMS);
  for (size_t i = 0; i < count; ++i) {
    JsonValue dim = value.element(i);
    if (dim.isNull()) {
      dims.push_back(std::nullopt);
      continue;
    }
    int64_t extent = dim.signedInteger();
    if (extent < 0 && !negativeAllowed)
      dim.fail("should not be negative");
    dims.push_back(extent);
  }
  return dims;
}

std::vector<uint64_t> readDivisors(const JsonValue &value, size_t rank) {
  std::vector<uint64_t> divisors;
  size_t count = value.arraySize(IRISRT_MAX_DIMS);
  if (count != rank)
    value.fail(formatString("should have %zu elements", rank));
  for (size_t i = 0; i < count; ++i)
    divisors.push_back(value.element(i).integer(1, maxDivisibility));
  return divisors;
}

void readMemref(const JsonValue &value, ArgInfo &arg) {
  value.expectKeys({"kind", "offset", "element", "symmetric", "sizes",
                    "strides", "divisibility"});
  arg.kind = IRISRT_ARG_MEMREF;
  arg.element = readElement(value.member("element"));
  arg.symmetric = value.member("symmetric").boolean();
  arg.sizes = readDims(value.member("sizes"), /*negativeAllowed=*/false);
  JsonValue strides = value.member("strides");
  arg.identity = strides.isNull();
  if (!arg.identity) {
    arg.strides = readDims(strides, /*negativeAllowed=*/true);
    if (arg.strides.size() != arg.sizes.size())
      strides.fail("should have one element per size");
  }
  if (!value.has("divisibility"))
    return;
  JsonValue divisibility = value.member("divisibility");
  divisibility.expectKeys({"pointer", "sizes", "strides"});
  if (divisibility.has("pointer"))
    arg.divisibility =
        divisibility.member("pointer").integer(1, maxDivisibility);
  if (divisibility.has("sizes"))
    arg.sizeDivisibility =
        readDivisors(divisibility.member("sizes"), arg.sizes.size());
  if (divisibility.has("strides"))
    arg.strideDivisibility =
        readDivisors(divisibility.member("strides"), arg.sizes.size());
}

ArgInfo readArg(const JsonValue &value) {
  ArgInfo arg;
  std::string kind = value.member("kind").string();
  arg.offset = value.member("offset").integer(0, maxArgsBytes);
  if (kind == "context") {
    value.expectKeys({"kind", "offset"});
    arg.kind = IRISRT_ARG_CONTEXT;
  } else if (kind == "memref") {
    readMemref(value, arg);
  } else if (kind == "scalar") {
    value.expectKeys({"kind", "offset", "element", "divisibility"});
    arg.kind = IRISRT_ARG_SCALAR;
    arg.element = readElement(value.member("element"));
    if (value.has("divisibility"))
      arg.divisibility =
          value.member("divisibility").integer(1, maxDivisibility);
  } else {
    value.member("kind").fail("is '" + kind +
                              "'; expected context, memref or scalar");
  }
  return arg;
}

SiteInfo readSite(const JsonValue &value) {
  value.expectKeys({"op", "loc", "what", "element"});
  SiteInfo site;
  site.op = value.member("op").string();
  site.location = value.member("loc").string();
  if (value.has("what"))
    site.what = value.member("what").string();
  if (value.has("element") && !value.member("element").isNull())
    site.element = readElement(value.member("element"));
  return site;
}

void readTensorMap(const JsonValue &value, const KernelInfo &kernel,
                   HiddenArgInfo &hidden) {
  value.expectKeys(
      {"kind", "offset", "arg", "contiguous", "box", "swizzle", "ranks"});
  JsonValue arg = value.member("arg");
  hidden.arg = arg.integer(0, maxArgs);
  if (hidden.arg >= kernel.args.size() ||
      kernel.args[hidden.arg].kind != IRISRT_ARG_MEMREF ||
      kernel.args[hidden.arg].sizes.size() != 2)
    arg.fail("should name a memref of two dimensions");
  hidden.contiguous = value.member("contiguous").integer(0, 1);
  JsonValue box = value.member("box");
  if (box.arraySize(2) != 2)
    return box.fail("should have 2 elements");
  for (size_t i = 0; i < 2; ++i)
    hidden.box[i] = box.element(i).integer(1, 256);
  JsonValue swizzle = value.member("swizzle");
  hidden.swizzle = swizzle.integer(32, 128);
  if (hidden.swizzle != 32 && hidden.swizzle != 64 && hidden.swizzle != 128)
    swizzle.fail("should be 32, 64 or 128");
  hidden.ranks = value.member("ranks").boolean();
}

/// Launches reject arguments of unknown kinds, which newer runtimes support.
HiddenArgInfo readHidden(const JsonValue &value, const KernelInfo &kernel) {
  using Kind = HiddenArgInfo::Kind;
  HiddenArgInfo hidden;
  hidden.kindName = value.member("kind").string();
  uint32_t bytes = 0, alignment = 1;
  if (hidden.kindName == "tensor_map_mask") {
    hidden.kind = Kind::tensorMapMask;
    value.expectKeys({"kind", "offset"});
    bytes = alignment = 8;
  } else if (hidden.kindName == "tensor_map") {
    hidden.kind = Kind::tensorMap;
    readTensorMap(value, kernel, hidden);
    bytes = IRISRT_TENSOR_MAP_BYTES;
    alignment = IRISRT_TENSOR_MAP_ALIGNMENT;
  } else {
    return hidden;
  }
  JsonValue offset = value.member("offset");
  hidden.offset = offset.integer(0, maxArgsBytes);
  if (hidden.offset % alignment != 0 ||
      hidden.offset + bytes > kernel.argsBytes)
    offset.fail(formatString("is %u; expected a multiple of %u, and %u bytes "
                             "of the block's %u from there on",
                             hidden.offset, alignment, bytes,
                             kernel.argsBytes));
  return hidden;
}

void readWorkgroup(const JsonValue &value, std::array<uint32_t, 3> &workgroup) {
  if (value.arraySize(3) != 3)
    return value.fail("should have 3 elements");
  uint64_t threads = 1;
  for (size_t i = 0; i < 3; ++i) {
    workgroup[i] = value.element(i).integer(1, maxWorkgroup);
    threads *= workgroup[i];
  }
  if (threads > maxWorkgroup)
    value.fail(formatString("has %llu threads; at most %llu are allowed",
                            static_cast<unsigned long long>(threads),
                            static_cast<unsigned long long>(maxWorkgroup)));
}

/// Checks the offsets, which follow from the layout rules.
void checkLayout(const JsonValue &value, const KernelInfo &kernel) {
  uint64_t end = 0;
  for (size_t i = 0; i < kernel.args.size(); ++i) {
    ArgExtent extent = placeArg(kernel.args[i], end);
    if (kernel.args[i].offset != extent.begin)
      value.member("args").element(i).member("offset").fail(formatString(
          "is %u; the layout rules give %llu", kernel.args[i].offset,
          static_cast<unsigned long long>(extent.begin)));
    end = extent.end;
  }
  if (kernel.argsBytes < end)
    value.member("args_bytes")
        .fail(formatString("is %u; the arguments take %llu", kernel.argsBytes,
                           static_cast<unsigned long long>(end)));
}

/// Checks that hidden arguments do not overlap explicit ones, and that the
/// tensor maps have a mask.
void checkHidden(const JsonValue &value, const KernelInfo &kernel) {
  using Kind = HiddenArgInfo::Kind;
  uint64_t end = 0;
  for (const ArgInfo &arg : kernel.args)
    end = placeArg(arg, end).end;
  size_t maps = 0, masks = 0;
  for (size_t i = 0; i < kernel.hidden.size(); ++i) {
    const HiddenArgInfo &hidden = kernel.hidden[i];
    maps += hidden.kind == Kind::tensorMap;
    masks += hidden.kind == Kind::tensorMapMask;
    if (hidden.kind != Kind::unknown && hidden.offset < end)
      value.element(i).member("offset").fail(
          formatString("is %u; the arguments before it take %llu",
                       hidden.offset, static_cast<unsigned long long>(end)));
  }
  if (maps > IRISRT_MAX_TENSOR_MAPS || (maps != 0 && masks != 1))
    value.fail(formatString("has %zu tensor maps and %zu masks; expected at "
                            "most %d maps, and one mask for them",
                            maps, masks, IRISRT_MAX_TENSOR_MAPS));
}

/// Reads pairs of memref argument indices.
void readOverlaps(const JsonValue &value, bool same, KernelInfo &kernel) {
  constexpr size_t maxPairs = maxArgs * (maxArgs - 1) / 2;
  for (size_t i = 0, count = value.arraySize(maxPairs); i < count; ++i) {
    JsonValue pair = value.element(i);
    if (pair.arraySize(2) != 2)
      return pair.fail("should have 2 elements");
    uint32_t numbers[2];
    for (size_t k = 0; k < 2; ++k) {
      numbers[k] = pair.element(k).integer(0, maxArgs);
      if (numbers[k] >= kernel.args.size() ||
          kernel.args[numbers[k]].kind != IRISRT_ARG_MEMREF)
        return pair.element(k).fail("should name a memref");
    }
    kernel.overlaps.push_back({numbers[0], numbers[1], same});
  }
}

std::string readName(const JsonValue &value) {
  std::string name = value.string();
  if (name.empty())
    value.fail("is empty");
  return name;
}

BarrierInfo readBarrier(const JsonValue &value, const KernelInfo &kernel) {
  value.expectKeys({"arg", "offset", "group"});
  BarrierInfo barrier;
  JsonValue arg = value.member("arg");
  barrier.arg = arg.integer(0, maxArgs);
  if (barrier.arg >= kernel.args.size() ||
      kernel.args[barrier.arg].kind != IRISRT_ARG_MEMREF ||
      kernel.args[barrier.arg].sizes.size() != 1)
    arg.fail("should name a memref of one dimension");
  barrier.offset = value.member("offset").integer(0, INT64_MAX);
  barrier.group = value.member("group").boolean();
  return barrier;
}

KernelInfo readKernel(const JsonValue &value) {
  value.expectKeys({"name", "module", "symbol", "workgroup", "shared_bytes",
                    "dynamic_shared_bytes", "arena_bytes", "coresident",
                    "args_bytes", "args", "hidden", "sites", "overlaps",
                    "barriers", "dependent_launch", "debug", "config"});
  KernelInfo kernel;
  kernel.name = readName(value.member("name"));
  kernel.module = readName(value.member("module"));
  kernel.symbol = readName(value.member("symbol"));
  readWorkgroup(value.member("workgroup"), kernel.workgroup);
  kernel.sharedBytes = value.member("shared_bytes").integer(0, maxSharedBytes);
  kernel.dynamicSharedBytes =
      value.member("dynamic_shared_bytes").integer(0, kernel.sharedBytes);
  kernel.arenaBytes = value.member("arena_bytes").integer(0, maxArenaBytes);
  kernel.coresident = value.member("coresident").boolean();
  kernel.argsBytes = value.member("args_bytes").integer(0, maxArgsBytes);

  JsonValue args = value.member("args");
  for (size_t i = 0, count = args.arraySize(maxArgs); i < count; ++i)
    kernel.args.push_back(readArg(args.element(i)));
  if (value.has("hidden")) {
    JsonValue hidden = value.member("hidden");
    for (size_t i = 0, count = hidden.arraySize(maxArgs); i < count; ++i)
      kernel.hidden.push_back(readHidden(hidden.element(i), kernel));
    checkHidden(hidden, kernel);
  }
  if (value.has("overlaps")) {
    JsonValue overlaps = value.member("overlaps");
    overlaps.expectKeys({"disjoint", "same_or_disjoint"});
    if (overlaps.has("disjoint"))
      readOverlaps(overlaps.member("disjoint"), /*same=*/false, kernel);
    if (overlaps.has("same_or_disjoint"))
      readOverlaps(overlaps.member("same_or_disjoint"), /*same=*/true, kernel);
  }
  if (value.has("sites")) {
    JsonValue sites = value.member("sites");
    for (size_t i = 0, count = sites.arraySize(maxSites); i < count; ++i)
      kernel.sites.push_back(readSite(sites.element(i)));
  }
  if (value.has("barriers")) {
    JsonValue barriers = value.member("barriers");
    for (size_t i = 0, count = barriers.arraySize(maxArgs); i < count; ++i)
      kernel.barriers.push_back(readBarrier(barriers.element(i), kernel));
  }
  if (value.has("dependent_launch"))
    kernel.dependentLaunch = value.member("dependent_launch").boolean();
  if (value.has("debug"))
    kernel.debug = value.member("debug").boolean();
  if (value.has("config")) {
    JsonValue config = value.member("config");
    kernel.config = config.dump();
    if (config.has("collective") || config.has("matmul")) {
      kernel.groupSize = static_cast<uint32_t>(
          config.member("group").integer(0, IRISRT_MAX_GROUP));
      if (config.has("programs"))
        kernel.maxPrograms = static_cast<uint32_t>(
            config.member("programs").integer(1, INT32_MAX));
    }
  }
  checkLayout(value, kernel);
  for (const HiddenArgInfo &hidden : kernel.hidden)
    if (hidden.kind == HiddenArgInfo::Kind::tensorMap)
      kernel.parameterOffsets = placeParameters(kernel);
  return kernel;
}

} // namespace

Expected<std::vector<KernelInfo>> parseMetadata(std::string_view text) {
  if (text.size() > maxMetadataBytes)
    return makeStatus(StatusCode::invalidArgument,
                      "metadata has %zu bytes; at most %zu are allowed",
                      text.size(), maxMetadataBytes);
  if (nestsTooDeep(text))
    return makeStatus(StatusCode::invalidArgument,
                      "metadata nests deeper than %zu levels", maxDepth);
  nlohmann::json root =
      nlohmann::json::parse(text.begin(), text.end(), /*cb=*/nullptr,
                            /*allow_exceptions=*/false);
  if (root.is_discarded())
    return Status(StatusCode::invalidArgument, "metadata is not valid JSON");

  JsonErrors errors;
  JsonValue value(&root, "", errors);
  value.expectKeys({"kernels"});
  JsonValue list = value.member("kernels");
  std::vector<KernelInfo> kernels;
  std::set<std::string> names;
  for (size_t i = 0, count = list.arraySize(maxKernels); i < count; ++i) {
    kernels.push_back(readKernel(list.element(i)));
    // Return the first error.
    IRISRT_RETURN_IF_ERROR(errors.status().withContext("metadata"));
    if (!names.insert(kernels.back().fullName()).second)
      list.element(i).fail("has the same name as another kernel: " +
                           kernels.back().fullName());
  }
  IRISRT_RETURN_IF_ERROR(errors.status().withContext("metadata"));
  return kernels;
}

} // namespace iris::rt
