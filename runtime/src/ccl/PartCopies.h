// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variant copy_engine of all_gather_matmul: parts come by copies, which the
// device's engines do beside the kernel that multiplies them.
//
//   stream   clear flags, barrier ->      product      -> wait for the copies
//   another                       \-> copies, flags, barrier /
//
// The kernel waits for a flag before it reads a group of rows of tiles of a
// part.  Behind the first barrier all ranks' inputs are complete; the last one
// says that no rank still copies from here.
#ifndef IRIS_RT_CCL_PARTCOPIES_H
#define IRIS_RT_CCL_PARTCOPIES_H

#include "ccl/Agreement.h"
#include "ccl/MatmulPlan.h"
#include "ccl/SideStream.h"
#include "iris/ccl/Communicator.h"
#include "iris/rt/World.h"

#include <memory>
#include <vector>

namespace iris::ccl {

/// A group of rows of tiles of another rank's part.
struct PartCopy {
  uint32_t source = 0;
  /// Bytes from the begin of the part, and how many.
  uint64_t offset = 0, bytes = 0;
  uint64_t flag = 0;
};

/// All of them, in the order in which `rank` needs them.
std::vector<PartCopy> partCopies(const MatmulProblem &problem, uint32_t rank,
                                 uint32_t groupSize);

class PartCopies {
public:
  /// Collective over the world, whose ranks agree on whether it worked.
  static rt::Expected<std::unique_ptr<PartCopies>>
  create(rt::World &world, const std::shared_ptr<KernelCache> &cache,
         const MatmulProblem &problem, Agreement agreement);
  /// Frees what it has.  Collective over the world.
  rt::Status destroy();

  /// The workspace is the kernel's; once, when it is allocated.
  rt::Status prepare(uint64_t workspace);
  /// Starts copying the parts of `a` to the staging; the kernel comes next.
  rt::Status begin(uint64_t a, uint64_t staging, rt::Stream stream);
  /// The stream goes on when the copies are done on all ranks.
  rt::Status end(rt::Stream stream);

private:
  PartCopies(rt::World &world, const MatmulProblem &problem);
  rt::Status open(const std::shared_ptr<KernelCache> &cache,
                  Agreement &agreement);
  rt::Status copy(const PartCopy &part, uint64_t a, uint64_t staging);

  rt::World &world_;
  std::vector<PartCopy> copies_;
  uint64_t partBytes_;
  uint64_t numFlags_;
  uint64_t flags_ = 0;
  /// Beside the caller's.  One, as copies that run at the same time take longer
  /// than one after another.
  SideStream side_;
  std::unique_ptr<Communicator> communicator_;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_PARTCOPIES_H
