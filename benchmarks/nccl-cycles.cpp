// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is left after communicators were created and destroyed many times. Each
// cycle creates one of two ranks in this process, runs an all-reduce, and
// destroys it. Every fourth one splits it and uses the part, every fourth one
// registers windows, every fourth one is aborted. Prints, from time to time,
// what the process holds.
//
//   nccl-cycles [CYCLES (10000)] [PRINT EVERY (1000)]
//
// Compile it against Iris' declarations or NCCL's, and link either library:
//
//   c++ -std=c++17 -Iruntime/nccl/include/iris-nccl -o nccl-cycles
//     benchmarks/nccl-cycles.cpp -Lbuild/lib/iris-nccl -lnccl -ldl
//   IRIS_NCCL_DEVICE=host ./nccl-cycles          on CPU memory
//   NCCL_MULTI_RANK_GPU_ENABLE=1 ./nccl-cycles   both ranks on one GPU
#include <nccl.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <unistd.h>

namespace {

constexpr int ranks = 2;
constexpr size_t elements = 1000;

[[noreturn]] void die(const char *call, const char *why) {
  std::fprintf(stderr, "nccl-cycles: %s: %s\n", call, why);
  std::exit(1);
}

#define CHECK(call)                                                            \
  do {                                                                         \
    if ((call) != ncclSuccess)                                                 \
      die(#call, ncclGetLastError(nullptr));                                   \
  } while (0)

/// The functions of CUDA's driver that this needs; without a GPU none.
class Driver {
public:
  Driver() {
    const char *device = std::getenv("IRIS_NCCL_DEVICE");
    if (device && std::string(device) == "host")
      return;
    library = ::dlopen("libcuda.so.1", RTLD_NOW);
    void *context = nullptr;
    if (!library || call<int(unsigned)>("cuInit", 0u) != 0 ||
        call<int(void **, int)>("cuDevicePrimaryCtxRetain", &context, 0) != 0 ||
        call<int(void *)>("cuCtxSetCurrent", context) != 0)
      die("cuInit", "no NVIDIA GPU; on the host set IRIS_NCCL_DEVICE=host");
  }

  /// A stream that does not wait for the default one; null on the host.
  cudaStream_t makeStream() const {
    cudaStream_t stream = nullptr;
    if (library)
      call<int(cudaStream_t *, unsigned)>("cuStreamCreate", &stream, 1u);
    return stream;
  }
  void synchronize(cudaStream_t stream) const {
    if (library && call<int(cudaStream_t)>("cuStreamSynchronize", stream) != 0)
      die("cuStreamSynchronize", "failed");
  }
  /// MiB of the device's memory that are in use, by all processes.
  size_t usedMiB() const {
    size_t free = 0, total = 0;
    if (library)
      call<int(size_t *, size_t *)>("cuMemGetInfo_v2", &free, &total);
    return (total - free) >> 20;
  }

private:
  template <typename Function, typename... Args>
  int call(const char *name, Args... args) const {
    auto *function = reinterpret_cast<Function *>(::dlsym(library, name));
    return function ? function(args...) : -1;
  }

  void *library = nullptr;
};

size_t entriesOf(const char *folder) {
  size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    (void)entry;
    ++count;
  }
  return count;
}

/// Mappings of this process, and KiB of memory that they have.
void countMemory(size_t &mappings, size_t &residentKiB) {
  char line[4096];
  mappings = residentKiB = 0;
  if (std::FILE *maps = std::fopen("/proc/self/maps", "r")) {
    while (std::fgets(line, sizeof(line), maps))
      ++mappings;
    std::fclose(maps);
  }
  size_t all = 0, resident = 0;
  if (std::FILE *pages = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(pages, "%zu %zu", &all, &resident) == 2)
      residentKiB =
          resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) >> 10;
    std::fclose(pages);
  }
}

struct Rank {
  ncclComm_t comm = nullptr, part = nullptr;
  cudaStream_t stream = nullptr;
  void *data = nullptr;
};

template <typename Body>
void together(Rank (&all)[ranks], Body body) {
  CHECK(ncclGroupStart());
  for (int rank = 0; rank < ranks; ++rank)
    body(rank, all[rank]);
  CHECK(ncclGroupEnd());
}

void sum(const Driver &driver, Rank (&all)[ranks], ncclComm_t Rank::*comm) {
  together(all, [&](int, Rank &each) {
    CHECK(ncclAllReduce(each.data, each.data, elements, ncclFloat32, ncclSum,
                        each.*comm, each.stream));
  });
  for (Rank &each : all)
    driver.synchronize(each.stream);
}

void runCycle(const Driver &driver, Rank (&all)[ranks], long number) {
  ncclUniqueId id;
  CHECK(ncclGetUniqueId(&id));
  together(all, [&](int rank, Rank &each) {
    CHECK(ncclCommInitRank(&each.comm, ranks, id, rank));
  });
  sum(driver, all, &Rank::comm);
  if (number % 4 == 1) {
    together(all, [&](int rank, Rank &each) {
      CHECK(ncclCommSplit(each.comm, 0, -rank, &each.part, nullptr));
    });
    sum(driver, all, &Rank::part);
    for (Rank &each : all)
      CHECK(ncclCommDestroy(each.part));
  }
  if (number % 4 == 2) {
    ncclWindow_t windows[ranks];
    constexpr size_t bytes = 1 << 20;
    void *memory[ranks];
    for (void *&each : memory)
      CHECK(ncclMemAlloc(&each, bytes));
    together(all, [&](int rank, Rank &each) {
      CHECK(ncclCommWindowRegister(each.comm, memory[rank], bytes,
                                   &windows[rank], NCCL_WIN_COLL_SYMMETRIC));
    });
    for (int rank = 0; rank < ranks; ++rank)
      CHECK(ncclCommWindowDeregister(all[rank].comm, windows[rank]));
    for (void *each : memory)
      CHECK(ncclMemFree(each));
  }
  for (Rank &each : all)
    CHECK(number % 4 == 3 ? ncclCommAbort(each.comm)
                          : ncclCommDestroy(each.comm));
}

} // namespace

int main(int argc, char **argv) {
  const long cycles = argc > 1 ? std::atol(argv[1]) : 10000;
  const long every = argc > 2 ? std::atol(argv[2]) : 1000;
  if (cycles < 1 || every < 1)
    die("arguments", "expected [CYCLES] [PRINT EVERY], both at least 1");
  const Driver driver;
  Rank all[ranks];
  for (Rank &each : all) {
    each.stream = driver.makeStream();
    CHECK(ncclMemAlloc(&each.data, elements * sizeof(float)));
  }
  const auto start = std::chrono::steady_clock::now();
  for (long number = 0; number <= cycles; ++number) {
    if (number % every == 0 || number == 4) {
      const std::chrono::duration<double> time =
          std::chrono::steady_clock::now() - start;
      size_t mappings = 0, residentKiB = 0;
      countMemory(mappings, residentKiB);
      std::printf("after %ld cycles, %.1f s: %zu MiB of device memory, %zu "
                  "files, %zu threads, %zu mappings, %zu KiB resident, %zu in "
                  "/dev/shm\n",
                  number, time.count(), driver.usedMiB(),
                  entriesOf("/proc/self/fd"), entriesOf("/proc/self/task"),
                  mappings, residentKiB, entriesOf("/dev/shm"));
      std::fflush(stdout);
    }
    if (number < cycles)
      runCycle(driver, all, number);
  }
  for (Rank &each : all)
    CHECK(ncclMemFree(each.data));
}
