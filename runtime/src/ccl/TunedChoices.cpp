// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TunedChoices.cpp - Measured choices on disk ------------------------===//
#include "ccl/TunedChoices.h"

#include "ccl/DiskCache.h"
#include "compile/Compiler.h"
#include "core/Log.h"
#include "iris-c/RuntimeABI.h"

#include <map>
#include <mutex>

using namespace iris::ccl;
using namespace iris::rt;

/// The first line of a file; its number changes with the format.
static const char magic[] = "iris tuned choice 1\n";
/// For some thousands of choices of at most a few hundred bytes.
static constexpr uint64_t maxDirectoryBytes = 8 << 20;
static const DiskCache::Contents choices = {"tuned choices", "measured again",
                                            ".tuned", 64 << 10};

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

Expected<std::string> iris::ccl::describeMachine(const World &world,
                                                 Agreement agreement) {
  const DeviceAttributes &device = world.deviceAttributes();
  std::string mine = formatString(
      "%s, %s, %u processors of %u MHz, driver %d, %s", device.name.c_str(),
      device.target.c_str(), device.processors, device.clockMHz,
      device.driverVersion, device.link.c_str());
  IRISRT_ASSIGN_OR_RETURN(std::vector<std::string> all, agreement.all(mine));
  std::string text;
  for (const std::string &each : all)
    text += each + "\n";
  return formatString("iris %s, ABI %d.%d, addresses by %s\n", IRIS_VERSION,
                      IRISRT_ABI_VERSION_MAJOR, IRISRT_ABI_VERSION_MINOR,
                      world.translation()) +
         text;
}

std::string iris::ccl::whyNotMeasured(const World &world) {
  if (world.deviceKind() == DeviceKind::emulated)
    return "an emulator's times say nothing about a GPU";
  return "";
}

/// The build of the compiler, whose kernels were measured; "" without one.
static std::string compilerOf(const KernelCache &cache) {
  Expected<std::string> compiler = findCompiler(cache.options().compiler);
  if (!compiler.ok())
    return "";
  Expected<std::string> build = compilerBuildId(*compiler);
  return build.ok() ? *build : "";
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
/// Choices that are kept in the process.
struct Kept {
  std::mutex mutex;
  std::map<std::string, std::string> texts;
};
} // namespace

static Kept &kept() {
  static Kept instance;
  return instance;
}

Expected<TunedChoices> TunedChoices::open(const KernelCache &cache) {
  const KernelCacheOptions &options = cache.options();
  std::string build = "compiler " + compilerOf(cache) + "\n";
  if (options.maxBytes == uint64_t(0) || options.directory.empty())
    return TunedChoices("", build);
  std::string directory = options.directory + "/tuned";
  Expected<DiskCache> disk =
      DiskCache::open(directory, maxDirectoryBytes, choices);
  if (disk.ok())
    return TunedChoices(directory, build);
  if (disk.status().code() == StatusCode::failedPrecondition)
    return disk.status();
  Log().warning("%s; measured choices are kept in this process only",
                disk.status().message().c_str());
  return TunedChoices("", build);
}

std::optional<std::string> TunedChoices::read(const std::string &shortKey) {
  const std::string key = build_ + shortKey;
  if (directory_.empty()) {
    std::lock_guard<std::mutex> lock(kept().mutex);
    auto found = kept().texts.find(key);
    return found == kept().texts.end() ? std::nullopt
                                       : std::optional(found->second);
  }
  Expected<DiskCache> disk =
      DiskCache::open(directory_, maxDirectoryBytes, choices);
  if (!disk.ok())
    return std::nullopt;
  const std::string name = DiskCache::keyOf({key});
  std::optional<std::string> bytes = disk->read(name);
  if (!bytes)
    return std::nullopt;
  auto refuse = [&](const char *why) {
    disk->remove(name, why);
    return std::nullopt;
  };
  const std::string start = magic;
  if (bytes->compare(0, start.size(), start) != 0)
    return refuse("its first line is not that of this version");
  size_t end = bytes->find('\n', start.size());
  if (end == std::string::npos)
    return refuse("it is cut off");
  std::string hash = bytes->substr(start.size(), end - start.size());
  std::string rest = bytes->substr(end + 1);
  if (hash != DiskCache::keyOf({rest}))
    return refuse("its hash is not that of its contents");
  if (rest.compare(0, key.size(), key) != 0)
    return refuse("it is of other devices, another version or another problem");
  return rest.substr(key.size());
}

void TunedChoices::write(const std::string &shortKey, const std::string &text) {
  const std::string key = build_ + shortKey;
  if (directory_.empty()) {
    std::lock_guard<std::mutex> lock(kept().mutex);
    kept().texts[key] = text;
    return;
  }
  Expected<DiskCache> disk =
      DiskCache::open(directory_, maxDirectoryBytes, choices);
  Status status = disk.status();
  if (disk.ok())
    status =
        disk->write(DiskCache::keyOf({key}),
                    magic + DiskCache::keyOf({key + text}) + "\n" + key + text);
  if (!status.ok())
    Log().warning("tuned choices: %s", status.message().c_str());
}

void TunedChoices::remove(const std::string &shortKey, const std::string &why) {
  const std::string key = build_ + shortKey;
  if (directory_.empty()) {
    std::lock_guard<std::mutex> lock(kept().mutex);
    kept().texts.erase(key);
    return;
  }
  Expected<DiskCache> disk =
      DiskCache::open(directory_, maxDirectoryBytes, choices);
  if (disk.ok())
    disk->remove(DiskCache::keyOf({key}), why);
}
