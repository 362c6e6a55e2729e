// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelLaunch.cpp - Kernel launches ---------------------------------===//
//
// Every launch runs this code, so invariant properties are computed earlier.
#include "core/HiddenArgs.h"
#include "core/WorldImpl.h"

#include <algorithm>
#include <cstring>

using namespace iris::rt;

static LaunchConfig configOf(const KernelInfo &info) {
  LaunchConfig config;
  std::copy(info.workgroup.begin(), info.workgroup.end(), config.workgroup);
  config.dynamicSharedBytes = info.dynamicSharedBytes;
  config.arenaBytes = info.arenaBytes;
  config.coresident = info.coresident;
  config.dependent = info.dependentLaunch;
  return config;
}

Expected<uint32_t> World::maxCoresident(const Kernel &kernel) const {
  return impl_->maxCoresident(kernel);
}

uint32_t World::ranksOnDevice() const { return impl_->ranksOnDevice; }

Expected<uint32_t> World::Impl::maxCoresident(const Kernel &kernel) {
  IRISRT_RETURN_IF_ERROR(owner.check());
  if (kernel.maxCoresident_ != 0)
    return kernel.maxCoresident_;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = coresidentLimits.find(kernel.handle_);
    if (found != coresidentLimits.end())
      return found->second;
  }
  IRISRT_ASSIGN_OR_RETURN(
      uint32_t most,
      backend->maxCoresident({kernel.handle_}, configOf(kernel.info())));
  most = std::max(most / ranksOnDevice, uint32_t(1));
  std::lock_guard<std::mutex> lock(mutex);
  coresidentLimits[kernel.handle_] = most;
  return most;
}

Status World::launch(const Kernel &kernel,
                     const std::array<uint64_t, 3> &programs,
                     const std::vector<IrisRtArg> &args, Stream stream,
                     const Group *group) {
  return launch(kernel, programs.data(), args.data(), args.size(), stream,
                group);
}

Expected<Group> World::makeGroup(const std::vector<uint32_t> &ranks) const {
  if (ranks.empty() || ranks.size() > IRISRT_MAX_GROUP)
    return makeStatus(StatusCode::invalidArgument,
                      "a group of %zu ranks; expected 1 to %d", ranks.size(),
                      IRISRT_MAX_GROUP);
  // What IrisRtContext.groupMembers has bits for.
  const uint32_t most =
      std::min(numRanks(), 1u << IRISRT_GROUP_MEMBER_BITS(ranks.size()));
  Group group;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] >= most)
      return makeStatus(StatusCode::invalidArgument,
                        "rank %u in a group of %zu ranks; expected less than "
                        "%u",
                        ranks[i], ranks.size(), most);
    if (std::find(ranks.begin(), ranks.begin() + i, ranks[i]) !=
        ranks.begin() + i)
      return makeStatus(StatusCode::invalidArgument,
                        "rank %u is twice in a group", ranks[i]);
    if (ranks[i] == rank())
      group.index = static_cast<int32_t>(i);
  }
  group.ranks = ranks;
  return group;
}

static void setGroup(IrisRtContext &context, const Group &group) {
  const size_t bits = IRISRT_GROUP_MEMBER_BITS(group.ranks.size());
  context.groupMembers = 0;
  for (size_t i = 0; i < group.ranks.size(); ++i)
    context.groupMembers |= static_cast<uint64_t>(group.ranks[i]) << (bits * i);
  context.groupSize = static_cast<uint32_t>(group.ranks.size());
  context.groupIndex = static_cast<uint32_t>(group.index);
}

/// `size` is 0 without a group.
static Status checkGroup(const KernelInfo &info, size_t size) {
  if (size > info.maxGroup)
    return makeStatus(StatusCode::invalidArgument,
                      "%s is for groups of at most %u ranks, not of %zu; "
                      "compile it %s",
                      info.fullName().c_str(), info.maxGroup, size,
                      info.groupSize ? "for a group of that size" : "again");
  if (!info.groupSize)
    return Status::success();
  if (size == 0)
    return makeStatus(StatusCode::invalidArgument,
                      "%s is a collective of at most %u ranks, but the world "
                      "has more; pass a group",
                      info.fullName().c_str(), info.maxGroup);
  if (*info.groupSize != 0 && *info.groupSize != size)
    return makeStatus(StatusCode::invalidArgument,
                      "%s was generated for a group of %u ranks, not of %zu",
                      info.fullName().c_str(), *info.groupSize, size);
  return Status::success();
}

/// A collective's workspace limits its number of programs.
static Status checkPrograms(const KernelInfo &info,
                            const uint64_t programs[3]) {
  if (!info.maxPrograms || (programs[0] <= *info.maxPrograms &&
                            programs[1] == 1 && programs[2] == 1))
    return Status::success();
  return makeStatus(
      StatusCode::invalidArgument,
      "%s: a launch of %llu x %llu x %llu programs; the "
      "collective was generated for at most %u x 1 x 1",
      info.fullName().c_str(), static_cast<unsigned long long>(programs[0]),
      static_cast<unsigned long long>(programs[1]),
      static_cast<unsigned long long>(programs[2]), *info.maxPrograms);
}

/// Checks everything about a launch except its arguments, and fills in its
/// grid.
static Status configure(const KernelInfo &info, const uint64_t programs[3],
                        LaunchConfig &config, uint64_t &total) {
  config = configOf(info);
  total = 1;
  for (int i = 0; i < 3; ++i) {
    // The product of three 31-bit numbers may overflow; that of two cannot.
    if (programs[i] == 0 || programs[i] > INT32_MAX ||
        programs[i] > UINT64_MAX / total)
      return makeStatus(
          StatusCode::invalidArgument,
          "%s: a launch of %llu x %llu x %llu programs; expected 1 to %d each",
          info.fullName().c_str(), static_cast<unsigned long long>(programs[0]),
          static_cast<unsigned long long>(programs[1]),
          static_cast<unsigned long long>(programs[2]), INT32_MAX);
    config.grid[i] = static_cast<uint32_t>(programs[i]);
    total *= programs[i];
  }
  return checkPrograms(info, programs);
}

static Status checkCoresident(const KernelInfo &info, uint64_t total,
                              uint32_t most, const std::string &deviceName) {
  if (total <= most)
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "%s: %llu programs wait for each other and must all run at "
                    "once, but %s runs at most %u of them; launch at most %u",
                    info.fullName().c_str(),
                    static_cast<unsigned long long>(total), deviceName.c_str(),
                    most, most);
}

const Group *World::Impl::groupOf(const KernelInfo &info,
                                  const Group *group) const {
  if (group)
    return group;
  const size_t size = worldGroup.ranks.size();
  return size != 0 && size <= info.maxGroup ? &worldGroup : nullptr;
}

Status World::Impl::checkLaunch(const Kernel &kernel,
                                const uint64_t programs[3], const Group *group,
                                LaunchConfig &config) {
  IRISRT_RETURN_IF_ERROR(failure());
  if (group && !group->contains())
    return makeStatus(StatusCode::invalidArgument,
                      "rank %u launches for a group that it is not in",
                      launch.rank);
  if (!kernel.info_)
    return makeStatus(StatusCode::invalidArgument,
                      "launch of an invalid kernel; expected one from "
                      "Module::kernel or World::findKernel");
  const KernelInfo &info = *kernel.info_;
  group = groupOf(info, group);
  IRISRT_RETURN_IF_ERROR(checkGroup(info, group ? group->ranks.size() : 0));
  uint64_t total = 0;
  IRISRT_RETURN_IF_ERROR(configure(info, programs, config, total));
  if (!info.coresident)
    return Status::success();
  IRISRT_ASSIGN_OR_RETURN(uint32_t most, maxCoresident(kernel));
  return checkCoresident(info, total, most, backend->info().name);
}

Status World::launch(const Kernel &kernel, const uint64_t programs[3],
                     const IrisRtArg *args, size_t numArgs, Stream stream,
                     const Group *group) {
  LaunchConfig config;
  IRISRT_RETURN_IF_ERROR(impl_->checkLaunch(kernel, programs, group, config));
  SymmetricHeap *heap = impl_->heap.get();
  IRISRT_RETURN_IF_ERROR(checkArgs(*kernel.info_, args, numArgs,
                                   [heap](uint64_t address, uint64_t bytes) {
                                     return heap->contains(address, bytes);
                                   }));
  return impl_->launchChecked(kernel, config, args, numArgs, stream, group);
}

Status World::launchOnHeap(const Kernel &kernel, const uint64_t programs[3],
                           const IrisRtArg *args, size_t numArgs, Stream stream,
                           const Group *group) {
  LaunchConfig config;
  IRISRT_RETURN_IF_ERROR(impl_->checkLaunch(kernel, programs, group, config));
  IRISRT_RETURN_IF_ERROR(checkArgs(*kernel.info_, args, numArgs));
  return impl_->launchChecked(kernel, config, args, numArgs, stream, group);
}

Status World::Impl::launchChecked(const Kernel &kernel, LaunchConfig &config,
                                  const IrisRtArg *args, size_t numArgs,
                                  Stream stream, const Group *group) {
  const KernelInfo &info = *kernel.info_;
  const uint64_t total =
      uint64_t(config.grid[0]) * config.grid[1] * config.grid[2];
  group = groupOf(info, group);
  IRISRT_RETURN_IF_ERROR(
      checkBarriers(info, args, total, context.numRanks,
                    group ? static_cast<uint32_t>(group->ranks.size()) : 0));
  std::lock_guard<std::mutex> lock(launchMutex);
  IrisRtContext filled = context;
  filled.launchId = ++launchCount;
  if (group)
    setGroup(filled, *group);
  IRISRT_RETURN_IF_ERROR(packArgs(info, filled, args, numArgs, argBlock));
  IRISRT_RETURN_IF_ERROR(
      packHiddenArgs(info, filled, args, *backend, argBlock));
  parameters.clear();
  for (uint32_t offset : info.parameterOffsets)
    parameters.push_back(argBlock.data() + offset);
  if (!parameters.empty())
    config.parameters = parameters.data();
  if (Log::enabled(LogLevel::debug))
    log.debug("launch %u: %s, %u x %u x %u programs", filled.launchId,
              info.fullName().c_str(), config.grid[0], config.grid[1],
              config.grid[2]);
  const StreamHandle handle = joinedHandleOf(stream);
  if (info.coresident || info.dependentLaunch)
    config.isCaptured = isCapturing(handle);
  Status status = backend->launch(handle, {kernel.handle_}, config,
                                  argBlock.data(), argBlock.size());
  if (info.coresident)
    notePending(handle, config.isCaptured);
  return status.ok() ? status : status.withContext(info.fullName());
}
