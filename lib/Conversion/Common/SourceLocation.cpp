// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SourceLocation.cpp - Locations as text -----------------------------===//

#include "iris/Conversion/SourceLocation.h"

using namespace mlir;

std::string mlir::iris::printLocation(Location loc) {
  std::string text = "unknown";
  loc->walk([&](Location part) {
    auto position = dyn_cast<FileLineColLoc>(part);
    if (!position)
      return WalkResult::advance();
    text = (position.getFilename().getValue() + ":" +
            Twine(position.getLine()) + ":" + Twine(position.getColumn()))
               .str();
    return WalkResult::interrupt();
  });
  return text;
}
