// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RankStates.cpp - How ranks end, without rank 0 ---------------------===//
#include "bootstrap/RankStates.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace iris::rt;

namespace {
enum State : uint32_t { running, telling, left, failed };
} // namespace

/// A rank's memory, zero at first. The other ranks only read it, and try the
/// lock.
struct RankStates::Slot {
  pthread_mutex_t lock;
  std::atomic<uint32_t> state;
  uint32_t failedRank;
  char reason[maxReasonBytes];
};

Expected<RankStates::Slot *> RankStates::mapSlot(int fd) {
  struct stat info;
  if (::fstat(fd, &info) != 0 || info.st_size != sizeof(Slot))
    return Status(StatusCode::internal,
                  "a rank's shared state has an unexpected size");
  void *memory =
      ::mmap(nullptr, sizeof(Slot), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED)
    return makeErrnoStatus(StatusCode::outOfMemory, errno,
                           "cannot map a rank's shared state");
  return static_cast<Slot *>(memory);
}

Status RankStates::create() {
  fd_.reset(::memfd_create("iris-rank", MFD_CLOEXEC));
  if (!fd_.valid() || ::ftruncate(fd_.get(), sizeof(Slot)) != 0)
    return makeErrnoStatus(StatusCode::outOfMemory, errno,
                           "cannot create a rank's shared state");
  IRISRT_ASSIGN_OR_RETURN(own_, mapSlot(fd_.get()));
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  int error = ::pthread_mutex_init(&own_->lock, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
  if (error != 0)
    return makeErrnoStatus(StatusCode::internal, error,
                           "cannot create a rank's lock");
  return Status::success();
}

RankStates::~RankStates() {
  for (Slot *slot : slots_)
    if (slot)
      ::munmap(slot, sizeof(Slot));
  if (own_)
    ::munmap(own_, sizeof(Slot));
}

Status RankStates::map(std::vector<UniqueFd> fds, uint32_t rank) {
  slots_.resize(fds.size());
  for (uint32_t peer = 0; peer < fds.size(); ++peer)
    if (peer != rank) {
      IRISRT_ASSIGN_OR_RETURN(slots_[peer], mapSlot(fds[peer].get()));
    }
  fd_.reset();
  return Status::success();
}

Status RankStates::hold() {
  if (int error = ::pthread_mutex_lock(&own_->lock))
    return makeErrnoStatus(StatusCode::internal, error,
                           "cannot take a rank's lock");
  return Status::success();
}

void RankStates::letGo() { ::pthread_mutex_unlock(&own_->lock); }

void RankStates::tell(const Failure &failure, bool leaves) {
  uint32_t expected = running;
  if (!own_ || !own_->state.compare_exchange_strong(expected, telling))
    return;
  const size_t size = std::min(failure.reason.size(), maxReasonBytes - 1);
  std::memcpy(own_->reason, failure.reason.data(), size);
  own_->failedRank = failure.rank;
  own_->state.store(leaves ? left : failed, std::memory_order_release);
}

std::optional<RankStates::End> RankStates::endOf(uint32_t rank) const {
  Slot *slot = rank < slots_.size() ? slots_[rank] : nullptr;
  if (!slot)
    return std::nullopt;
  auto told = [&]() -> std::optional<End> {
    const uint32_t state = slot->state.load(std::memory_order_acquire);
    if (state != left && state != failed)
      return std::nullopt;
    const size_t size = ::strnlen(slot->reason, maxReasonBytes);
    const uint32_t failed = slot->failedRank;
    return End{{failed < slots_.size() ? failed : rank,
                escapeControls(std::string(slot->reason, size))},
               state == left};
  };
  if (std::optional<End> end = told())
    return end;
  const int error = ::pthread_mutex_trylock(&slot->lock);
  if (error == EBUSY)
    return std::nullopt;
  if (error == EOWNERDEAD)
    ::pthread_mutex_consistent(&slot->lock);
  if (error == EOWNERDEAD || error == 0)
    ::pthread_mutex_unlock(&slot->lock);
  // It may have told before it let the lock go.
  if (std::optional<End> end = told())
    return end;
  return End{{rank, "its process exited or was killed"}, /*leaves=*/true};
}
