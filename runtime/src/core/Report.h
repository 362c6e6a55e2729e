// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Report.h - Descriptions of control block records ---------*- C++ -*-===//
//
// Describes the records that kernels leave in the control block.
#ifndef IRIS_RT_CORE_REPORT_H
#define IRIS_RT_CORE_REPORT_H

#include "core/HeapAllocator.h"
#include "iris-c/RuntimeABI.h"
#include "iris/rt/Kernel.h"

#include <optional>
#include <string>

namespace iris::rt {

/// Formats the value of one element with bit pattern `bits`.
std::string formatValue(std::optional<IrisRtElement> element, uint64_t bits);

/// The heap location of the flag of a wait.
struct FlagLocation {
  uint64_t heapOffset = 0;
  /// The allocation that contains it or whose padding does, if any.
  std::optional<HeapRange> allocation;
};

/// What the host knows of a hang in addition to the kernel's record.
struct HangContext {
  /// None if the flag is not on the heap.
  std::optional<FlagLocation> location;
  /// Kernels that the rank that owed the signal has launched, if it is known.
  std::optional<uint32_t> launchesOfOwner;
  double limitSeconds = 0;
};

/// "iris.wait at a.mlir:12:5 in k::consume, program (1, 0, 0), timed out ...".
/// `kernel` may be null when no loaded kernel has the record's hash.
std::string describeHang(const IrisRtHangRecord &record,
                         const KernelInfo *kernel, const HangContext &context);

/// "expect at a.mlir:7:3 ("what") in k::check, program ..., element 5: got 3,
/// want 4".
std::string describeExpect(const IrisRtExpectRecord &record,
                           const KernelInfo *kernel);

/// "iris.signal at a.mlir:7:3 in k::check, program ..., accesses index 64 of
/// dimension 0 of argument 2; expected 0 to 63 (launch 1)".
std::string describeCheck(const IrisRtCheckRecord &record,
                          const KernelInfo *kernel);

} // namespace iris::rt

#endif // IRIS_RT_CORE_REPORT_H
