// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The source of kernels for tests of the collectives: the compiler, with a
// cache in the build folder, or precompiled packages, for machines that have no
// compiler.
//
//   IRIS_TEST_RECORD=<folder>    writes the tests' requests to it, a file
//                                <kernel>.<translation>.mlir for each kernel
//   IRIS_TEST_RECORD_FOR=<kind>  records requests for such devices: host (the
//                                default), cuda or hip
//   IRIS_TEST_PACKAGES=<folder>  takes the kernels from the *.iris in it; a
//                                kernel in none of them is an error
#ifndef IRIS_TEST_RUNTIME_SUPPORT_CCL_KERNELS_H
#define IRIS_TEST_RUNTIME_SUPPORT_CCL_KERNELS_H

#include "iris/ccl/Communicator.h"
#include "iris/ccl/MatmulSelector.h"
#include "iris/ccl/Selector.h"

#include <string>
#include <vector>

namespace iris::rt::test {

/// Options of a communicator of these ranks. The first call must precede the
/// fork of processes that use the packages, so that they are read only once.
ccl::CommunicatorOptions communicatorOptions(std::vector<uint32_t> ranks = {});

/// An error after a communicator requested a kernel that no package holds, even
/// if another one could be substituted.
Status missingKernels();

/// Records the kernels that such a call uses on the devices that are recorded
/// for, if any.
void recordCall(ccl::TuningKey tuningKey, ccl::ReduceOp reduce,
                const ccl::Config *config, const std::string &translation);

/// The same for a matmul among `numRanks` ranks.
void recordMatmul(const ccl::MatmulProblem &problem, uint32_t numRanks,
                  const std::string &translation);

/// Whether these functions record.
bool isRecording();

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_CCL_KERNELS_H
