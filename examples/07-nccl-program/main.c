/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A plain NCCL program: one process per rank, an all-reduce and a ring of sends
 * and receives, every element checked. It knows nothing of Iris.
 *
 *   nccl-program [RANKS]
 */
#include <nccl.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef WITH_CUDA
#include <cuda_runtime.h>
static void toDevice(void *to, const void *from, size_t bytes) {
  cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice);
}
static void toHost(void *to, const void *from, size_t bytes) {
  cudaStreamSynchronize(NULL);
  cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}
static void useDevice(int rank) { cudaSetDevice(rank); }
#else
/* On the host, device memory is memory. */
static void toDevice(void *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
}
static void toHost(void *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
}
static void useDevice(int rank) { (void)rank; }
#endif

#define CHECK(call)                                                            \
  do {                                                                         \
    ncclResult_t result = (call);                                              \
    if (result != ncclSuccess) {                                               \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__,                   \
              ncclGetErrorString(result), ncclGetLastError(NULL));             \
      return 1;                                                                \
    }                                                                          \
  } while (0)

enum { count = 100007 };

/* Element i of a rank. */
static int64_t valueOf(int rank, int64_t i) {
  uint64_t x = (uint64_t)(i * 64 + rank) * UINT64_C(0x9e3779b97f4a7c15);
  return (int64_t)(x >> 8);
}

static int runRank(ncclUniqueId id, int rank, int ranks) {
  useDevice(rank);
  ncclComm_t comm;
  CHECK(ncclCommInitRank(&comm, ranks, id, rank));

  int64_t *host = malloc(count * sizeof(int64_t));
  void *in, *sum, *left;
  CHECK(ncclMemAlloc(&in, count * sizeof(int64_t)));
  CHECK(ncclMemAlloc(&sum, count * sizeof(int64_t)));
  CHECK(ncclMemAlloc(&left, count * sizeof(int64_t)));
  for (int64_t i = 0; i < count; ++i)
    host[i] = valueOf(rank, i);
  toDevice(in, host, count * sizeof(int64_t));

  CHECK(ncclAllReduce(in, sum, count, ncclInt64, ncclSum, comm, NULL));
  CHECK(ncclGroupStart());
  CHECK(ncclSend(in, count, ncclInt64, (rank + 1) % ranks, comm, NULL));
  CHECK(
      ncclRecv(left, count, ncclInt64, (rank + ranks - 1) % ranks, comm, NULL));
  CHECK(ncclGroupEnd());

  int64_t wrong = 0;
  toHost(host, sum, count * sizeof(int64_t));
  for (int64_t i = 0; i < count; ++i) {
    uint64_t expected = 0;
    for (int other = 0; other < ranks; ++other)
      expected += (uint64_t)valueOf(other, i);
    wrong += host[i] != (int64_t)expected;
  }
  toHost(host, left, count * sizeof(int64_t));
  for (int64_t i = 0; i < count; ++i)
    wrong += host[i] != valueOf((rank + ranks - 1) % ranks, i);

  CHECK(ncclMemFree(in));
  CHECK(ncclMemFree(sum));
  CHECK(ncclMemFree(left));
  CHECK(ncclCommDestroy(comm));
  free(host);
  printf("rank %d of %d: %d elements, %lld wrong\n", rank, ranks, 2 * count,
         (long long)wrong);
  return wrong != 0;
}

int main(int argc, char **argv) {
  int ranks = argc > 1 ? atoi(argv[1]) : 2;
  ncclUniqueId id;
  CHECK(ncclGetUniqueId(&id));
  for (int rank = 0; rank < ranks; ++rank) {
    pid_t child = fork();
    if (child < 0) {
      perror("fork");
      return 1;
    }
    if (child == 0)
      exit(runRank(id, rank, ranks));
  }
  int failed = 0, status = 0;
  for (int rank = 0; rank < ranks; ++rank)
    failed |= wait(&status) < 0 || status != 0;
  return failed;
}
