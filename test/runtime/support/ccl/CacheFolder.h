// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of compiled kernels for one test, with the stand-in compiler.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_CCL_CACHEFOLDER_H
#define IRIS_TEST_RUNTIME_SUPPORT_CCL_CACHEFOLDER_H

#include "iris/ccl/KernelCache.h"
#include "support/ReadFile.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace iris::rt::test {

/// Removed in the destructor, together with the log of compilations.
class CacheFolder {
public:
  CacheFolder() {
    char pattern[] = "/tmp/iris-test-cache-XXXXXX";
    base_ = ::mkdtemp(pattern);
    ::setenv("IRIS_FAKE_COMPILE_LOG", log().c_str(), /*overwrite=*/1);
  }
  CacheFolder(const CacheFolder &) = delete;
  ~CacheFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(base_, ignored);
  }

  /// The folder itself, which does not exist at first.
  std::string path() const { return base_ + "/cache"; }

  ccl::KernelCacheOptions options() const {
    ccl::KernelCacheOptions options;
    options.directory = path();
    options.maxBytes = 64 << 20;
    options.compiler = IRIS_TEST_COMPILER;
    return options;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> found;
    std::error_code missing;
    for (const auto &each :
         std::filesystem::directory_iterator(path(), missing))
      found.push_back(each.path());
    return found;
  }

  std::vector<std::string> entries() const {
    std::vector<std::string> found;
    for (const std::string &file : files())
      if (std::filesystem::path(file).extension() == ".iris")
        found.push_back(file);
    return found;
  }

  /// Number of runs of the compiler.
  size_t compilations() const {
    std::string text = readFile(log());
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  static unsigned modeOf(const std::string &path) {
    struct stat info = {};
    ::stat(path.c_str(), &info);
    return info.st_mode & 07777;
  }

  /// Time of the last use of a file.
  static int64_t secondsOf(const std::string &path) {
    struct stat info = {};
    ::stat(path.c_str(), &info);
    return info.st_mtim.tv_sec;
  }

  static void setSeconds(const std::string &path, int64_t seconds) {
    timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ::utimensat(AT_FDCWD, path.c_str(), times, 0);
  }

private:
  std::string log() const { return base_ + "/log"; }

  std::string base_;
};

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_CCL_CACHEFOLDER_H
