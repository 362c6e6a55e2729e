// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host program that uses Iris as a library: creates a world, allocates on the
// symmetric heap, loads a package, launches a kernel and checks every element
// of the result. main.c is the same program in C.
#include <iris/rt/World.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace iris::rt;

namespace {

constexpr int64_t count = 100 * 1000 + 7; // not a multiple of the tile size

struct Arguments {
  DeviceSpec device;
  std::string package;
  uint32_t numRanks = 0; // 0: set by the launcher (torchrun, mpirun, ...)
};

/// Element `index` of rank `rank`'s buffer. It depends on both, so that
/// shifted, swapped or stale data differs.
int32_t element(uint32_t rank, uint64_t index) {
  uint64_t h = (index + 1) * 0x9e3779b97f4a7c15ull;
  h ^= (rank + 1) * 0xbf58476d1ce4e5b9ull;
  h ^= h >> 29;
  return static_cast<int32_t>(h * 0x94d049bb133111ebull >> 32);
}

/// Runs one rank.
Status run(const Arguments &arguments, const WorldOptions &options) {
  IRISRT_ASSIGN_OR_RETURN(std::unique_ptr<World> world, World::create(options));
  IRISRT_ASSIGN_OR_RETURN(Package package,
                          Package::fromFile(arguments.package));
  IRISRT_ASSIGN_OR_RETURN(Module module, world->load(package));
  IRISRT_ASSIGN_OR_RETURN(Kernel rotate, module.kernel("rotate"));

  // Every rank makes the same allocations in the same order. The memory is
  // zero.
  IRISRT_ASSIGN_OR_RETURN(auto from, world->allocate<int32_t>(count));
  IRISRT_ASSIGN_OR_RETURN(auto to, world->allocate<int32_t>(count));

  std::vector<int32_t> data(count);
  for (int64_t i = 0; i < count; ++i)
    data[i] = element(world->rank(), i);
  IRISRT_RETURN_IF_ERROR(world->writeNow(from, data.data(), from.bytes()));
  IRISRT_RETURN_IF_ERROR(world->launch(
      rotate, {8, 1, 1}, {makeContextArg(), from.arg(), to.arg()}));
  // The streams of all ranks are complete: the previous rank's stores are
  // visible.
  IRISRT_RETURN_IF_ERROR(world->sync());

  IRISRT_RETURN_IF_ERROR(world->readNow(data.data(), to, to.bytes()));
  const uint32_t left =
      (world->rank() + world->numRanks() - 1) % world->numRanks();
  int64_t wrong = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (data[i] == element(left, i))
      continue;
    if (wrong++ == 0)
      std::fprintf(stderr, "rank %u: element %lld is %d, expected %d\n",
                   world->rank(), static_cast<long long>(i), data[i],
                   element(left, i));
  }
  if (wrong)
    return makeStatus(StatusCode::internal, "%lld of %lld elements are wrong",
                      static_cast<long long>(wrong),
                      static_cast<long long>(count));
  std::printf(
      "rank %u of %u on %s (%s): %lld elements from rank %u are right\n",
      world->rank(), world->numRanks(), world->target().c_str(),
      world->deviceName().c_str(), static_cast<long long>(count), left);
  return world->destroy();
}

int runRank(const Arguments &arguments, const WorldOptions &options) {
  Status status = run(arguments, options);
  if (status.ok())
    return 0;
  std::fprintf(stderr, "embed-cpp: %s\n", status.toString().c_str());
  return 1;
}

/// Forks one process per rank. This must precede any device call: drivers do
/// not survive a fork.
int startRanks(const Arguments &arguments) {
  std::string job = "embed-" + std::to_string(getpid());
  std::vector<pid_t> children;
  for (uint32_t rank = 0; rank < arguments.numRanks; ++rank) {
    pid_t child = fork();
    if (child == 0) {
      LaunchInfo launch;
      launch.launcher = "embed-cpp";
      launch.rank = launch.localRank = rank;
      launch.numRanks = arguments.numRanks;
      launch.job = job;
      WorldOptions options;
      options.device = arguments.device;
      options.launch = launch;
      std::exit(runRank(arguments, options));
    }
    if (child < 0)
      std::perror("embed-cpp: fork");
    else
      children.push_back(child);
  }
  // A rank that fails tells its peers, so every rank exits without being
  // killed.
  bool good = children.size() == arguments.numRanks;
  for (pid_t child : children) {
    int status = 1;
    good &= waitpid(child, &status, 0) == child && status == 0;
  }
  return good ? 0 : 1;
}

bool parse(int argc, char **argv, Arguments &arguments) {
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word == "-n" && i + 1 < argc) {
      int ranks = std::atoi(argv[++i]);
      if (ranks < 1 || ranks > IRISRT_MAX_RANKS)
        return false;
      arguments.numRanks = static_cast<uint32_t>(ranks);
    } else if (word.rfind("--device=", 0) == 0) {
      Expected<DeviceSpec> device = parseDevice(word.substr(9));
      if (!device.ok())
        return false;
      arguments.device = *device;
    } else if (word[0] != '-' && arguments.package.empty()) {
      arguments.package = word;
    } else {
      return false;
    }
  }
  return !arguments.package.empty();
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: embed-cpp [-n RANKS] "
                 "[--device=host|cuda|hip|emulated:CHIP] PACKAGE\n"
                 "Without -n, a launcher (torchrun, mpirun, srun, iris-run) "
                 "starts the ranks.\n");
    return 2;
  }
  if (arguments.numRanks)
    return startRanks(arguments);
  WorldOptions options;
  options.device = arguments.device;
  return runRank(arguments, options);
}
