// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Limit kernels: hand-written kernels with the minimum work of a collective and
// the synchronization that back-to-back calls need. bf16, sums in f32. All waits
// are bounded: a wait that takes too long sets the fault word, which ends all
// other waits too.
//
// Two kinds of synchronization:
//  * a barrier: block b waits for block b of all ranks, with flags that count up;
//  * packets: 8 bytes are 4 bytes of data and 4 bytes of epoch, so that the
//    data carry their own flag (the LL protocol).
//
// Both use the same count of calls (`State::epoch`). Block b reads entry b and,
// at its end, writes entries b, b + blocks, ...: so all entries are equal after
// each kernel, whatever its number of blocks, without an atomic.
#ifndef IRIS_BENCHMARKS_LIMITS_KERNELS_CUH
#define IRIS_BENCHMARKS_LIMITS_KERNELS_CUH

#include <cstdint>
#include <cuda_bf16.h>

constexpr int maxRanks = 8;
constexpr int maxBlocks = 128;
constexpr int maxThreads = 512;

/// A wait of more than this many cycles (2 s at 2 GHz) is a fault.
constexpr long long mostCycles = 4'000'000'000;

/// Each rank's synchronization state; initially zero.
struct State {
  uint32_t epoch[maxBlocks];             ///< calls so far
  uint32_t arrived[maxBlocks][maxRanks]; ///< barrier: by block, from rank
  uint32_t relayed[maxBlocks];           ///< broadcast: steps received
};

/// One rank's view of all ranks; `count` is in vectors of 16 bytes.
struct Job {
  uint4 *in[maxRanks];
  uint4 *out[maxRanks];
  uint4 *scratch[maxRanks]; ///< halves for even and odd calls
  State *state[maxRanks];
  uint32_t *fault;      ///< in host memory
  uint64_t halfScratch; ///< vectors
  uint64_t count;       ///< vectors of one chunk
  int rank;
};

//===----------------------------------------------------------------------===//
// Accesses visible to other GPUs
//===----------------------------------------------------------------------===//

__device__ inline void storeRelease(uint32_t *address, uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value)
               : "memory");
}

__device__ inline uint32_t loadAcquire(const uint32_t *address) {
  uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
               : "=r"(value)
               : "l"(address)
               : "memory");
  return value;
}

__device__ inline uint32_t loadVolatile(const uint32_t *address) {
  return *const_cast<const volatile uint32_t *>(address);
}

/// Two packets in one access. PTX treats each element of a vector as a separate
/// access, so each 8 bytes carry an epoch.
struct Packets {
  uint64_t first, second;
};

__device__ inline void storePackets(uint4 *address, uint2 data, uint32_t epoch) {
  uint64_t high = static_cast<uint64_t>(epoch) << 32;
  asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(address),
               "l"(high | data.x), "l"(high | data.y)
               : "memory");
}

__device__ inline Packets loadPackets(const uint4 *address) {
  Packets result;
  asm volatile("ld.relaxed.sys.global.v2.b64 {%0, %1}, [%2];"
               : "=l"(result.first), "=l"(result.second)
               : "l"(address)
               : "memory");
  return result;
}

__device__ inline bool areThere(Packets packets, uint32_t epoch) {
  return static_cast<uint32_t>(packets.first >> 32) == epoch &&
         static_cast<uint32_t>(packets.second >> 32) == epoch;
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

/// Spins until `ready()`, for a bounded time.
template <typename Ready>
__device__ inline void waitUntil(uint32_t *fault, Ready ready) {
  long long start = clock64();
  for (uint32_t spins = 1; !ready(); ++spins) {
    if (spins % 4096 != 0)
      continue; // the fault word is in host memory
    if (loadVolatile(fault) != 0)
      return;
    if (clock64() - start > mostCycles) {
      *const_cast<volatile uint32_t *>(fault) = 1;
      return;
    }
  }
}

__device__ inline bool hasReached(uint32_t value, uint32_t wanted) {
  return static_cast<int32_t>(value - wanted) >= 0;
}

/// The number of this call, from 1.
__device__ inline uint32_t beginCall(const Job &job) {
  return job.state[job.rank]->epoch[blockIdx.x] + 1;
}

/// Counts the call, after all threads of the block have read the epoch.
__device__ inline void endCall(const Job &job, uint32_t epoch) {
  __syncthreads();
  uint32_t entry = blockIdx.x + threadIdx.x * gridDim.x;
  if (entry < maxBlocks)
    job.state[job.rank]->epoch[entry] = epoch;
}

/// A barrier of the block with its peer programs on all ranks; number `which` of
/// at most 3 in a call.
template <int N>
__device__ inline void barrier(const Job &job, uint32_t epoch, uint32_t which) {
  uint32_t wanted = epoch * 4 + which;
  __syncthreads();
  if (threadIdx.x < N) {
    int peer = threadIdx.x;
    storeRelease(&job.state[peer]->arrived[blockIdx.x][job.rank], wanted);
    const uint32_t *address = &job.state[job.rank]->arrived[blockIdx.x][peer];
    waitUntil(job.fault,
              [&] { return hasReached(loadAcquire(address), wanted); });
  }
  __syncthreads();
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Adds two bf16 of a word to two sums.
__device__ inline void addWord(float *sums, uint32_t word) {
  sums[0] += __uint_as_float(word << 16);
  sums[1] += __uint_as_float(word & 0xffff0000u);
}

__device__ inline uint32_t packWord(const float *sums) {
  __nv_bfloat162 pair = __floats2bfloat162_rn(sums[0], sums[1]);
  return *reinterpret_cast<uint32_t *>(&pair);
}

/// The sum of N vectors, in the order of the ranks: the same bits everywhere.
template <int N>
__device__ inline uint4 sumVectors(const uint4 *vectors) {
  float sums[8] = {};
#pragma unroll
  for (int r = 0; r < N; ++r) {
    addWord(sums + 0, vectors[r].x);
    addWord(sums + 2, vectors[r].y);
    addWord(sums + 4, vectors[r].z);
    addWord(sums + 6, vectors[r].w);
  }
  return make_uint4(packWord(sums), packWord(sums + 2), packWord(sums + 4),
                    packWord(sums + 6));
}

/// The sum of one vector from every rank: load(rank).
template <int N, typename Load>
__device__ inline uint4 sumOf(Load load) {
  uint4 values[N];
#pragma unroll
  for (int r = 0; r < N; ++r)
    values[r] = load(r);
  return sumVectors<N>(values);
}

template <int N>
__device__ inline uint2 sumHalves(const uint2 *halves) {
  float sums[4] = {};
#pragma unroll
  for (int r = 0; r < N; ++r) {
    addWord(sums + 0, halves[r].x);
    addWord(sums + 2, halves[r].y);
  }
  return make_uint2(packWord(sums), packWord(sums + 2));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

__device__ inline uint64_t firstIndex() {
  return static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ inline uint64_t indexStride() {
  return static_cast<uint64_t>(gridDim.x) * blockDim.x;
}

/// Peers in a different order on each rank, so that not all start with the same.
template <int N>
__device__ inline int peerAt(int rank, int step) {
  return (rank + step) & (N - 1);
}

/// Copies `count` vectors to `to(step)` for each of N steps. If the data are the
/// same for all steps, each vector is loaded once; U loads are in flight.
template <int N, int U, typename From, typename To>
__device__ inline void pushSame(uint64_t count, From from, To to) {
  for (uint64_t i = firstIndex(); i < count; i += U * indexStride()) {
    uint4 values[U];
#pragma unroll
    for (int u = 0; u < U; ++u)
      if (i + u * indexStride() < count)
        values[u] = from(i + u * indexStride());
#pragma unroll
    for (int step = 0; step < N; ++step) {
#pragma unroll
      for (int u = 0; u < U; ++u)
        if (i + u * indexStride() < count)
          to(step)[i + u * indexStride()] = values[u];
    }
  }
}

/// Each peer gets a different chunk of `in`; N loads are in flight.
template <int N>
__device__ inline void pushEach(const Job &job, uint64_t count,
                                uint4 *const *to, uint64_t offset) {
  const uint4 *in = job.in[job.rank];
  for (uint64_t i = firstIndex(); i < count; i += indexStride()) {
    uint4 values[N];
#pragma unroll
    for (int step = 0; step < N; ++step)
      values[step] = in[peerAt<N>(job.rank, step) * count + i];
#pragma unroll
    for (int step = 0; step < N; ++step)
      to[peerAt<N>(job.rank, step)][offset + i] = values[step];
  }
}

//===----------------------------------------------------------------------===//
// Kernels with barriers
//===----------------------------------------------------------------------===//

/// A barrier and nothing else.
template <int N>
__global__ void barrierOnly(Job job) {
  uint32_t epoch = beginCall(job);
  barrier<N>(job, epoch, 1);
  endCall(job, epoch);
}

/// all_reduce: every rank reads all inputs. The last barrier keeps inputs from
/// being overwritten while a peer reads them.
template <int N>
__global__ void __launch_bounds__(maxThreads, 1) oneShotPull(Job job) {
  uint32_t epoch = beginCall(job);
  barrier<N>(job, epoch, 1);
  for (uint64_t i = firstIndex(); i < job.count; i += indexStride())
    job.out[job.rank][i] = sumOf<N>([&](int r) { return job.in[r][i]; });
  barrier<N>(job, epoch, 2);
  endCall(job, epoch);
}

/// all_reduce: each rank reads its chunk of all inputs and stores the sum to
/// all outputs.
template <int N>
__global__ void __launch_bounds__(maxThreads, 1) twoShotPull(Job job) {
  uint32_t epoch = beginCall(job);
  barrier<N>(job, epoch, 1);
  uint64_t part = job.count / N, first = part * job.rank;
  for (uint64_t i = firstIndex(); i < part; i += indexStride()) {
    uint4 sum = sumOf<N>([&](int r) { return job.in[r][first + i]; });
#pragma unroll
    for (int step = 0; step < N; ++step)
      job.out[peerAt<N>(job.rank, step)][first + i] = sum;
  }
  barrier<N>(job, epoch, 2);
  endCall(job, epoch);
}

/// all_reduce: each rank stores its chunks into the owners' scratch; owners sum
/// and store to all outputs. Loads never cross a link. After the first barrier,
/// the chunks have arrived and no rank uses the previous outputs.
template <int N>
__global__ void __launch_bounds__(maxThreads, 1) twoShotPush(Job job) {
  uint32_t epoch = beginCall(job);
  uint64_t part = job.count / N, half = (epoch & 1) * job.halfScratch;
  pushEach<N>(job, part, job.scratch, half + job.rank * part);
  barrier<N>(job, epoch, 1);
  const uint4 *mine = job.scratch[job.rank] + half;
  auto sum = [&](uint64_t i) {
    return sumOf<N>([&](int r) { return mine[r * part + i]; });
  };
  pushSame<N, 1>(part, sum, [&](int step) {
    return job.out[peerAt<N>(job.rank, step)] + job.rank * part;
  });
  barrier<N>(job, epoch, 2);
  endCall(job, epoch);
}

/// all_gather: every rank stores its chunk to all ranks.
template <int N>
__global__ void __launch_bounds__(maxThreads, 1) gatherPush(Job job) {
  uint32_t epoch = beginCall(job);
  barrier<N>(job, epoch, 1);
  pushSame<N, 4>(
      job.count, [&](uint64_t i) { return job.in[job.rank][i]; },
      [&](int step) {
        return job.out[peerAt<N>(job.rank, step)] + job.rank * job.count;
      });
  barrier<N>(job, epoch, 2);
  endCall(job, epoch);
}

/// all_to_all: every rank stores a chunk to each rank.
template <int N>
__global__ void __launch_bounds__(maxThreads, 1) exchangePush(Job job) {
  uint32_t epoch = beginCall(job);
  barrier<N>(job, epoch, 1);
  pushEach<N>(job, job.count, job.out, job.rank * job.count);
  barrier<N>(job, epoch, 2);
  endCall(job, epoch);
}

/// reduce_scatter: every rank reads its chunk of all inputs.
template <int N>
__global__ void __launch_bounds__(maxThreads, 1) scatterPull(Job job) {
  uint32_t epoch = beginCall(job);
  barrier<N>(job, epoch, 1);
  for (uint64_t i = firstIndex(); i < job.count; i += indexStride())
    job.out[job.rank][i] =
        sumOf<N>([&](int r) { return job.in[r][job.rank * job.count + i]; });
  barrier<N>(job, epoch, 2);
  endCall(job, epoch);
}

/// reduce_scatter: chunks go into the owners' scratch. One barrier is enough:
/// a half is rewritten after the barrier of the next call, which peers reach when
/// they no longer use the half.
template <int N>
__global__ void __launch_bounds__(maxThreads, 1) scatterPush(Job job) {
  uint32_t epoch = beginCall(job);
  uint64_t half = (epoch & 1) * job.halfScratch;
  pushEach<N>(job, job.count, job.scratch, half + job.rank * job.count);
  barrier<N>(job, epoch, 1);
  const uint4 *mine = job.scratch[job.rank] + half;
  for (uint64_t i = firstIndex(); i < job.count; i += indexStride())
    job.out[job.rank][i] =
        sumOf<N>([&](int r) { return mine[r * job.count + i]; });
  endCall(job, epoch);
}

/// broadcast from rank 0: the root stores the buffer to all ranks.
template <int N>
__global__ void __launch_bounds__(maxThreads, 1) broadcastPush(Job job) {
  uint32_t epoch = beginCall(job);
  barrier<N>(job, epoch, 1);
  if (job.rank == 0)
    pushSame<N, 4>(
        job.count, [&](uint64_t i) { return job.in[0][i]; },
        [&](int step) { return job.out[step]; });
  barrier<N>(job, epoch, 2);
  endCall(job, epoch);
}

/// Vectors that a thread moves in one step of `broadcastRelay`.
constexpr int relayUnroll = 4;

/// broadcast from rank 0, for large buffers: in each step the root stores a
/// different chunk to each peer, and the peers forward theirs; so no link carries
/// the buffer more than once. The root does not wait between steps.
template <int N>
__global__ void __launch_bounds__(maxThreads, 1) broadcastRelay(Job job) {
  uint32_t epoch = beginCall(job);
  barrier<N>(job, epoch, 1);
  uint64_t piece = static_cast<uint64_t>(blockDim.x) * relayUnroll;
  uint64_t all = piece * (N - 1) * gridDim.x;
  uint32_t step = 0;
  for (uint64_t base = blockIdx.x * piece * (N - 1); base < job.count;
       base += all) {
    uint32_t number = (epoch << 12) + ++step; // fewer than 4096 steps
    if (job.rank == 0) {
#pragma unroll
      for (int peer = 1; peer < N; ++peer) {
        uint64_t i = base + (peer - 1) * piece + threadIdx.x;
        uint4 values[relayUnroll];
#pragma unroll
        for (int u = 0; u < relayUnroll; ++u)
          if (i + u * blockDim.x < job.count)
            values[u] = job.in[0][i + u * blockDim.x];
#pragma unroll
        for (int u = 0; u < relayUnroll; ++u)
          if (i + u * blockDim.x < job.count) {
            job.out[peer][i + u * blockDim.x] = values[u];
            job.out[0][i + u * blockDim.x] = values[u];
          }
      }
      __syncthreads();
      if (threadIdx.x > 0 && threadIdx.x < N)
        storeRelease(&job.state[threadIdx.x]->relayed[blockIdx.x], number);
    } else {
      if (threadIdx.x == 0) {
        const uint32_t *address = &job.state[job.rank]->relayed[blockIdx.x];
        waitUntil(job.fault,
                  [&] { return hasReached(loadAcquire(address), number); });
      }
      __syncthreads();
      uint64_t i = base + (job.rank - 1) * piece + threadIdx.x;
      uint4 values[relayUnroll];
#pragma unroll
      for (int u = 0; u < relayUnroll; ++u)
        if (i + u * blockDim.x < job.count)
          values[u] = job.out[job.rank][i + u * blockDim.x];
      for (int other = 1; other < N - 1; ++other) {
        int peer = 1 + (job.rank - 1 + other) % (N - 1);
#pragma unroll
        for (int u = 0; u < relayUnroll; ++u)
          if (i + u * blockDim.x < job.count)
            job.out[peer][i + u * blockDim.x] = values[u];
      }
    }
  }
  barrier<N>(job, epoch, 2);
  endCall(job, epoch);
}

//===----------------------------------------------------------------------===//
// Kernels with packets
//===----------------------------------------------------------------------===//

/// The packets with the i-th 8 bytes of a rank, which has `count` of them.
__device__ inline uint4 *slot(const Job &job, int owner, uint32_t epoch,
                              int from, uint64_t count, uint64_t i) {
  return job.scratch[owner] + (epoch & 1) * job.halfScratch + from * count + i;
}

/// The i-th 8 bytes from every rank; `mine` is this rank's own.
template <int N, typename AddressOf>
__device__ inline void receive(const Job &job, uint32_t epoch, uint2 mine,
                               AddressOf address, uint2 *values) {
  Packets packets[N];
#pragma unroll
  for (int r = 0; r < N; ++r)
    if (r != job.rank)
      packets[r] = loadPackets(address(r));
#pragma unroll
  for (int r = 0; r < N; ++r) {
    if (r == job.rank) {
      values[r] = mine;
      continue;
    }
    if (!areThere(packets[r], epoch))
      waitUntil(job.fault, [&] {
        packets[r] = loadPackets(address(r));
        return areThere(packets[r], epoch);
      });
    values[r] = make_uint2(static_cast<uint32_t>(packets[r].first),
                           static_cast<uint32_t>(packets[r].second));
  }
}

/// One exchange by packets. EachOwn: each peer gets a different chunk (all_to_all,
/// reduce_scatter) instead of the same one (all_gather, all_reduce). Sum: received
/// packets are added (all_reduce, reduce_scatter). No barrier: two halves of the
/// scratch alternate, and a call ends only after all peers' packets arrived.
template <int N, bool EachOwn, bool Sum>
__global__ void __launch_bounds__(maxThreads, 1) packetExchange(Job job) {
  uint32_t epoch = beginCall(job);
  uint64_t count = job.count * 2; // in 8 bytes
  const uint2 *in = reinterpret_cast<const uint2 *>(job.in[job.rank]);
  uint2 *out = reinterpret_cast<uint2 *>(job.out[job.rank]);
  for (uint64_t i = firstIndex(); i < count; i += indexStride()) {
    uint2 value = in[i];
#pragma unroll
    for (int step = 1; step < N; ++step) {
      int peer = peerAt<N>(job.rank, step);
      if (EachOwn)
        value = in[peer * count + i];
      storePackets(slot(job, peer, epoch, job.rank, count, i), value, epoch);
    }
  }
  for (uint64_t i = firstIndex(); i < count; i += indexStride()) {
    uint2 values[N];
    receive<N>(
        job, epoch, in[(EachOwn ? job.rank * count : 0) + i],
        [&](int r) { return slot(job, job.rank, epoch, r, count, i); }, values);
    if (Sum) {
      out[i] = sumHalves<N>(values);
    } else {
#pragma unroll
      for (int r = 0; r < N; ++r)
        out[r * count + i] = values[r];
    }
  }
  endCall(job, epoch);
}

/// all_reduce in two exchanges by packets: parts to their owners, sums to all.
template <int N>
__global__ void __launch_bounds__(maxThreads, 1) twoShotPacket(Job job) {
  uint32_t epoch = beginCall(job);
  uint64_t part = job.count * 2 / N; // in 8 bytes
  const uint2 *in = reinterpret_cast<const uint2 *>(job.in[job.rank]);
  uint2 *out = reinterpret_cast<uint2 *>(job.out[job.rank]);
  for (uint64_t i = firstIndex(); i < part; i += indexStride()) {
#pragma unroll
    for (int step = 1; step < N; ++step) {
      int peer = peerAt<N>(job.rank, step);
      storePackets(slot(job, peer, epoch, job.rank, part, i),
                   in[peer * part + i], epoch);
    }
  }
  for (uint64_t i = firstIndex(); i < part; i += indexStride()) {
    uint2 values[N];
    receive<N>(
        job, epoch, in[job.rank * part + i],
        [&](int r) { return slot(job, job.rank, epoch, r, part, i); }, values);
    uint2 sum = sumHalves<N>(values);
    out[job.rank * part + i] = sum;
#pragma unroll
    for (int step = 1; step < N; ++step)
      storePackets(
          slot(job, peerAt<N>(job.rank, step), epoch, N + job.rank, part, i),
          sum, epoch);
  }
  for (uint64_t i = firstIndex(); i < part; i += indexStride()) {
    uint2 values[N];
    receive<N>(
        job, epoch, make_uint2(0, 0),
        [&](int r) { return slot(job, job.rank, epoch, N + r, part, i); },
        values);
#pragma unroll
    for (int r = 0; r < N; ++r)
      if (r != job.rank)
        out[r * part + i] = values[r];
  }
  endCall(job, epoch);
}

#endif // IRIS_BENCHMARKS_LIMITS_KERNELS_CUH
