// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Locations of operations that were inlined name the function that they come
// from, which no longer exists when line tables are written.
#ifndef IRIS_DIALECT_IRIS_IR_INLINEDLOCATION_H
#define IRIS_DIALECT_IRIS_IR_INLINEDLOCATION_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace mlir::iris {

/// `loc`, in the function `name`: the callee of a call site.
inline Location locationInFunction(Location loc, StringAttr name) {
  return FusedLoc::get(loc.getContext(), {loc}, FlatSymbolRefAttr::get(name));
}

/// The function that was inlined at `site`; null if its name is unknown.
inline StringAttr getInlinedFunction(CallSiteLoc site) {
  Location callee = site.getCallee();
  auto loc = callee->findInstanceOf<FusedLocWith<FlatSymbolRefAttr>>();
  return loc ? loc.getMetadata().getAttr() : StringAttr();
}

} // namespace mlir::iris

#endif // IRIS_DIALECT_IRIS_IR_INLINEDLOCATION_H
