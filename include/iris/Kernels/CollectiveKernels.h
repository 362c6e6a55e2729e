// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveKernels.h - Generators of collectives ----------*- C++ -*-===//
//
// One function per operation; each generates the variant that the config names.
// The .cpp file of each operation says why its protocol is correct.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_KERNELS_COLLECTIVEKERNELS_H
#define IRIS_KERNELS_COLLECTIVEKERNELS_H

#include "iris/Kernels/KernelBuilder.h"

namespace mlir::iris {

/// Of several rows of the table, one generator.
#define IRIS_COLLECTIVE(Name, name, NAME, Generator, ...)                      \
  void build##Generator(KernelBuilder &k);
#include "iris/Plan/Collectives.def"

/// Builds the GPU module for `op` and inserts it before `op`.
FailureOr<gpu::GPUModuleOp> buildCollective(CollectiveOp op);

} // namespace mlir::iris

#endif // IRIS_KERNELS_COLLECTIVEKERNELS_H
