// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scaling.h - Sums whose inputs have factors ---------------*- C++ -*-===//
//
// ncclRedOpCreatePreMulSum: each rank's input is multiplied by its factor
// before the sum. A kernel scales a slice of the input into scratch on the
// heap, which the collective then reads in place of the input.
#ifndef IRIS_NCCL_SCALING_H
#define IRIS_NCCL_SCALING_H

#include "iris/ccl/Communicator.h"
#include "iris/rt/World.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace iris::nccl {

/// The factors of a communicator, and the kernels that apply them.
class Scaling {
public:
  /// Allocates the memory. Collective.
  /// \param cache the source of kernels
  rt::Status open(rt::World &world, std::shared_ptr<ccl::KernelCache> cache);

  /// Makes a reduction with a factor that is copied now.
  /// \param value the factor, in memory of the host
  /// \return a number that is no other reduction's
  /// \retval failedPrecondition there are too many
  rt::Expected<int> add(rt::World &world, ccl::DType dtype, const void *value);
  /// Makes one with a factor that is read when the operation runs.
  /// \param address of the factor, in device memory
  int addFromDevice(ccl::DType dtype, uint64_t address);
  /// \retval invalidArgument there is no such reduction
  rt::Status remove(int number);
  /// \return the address of the factor, in device memory
  /// \retval invalidArgument there is no such reduction of that type
  rt::Expected<uint64_t> find(int number, ccl::DType dtype) const;

  /// Enqueues a collective.
  using Run = std::function<rt::Status(const ccl::Call &call)>;
  /// Enqueues an all-reduce, reduce or reduce-scatter of the scaled input.
  /// \param numRanks the ranks of the communicator
  /// \param collective enqueues it on the scaled input
  /// \param call the call on the unscaled input, a sum
  /// \param factor the address of the factor
  rt::Status run(rt::World &world, uint32_t numRanks, const Run &collective,
                 const ccl::Call &call, uint64_t factor);

private:
  struct Factor {
    ccl::DType dtype = ccl::DType::f32;
    uint64_t address = 0;
    /// Whether it is a slot of `slots_`.
    bool isOwn = false;
  };

  rt::Expected<rt::Kernel> kernelFor(rt::World &world, ccl::DType dtype);
  rt::Status scale(rt::World &world, const ccl::Call &call, uint64_t from,
                   uint64_t to, uint64_t count, uint64_t factor);

  /// On the heap: the slots of factors, and the scaled slices.
  uint64_t slots_ = 0, scratch_ = 0;
  /// Copies factors, while other streams may wait for peers.
  rt::Stream copies_;
  std::map<ccl::DType, rt::Kernel> kernels_;
  std::shared_ptr<ccl::KernelCache> cache_;

  mutable std::mutex mutex_; // guards what follows
  std::map<int, Factor> factors_;
  int next_ = 0;
  uint64_t numOwn_ = 0, numWritten_ = 0;
};

} // namespace iris::nccl

#endif // IRIS_NCCL_SCALING_H
