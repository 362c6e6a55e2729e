// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bandwidth of the example's all-gather on host ranks, compared with memcpy of
// the same bytes by as many threads. Both alternate in the same run, so that
// they see the same state of the machine.
//
//   host-all-gather all_gather.iris [--ranks=1,2,4] [--kib=64,1024,16384,65536]
//                   [--runs=21] [--json=FILE]
//
// README.md explains the figures.
#include <iris/rt/World.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace iris::rt;

namespace {

constexpr int64_t columns = 4096;
constexpr int64_t rowBytes = columns * 2; // f16

struct Options {
  std::string package;
  std::string json;
  std::vector<uint64_t> ranks = {1, 2, 4};
  std::vector<uint64_t> kib = {64, 1024, 16384, 65536};
  uint64_t runs = 21;
};

[[noreturn]] void die(const std::string &message) {
  std::fprintf(stderr, "host-all-gather: %s\n", message.c_str());
  std::fflush(stdout);
  std::_Exit(1); // the other ranks' threads are still running
}

void require(const Status &status) {
  if (!status.ok())
    die(status.toString());
}

template <typename T>
T require(Expected<T> value) {
  if (!value.ok())
    die(value.status().toString());
  return std::move(*value);
}

/// Blocks threads until all of them have arrived.
class Gate {
public:
  explicit Gate(uint32_t count) : count(count) {}

  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    uint64_t mine = round;
    if (++arrived == count) {
      arrived = 0;
      ++round;
      changed.notify_all();
      return;
    }
    changed.wait(lock, [&] { return round != mine; });
  }

private:
  uint32_t count;
  uint32_t arrived = 0;
  uint64_t round = 0;
  std::mutex mutex;
  std::condition_variable changed;
};

/// Private memory of the process, not on the heap.
class PrivateMemory {
public:
  explicit PrivateMemory(uint64_t bytes) : bytes(bytes) {
    memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      die("out of memory");
  }
  ~PrivateMemory() { ::munmap(memory, bytes); }
  char *get() const { return static_cast<char *>(memory); }

private:
  uint64_t bytes;
  void *memory;
};

/// Each rank's shard and result.
struct Buffers {
  std::vector<char *> in;
  std::vector<char *> out;
};

/// The three ways to move the bytes, and the milliseconds of each run.
enum Way { kernelWay, heapMemcpy, privateMemcpy, numWays };
constexpr const char *wayNames[] = {"kernel", "memcpy_heap", "memcpy_private"};
using Times = std::vector<double>[numWays];

/// State shared by the ranks of one measurement.
struct Measurement {
  Measurement(uint32_t numRanks, uint64_t bytes)
      : numRanks(numRanks), bytes(bytes), gate(numRanks) {
    uint32_t cores = std::max(1u, std::thread::hardware_concurrency());
    programs = std::max(1u, cores / numRanks);
    for (Buffers *buffers : {&heap, &own}) {
      buffers->in.resize(numRanks);
      buffers->out.resize(numRanks);
    }
    std::random_device random;
    job = "host-all-gather-" + std::to_string(::getpid()) + "-" +
          std::to_string(random());
  }

  uint32_t numRanks;
  /// Of one rank's shard.
  uint64_t bytes;
  /// Per rank; memcpy uses as many threads.
  uint32_t programs;
  uint64_t runs = 0;
  std::string job;
  Gate gate;
  Buffers heap, own;
  Times times;
};

} // namespace

/// Copies one of `programs` slices of this rank's shard to every rank, in
/// rotated order like the kernel.
static void copySlice(const Measurement &m, const Buffers &buffers,
                      uint32_t rank, uint32_t slice) {
  uint64_t first = m.bytes * slice / m.programs;
  uint64_t size = m.bytes * (slice + 1) / m.programs - first;
  for (uint32_t k = 0; k < m.numRanks; ++k) {
    uint32_t peer = (rank + k) % m.numRanks;
    std::memcpy(buffers.out[peer] + rank * m.bytes + first,
                buffers.in[rank] + first, size);
  }
}

static void gatherByMemcpy(const Measurement &m, const Buffers &buffers,
                           uint32_t rank) {
  std::vector<std::thread> threads;
  for (uint32_t slice = 1; slice < m.programs; ++slice)
    threads.emplace_back([&, slice] { copySlice(m, buffers, rank, slice); });
  copySlice(m, buffers, rank, 0);
  for (std::thread &thread : threads)
    thread.join();
}

/// Checks every byte of this rank's result against the source rank's data.
static void check(const Measurement &m, const Buffers &buffers, uint32_t rank,
                  const char *what) {
  for (uint32_t source = 0; source < m.numRanks; ++source)
    if (std::memcmp(buffers.out[rank] + source * m.bytes, buffers.in[source],
                    m.bytes) != 0)
      die(std::string(what) + ": rank " + std::to_string(rank) +
          " has wrong bytes from rank " + std::to_string(source));
}

/// Runs one rank.
static void runRank(Measurement &m, const Package &package, uint32_t rank) {
  WorldOptions options;
  LaunchInfo launch;
  launch.launcher = "host-all-gather";
  launch.rank = launch.localRank = rank;
  launch.numRanks = m.numRanks;
  launch.job = m.job;
  options.launch = launch;
  options.heapBytes = (m.numRanks + 1) * m.bytes + (64 << 20);
  std::unique_ptr<World> world = require(World::create(options));
  Module module = require(world->load(package));
  Kernel kernel = require(module.kernel("all_gather"));

  const uint64_t outBytes = m.numRanks * m.bytes;
  uint64_t in = require(world->allocate(m.bytes));
  uint64_t out = require(world->allocate(outBytes));
  PrivateMemory ownIn(m.bytes), ownOut(outBytes);
  m.heap.in[rank] = reinterpret_cast<char *>(in);
  m.heap.out[rank] = reinterpret_cast<char *>(out);
  m.own.in[rank] = ownIn.get();
  m.own.out[rank] = ownOut.get();

  std::mt19937_64 random(rank + 1);
  for (uint64_t i = 0; i < m.bytes; i += 8) {
    uint64_t word = random();
    std::memcpy(m.heap.in[rank] + i, &word, 8);
  }
  std::memcpy(ownIn.get(), m.heap.in[rank], m.bytes);

  const int64_t rows = m.bytes / rowBytes;
  const std::vector<IrisRtArg> args = {
      makeContextArg(), makeMemrefArg(IRISRT_ELT_F16, in, {rows, columns}),
      makeMemrefArg(IRISRT_ELT_F16, out, {m.numRanks * rows, columns})};
  auto gather = [&](Way way) {
    if (way != kernelWay) {
      gatherByMemcpy(m, way == heapMemcpy ? m.heap : m.own, rank);
      return;
    }
    require(world->launch(kernel, {m.programs, 1, 1}, args));
    require(world->synchronize());
  };

  // One warm-up run each, which also checks every byte.
  for (Way way : {kernelWay, heapMemcpy, privateMemcpy}) {
    const Buffers &buffers = way == privateMemcpy ? m.own : m.heap;
    std::memset(buffers.out[rank], 0xff, outBytes);
    m.gate.wait();
    gather(way);
    m.gate.wait();
    check(m, buffers, rank, wayNames[way]);
    m.gate.wait();
  }

  using Clock = std::chrono::steady_clock;
  for (uint64_t run = 0; run < m.runs; ++run)
    for (Way way : {kernelWay, heapMemcpy, privateMemcpy}) {
      m.gate.wait();
      Clock::time_point start = Clock::now();
      gather(way);
      m.gate.wait();
      std::chrono::duration<double, std::milli> time = Clock::now() - start;
      if (rank == 0)
        m.times[way].push_back(time.count());
    }
  require(world->destroy());
}

static double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * (values.size() - 1) + 0.5)];
}

static void report(const Measurement &m, std::FILE *json) {
  const double stored = double(m.bytes) * m.numRanks * m.numRanks;
  auto rate = [&](Way way, double q) {
    return stored / (quantile(m.times[way], q) * 1e6);
  };
  // Ratios of consecutive runs.
  std::vector<double> ratios;
  for (size_t i = 0; i < m.times[kernelWay].size(); ++i)
    ratios.push_back(m.times[heapMemcpy][i] / m.times[kernelWay][i]);

  std::printf("%5u %8u %9.2f", m.numRanks, m.programs,
              m.bytes / double(1 << 20));
  for (Way way : {kernelWay, heapMemcpy, privateMemcpy})
    std::printf("  %6.2f (%5.2f-%5.2f)", rate(way, 0.5), rate(way, 0.75),
                rate(way, 0.25));
  std::printf("  %5.2f\n", quantile(ratios, 0.5));
  std::fflush(stdout);
  if (!json)
    return;
  std::fprintf(json,
               "{\"benchmark\": \"host-all-gather\", \"ranks\": %u, "
               "\"programs_per_rank\": %u, \"bytes_per_rank\": %llu, "
               "\"bytes_stored\": %.0f, \"runs\": %zu",
               m.numRanks, m.programs, static_cast<unsigned long long>(m.bytes),
               stored, m.times[kernelWay].size());
  for (Way way : {kernelWay, heapMemcpy, privateMemcpy}) {
    const std::vector<double> &times = m.times[way];
    std::fprintf(json,
                 ", \"%s\": {\"median_ms\": %.4f, \"q1_ms\": %.4f, "
                 "\"q3_ms\": %.4f, \"min_ms\": %.4f, \"max_ms\": %.4f, "
                 "\"median_gb_per_s\": %.3f}",
                 wayNames[way], quantile(times, 0.5), quantile(times, 0.25),
                 quantile(times, 0.75), quantile(times, 0), quantile(times, 1),
                 rate(way, 0.5));
  }
  std::fprintf(json, ", \"kernel_over_memcpy_heap\": %.3f}\n",
               quantile(ratios, 0.5));
  std::fflush(json);
}

static std::vector<uint64_t> parseList(const std::string &text) {
  std::vector<uint64_t> values;
  for (size_t i = 0; i < text.size();) {
    char *end = nullptr;
    uint64_t value = std::strtoull(text.c_str() + i, &end, 10);
    if (value == 0 || (*end != ',' && *end != 0))
      die("expected positive numbers separated by commas, got '" + text + "'");
    values.push_back(value);
    i = end - text.c_str() + 1;
  }
  return values;
}

static Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    size_t equals = word.find('=');
    std::string flag = word.substr(0, equals);
    std::string value =
        equals == std::string::npos ? "" : word.substr(equals + 1);
    if (flag == "--ranks")
      options.ranks = parseList(value);
    else if (flag == "--kib")
      options.kib = parseList(value);
    else if (flag == "--runs" && parseList(value).size() == 1)
      options.runs = parseList(value)[0];
    else if (flag == "--json")
      options.json = value;
    else if (word[0] != '-' && options.package.empty())
      options.package = word;
    else
      die("unknown argument '" + word + "'");
  }
  if (options.package.empty())
    die("name the package that iris-compile made of all_gather.mlir");
  return options;
}

int main(int argc, char **argv) {
  Options options = parse(argc, argv);
  Package package = require(Package::fromFile(options.package));
  std::FILE *json = nullptr;
  if (!options.json.empty() && !(json = std::fopen(options.json.c_str(), "w")))
    die("cannot write '" + options.json + "'");

  std::printf("GB/s stored by all ranks together: median of %llu runs (middle "
              "half)\n",
              static_cast<unsigned long long>(options.runs));
  std::printf("ranks programs MiB/rank  kernel                memcpy, heap"
              "          memcpy, private       kernel/memcpy\n");
  for (uint64_t numRanks : options.ranks)
    for (uint64_t kib : options.kib) {
      uint64_t bytes = kib * 1024 / rowBytes * rowBytes;
      if (bytes == 0 || numRanks > IRISRT_MAX_RANKS)
        die("too few KiB or too many ranks");
      Measurement m(numRanks, bytes);
      m.runs = options.runs;
      std::vector<std::thread> ranks;
      for (uint32_t rank = 0; rank < numRanks; ++rank)
        ranks.emplace_back([&, rank] { runRank(m, package, rank); });
      for (std::thread &thread : ranks)
        thread.join();
      report(m, json);
    }
  if (json && std::fclose(json) != 0)
    die("cannot write '" + options.json + "'");
  return 0;
}
