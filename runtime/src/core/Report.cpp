// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Report.cpp - Descriptions of control block records -----------------===//
#include "core/Report.h"

#include "iris/rt/Status.h"

#include <cmath>
#include <cstring>

using namespace iris::rt;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static double halfToDouble(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  double mantissa = bits & 1023;
  double magnitude = exponent == 31 ? (mantissa == 0 ? HUGE_VAL : NAN)
                     : exponent == 0
                         ? std::ldexp(mantissa, -24)
                         : std::ldexp(mantissa + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

static double floatToDouble(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

std::string iris::rt::formatValue(std::optional<IrisRtElement> element,
                                  uint64_t bits) {
  auto real = [&](double value, const char *format, int digits) {
    std::string text = formatString(format, value);
    return text + formatString(" (0x%0*llx)", digits,
                               static_cast<unsigned long long>(bits));
  };
  if (!element)
    return formatString("0x%llx", static_cast<unsigned long long>(bits));
  switch (*element) {
  case IRISRT_ELT_I1:
    return (bits & 1) != 0 ? "true" : "false";
  case IRISRT_ELT_I8:
    return std::to_string(static_cast<int8_t>(bits));
  case IRISRT_ELT_I16:
    return std::to_string(static_cast<int16_t>(bits));
  case IRISRT_ELT_I32:
    return std::to_string(static_cast<int32_t>(bits));
  case IRISRT_ELT_I64:
  case IRISRT_ELT_INDEX:
    return std::to_string(static_cast<int64_t>(bits));
  case IRISRT_ELT_F16:
    return real(halfToDouble(static_cast<uint16_t>(bits)), "%.5g", 4);
  case IRISRT_ELT_BF16:
    return real(floatToDouble(static_cast<uint32_t>(bits) << 16), "%.4g", 4);
  case IRISRT_ELT_F32:
    return real(floatToDouble(static_cast<uint32_t>(bits)), "%.9g", 8);
  case IRISRT_ELT_F64: {
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    return real(value, "%.17g", 16);
  }
  }
  return formatString("0x%llx", static_cast<unsigned long long>(bits));
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// The site with that index. The index comes from device memory, so it may be
/// invalid.
static const SiteInfo *findSite(const KernelInfo *kernel, uint32_t index) {
  if (!kernel || index >= kernel->sites.size())
    return nullptr;
  return &kernel->sites[index];
}

/// "iris.wait at a.mlir:12:5 in k::consume, program (1, 0, 0)".
static std::string describeSite(const SiteInfo *site, const char *defaultOp,
                                const KernelInfo *kernel, uint64_t hash,
                                uint32_t siteIndex, const uint32_t program[3]) {
  std::string text = site && !site->op.empty() ? site->op : defaultOp;
  if (site && !site->location.empty())
    text += " at " + site->location;
  else
    text += formatString(" at site %u", siteIndex);
  if (kernel)
    text += " in " + kernel->fullName();
  else
    text += formatString(" in an unknown kernel (hash %016llx)",
                         static_cast<unsigned long long>(hash));
  text += formatString(", program (%u, %u, %u)", program[0], program[1],
                       program[2]);
  return text;
}

static const char *comparisonText(uint32_t comparison) {
  static const char *const texts[] = {"==", "!=", ">=", ">", "<=", "<"};
  return comparison < sizeof(texts) / sizeof(texts[0]) ? texts[comparison]
                                                       : "?";
}

/// "the flag at byte 128 of the allocation at heap offset 1024 (element 32)".
static std::string describeFlag(const IrisRtHangRecord &record,
                                const SiteInfo *site,
                                const std::optional<FlagLocation> &location) {
  if (!location)
    return formatString("the flag at address 0x%llx",
                        static_cast<unsigned long long>(record.address));
  if (!location->allocation)
    return formatString("the flag at heap offset %llu",
                        static_cast<unsigned long long>(location->heapOffset));
  uint64_t within = location->heapOffset - location->allocation->offset;
  std::string text = formatString(
      "the flag at byte %llu of the allocation at heap offset %llu",
      static_cast<unsigned long long>(within),
      static_cast<unsigned long long>(location->allocation->offset));
  uint32_t bytes = site && site->element ? elementBytes(*site->element) : 0;
  if (bytes != 0 && within % bytes == 0)
    text += formatString(" (element %llu)",
                         static_cast<unsigned long long>(within / bytes));
  return text;
}

/// The probable cause if no rank can have set the flag, or empty.
static std::string describeWrongFlag(const FlagLocation &location) {
  const char *hint = "; iris-run --debug names the index";
  if (!location.allocation)
    return std::string("; the flag is outside of every allocation") + hint;
  uint64_t within = location.heapOffset - location.allocation->offset;
  if (within < location.allocation->bytes)
    return "";
  return formatString(
      "; the flag is outside of its buffer, which has %llu "
      "bytes%s",
      static_cast<unsigned long long>(location.allocation->bytes), hint);
}

/// Names the rank that owed the signal.
static std::string describeOwner(const IrisRtHangRecord &record,
                                 std::optional<uint32_t> launches) {
  if (record.owedBy < 0)
    return "";
  if (!launches || *launches >= record.launchId)
    return formatString("; rank %d owed the signal", record.owedBy);
  if (*launches == 0)
    return formatString("; rank %d, which owed the signal, has not launched "
                        "a kernel",
                        record.owedBy);
  // Launches are numbered when they are called, those of a graph when they are
  // captured: the number is not that of kernels that ran.
  return formatString("; rank %d, which owed the signal, has only called "
                      "launch %u",
                      record.owedBy, *launches);
}

std::string iris::rt::describeHang(const IrisRtHangRecord &record,
                                   const KernelInfo *kernel,
                                   const HangContext &context) {
  const SiteInfo *site = findSite(kernel, record.site);
  std::string text = describeSite(site, "iris.wait", kernel, record.kernelHash,
                                  record.site, record.program);
  text += formatString(" timed out after %.3g s: ", context.limitSeconds);
  if (site && !site->what.empty())
    text += site->what + ", ";
  text += describeFlag(record, site, context.location);
  text += formatString(" should become %s %lld, was last seen as %lld",
                       comparisonText(record.comparison),
                       static_cast<long long>(record.expected),
                       static_cast<long long>(record.observed));
  text += describeOwner(record, context.launchesOfOwner);
  if (context.location)
    text += describeWrongFlag(*context.location);
  return text + formatString(" (launch %u)", record.launchId);
}

std::string iris::rt::describeExpect(const IrisRtExpectRecord &record,
                                     const KernelInfo *kernel) {
  const SiteInfo *site = findSite(kernel, record.site);
  std::optional<IrisRtElement> element;
  if (site)
    element = site->element;
  std::string text =
      describeSite(site, "iris.expect_eq", kernel, record.kernelHash,
                   record.site, record.program);
  text += formatString(", element %llu: got ",
                       static_cast<unsigned long long>(record.element));
  text += formatValue(element, record.got) + ", want " +
          formatValue(element, record.want);
  if (site && !site->what.empty())
    text += ": " + site->what;
  return escapeControls(text); // names and texts of a package
}

/// Replaces the placeholders in `text` by the record's numbers.
static std::string substitute(std::string text,
                              const IrisRtCheckRecord &record) {
  const std::pair<const char *, int64_t> numbers[] = {
      {"$value", record.value},
      {"$bound", record.bound},
      {"$last", static_cast<int64_t>(static_cast<uint64_t>(record.bound) - 1)}};
  for (const auto &[name, number] : numbers) {
    size_t at = text.find(name);
    if (at != std::string::npos)
      text.replace(at, std::strlen(name), std::to_string(number));
  }
  return text;
}

std::string iris::rt::describeCheck(const IrisRtCheckRecord &record,
                                    const KernelInfo *kernel) {
  const SiteInfo *site = findSite(kernel, record.site);
  std::string text = describeSite(site, "an access", kernel, record.kernelHash,
                                  record.site, record.program) +
                     ", ";
  text += site && !site->what.empty()
              ? substitute(site->what, record)
              : substitute("got $value, expected less than $bound", record);
  return text + formatString(" (launch %u)", record.launchId);
}
