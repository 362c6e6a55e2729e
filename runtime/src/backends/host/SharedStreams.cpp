// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedStreams.cpp - Streams of createHostStream --------------------===//
#include "backends/host/SharedStreams.h"

#include "core/ForkGuard.h"
#include "iris/rt/HostStream.h"

#include <map>

using namespace iris::rt;

namespace {
struct SharedStream {
  std::shared_ptr<HostStream> stream;
  ProcessOwner owner;
};

/// All streams of this process, by handle.
struct SharedStreams {
  std::mutex mutex;
  std::map<void *, SharedStream> entries;
};
} // namespace

/// Never destroyed: a thread may use a stream while the process exits.
static SharedStreams &allStreams() {
  static auto *all = new SharedStreams();
  return *all;
}

static Status noStream(void *stream) {
  return makeStatus(StatusCode::invalidArgument,
                    "%p is no stream of the host; expected one of "
                    "createHostStream",
                    stream);
}

Expected<std::shared_ptr<HostStream>> iris::rt::findHostStream(void *stream) {
  SharedStreams &all = allStreams();
  std::lock_guard<std::mutex> lock(all.mutex);
  auto found = all.entries.find(stream);
  if (found == all.entries.end())
    return noStream(stream);
  IRISRT_RETURN_IF_ERROR(found->second.owner.check());
  return found->second.stream;
}

Expected<void *> iris::rt::createHostStream() {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> stream,
                          HostStream::create());
  SharedStreams &all = allStreams();
  std::lock_guard<std::mutex> lock(all.mutex);
  void *handle = stream.get();
  all.entries[handle] = {std::move(stream), ProcessOwner()};
  return handle;
}

Status iris::rt::synchronizeHostStream(void *stream, double limitSeconds) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> found,
                          findHostStream(stream));
  return found->takeResult(secondsOf(limitSeconds));
}

Status iris::rt::destroyHostStream(void *stream, double limitSeconds) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<HostStream> found,
                          findHostStream(stream));
  {
    SharedStreams &all = allStreams();
    std::lock_guard<std::mutex> lock(all.mutex);
    if (all.entries.erase(stream) == 0)
      return noStream(stream); // another thread destroys it
  }
  return found->stop(secondsOf(limitSeconds));
}
