// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures the limit kernels of kernels.cuh: one process, one thread for each
// GPU, peer access between all of them. Sizes, samples and JSON lines are those
// of iris-bench; see helpText.
#include "kernels.cuh"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static const char helpText[] =
    R"(limits: measures collectives written by hand in CUDA, and checks them

usage: limits [options]

For each operation, size and kernel a sweep over the number of blocks; the best
one is reported ("programs" in the JSON lines). A sample is a number of calls
as one CUDA graph; its time is that of the slowest GPU, divided by the calls.
A small kernel holds every GPU until all graphs are enqueued, so that one
process that drives many GPUs does not show in the times. Data are random, sums
are compared element by element, bf16.

  -n N             GPUs: 2, 4 or 8 (default: as many of these as there are)
  --ops=LIST       of all_reduce, all_gather, reduce_scatter, all_to_all,
                   broadcast, barrier (default: all)
  --sizes=LIST     bytes of one chunk, as for iris-bench (K, M, G are 2^10, ...);
                   by default a list for each operation
  --quick          about a third of the default sizes
  --budget=SECONDS begins no new case after so long (default 60)
  --calls=N        most calls in a sample (default 20; fewer where a sample
                   would take over 20 ms)
  --samples=N      samples (default 15), after 3 warm-ups
  --json=FILE      appends a line for each measurement
  --commit=TEXT, --machine=TEXT
                   are noted there

exit status: 0 if everything was right and within the budget, 1 after an error,
2 for a wrong command line, 3 if the budget ended the sweep.

A chunk is what one rank has for one rank: for all_gather, reduce_scatter and
all_to_all the larger buffer holds N chunks; otherwise it is the whole buffer.
)";

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

enum class Op {
  allReduce,
  allGather,
  reduceScatter,
  allToAll,
  broadcast,
  barrier
};

static const char *const opNames[] = {"all_reduce",     "all_gather",
                                      "reduce_scatter", "all_to_all",
                                      "broadcast",      "barrier"};

static const char *opName(Op op) { return opNames[static_cast<int>(op)]; }

struct Options {
  int numRanks = 0;
  std::vector<Op> ops;
  std::vector<uint64_t> sizes;
  bool quick = false;
  double budget = 60;
  int calls = 20, samples = 15, warmups = 3;
  std::string jsonPath, commit, machine;
};

[[noreturn]] static void refuse(const std::string &what) {
  std::fprintf(stderr, "limits: %s; see --help\n", what.c_str());
  std::exit(2);
}

static std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts;
  for (size_t start = 0; start <= text.size();) {
    size_t end = std::min(text.find(',', start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

static uint64_t parseSize(const std::string &text) {
  char *end = nullptr;
  uint64_t value = std::strtoull(text.c_str(), &end, 10);
  const char *unit = *end ? std::strchr("KMG", *end) : nullptr;
  if (unit) {
    value <<= *unit == 'K' ? 10 : *unit == 'M' ? 20 : 30;
    ++end;
  }
  if (text.empty() || text[0] == '-' || *end || value == 0 || value % 1024 != 0)
    refuse("size '" + text + "'; expected a multiple of 1K");
  return value;
}

static double parseNumber(const std::string &name, const std::string &text,
                          double least, double most) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(value >= least && value <= most))
    refuse(name + "=" + text + "; expected a number from " +
           std::to_string(static_cast<long>(least)) + " to " +
           std::to_string(static_cast<long>(most)));
  return value;
}

static Op parseOp(const std::string &text) {
  for (size_t i = 0; i < std::size(opNames); ++i)
    if (text == opNames[i])
      return static_cast<Op>(i);
  refuse("unknown operation '" + text + "'");
}

static void parseValue(Options &options, const std::string &name,
                       const std::string &value) {
  if (name == "-n")
    options.numRanks = static_cast<int>(parseNumber(name, value, 2, 8));
  else if (name == "--ops")
    for (const std::string &word : split(value))
      options.ops.push_back(parseOp(word));
  else if (name == "--sizes")
    for (const std::string &word : split(value))
      options.sizes.push_back(parseSize(word));
  else if (name == "--budget")
    options.budget = parseNumber(name, value, 1, 36000);
  else if (name == "--calls")
    options.calls = static_cast<int>(parseNumber(name, value, 1, 1000));
  else if (name == "--samples")
    options.samples = static_cast<int>(parseNumber(name, value, 1, 1000));
  else if (name == "--json")
    options.jsonPath = value;
  else if (name == "--commit")
    options.commit = value;
  else if (name == "--machine")
    options.machine = value;
  else
    refuse("unknown option '" + name + "'");
}

static Options parseOptions(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg == "--help" || arg == "-h") {
      std::fputs(helpText, stdout);
      std::exit(0);
    }
    if (arg == "--quick") {
      options.quick = true;
      continue;
    }
    size_t equals = arg.find('=');
    if (equals != std::string::npos)
      parseValue(options, arg.substr(0, equals), arg.substr(equals + 1));
    else if (i + 1 < argc)
      parseValue(options, arg, argv[++i]);
    else
      refuse("unknown option '" + arg + "', or it has no value");
  }
  if (options.ops.empty())
    for (size_t i = 0; i < std::size(opNames); ++i)
      options.ops.push_back(static_cast<Op>(i));
  return options;
}

//===----------------------------------------------------------------------===//
// Cases
//===----------------------------------------------------------------------===//

struct Case {
  Op op;
  uint64_t bytes; // of one chunk
};

/// Whether the larger buffer holds a chunk for each rank.
static bool hasManyChunks(Op op) {
  return op == Op::allGather || op == Op::reduceScatter || op == Op::allToAll;
}

/// Default sizes in bytes of the larger buffer, the quick ones first: they are
/// measured even if the budget ends early.
static std::vector<std::vector<uint64_t>> defaultSizes(Op op) {
  constexpr uint64_t K = 1 << 10, M = 1 << 20, G = 1 << 30;
  switch (op) {
  case Op::allReduce:
    return {{1 * K, 8 * K, 64 * K, 512 * K, 4 * M, 32 * M, 256 * M},
            {2 * K, 4 * K, 16 * K, 32 * K, 128 * K, 256 * K, 1 * M, 2 * M,
             8 * M, 16 * M, 64 * M, 128 * M, 1 * G}};
  case Op::allGather:
    return {{64 * K, 512 * K, 8 * M, 256 * M},
            {128 * K, 256 * K, 1 * M, 2 * M, 16 * M, 64 * M, 512 * M, 1 * G}};
  case Op::barrier:
    return {{1 * K}, {}};
  default:
    return {{16 * K, 1 * M, 64 * M}, {256 * K, 4 * M, 16 * M, 256 * M, 1 * G}};
  }
}

static std::vector<Case> casesOf(const Options &options) {
  std::vector<Case> cases;
  if (!options.sizes.empty()) {
    for (Op op : options.ops)
      for (uint64_t bytes : options.sizes)
        if (op != Op::barrier || cases.empty() || cases.back().op != op)
          cases.push_back({op, op == Op::barrier ? 1024 : bytes});
    return cases;
  }
  for (size_t round = 0; round < (options.quick ? 1 : 2); ++round)
    for (Op op : options.ops) {
      std::vector<uint64_t> sizes = defaultSizes(op)[round];
      for (uint64_t bytes : sizes)
        cases.push_back(
            {op, hasManyChunks(op) ? bytes / options.numRanks : bytes});
    }
  return cases;
}

/// Bytes that a link has to carry at least, as in nccl-tests.
static double carriedBytes(const Case &each, int numRanks) {
  double bytes = static_cast<double>(each.bytes), peers = numRanks - 1.0;
  if (each.op == Op::barrier)
    return 0;
  if (each.op == Op::allReduce)
    return 2 * peers / numRanks * bytes;
  return hasManyChunks(each.op) ? peers * bytes : bytes;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

constexpr uint64_t unbounded = ~uint64_t(0);

/// An implementation of an operation, and its range of chunk sizes.
struct Variant {
  Op op;
  const char *name;
  void (*kernel)(Job);
  bool packets;
  int scratchChunks; // slots of a call, in chunks; packets take twice the bytes
  int divisor;       // a thread handles count / divisor vectors (or packets)
  uint64_t least, most; // bytes
};

template <int N>
static std::vector<Variant> variants() {
  constexpr uint64_t K = 1 << 10, M = 1 << 20;
  uint64_t packetChunk = 2 * M / N;
  return {
      {Op::barrier, "flags", barrierOnly<N>, false, 0, 1, 0, unbounded},
      {Op::allReduce, "one_shot_packet", packetExchange<N, false, true>, true,
       N, 1, 0, 1 * M},
      {Op::allReduce, "two_shot_packet", twoShotPacket<N>, true, 2, N, 4 * K,
       16 * M},
      {Op::allReduce, "one_shot_pull", oneShotPull<N>, false, 0, 1, 0, 2 * M},
      {Op::allReduce, "two_shot_pull", twoShotPull<N>, false, 0, N, 64 * K,
       unbounded},
      {Op::allReduce, "two_shot_push", twoShotPush<N>, false, 1, N, 64 * K,
       unbounded},
      {Op::allGather, "packet", packetExchange<N, false, false>, true, N, 1, 0,
       packetChunk},
      {Op::allGather, "push", gatherPush<N>, false, 0, 1, 0, unbounded},
      {Op::reduceScatter, "packet", packetExchange<N, true, true>, true, N, 1,
       0, packetChunk},
      {Op::reduceScatter, "pull", scatterPull<N>, false, 0, 1, 0, unbounded},
      {Op::reduceScatter, "push", scatterPush<N>, false, N, 1, 0, unbounded},
      {Op::allToAll, "packet", packetExchange<N, true, false>, true, N, 1, 0,
       packetChunk},
      {Op::allToAll, "push", exchangePush<N>, false, 0, 1, 0, unbounded},
      {Op::broadcast, "push", broadcastPush<N>, false, 0, 1, 0, 16 * M},
      {Op::broadcast, "relay", broadcastRelay<N>, false, 0,
       (N - 1) * relayUnroll, 256 * K, unbounded},
  };
}

static std::vector<Variant> variantsFor(int numRanks) {
  return numRanks == 2   ? variants<2>()
         : numRanks == 4 ? variants<4>()
                         : variants<8>();
}

struct Shape {
  int blocks, threads;
};

/// Candidate numbers of blocks and threads.
static std::vector<Shape> shapesFor(const Variant &variant, uint64_t bytes) {
  uint64_t items = bytes / (variant.packets ? 8 : 16) / variant.divisor;
  std::vector<Shape> shapes;
  for (int threads : {128, maxThreads}) {
    // Small blocks start sooner; for large buffers they have no benefit.
    if (threads == 128 && items > 128 * 64)
      continue;
    uint64_t useful = std::max<uint64_t>(1, (items + threads - 1) / threads);
    uint64_t least = std::min<uint64_t>(16, (useful + 15) / 16);
    for (int blocks : {1, 2, 4, 8, 16, 32, 64, 128})
      if (static_cast<uint64_t>(blocks) < 2 * useful &&
          static_cast<uint64_t>(blocks) >= least)
        shapes.push_back({blocks, threads});
  }
  return shapes;
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// An integer from 0 to 7, whose sums are exact.
__device__ static float number(uint32_t rank, uint32_t index) {
  uint32_t h = index * 0x9e3779b1u + (rank + 1) * 0x85ebca6bu;
  h ^= h >> 15;
  h *= 0x2c1b3c6du;
  h ^= h >> 12;
  return static_cast<float>(h >> 29);
}

__global__ void fillInput(__nv_bfloat16 *in, uint32_t rank, uint64_t count) {
  for (uint64_t i = firstIndex(); i < count; i += indexStride())
    in[i] = __float2bfloat16(number(rank, static_cast<uint32_t>(i)));
}

/// Counts the wrong ones of `count` elements, in chunks of `chunk` elements.
__global__ void checkOutput(const __nv_bfloat16 *out, Op op, uint32_t rank,
                            uint32_t numRanks, uint64_t chunk, uint64_t count,
                            uint32_t *wrong) {
  for (uint64_t i = firstIndex(); i < count; i += indexStride()) {
    bool reduces = op == Op::allReduce || op == Op::reduceScatter;
    bool mine = op == Op::reduceScatter || op == Op::allToAll;
    uint32_t index =
        static_cast<uint32_t>(i % chunk + (mine ? rank * chunk : 0));
    float want = number(static_cast<uint32_t>(i / chunk), index);
    for (uint32_t r = 1; reduces && r < numRanks; ++r)
      want += number(r, index);
    if (__bfloat162float(out[i]) != want)
      atomicAdd(wrong, 1u);
  }
}

/// Blocks a GPU's stream until the host opens the gate.
__global__ void waitForGate(const uint32_t *gate, uint32_t wanted,
                            uint32_t *fault) {
  long long start = clock64();
  while (!hasReached(loadVolatile(gate), wanted))
    if (clock64() - start > mostCycles) {
      *const_cast<volatile uint32_t *>(fault) = 1;
      return;
    }
}

//===----------------------------------------------------------------------===//
// State shared by the threads
//===----------------------------------------------------------------------===//

[[noreturn]] static void giveUp(const char *what, const char *why) {
  std::fprintf(stderr, "limits: %s: %s\n", what, why);
  std::fflush(nullptr);
  _exit(1); // other threads may be in the driver
}

static void check(cudaError_t error, const char *what) {
  if (error != cudaSuccess)
    giveUp(what, cudaGetErrorString(error));
}
#define CHECK(call) check((call), #call)

using Clock = std::chrono::steady_clock;

static double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A barrier of all threads; they spin, so that they leave at almost the same
/// time.
class ThreadBarrier {
public:
  explicit ThreadBarrier(int members) : members(members) {}

  void join() {
    uint32_t round = rounds.load();
    if (arrived.fetch_add(1) + 1 == members) {
      arrived.store(0);
      rounds.store(round + 1);
      return;
    }
    for (uint64_t spins = 0; rounds.load() == round; ++spins)
      if (spins > 100'000)
        std::this_thread::yield();
  }

private:
  const int members;
  std::atomic<int> arrived{0};
  std::atomic<uint32_t> rounds{0};
};

struct Shared {
  explicit Shared(const Options &options)
      : options(options), cases(casesOf(options)),
        variants(variantsFor(options.numRanks)), barrier(options.numRanks),
        disabled(variants.size()) {}

  const Options &options;
  const std::vector<Case> cases;
  const std::vector<Variant> variants;
  ThreadBarrier barrier;
  Job job{};                                  // without the rank
  uint4 *packets[maxRanks]{};                 // scratch of the packet kernels
  uint64_t halfPackets = 0;                   // vectors
  uint32_t *fault = nullptr, *gate = nullptr; // in host memory
  double times[maxRanks]{};
  uint32_t wrong[maxRanks]{};
  std::vector<char> disabled; // variants that failed
  bool stop = false, failed = false;
  std::string device;
  FILE *json = nullptr;
  Clock::time_point start = Clock::now();
};

struct Timing {
  double median, q1, q3, least, most;
};

/// The `fraction` quantile of the sorted samples.
static double quantile(const std::vector<double> &sorted, double fraction) {
  double position = fraction * static_cast<double>(sorted.size() - 1);
  size_t below = static_cast<size_t>(position);
  size_t above = std::min(below + 1, sorted.size() - 1);
  double weight = position - static_cast<double>(below);
  return sorted[below] * (1 - weight) + sorted[above] * weight;
}

//===----------------------------------------------------------------------===//
// One rank
//===----------------------------------------------------------------------===//

/// One GPU; all ranks take the same steps at the same time.
class Rank {
public:
  Rank(Shared &shared, int rank) : shared(shared), rank(rank) {}

  void run() {
    setUp();
    for (const Case &each : shared.cases) {
      if (rank == 0)
        shared.stop = secondsSince(shared.start) > shared.options.budget;
      shared.barrier.join();
      if (shared.stop)
        return;
      runCase(each);
      shared.barrier.join(); // all threads read `stop` before it is written
    }
  }

private:
  void setUp();
  void runCase(const Case &each);
  bool runVariant(const Case &each, size_t index);
  bool isRight(const Case &each, const Variant &variant, Shape shape);
  cudaGraphExec_t capture(const Variant &variant, Shape shape, int calls);
  bool sample(cudaGraphExec_t graph, int calls, int warmups, int samples,
              Timing &timing);
  bool noFault();
  void recover(const Case &each, size_t index, const char *why);
  void report(const Case &each, const Variant &variant, Shape shape, int calls,
              const Timing &timing);
  Job jobFor(const Variant &variant, uint64_t bytes) const;
  int callsFor(const Case &each) const;
  uint64_t vectorsNeeded(bool packets) const;

  template <typename T>
  T *allocate(uint64_t bytes) {
    void *memory = nullptr;
    CHECK(cudaMalloc(&memory, std::max<uint64_t>(bytes, 256)));
    CHECK(cudaMemset(memory, 0, std::max<uint64_t>(bytes, 256)));
    return static_cast<T *>(memory);
  }

  Shared &shared;
  const int rank;
  int numRanks() const { return shared.options.numRanks; }
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  uint32_t *wrong = nullptr;
  uint32_t gates = 0;
  Case current{};
};

/// Vectors of scratch for both halves.
uint64_t Rank::vectorsNeeded(bool packets) const {
  uint64_t most = 0;
  for (const Case &each : shared.cases)
    for (const Variant &variant : shared.variants)
      if (variant.op == each.op && variant.packets == packets &&
          each.bytes <= variant.most)
        most = std::max(most, each.bytes / 16 * variant.scratchChunks *
                                  (packets ? 2 : 1));
  return 2 * most;
}

void Rank::setUp() {
  CHECK(cudaSetDevice(rank));
  for (int peer = 0; peer < numRanks(); ++peer)
    if (peer != rank)
      CHECK(cudaDeviceEnablePeerAccess(peer, 0));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  uint64_t largest = 0;
  for (const Case &each : shared.cases)
    largest = std::max(largest,
                       each.bytes * (hasManyChunks(each.op) ? numRanks() : 1));
  shared.job.in[rank] = allocate<uint4>(largest);
  shared.job.out[rank] = allocate<uint4>(largest);
  shared.job.scratch[rank] = allocate<uint4>(vectorsNeeded(false) * 16);
  shared.packets[rank] = allocate<uint4>(vectorsNeeded(true) * 16);
  shared.job.state[rank] = allocate<State>(sizeof(State));
  wrong = allocate<uint32_t>(4);
  CHECK(cudaDeviceSynchronize());
  if (rank == 0) {
    shared.job.fault = shared.fault;
    shared.job.halfScratch = vectorsNeeded(false) / 2;
    shared.halfPackets = vectorsNeeded(true) / 2;
  }
  shared.barrier.join();
  fillInput<<<1024, 256, 0, stream>>>(
      reinterpret_cast<__nv_bfloat16 *>(shared.job.in[rank]), rank,
      largest / 2);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(stream));
  shared.barrier.join();
}

Job Rank::jobFor(const Variant &variant, uint64_t bytes) const {
  Job job = shared.job;
  job.rank = rank;
  job.count = bytes / 16;
  if (variant.packets) {
    std::copy(shared.packets, shared.packets + maxRanks, job.scratch);
    job.halfScratch = shared.halfPackets;
  }
  return job;
}

/// The number of calls that takes about 20 ms at 250 GB/s.
int Rank::callsFor(const Case &each) const {
  double us = carriedBytes(each, numRanks()) / 250e3;
  int calls = us > 0 ? static_cast<int>(std::min(1e4, 20e3 / us)) : 10000;
  return std::clamp(calls, std::min(2, shared.options.calls),
                    shared.options.calls);
}

/// Waits for the stream; returns whether no wait of any rank timed out.
bool Rank::noFault() {
  CHECK(cudaStreamSynchronize(stream));
  shared.barrier.join();
  bool good = *const_cast<volatile uint32_t *>(shared.fault) == 0;
  shared.barrier.join(); // before anyone clears it
  return good;
}

/// Restores the initial memory, and records the failed variant.
void Rank::recover(const Case &each, size_t index, const char *why) {
  CHECK(cudaMemset(shared.job.state[rank], 0, sizeof(State)));
  CHECK(cudaMemset(shared.packets[rank], 0, shared.halfPackets * 32));
  CHECK(cudaDeviceSynchronize());
  if (rank == 0) {
    std::printf("%-15s %-16s %12llu FAILED: %s\n", opName(each.op),
                shared.variants[index].name,
                static_cast<unsigned long long>(each.bytes), why);
    std::fflush(stdout);
    *const_cast<volatile uint32_t *>(shared.fault) = 0;
    shared.disabled[index] = 1;
    shared.failed = true;
  }
  shared.barrier.join();
}

/// Makes one call, and checks its output.
bool Rank::isRight(const Case &each, const Variant &variant, Shape shape) {
  uint64_t chunk = each.bytes / 2, count = chunk;
  if (each.op == Op::allGather || each.op == Op::allToAll)
    count *= numRanks();
  CHECK(cudaMemsetAsync(shared.job.out[rank], 0xff, count * 2, stream));
  CHECK(cudaMemsetAsync(wrong, 0, 4, stream));
  CHECK(cudaStreamSynchronize(stream));
  shared.barrier.join();
  variant.kernel<<<shape.blocks, shape.threads, 0, stream>>>(
      jobFor(variant, each.bytes));
  CHECK(cudaGetLastError());
  if (each.op != Op::barrier)
    checkOutput<<<1024, 256, 0, stream>>>(
        reinterpret_cast<const __nv_bfloat16 *>(shared.job.out[rank]), each.op,
        rank, numRanks(), chunk, count, wrong);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpyAsync(&shared.wrong[rank], wrong, 4, cudaMemcpyDeviceToHost,
                        stream));
  CHECK(cudaStreamSynchronize(stream));
  shared.barrier.join();
  bool right = true;
  for (int peer = 0; peer < numRanks(); ++peer)
    right &= shared.wrong[peer] == 0;
  shared.barrier.join();
  return right;
}

cudaGraphExec_t Rank::capture(const Variant &variant, Shape shape, int calls) {
  Job job = jobFor(variant, current.bytes);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int call = 0; call < calls; ++call)
    variant.kernel<<<shape.blocks, shape.threads, 0, stream>>>(job);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGetLastError());
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphUpload(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphDestroy(graph));
  return exec;
}

/// Samples in µs for a call; false after a fault.
bool Rank::sample(cudaGraphExec_t graph, int calls, int warmups, int samples,
                  Timing &timing) {
  std::vector<double> times;
  for (int i = 0; i < warmups + samples; ++i) {
    waitForGate<<<1, 1, 0, stream>>>(shared.gate, ++gates, shared.fault);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(begin, stream));
    CHECK(cudaGraphLaunch(graph, stream));
    CHECK(cudaEventRecord(end, stream));
    shared.barrier.join();
    if (rank == 0) {
      // Allows time for the last of the gates to start waiting.
      Clock::time_point now = Clock::now();
      while (secondsSince(now) < 20e-6)
        ;
      *const_cast<volatile uint32_t *>(shared.gate) = gates;
    }
    if (!noFault())
      return false;
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    shared.times[rank] = ms;
    shared.barrier.join();
    double slowest = *std::max_element(shared.times, shared.times + numRanks());
    shared.barrier.join();
    if (i >= warmups)
      times.push_back(1000 * slowest / calls);
  }
  std::sort(times.begin(), times.end());
  timing = {quantile(times, 0.5), quantile(times, 0.25), quantile(times, 0.75),
            times.front(), times.back()};
  return true;
}

/// Sweeps the shapes, and measures the best one with more samples. False after
/// a failure.
bool Rank::runVariant(const Case &each, size_t index) {
  const Variant &variant = shared.variants[index];
  int calls = callsFor(each);
  double best = INFINITY;
  Shape bestShape{};
  cudaGraphExec_t bestGraph = nullptr;
  bool good = true;
  for (Shape shape : shapesFor(variant, each.bytes)) {
    bool right = isRight(each, variant, shape);
    good = noFault();
    if (!good || !right) {
      recover(each, index, good ? "wrong output" : "a wait ran out");
      good = false;
      break;
    }
    cudaGraphExec_t graph = capture(variant, shape, calls);
    Timing timing{};
    good = sample(graph, calls, 2, 5, timing);
    cudaGraphExec_t loser = graph;
    if (good && timing.median < best) {
      loser = bestGraph;
      best = timing.median;
      bestShape = shape;
      bestGraph = graph;
    }
    if (loser)
      CHECK(cudaGraphExecDestroy(loser));
    if (!good) {
      recover(each, index, "a wait ran out");
      break;
    }
  }
  Timing timing{};
  if (good && bestGraph) {
    good = sample(bestGraph, calls, shared.options.warmups,
                  shared.options.samples, timing);
    if (!good)
      recover(each, index, "a wait ran out");
    else if (rank == 0)
      report(each, variant, bestShape, calls, timing);
  }
  if (bestGraph)
    CHECK(cudaGraphExecDestroy(bestGraph));
  return good;
}

void Rank::runCase(const Case &each) {
  current = each;
  for (size_t index = 0; index < shared.variants.size(); ++index) {
    const Variant &variant = shared.variants[index];
    if (variant.op == each.op && !shared.disabled[index] &&
        each.bytes >= variant.least && each.bytes <= variant.most)
      runVariant(each, index);
  }
}

/// A JSON string.
static std::string quote(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (static_cast<unsigned char>(c) >= 0x20)
      result += c;
  }
  return result + "\"";
}

void Rank::report(const Case &each, const Variant &variant, Shape shape,
                  int calls, const Timing &timing) {
  double bandwidth = carriedBytes(each, numRanks()) / timing.median / 1e3;
  unsigned long long bytes = each.op == Op::barrier ? 0 : each.bytes;
  std::printf("%-15s %-16s %12llu %10.2f %10.2f-%-10.2f %9.2f  %d x %d\n",
              opName(each.op), variant.name, bytes, timing.median, timing.q1,
              timing.q3, bandwidth, shape.blocks, shape.threads);
  std::fflush(stdout);
  if (!shared.json)
    return;
  std::fprintf(
      shared.json,
      "{\"op\": \"%s\", \"peer\": \"limit\", \"dtype\": \"bf16\", \"bytes\": "
      "%llu, \"us\": %.3f, \"q1\": %.3f, \"q3\": %.3f, \"min\": %.3f, \"max\": "
      "%.3f, \"busbw_GBs\": %.3f, \"ranks\": %d, \"mode\": \"graph\", "
      "\"variant\": \"%s\", \"programs\": %d, \"threads\": %d, \"calls\": %d, "
      "\"device\": %s, \"machine\": %s, \"commit\": %s}\n",
      opName(each.op), bytes, timing.median, timing.q1, timing.q3, timing.least,
      timing.most, bandwidth, numRanks(), variant.name, shape.blocks,
      shape.threads, calls, quote(shared.device).c_str(),
      quote(shared.options.machine).c_str(),
      quote(shared.options.commit).c_str());
  std::fflush(shared.json);
}

//===----------------------------------------------------------------------===//
// main
//===----------------------------------------------------------------------===//

/// Ends the process on a hang that no bounded wait covers.
static void watch(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  giveUp("hangs", "ended 30 s after its budget");
}

static uint32_t *hostWord() {
  void *memory = nullptr;
  CHECK(
      cudaHostAlloc(&memory, 64, cudaHostAllocPortable | cudaHostAllocMapped));
  std::memset(memory, 0, 64);
  return static_cast<uint32_t *>(memory);
}

int main(int argc, char **argv) {
  Options options = parseOptions(argc, argv);
  // With lazy loading, a kernel's first launch would wait for the spinning
  // ones.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  std::thread(watch, options.budget + 30).detach();
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  if (options.numRanks == 0)
    options.numRanks = devices >= 8 ? 8 : devices >= 4 ? 4 : 2;
  if (options.numRanks & (options.numRanks - 1))
    refuse("-n; expected 2, 4 or 8");
  if (options.numRanks > devices)
    refuse(std::to_string(options.numRanks) + " ranks, but there are " +
           std::to_string(devices) + " GPUs");

  Shared shared(options);
  if (!options.jsonPath.empty() &&
      !(shared.json = std::fopen(options.jsonPath.c_str(), "a")))
    refuse("cannot write " + options.jsonPath);
  cudaDeviceProp properties{};
  CHECK(cudaGetDeviceProperties(&properties, 0));
  shared.device = properties.name;
  shared.fault = hostWord();
  shared.gate = hostWord();
  std::printf("limits: %d ranks on %s, bf16\n%-15s %-16s %12s %10s %21s %9s  "
              "blocks x threads\n",
              options.numRanks, properties.name, "operation", "variant",
              "chunk", "us", "quartiles", "GB/s bus");
  std::vector<std::thread> threads;
  for (int rank = 0; rank < options.numRanks; ++rank)
    threads.emplace_back([&shared, rank] { Rank(shared, rank).run(); });
  for (std::thread &thread : threads)
    thread.join();
  std::printf("limits: %.1f s%s\n", secondsSince(shared.start),
              shared.stop ? "; the budget is spent, some cases are missing"
                          : "");
  if (shared.json)
    std::fclose(shared.json);
  std::fflush(stdout);
  // Drivers take long to destroy contexts, and all output has been written.
  _exit(shared.failed ? 1 : shared.stop ? 3 : 0);
}
