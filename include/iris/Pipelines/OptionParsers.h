// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OptionParsers.h - Values of options that are names -------*- C++ -*-===//
//
// Options whose value is one of some names. The error for another word lists
// the names, which that of LLVM's parser of enumerations does not.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PIPELINES_OPTIONPARSERS_H
#define IRIS_PIPELINES_OPTIONPARSERS_H

#include "iris/Guards/Guards.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::iris {

/// Reports that `text` is none of `names`; returns true, as parsers do.
bool reportUnknownName(llvm::cl::Option &option, StringRef argName,
                       StringRef text, ArrayRef<StringRef> names);

/// A name of `getNames()`, kept as text.
template <ArrayRef<StringRef> (*getNames)()>
struct NameParser : llvm::cl::parser<std::string> {
  using llvm::cl::parser<std::string>::parser;

  bool parse(llvm::cl::Option &option, StringRef argName, StringRef text,
             std::string &value) {
    value = text.str();
    return !llvm::is_contained(getNames(), text) &&
           reportUnknownName(option, argName, text, getNames());
  }
};

/// The name of a guard.
struct GuardParser : llvm::cl::basic_parser<Guard> {
  using basic_parser::basic_parser;

  bool parse(llvm::cl::Option &option, StringRef argName, StringRef text,
             Guard &guard);
  static void print(llvm::raw_ostream &os, const Guard &guard);
  StringRef getValueName() const override { return "guard"; }
};

} // namespace mlir::iris

#endif // IRIS_PIPELINES_OPTIONPARSERS_H
