// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel of a collective is expected to take:
//
//   start + programs * program + (iterations * iteration with bytes / rate)
//
// Iterations are the tiles that the busiest program does one after another,
// bytes those that cross the busiest link; "with" is the sum, or the root of
// the sum of squares where the two overlap.  How many there are follows from
// the variant (iris/Plan/CollectiveWork.h); the constants are measured where
// there are measurements, and otherwise derived from a few numbers of the
// device.
#ifndef IRIS_RT_CCL_COSTMODEL_H
#define IRIS_RT_CCL_COSTMODEL_H

#include "ccl/DeviceModel.h"
#include "iris/ccl/Selector.h"

namespace iris::ccl {

/// The kernels of an operation on a device, for buffers on the heap or others:
/// those that were measured, or if none was, one of each variant.  A guess does
/// not compete with measurements.
std::vector<KernelModel> kernelModelsOf(const DeviceModel &device, Op op,
                                        bool onHeap = true);

/// Whether all that peers get goes through the workspace: buffers may be
/// anywhere, and nothing is staged for it.
bool isThroughWorkspace(Op op, const std::string &variant);

/// What is asked for, in elements as Config::tile is.
int64_t tileOf(const KernelModel &kernel, DType dtype, int64_t members,
               int64_t warpSize);

/// Microseconds that a call is expected to take with that many programs.
double estimate(const LinkModel &link, const KernelModel &kernel,
                const TuningKey &tuningKey, int64_t programs);

/// The largest chunk for which a variant is considered: what it does at once,
/// for those that go through the workspace.  They take larger ones in rounds,
/// for which nothing speaks but that a buffer is not on the heap.
uint64_t roomOf(const std::string &variant, const TuningKey &tuningKey);

} // namespace iris::ccl

#endif // IRIS_RT_CCL_COSTMODEL_H
