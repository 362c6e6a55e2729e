// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CopyEngine.h - Copies of the copy_engine matmuls ---------*- C++ -*-===//
//
// The matmul variant copy_engine: the devices' copy engines move the data
// between ranks while the matmul kernel runs.
//
// all_gather_matmul: chunks of A arrive; the kernel waits for their flags.
//
//   caller's stream   reset, barrier ->      matmul      -> continue
//   side stream                      \-> copies, barrier /
//
// matmul_all_gather copies a group of tiles when all of its tiles are done.
// matmul_reduce_scatter does so with partial sums, and sets flags for the rank
// that reduces them; matmul_all_reduce also copies the reduced rows.  The entry
// barrier is part of the kernel.
//
//   caller's stream   reset ->            matmul            -> zero -> continue
//   side stream             \-> waits and copies, (barrier)         /
//
// After the first barrier the streams of all ranks have reached this call.  The
// last barrier, needed if peers access the caller's buffers, ensures that no
// rank is still copying.
#ifndef IRIS_RT_CCL_COPYENGINE_H
#define IRIS_RT_CCL_COPYENGINE_H

#include "ccl/Agreement.h"
#include "ccl/MatmulPlan.h"
#include "ccl/SideStream.h"
#include "iris/ccl/Communicator.h"
#include "iris/rt/World.h"

#include <memory>
#include <optional>
#include <vector>

namespace iris::ccl {

/// A contiguous range of rows to copy from one rank to another. This rank is
/// the source or the target.
struct RowCopy {
  enum class Matrix { a, c, staging };
  uint32_t source = 0, target = 0;
  Matrix from = Matrix::a, to = Matrix::staging;
  /// In bytes.
  uint64_t fromOffset = 0, toOffset = 0, bytes = 0;
  /// The index of the count that must be 0 before the copy starts.
  std::optional<uint64_t> missing;
  /// The index of the target's flag that is set after the copy: to 1 for a
  /// chunk of A, to the number of finished tiles for partial sums.
  std::optional<uint64_t> flag;
};

/// The copies of one rank in a call.
struct CopyPlan {
  /// In the order in which the kernel needs or produces them.
  std::vector<RowCopy> copies;
  /// The initial value of each count, in tiles.
  std::vector<uint32_t> tiles;
  /// Peers access the caller's buffers until the final barrier.
  bool barrierAfter = false;
};
CopyPlan planCopies(const MatmulProblem &problem, uint32_t rank,
                    uint32_t groupSize);

class CopyEngine {
public:
  /// Collective over the world; all ranks agree on success or failure.
  static rt::Expected<std::unique_ptr<CopyEngine>>
  create(rt::World &world, const std::shared_ptr<KernelCache> &cache,
         const MatmulProblem &problem, Agreement agreement);
  /// Frees all resources. Collective over the world.
  rt::Status destroy();

  /// Initializes the kernel's workspace; called once, after its allocation.
  rt::Status prepare(uint64_t workspace, uint64_t staging);
  /// Called before the kernel launch: submits the work that does not wait for
  /// the kernel.
  rt::Status begin(uint64_t a, uint64_t c, rt::Stream stream);
  /// Called after the kernel launch: submits the work that waits for the
  /// kernel. Work submitted to `stream` later runs after the copies.
  rt::Status end(uint64_t a, uint64_t c, rt::Stream stream);
  /// Called instead of end() if the kernel launch failed: `stream` waits for
  /// the work submitted so far.
  void abandon(rt::Stream stream);

private:
  CopyEngine(rt::World &world, const MatmulProblem &problem);
  rt::Status open(const std::shared_ptr<KernelCache> &cache,
                  Agreement &agreement);
  uint64_t word(uint64_t number) const {
    return words_ + number * plan::FusedWorkspace::line;
  }
  rt::Status copy(const RowCopy &copy, uint64_t a, uint64_t c);
  /// Submits all copies and the final barrier.
  rt::Status copyAll(uint64_t a, uint64_t c);
  /// The copies wait for the kernel, and not the kernel for all copies.
  bool waits() const { return layout_.numMissing() != 0; }

  rt::World &world_;
  const CopyPlan plan_;
  const CopiedLayout layout_;
  uint64_t words_ = 0, staging_ = 0;
  /// Runs concurrently with the caller's stream. There is one, because
  /// concurrent copies take longer than consecutive ones.
  SideStream side_;
  std::unique_ptr<Communicator> communicator_;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_COPYENGINE_H
