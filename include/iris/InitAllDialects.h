// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InitAllDialects.h - Dialects of Iris and those it uses ---*- C++ -*-===//

#ifndef IRIS_INITALLDIALECTS_H
#define IRIS_INITALLDIALECTS_H

namespace mlir {
class DialectRegistry;
namespace iris {

/// Registers the iris and tile dialects.
void registerIrisDialects(DialectRegistry &registry);

/// Registers every dialect a kernel may be written in or passes through on
/// its way to machine code, with the interfaces the pipelines need. Much
/// cheaper than all of MLIR.
void registerAllDialects(DialectRegistry &registry);

} // namespace iris
} // namespace mlir

#endif // IRIS_INITALLDIALECTS_H
