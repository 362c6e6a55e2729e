// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Env.h - Environment variables ----------------------------*- C++ -*-===//
//
// Reads the environment once; no other file of the runtime calls getenv. In a
// process with more privileges than its user (set-user-ID, file capabilities),
// variables that name executables, files or directories are ignored.
#ifndef IRIS_RT_ENV_H
#define IRIS_RT_ENV_H

#include "iris/rt/Device.h"
#include "iris/rt/EnvVariable.h"
#include "iris/rt/Status.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::rt {

struct __attribute__((visibility("hidden"))) EnvTable;

/// What the runtime writes to stderr: this and everything more severe.
enum class LogLevel : int32_t { off = 0, error, warning, info, debug };

/// How much is measured on a device to choose kernels.
enum class TuneLevel : int32_t {
  /// Nothing: the cost model chooses.
  off = 0,
  /// A few candidates, for a short time.
  quick,
  /// Many candidates, for longer.
  full,
};

/// Names a level.
/// \param level the level
/// \return "off", "quick" or "full"
const char *tuneLevelName(TuneLevel level);

/// Rank, size and job, as set by a launcher.
struct LaunchInfo {
  /// "iris-run", "torchrun", "Open MPI", "Slurm", or "none" (one rank).
  std::string launcher = "none";
  uint32_t rank = 0;
  uint32_t numRanks = 1;
  /// The device index of this rank on the node.
  uint32_t localRank = 0;
  /// The job's ranks on this rank's node; 0: the launcher does not tell.
  uint32_t localSize = 0;
  /// Equal on all ranks of the job, and unique among the concurrent jobs on
  /// this machine.
  std::string job;
  /// A secret shared by the job; 0 if the launcher sets none.
  uint64_t token = 0;
  /// "HOST:PORT" of rank 0, if the ranks may be on several machines
  /// (IRIS_RENDEZVOUS_ADDRESS); empty: all of them are on this one.
  std::string address;
  /// The name of this rank's node (IRIS_NODE); empty: this machine.
  std::string node;
  /// A socket on which the launcher reports that a rank has ended or was
  /// stopped (bootstrap/LauncherNotice.h); -1: none.
  int noticeFd = -1;
};

/// All settings that the runtime reads from the environment.
class Env {
public:
  /// Returns a variable's value, or null.
  using Lookup = std::function<const char *(const char *name)>;

  /// \return every variable that read() looks up, in the order in which help
  ///   and reference list them
  static const std::vector<EnvVariable> &variables();
  /// \return variables() as a Markdown table
  static std::string describe();

  /// \return the process's environment, read at the first call
  static const Env &get();
  /// Reads variables of another source; for tests.
  /// \param lookup returns a variable's value, or null
  /// \return the settings
  static Env read(const Lookup &lookup);

  /// \return rank, size and job, or an error if the variables contradict each
  ///   other. Searched in this order: IRIS_RANK, IRIS_WORLD_SIZE, IRIS_JOB
  ///   (IRIS_LOCAL_RANK, IRIS_LOCAL_SIZE, IRIS_NOTICE_FD); OMPI_COMM_WORLD_*;
  ///   RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT,
  ///   TORCHELASTIC_RUN_ID; SLURM_*. With any of them IRIS_TOKEN,
  ///   IRIS_RENDEZVOUS_ADDRESS, IRIS_NODE
  const Expected<LaunchInfo> &launch() const { return launch_; }

  /// \return IRIS_LOG: off, error, warning, info or debug
  LogLevel logLevel() const { return logLevel_; }
  /// \return the directories in which ranks find each other:
  ///   IRIS_RENDEZVOUS_DIR only, if set. Otherwise $XDG_RUNTIME_DIR/iris if
  ///   $XDG_RUNTIME_DIR is writable, /tmp/iris-<uid>, cacheDir()/rendezvous: a
  ///   launcher, else rank 0, takes the first that is private to this user or
  ///   can be created so
  const std::vector<std::string> &rendezvousDirs() const {
    return rendezvousDirs_;
  }
  /// \return IRIS_COMPILE: the iris-compile that iris-run and the collectives
  ///   run; may be empty
  const std::string &compiler() const { return compiler_; }
  /// \return IRIS_EMULATOR: the program that emulates AMD devices; may be empty
  const std::string &emulator() const { return emulator_; }
  /// \return IRIS_EMULATOR_LIMIT: the time in seconds for which an emulator may
  ///   answer only pings while a request is pending; 0: unlimited
  std::optional<double> emulatorLimitSeconds() const { return emulatorLimit_; }
  /// \return PATH; may be empty
  const std::string &searchPath() const { return searchPath_; }
  /// \return IRIS_CACHE_DIR, else $XDG_CACHE_HOME/iris, else $HOME/.cache/iris;
  ///   empty if none of them is set. Always absolute
  const std::string &cacheDir() const { return cacheDir_; }
  /// \return IRIS_CACHE_BYTES: the maximum size of compiled kernels on disk in
  ///   bytes; 0: no disk cache
  std::optional<uint64_t> cacheBytes() const { return cacheBytes_; }
  /// \return IRIS_IMAGE_DIR: the folder to which the host images that are
  /// loaded
  ///   are written, for profilers; may be empty. Always absolute
  const std::string &imageDir() const { return imageDir_; }
  /// \return IRIS_MATMUL_TABLE: the file of tuned matmuls that `iris-bench
  ///   --tune` writes; may be empty. Always absolute
  const std::string &matmulTable() const { return matmulTable_; }
  /// \return IRIS_COST_MODEL: a file that replaces the constants of the cost
  ///   models; may be empty. Always absolute
  const std::string &costModel() const { return costModel_; }
  /// \return IRIS_TUNE: off, quick or full; unset: quick for matmuls on CUDA,
  /// else off
  std::optional<TuneLevel> tune() const { return tune_; }
  /// \return IRIS_CHECK_COLLECTIVES=1: ranks compare every call of a
  ///   communicator
  bool checkCollectives() const { return checkCollectives_; }
  /// \return NCCL_MULTI_RANK_GPU_ENABLE=1: several ranks of a communicator of
  ///   libiris_nccl may be on one GPU
  bool ncclMultiRankGpu() const { return ncclMultiRankGpu_; }
  /// \return NCCL_MAX_CTAS: the most programs of libiris_nccl's kernels, in
  ///   place of ncclConfig_t::maxCTAs
  std::optional<int> ncclMaxCtas() const { return ncclMaxCtas_; }
  /// \return NCCL_CTA_POLICY: the bits of ncclConfig_t::CTAPolicy, in its place
  std::optional<int> ncclCtaPolicy() const { return ncclCtaPolicy_; }
  /// \return NCCL_COMM_BLOCKING: whether calls of libiris_nccl wait until their
  ///   work is enqueued, in place of ncclConfig_t::blocking
  std::optional<bool> ncclCommBlocking() const { return ncclCommBlocking_; }
  /// \return IRIS_NCCL=off: libiris_nccl passes every call to ncclLibrary()
  bool ncclIsOff() const { return ncclIsOff_; }
  /// \return IRIS_NCCL_LIBRARY: the library that serves what libiris_nccl does
  ///   not; may be empty. Always absolute
  const std::string &ncclLibrary() const { return ncclLibrary_; }
  /// \return IRIS_NCCL_KERNEL_DIR: a folder of libiris_nccl's kernels; empty:
  ///   none
  const std::string &ncclKernelDir() const { return ncclKernelDir_; }
  /// \return NCCL_COMM_ID: what unique ids are made of; empty: of random
  ///   numbers
  const std::string &ncclCommId() const { return ncclCommId_; }
  /// \return IRIS_NCCL_DEVICE: the kind of device of libiris_nccl's
  ///   communicators; none: the first of cuda, hip and host that this process
  ///   can use
  std::optional<DeviceKind> ncclDevice() const { return ncclDevice_; }
  /// \return IRIS_NODE_ADDRESS: a host name or IP address of this machine, by
  ///   which other machines reach it; empty: unique ids of libiris_nccl are for
  ///   this machine alone
  const std::string &nodeAddress() const { return nodeAddress_; }
  /// \return IRIS_INTERNODE_LIBRARY: the library that moves bytes between
  ///   nodes; may be empty. Always absolute
  const std::string &interNodeLibrary() const { return interNodeLibrary_; }
  /// \return IRIS_REFUSE_HOST_CODE=1: never execute a package's host image or
  ///   @main
  bool refuseHostCode() const { return refuseHostCode_; }
  /// \return IRIS_WAIT_LIMIT: the time limit of one wait in a kernel, in
  ///   seconds; 0: unlimited
  std::optional<double> waitLimitSeconds() const { return waitLimit_; }
  /// \return IRIS_HEAP_SIZE: bytes of one rank's symmetric heap
  std::optional<uint64_t> heapBytes() const { return heapBytes_; }
  /// \return IRIS_IMPORT_SIZE: bytes of addresses for one rank's imports
  std::optional<uint64_t> importBytes() const { return importBytes_; }
  /// \return IRIS_JOIN_LIMIT: the time limit for all ranks to join, in seconds
  std::optional<double> joinLimitSeconds() const { return joinLimit_; }
  /// \return IRIS_COLLECTIVE_LIMIT: the time limit of sync and other
  ///   collectives, in seconds
  std::optional<double> collectiveLimitSeconds() const {
    return collectiveLimit_;
  }
  /// \return CUDA_DEVICE_MAX_CONNECTIONS of the CUDA driver: the number of
  ///   hardware queues of a device, which all streams share. Unset means the
  ///   default, 8
  std::optional<uint64_t> deviceQueues() const { return deviceQueues_; }
  /// \return describes the first ignored variable, or empty; logged by the
  ///   first world
  const std::string &warning() const { return warning_; }

private:
  friend struct EnvTable;
  Env() : launch_(LaunchInfo()) {}

  Expected<LaunchInfo> launch_;
  LogLevel logLevel_ = LogLevel::warning;
  std::vector<std::string> rendezvousDirs_;
  std::string compiler_, emulator_, warning_, searchPath_, cacheDir_, imageDir_,
      matmulTable_, costModel_, ncclLibrary_, ncclKernelDir_, ncclCommId_,
      nodeAddress_, interNodeLibrary_;
  bool checkCollectives_ = false, refuseHostCode_ = false, ncclIsOff_ = false,
       ncclMultiRankGpu_ = false;
  std::optional<bool> ncclCommBlocking_;
  std::optional<int> ncclMaxCtas_, ncclCtaPolicy_;
  std::optional<DeviceKind> ncclDevice_;
  std::optional<TuneLevel> tune_;
  std::optional<double> waitLimit_, joinLimit_, collectiveLimit_,
      emulatorLimit_;
  std::optional<uint64_t> heapBytes_, importBytes_, cacheBytes_, deviceQueues_;
};

/// Parses a number of bytes.
/// \param text "64", "512K", "16M", "2G", "1T" (powers of 1024)
/// \return the number of bytes
/// \retval invalidArgument the text is no such number
Expected<uint64_t> parseByteSize(const std::string &text);

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_ENV_H
