// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cache of compiled kernels, with a stand-in compiler.
#include "iris/ccl/KernelCache.h"
#include "support/Ranks.h"
#include "support/ccl/CacheFolder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

namespace fs = std::filesystem;

static KernelRequest requestOf(const std::string &op = "all_gather i8",
                               const std::string &comment = "") {
  KernelRequest request;
  request.source = "iris.collective @run " + op + " size 2\n// " + comment;
  request.target = "host";
  request.translation = "stride";
  return request;
}

#define EXPECT_ORIGIN(expected, ...)                                           \
  do {                                                                         \
    auto found = (__VA_ARGS__);                                                \
    ASSERT_TRUE(found.ok()) << found.status().message();                       \
    EXPECT_STREQ(originName(expected), originName(found->origin));             \
  } while (false)

#define EXPECT_FAILS(code_, text, ...)                                         \
  do {                                                                         \
    Status status = (__VA_ARGS__).status();                                    \
    EXPECT_EQ(status.code(), code_) << status.message();                       \
    EXPECT_NE(status.message().find(text), std::string::npos)                  \
        << status.message();                                                   \
  } while (false)

TEST(KernelCache, MemoryDiskAndCompiler) {
  CacheFolder folder;
  KernelCache cache(folder.options());
  EXPECT_ORIGIN(Origin::compiled, cache.find(requestOf()));
  EXPECT_ORIGIN(Origin::memory, cache.find(requestOf()));
  // The folder was created with one file, and only its owner may enter.
  ASSERT_EQ(folder.entries().size(), 1u);
  EXPECT_EQ(folder.modeOf(folder.path()), 0700u);
  EXPECT_EQ(folder.modeOf(folder.entries()[0]), 0600u);

  KernelCache later(folder.options());
  auto found = later.find(requestOf());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->origin, Origin::disk);
  EXPECT_EQ(found->name, "run::kernel");
  EXPECT_EQ(folder.compilations(), 1u);

  // Everything that the image depends on changes the file name.
  EXPECT_ORIGIN(Origin::compiled, later.find(requestOf("barrier i8")));
  KernelRequest table = requestOf();
  table.translation = "table";
  EXPECT_ORIGIN(Origin::compiled, later.find(table));
  KernelCacheOptions withLines = folder.options();
  withLines.lineTables = true;
  EXPECT_ORIGIN(Origin::compiled, KernelCache(withLines).find(requestOf()));
  EXPECT_EQ(folder.entries().size(), 4u);
}

/// What is compiled is found in memory and on disk, without a compiler run.
TEST(KernelCache, FindsWhatIsCompiled) {
  CacheFolder folder;
  KernelCache cache(folder.options());
  EXPECT_FALSE(cache.findCompiled(requestOf()).has_value());
  EXPECT_EQ(folder.compilations(), 0u);
  EXPECT_ORIGIN(Origin::compiled, cache.find(requestOf()));
  EXPECT_TRUE(cache.findCompiled(requestOf()).has_value());
  KernelCache later(folder.options());
  std::optional<CompiledKernel> found = later.findCompiled(requestOf());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->origin, Origin::disk);
  EXPECT_EQ(found->name, "run::kernel");
  EXPECT_FALSE(later.findCompiled(requestOf("barrier i8")).has_value());
  // A damaged file is removed, as by find().
  std::ofstream(folder.entries()[0]) << "no package";
  EXPECT_FALSE(KernelCache(folder.options()).findCompiled(requestOf()));
  EXPECT_TRUE(folder.entries().empty());
  EXPECT_EQ(folder.compilations(), 1u);
  // A compilation that is under way is not waited for.
  KernelCacheOptions brief = folder.options();
  brief.compileLimit = 2;
  KernelCache slow(brief);
  KernelRequest hangs = requestOf("all_gather i8", "hang");
  std::thread compiling(
      [&] { slow.find(hangs).status().ignore("the compiler hangs"); });
  while (folder.compilations() < 2)
    std::this_thread::yield();
  EXPECT_FALSE(slow.findCompiled(hangs).has_value());
  compiling.join();
}

TEST(KernelCache, BuildsOfTheCompilerAreDistinguished) {
  CacheFolder folder;
  KernelCacheOptions options = folder.options();
  std::string copy = folder.path() + "-compiler";
  fs::copy_file(options.compiler, copy);
  KernelCache first(options);
  EXPECT_ORIGIN(Origin::compiled, first.find(requestOf()));
  // A copy of the same build counts as the same compiler.
  options.compiler = copy;
  EXPECT_ORIGIN(Origin::disk, KernelCache(options).find(requestOf()));
  std::ofstream(copy, std::ios::app) << "another build";
  EXPECT_ORIGIN(Origin::compiled, KernelCache(options).find(requestOf()));
  fs::remove(copy);
}

TEST(KernelCache, DamagedEntriesAreMadeAgain) {
  CacheFolder folder;
  EXPECT_ORIGIN(Origin::compiled,
                KernelCache(folder.options()).find(requestOf()));
  std::string entry = folder.entries()[0], good = readFile(entry);
  std::vector<std::string> damaged = {"", "x", good + "x",
                                      good.substr(0, good.size() - 8),
                                      good.substr(0, good.size() / 2)};
  for (size_t at : {size_t(0), size_t(100), good.size() / 2, good.size() - 9}) {
    damaged.push_back(good);
    damaged.back()[at] ^= 1;
  }
  for (const std::string &bytes : damaged) {
    std::ofstream(entry, std::ios::binary) << bytes;
    EXPECT_ORIGIN(Origin::compiled,
                  KernelCache(folder.options()).find(requestOf()));
    EXPECT_EQ(readFile(entry), good);
    EXPECT_ORIGIN(Origin::disk,
                  KernelCache(folder.options()).find(requestOf()));
  }
  EXPECT_EQ(folder.files().size(), 1u);
}

TEST(KernelCache, EntriesOfOthersAreMadeAgain) {
  CacheFolder folder;
  auto find = [&] { return KernelCache(folder.options()).find(requestOf()); };
  EXPECT_ORIGIN(Origin::compiled, find());
  std::string entry = folder.entries()[0];
  ::chmod(entry.c_str(), 0666);
  EXPECT_ORIGIN(Origin::compiled, find());
  EXPECT_EQ(folder.modeOf(entry), 0600u);

  std::string elsewhere = folder.path() + "-elsewhere";
  fs::rename(entry, elsewhere);
  fs::create_symlink(elsewhere, entry);
  EXPECT_ORIGIN(Origin::compiled, find());
  EXPECT_FALSE(fs::is_symlink(entry));
  fs::remove(elsewhere);

  fs::remove(entry);
  ASSERT_EQ(::mkfifo(entry.c_str(), 0600), 0); // must not block
  EXPECT_ORIGIN(Origin::compiled, find());

  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(entry.c_str(), 12345, 12345), 0);
    EXPECT_ORIGIN(Origin::compiled, find());
    struct stat info;
    ASSERT_EQ(::stat(entry.c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, 0u);
  }
  EXPECT_ORIGIN(Origin::disk, find());
}

TEST(KernelCache, FoldersOfOthersAreRefused) {
  CacheFolder folder;
  auto find = [&] { return KernelCache(folder.options()).find(requestOf()); };
  fs::create_directory(folder.path());
  ::chmod(folder.path().c_str(), 0755);
  EXPECT_FAILS(StatusCode::failedPrecondition, "with mode 0755", find());
  EXPECT_EQ(folder.compilations(), 0u);
  ::chmod(folder.path().c_str(), 0700);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(folder.path().c_str(), 12345, 12345), 0);
    EXPECT_FAILS(StatusCode::failedPrecondition, "belongs to user 12345",
                 find());
    ASSERT_EQ(::chown(folder.path().c_str(), 0, 0), 0);
  }
  std::string elsewhere = folder.path() + "-elsewhere";
  fs::rename(folder.path(), elsewhere);
  fs::create_directory_symlink(elsewhere, folder.path());
  EXPECT_FAILS(StatusCode::failedPrecondition, "cannot open", find());
  fs::remove(folder.path());
  fs::rename(elsewhere, folder.path());
  EXPECT_ORIGIN(Origin::compiled, find());
}

TEST(KernelCache, WorksWithoutAFolder) {
  CacheFolder folder;
  KernelCacheOptions options = folder.options();
  options.directory = "/dev/null/iris"; // cannot be created
  EXPECT_ORIGIN(Origin::compiled, KernelCache(options).find(requestOf()));
  options = folder.options();
  options.maxBytes = 0;
  KernelCache cache(options);
  EXPECT_ORIGIN(Origin::compiled, cache.find(requestOf()));
  EXPECT_ORIGIN(Origin::memory, cache.find(requestOf()));
  EXPECT_FALSE(fs::exists(folder.path()));
}

TEST(KernelCache, TheLeastRecentlyUsedAreEvicted) {
  CacheFolder folder;
  KernelCacheOptions options = folder.options();
  EXPECT_ORIGIN(Origin::compiled, KernelCache(options).find(requestOf()));
  std::string first = folder.entries()[0];
  uint64_t bytes = fs::file_size(first);
  options.maxBytes = 3 * bytes + bytes / 2; // room for three

  auto findAt = [&](const char *op, int64_t second) {
    auto found = KernelCache(options).find(requestOf(op));
    // Distinct times of use, whatever the clock's resolution.
    for (const std::string &entry : folder.entries())
      if (folder.secondsOf(entry) > 1000000)
        folder.setSeconds(entry, second);
    return found;
  };
  EXPECT_ORIGIN(Origin::disk, findAt("all_gather i8", 1));
  EXPECT_ORIGIN(Origin::compiled, findAt("barrier i8", 2));
  EXPECT_ORIGIN(Origin::compiled, findAt("broadcast i8", 3));
  EXPECT_ORIGIN(Origin::disk, findAt("all_gather i8", 4)); // used again
  EXPECT_ORIGIN(Origin::compiled, findAt("send i8", 5));   // barrier is evicted
  EXPECT_EQ(folder.entries().size(), 3u);
  EXPECT_ORIGIN(Origin::disk, findAt("all_gather i8", 6));
  EXPECT_ORIGIN(Origin::disk, findAt("broadcast i8", 7));
  EXPECT_ORIGIN(Origin::compiled, findAt("barrier i8", 8));

  // A file larger than the limit is kept alone.
  options.maxBytes = 1;
  EXPECT_ORIGIN(Origin::compiled, findAt("recv i8", 9));
  EXPECT_EQ(folder.entries().size(), 1u);
  EXPECT_ORIGIN(Origin::disk, findAt("recv i8", 10));

  // Leftovers of a killed process are removed after an hour; foreign files are
  // kept.
  std::ofstream(folder.path() + "/old.part") << "x";
  folder.setSeconds(folder.path() + "/old.part", 1);
  std::ofstream(folder.path() + "/new.part") << "x";
  std::ofstream(folder.path() + "/notes.txt") << "x";
  EXPECT_ORIGIN(Origin::compiled, findAt("scatter i8", 11));
  EXPECT_FALSE(fs::exists(folder.path() + "/old.part"));
  EXPECT_TRUE(fs::exists(folder.path() + "/new.part"));
  EXPECT_TRUE(fs::exists(folder.path() + "/notes.txt"));
}

TEST(KernelCache, ManyProcessesAtOnce) {
  CacheFolder folder;
  KernelCacheOptions options = folder.options();
  options.maxBytes = 100000; // so that files are evicted while others read them
  auto body = [&](const LaunchInfo &launch) -> std::string {
    for (int round = 0; round < 6; ++round)
      for (int tile : {16, 32, 64, 128}) {
        KernelCache cache(options);
        RANK_ASSIGN(CompiledKernel kernel,
                    cache.find(requestOf("all_gather i8",
                                         "tile = " + std::to_string(tile))));
        RANK_CHECK(kernel.name == "run::kernel");
        if ((round + launch.rank) % 5 == 0)
          for (const std::string &entry : folder.entries())
            ::unlink(entry.c_str()); // the user may empty a cache
      }
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(6, body)));
  for (const std::string &file : folder.files())
    EXPECT_EQ(file.find(".part"), std::string::npos) << file;
}

TEST(KernelCache, ThreadsCompileOnce) {
  CacheFolder folder;
  KernelCache cache(folder.options());
  EXPECT_EQ("", failures(runThreads(8, [&](const LaunchInfo &) {
              auto found = cache.find(requestOf());
              return found.ok() ? "" : found.status().message();
            })));
  EXPECT_EQ(folder.compilations(), 1u);
}

TEST(KernelCache, ProcessesCompileOnce) {
  CacheFolder folder;
  EXPECT_EQ("", failures(runProcesses(8, [&](const LaunchInfo &) {
              // Each rank has a cache of its own, as groups of one world have.
              auto found = KernelCache(folder.options()).find(requestOf());
              return found.ok() ? "" : found.status().message();
            })));
  EXPECT_EQ(folder.compilations(), 1u);
  EXPECT_EQ(folder.files().size(), 1u); // no lock is left
}

/// A lock whose owner was killed keeps no rank from compiling, and one that is
/// held too long only for the time of a compilation.
TEST(KernelCache, LocksDoNotLast) {
  CacheFolder folder;
  KernelCacheOptions options = folder.options();
  EXPECT_ORIGIN(Origin::compiled, KernelCache(options).find(requestOf()));
  std::string entry = folder.entries()[0];
  std::string lock = fs::path(entry).replace_extension(".lock");

  fs::remove(entry);
  std::ofstream(lock).flush();
  EXPECT_ORIGIN(Origin::compiled, KernelCache(options).find(requestOf()));
  EXPECT_FALSE(fs::exists(lock));

  fs::remove(entry);
  int fd = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::flock(fd, LOCK_EX | LOCK_NB), 0);
  options.compileLimit = 1;
  EXPECT_ORIGIN(Origin::compiled, KernelCache(options).find(requestOf()));
  EXPECT_TRUE(fs::exists(lock));
  EXPECT_EQ(folder.compilations(), 3u);
  ::close(fd);
}

/// Those that wait for a compilation that fails compile themselves.
TEST(KernelCache, ProcessesLearnOfFailures) {
  CacheFolder folder;
  EXPECT_EQ("", failures(runProcesses(4, [&](const LaunchInfo &) {
              Status status = KernelCache(folder.options())
                                  .find(requestOf("all_gather i8", "fail"))
                                  .status();
              return status.message().find("is not to be") == std::string::npos
                         ? "it says: " + status.message()
                         : "";
            })));
  EXPECT_EQ(folder.compilations(), 4u);
  EXPECT_EQ(folder.files().size(), 0u);
}

TEST(KernelCache, CompilersThatFail) {
  CacheFolder folder;
  KernelCacheOptions options = folder.options();
  {
    KernelCache cache(options);
    KernelRequest request = requestOf("all_gather i8", "fail");
    EXPECT_FAILS(StatusCode::invalidArgument,
                 "exited with status 1: is not to be", cache.find(request));
    EXPECT_FAILS(StatusCode::invalidArgument, "exited with status 1",
                 cache.find(request)); // requested again
    EXPECT_FAILS(StatusCode::invalidArgument, "killed by signal 9",
                 cache.find(requestOf("all_gather i8", "die")));
    EXPECT_FAILS(StatusCode::invalidArgument, "the output of '",
                 cache.find(requestOf("all_gather i8", "garbage")));
    EXPECT_EQ(folder.entries().size(), 0u);
  }
  options.compileLimit = 0.2;
  EXPECT_FAILS(StatusCode::timeout, "did not end within 0.2 s",
               KernelCache(options).find(requestOf("all_gather i8", "hang")));
  options.compiler = "/nowhere/iris-compile";
  EXPECT_FAILS(StatusCode::unavailable, "'/nowhere/iris-compile' cannot be run",
               KernelCache(options).find(requestOf()));
  options.compiler = "/etc/passwd"; // not a program
  EXPECT_FAILS(StatusCode::unavailable, "cannot be run",
               KernelCache(options).find(requestOf()));
  EXPECT_EQ(folder.files().size(), 0u);
}

TEST(KernelCache, CompilersThatHangEndWithTheirChildren) {
  CacheFolder folder;
  KernelCacheOptions options = folder.options();
  options.compiler = folder.path() + "-compiler";
  std::ofstream(options.compiler) << "#!/bin/sh\ntrap '' TERM\n"
                                     "sleep 60.0875 &\nsleep 60.0875\n";
  ::chmod(options.compiler.c_str(), 0700);
  options.compileLimit = 0.2;
  EXPECT_FAILS(StatusCode::timeout, "did not end within 0.2 s and was killed",
               KernelCache(options).find(requestOf()));
  EXPECT_NE(std::system("sleep 0.1; pgrep -f 'sleep 60.087[5]'"), 0);
  fs::remove(options.compiler);
}

TEST(KernelCache, LeavesTheProgramsChildrenAlone) {
  CacheFolder folder;
  auto body = [&](const LaunchInfo &) -> std::string {
    ::signal(SIGCHLD, SIG_IGN); // the kernel reaps our child
    KernelCache cache(folder.options());
    RANK_TRY(cache.find(requestOf()).status());
    Status status = cache.find(requestOf("all_gather i8", "fail")).status();
    RANK_CHECK(!status.ok());
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(1, body)));
}

TEST(KernelCache, RegisteredPackagesComeFirst) {
  CacheFolder folder;
  KernelCache maker(folder.options());
  auto made = maker.find(requestOf());
  ASSERT_TRUE(made.ok());

  KernelCache cache(folder.options());
  cache.add(made->package);
  KernelRequest request = requestOf();
  EXPECT_ORIGIN(Origin::disk, cache.find(request)); // matches nothing
  request.matches = [](const KernelInfo &kernel) {
    return kernel.config.find("all_gather") != std::string::npos;
  };
  EXPECT_ORIGIN(Origin::registered, cache.find(request));
  request.translation = "table"; // for which the package has no image
  EXPECT_ORIGIN(Origin::compiled, cache.find(request));
}

//===----------------------------------------------------------------------===//
// Folders of kernels that were compiled ahead of time
//===----------------------------------------------------------------------===//

/// A folder beside a cache, with the package of one request as all_gather.iris.
static std::string makeKernelFolder(const CacheFolder &folder) {
  std::string path = folder.path() + "-kernels";
  fs::create_directory(path);
  ::chmod(path.c_str(), 0755);
  KernelCache cache(folder.options());
  EXPECT_TRUE(cache.find(requestOf()).ok());
  std::string file = path + "/all_gather.iris";
  fs::copy_file(folder.entries()[0], file);
  ::chmod(file.c_str(), 0644);
  fs::remove_all(folder.path());
  return path;
}

static KernelRequest namedRequest(const std::string &name = "all_gather") {
  KernelRequest request = requestOf();
  request.name = name;
  return request;
}

/// Options of a machine without a compiler.
static KernelCacheOptions withoutCompiler(const CacheFolder &folder) {
  KernelCacheOptions options = folder.options();
  options.compiler = folder.path() + "-no-compiler";
  return options;
}

TEST(KernelCache, FoldersNeedNoCompiler) {
  CacheFolder folder;
  std::string path = makeKernelFolder(folder);
  KernelCache cache(withoutCompiler(folder));
  ASSERT_TRUE(cache.addFolder(path).ok());
  EXPECT_ORIGIN(Origin::folder, cache.find(namedRequest()));
  EXPECT_ORIGIN(Origin::memory, cache.find(namedRequest()));
  // Others are not in it, and those without a name in none.
  EXPECT_FAILS(StatusCode::unavailable, "cannot be run",
               cache.find(requestOf("barrier i8")));
  EXPECT_FAILS(StatusCode::unavailable,
               "has no usable barrier.iris; compile kernels ahead of time",
               cache.find([] {
                 KernelRequest request = requestOf("barrier i8");
                 request.name = "barrier";
                 return request;
               }()));
  EXPECT_TRUE(folder.files().empty()); // nothing was written
}

TEST(KernelCache, FoldersComeBeforeTheDisk) {
  CacheFolder folder;
  std::string path = makeKernelFolder(folder);
  EXPECT_ORIGIN(Origin::compiled,
                KernelCache(folder.options()).find(namedRequest()));
  KernelCache cache(folder.options());
  ASSERT_TRUE(cache.addFolder(path).ok());
  EXPECT_ORIGIN(Origin::folder, cache.find(namedRequest()));
}

/// The name tells which kernel it is, and the caller checks it.
TEST(KernelCache, FolderOfOtherKernels) {
  CacheFolder folder;
  std::string path = makeKernelFolder(folder);
  KernelRequest request = namedRequest();
  request.matches = [](const KernelInfo &) { return false; };
  KernelCache cache(withoutCompiler(folder));
  ASSERT_TRUE(cache.addFolder(path).ok());
  EXPECT_FAILS(StatusCode::unavailable, "has no usable all_gather.iris",
               cache.find(request));
  // Names are no paths.
  request =
      namedRequest("../" + fs::path(path).filename().string() + "/all_gather");
  EXPECT_FAILS(StatusCode::unavailable, "cannot be run", cache.find(request));
}

TEST(KernelCache, FoldersThatOthersCanWriteAreRefused) {
  CacheFolder folder;
  std::string path = makeKernelFolder(folder);
  std::string file = path + "/all_gather.iris";
  for (unsigned mode : {0664u, 0646u, 0666u}) {
    ::chmod(file.c_str(), mode);
    KernelCache cache(withoutCompiler(folder));
    ASSERT_TRUE(cache.addFolder(path).ok());
    EXPECT_FAILS(StatusCode::unavailable, "has no usable all_gather.iris",
                 cache.find(namedRequest()));
  }
  ::chmod(file.c_str(), 0644);
  for (unsigned mode : {0775u, 0757u, 01777u}) {
    ::chmod(path.c_str(), mode);
    KernelCache cache(withoutCompiler(folder));
    Status status = cache.addFolder(path);
    EXPECT_EQ(status.code(), StatusCode::failedPrecondition);
    EXPECT_NE(status.message().find("other users can write to '" + path),
              std::string::npos)
        << status.message();
    EXPECT_FAILS(StatusCode::unavailable, "other users can write to",
                 cache.find(namedRequest()));
  }
  ::chmod(path.c_str(), 0755);
  KernelCache cache(withoutCompiler(folder));
  EXPECT_EQ(cache.addFolder(path + "/missing").code(), StatusCode::unavailable);
  EXPECT_FAILS(StatusCode::unavailable, "cannot open the kernel folder",
               cache.find(namedRequest()));
}

TEST(KernelCache, DamagedKernelsOfFoldersAreCompiled) {
  CacheFolder folder;
  std::string path = makeKernelFolder(folder);
  std::string file = path + "/all_gather.iris", good = readFile(file);
  for (const std::string &bytes :
       {std::string(), good.substr(0, 100), std::string("x"), good + "x"}) {
    std::ofstream(file, std::ios::binary) << bytes;
    KernelCache cache(folder.options());
    ASSERT_TRUE(cache.addFolder(path).ok());
    EXPECT_TRUE(cache.find(namedRequest()).ok());
    EXPECT_EQ(readFile(file), bytes); // only the disk cache repairs its files
  }
}
