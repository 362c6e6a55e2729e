// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Env.cpp - Environment variables ------------------------------------===//
#include "iris/rt/Env.h"

#include "iris-c/RuntimeABI.h"

#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <unistd.h>

using namespace iris::rt;

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

/// Parses all of `text` as a decimal number.
static std::optional<uint64_t> parseNumber(const std::string &text) {
  if (text.empty() || text.size() > 20)
    return std::nullopt;
  for (char c : text)
    if (c < '0' || c > '9')
      return std::nullopt;
  errno = 0;
  uint64_t value = std::strtoull(text.c_str(), nullptr, 10);
  if (errno != 0)
    return std::nullopt;
  return value;
}

/// Parses a token in hexadecimal. Messages never quote it, because it is a
/// secret.
static std::optional<uint64_t> parseToken(const std::string &text) {
  if (text.empty() || text.size() > 16 ||
      text.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
    return std::nullopt;
  return std::strtoull(text.c_str(), nullptr, 16);
}

static std::optional<double> parseSeconds(const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value) || value < 0 ||
      value > 1e9)
    return std::nullopt;
  return value;
}

Expected<uint64_t> iris::rt::parseByteSize(const std::string &text) {
  std::string digits = text;
  unsigned shift = 0;
  if (!digits.empty()) {
    switch (digits.back()) {
    case 'K':
    case 'k':
      shift = 10;
      break;
    case 'M':
    case 'm':
      shift = 20;
      break;
    case 'G':
    case 'g':
      shift = 30;
      break;
    case 'T':
    case 't':
      shift = 40;
      break;
    default:
      break;
    }
    if (shift != 0)
      digits.pop_back();
  }
  std::optional<uint64_t> value = parseNumber(digits);
  if (!value || (*value << shift) >> shift != *value)
    return makeStatus(StatusCode::invalidArgument,
                      "'%s' is not a size; expected digits and one of K, M, "
                      "G, T, such as 512M",
                      text.c_str());
  return *value << shift;
}

//===----------------------------------------------------------------------===//
// Launchers
//===----------------------------------------------------------------------===//

namespace {
/// The variable names of one launcher.
struct LauncherNames {
  const char *launcher;
  const char *rank;
  const char *size;
  const char *localRank;
  const char *localSize; ///< ranks on this node
};
} // namespace

// torchrun comes after Open MPI: a job started by mpirun may also set RANK for
// its Python processes, with the same value.
static const LauncherNames launcherTable[] = {
    {"iris-run", "IRIS_RANK", "IRIS_WORLD_SIZE", "IRIS_LOCAL_RANK",
     "IRIS_LOCAL_SIZE"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID",
     "SLURM_NTASKS_PER_NODE"},
};

static std::string jobOf(const std::string &launcher,
                         const std::function<std::string(const char *)> &var) {
  if (launcher == "iris-run")
    return "iris-run:" + var("IRIS_JOB");
  if (launcher == "Open MPI") {
    std::string id = var("PMIX_NAMESPACE");
    if (id.empty())
      id = var("OMPI_MCA_ess_base_jobid");
    return "mpi:" + id;
  }
  if (launcher == "torchrun")
    return "torchrun:" + var("MASTER_ADDR") + ":" + var("MASTER_PORT") + ":" +
           var("TORCHELASTIC_RUN_ID") + ":" + var("TORCHELASTIC_RESTART_COUNT");
  return "slurm:" + var("SLURM_JOB_ID") + "." + var("SLURM_STEP_ID");
}

static Expected<LaunchInfo>
readLaunch(const std::function<std::string(const char *)> &var) {
  for (const LauncherNames &names : launcherTable) {
    std::string rankText = var(names.rank), sizeText = var(names.size);
    if (rankText.empty() && sizeText.empty())
      continue;
    // A login shell in a Slurm allocation has SLURM_NTASKS but no rank.
    if (rankText.empty() && std::string(names.launcher) == "Slurm")
      continue;
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
                        "%s=%s is more than the %d ranks that one world may "
                        "have",
                        names.size, sizeText.c_str(), IRISRT_MAX_RANKS);
    std::optional<uint64_t> localSize = parseNumber(var(names.localSize));
    if (localSize && *localSize < *size)
      return makeStatus(
          StatusCode::unavailable,
          "the job's %s ranks are on several nodes (%s=%llu), "
          "but a world is limited to one; start the job on one node",
          sizeText.c_str(), names.localSize,
          static_cast<unsigned long long>(*localSize));
    LaunchInfo info;
    info.launcher = names.launcher;
    info.rank = static_cast<uint32_t>(*rank);
    info.numRanks = static_cast<uint32_t>(*size);
    std::optional<uint64_t> local = parseNumber(var(names.localRank));
    info.localRank = static_cast<uint32_t>(local ? *local : *rank);
    info.job = jobOf(info.launcher, var);
    if (std::string text = var("IRIS_TOKEN"); !text.empty()) {
      std::optional<uint64_t> token = parseToken(text);
      if (!token)
        return makeStatus(StatusCode::invalidArgument,
                          "IRIS_TOKEN has %zu characters; expected 1 to 16 "
                          "hexadecimal digits, the same on every rank of the "
                          "job",
                          text.size());
      info.token = *token;
    }
    std::optional<uint64_t> notice = parseNumber(var("IRIS_NOTICE_FD"));
    if (info.launcher == "iris-run" && notice && *notice <= INT_MAX)
      info.noticeFd = static_cast<int>(*notice);
    return info;
  }
  LaunchInfo alone;
  alone.job = "alone:" + std::to_string(::getpid());
  return alone;
}

//===----------------------------------------------------------------------===//
// Env
//===----------------------------------------------------------------------===//

static LogLevel parseLogLevel(const std::string &text, bool &known) {
  known = true;
  if (text == "off")
    return LogLevel::off;
  if (text == "error")
    return LogLevel::error;
  if (text == "info")
    return LogLevel::info;
  if (text == "debug")
    return LogLevel::debug;
  known = text.empty() || text == "warning";
  return LogLevel::warning;
}

Env Env::read(const Lookup &lookup) {
  auto var = [&](const char *name) {
    const char *value = lookup(name);
    return std::string(value ? value : "");
  };
  Env env;
  auto warn = [&](const char *name, const std::string &value,
                  const char *expected) {
    if (env.warning_.empty())
      env.warning_ = std::string(name) + "='" + escapeControls(value) +
                     "' is ignored; expected " + expected;
  };

  env.launch_ = readLaunch(var);

  bool known = false;
  std::string text = var("IRIS_LOG");
  env.logLevel_ = parseLogLevel(text, known);
  if (!known)
    warn("IRIS_LOG", text, "off, error, warning, info or debug");

  env.compiler_ = var("IRIS_COMPILE");
  env.emulator_ = var("IRIS_EMULATOR");
  env.searchPath_ = var("PATH");

  // A relative path would denote a different directory in each process.
  std::string cacheHome = var("XDG_CACHE_HOME"), home = var("HOME");
  env.cacheDir_ = var("IRIS_CACHE_DIR");
  if (!env.cacheDir_.empty() && env.cacheDir_[0] != '/') {
    warn("IRIS_CACHE_DIR", env.cacheDir_, "an absolute path");
    env.cacheDir_.clear();
  }
  if (env.cacheDir_.empty() && cacheHome[0] == '/')
    env.cacheDir_ = cacheHome + "/iris";
  if (env.cacheDir_.empty() && home[0] == '/')
    env.cacheDir_ = home + "/.cache/iris";

  if (std::string named = var("IRIS_RENDEZVOUS_DIR"); !named.empty()) {
    env.rendezvousDirs_ = {named};
  } else {
    // Containers often set it to a directory that does not exist.
    std::string runtimeDir = var("XDG_RUNTIME_DIR");
    if (runtimeDir[0] == '/' && ::access(runtimeDir.c_str(), W_OK | X_OK) == 0)
      env.rendezvousDirs_.push_back(runtimeDir + "/iris");
    env.rendezvousDirs_.push_back("/tmp/iris-" + std::to_string(::geteuid()));
    // The fallback if another user has created the directory in /tmp.
    if (!env.cacheDir_.empty())
      env.rendezvousDirs_.push_back(env.cacheDir_ + "/rendezvous");
  }

  env.matmulTable_ = var("IRIS_MATMUL_TABLE");
  if (!env.matmulTable_.empty() && env.matmulTable_[0] != '/') {
    warn("IRIS_MATMUL_TABLE", env.matmulTable_, "an absolute path");
    env.matmulTable_.clear();
  }

  env.costModel_ = var("IRIS_COST_MODEL");
  if (!env.costModel_.empty() && env.costModel_[0] != '/') {
    warn("IRIS_COST_MODEL", env.costModel_, "an absolute path");
    env.costModel_.clear();
  }

  auto flag = [&](const char *name) {
    std::string value = var(name);
    if (!value.empty() && value != "0" && value != "1")
      warn(name, value, "0 or 1");
    return value == "1";
  };
  env.checkCollectives_ = flag("IRIS_CHECK_COLLECTIVES");
  // A misspelled value must not permit what it was meant to refuse.
  text = var("IRIS_REFUSE_HOST_CODE");
  env.refuseHostCode_ = !text.empty() && text != "0";

  auto seconds = [&](const char *name, std::optional<double> &to) {
    std::string value = var(name);
    if (value.empty())
      return;
    to = parseSeconds(value);
    if (!to)
      warn(name, value, "seconds");
  };
  seconds("IRIS_WAIT_LIMIT", env.waitLimit_);
  seconds("IRIS_JOIN_LIMIT", env.joinLimit_);
  seconds("IRIS_COLLECTIVE_LIMIT", env.collectiveLimit_);
  seconds("IRIS_EMULATOR_LIMIT", env.emulatorLimit_);

  auto size = [&](const char *name, std::optional<uint64_t> &to) {
    std::string value = var(name);
    if (value.empty())
      return;
    Expected<uint64_t> bytes = parseByteSize(value);
    if (bytes.ok())
      to = *bytes;
    else
      warn(name, value, "a size such as 512M");
  };
  size("IRIS_HEAP_SIZE", env.heapBytes_);
  size("IRIS_CACHE_BYTES", env.cacheBytes_);
  // The driver handles invalid values itself.
  env.deviceQueues_ = parseNumber(var("CUDA_DEVICE_MAX_CONNECTIONS"));
  return env;
}

/// Whether the variable names an executable, a file or a directory.
static bool namesFile(std::string_view name) {
  for (const EnvVariable &each : Env::variables())
    if (name == each.name)
      return each.namesFile;
  return true;
}

const Env &Env::get() {
  // Rank, size and limits are read in any process: a rank that ignored them
  // would silently run alone.
  static const Env env = read([](const char *name) {
    return namesFile(name) ? ::secure_getenv(name) : std::getenv(name);
  });
  return env;
}
