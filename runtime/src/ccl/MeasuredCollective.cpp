// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ccl/MeasuredCollective.h"

#include "ccl/KernelEstimates.h"
#include "iris/Plan/CollectiveForm.h"
#include "package/JsonReader.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace iris::ccl;
using namespace iris::rt;

static constexpr double notMeasured = std::numeric_limits<double>::infinity();
/// Equally good kernels: the model's favourite is taken, so that chance does
/// not decide.
static constexpr double sameTime = 1.01;
static constexpr size_t maxSizes = 16, maxKernels = 64;
/// Bounds that keep results finite.
static constexpr double maxUs = 1e9;
static constexpr uint64_t maxChunkBytes = uint64_t(1) << 40;

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

TuningKey MeasuredCollective::keyOf(uint64_t bytes, uint32_t groupSize,
                                    DeviceKind device,
                                    const DeviceAttributes *attributes) const {
  TuningKey key;
  key.op = op;
  key.dtype = dtype;
  key.bytes = bytes;
  key.groupSize = groupSize;
  key.device = device;
  key.attributes = attributes;
  key.onHeap = onHeap;
  key.alignment = onHeap ? 4096 : dtypeBytes(dtype);
  return key;
}

namespace {
/// The measured time over the estimate, at a size.
struct Factor {
  double logBytes, logFactor;
};
} // namespace

/// The factors of a kernel at the sizes at which it was measured and has an
/// estimate.
static std::vector<Factor> factorsOf(const MeasuredCollective &measured,
                                     const MeasuredKernel &kernel,
                                     const TuningKey &call) {
  std::vector<Factor> factors;
  for (size_t i = 0; i < measured.sizes.size(); ++i) {
    if (!std::isfinite(kernel.us[i]))
      continue;
    TuningKey key = measured.keyOf(measured.sizes[i], call.groupSize,
                                   call.device, call.attributes);
    for (const KernelEstimate &each : kernelEstimates(key))
      if (KernelName::of(each.kernel) == kernel.name && each.estimate.us > 0)
        factors.push_back({std::log(static_cast<double>(measured.sizes[i])),
                           std::log(kernel.us[i] / each.estimate.us)});
  }
  return factors;
}

static double factorAt(const std::vector<Factor> &factors, double logBytes) {
  if (logBytes <= factors.front().logBytes)
    return std::exp(factors.front().logFactor);
  for (size_t i = 1; i < factors.size(); ++i) {
    const Factor &low = factors[i - 1], &high = factors[i];
    if (logBytes > high.logBytes)
      continue;
    double weight = (logBytes - low.logBytes) / (high.logBytes - low.logBytes);
    return std::exp(low.logFactor + weight * (high.logFactor - low.logFactor));
  }
  return std::exp(factors.back().logFactor);
}

/// "4 KiB", "1 MiB": the sizes are powers of two.
static std::string sizeText(uint64_t bytes) {
  const char *const units[] = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  for (; unit < 3 && bytes % 1024 == 0; ++unit)
    bytes /= 1024;
  return formatString("%llu %s", static_cast<unsigned long long>(bytes),
                      units[unit]);
}

/// What the factors of a call of `bytes` come from.
static std::string originText(const std::vector<uint64_t> &sizes,
                              uint64_t bytes) {
  auto above = std::lower_bound(sizes.begin(), sizes.end(), bytes);
  if (above == sizes.end())
    return "beyond the measured " + sizeText(sizes.back());
  if (*above == bytes)
    return "as measured";
  if (above == sizes.begin())
    return "below the measured " + sizeText(sizes.front());
  return "between the measured " + sizeText(above[-1]) + " and " +
         sizeText(*above);
}

std::optional<MeasuredSelection>
MeasuredCollective::select(const TuningKey &call) const {
  if (call.op != op || call.onHeap != onHeap || call.bytes == 0)
    return std::nullopt;
  const double logBytes = std::log(static_cast<double>(call.bytes));
  // In the order of the estimates.
  struct Time {
    Estimate estimate;
    bool isMeasured;
  };
  std::vector<Time> times;
  double sumOfLogs = 0;
  size_t numMeasured = 0;
  for (KernelEstimate &each : kernelEstimates(call)) {
    std::vector<Factor> factors;
    for (const MeasuredKernel &kernel : kernels)
      if (KernelName::of(each.kernel) == kernel.name)
        factors = factorsOf(*this, kernel, call);
    const bool isMeasured = !factors.empty();
    if (isMeasured) {
      const double factor = factorAt(factors, logBytes);
      each.estimate.us *= factor;
      sumOfLogs += std::log(factor);
      ++numMeasured;
    }
    times.push_back({std::move(each.estimate), isMeasured});
  }
  if (numMeasured == 0)
    return std::nullopt;
  const double mean = std::exp(sumOfLogs / static_cast<double>(numMeasured));
  double least = notMeasured;
  for (Time &each : times) {
    each.estimate.us *= each.isMeasured ? 1 : mean;
    least = std::min(least, each.estimate.us);
  }
  auto best = std::find_if(times.begin(), times.end(), [&](const Time &each) {
    return each.estimate.us <= least * sameTime;
  });
  auto next = times.end();
  for (auto each = times.begin(); each != times.end(); ++each)
    if (each != best &&
        (next == times.end() || each->estimate.us < next->estimate.us))
      next = each;
  MeasuredSelection selection = {best->estimate.config, best->estimate.us, ""};
  selection.reason = formatString(
      "%s: %.1f us, %s", describe(selection.config).c_str(), selection.us,
      best->isMeasured
          ? originText(sizes, call.bytes).c_str()
          : "estimated by the factors of the kernels that were measured");
  if (next != times.end())
    selection.reason +=
        formatString("; the next one takes %.1f us (%s)", next->estimate.us,
                     describe(next->estimate.config).c_str());
  return selection;
}

bool MeasuredCollective::isUseful() const {
  for (size_t i = 0; i < sizes.size(); ++i)
    if (std::count_if(kernels.begin(), kernels.end(),
                      [i](const MeasuredKernel &each) {
                        return std::isfinite(each.us[i]);
                      }) >= 2)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

using Json = nlohmann::ordered_json;

static Json jsonOf(const KernelName &name) {
  return {{"variant", name.variant},
          {"tileBytes", name.tileBytes},
          {"warps", name.warps}};
}

std::string MeasuredCollective::text() const {
  Json json;
  json["op"] = std::string(opName(op));
  json["onHeap"] = onHeap;
  json["dtype"] = std::string(dtypeName(dtype));
  json["sizes"] = sizes;
  json["kernels"] = Json::array();
  for (const MeasuredKernel &kernel : kernels) {
    Json each = jsonOf(kernel.name);
    each["us"] = Json::array();
    for (double us : kernel.us)
      each["us"].push_back(std::isfinite(us) ? Json(us) : Json());
    json["kernels"].push_back(each);
  }
  json["missing"] = Json::array();
  for (const KernelName &name : missing)
    json["missing"].push_back(jsonOf(name));
  return json.dump() + "\n";
}

static KernelName readKernelName(const JsonValue &json, Op op) {
  KernelName name;
  name.variant = json.member("variant").string();
  if (!getCollective(op).find(name.variant))
    json.member("variant").fail("is '" + name.variant + "'; " +
                                std::string(opName(op)) +
                                " has no such variant");
  constexpr uint64_t most = uint64_t(1) << 30;
  name.tileBytes =
      static_cast<int64_t>(json.member("tileBytes").integer(0, most));
  name.warps = static_cast<int64_t>(json.member("warps").integer(0, most));
  return name;
}

static MeasuredKernel readMeasuredKernel(const JsonValue &json, Op op,
                                         size_t sizes) {
  json.expectKeys({"variant", "tileBytes", "warps", "us"});
  MeasuredKernel kernel;
  kernel.name = readKernelName(json, op);
  JsonValue us = json.member("us");
  size_t count = us.arraySize(maxSizes);
  if (count != sizes)
    us.fail(formatString("has %zu times; expected one for each of %zu sizes",
                         count, sizes));
  for (size_t i = 0; i < count; ++i) {
    JsonValue time = us.element(i);
    double value = time.isNull() ? notMeasured : time.number();
    if (!time.isNull() && !(value > 0 && value <= maxUs))
      time.fail(formatString("is %g; expected null, or a number above 0 and "
                             "at most %g",
                             value, maxUs));
    kernel.us.push_back(value);
  }
  return kernel;
}

static MeasuredCollective readMeasured(const JsonValue &json) {
  json.expectKeys({"op", "onHeap", "dtype", "sizes", "kernels", "missing"});
  MeasuredCollective measured;
  std::string op = json.member("op").string();
  bool isKnown = false;
  for (int32_t i = 0; plan::findCollective(i); ++i)
    if (op == opName(static_cast<Op>(i))) {
      measured.op = static_cast<Op>(i);
      isKnown = true;
    }
  if (!isKnown)
    json.member("op").fail("is '" + op + "'; expected a collective");
  measured.onHeap = json.member("onHeap").boolean();
  std::string dtype = json.member("dtype").string();
  isKnown = false;
  for (int32_t i = 0; dtypeBytes(static_cast<DType>(i)) != 0; ++i)
    if (dtype == dtypeName(static_cast<DType>(i))) {
      measured.dtype = static_cast<DType>(i);
      isKnown = true;
    }
  if (!isKnown)
    json.member("dtype").fail("is '" + dtype + "'; expected a type");
  JsonValue sizes = json.member("sizes");
  size_t count = sizes.arraySize(maxSizes);
  for (size_t i = 0; i < count; ++i) {
    uint64_t least = i == 0 ? 1 : measured.sizes.back() + 1;
    measured.sizes.push_back(sizes.element(i).integer(least, maxChunkBytes));
  }
  if (count == 0)
    sizes.fail("is empty; expected at least one size");
  JsonValue kernels = json.member("kernels");
  size_t numKernels = kernels.arraySize(maxKernels);
  for (size_t i = 0; i < numKernels; ++i)
    measured.kernels.push_back(
        readMeasuredKernel(kernels.element(i), measured.op, count));
  JsonValue missing = json.member("missing");
  size_t numMissing = missing.arraySize(maxKernels);
  for (size_t i = 0; i < numMissing; ++i) {
    missing.element(i).expectKeys({"variant", "tileBytes", "warps"});
    measured.missing.push_back(readKernelName(missing.element(i), measured.op));
  }
  return measured;
}

Expected<MeasuredCollective>
MeasuredCollective::parse(const std::string &text, const std::string &name) {
  nlohmann::json parsed =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded())
    return makeStatus(StatusCode::invalidArgument,
                      "%s: the text is not JSON; expected measured times",
                      name.c_str());
  JsonErrors errors;
  MeasuredCollective measured = readMeasured(JsonValue(&parsed, "", errors));
  if (!errors.status().ok())
    return errors.status().withContext(name);
  return measured;
}
