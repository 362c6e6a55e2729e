/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * main.cpp in C: a host program that uses Iris as a library.
 */
#define _POSIX_C_SOURCE 200809L /* fork, wait */

#include <iris/iris.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Not a multiple of the kernel's tile size. */
enum { count = 100 * 1000 + 7 };

typedef struct Arguments {
  IrisRtDevice device;
  const char *package;
  uint32_t numRanks; /* 0: set by the launcher (torchrun, mpirun, ...) */
} Arguments;

/* Element `index` of rank `rank`'s buffer. It depends on both, so that shifted,
 * swapped or stale data differs. */
static int32_t element(uint32_t rank, uint64_t index) {
  uint64_t h = (index + 1) * 0x9e3779b97f4a7c15ull;
  h ^= (rank + 1) * 0xbf58476d1ce4e5b9ull;
  h ^= h >> 29;
  return (int32_t)(uint32_t)(h * 0x94d049bb133111ebull >> 32);
}

/* Returns the status of an Iris call to the caller if the call failed;
 * irisrtLastError() then describes the error. */
#define TRY(call)                                                              \
  do {                                                                         \
    IrisRtStatusCode status_ = (call);                                         \
    if (status_ != IRISRT_OK)                                                  \
      return status_;                                                          \
  } while (0)

/* Launches `rotate` on `data` and reads the result back into `data`. */
static IrisRtStatusCode rotate(IrisRtWorld *world, const char *path,
                               int32_t *data) {
  IrisRtPackage *package;
  TRY(irisrtPackageOpen(path, &package));
  IrisRtStatusCode loaded = irisrtLoad(world, package);
  irisrtPackageClose(package); /* the world keeps its own copy */
  TRY(loaded);
  IrisRtKernel *kernel;
  TRY(irisrtKernelFind(world, "rotate", &kernel));

  /* Every rank makes the same allocations in the same order. The memory is
   * zero. */
  const uint64_t bytes = count * sizeof(int32_t);
  uint64_t from, to;
  TRY(irisrtAlloc(world, bytes, &from));
  TRY(irisrtAlloc(world, bytes, &to));

  TRY(irisrtCopyToDevice(world, from, data, bytes, 0));
  const uint64_t programs[3] = {8, 1, 1};
  const int64_t sizes[1] = {count};
  const IrisRtArg args[3] = {irisrtContextArg(),
                             irisrtMemrefArg(IRISRT_ELT_I32, from, 1, sizes),
                             irisrtMemrefArg(IRISRT_ELT_I32, to, 1, sizes)};
  TRY(irisrtLaunch(world, kernel, programs, args, 3, 0));
  /* The streams of all ranks are complete: the previous rank's stores are
   * visible. */
  TRY(irisrtSync(world));

  TRY(irisrtCopyToHost(world, data, to, bytes, 0));
  return irisrtSynchronize(world, 0);
}

/* Compares every element with the previous rank's data; prints the result and
 * returns 0 if all elements are right. */
static int check(const IrisRtWorld *world, const int32_t *data) {
  uint32_t rank = irisrtWorldRank(world), ranks = irisrtWorldNumRanks(world);
  uint32_t left = (rank + ranks - 1) % ranks;
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    if (data[i] == element(left, (uint64_t)i))
      continue;
    if (wrong++ == 0)
      fprintf(stderr, "rank %u: element %d is %d, expected %d\n", rank, i,
              data[i], element(left, (uint64_t)i));
  }
  if (wrong)
    fprintf(stderr, "rank %u: %d of %d elements are wrong\n", rank, wrong,
            count);
  else
    printf("rank %u of %u on %s: %d elements from rank %u are right\n", rank,
           ranks, irisrtWorldTarget(world), count, left);
  return wrong != 0;
}

/* Runs one rank. */
static int runRank(const Arguments *arguments,
                   const IrisRtWorldOptions *options) {
  int32_t *data = malloc(count * sizeof(*data));
  if (!data) {
    fprintf(stderr, "embed-c: no memory\n");
    return 1;
  }
  int failed = 1;
  IrisRtWorld *world = NULL;
  if (irisrtWorldCreate(options, &world) == IRISRT_OK) {
    for (int i = 0; i < count; ++i)
      data[i] = element(irisrtWorldRank(world), (uint64_t)i);
    if (rotate(world, arguments->package, data) == IRISRT_OK)
      failed = check(world, data);
    else
      fprintf(stderr, "embed-c: %s\n", irisrtLastError());
    if (irisrtWorldDestroy(world) != IRISRT_OK && !failed) {
      fprintf(stderr, "embed-c: %s\n", irisrtLastError());
      failed = 1;
    }
  } else {
    fprintf(stderr, "embed-c: %s\n", irisrtLastError());
  }
  free(data);
  return failed;
}

/* Forks one process per rank. This must precede any device call: drivers do not
 * survive a fork. */
static int startRanks(const Arguments *arguments) {
  char job[64];
  snprintf(job, sizeof(job), "embed-%ld", (long)getpid());
  int good = 1;
  uint32_t started = 0;
  for (uint32_t rank = 0; rank < arguments->numRanks; ++rank) {
    pid_t child = fork();
    if (child == 0) {
      IrisRtWorldOptions options;
      memset(&options, 0, sizeof(options));
      options.structBytes = sizeof(options);
      options.device = arguments->device;
      options.rank = rank;
      options.numRanks = arguments->numRanks;
      options.job = job;
      exit(runRank(arguments, &options));
    }
    if (child < 0) {
      perror("embed-c: fork");
      good = 0;
      break;
    }
    ++started;
  }
  /* A rank that fails tells its peers, so every rank exits without being
   * killed. */
  for (; started > 0; --started) {
    int status = 1;
    if (wait(&status) < 0 || status != 0)
      good = 0;
  }
  return good ? 0 : 1;
}

static int parse(int argc, char **argv, Arguments *arguments) {
  static const struct {
    const char *name;
    IrisRtDevice device;
  } devices[] = {{"--device=host", IRISRT_DEVICE_HOST},
                 {"--device=cuda", IRISRT_DEVICE_CUDA},
                 {"--device=hip", IRISRT_DEVICE_HIP}};
  for (int i = 1; i < argc; ++i) {
    int known = 0;
    for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); ++d) {
      if (strcmp(argv[i], devices[d].name) == 0) {
        arguments->device = devices[d].device;
        known = 1;
      }
    }
    if (known)
      continue;
    if (strcmp(argv[i], "-n") == 0 && i + 1 < argc) {
      int ranks = atoi(argv[++i]);
      if (ranks < 1 || ranks > IRISRT_MAX_RANKS)
        return 0;
      arguments->numRanks = (uint32_t)ranks;
    } else if (argv[i][0] != '-' && !arguments->package) {
      arguments->package = argv[i];
    } else {
      return 0;
    }
  }
  return arguments->package != NULL;
}

int main(int argc, char **argv) {
  Arguments arguments;
  memset(&arguments, 0, sizeof(arguments));
  if (!parse(argc, argv, &arguments)) {
    fprintf(stderr,
            "usage: embed-c [-n RANKS] [--device=host|cuda|hip] PACKAGE\n"
            "Without -n, a launcher (torchrun, mpirun, srun, iris-run) starts "
            "the ranks.\n");
    return 2;
  }
  if (arguments.numRanks)
    return startRanks(&arguments);
  IrisRtWorldOptions options;
  memset(&options, 0, sizeof(options));
  options.structBytes = sizeof(options);
  options.device = arguments.device;
  return runRank(&arguments, &options);
}
