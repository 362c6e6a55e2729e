// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelFolders.h - Kernels that come with the library -----*- C++ -*-===//
#ifndef IRIS_NCCL_KERNELFOLDERS_H
#define IRIS_NCCL_KERNELFOLDERS_H

#include "iris/ccl/KernelCache.h"

#include <memory>
#include <string>

namespace iris::nccl {

/// The kernels of this process for devices of a target: those of the folder
/// kernels.TARGET in IRIS_NCCL_KERNEL_DIR and beside this library, those on
/// disk, and those that the compiler makes.
std::shared_ptr<ccl::KernelCache> kernelCacheFor(const std::string &target);

} // namespace iris::nccl

#endif // IRIS_NCCL_KERNELFOLDERS_H
