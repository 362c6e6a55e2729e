// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks that use NCCL's API on the host: threads or processes, each with its
// communicator, and operations whose results are checked.
#ifndef IRIS_TEST_RUNTIME_NCCL_NCCLRANKS_H
#define IRIS_TEST_RUNTIME_NCCL_NCCLRANKS_H

#include "support/Ranks.h"
#include "support/ccl/Reference.h"

#include <functional>
#include <gtest/gtest.h>
#include <nccl.h>
#include <string>

namespace iris::rt::test {

/// Inside of a rank's body: returns a description unless the call has the
/// result.
#define NCCL_EXPECT(result, expr)                                              \
  do {                                                                         \
    ncclResult_t got_ = (expr);                                                \
    if (got_ != (result))                                                      \
      return std::string(__FILE__ ":") + std::to_string(__LINE__) +            \
             ": " #expr " returned " + ncclGetErrorString(got_) + " (" +       \
             ncclGetLastError(nullptr) + "); expected " +                      \
             ncclGetErrorString(result);                                       \
  } while (false)
#define NCCL_TRY(expr) NCCL_EXPECT(ncclSuccess, expr)
/// Returns a non-empty description.
#define TRY_TEXT(expr)                                                         \
  do {                                                                         \
    std::string text_ = (expr);                                                \
    if (!text_.empty())                                                        \
      return std::string(__FILE__ ":") + std::to_string(__LINE__) + ": " +     \
             text_;                                                            \
  } while (false)

/// How the ranks of a test run.
enum class RankKind { threads, processes };

/// A rank of a communicator.
struct NcclRank {
  ncclComm_t comm = nullptr;
  int rank = 0, size = 1;
};
using NcclBody = std::function<std::string(NcclRank &)>;

/// Makes an id in another process.
std::string makeId(ncclUniqueId &id);

/// Runs the body on ranks that the test creates and destroys by itself.
/// \param setUp runs first, in each process
std::string onRanks(RankKind kind, int size,
                    const std::function<std::string(ncclUniqueId, int)> &body,
                    const std::function<void()> &setUp = {});
/// Runs the body on a communicator, which is destroyed afterwards.
std::string onComm(RankKind kind, int size, const NcclBody &body);

/// Whether the smaller buffer of a call is part of the larger one.
enum class InPlace { no, yes };

/// Runs a collective and checks its result. A stream that is not null is
/// synchronized.
std::string solve(const NcclRank &rank, const Problem &problem,
                  InPlace inPlace = InPlace::no, void *stream = nullptr);

/// The values of Iris' types and reductions in NCCL's words.
ncclDataType_t ncclTypeOf(ccl::DType dtype);
ncclRedOp_t ncclOpOf(ccl::ReduceOp reduce);

/// Tests that run with 1 to 16 ranks, as threads and as processes.
class NcclRanksTest
    : public ::testing::TestWithParam<std::tuple<RankKind, int>> {
protected:
  RankKind kind() const { return std::get<0>(GetParam()); }
  int size() const { return std::get<1>(GetParam()); }
};
#define NCCL_ON_RANKS(Suite, ...)                                              \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      , Suite,                                                                 \
      ::testing::Combine(                                                      \
          ::testing::Values(RankKind::threads, RankKind::processes),           \
          ::testing::Values(__VA_ARGS__)),                                     \
      [](const auto &info) {                                                   \
        return (std::get<0>(info.param) == RankKind::threads ? "Threads"       \
                                                             : "Processes") +  \
               std::to_string(std::get<1>(info.param));                        \
      })

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_NCCL_NCCLRANKS_H
