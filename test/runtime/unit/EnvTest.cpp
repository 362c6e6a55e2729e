// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/rt/Env.h"
#include "iris/rt/World.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

using namespace iris::rt;

static Env envOf(const std::map<std::string, std::string> &variables) {
  return Env::read([&](const char *name) -> const char * {
    auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Env, AloneWithoutALauncher) {
  Env env = envOf({});
  ASSERT_TRUE(env.launch().ok());
  EXPECT_EQ(env.launch()->launcher, "none");
  EXPECT_EQ(env.launch()->numRanks, 1u);
  EXPECT_EQ(env.logLevel(), LogLevel::warning);
}

TEST(Env, Torchrun) {
  std::map<std::string, std::string> variables = {
      {"RANK", "2"},
      {"WORLD_SIZE", "4"},
      {"LOCAL_RANK", "2"},
      {"MASTER_ADDR", "localhost"},
      {"MASTER_PORT", "29500"},
      {"TORCHELASTIC_RUN_ID", "abc"}};
  Env env = envOf(variables);
  ASSERT_TRUE(env.launch().ok());
  EXPECT_EQ(env.launch()->launcher, "torchrun");
  EXPECT_EQ(env.launch()->rank, 2u);
  EXPECT_EQ(env.launch()->numRanks, 4u);
  EXPECT_EQ(env.launch()->localRank, 2u);
  std::string job = env.launch()->job;
  for (const char *name :
       {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID"}) {
    auto changed = variables;
    changed[name] += "1";
    EXPECT_NE(envOf(changed).launch()->job, job) << name;
  }
}

TEST(Env, OtherLaunchers) {
  Env mpi = envOf({{"OMPI_COMM_WORLD_RANK", "1"},
                   {"OMPI_COMM_WORLD_SIZE", "2"},
                   {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                   {"PMIX_NAMESPACE", "prterun-1"}});
  ASSERT_TRUE(mpi.launch().ok());
  EXPECT_EQ(mpi.launch()->launcher, "Open MPI");
  EXPECT_EQ(mpi.launch()->job, "mpi:prterun-1");

  Env slurm = envOf({{"SLURM_PROCID", "3"},
                     {"SLURM_NTASKS", "8"},
                     {"SLURM_LOCALID", "3"},
                     {"SLURM_JOB_ID", "77"},
                     {"SLURM_STEP_ID", "0"}});
  ASSERT_TRUE(slurm.launch().ok());
  EXPECT_EQ(slurm.launch()->rank, 3u);
  EXPECT_EQ(slurm.launch()->job, "slurm:77.0");
  // The shell of an allocation is not a rank.
  EXPECT_EQ(envOf({{"SLURM_NTASKS", "8"}}).launch()->launcher, "none");

  Env run = envOf({{"IRIS_RANK", "0"},
                   {"IRIS_WORLD_SIZE", "2"},
                   {"IRIS_JOB", "j"},
                   {"IRIS_TOKEN", "ff"},
                   {"RANK", "1"}});
  ASSERT_TRUE(run.launch().ok());
  EXPECT_EQ(run.launch()->launcher, "iris-run");
  EXPECT_EQ(run.launch()->token, 255u);
  EXPECT_EQ(run.launch()->noticeFd, -1);
}

TEST(Env, TokensAreHexadecimal) {
  std::map<std::string, std::string> variables = {
      {"RANK", "0"}, {"WORLD_SIZE", "2"}, {"IRIS_TOKEN", "0123456789aBcDeF"}};
  EXPECT_EQ(envOf(variables).launch()->token, 0x0123456789abcdefu);
  for (const char *wrong :
       {"g", "secret", "0x1", "-1", " 1", "1 ", "01234567890123456"}) {
    variables["IRIS_TOKEN"] = wrong;
    Status status = envOf(variables).launch().status();
    EXPECT_EQ(status.code(), StatusCode::invalidArgument) << wrong;
    EXPECT_NE(status.message().find("IRIS_TOKEN has "), std::string::npos);
    EXPECT_EQ(status.message().find("'" + std::string(wrong)),
              std::string::npos); // it is a secret
  }
}

/// For ids of NCCL's API that every rank makes.
TEST(Env, TokensNeedNoLauncher) {
  EXPECT_EQ(envOf({{"IRIS_TOKEN", "ff"}}).launch()->token, 255u);
  EXPECT_EQ(envOf({{"IRIS_TOKEN", "ff"}}).launch()->launcher, "none");
  EXPECT_FALSE(envOf({{"IRIS_TOKEN", "secret"}}).launch().ok());
}

TEST(Env, NoticesAreOfOurLauncherOnly) {
  std::map<std::string, std::string> variables = {
      {"IRIS_RANK", "0"}, {"IRIS_WORLD_SIZE", "2"}, {"IRIS_NOTICE_FD", "17"}};
  EXPECT_EQ(envOf(variables).launch()->noticeFd, 17);
  variables["IRIS_NOTICE_FD"] = "-3";
  EXPECT_EQ(envOf(variables).launch()->noticeFd, -1);
  EXPECT_EQ(
      envOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"IRIS_NOTICE_FD", "17"}})
          .launch()
          ->noticeFd,
      -1);
}

TEST(Env, ControlCharactersAreEscaped) {
  const char *escape = "\x1b]0;title\x07";
  Env env =
      envOf({{"RANK", escape}, {"WORLD_SIZE", "2"}, {"IRIS_LOG", escape}});
  for (const std::string &text :
       {env.warning(), env.launch().status().message()}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_NE(text.find("'\\x1b]0;title\\x07'"), std::string::npos) << text;
  }
}

TEST(Env, RendezvousDirectories) {
  using Paths = std::vector<std::string>;
  std::string shared = "/tmp/iris-" + std::to_string(::geteuid());
  EXPECT_EQ(envOf({}).rendezvousDirs(), Paths({shared}));
  EXPECT_EQ(envOf({{"HOME", "/c"}}).rendezvousDirs(),
            Paths({shared, "/c/.cache/iris/rendezvous"}));
  EXPECT_EQ(
      envOf({{"XDG_RUNTIME_DIR", "/tmp"}, {"HOME", "/c"}}).rendezvousDirs(),
      Paths({"/tmp/iris", shared, "/c/.cache/iris/rendezvous"}));
  for (const char *unusable : {"/nowhere", ".", "tmp"})
    EXPECT_EQ(envOf({{"XDG_RUNTIME_DIR", unusable}}).rendezvousDirs(),
              Paths({shared}))
        << unusable;
  EXPECT_EQ(envOf({{"IRIS_RENDEZVOUS_DIR", "/a"}, {"XDG_RUNTIME_DIR", "/tmp"}})
                .rendezvousDirs(),
            Paths({"/a"}));
}

TEST(Env, HostCodeIsRefusedUnlessPlainlyAllowed) {
  EXPECT_FALSE(envOf({}).refuseHostCode());
  EXPECT_FALSE(envOf({{"IRIS_REFUSE_HOST_CODE", "0"}}).refuseHostCode());
  for (const char *value : {"1", "yes", "true", "on"})
    EXPECT_TRUE(envOf({{"IRIS_REFUSE_HOST_CODE", value}}).refuseHostCode());
}

TEST(Env, WrongRanksAreErrors) {
  for (auto [rank, size] :
       {std::pair("2", "2"), std::pair("-1", "2"), std::pair("a", "2"),
        std::pair("0", ""), std::pair("0", "0"), std::pair("0", "65"),
        std::pair("99999999999999999999999", "2")}) {
    Env env = envOf({{"RANK", rank}, {"WORLD_SIZE", size}});
    ASSERT_FALSE(env.launch().ok()) << rank << " of " << size;
    EXPECT_EQ(env.launch().status().code(), StatusCode::invalidArgument);
    EXPECT_NE(env.launch().status().message().find("WORLD_SIZE"),
              std::string::npos);
  }
}

TEST(Env, JobsOfSeveralNodes) {
  Env env = envOf({{"RANK", "2"},
                   {"WORLD_SIZE", "4"},
                   {"LOCAL_WORLD_SIZE", "2"},
                   {"IRIS_RENDEZVOUS_ADDRESS", "node0:29400"},
                   {"IRIS_NODE", "a"}});
  ASSERT_TRUE(env.launch().ok());
  EXPECT_EQ(env.launch()->localSize, 2u);
  EXPECT_EQ(env.launch()->address, "node0:29400");
  EXPECT_EQ(env.launch()->node, "a");
  // A world is limited to one node.
  WorldOptions options;
  options.launch = *env.launch();
  Status status = World::create(options).status();
  EXPECT_EQ(status.code(), StatusCode::unavailable);
  EXPECT_NE(status.message().find("several nodes"), std::string::npos);
}

TEST(Env, Values) {
  Env env = envOf({{"IRIS_LOG", "debug"},
                   {"IRIS_WAIT_LIMIT", "2.5"},
                   {"IRIS_HEAP_SIZE", "2G"}});
  EXPECT_EQ(env.logLevel(), LogLevel::debug);
  EXPECT_EQ(env.waitLimitSeconds(), 2.5);
  EXPECT_EQ(envOf({{"IRIS_EMULATOR_LIMIT", "0"}}).emulatorLimitSeconds(), 0.0);
  EXPECT_EQ(envOf({}).emulatorLimitSeconds(), std::nullopt);
  EXPECT_EQ(envOf({{"IRIS_COLLECTIVE_LIMIT", "7"}}).collectiveLimitSeconds(),
            7);
  EXPECT_EQ(env.heapBytes(), uint64_t(2) << 30);
  EXPECT_EQ(env.warning(), "");
  EXPECT_NE(envOf({{"IRIS_LOG", "loud"}}).warning().find("IRIS_LOG='loud'"),
            std::string::npos);
  EXPECT_NE(envOf({{"IRIS_WAIT_LIMIT", "-1"}}).warning(), "");
}

TEST(Env, OptionsOfNccl) {
  EXPECT_EQ(envOf({}).ncclMaxCtas(), std::nullopt);
  EXPECT_EQ(envOf({}).ncclCommBlocking(), std::nullopt);
  Env env = envOf({{"NCCL_MAX_CTAS", "32"}, {"NCCL_COMM_BLOCKING", "0"}});
  EXPECT_EQ(env.ncclMaxCtas(), 32);
  EXPECT_EQ(env.ncclCommBlocking(), false);
  EXPECT_EQ(env.warning(), "");
  for (const char *wrong : {"0", "-1", "many", "4294967297"}) {
    env = envOf({{"NCCL_MAX_CTAS", wrong}});
    EXPECT_EQ(env.ncclMaxCtas(), std::nullopt);
    EXPECT_EQ(env.warning(), std::string("NCCL_MAX_CTAS='") + wrong +
                                 "' is ignored; expected at least 1");
  }
  EXPECT_EQ(envOf({{"NCCL_COMM_BLOCKING", "2"}}).ncclCommBlocking(),
            std::nullopt);
  EXPECT_EQ(envOf({}).ncclCtaPolicy(), std::nullopt);
  for (const auto &[text, bits] : {std::pair("0", 0),
                                   {"1", 1},
                                   {"ZERO", 2},
                                   {"default", 0},
                                   {"Efficiency|ZERO", 3}})
    EXPECT_EQ(envOf({{"NCCL_CTA_POLICY", text}}).ncclCtaPolicy(), bits);
  for (const char *wrong : {"3", "ZERO|", "|", "FEW", "-1"}) {
    env = envOf({{"NCCL_CTA_POLICY", wrong}});
    EXPECT_EQ(env.ncclCtaPolicy(), std::nullopt) << wrong;
    EXPECT_NE(env.warning(), "");
  }
}

TEST(Env, Tuning) {
  EXPECT_EQ(envOf({}).tune(), std::nullopt);
  for (TuneLevel level : {TuneLevel::off, TuneLevel::quick, TuneLevel::full})
    EXPECT_EQ(envOf({{"IRIS_TUNE", tuneLevelName(level)}}).tune(), level);
  Env env = envOf({{"IRIS_TUNE", "on"}});
  EXPECT_EQ(env.tune(), std::nullopt);
  EXPECT_EQ(env.warning(),
            "IRIS_TUNE='on' is ignored; expected off, quick or full");
}

TEST(Env, KernelCache) {
  Env env = envOf({{"IRIS_CACHE_DIR", "/a"},
                   {"XDG_CACHE_HOME", "/b"},
                   {"HOME", "/c"},
                   {"IRIS_CACHE_BYTES", "64M"},
                   {"IRIS_CHECK_COLLECTIVES", "1"},
                   {"PATH", "/bin"}});
  EXPECT_EQ(env.cacheDir(), "/a");
  EXPECT_EQ(env.cacheBytes(), uint64_t(64) << 20);
  EXPECT_TRUE(env.checkCollectives());
  EXPECT_EQ(env.searchPath(), "/bin");
  EXPECT_EQ(envOf({{"XDG_CACHE_HOME", "/b"}, {"HOME", "/c"}}).cacheDir(),
            "/b/iris");
  EXPECT_EQ(envOf({{"XDG_CACHE_HOME", "b"}, {"HOME", "/c"}}).cacheDir(),
            "/c/.cache/iris");
  EXPECT_EQ(envOf({{"HOME", "c"}}).cacheDir(), "");
  Env relative = envOf({{"IRIS_CACHE_DIR", "a"}, {"HOME", "/c"}});
  EXPECT_EQ(relative.cacheDir(), "/c/.cache/iris");
  EXPECT_NE(relative.warning().find("IRIS_CACHE_DIR='a'"), std::string::npos);
  EXPECT_FALSE(envOf({}).checkCollectives());
  EXPECT_NE(envOf({{"IRIS_CHECK_COLLECTIVES", "yes"}}).warning(), "");
  EXPECT_NE(envOf({{"IRIS_CACHE_BYTES", "lots"}}).warning(), "");
}

TEST(Env, MatmulTable) {
  EXPECT_EQ(envOf({{"IRIS_COST_MODEL", "/a/c"}}).costModel(), "/a/c");
  Env relativeModel = envOf({{"IRIS_COST_MODEL", "c"}});
  EXPECT_EQ(relativeModel.costModel(), "");
  EXPECT_NE(relativeModel.warning().find("IRIS_COST_MODEL='c'"),
            std::string::npos);
  EXPECT_EQ(envOf({{"IRIS_MATMUL_TABLE", "/a/b"}}).matmulTable(), "/a/b");
  EXPECT_EQ(envOf({}).matmulTable(), "");
  Env relative = envOf({{"IRIS_MATMUL_TABLE", "b"}});
  EXPECT_EQ(relative.matmulTable(), "");
  EXPECT_NE(relative.warning().find("IRIS_MATMUL_TABLE='b'"),
            std::string::npos);
}

// What read() looks up is what variables() lists: help and reference show all
// of it, and a variable that names a file is known as such.
TEST(Env, TableListsEveryVariable) {
  std::set<std::string> listed, asked;
  for (const EnvVariable &each : Env::variables())
    EXPECT_TRUE(listed.insert(each.name).second) << each.name;
  auto read = [&](const std::map<std::string, std::string> &set) {
    Env::read([&](const char *name) -> const char * {
      asked.insert(name);
      auto found = set.find(name);
      return found == set.end() ? nullptr : found->second.c_str();
    });
  };
  read({});
  // Each launcher's variables are looked up only where it is the launcher.
  read({{"IRIS_RANK", "0"}, {"IRIS_WORLD_SIZE", "1"}});
  read({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}});
  read({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  read({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}});
  EXPECT_EQ(listed, asked);
  for (const std::string &name : listed)
    EXPECT_NE(Env::describe().find("| `" + name + "` |"), std::string::npos);
}

TEST(Env, ByteSizes) {
  EXPECT_EQ(*parseByteSize("64"), 64u);
  EXPECT_EQ(*parseByteSize("512K"), 512u << 10);
  EXPECT_EQ(*parseByteSize("3m"), 3u << 20);
  EXPECT_EQ(*parseByteSize("1T"), uint64_t(1) << 40);
  for (const char *text : {"", "G", "-1", "1.5G", "12X", "99999999999999T"})
    EXPECT_FALSE(parseByteSize(text).ok()) << text;
}
