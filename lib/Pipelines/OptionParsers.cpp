// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OptionParsers.cpp - Values of options that are names ---------------===//

#include "iris/Pipelines/OptionParsers.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::iris;

bool mlir::iris::reportUnknownName(llvm::cl::Option &option, StringRef argName,
                                   StringRef text, ArrayRef<StringRef> names) {
  return option.error("unknown name '" + text + "'; expected one of " +
                          llvm::join(names, ", "),
                      argName);
}

bool GuardParser::parse(llvm::cl::Option &option, StringRef argName,
                        StringRef text, Guard &guard) {
  SmallVector<StringRef> names;
  for (const GuardInfo &info : getKnownGuards()) {
    if (info.name == text) {
      guard = info.guard;
      return false;
    }
    names.push_back(info.name);
  }
  return reportUnknownName(option, argName, text, names);
}

void GuardParser::print(llvm::raw_ostream &os, const Guard &guard) {
  os << getGuardInfo(guard).name;
}
