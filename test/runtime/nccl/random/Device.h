// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory, streams and graphs of the program that calls NCCL's API: on the host
// Iris' own streams, otherwise those of CUDA's driver.
#ifndef IRIS_TEST_RUNTIME_NCCL_RANDOM_DEVICE_H
#define IRIS_TEST_RUNTIME_NCCL_RANDOM_DEVICE_H

#include <cstdint>
#include <nccl.h>

namespace nccl_random {

/// Ends the process with a message.
[[noreturn]] void die(const char *what, const char *why);

/// Whether there is no GPU.
bool isOnHost();

/// The device of one rank. Errors end the process.
class Device {
public:
  /// \param rank takes the GPUs in turn; IRIS_NCCL_DEVICE=host: none
  /// \param bytes that allocate() may have given out at once. A GPU's memory is
  ///   taken here: CUDA may wait for kernels, of other GPUs too, where it
  ///   allocates or frees some, and these may wait for the calling rank.
  Device(int rank, uint64_t bytes);
  ~Device();
  Device(const Device &) = delete;

  bool isHost() const { return !library_; }
  /// Binds the calling thread to the device.
  void bind() const;
  cudaStream_t createStream() const;
  void destroyStream(cudaStream_t stream) const;
  void synchronize(cudaStream_t stream) const;
  uint8_t *allocate(uint64_t bytes);
  void free(uint8_t *memory);
  void copyToDevice(uint8_t *to, const void *from, uint64_t bytes) const;
  void copyFromDevice(void *to, const uint8_t *from, uint64_t bytes) const;
  void beginCapture(cudaStream_t stream) const;
  /// \return the graph, instantiated
  void *endCapture(cudaStream_t stream) const;
  void launch(void *graph, cudaStream_t stream) const;
  void destroyGraph(void *graph) const;

private:
  /// Calls a function of the driver.
  template <typename... Args>
  void call(const char *name, Args... args) const;

  void *library_ = nullptr;
  void *context_ = nullptr;
  /// Of a GPU; given out from the start, until all is free again.
  uint8_t *memory_ = nullptr;
  uint64_t bytes_ = 0, used_ = 0, live_ = 0;
};

} // namespace nccl_random

#endif // IRIS_TEST_RUNTIME_NCCL_RANDOM_DEVICE_H
