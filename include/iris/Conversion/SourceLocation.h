// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SourceLocation.h - Locations as text ---------------------*- C++ -*-===//

#ifndef IRIS_CONVERSION_SOURCELOCATION_H
#define IRIS_CONVERSION_SOURCELOCATION_H

#include "mlir/IR/Location.h"
#include <string>

namespace mlir::iris {

/// "file:line:col" of the first file location in `loc`, else "unknown".
std::string printLocation(Location loc);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_SOURCELOCATION_H
