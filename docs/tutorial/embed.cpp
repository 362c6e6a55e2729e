// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Step 6: launches the all-gather of step 3 from C++.
#include "iris/rt/World.h"

#include <cstdio>
#include <vector>

using namespace iris::rt;

static constexpr int64_t count = 10007;

/// What every rank does; `path` is the package that iris-compile wrote.
static Status run(const char *path) {
  // [world]
  // Rank and world size come from the launcher's environment.
  WorldOptions options;
  IRISRT_ASSIGN_OR_RETURN(auto world, World::create(options));
  IRISRT_ASSIGN_OR_RETURN(Package package, Package::fromFile(path));
  IRISRT_ASSIGN_OR_RETURN(Module module, world->load(package));
  IRISRT_ASSIGN_OR_RETURN(Kernel kernel, module.kernel("push"));
  // [/world]

  // [launch]
  const int64_t all = count * world->numRanks();
  std::vector<int32_t> data(all);
  for (int64_t i = 0; i < count; ++i)
    data[i] = 1000000 * static_cast<int32_t>(world->rank()) + i;
  IRISRT_ASSIGN_OR_RETURN(auto in, world->allocate<int32_t>(count));
  IRISRT_ASSIGN_OR_RETURN(auto out, world->allocate<int32_t>(all));
  IRISRT_RETURN_IF_ERROR(world->writeNow(in, data.data(), in.bytes()));
  IRISRT_RETURN_IF_ERROR(world->launch(
      kernel, {4, 1, 1}, {makeContextArg(), in.arg(), out.arg()}));
  IRISRT_RETURN_IF_ERROR(world->sync()); // all ranks have stored
  IRISRT_RETURN_IF_ERROR(world->readNow(data.data(), out, out.bytes()));
  // [/launch]

  for (int64_t i = 0; i < all; ++i)
    if (data[i] != 1000000 * (i / count) + i % count)
      return makeStatus(StatusCode::internal, "element %lld is %d",
                        static_cast<long long>(i), data[i]);
  std::printf("rank %u of %u on %s: %lld elements are right\n", world->rank(),
              world->numRanks(), world->target().c_str(),
              static_cast<long long>(all));
  return world->destroy();
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: embed PACKAGE\n");
    return 1;
  }
  Status status = run(argv[1]);
  if (!status.ok())
    std::fprintf(stderr, "embed: %s\n", status.message().c_str());
  return !status.ok();
}
