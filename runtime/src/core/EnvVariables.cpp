// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EnvVariables.cpp - Table of environment variables ------------------===//
#include "core/EnvTable.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <strings.h>

using namespace iris::rt;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<uint64_t> iris::rt::parseNumber(const std::string &text) {
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

static std::optional<uint64_t> parseBytes(const std::string &text) {
  Expected<uint64_t> bytes = parseByteSize(text);
  return bytes.ok() ? std::optional<uint64_t>(*bytes) : std::nullopt;
}

static std::optional<double> parseSeconds(const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value) || value < 0 ||
      value > 1e9)
    return std::nullopt;
  return value;
}

static std::optional<LogLevel> parseLogLevel(const std::string &text) {
  static const std::pair<const char *, LogLevel> levels[] = {
      {"off", LogLevel::off},
      {"error", LogLevel::error},
      {"warning", LogLevel::warning},
      {"info", LogLevel::info},
      {"debug", LogLevel::debug}};
  for (const auto &[name, level] : levels)
    if (text == name)
      return level;
  return std::nullopt;
}

const char *iris::rt::tuneLevelName(TuneLevel level) {
  switch (level) {
  case TuneLevel::off:
    return "off";
  case TuneLevel::quick:
    return "quick";
  case TuneLevel::full:
    return "full";
  }
  return "unknown";
}

/// Twice optional: the field is unset by default.
static std::optional<std::optional<TuneLevel>>
parseTune(const std::string &text) {
  for (TuneLevel level : {TuneLevel::off, TuneLevel::quick, TuneLevel::full})
    if (text == tuneLevelName(level))
      return std::optional<TuneLevel>(level);
  return std::nullopt;
}

static std::optional<bool> parseFlag(const std::string &text) {
  if (text != "0" && text != "1")
    return std::nullopt;
  return text == "1";
}

/// Twice optional, as parseTune().
static std::optional<std::optional<bool>>
parseOptionalFlag(const std::string &text) {
  std::optional<bool> flag = parseFlag(text);
  return flag ? std::optional<std::optional<bool>>(flag) : std::nullopt;
}

static std::optional<std::optional<int>>
parsePrograms(const std::string &text) {
  std::optional<uint64_t> number = parseNumber(text);
  if (!number || *number < 1 || *number > INT_MAX)
    return std::nullopt;
  return std::optional<int>(static_cast<int>(*number));
}

/// NCCL's names, joined by '|', or the number of one; NCCL ignores the case.
static std::optional<std::optional<int>>
parseCtaPolicy(const std::string &text) {
  static const char *const names[] = {"DEFAULT", "EFFICIENCY", "ZERO"};
  int policy = 0;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find('|', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    int value = 0;
    while (value < 3 && strcasecmp(word.c_str(), names[value]) != 0 &&
           word != std::to_string(value))
      ++value;
    if (value == 3)
      return std::nullopt;
    policy |= value;
    begin = end + 1;
  }
  return std::optional<int>(policy);
}

/// "off" or "on".
static std::optional<bool> parseOff(const std::string &text) {
  if (text != "off" && text != "on")
    return std::nullopt;
  return text == "off";
}

static std::optional<DeviceKind> parseKind(const std::string &text) {
  for (DeviceKind kind : {DeviceKind::host, DeviceKind::hip, DeviceKind::cuda})
    if (text == deviceKindName(kind))
      return kind;
  return std::nullopt;
}

/// A misspelled value must not permit what it was meant to refuse.
static std::optional<bool> parseRefusal(const std::string &text) {
  return text != "0";
}

static std::optional<std::string> parsePath(const std::string &text) {
  return text;
}

/// A relative path would denote a different file in each process.
static std::optional<std::string> parseAbsolutePath(const std::string &text) {
  return text[0] == '/' ? std::optional<std::string>(text) : std::nullopt;
}

/// The rendezvous checks the path, and fails if it cannot be used.
static std::optional<std::vector<std::string>>
parseDirectories(const std::string &text) {
  return std::vector<std::string>{text};
}

/// The driver handles invalid values itself, so there is no warning.
static std::optional<std::optional<uint64_t>>
parseQueues(const std::string &text) {
  return parseNumber(text);
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

namespace {
/// The parser of a variable: stores the value of `parse` in a field of Env.
template <auto field, auto parse>
bool set(Env &env, const std::string &text) {
  auto value = parse(text);
  if (value)
    env.*field = *value;
  return value.has_value();
}
} // namespace

const std::vector<EnvTable::Row> &EnvTable::rows() {
  static const char launcher[] = "set by the launcher";
  static const std::vector<Row> table = {
      {{"IRIS_LOG", "off, error, warning, info or debug", "warning",
        "How much the runtime logs on standard error.", false},
       set<&Env::logLevel_, parseLogLevel>},
      {{"IRIS_WAIT_LIMIT", "seconds; 0: no limit", "30",
        "Time that one wait of a kernel may take before the world fails.",
        false},
       set<&Env::waitLimit_, parseSeconds>},
      {{"IRIS_JOIN_LIMIT", "seconds", "60",
        "Time that a rank waits for all ranks of its world to start.", false},
       set<&Env::joinLimit_, parseSeconds>},
      {{"IRIS_COLLECTIVE_LIMIT", "seconds", "300",
        "Time that a collective call on the host, such as sync, may take.",
        false},
       set<&Env::collectiveLimit_, parseSeconds>},
      {{"IRIS_HEAP_SIZE", "bytes, such as 512M or 4G", "the device's memory",
        "Address space of one rank's symmetric heap.", false},
       set<&Env::heapBytes_, parseBytes>},
      {{"IRIS_IMPORT_SIZE", "bytes, such as 512M or 4G; 0: none",
        "the device's memory; on the host that of the heap, at most 4G",
        "Address space of one rank for memory that the program imports.",
        false},
       set<&Env::importBytes_, parseBytes>},
      {{"IRIS_CHECK_COLLECTIVES", "0 or 1", "0",
        "1: the members of a group compare the arguments of every collective "
        "call, and the lengths of sends and receives, and name what differs.",
        false},
       set<&Env::checkCollectives_, parseFlag>},
      {{"IRIS_COMPILE", "path", "beside the program, beside the library, PATH",
        "The iris-compile that makes kernels at run time.", true},
       set<&Env::compiler_, parsePath>},
      {{"IRIS_EMULATOR", "path",
        "iris-emulate beside the program, beside the library, PATH",
        "The program that executes AMD code for devices emulated:CHIP.", true},
       set<&Env::emulator_, parsePath>},
      {{"IRIS_EMULATOR_LIMIT", "seconds; 0: no limit", "600",
        "Time for which an emulator may answer only pings while a kernel runs.",
        false},
       set<&Env::emulatorLimit_, parseSeconds>},
      {{"IRIS_CACHE_DIR", "absolute path, mode 0700",
        "$XDG_CACHE_HOME/iris, ~/.cache/iris", "Cache of compiled kernels.",
        true},
       set<&Env::cacheDir_, parseAbsolutePath>},
      {{"IRIS_CACHE_BYTES", "bytes, such as 64M; 0: no cache", "256M",
        "Most bytes of compiled kernels in the cache.", false},
       set<&Env::cacheBytes_, parseBytes>},
      {{"IRIS_IMAGE_DIR", "absolute path", "none",
        "Folder to which host images are written when they are loaded, for "
        "profilers such as perf; without it they are in memory only.",
        true},
       set<&Env::imageDir_, parseAbsolutePath>},
      {{"IRIS_COST_MODEL", "absolute path, mode 0600", "none",
        "Constants of the cost models, in place of the library's.", true},
       set<&Env::costModel_, parseAbsolutePath>},
      {{"IRIS_MATMUL_TABLE", "absolute path, mode 0600", "none",
        "Table of tuned matmuls, written by iris-bench --tune.", true},
       set<&Env::matmulTable_, parseAbsolutePath>},
      {{"IRIS_NCCL", "on or off", "on",
        "off: libiris_nccl passes every call to IRIS_NCCL_LIBRARY.", false},
       set<&Env::ncclIsOff_, parseOff>},
      {{"IRIS_NCCL_LIBRARY", "absolute path", "none",
        "The NCCL or RCCL that serves what libiris_nccl does not; with "
        "IRIS_NODE_ADDRESS the engine between nodes.",
        true},
       set<&Env::ncclLibrary_, parseAbsolutePath>},
      {{"IRIS_NCCL_DEVICE", "host, hip or cuda",
        "the first of cuda, hip and host with a device",
        "Device of the communicators of libiris_nccl.", false},
       set<&Env::ncclDevice_, parseKind>},
      {{"IRIS_NCCL_KERNEL_DIR", "absolute path", "none",
        "Folder with folders kernels.TARGET of compiled kernels, which "
        "libiris_nccl takes before those beside itself.",
        true},
       set<&Env::ncclKernelDir_, parseAbsolutePath>},
      {{"NCCL_COMM_ID", "HOST:PORT", "none",
        "NCCL's: what ncclGetUniqueId makes the id of, on all ranks the same. "
        "For ranks of one machine libiris_nccl takes it as a text; with "
        "IRIS_NODE_ADDRESS and IRIS_TOKEN, rank 0 listens there.",
        false},
       set<&Env::ncclCommId_, parsePath>},
      {{"NCCL_MULTI_RANK_GPU_ENABLE", "0 or 1", "0",
        "NCCL's: 1: several ranks of a communicator of libiris_nccl may be on "
        "one GPU.",
        false},
       set<&Env::ncclMultiRankGpu_, parseFlag>},
      {{"NCCL_MAX_CTAS", "at least 1", "those of the configs",
        "NCCL's: the most programs of a kernel of libiris_nccl, in place of "
        "maxCTAs in a communicator's config; the ranks use the smallest.",
        false},
       set<&Env::ncclMaxCtas_, parsePrograms>},
      {{"NCCL_CTA_POLICY", "DEFAULT, EFFICIENCY, ZERO or 0 to 2",
        "those of the configs",
        "NCCL's: what kernels of libiris_nccl leave free, in place of "
        "CTAPolicy in a communicator's config.",
        false},
       set<&Env::ncclCtaPolicy_, parseCtaPolicy>},
      {{"NCCL_COMM_BLOCKING", "0 or 1", "those of the configs",
        "NCCL's: 0: calls of libiris_nccl return before their work is "
        "enqueued; in place of blocking in a communicator's config.",
        false},
       set<&Env::ncclCommBlocking_, parseOptionalFlag>},
      {{"IRIS_TUNE", "off, quick or full",
        "quick for matmuls on CUDA, else off",
        "How long kernels are measured to choose among them.", false},
       set<&Env::tune_, parseTune>},
      {{"IRIS_REFUSE_HOST_CODE", "0 or 1", "0",
        "Any value but 0: refuse to execute a package's host image or @main.",
        false},
       set<&Env::refuseHostCode_, parseRefusal>},
      {{"IRIS_RENDEZVOUS_DIR", "absolute path, mode 0700",
        "$XDG_RUNTIME_DIR/iris, /tmp/iris-UID, rendezvous in the cache",
        "Directory of the sockets by which ranks find each other.", true},
       set<&Env::rendezvousDirs_, parseDirectories>},
      {{"IRIS_RENDEZVOUS_ADDRESS", "HOST:PORT of rank 0", "none",
        "Where the ranks of a job on several machines find each other; the "
        "same on all ranks.",
        false}},
      {{"IRIS_NODE", "text", "the machine and its mount namespace",
        "Name of this rank's node; ranks of one node share memory.", false}},
      {{"IRIS_NODE_ADDRESS", "host name or IP address", "none",
        "Address of this machine for others; with it, unique ids of "
        "libiris_nccl are for ranks on several machines.",
        false},
       set<&Env::nodeAddress_, parsePath>},
      {{"IRIS_INTERNODE_LIBRARY", "absolute path",
        "on the host libiris_ucx.so beside the library; on GPUs "
        "IRIS_NCCL_LIBRARY, else libnccl.so.2 or librccl.so.1 of the system",
        "The library that moves bytes between nodes; on GPUs NCCL or RCCL.",
        true},
       set<&Env::interNodeLibrary_, parseAbsolutePath>},
      {{"IRIS_RANK", "number", launcher, "This rank.", false}},
      {{"IRIS_WORLD_SIZE", "number", launcher, "Ranks of the world.", false}},
      {{"IRIS_LOCAL_RANK", "number", "IRIS_RANK",
        "Index of the device that this rank takes.", false}},
      {{"IRIS_LOCAL_SIZE", "number", "IRIS_WORLD_SIZE",
        "Ranks of the world on this machine.", false}},
      {{"IRIS_JOB", "text", launcher,
        "Name of the job; the same on all ranks, and different for jobs that "
        "run at the same time.",
        false}},
      {{"IRIS_TOKEN", "1 to 16 hexadecimal digits", "none",
        "Secret of the job; a rank without it is refused. A job on several "
        "machines needs one.",
        false}},
      {{"IRIS_NOTICE_FD", "file descriptor", launcher,
        "Socket on which the launcher reports ranks that failed.", false}},
      {{"OMPI_COMM_WORLD_RANK", "number", launcher, "Rank, by Open MPI.",
        false}},
      {{"OMPI_COMM_WORLD_SIZE", "number", launcher, "World size, by Open MPI.",
        false}},
      {{"OMPI_COMM_WORLD_LOCAL_RANK", "number", launcher,
        "Device index, by Open MPI.", false}},
      {{"OMPI_COMM_WORLD_LOCAL_SIZE", "number", launcher,
        "Ranks on this machine, by Open MPI.", false}},
      {{"PMIX_NAMESPACE", "text", launcher, "Job, by Open MPI 5.", false}},
      {{"OMPI_MCA_ess_base_jobid", "text", launcher, "Job, by Open MPI 4.",
        false}},
      {{"RANK", "number", launcher, "Rank, by torchrun.", false}},
      {{"WORLD_SIZE", "number", launcher, "World size, by torchrun.", false}},
      {{"LOCAL_RANK", "number", launcher, "Device index, by torchrun.", false}},
      {{"LOCAL_WORLD_SIZE", "number", launcher,
        "Ranks on this machine, by torchrun.", false}},
      {{"MASTER_ADDR", "text", launcher, "Job, by torchrun.", false}},
      {{"MASTER_PORT", "number", launcher, "Job, by torchrun.", false}},
      {{"TORCHELASTIC_RUN_ID", "text", launcher, "Job, by torchrun.", false}},
      {{"TORCHELASTIC_RESTART_COUNT", "number", launcher, "Job, by torchrun.",
        false}},
      {{"SLURM_PROCID", "number", launcher, "Rank, by Slurm.", false}},
      {{"SLURM_NTASKS", "number", launcher, "World size, by Slurm.", false}},
      {{"SLURM_LOCALID", "number", launcher, "Device index, by Slurm.", false}},
      {{"SLURM_NTASKS_PER_NODE", "number", launcher,
        "Ranks on this machine, by Slurm.", false}},
      {{"SLURM_JOB_ID", "number", launcher, "Job, by Slurm.", false}},
      {{"SLURM_STEP_ID", "number", launcher, "Job, by Slurm.", false}},
      {{"CUDA_DEVICE_MAX_CONNECTIONS", "number", "8",
        "Hardware queues of an NVIDIA GPU, read by the driver; with fewer than "
        "8, copy_engine variants whose results leave the rank are not chosen.",
        false},
       set<&Env::deviceQueues_, parseQueues>},
      {{"XDG_CACHE_HOME", "absolute path", "none", "See IRIS_CACHE_DIR.",
        true}},
      {{"XDG_RUNTIME_DIR", "absolute path", "none", "See IRIS_RENDEZVOUS_DIR.",
        true}},
      {{"HOME", "absolute path", "none", "See IRIS_CACHE_DIR.", true}},
      {{"PATH", "paths", "none", "See IRIS_COMPILE.", true},
       set<&Env::searchPath_, parsePath>},
  };
  return table;
}
