// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variant copy_engine of matmuls: what ranks need of each other is copied
// by the devices' engines beside the kernel that multiplies.
//
// all_gather_matmul: parts of a come, for whose flags the kernel waits.
//
//   stream   words, barrier ->      matmul      -> go on
//   another                 \-> copies, barrier /
//
// matmul_all_gather: groups of tiles leave when none is missing;
// matmul_reduce_scatter: so do shares, with flags for who adds them up;
// matmul_all_reduce: so do shares, and then sums.  The kernel meets its
// peer programs meanwhile.
//
//   stream   words ->            matmul             -> no more waits -> go on
//   another        \-> waits and copies, (barrier)                   /
//
// Who meets knows that all ranks' streams have come to this call.  The barrier
// at the end, where peers use what is the caller's, says that no rank copies
// any more.
#ifndef IRIS_RT_CCL_ENGINECOPIES_H
#define IRIS_RT_CCL_ENGINECOPIES_H

#include "ccl/Agreement.h"
#include "ccl/MatmulPlan.h"
#include "ccl/SideStream.h"
#include "iris/ccl/Communicator.h"
#include "iris/rt/World.h"

#include <memory>
#include <optional>
#include <vector>

namespace iris::ccl {

/// Rows that follow each other, from one rank to another, one of which is the
/// own.
struct EngineCopy {
  enum class Matrix { a, c, staging };
  uint32_t source = 0, target = 0;
  Matrix from = Matrix::a, to = Matrix::staging;
  /// In bytes.
  uint64_t fromOffset = 0, toOffset = 0, bytes = 0;
  /// The count that must be 0 before.
  std::optional<uint64_t> missing;
  /// The flag of the target that is set behind it: of a part that comes to 1,
  /// of shares to how many tiles of them are done.
  std::optional<uint64_t> flag;
};

/// What one rank copies in a call.
struct EnginePlan {
  /// In the order in which they are needed, or finished.
  std::vector<EngineCopy> copies;
  /// Tiles that each count begins with.
  std::vector<uint32_t> tiles;
  /// Peers read or write what is the caller's until the end.
  bool barrierAfter = false;
};
EnginePlan planEngineCopies(const MatmulProblem &problem, uint32_t rank,
                            uint32_t groupSize);

class EngineCopies {
public:
  /// Collective over the world, whose ranks agree on whether it worked.
  static rt::Expected<std::unique_ptr<EngineCopies>>
  create(rt::World &world, const std::shared_ptr<KernelCache> &cache,
         const MatmulProblem &problem, Agreement agreement);
  /// Frees what it has.  Collective over the world.
  rt::Status destroy();

  /// The kernel's memory; once, when it is allocated.
  rt::Status prepare(uint64_t workspace, uint64_t staging);
  /// Before the kernel: starts what does not wait for it.
  rt::Status begin(uint64_t a, uint64_t c, rt::Stream stream);
  /// Behind it: what does.  The stream goes on when the copies are done.
  rt::Status end(uint64_t a, uint64_t c, rt::Stream stream);
  /// In place of it, if there is no kernel: the stream waits for what has
  /// begun.
  void abandon(rt::Stream stream);

private:
  EngineCopies(rt::World &world, const MatmulProblem &problem);
  rt::Status open(const std::shared_ptr<KernelCache> &cache,
                  Agreement &agreement);
  uint64_t word(uint64_t number) const {
    return words_ + number * matmulFlagBytes;
  }
  rt::Status copy(const EngineCopy &copy, uint64_t a, uint64_t c);
  /// All of them, and the last barrier.
  rt::Status copyAll(uint64_t a, uint64_t c);
  /// Copies wait for the kernel, not the kernel for all of them.
  bool waits() const { return parts_.counts != 0; }

  rt::World &world_;
  const EnginePlan plan_;
  const CopiedParts parts_;
  uint64_t words_ = 0, staging_ = 0;
  /// Beside the caller's.  One, as copies that run at the same time take longer
  /// than one after another.
  SideStream side_;
  std::unique_ptr<Communicator> communicator_;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_ENGINECOPIES_H
