// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EnvLaunch.cpp - Variables of launchers -----------------------------===//
#include "core/EnvTable.h"

#include "iris-c/RuntimeABI.h"

#include <climits>
#include <cstdlib>
#include <unistd.h>

using namespace iris::rt;

/// Parses a token in hexadecimal. Messages never quote it, because it is a
/// secret.
static std::optional<uint64_t> parseToken(const std::string &text) {
  if (text.empty() || text.size() > 16 ||
      text.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
    return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 16);
}

namespace {
/// The variables of one launcher.
struct LauncherNames {
  const char *launcher;
  const char *rank;
  const char *size;
  const char *localRank;
  const char *localSize; ///< ranks on this node
  /// The name of the job, equal on all ranks.
  std::string (*jobOf)(const EnvLookup &var);
  /// Processes that are no ranks may have `size`.
  bool shellHasSize = false;
  /// Reports ended ranks on IRIS_NOTICE_FD.
  bool hasNotices = false;
};
} // namespace

static std::string irisRunJob(const EnvLookup &var) {
  return "iris-run:" + var("IRIS_JOB");
}

static std::string openMpiJob(const EnvLookup &var) {
  std::string id = var("PMIX_NAMESPACE");
  return "mpi:" + (id.empty() ? var("OMPI_MCA_ess_base_jobid") : id);
}

static std::string torchrunJob(const EnvLookup &var) {
  return "torchrun:" + var("MASTER_ADDR") + ":" + var("MASTER_PORT") + ":" +
         var("TORCHELASTIC_RUN_ID") + ":" + var("TORCHELASTIC_RESTART_COUNT");
}

static std::string slurmJob(const EnvLookup &var) {
  return "slurm:" + var("SLURM_JOB_ID") + "." + var("SLURM_STEP_ID");
}

// torchrun comes after Open MPI: a job started by mpirun may also set RANK for
// its Python processes, with the same value.
static const LauncherNames launcherTable[] = {
    {"iris-run", "IRIS_RANK", "IRIS_WORLD_SIZE", "IRIS_LOCAL_RANK",
     "IRIS_LOCAL_SIZE", irisRunJob, /*shellHasSize=*/false,
     /*hasNotices=*/true},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", openMpiJob},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
     torchrunJob},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID",
     "SLURM_NTASKS_PER_NODE", slurmJob, /*shellHasSize=*/true},
};

/// Parses and checks the rank, the size and the local size of one launcher.
static Status readRank(const LauncherNames &names, const EnvLookup &var,
                       LaunchInfo &info) {
  const std::string rankText = var(names.rank), sizeText = var(names.size);
  std::optional<uint64_t> rank = parseNumber(rankText);
  std::optional<uint64_t> size = parseNumber(sizeText);
  if (!rank || !size || *size == 0 || *rank >= *size)
    return makeStatus(StatusCode::invalidArgument,
                      "%s='%s' and %s='%s' (%s) are not a rank and a world "
                      "size; expected 0 <= rank < size",
                      names.rank, rankText.c_str(), names.size,
                      sizeText.c_str(), names.launcher);
  if (*size > IRISRT_MAX_RANKS)
    return makeStatus(StatusCode::invalidArgument,
                      "%s=%s is more than the %d ranks that one world may have",
                      names.size, sizeText.c_str(), IRISRT_MAX_RANKS);
  info.launcher = names.launcher;
  info.rank = static_cast<uint32_t>(*rank);
  info.numRanks = static_cast<uint32_t>(*size);
  std::optional<uint64_t> local = parseNumber(var(names.localRank));
  info.localRank = static_cast<uint32_t>(local ? *local : *rank);
  std::optional<uint64_t> localSize = parseNumber(var(names.localSize));
  if (localSize && *localSize <= *size)
    info.localSize = static_cast<uint32_t>(*localSize);
  return Status::success();
}

static Status readToken(const EnvLookup &var, LaunchInfo &info) {
  const std::string text = var("IRIS_TOKEN");
  if (text.empty())
    return Status::success();
  std::optional<uint64_t> token = parseToken(text);
  if (!token)
    return makeStatus(StatusCode::invalidArgument,
                      "IRIS_TOKEN has %zu characters; expected 1 to 16 "
                      "hexadecimal digits, the same on every rank of the job",
                      text.size());
  info.token = *token;
  return Status::success();
}

/// The launcher that started this process; null if none did.
static const LauncherNames *findLauncher(const EnvLookup &var) {
  for (const LauncherNames &names : launcherTable) {
    bool hasRank = !var(names.rank).empty(), hasSize = !var(names.size).empty();
    // A login shell in a Slurm allocation has SLURM_NTASKS but no rank.
    if (hasRank || (hasSize && !names.shellHasSize))
      return &names;
  }
  return nullptr;
}

Expected<LaunchInfo> iris::rt::readLaunch(const EnvLookup &var) {
  LaunchInfo info;
  info.node = var("IRIS_NODE");
  IRISRT_RETURN_IF_ERROR(readToken(var, info));
  const LauncherNames *names = findLauncher(var);
  if (!names) {
    info.job = "alone:" + std::to_string(::getpid());
    return info;
  }
  IRISRT_RETURN_IF_ERROR(readRank(*names, var, info));
  info.job = names->jobOf(var);
  info.address = var("IRIS_RENDEZVOUS_ADDRESS");
  std::optional<uint64_t> notice = parseNumber(var("IRIS_NOTICE_FD"));
  if (names->hasNotices && notice && *notice <= INT_MAX)
    info.noticeFd = static_cast<int>(*notice);
  return info;
}
