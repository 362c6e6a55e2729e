// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Devices.h"

#include "iris-c/RuntimeABI.h"
#include "support/Ranks.h"

#include <cstdlib>
#include <map>

using namespace iris::rt;

bool iris::rt::test::sharesOneGpu() {
  const char *value = std::getenv("IRIS_TEST_ONE_GPU");
  return value && value == std::string("1");
}

int iris::rt::test::deviceIndexOf(DeviceKind kind, uint32_t rank) {
  return kind == DeviceKind::host || sharesOneGpu() ? 0
                                                    : static_cast<int>(rank);
}

uint32_t iris::rt::test::devicesOf(DeviceKind kind) {
  if (kind == DeviceKind::host)
    return IRISRT_MAX_RANKS;
  static std::map<DeviceKind, uint32_t> known;
  auto found = known.find(kind);
  if (found != known.end())
    return found->second;
  auto ends = runProcesses(1, [kind](const LaunchInfo &) {
    Expected<int> count = deviceCount(kind);
    return count.ok() ? std::to_string(*count) : "no driver";
  });
  unsigned long count = std::strtoul(ends[0].text.c_str(), nullptr, 10);
  if (count > 0 && sharesOneGpu())
    count = IRISRT_MAX_RANKS;
  return known[kind] = static_cast<uint32_t>(count);
}
