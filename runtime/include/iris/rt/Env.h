// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The environment, read once.  No other file of the runtime calls getenv.  In a
// process that has more rights than its user (set-user-ID, file capabilities),
// the variables that say what is executed, and where files are, do not count.
#ifndef IRIS_RT_ENV_H
#define IRIS_RT_ENV_H

#include "iris/rt/Status.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::rt {

enum class LogLevel : int32_t { off = 0, error, warning, info, debug };

/// Rank, size and job as a launcher announced them.
struct LaunchInfo {
  /// "iris-run", "torchrun", "Open MPI", "Slurm", or "none" (one rank).
  std::string launcher = "none";
  uint32_t rank = 0;
  uint32_t numRanks = 1;
  /// Which device of the node this rank takes.
  uint32_t localRank = 0;
  /// The same on every rank of the job, and different for every job that may
  /// run at the same time on this machine.
  std::string job;
  /// Secret of the job, 0 when the launcher hands none out.
  uint64_t token = 0;
  /// A socket on which the launcher says that a rank has ended or was stopped
  /// (bootstrap/LauncherNotice.h); -1: there is none.
  int noticeFd = -1;
};

/// Everything the runtime takes from the environment.
class Env {
public:
  using Lookup = std::function<const char *(const char *name)>;

  /// The process's environment, read at the first call.
  static const Env &get();
  /// Reads through `lookup`; for tests.
  static Env read(const Lookup &lookup);

  /// Rank, size and job; a failure when the variables contradict each other.
  /// Looked for in this order: IRIS_RANK, IRIS_WORLD_SIZE, IRIS_JOB
  /// (IRIS_LOCAL_RANK, IRIS_TOKEN, IRIS_NOTICE_FD); OMPI_COMM_WORLD_*; RANK,
  /// WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT, TORCHELASTIC_RUN_ID;
  /// SLURM_*.
  const Expected<LaunchInfo> &launch() const { return launch_; }

  /// IRIS_LOG: off, error, warning, info or debug.
  LogLevel logLevel() const { return logLevel_; }
  /// Where ranks meet: IRIS_RENDEZVOUS_DIR alone, which must be absolute.
  /// Without it, the first of these that is ours alone, or can be created so:
  /// $XDG_RUNTIME_DIR/iris where $XDG_RUNTIME_DIR can be written,
  /// /tmp/iris-<uid>, cacheDir()/rendezvous.
  const std::vector<std::string> &rendezvousDirs() const {
    return rendezvousDirs_;
  }
  /// IRIS_COMPILE: the iris-compile that iris-run and the collectives call; may
  /// be empty.
  const std::string &compiler() const { return compiler_; }
  /// PATH; may be empty.
  const std::string &searchPath() const { return searchPath_; }
  /// IRIS_CACHE_DIR, else $XDG_CACHE_HOME/iris, else $HOME/.cache/iris; empty
  /// where none of them is set.  Always absolute.
  const std::string &cacheDir() const { return cacheDir_; }
  /// IRIS_CACHE_BYTES: most bytes of compiled kernels on disk (suffix K, M, G,
  /// T); 0: none are kept.
  std::optional<uint64_t> cacheBytes() const { return cacheBytes_; }
  /// IRIS_MATMUL_TABLE: the file of tuned matmuls that `iris-bench --tune`
  /// writes; may be empty.  Always absolute.
  const std::string &matmulTable() const { return matmulTable_; }

  /// IRIS_COST_MODEL: a file of JSON that replaces the library's constants for
  /// the choice of kernels (src/ccl/models has those); empty: none. An absolute
  /// path of a file with mode 0600.
  const std::string &costModel() const { return costModel_; }
  /// IRIS_CHECK_COLLECTIVES=1: members compare every call of a communicator.
  bool checkCollectives() const { return checkCollectives_; }
  /// IRIS_REFUSE_HOST_CODE=1: no package's host image or @main is executed.
  bool refuseHostCode() const { return refuseHostCode_; }
  /// IRIS_WAIT_LIMIT: seconds that one wait of a kernel may take; 0: for ever.
  std::optional<double> waitLimitSeconds() const { return waitLimit_; }
  /// IRIS_HEAP_SIZE: bytes of one rank's symmetric heap (suffix K, M, G, T).
  std::optional<uint64_t> heapBytes() const { return heapBytes_; }
  /// IRIS_JOIN_LIMIT: seconds to wait for all ranks to appear.
  std::optional<double> joinLimitSeconds() const { return joinLimit_; }
  /// IRIS_COLLECTIVE_LIMIT: seconds that sync and other collectives may take.
  std::optional<double> collectiveLimitSeconds() const {
    return collectiveLimit_;
  }
  /// CUDA_DEVICE_MAX_CONNECTIONS, the driver's: queues of a device, which all
  /// streams share; none where it has its default, 8.
  std::optional<uint64_t> deviceQueues() const { return deviceQueues_; }
  /// A variable that had to be ignored, or empty; logged by the first world.
  const std::string &complaint() const { return complaint_; }

private:
  Env() : launch_(LaunchInfo()) {}

  Expected<LaunchInfo> launch_;
  LogLevel logLevel_ = LogLevel::warning;
  std::vector<std::string> rendezvousDirs_;
  std::string compiler_, complaint_, searchPath_, cacheDir_, matmulTable_,
      costModel_;
  bool checkCollectives_ = false, refuseHostCode_ = false;
  std::optional<double> waitLimit_, joinLimit_, collectiveLimit_;
  std::optional<uint64_t> heapBytes_, cacheBytes_, deviceQueues_;
};

/// Parses "64", "512K", "16M", "2G", "1T" (powers of 1024).
Expected<uint64_t> parseByteSize(const std::string &text);

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_ENV_H
