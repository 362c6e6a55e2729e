// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank of a random program: its communicators, windows and buffers. Each
// buffer is between guard bytes, and is compared whole with what the
// operation has to leave there.
#ifndef IRIS_TEST_RUNTIME_NCCL_RANDOM_RANK_H
#define IRIS_TEST_RUNTIME_NCCL_RANDOM_RANK_H

#include "Device.h"
#include "Program.h"

#include <map>
#include <memory>
#include <vector>

namespace nccl_random {

/// Ends the process unless the call has succeeded, or goes on of a nonblocking
/// communicator.
#define NCCL_RANDOM_TRY(call)                                                  \
  do {                                                                         \
    const ncclResult_t result_ = (call);                                       \
    if (result_ != ncclSuccess && result_ != ncclInProgress)                   \
      ::nccl_random::die(#call, ncclGetLastError(nullptr));                    \
  } while (0)

class Rank {
public:
  /// \param bytes of all buffers at once
  Rank(int number, int numStreams, uint64_t bytes, bool isBlocking,
       bool usesNullStream);
  ~Rank();
  Rank(const Rank &) = delete;

  int number() const { return number_; }
  const Device &device() const { return device_; }
  void bind() const { device_.bind(); }

  void create(const Group &all, ncclUniqueId id);
  /// Waits until a communicator has done what was called on it.
  void awaitIdle(int group);

  /// Calls the operations in which this rank takes part.
  void call(const Group &group, const Operation &operation);
  cudaStream_t stream(int index) const {
    return streams_[static_cast<size_t>(index)];
  }
  /// Writes the inputs again, and the guards.
  void refill();
  /// Waits for all streams and compares; counts what was compared.
  void check();
  uint64_t checked() const { return checked_; }

  void split(const Step &step, const Group &parent);
  void adopt(const Step &step);
  void destroy(int group);
  void allocateWindow(int group, uint64_t bytes);
  void registerWindow(int group, uint64_t bytes);

private:
  /// A buffer and the guards around it.
  struct Region {
    uint8_t *base = nullptr;
    bool isOwn = false;
    std::vector<uint8_t> before, after;
    std::string of;
  };
  struct Window {
    uint8_t *memory = nullptr;
    uint64_t bytes = 0;
    ncclWindow_t window = nullptr;
  };

  Region &makeRegion(const Operation &operation, uint64_t elements,
                     uint64_t offset, uint64_t inWindow);
  void callSend(const Group &group, const Operation &operation);
  ncclRedOp_t reductionOf(const Operation &operation, int rank,
                          ncclComm_t comm);

  const int number_;
  const bool isBlocking_;
  Device device_;
  std::vector<cudaStream_t> streams_;
  std::map<int, ncclComm_t> comms_;
  std::map<int, Window> windows_;
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<uint8_t *> factors_;
  /// Of the communicators that split() makes, by their color.
  ncclComm_t made_ = nullptr;
  uint64_t checked_ = 0;
};

} // namespace nccl_random

#endif // IRIS_TEST_RUNTIME_NCCL_RANDOM_RANK_H
