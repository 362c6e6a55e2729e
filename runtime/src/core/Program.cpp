// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Program.cpp - Runs the @main of a package --------------------------===//
#include "iris/rt/Program.h"

#include "bootstrap/Rendezvous.h"
#include "core/ProgramObserver.h"
#include "core/SharedImage.h"

#include <algorithm>
#include <map>

using namespace iris::rt;

namespace {
/// The object behind IrisRtHostApi.world.
struct ProgramState {
  World &world;
  Module module;
  std::map<std::string, Kernel> kernels;
  /// May be null.
  ProgramObserver *observer;
  /// The error of the first failed call; `@main` sees only its code.
  Status failure = {};
  /// Of an observer: the live buffers, and the number of those so far.
  std::vector<ProgramBuffer> buffers = {};
  uint64_t numAllocations = 0;

  int32_t finish(const Status &status) {
    if (!status.ok() && failure.ok())
      failure = status;
    return static_cast<int32_t>(status.code());
  }
};
} // namespace

/// Packages before ABI 1.4 call it.
static int32_t apiAlloc(void *raw, uint64_t bytes, uint64_t *address) {
  auto *state = static_cast<ProgramState *>(raw);
  if (state->observer)
    return state->finish(makeStatus(
        StatusCode::invalidArgument,
        "the package does not say which buffers are the program's; expected "
        "one by a compiler with runtime ABI 1.4 or newer"));
  Expected<uint64_t> result = state->world.allocate(bytes);
  if (!result.ok())
    return state->finish(result.status());
  *address = *result;
  return 0;
}

static int32_t apiAllocAt(void *raw, uint64_t bytes, uint64_t *address,
                          const char *site, uint32_t isWorkspace) {
  auto *state = static_cast<ProgramState *>(raw);
  Expected<uint64_t> result = state->world.allocate(bytes);
  if (!result.ok())
    return state->finish(result.status().withContext(
        std::string(isWorkspace ? "workspace of the call at "
                                : "iris.alloc at ") +
        site));
  *address = *result;
  if (state->observer && !isWorkspace)
    state->buffers.push_back({state->numAllocations++, *result, bytes});
  return 0;
}

static int32_t apiDealloc(void *raw, uint64_t address) {
  auto *state = static_cast<ProgramState *>(raw);
  auto isFreed = [&](const ProgramBuffer &b) { return b.address == address; };
  state->buffers.erase(
      std::remove_if(state->buffers.begin(), state->buffers.end(), isFreed),
      state->buffers.end());
  return state->finish(state->world.deallocate(address));
}

static int32_t launchOn(ProgramState &state, const char *name,
                        const uint64_t programs[3], const IrisRtArg *args,
                        uint32_t numArgs, const Group *group) {
  auto found = state.kernels.find(name);
  if (found == state.kernels.end()) {
    Expected<Kernel> kernel = state.module.kernel(name);
    if (!kernel.ok())
      return state.finish(kernel.status());
    found = state.kernels.emplace(name, *kernel).first;
  }
  return state.finish(
      state.world.launch(found->second, programs, args, numArgs, {}, group));
}

static int32_t apiLaunch(void *raw, const char *name,
                         const uint64_t programs[3], const IrisRtArg *args,
                         uint32_t numArgs) {
  return launchOn(*static_cast<ProgramState *>(raw), name, programs, args,
                  numArgs, nullptr);
}

static int32_t apiLaunchGroup(void *raw, const char *name,
                              const uint64_t programs[3], const IrisRtArg *args,
                              uint32_t numArgs, const uint32_t *members,
                              uint32_t groupSize) {
  auto *state = static_cast<ProgramState *>(raw);
  Expected<Group> group =
      state->world.makeGroup({members, members + groupSize});
  if (!group.ok())
    return state->finish(group.status().withContext(name));
  if (!group->contains())
    return 0;
  return launchOn(*state, name, programs, args, numArgs, &*group);
}

static Status syncProgram(ProgramState &state) {
  IRISRT_RETURN_IF_ERROR(state.world.sync());
  if (!state.observer)
    return {};
  IRISRT_RETURN_IF_ERROR(state.observer->atSync(state.world, state.buffers));
  // No rank goes on to write to buffers that a peer still observes.
  return state.world.sync();
}

static int32_t apiSync(void *raw) {
  auto *state = static_cast<ProgramState *>(raw);
  return state->finish(syncProgram(*state));
}

static Status runMain(World &world, const Package &package,
                      ProgramObserver *observer) {
  const PackageImage *image = package.findMain();
  if (!image)
    return makeStatus(StatusCode::invalidArgument,
                      "the package has no @main; it contains only kernels; "
                      "expected func.func @main(%%ctx: !iris.ctx)");
  IRISRT_RETURN_IF_ERROR(world.checkMayRunMain());
  IRISRT_ASSIGN_OR_RETURN(Module module, world.load(package));
  IRISRT_ASSIGN_OR_RETURN(SharedImage main,
                          SharedImage::load(image->data, image->size));
  IRISRT_ASSIGN_OR_RETURN(void *symbol, main.find(IRISRT_SYM_MAIN));

  ProgramState state = {world, module, {}, observer};
  IrisRtHostApi api{};
  api.magic = IRISRT_ABI_MAGIC;
  api.major = IRISRT_ABI_VERSION_MAJOR;
  api.minor = IRISRT_ABI_VERSION_MINOR;
  api.rank = world.rank();
  api.numRanks = world.numRanks();
  api.world = &state;
  api.alloc = apiAlloc;
  api.dealloc = apiDealloc;
  api.launch = apiLaunch;
  api.sync = apiSync;
  api.launchGroup = apiLaunchGroup;
  api.allocAt = apiAllocAt;

  int32_t code = reinterpret_cast<IrisRtMain>(symbol)(&api);
  if (!state.failure.ok())
    return state.failure;
  // `@main` itself checks nothing but the sizes of iris.alloc, before it calls.
  if (code == IRISRT_INVALID_ARGUMENT)
    return makeStatus(
        StatusCode::invalidArgument,
        "iris.alloc in @main has a negative size, or 2^63 bytes or more; "
        "expected sizes of 0 or more that fit the heap");
  if (code != 0)
    return makeStatus(StatusCode::internal,
                      "@main returned %d although all calls succeeded", code);
  return syncProgram(state);
}

Status iris::rt::runProgram(World &world, const Package &package) {
  return runMain(world, package, nullptr);
}

Status iris::rt::runProgram(World &world, const Package &package,
                            ProgramObserver &observer) {
  return runMain(world, package, &observer);
}

Expected<std::string> iris::rt::chooseRendezvous() {
  return chooseRendezvous(Env::get().rendezvousDirs());
}

void iris::rt::cleanUpRendezvous() {
  sweepRendezvous(Env::get().rendezvousDirs());
}
