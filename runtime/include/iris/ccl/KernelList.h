// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelList.h - Kernels to compile ahead of time ----------*- C++ -*-===//
//
// Lists the kernels that communicators may load, so that they can be compiled
// before a program runs: iris-compile --split makes a folder of them, which
// KernelCache::addFolder reads.
#ifndef IRIS_CCL_KERNELLIST_H
#define IRIS_CCL_KERNELLIST_H

#include "iris/ccl/Types.h"
#include "iris/rt/Status.h"

#include <cstdint>
#include <map>
#include <string>

#pragma GCC visibility push(default)
namespace iris::ccl {

/// The sources of kernels, .mlir modules, by the kernels' names in a folder
/// (KernelRequest::name).
using KernelList = std::map<std::string, std::string>;

/// Adds the kernels that a communicator may load for calls of an operation that
/// pass no config: with buffers on the heap and elsewhere, in place or not, of
/// any length, on any device of the target. Needs no device.
/// \param target "host", "gfx942", "sm_90a"
/// \param op the operation
/// \param dtype the type of the elements
/// \param reduce how the elements are combined, for operations that reduce
/// \param groupSize the number of ranks of the group
/// \param kernels the list
/// \param workspaceBytes CommunicatorOptions::workspaceBytes
/// \retval invalidArgument there is no such target, or IRIS_COST_MODEL is no
///   model of it
rt::Status listKernels(const std::string &target, Op op, DType dtype,
                       ReduceOp reduce, uint32_t groupSize, KernelList &kernels,
                       uint64_t workspaceBytes);

} // namespace iris::ccl
#pragma GCC visibility pop

#endif // IRIS_CCL_KERNELLIST_H
