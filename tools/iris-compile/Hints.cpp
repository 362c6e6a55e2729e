// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Hints.cpp - Hints for parser errors --------------------------------===//
#include "Hints.h"

#include "llvm/Support/Regex.h"

using namespace mlir;

/// The line of the main file that `loc` is in; empty if there is none.
static StringRef lineOf(Location loc, llvm::SourceMgr &sources) {
  auto fileLoc = dyn_cast<FileLineColLoc>(loc);
  if (!fileLoc)
    return "";
  unsigned main = sources.getMainFileID();
  llvm::SMLoc start =
      sources.FindLocForLineAndColumn(main, fileLoc.getLine(), /*ColNo=*/1);
  if (!start.isValid())
    return "";
  StringRef rest = sources.getMemoryBuffer(main)->getBuffer();
  rest = rest.drop_front(start.getPointer() - rest.data());
  return rest.take_until([](char c) { return c == '\n'; });
}

LogicalResult mlir::iris::hintAtContext(Diagnostic &diagnostic,
                                        llvm::SourceMgr &sources) {
  std::string message = diagnostic.str();
  bool isComma = message == "expected ','";
  bool isUnknown = message.find("undeclared SSA value") != std::string::npos;
  if (!isComma && !isUnknown)
    return failure(); // another handler prints it
  StringRef line = lineOf(diagnostic.getLocation(), sources);
  SmallVector<StringRef> parts;
  // The op, then its first operand.
  if (!llvm::Regex("(iris\\.[a-z_]+)[a-z ]* (%[A-Za-z0-9_]+)")
           .match(line, &parts))
    return failure();
  if (isComma)
    diagnostic.attachNote() << "is '" << parts[2]
                            << "' the context? ops of the iris dialect take "
                               "it first: '"
                            << parts[1] << " %ctx, ...'";
  else
    diagnostic.attachNote()
        << "if '" << parts[2]
        << "' is the context, the function needs the argument '" << parts[2]
        << ": !iris.ctx'";
  return failure();
}
