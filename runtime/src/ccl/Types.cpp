// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/ccl/Types.h"

#include "ccl/Spec.h"

#include <algorithm>

using namespace iris::ccl;
using iris::rt::makeStatus;
using iris::rt::Status;
using iris::rt::StatusCode;

namespace {
struct OpInfo {
  const char *name;
  bool reduces;
  bool hasRoot;
  std::vector<std::string> variants;
};

struct DTypeInfo {
  const char *name;
  uint32_t bytes;
};
} // namespace

/// In the order of the enum.  The variants are those of the generators (see
/// lib/Kernels/CollectiveConfig.cpp), which have the last word, and copies
/// (isCopied); the first is the default.
static const std::vector<OpInfo> &opTable() {
  static const std::vector<OpInfo> table = {
      {"all_gather",
       false,
       false,
       {"push", "partitioned", "pull", "packet", "buffered", "copy_engine"}},
      {"all_reduce",
       true,
       false,
       {"two_shot", "two_shot_push", "one_shot", "one_shot_packet",
        "two_shot_packet", "one_shot_buffered", "ring", "atomic", "spinlock"}},
      {"reduce_scatter", true, false, {"pull", "packet", "buffered"}},
      {"all_to_all", false, false, {"push", "pull", "packet", "buffered"}},
      {"broadcast", false, true, {"push", "pull", "scatter", "packet"}},
      {"reduce", true, true, {"pull", "two_shot", "packet"}},
      {"gather", false, true, {"pull", "push", "packet"}},
      {"scatter", false, true, {"push", "pull", "packet"}},
      {"send", false, true, {"fifo"}},
      {"recv", false, true, {"fifo"}},
      {"barrier", false, false, {"flags"}},
  };
  return table;
}

static const DTypeInfo dtypeTable[] = {
    {"f16", 2},        {"bf16", 2},     {"f32", 4},    {"f64", 8},
    {"i8", 1},         {"i16", 2},      {"i32", 4},    {"i64", 8},
    {"u8", 1},         {"f8e4m3fn", 1}, {"f8e5m2", 1}, {"f8e4m3fnuz", 1},
    {"f8e5m2fnuz", 1},
};

static const char *const reduceNames[] = {"sum", "prod", "min", "max", "avg"};

static const OpInfo *infoOf(Op op) {
  auto index = static_cast<size_t>(op);
  return index < opTable().size() ? &opTable()[index] : nullptr;
}

static const DTypeInfo *infoOf(DType dtype) {
  auto index = static_cast<size_t>(dtype);
  return index < std::size(dtypeTable) ? &dtypeTable[index] : nullptr;
}

std::string_view iris::ccl::opName(Op op) {
  return infoOf(op) ? infoOf(op)->name : "unknown";
}

std::string_view iris::ccl::dtypeName(DType dtype) {
  return infoOf(dtype) ? infoOf(dtype)->name : "unknown";
}

std::string_view iris::ccl::reduceOpName(ReduceOp reduce) {
  auto index = static_cast<size_t>(reduce);
  return index < std::size(reduceNames) ? reduceNames[index] : "unknown";
}

uint32_t iris::ccl::dtypeBytes(DType dtype) {
  return infoOf(dtype) ? infoOf(dtype)->bytes : 0;
}

bool iris::ccl::reduces(Op op) { return infoOf(op) && infoOf(op)->reduces; }
bool iris::ccl::hasRoot(Op op) { return infoOf(op) && infoOf(op)->hasRoot; }

const std::vector<std::string> &iris::ccl::variantsOf(Op op) {
  static const std::vector<std::string> none;
  return infoOf(op) ? infoOf(op)->variants : none;
}

bool iris::ccl::hasStagedForm(const std::string &variant) {
  return !isCopied(variant) && variant != "ring" && variant != "atomic" &&
         variant != "spinlock";
}

//===----------------------------------------------------------------------===//
// Config
//===----------------------------------------------------------------------===//

static bool isPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

int64_t iris::ccl::mostPrograms(Op op) {
  return op == Op::send || op == Op::recv ? 16 : 128;
}

bool iris::ccl::isDivisible(Op op) {
  return op == Op::allReduce || op == Op::broadcast || op == Op::reduce ||
         op == Op::send || op == Op::recv;
}

static Status checkNumber(Op op, const char *key, int64_t value, int64_t most,
                          int64_t least = 1, bool powerOfTwo = false) {
  if (value == 0 ||
      (value >= least && value <= most && (!powerOfTwo || isPowerOfTwo(value))))
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "%s: the config's %s is %lld; expected %s%lld to %lld, or "
                    "0 to have it chosen",
                    opName(op).data(), key, static_cast<long long>(value),
                    powerOfTwo ? "a power of two from " : "",
                    static_cast<long long>(least),
                    static_cast<long long>(most));
}

Status iris::ccl::checkConfig(Op op, DType dtype, const Config &config) {
  const std::vector<std::string> &variants = variantsOf(op);
  if (!config.variant.empty() && std::find(variants.begin(), variants.end(),
                                           config.variant) == variants.end()) {
    std::string allowed;
    for (const std::string &variant : variants)
      allowed += (allowed.empty() ? "" : ", ") + variant;
    return makeStatus(StatusCode::invalidArgument,
                      "%s has no variant '%s'; expected %s", opName(op).data(),
                      config.variant.c_str(), allowed.c_str());
  }
  int64_t bytes = reduces(op) ? std::max(dtypeBytes(dtype), 1u) : 1;
  IRISRT_RETURN_IF_ERROR(checkNumber(op, "tile", config.tile, 16384 / bytes,
                                     16 / bytes, /*powerOfTwo=*/true));
  IRISRT_RETURN_IF_ERROR(
      checkNumber(op, "warps", config.warps, 16, 1, /*powerOfTwo=*/true));
  IRISRT_RETURN_IF_ERROR(
      checkNumber(op, "programs", config.programs, mostPrograms(op)));
  return checkNumber(op, "xcds", config.xcds, 64);
}
