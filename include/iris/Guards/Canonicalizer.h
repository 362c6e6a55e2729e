// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Canonicalizer.h - Canonicalization that keeps results ----*- C++ -*-===//

#ifndef IRIS_GUARDS_CANONICALIZER_H
#define IRIS_GUARDS_CANONICALIZER_H

#include "iris/Guards/Guards.h"
#include "mlir/Pass/Pass.h"

namespace mlir::iris {

/// MLIR's canonicalizer. With `Guard::Roundings`, `Guard::IndexCasts`,
/// `Guard::TripCounts` and `Guard::ForwardedResults`, without its patterns that
/// change results.
std::unique_ptr<Pass> createCanonicalizerPass(GuardSet guards);

} // namespace mlir::iris

#endif // IRIS_GUARDS_CANONICALIZER_H
