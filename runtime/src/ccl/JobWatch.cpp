// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JobWatch.cpp - Time limit of an engine on streams ------------------===//
//
// A rank may not make the call for which the work of an engine on streams
// waits, and the program may wait for that work without a limit.
#include "ccl/JobCommunicatorImpl.h"
#include "core/WorldAccess.h"

using namespace iris::ccl;
using namespace iris::rt;

/// Between two looks at pending work.
static constexpr auto watchInterval = std::chrono::milliseconds(50);

JobCommunicator::Impl::Enqueuing::Enqueuing(Impl &impl,
                                            const std::vector<Stream> &streams)
    : impl_(impl), isWatched_(impl.onStreams != nullptr) {
  // Replays are not seen.
  for (Stream stream : streams)
    isWatched_ = isWatched_ && !impl.world.isCaptured(stream);
  if (!isWatched_)
    return;
  std::lock_guard<std::mutex> lock(impl.watch.mutex);
  ++impl.watch.calls;
  impl.watch.pendingSince = std::chrono::steady_clock::now();
  impl.watch.changed.notify_all();
}

JobCommunicator::Impl::Enqueuing::~Enqueuing() {
  if (!isWatched_)
    return;
  std::lock_guard<std::mutex> lock(impl_.watch.mutex);
  --impl_.watch.calls;
  impl_.watch.pendingSince = std::chrono::steady_clock::now();
}

Status JobCommunicator::Impl::pollEngine() {
  IRISRT_RETURN_IF_ERROR(onStreams->poll());
  std::lock_guard<std::mutex> lock(watch.mutex);
  // The stream may be captured, too; it has no work then.
  if (!watch.pendingSince || world.capturing())
    return Status::success();
  const std::chrono::nanoseconds limit = InterNodeAccess::limitOf(engine);
  Expected<bool> isDone = WorldAccess::backend(world).query(
      WorldAccess::handleOf(world, transfers.stream()));
  if (watch.calls == 0 && (!isDone.ok() || *isDone))
    watch.pendingSince.reset();
  else if (std::chrono::steady_clock::now() - *watch.pendingSince > limit)
    return makeStatus(StatusCode::timeout,
                      "%s: transfers between nodes were not complete within "
                      "%.3g s: a rank did not make the call, or the network is "
                      "slow",
                      engine.name().c_str(),
                      std::chrono::duration<double>(limit).count());
  return Status::success();
}

void JobCommunicator::Impl::watchEngine() {
  if (!WorldAccess::backend(world).useThread().ok())
    return; // without the device, poll() still tells
  std::unique_lock<std::mutex> lock(watch.mutex);
  for (;;) {
    watch.changed.wait(
        lock, [&] { return watch.isEnded || watch.pendingSince.has_value(); });
    if (watch.isEnded || watch.changed.wait_for(lock, watchInterval,
                                                [&] { return watch.isEnded; }))
      return;
    lock.unlock();
    const Status status = poll();
    lock.lock();
    if (!status.ok())
      return; // every call returns it
  }
}

void JobCommunicator::Impl::endWatch() {
  {
    std::lock_guard<std::mutex> lock(watch.mutex);
    watch.isEnded = true;
  }
  watch.changed.notify_all();
  watcher.join();
}
