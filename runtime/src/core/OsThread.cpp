// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OsThread.cpp - Threads without exceptions --------------------------===//
#include "core/OsThread.h"

#include <memory>

using namespace iris::rt;

static void *runBody(void *raw) {
  std::unique_ptr<std::function<void()>> body(
      static_cast<std::function<void()> *>(raw));
  (*body)();
  return nullptr;
}

Expected<OsThread> OsThread::start(std::function<void()> body) {
  auto *owned = new std::function<void()>(std::move(body));
  OsThread thread;
  int error = ::pthread_create(&thread.thread_, nullptr, runBody, owned);
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
