// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/ccl/Kernels.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <unistd.h>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

static std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// "all_gather_..." of "iris.collective @all_gather_... ...".
static std::string nameIn(const std::string &request) {
  size_t begin = request.find('@') + 1;
  return request.substr(begin, request.find(' ', begin) - begin);
}

//===----------------------------------------------------------------------===//
// Packages
//===----------------------------------------------------------------------===//

namespace {
/// Precompiled packages, if any.
class Packages {
public:
  static Packages &get() {
    static Packages packages;
    return packages;
  }

  bool areUsed() const { return !folder_.empty(); }
  const std::vector<Package> &all() const { return all_; }

  void ask(const std::string &request) {
    std::string name = nameIn(request);
    if (names_.count(name))
      return;
    std::lock_guard<std::mutex> lock(mutex_);
    missing_.insert(name);
  }

  Status complaint() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (missing_.empty())
      return Status::success();
    std::string list;
    for (const std::string &name : missing_)
      list += (list.empty() ? "" : ", ") + name;
    return makeStatus(StatusCode::unavailable,
                      "no package in IRIS_TEST_PACKAGES (%s) holds %s",
                      folder_.c_str(), list.c_str());
  }

private:
  Packages() : folder_(variable("IRIS_TEST_PACKAGES")) {
    if (folder_.empty())
      return;
    std::error_code error;
    for (const auto &file :
         std::filesystem::directory_iterator(folder_, error)) {
      if (file.path().extension() == ".iris")
        add(file.path());
    }
    if (all_.empty() && missing_.empty())
      missing_.insert("a kernel");
  }

  void add(const std::string &path) {
    Expected<Package> package = Package::fromFile(path);
    if (!package.ok()) {
      missing_.insert("what can be read: " + package.status().message());
      return;
    }
    for (const PackageImage &image : package->images())
      for (const KernelInfo &kernel : image.kernels)
        names_.insert(kernel.name);
    all_.push_back(package.take());
  }

  std::string folder_;
  std::vector<Package> all_;
  std::set<std::string> names_;
  std::mutex mutex_; // guards the members below
  std::set<std::string> missing_;
};
} // namespace

CommunicatorOptions
iris::rt::test::communicatorOptions(std::vector<uint32_t> ranks) {
  CommunicatorOptions options;
  options.ranks = std::move(ranks);
  KernelCacheOptions cache;
  cache.directory = IRIS_TEST_CACHE;
  cache.compiler = IRIS_TEST_COMPILER;
  cache.maxBytes = uint64_t(1) << 30;
  Packages &packages = Packages::get();
  if (packages.areUsed()) {
    cache.compiler = "/no/compiler";
    cache.maxBytes = 0;
    options.rewrite = [&packages](const std::string &request) {
      packages.ask(request);
      return request;
    };
  }
  options.cache = std::make_shared<KernelCache>(cache);
  for (const Package &package : packages.all())
    options.cache->add(package);
  return options;
}

Status iris::rt::test::missingKernels() { return Packages::get().complaint(); }

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

namespace {
struct Recorder {
  std::string folder = variable("IRIS_TEST_RECORD");
  DeviceKind kind = DeviceKind::host;

  static const Recorder &get() {
    static const Recorder recorder;
    return recorder;
  }

private:
  Recorder() {
    std::string name = variable("IRIS_TEST_RECORD_FOR");
    Expected<DeviceSpec> parsed = parseDevice(name);
    if (parsed.ok())
      kind = parsed->kind;
    else if (!name.empty())
      stop("IRIS_TEST_RECORD_FOR: " + parsed.status().message());
    std::error_code error;
    if (!folder.empty() && !std::filesystem::is_directory(folder, error))
      stop("IRIS_TEST_RECORD: '" + folder + "' is no folder");
  }

  [[noreturn]] static void stop(const std::string &why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
  }
};
} // namespace

bool iris::rt::test::isRecording() { return !Recorder::get().folder.empty(); }

/// Other ranks write the same file at the same time.
static void writeOnce(const std::string &path, const std::string &text) {
  static std::mutex mutex;
  static std::set<std::string> written;
  std::lock_guard<std::mutex> lock(mutex);
  if (!written.insert(path).second)
    return;
  std::string own = path + "." + std::to_string(::getpid());
  std::ofstream(own) << text;
  std::error_code error;
  std::filesystem::rename(own, path, error);
}

static void record(const std::string &request, const std::string &translation) {
  writeOnce(Recorder::get().folder + "/" + nameIn(request) + "." + translation +
                ".mlir",
            request);
}

void iris::rt::test::recordMatmul(const MatmulProblem &problem,
                                  uint32_t numRanks,
                                  const std::string &translation) {
  const Recorder &recorder = Recorder::get();
  if (recorder.folder.empty())
    return;
  MatmulTuningKey tuningKey;
  tuningKey.problem = problem;
  tuningKey.groupSize = numRanks;
  tuningKey.device = recorder.kind;
  Expected<MatmulChoice> choice = select(tuningKey);
  if (!choice.ok())
    return; // the matmul fails in the same way
  tuningKey.problem.config = choice->config;
  for (const std::string &request : kernelSources(tuningKey))
    record(request, translation);
}

void iris::rt::test::recordCall(TuningKey tuningKey, ReduceOp reduce,
                                const Config *given,
                                const std::string &translation) {
  const Recorder &recorder = Recorder::get();
  // A group of one launches nothing.
  if (recorder.folder.empty() || tuningKey.groupSize == 1)
    return;
  tuningKey.device = recorder.kind;
  Config config = given ? *given : select(tuningKey).config;
  if (config.variant.empty())
    config.variant = select(tuningKey).config.variant;
  config.staged = config.staged || !tuningKey.onHeap;
  // Only the compiler knows whether its kernel supports in-place operation; if
  // it does not, the communicator uses the staged one.
  for (bool staged : {config.staged, config.staged || tuningKey.inPlace}) {
    config.staged = staged;
    record(kernelSource(tuningKey.op, tuningKey.dtype, reduce,
                        tuningKey.groupSize, config),
           translation);
  }
}
