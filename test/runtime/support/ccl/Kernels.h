// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where tests of the collectives take their kernels from: the compiler, which
// keeps them in the build folder, or packages that were compiled ahead, for
// machines that have no compiler.
//
//   IRIS_TEST_RECORD=<folder>    writes what the tests ask for to it, a file
//                                <kernel>.<translation>.mlir for each kernel
//   IRIS_TEST_RECORD_FOR=<kind>  what they would ask for on such devices: host
//                                (the default), cuda or hip
//   IRIS_TEST_PACKAGES=<folder>  takes the kernels from the *.iris in it; one
//                                that is in none of them is an error
#ifndef IRIS_TEST_RUNTIME_SUPPORT_CCL_KERNELS_H
#define IRIS_TEST_RUNTIME_SUPPORT_CCL_KERNELS_H

#include "iris/ccl/Communicator.h"
#include "iris/ccl/MatmulSelector.h"
#include "iris/ccl/Selector.h"

#include <string>
#include <vector>

namespace iris::rt::test {

/// Options of a communicator of these ranks.  The first call must come before
/// the fork of what uses the packages, so that they are read only once.
ccl::CommunicatorOptions communicatorOptions(std::vector<uint32_t> ranks = {});

/// An error once a communicator asked for a kernel that no package holds, also
/// if another one could stand in for it.
Status missingKernels();

/// Records the kernels that such a call takes on the devices that are recorded
/// for, if any are.
void recordCall(ccl::TuningKey tuningKey, ccl::ReduceOp reduce,
                const ccl::Config *config, const std::string &translation);

/// The same for a matmul among so many ranks.
void recordMatmul(const ccl::MatmulProblem &problem, uint32_t numRanks,
                  const std::string &translation);

/// Whether these do anything.
bool isRecording();

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_CCL_KERNELS_H
