// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OsThread.cpp - Threads without exceptions --------------------------===//
#include "core/OsThread.h"

#include <algorithm>
#include <memory>

using namespace iris::rt;

/// Enough for the runtime and for kernels of the host. By default, a thread has
/// the process' limit (`ulimit -s`), which is for its main thread.
static constexpr size_t minStackBytes = 1 << 20;

static void *runBody(void *raw) {
  std::unique_ptr<std::function<void()>> body(
      static_cast<std::function<void()> *>(raw));
  (*body)();
  return nullptr;
}

Expected<OsThread> OsThread::start(std::function<void()> body) {
  auto *owned = new std::function<void()>(std::move(body));
  OsThread thread;
  pthread_attr_t attributes;
  size_t stackBytes = 0;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_getstacksize(&attributes, &stackBytes);
  ::pthread_attr_setstacksize(&attributes, std::max(stackBytes, minStackBytes));
  int error = ::pthread_create(&thread.thread_, &attributes, runBody, owned);
  ::pthread_attr_destroy(&attributes);
  if (error != 0) {
    delete owned;
    return makeErrnoStatus(StatusCode::unavailable, error,
                           "cannot start a thread");
  }
  thread.joinable_ = true;
  return thread;
}

void OsThread::join() {
  if (joinable_)
    ::pthread_join(thread_, nullptr);
  joinable_ = false;
}

void OsThread::detach() {
  if (joinable_)
    ::pthread_detach(thread_);
  joinable_ = false;
}
