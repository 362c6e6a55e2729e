// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedBuffers.h - Buffers whose contents depend on the order -------===//
#ifndef IRIS_LIB_SYNCCHECK_SHAREDBUFFERS_H
#define IRIS_LIB_SYNCCHECK_SHAREDBUFFERS_H

#include "Memory.h"
#include "World.h"

namespace mlir::iris::sync {

/// Buffers of which a program goes on with a value that may be another one,
/// since a program that no stream orders with it may store to the element.
BufferSet findSharedBuffers(const World &world);

} // namespace mlir::iris::sync

#endif // IRIS_LIB_SYNCCHECK_SHAREDBUFFERS_H
