// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank of a communicator on several nodes, for namespaces.py.
//
//   iris-nccl-nodes-rank RANK RANKS FOLDER solve|fail
//
// Rank 0 makes the id, in the file FOLDER/id. `solve` checks the results of
// collectives and of sends and receives. `fail` makes calls until one fails:
// prints the error, and succeeds if it is one of a peer. Its first result is
// told by the file FOLDER/started.RANK.
#include "nccl/NcclRanks.h"
#include "support/Hash.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <unistd.h>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

static std::string shareId(int rank, const std::string &folder,
                           ncclUniqueId &id) {
  const std::string path = folder + "/id";
  if (rank == 0) {
    NCCL_TRY(ncclGetUniqueId(&id));
    std::ofstream(path + ".part", std::ios::binary)
        .write(id.internal, sizeof(id.internal));
    return std::rename((path + ".part").c_str(), path.c_str()) == 0
               ? ""
               : "cannot write " + path;
  }
  for (int i = 0; i < 60000; ++i) {
    std::ifstream file(path, std::ios::binary);
    if (file.read(id.internal, sizeof(id.internal)))
      return "";
    ::usleep(1000);
  }
  return "there is no " + path;
}

/// A ring.
static std::string passOn(const NcclRank &rank) {
  const int next = (rank.rank + 1) % rank.size;
  const int last = (rank.rank + rank.size - 1) % rank.size;
  std::vector<uint64_t> in(5003), out(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = hash(static_cast<uint64_t>(rank.rank), i, 0);
  NCCL_TRY(ncclGroupStart());
  NCCL_TRY(
      ncclSend(in.data(), in.size(), ncclUint64, next, rank.comm, nullptr));
  NCCL_TRY(
      ncclRecv(out.data(), out.size(), ncclUint64, last, rank.comm, nullptr));
  NCCL_TRY(ncclGroupEnd());
  for (size_t i = 0; i < out.size(); ++i)
    RANK_CHECK(out[i] == hash(static_cast<uint64_t>(last), i, 0));
  return "";
}

static std::string solveAll(const NcclRank &rank) {
  uint64_t seed = 0;
  for (Op op : {Op::allReduce, Op::reduceScatter, Op::allGather, Op::broadcast,
                Op::reduce, Op::gather, Op::scatter, Op::allToAll})
    for (uint64_t count : {1u, 1009u, 30011u}) {
      Problem p;
      p.op = op;
      p.count = count;
      p.seed = ++seed;
      p.root = static_cast<uint32_t>(seed % static_cast<uint64_t>(rank.size));
      TRY_TEXT(solve(rank, p, seed % 2 == 0 ? InPlace::yes : InPlace::no));
    }
  return passOn(rank);
}

/// Makes calls until one fails.
static std::string runUntilFailure(const NcclRank &rank,
                                   const std::string &folder) {
  std::vector<float> in(100000, 1), out(in.size());
  ncclResult_t result = ncclSuccess;
  for (bool isFirst = true; result == ncclSuccess; isFirst = false) {
    result = ncclAllReduce(in.data(), out.data(), in.size(), ncclFloat32,
                           ncclSum, rank.comm, nullptr);
    if (isFirst && result == ncclSuccess)
      std::ofstream(folder + "/started." + std::to_string(rank.rank)) << "\n";
  }
  const std::string text = ncclGetLastError(nullptr);
  std::printf("%s\n", text.c_str());
  return result == ncclRemoteError ? "" : "another error: " + text;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s RANK RANKS FOLDER solve|fail\n", argv[0]);
    return 2;
  }
  const std::string folder = argv[3];
  // Tests have one of their own for each process; these ranks share one.
  ::setenv("IRIS_RENDEZVOUS_DIR", folder.c_str(), /*overwrite=*/1);
  const bool fails = std::strcmp(argv[4], "fail") == 0;
  NcclRank rank = {nullptr, std::atoi(argv[1]), std::atoi(argv[2])};
  auto body = [&]() -> std::string {
    ncclUniqueId id;
    TRY_TEXT(shareId(rank.rank, folder, id));
    NCCL_TRY(ncclCommInitRank(&rank.comm, rank.size, id, rank.rank));
    TRY_TEXT(fails ? runUntilFailure(rank, folder) : solveAll(rank));
    NCCL_TRY(fails ? ncclCommAbort(rank.comm) : ncclCommDestroy(rank.comm));
    return "";
  };
  const std::string wrong = body();
  if (!wrong.empty())
    std::fprintf(stderr, "rank %d: %s\n", rank.rank, wrong.c_str());
  return wrong.empty() ? 0 : 1;
}
