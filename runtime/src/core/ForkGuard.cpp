// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ForkGuard.cpp - Detection of forked children -----------------------===//
#include "core/ForkGuard.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace iris::rt;

namespace {
/// The fork state of this process. A child gets a copy with mark 0.
class ForkState {
public:
  ForkState();
  uint64_t mark();
  void add(int fd);
  void remove(int fd);

private:
  static void beforeFork();
  static void inParent();
  static void inChild();

  /// In a page that the kernel zeroes in children of any kind of fork. If that
  /// is not supported, the pthread_atfork handler clears the mark.
  std::atomic<uint64_t> *mark_;
  std::atomic<uint64_t> fallback_{0};
  std::atomic<uint64_t> next_{0};
  std::mutex mutex_;
  std::vector<int> fds_;
};
} // namespace

/// Never destroyed, because worlds may be destroyed after static objects.
static ForkState &state() {
  static ForkState *const state = new ForkState;
  return *state;
}

ForkState::ForkState() : mark_(&fallback_) {
  size_t bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void *page = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) {
    if (::madvise(page, bytes, MADV_WIPEONFORK) == 0)
      mark_ = new (page) std::atomic<uint64_t>(0);
    else
      ::munmap(page, bytes);
  }
  ::pthread_atfork(beforeFork, inParent, inChild);
}

uint64_t ForkState::mark() {
  uint64_t mark = mark_->load(std::memory_order_relaxed);
  if (mark != 0)
    return mark;
  // The first call since the fork. A child continues the parent's `next_`, so
  // no ancestor has this number.
  uint64_t fresh = ++next_;
  return mark_->compare_exchange_strong(mark, fresh) ? fresh : mark;
}

void ForkState::add(int fd) {
  std::lock_guard<std::mutex> lock(mutex_);
  fds_.push_back(fd);
}

void ForkState::remove(int fd) {
  std::lock_guard<std::mutex> lock(mutex_);
  fds_.erase(std::remove(fds_.begin(), fds_.end(), fd), fds_.end());
}

void ForkState::beforeFork() { state().mutex_.lock(); }

void ForkState::inParent() { state().mutex_.unlock(); }

void ForkState::inChild() {
  ForkState &child = state();
  for (int fd : child.fds_)
    ::close(fd);
  child.fds_.clear();
  child.mark_->store(0);
  child.mutex_.unlock();
}

//===----------------------------------------------------------------------===//
// ProcessOwner
//===----------------------------------------------------------------------===//

ProcessOwner::ProcessOwner() : mark_(state().mark()), pid_(::getpid()) {}

bool ProcessOwner::isHere() const { return state().mark() == mark_; }

Status ProcessOwner::check() const {
  if (isHere())
    return Status::success();
  return makeStatus(StatusCode::failedPrecondition,
                    "this world belongs to process %d; process %d, forked from "
                    "it, cannot use it: expected a world that this process has "
                    "created itself, or exec after fork",
                    pid_, ::getpid());
}

void iris::rt::closeInChildren(int fd) { state().add(fd); }
void iris::rt::forgetInChildren(int fd) { state().remove(fd); }
