// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveKernels.h - Generators of collectives ----------*- C++ -*-===//
//
// One function per kernel; the rows of Collectives.def name the functions of a
// variant. The .cpp file of each operation says why its protocol is correct.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_KERNELS_COLLECTIVEKERNELS_H
#define IRIS_KERNELS_COLLECTIVEKERNELS_H

#include "iris/Kernels/KernelBuilder.h"

namespace mlir::iris {

// Several variants may have the same generator.
#define IRIS_VARIANT(Name, variant, Generator, Staged, ...)                    \
  void build##Generator(KernelBuilder &k);                                     \
  void build##Staged(KernelBuilder &k);
#define IRIS_HEAP_VARIANT(Name, variant, Generator, ...)                       \
  void build##Generator(KernelBuilder &k);
#define IRIS_ENGINE_VARIANT(...)
#include "iris/Plan/Collectives.def"

/// Builds the GPU module for `op` and inserts it before `op`; `waveSize` as
/// getConfig() takes it.
FailureOr<gpu::GPUModuleOp> buildCollective(CollectiveOp op, unsigned waveSize);

} // namespace mlir::iris

#endif // IRIS_KERNELS_COLLECTIVEKERNELS_H
