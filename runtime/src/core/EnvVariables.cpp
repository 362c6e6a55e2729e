// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EnvVariables.cpp - Table of environment variables ------------------===//
#include "iris/rt/Env.h"

using namespace iris::rt;

const std::vector<EnvVariable> &Env::variables() {
  static const char launcher[] = "set by the launcher";
  static const std::vector<EnvVariable> table = {
      {"IRIS_LOG", "off, error, warning, info or debug", "warning",
       "How much the runtime logs on standard error.", false},
      {"IRIS_WAIT_LIMIT", "seconds; 0: no limit", "30",
       "Time that one wait of a kernel may take before the world fails.",
       false},
      {"IRIS_JOIN_LIMIT", "seconds", "60",
       "Time that a rank waits for all ranks of its world to start.", false},
      {"IRIS_COLLECTIVE_LIMIT", "seconds", "300",
       "Time that a collective call on the host, such as sync, may take.",
       false},
      {"IRIS_HEAP_SIZE", "bytes, such as 512M or 4G", "the device's memory",
       "Address space of one rank's symmetric heap.", false},
      {"IRIS_CHECK_COLLECTIVES", "0 or 1", "0",
       "1: the members of a group compare the arguments of every collective "
       "call and name what differs.",
       false},
      {"IRIS_COMPILE", "path", "beside the program, beside the library, PATH",
       "The iris-compile that makes kernels at run time.", true},
      {"IRIS_EMULATOR", "path", "none",
       "The program that executes AMD code for devices emulated:CHIP.", true},
      {"IRIS_EMULATOR_LIMIT", "seconds; 0: no limit", "600",
       "Time for which an emulator may answer only pings while a kernel runs.",
       false},
      {"IRIS_CACHE_DIR", "absolute path, mode 0700",
       "$XDG_CACHE_HOME/iris, ~/.cache/iris", "Cache of compiled kernels.",
       true},
      {"IRIS_CACHE_BYTES", "bytes, such as 64M; 0: no cache", "256M",
       "Most bytes of compiled kernels in the cache.", false},
      {"IRIS_COST_MODEL", "absolute path, mode 0600", "none",
       "Constants of the cost models, in place of the library's.", true},
      {"IRIS_MATMUL_TABLE", "absolute path, mode 0600", "none",
       "Table of tuned matmuls, written by iris-bench --tune.", true},
      {"IRIS_REFUSE_HOST_CODE", "0 or 1", "0",
       "Any value but 0: refuse to execute a package's host image or @main.",
       false},
      {"IRIS_RENDEZVOUS_DIR", "absolute path, mode 0700",
       "$XDG_RUNTIME_DIR/iris, /tmp/iris-UID, rendezvous in the cache",
       "Directory of the sockets by which ranks find each other.", true},
      {"IRIS_RANK", "number", launcher, "This rank.", false},
      {"IRIS_WORLD_SIZE", "number", launcher, "Ranks of the world.", false},
      {"IRIS_LOCAL_RANK", "number", "IRIS_RANK",
       "Index of the device that this rank takes.", false},
      {"IRIS_LOCAL_SIZE", "number", "IRIS_WORLD_SIZE",
       "Ranks of the world on this machine.", false},
      {"IRIS_JOB", "text", launcher,
       "Name of the job; the same on all ranks, and different for jobs that "
       "run at the same time.",
       false},
      {"IRIS_TOKEN", "1 to 16 hexadecimal digits", "none",
       "Secret of the job; a rank without it is refused.", false},
      {"IRIS_NOTICE_FD", "file descriptor", launcher,
       "Socket on which the launcher reports ranks that failed.", false},
      {"OMPI_COMM_WORLD_RANK", "number", launcher, "Rank, by Open MPI.", false},
      {"OMPI_COMM_WORLD_SIZE", "number", launcher, "World size, by Open MPI.",
       false},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "number", launcher,
       "Device index, by Open MPI.", false},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "number", launcher,
       "Ranks on this machine, by Open MPI.", false},
      {"PMIX_NAMESPACE", "text", launcher, "Job, by Open MPI 5.", false},
      {"OMPI_MCA_ess_base_jobid", "text", launcher, "Job, by Open MPI 4.",
       false},
      {"RANK", "number", launcher, "Rank, by torchrun.", false},
      {"WORLD_SIZE", "number", launcher, "World size, by torchrun.", false},
      {"LOCAL_RANK", "number", launcher, "Device index, by torchrun.", false},
      {"LOCAL_WORLD_SIZE", "number", launcher,
       "Ranks on this machine, by torchrun.", false},
      {"MASTER_ADDR", "text", launcher, "Job, by torchrun.", false},
      {"MASTER_PORT", "number", launcher, "Job, by torchrun.", false},
      {"TORCHELASTIC_RUN_ID", "text", launcher, "Job, by torchrun.", false},
      {"TORCHELASTIC_RESTART_COUNT", "number", launcher, "Job, by torchrun.",
       false},
      {"SLURM_PROCID", "number", launcher, "Rank, by Slurm.", false},
      {"SLURM_NTASKS", "number", launcher, "World size, by Slurm.", false},
      {"SLURM_LOCALID", "number", launcher, "Device index, by Slurm.", false},
      {"SLURM_NTASKS_PER_NODE", "number", launcher,
       "Ranks on this machine, by Slurm.", false},
      {"SLURM_JOB_ID", "number", launcher, "Job, by Slurm.", false},
      {"SLURM_STEP_ID", "number", launcher, "Job, by Slurm.", false},
      {"CUDA_DEVICE_MAX_CONNECTIONS", "number", "8",
       "Hardware queues of an NVIDIA GPU, read by the driver; with fewer than "
       "8, copy_engine variants whose results leave the rank are not chosen.",
       false},
      {"XDG_CACHE_HOME", "absolute path", "none", "See IRIS_CACHE_DIR.", true},
      {"XDG_RUNTIME_DIR", "absolute path", "none", "See IRIS_RENDEZVOUS_DIR.",
       true},
      {"HOME", "absolute path", "none", "See IRIS_CACHE_DIR.", true},
      {"PATH", "paths", "none", "See IRIS_COMPILE.", true},
  };
  return table;
}

std::string Env::describe() {
  std::string text = "| variable | value | default | meaning |\n"
                     "|---|---|---|---|\n";
  for (const EnvVariable &each : variables())
    text += std::string("| `") + each.name + "` | " + each.value + " | " +
            each.defaultValue + " | " + each.meaning + " |\n";
  return text;
}
