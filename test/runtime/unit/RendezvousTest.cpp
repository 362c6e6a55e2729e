// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The directories in which ranks find each other.
#include "bootstrap/Bootstrap.h"
#include "bootstrap/RendezvousDirectory.h"
#include "support/ContestedDirectory.h"
#include "support/Ranks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::test;

static constexpr auto limit = std::chrono::seconds(20);

static RendezvousOptions optionsOf(const LaunchInfo &launch,
                                   std::vector<std::string> directories) {
  RendezvousOptions options;
  options.rank = launch.rank;
  options.numRanks = launch.numRanks;
  options.job = launch.job;
  options.token = launch.token;
  options.directories = std::move(directories);
  options.limit = limit;
  return options;
}

namespace {
/// A folder in which directories can be created and occupied.
class RendezvousLocation : public testing::Test {
protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(path), nullptr); }
  void TearDown() override { std::filesystem::remove_all(path); }

  std::string in(const char *name) const {
    return path + ("/" + std::string(name));
  }
  Status open(const std::vector<std::string> &paths) {
    Expected<RendezvousDirectory> directory =
        RendezvousDirectory::open(paths, skipped);
    taken = directory.ok() ? directory->path() : "";
    return directory.status();
  }

  char path[32] = "/tmp/iris-test-XXXXXX";
  std::string skipped, taken;
};
} // namespace

TEST_F(RendezvousLocation, MustBePrivate) {
  std::string open755 = in("a");
  ASSERT_EQ(::mkdir(open755.c_str(), 0755), 0);
  ::chmod(open755.c_str(), 0755);
  Status status = open({open755});
  EXPECT_EQ(status.code(), StatusCode::failedPrecondition);
  EXPECT_NE(status.message().find("mode 0700"), std::string::npos);
  EXPECT_NE(status.message().find("IRIS_RENDEZVOUS_DIR"), std::string::npos);
  ASSERT_EQ(::chmod(open755.c_str(), 0700), 0);
  EXPECT_TRUE(open({open755}).ok());
  EXPECT_EQ(skipped, "");
  // A link may point anywhere, and later elsewhere.
  ASSERT_EQ(::symlink(open755.c_str(), in("link").c_str()), 0);
  EXPECT_FALSE(open({in("link")}).ok());
  std::ofstream(in("file")) << "x";
  EXPECT_FALSE(open({in("file")}).ok());
}

TEST_F(RendezvousLocation, MustBeAbsolute) {
  for (const char *relative : {"", ".", "a", "./a", "../a"}) {
    Status status = open({relative});
    EXPECT_EQ(status.code(), StatusCode::failedPrecondition);
    EXPECT_NE(status.message().find("absolute path"), std::string::npos);
  }
}

TEST_F(RendezvousLocation, UsesTheNextIfTheFirstIsOccupied) {
  // Files that another user may have created in /tmp before: a directory, a
  // file, a link to one of our directories.
  ASSERT_EQ(::mkdir(in("ours").c_str(), 0700), 0);
  ASSERT_EQ(::mkdir(in("theirs").c_str(), 0777), 0);
  ::chmod(in("theirs").c_str(), 0777);
  std::ofstream(in("file")) << "x";
  ASSERT_EQ(::symlink(in("ours").c_str(), in("link").c_str()), 0);
  for (const char *blocked : {"theirs", "file", "link"}) {
    EXPECT_TRUE(open({in(blocked), in("new/deep")}).ok());
    EXPECT_EQ(taken, in("new/deep"));
    EXPECT_NE(skipped.find(in(blocked)), std::string::npos) << skipped;
    struct stat info;
    ASSERT_EQ(::lstat(taken.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
  }
}

TEST_F(RendezvousLocation, LongPathsWork) {
  // Longer than the maximum length of a socket name.
  std::string deep = path;
  for (int i = 0; i < 6; ++i)
    deep += "/twenty-characters-x";
  auto ends = runThreads(3, [&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto boot, Bootstrap::create(optionsOf(launch, {deep})));
    RANK_TRY(boot->barrier(CollectiveTag::barrier, limit));
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

TEST_F(RendezvousLocation, FilesAtTheSocketPathAreReplacedOrNamed) {
  std::string job = freshJob();
  EXPECT_TRUE(open({path}).ok());
  RendezvousOptions options;
  options.numRanks = 2;
  options.job = job;
  options.directories = {path};
  options.limit = std::chrono::milliseconds(200);
  Expected<RendezvousDirectory> directory =
      RendezvousDirectory::open({path}, skipped);
  ASSERT_TRUE(directory.ok());
  std::string name = directory->socketPath(job);
  name = path + name.substr(name.rfind('/'));
  std::ofstream(name) << "a file"; // replaced
  Status status = Bootstrap::create(options).status();
  EXPECT_NE(status.message().find("rank 1 did not join"), std::string::npos)
      << status.message();
  ASSERT_EQ(::mkdir(name.c_str(), 0700),
            0); // fails: it does not belong to the job
  status = Bootstrap::create(options).status();
  EXPECT_NE(status.message().find("cannot bind"), std::string::npos)
      << status.message();
}

//===----------------------------------------------------------------------===//
// Names that another user takes
//===----------------------------------------------------------------------===//

TEST_F(RendezvousLocation, RanksMeetWhereRankZeroListens) {
  // The first directory is unusable for rank 0 and usable for the others, which
  // start later.
  ContestedDirectory::occupy(in("contested"));
  RendezvousOptions options =
      optionsOf(launchOf(freshJob(), 0, 3), {in("contested"), in("second")});
  auto ends = runThreads(3, [&](const LaunchInfo &launch) -> std::string {
    RendezvousOptions mine = options;
    mine.rank = launch.rank;
    if (launch.rank != 0) {
      while (::access(in("second").c_str(), F_OK) != 0)
        ::usleep(1000);
      // Both may do it.
      ::rmdir(in("contested").c_str());
      ::mkdir(in("contested").c_str(), 0700);
    }
    RANK_ASSIGN(auto boot, Bootstrap::create(mine));
    RANK_TRY(boot->barrier(CollectiveTag::barrier, limit));
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

TEST_F(RendezvousLocation, RanksMeetWhileAnotherUserTakesTheName) {
  for (bool hasSecond : {true, false})
    for (int job = 0; job < 25; ++job) {
      std::string name = in("job") + std::to_string(2 * job + hasSecond);
      std::vector<std::string> directories = {name};
      if (hasSecond)
        directories.push_back(in("second"));
      ContestedDirectory contested(name);
      contested.awaitRound();
      auto ends = runProcesses(3, [&](const LaunchInfo &launch) -> std::string {
        ::usleep(launch.rank * 500); // meet different states
        RANK_ASSIGN(auto boot,
                    Bootstrap::create(optionsOf(launch, directories)));
        RANK_TRY(boot->barrier(CollectiveTag::barrier, limit));
        return "";
      });
      EXPECT_EQ(failures(ends), "") << job;
    }
}

TEST_F(RendezvousLocation, ANameThatStaysTakenIsReportedByEveryRank) {
  ContestedDirectory::occupy(in("contested"));
  auto ends = runThreads(2, [&](const LaunchInfo &launch) -> std::string {
    auto start = std::chrono::steady_clock::now();
    Status status =
        Bootstrap::create(optionsOf(launch, {in("contested")})).status();
    RANK_CHECK(std::chrono::steady_clock::now() - start < limit / 2);
    for (const std::string &part :
         {in("contested"), std::string("with mode 0777"),
          std::string("IRIS_RENDEZVOUS_DIR")})
      if (status.message().find(part) == std::string::npos)
        return "no " + part + ": " + status.message();
    return "";
  });
  EXPECT_EQ(failures(ends), "");
}

TEST_F(RendezvousLocation, DirectoriesThatWereSearchedAreNamed) {
  RendezvousOptions options =
      optionsOf(launchOf(freshJob(), 1, 2), {in("first"), in("second")});
  options.limit = std::chrono::milliseconds(200);
  Status status = Bootstrap::create(options).status();
  EXPECT_EQ(status.code(), StatusCode::timeout);
  EXPECT_NE(
      status.message().find("in '" + in("first") + "', '" + in("second") + "'"),
      std::string::npos)
      << status.message();
  // Rank 0 alone creates them.
  EXPECT_NE(::access(in("first").c_str(), F_OK), 0);
}
