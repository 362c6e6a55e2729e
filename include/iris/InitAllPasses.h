// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InitAllPasses.h - Passes and pipelines of Iris -----------*- C++ -*-===//

#ifndef IRIS_INITALLPASSES_H
#define IRIS_INITALLPASSES_H

namespace mlir::iris {

/// Registers the passes and pipelines of Iris, not those of MLIR.
void registerAllPasses();

} // namespace mlir::iris

#endif // IRIS_INITALLPASSES_H
