// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulExecution.h - A matmul that is ready to run --------*- C++ -*-===//
#ifndef IRIS_RT_CCL_MATMULEXECUTION_H
#define IRIS_RT_CCL_MATMULEXECUTION_H

#include "ccl/Agreement.h"
#include "ccl/CopyEngine.h"
#include "ccl/MatmulLibrary.h"
#include "ccl/MatmulPlan.h"
#include "ccl/MatmulUnfused.h"
#include "iris/ccl/Communicator.h"

#include <memory>
#include <optional>

namespace iris::ccl {

/// Where a matmul runs: its world, the source of its kernels, and how its ranks
/// agree.
struct MatmulSite {
  rt::World &world;
  const std::shared_ptr<KernelCache> &cache;
  const rt::Group &group;
  /// For exchanges with the other ranks.
  uint32_t channel;

  Agreement agreement() const { return {world, group, channel}; }
};

/// The addresses and the factor of a call.
struct MatmulArgs {
  uint64_t a = 0, b = 0, c = 0, bias = 0;
  float scale = 1;
};

/// A matmul with a complete config: its loaded kernel, its collective or its
/// copies, and its memory on the heap.
class MatmulExecution {
public:
  /// The request for the kernel of a problem with a complete config.
  static KernelRequest requestOf(const rt::World &world,
                                 const MatmulProblem &kernelProblem);

  /// Collective over the world; all ranks succeed, or all fail.
  static rt::Expected<std::unique_ptr<MatmulExecution>>
  create(const MatmulSite &site, const MatmulTuningKey &tuningKey);
  /// Frees the memory. Collective over the world; returns the first error.
  rt::Status destroy();

  /// Enqueues the work of a call, whose arguments have been checked.
  rt::Status run(const MatmulArgs &args, rt::Stream stream);

  /// The problem with its complete config.
  const MatmulProblem &problem() const { return problem_; }
  /// The sizes of the matrices that a call takes.
  const MatmulPlan &matrices() const { return matrices_; }
  /// If unfused: the collective.
  const std::optional<UnfusedPlan> &unfused() const { return unfused_; }
  /// The name of the library that computes the matmul; null: Iris' kernel does.
  const char *libraryName() const {
    return library_ ? library_->name() : nullptr;
  }

private:
  MatmulExecution(const MatmulSite &site, const MatmulTuningKey &tuningKey)
      : site_(site), problem_(tuningKey.problem) {}

  rt::Status plan(const MatmulTuningKey &tuningKey);
  rt::Expected<uint64_t> loadAlone();
  rt::Status load(const MatmulTuningKey &tuningKey);
  rt::Status loadLibrary();
  rt::Status prepareCommunication();
  rt::Status allocate();
  rt::Status launch(const MatmulArgs &args, rt::Stream stream);
  rt::Status communicate(uint64_t in, uint64_t out, rt::Stream stream);
  rt::Status runUnfused(MatmulArgs args, rt::Stream stream);
  rt::Status runCopied(const MatmulArgs &args, rt::Stream stream);

  const MatmulSite site_;
  MatmulProblem problem_;
  MatmulPlan matrices_;
  /// The kernel's problem: all of `problem` if it is fused, else its local
  /// matmul.
  MatmulProblem kernelProblem_;
  MatmulPlan plan_;
  rt::Kernel kernel_;
  uint64_t programs_ = 1;
  /// In place of the kernel.
  std::unique_ptr<rt::LibraryMatmul> library_;
  uint64_t staging_ = 0, workspace_ = 0;
  /// If unfused: the collective, and the buffer between it and the kernel.
  std::optional<UnfusedPlan> unfused_;
  std::unique_ptr<Communicator> communicator_;
  uint64_t intermediate_ = 0;
  /// If the variant is copy_engine.
  std::unique_ptr<CopyEngine> copies_;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MATMULEXECUTION_H
