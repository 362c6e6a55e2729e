// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AllToAllV.cpp - All-to-all with counts -----------------------------===//
//
// in: a chunk for every member, of a size and at an offset of its own; out: one
// from every member. Not for out == in: a peer would store over a chunk that
// has not left yet, and in rounds a chunk may arrive over another one.
//
//===----------------------------------------------------------------------===//

#include "CountedChunks.h"

using namespace mlir;
using namespace mlir::iris;

void mlir::iris::buildAllToAllV(KernelBuilder &k) {
  CountedChunks chunks(k);
  StringRef variant = k.config.variant->name;
  if (variant == "buffered" || k.config.staged)
    return chunks.buildBuffered();
  if (variant == "pull")
    return chunks.buildPull();
  chunks.buildPush();
}
