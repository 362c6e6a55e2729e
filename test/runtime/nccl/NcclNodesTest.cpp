// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unique ids for ranks on several machines. Nodes are declared by IRIS_NODE.
#include "support/Ranks.h"
#include "support/Shared.h"

#include <gtest/gtest.h>
#include <nccl.h>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <netinet/in.h>
#include <sys/socket.h>
#include <type_traits>
#include <unistd.h>

using namespace iris::rt;
using namespace iris::rt::test;

/// Creates a communicator and runs `use`; the reason if that fails.
static std::string
create(const LaunchInfo &launch, const std::string &node, const char *address,
       SharedValue<ncclUniqueId> &shared, const char *device = "host",
       const std::function<std::string(ncclComm_t)> &use = {}) {
  // The environment is read at the first call.
  ::setenv("IRIS_NCCL_DEVICE", device, 1);
  ::setenv("IRIS_NODE", node.c_str(), 1);
  ::setenv("IRIS_JOIN_LIMIT", "20", 1);
  ::setenv("IRIS_COLLECTIVE_LIMIT", "20", 1);
  ::setenv("IRIS_NODE_ADDRESS", address, 1);
  if (launch.rank == 0) {
    ncclUniqueId id;
    if (ncclGetUniqueId(&id) != ncclSuccess)
      return ncclGetLastError(nullptr);
    shared.set(id);
  }
  ncclComm_t comm = nullptr;
  if (ncclCommInitRank(&comm, static_cast<int>(launch.numRanks), shared.get(),
                       static_cast<int>(launch.rank)) != ncclSuccess)
    return ncclGetLastError(nullptr);
  int count = 0, rank = -1;
  if (ncclCommCount(comm, &count) != ncclSuccess ||
      ncclCommUserRank(comm, &rank) != ncclSuccess ||
      count != static_cast<int>(launch.numRanks) ||
      rank != static_cast<int>(launch.rank))
    return "another rank";
  const std::string wrong = use ? use(comm) : "";
  if (!wrong.empty())
    return wrong;
  return ncclCommDestroy(comm) == ncclSuccess ? "" : ncclGetLastError(nullptr);
}

TEST(NcclNodes, RanksMeetAtTheAddressOfTheId) {
  for (uint32_t numRanks : {1u, 2u, 4u, 8u}) {
    SharedValue<ncclUniqueId> id;
    auto body = [&](const LaunchInfo &launch) -> std::string {
      return create(launch, "one", "127.0.0.1", id);
    };
    EXPECT_EQ("", failures(runProcesses(numRanks, body))) << numRanks;
  }
}

/// An address of this machine at which no process listens now.
static std::string freeAddress() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto *any = reinterpret_cast<sockaddr *>(&address);
  EXPECT_EQ(0, ::bind(fd, any, size));
  EXPECT_EQ(0, ::getsockname(fd, any, &size));
  ::close(fd);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

/// Each rank makes the id of NCCL_COMM_ID, for each of some communicators.
static std::string createOfKnownId(const LaunchInfo &launch,
                                   const std::string &address,
                                   const char *token, const char *limit) {
  ::setenv("NCCL_COMM_ID", address.c_str(), 1);
  ::setenv("IRIS_NODE_ADDRESS", "127.0.0.1", 1);
  ::setenv("IRIS_NODE", "one", 1);
  ::setenv("IRIS_NCCL_DEVICE", "host", 1);
  ::setenv("IRIS_JOIN_LIMIT", limit, 1);
  if (token)
    ::setenv("IRIS_TOKEN", token, 1);
  for (int repetition = 0; repetition < 3; ++repetition) {
    ncclUniqueId id;
    if (ncclResult_t result = ncclGetUniqueId(&id))
      return std::to_string(result) + ": " + ncclGetLastError(nullptr);
    ncclComm_t comm = nullptr;
    if (ncclCommInitRank(&comm, static_cast<int>(launch.numRanks), id,
                         static_cast<int>(launch.rank)) != ncclSuccess ||
        ncclCommDestroy(comm) != ncclSuccess)
      return ncclGetLastError(nullptr);
  }
  return "";
}

TEST(NcclNodes, KnownIdsHaveASecret) {
  const std::string address = freeAddress();
  for (uint32_t numRanks : {1u, 3u}) {
    auto body = [&](const LaunchInfo &launch) {
      return createOfKnownId(launch, address, "600df00d", "20");
    };
    EXPECT_EQ("", failures(runProcesses(numRanks, body))) << numRanks;
  }
}

TEST(NcclNodes, KnownIdsNeedASecret) {
  auto body = [&](const LaunchInfo &launch) -> std::string {
    ::unsetenv("IRIS_TOKEN");
    const std::string text =
        createOfKnownId(launch, "127.0.0.1:1", nullptr, "20");
    const bool isExpected =
        text.find(std::to_string(ncclInvalidUsage) + ": ") == 0 &&
        text.find("set IRIS_TOKEN on every rank") != std::string::npos;
    return isExpected ? "" : "another error: " + text;
  };
  EXPECT_EQ("", failures(runProcesses(2, body)));
}

TEST(NcclNodes, KnownIdsOfOtherSecretsAreRefused) {
  const std::string address = freeAddress();
  auto body = [&](const LaunchInfo &launch) -> std::string {
    const std::string text = createOfKnownId(
        launch, address, launch.rank == 0 ? "600df00d" : "bad", "3");
    return text.find("token") != std::string::npos ||
                   text.find("rank 1") != std::string::npos
               ? ""
               : "another error: " + text;
  };
  EXPECT_EQ("", failures(runProcesses(2, body)));
}

TEST(NcclNodes, AMissingEngineIsAnErrorOfEveryRank) {
  SharedValue<ncclUniqueId> id;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    if (launch.rank == 2)
      ::setenv("IRIS_INTERNODE_LIBRARY", "/nowhere/libengine.so", 1);
    const std::string text =
        create(launch, launch.rank < 2 ? "a" : "b", "127.0.0.1", id);
    if (text.find("engine between nodes") == std::string::npos)
      return "no error: " + text;
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(3, body)));
}

TEST(NcclNodes, ANodeHasAtMostSixteenRanks) {
  SharedValue<ncclUniqueId> id;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    const std::string text =
        create(launch, launch.rank == 3 ? "a" : "b", "127.0.0.1", id);
    if (text.find("17 ranks of the communicator are on node 0") ==
        std::string::npos)
      return "no error: " + text;
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(18, body)));
}

static bool isWithoutGpu(const std::string &text) {
  return text.find("unavailable: ") != std::string::npos &&
         text.find("engine between nodes") == std::string::npos;
}

/// Creates communicators of GPUs on two nodes; the reason of each rank. Skipped
/// without a GPU and without the fake driver, which ctest provides.
static std::vector<std::string> onGpus(const char *library,
                                       const std::string &nodes) {
  SharedValue<ncclUniqueId> id;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    ::setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
    if (library)
      ::setenv("IRIS_INTERNODE_LIBRARY", library, 1);
    return create(launch, nodes.substr(launch.rank, 1), "127.0.0.1", id,
                  "cuda");
  };
  std::vector<std::string> texts;
  for (const RankEnd &end :
       runProcesses(static_cast<uint32_t>(nodes.size()), body))
    texts.push_back(end.exited ? end.text : "killed");
  return texts;
}

TEST(NcclNodes, GpusOfSeveralNodesNeedNccl) {
  // This library has NCCL's name in this process.
  for (auto [library, reason] :
       {std::pair<const char *, const char *>(
            nullptr, "is libiris_nccl; expected NCCL, whose absolute path "
                     "IRIS_INTERNODE_LIBRARY names"),
        {"/nowhere/libnccl.so.2", "install NCCL, or name it in"},
        {"/lib/x86_64-linux-gnu/libm.so.6", "lacks functions of NCCL 2.14"}})
    for (const std::string &text : onGpus(library, "aab")) {
      if (isWithoutGpu(text))
        GTEST_SKIP() << text;
      EXPECT_NE(text.find(reason), std::string::npos) << text;
    }
}

/// A stream of the first device, which is current from then on.
static cudaStream_t streamOfDriver() {
  void *driver = ::dlopen("libcuda.so.1", RTLD_NOW);
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(
        ::dlsym(driver, name));
  };
  int (*retain)(void **, int), (*setCurrent)(void *),
      (*create)(cudaStream_t *, unsigned);
  find(retain, "cuDevicePrimaryCtxRetain");
  find(setCurrent, "cuCtxSetCurrent");
  find(create, "cuStreamCreate");
  void *context = nullptr;
  cudaStream_t stream = nullptr;
  if (retain(&context, 0) != 0 || setCurrent(context) != 0 ||
      create(&stream, /*non-blocking*/ 1) != 0)
    return nullptr;
  return stream;
}

/// With a library for NCCL that does nothing, which the variable names, and
/// which the program has loaded, as PyTorch does: its calls by name reach Iris.
static void useNcclBetweenNodes(const char *variable) {
  SharedValue<ncclUniqueId> id;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    ::setenv(variable, IRIS_TEST_FAKE_NCCL, 1);
    if (!::dlopen(IRIS_TEST_FAKE_NCCL, RTLD_NOW))
      return ::dlerror();
    return create(launch, launch.rank == 0 ? "a" : "b", "127.0.0.1", id, "cuda",
                  [](ncclComm_t comm) -> std::string {
                    void *fake = ::dlopen(IRIS_TEST_FAKE_NCCL, RTLD_NOW);
                    auto calls = reinterpret_cast<decltype(&ncclGetLastError)>(
                        ::dlsym(fake, "ncclGetLastError"));
                    char bytes[64];
                    if (ncclAllReduce(bytes, bytes + 32, 8, ncclFloat32,
                                      ncclSum, comm,
                                      streamOfDriver()) != ncclSuccess)
                      return ncclGetLastError(nullptr);
                    const std::string text = calls(nullptr);
                    for (const char *expected :
                         {"ncclCommInitRank ncclGroupStart ncclSend "
                          "ncclCommGetAsyncError ncclRecv ncclGroupEnd ",
                          " ncclAllReduce "})
                      if (text.find(expected) == std::string::npos)
                        return "other calls: " + text;
                    return "";
                  });
  };
  for (const RankEnd &end : runProcesses(2, body)) {
    if (isWithoutGpu(end.text))
      GTEST_SKIP() << end.text;
    EXPECT_EQ("", end.text) << variable;
  }
}

/// Its own communicators are no calls of the program's.
TEST(NcclNodes, GpusOfSeveralNodesUseNccl) {
  useNcclBetweenNodes("IRIS_INTERNODE_LIBRARY");
  if (!IsSkipped())
    useNcclBetweenNodes("IRIS_NCCL_LIBRARY");
}

/// NCCL fails on one rank, as it does when the device fails.
TEST(NcclNodes, GpusOfSeveralNodesReportErrorsOfTheDevice) {
  SharedValue<ncclUniqueId> id;
  auto use = [](ncclComm_t comm, bool isFailing) -> std::string {
    float data[4] = {};
    if (isFailing && ncclAllReduce(data, data, 4, ncclFloat32, ncclSum, comm,
                                   streamOfDriver()) != ncclUnhandledCudaError)
      return std::string("another result: ") + ncclGetLastError(nullptr);
    ncclResult_t error = ncclSuccess;
    while (error == ncclSuccess)
      if (ncclCommGetAsyncError(comm, &error) != ncclSuccess)
        return ncclGetLastError(nullptr);
    const bool isExpected =
        error == (isFailing ? ncclUnhandledCudaError : ncclRemoteError);
    return isExpected ? "" : ncclGetLastError(nullptr);
  };
  auto body = [&](const LaunchInfo &launch) -> std::string {
    ::setenv("IRIS_INTERNODE_LIBRARY", IRIS_TEST_FAKE_NCCL, 1);
    const bool isFailing = launch.rank == 1;
    if (isFailing)
      ::setenv("IRIS_FAKE_NCCL_FAILS", "ncclAllReduce", 1);
    return create(launch, isFailing ? "b" : "a", "127.0.0.1", id, "cuda",
                  [&](ncclComm_t comm) { return use(comm, isFailing); });
  };
  for (const RankEnd &end : runProcesses(2, body)) {
    if (isWithoutGpu(end.text))
      GTEST_SKIP() << end.text;
    EXPECT_EQ("", end.text);
  }
}

TEST(NcclNodes, AddressesOfOtherMachinesAreRefused) {
  SharedValue<ncclUniqueId> id;
  auto body = [&](const LaunchInfo &launch) -> std::string {
    // Of documentation (RFC 5737): no machine has it.
    const std::string text = create(launch, "a", "192.0.2.1", id);
    if (text.find("192.0.2.1") == std::string::npos)
      return "no error: " + text;
    return "";
  };
  EXPECT_EQ("", failures(runProcesses(1, body)));
}

TEST(NcclNodes, RankZeroIsInTheProcessThatMadeTheId) {
  SharedValue<ncclUniqueId> id;
  auto body = [&](const LaunchInfo &given) -> std::string {
    LaunchInfo launch = given;
    launch.numRanks = 2;
    if (launch.rank == 2) { // makes the id, and waits for the end of rank 0
      ::setenv("IRIS_NODE_ADDRESS", "127.0.0.1", 1);
      ncclUniqueId made;
      if (ncclGetUniqueId(&made) != ncclSuccess)
        return ncclGetLastError(nullptr);
      id.set(made);
      ::sleep(4);
      return "";
    }
    ::setenv("IRIS_NCCL_DEVICE", "host", 1);
    ::setenv("IRIS_JOIN_LIMIT", "2", 1);
    ncclComm_t comm = nullptr;
    const ncclResult_t result =
        ncclCommInitRank(&comm, 2, id.get(), static_cast<int>(launch.rank));
    const std::string text = ncclGetLastError(nullptr);
    return result != ncclSuccess ? "" : "no error: " + text;
  };
  EXPECT_EQ("", failures(runProcesses(3, body)));
}
