// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryPool.cpp - Device memory that worlds can import --------------===//
#include "iris/rt/MemoryPool.h"

#include "backends/Backend.h"
#include "core/ForkGuard.h"

#include <mutex>
#include <set>

using namespace iris::rt;

struct MemoryPool::Impl {
  ~Impl() {
    if (!owner.isHere()) {
      (void)backend.release(); // belongs to the parent process
      return;
    }
    for (uint64_t address : addresses)
      backend->freeImportable(address).ignore(
          "a destructor cannot return an error");
  }

  const ProcessOwner owner;
  std::unique_ptr<Backend> backend;
  mutable std::mutex mutex; // guards addresses
  std::set<uint64_t> addresses;
};

MemoryPool::MemoryPool(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MemoryPool::~MemoryPool() = default;

Expected<std::unique_ptr<MemoryPool>>
MemoryPool::create(const DeviceSpec &device, int index, bool letPeersAccess) {
  auto impl = std::make_unique<Impl>();
  IRISRT_ASSIGN_OR_RETURN(impl->backend, createBackend(device, index));
  if (letPeersAccess)
    IRISRT_RETURN_IF_ERROR(impl->backend->letPeersAccess());
  return std::unique_ptr<MemoryPool>(new MemoryPool(std::move(impl)));
}

Expected<uint64_t> MemoryPool::allocate(uint64_t bytes) {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  IRISRT_ASSIGN_OR_RETURN(uint64_t address,
                          impl_->backend->allocateImportable(bytes));
  std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->addresses.insert(address);
  return address;
}

Status MemoryPool::free(uint64_t address) {
  IRISRT_RETURN_IF_ERROR(impl_->owner.check());
  {
    std::lock_guard<std::mutex> lock(impl_->mutex);
    if (impl_->addresses.erase(address) == 0)
      return makeStatus(StatusCode::invalidArgument,
                        "0x%llx is no memory of the pool, or was freed",
                        static_cast<unsigned long long>(address));
  }
  return impl_->backend->freeImportable(address);
}

bool MemoryPool::owns(uint64_t address) const {
  if (!impl_->owner.isHere())
    return false;
  std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->addresses.count(address) != 0;
}
