// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/ccl/Types.h"

#include "iris/Plan/CollectiveForm.h"

#include <algorithm>

using namespace iris::ccl;
using iris::rt::makeStatus;
using iris::rt::Status;
using iris::rt::StatusCode;

namespace {
struct DTypeInfo {
  const char *name;
  uint32_t bytes;
};
} // namespace

static const DTypeInfo dtypeTable[] = {
    {"f16", 2},        {"bf16", 2},     {"f32", 4},    {"f64", 8},
    {"i8", 1},         {"i16", 2},      {"i32", 4},    {"i64", 8},
    {"u8", 1},         {"f8e4m3fn", 1}, {"f8e5m2", 1}, {"f8e4m3fnuz", 1},
    {"f8e5m2fnuz", 1}, {"u32", 4},      {"u64", 8},
};

static const char *const reduceNames[] = {"sum", "prod", "min", "max", "avg"};

static const DTypeInfo *infoOf(DType dtype) {
  auto index = static_cast<size_t>(dtype);
  return index < std::size(dtypeTable) ? &dtypeTable[index] : nullptr;
}

std::string_view iris::ccl::opName(Op op) {
  return findCollective(op) ? findCollective(op)->name : "unknown";
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

bool iris::ccl::reduces(Op op) {
  return findCollective(op) && findCollective(op)->reduces();
}

bool iris::ccl::hasRoot(Op op) {
  const plan::Collective *collective = findCollective(op);
  return collective && (collective->hasRoot() || collective->isPointToPoint());
}

const std::vector<std::string> &iris::ccl::variantsOf(Op op) {
  static const auto table = [] {
    std::vector<std::vector<std::string>> all;
    for (const plan::Collective &each : plan::collectives) {
      all.emplace_back();
      for (const plan::Variant &variant : each)
        all.back().emplace_back(variant.name);
    }
    return all;
  }();
  static const std::vector<std::string> none;
  return findCollective(op) ? table[static_cast<size_t>(op)] : none;
}

bool iris::ccl::hasStagedForm(Op op, const std::string &variant) {
  const plan::Variant *found = getCollective(op).find(variant);
  return found && found->hasStagedForm();
}

//===----------------------------------------------------------------------===//
// Config
//===----------------------------------------------------------------------===//

static Status checkNumber(Op op, const plan::ConfigNumber &number,
                          int64_t value) {
  if (value == 0 || number.accepts(value))
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "%s: the config's %s is %lld; expected %s, or 0 to have it "
                    "chosen",
                    opName(op).data(), std::string(number.key).c_str(),
                    static_cast<long long>(value), number.describe().c_str());
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
  const plan::Collective &collective = getCollective(op);
  const plan::Variant *variant = collective.find(config.variant);
  int64_t bytes = reduces(op) ? std::max(dtypeBytes(dtype), 1u) : 1;
  IRISRT_RETURN_IF_ERROR(checkNumber(
      op, plan::getTileNumber(variant ? *variant : *collective.begin(), bytes),
      config.tile));
  IRISRT_RETURN_IF_ERROR(checkNumber(op, plan::collectiveWarps, config.warps));
  IRISRT_RETURN_IF_ERROR(checkNumber(
      op, plan::getProgramsNumber(collective, /*members=*/1), config.programs));
  return checkNumber(op, plan::collectiveXcds, config.xcds);
}
