// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scaling.h - Sums whose inputs have factors ---------------*- C++ -*-===//
//
// ncclRedOpCreatePreMulSum: each rank's input is multiplied by its factor
// before the sum. A kernel scales a slice of the input into scratch on the
// heap, which the collective then reads in place of the input. A factor of the
// host is an argument of the kernel, which a graph keeps.
#ifndef IRIS_NCCL_SCALING_H
#define IRIS_NCCL_SCALING_H

#include "iris/ccl/Communicator.h"
#include "iris/rt/World.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace iris::nccl {

/// A factor of the input of a sum.
struct Factor {
  ccl::DType dtype = ccl::DType::f32;
  /// Where it is read when the operation runs, in device memory; 0: it is
  /// `bits`, zero extended.
  uint64_t address = 0;
  uint64_t bits = 0;
};

/// The reductions with factors of a communicator, and the kernels that apply
/// them.
class Scaling {
public:
  Scaling() = default;
  ~Scaling();
  Scaling(const Scaling &) = delete;
  Scaling &operator=(const Scaling &) = delete;

  /// Allocates the memory. Collective.
  /// \param cache the source of kernels
  rt::Status open(rt::World &world, std::shared_ptr<ccl::KernelCache> cache);

  /// Makes a reduction.
  /// \return a number that no other reduction of this process has
  /// \retval failedPrecondition no number is left
  rt::Expected<int> add(const Factor &factor);
  /// \retval invalidArgument there is no such reduction
  rt::Status remove(int number);
  /// \retval invalidArgument there is no such reduction of that type
  rt::Expected<Factor> find(int number, ccl::DType dtype) const;

  /// Enqueues a collective.
  using Run = std::function<rt::Status(const ccl::Call &call)>;
  /// Enqueues an all-reduce, reduce or reduce-scatter of the scaled input.
  /// \param numRanks the ranks of the communicator
  /// \param collective enqueues it on the scaled input
  /// \param call the call on the unscaled input, a sum
  rt::Status run(rt::World &world, uint32_t numRanks, const Run &collective,
                 const ccl::Call &call, const Factor &factor);

private:
  rt::Expected<rt::Kernel> kernelFor(rt::World &world, ccl::DType dtype);
  rt::Status scale(rt::World &world, const ccl::Call &call, uint64_t from,
                   uint64_t to, uint64_t count, const Factor &factor);

  /// The scaled slices, on the heap.
  uint64_t scratch_ = 0;
  std::map<ccl::DType, rt::Kernel> kernels_;
  std::shared_ptr<ccl::KernelCache> cache_;

  mutable std::mutex mutex_;
  std::map<int, Factor> factors_; // guarded by mutex_
};

} // namespace iris::nccl

#endif // IRIS_NCCL_SCALING_H
