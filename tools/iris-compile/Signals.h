// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TOOLS_IRIS_COMPILE_SIGNALS_H
#define IRIS_TOOLS_IRIS_COMPILE_SIGNALS_H

namespace mlir::iris {

/// From now on a signal that ends this process first removes its temporary
/// directories. Comes before any use of LLVM, whose handlers remove files and
/// then pass the signal on to ours.
void cleanUpOnSignals();

} // namespace mlir::iris

#endif // IRIS_TOOLS_IRIS_COMPILE_SIGNALS_H
