// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Hints.cpp - Hints for parser errors --------------------------------===//
#include "Hints.h"

#include "llvm/Support/Regex.h"

using namespace mlir;

/// The main file from `loc` to the end of the line; empty if `loc` is
/// elsewhere.
static StringRef textAt(FileLineColLoc loc, llvm::SourceMgr &sources) {
  unsigned main = sources.getMainFileID();
  llvm::SMLoc start =
      sources.FindLocForLineAndColumn(main, loc.getLine(), loc.getColumn());
  if (!start.isValid())
    return "";
  StringRef rest = sources.getMemoryBuffer(main)->getBuffer();
  rest = rest.drop_front(start.getPointer() - rest.data());
  return rest.take_until([](char c) { return c == '\n'; });
}

/// The parser expects a comma behind the first operand of an op.
static void hintAtMissingOperand(Diagnostic &diagnostic, FileLineColLoc loc,
                                 llvm::SourceMgr &sources) {
  StringRef line = textAt(
      FileLineColLoc::get(loc.getFilename(), loc.getLine(), /*column=*/1),
      sources);
  SmallVector<StringRef> parts;
  if (!llvm::Regex("(iris\\.[a-z_]+)[a-z ]* (%[A-Za-z0-9_]+)")
           .match(line, &parts) ||
      parts[2] == "%ctx")
    return;
  diagnostic.attachNote() << "is '" << parts[2]
                          << "' the context? ops of the iris dialect take "
                             "it first: '"
                          << parts[1] << " %ctx, ...'";
}

/// A function at `loc` uses the context without having it.
static void hintAtMissingArgument(Diagnostic &diagnostic, FileLineColLoc loc,
                                  llvm::SourceMgr &sources) {
  if (llvm::Regex("^%ctx([^A-Za-z0-9_$.-]|$)").match(textAt(loc, sources)))
    diagnostic.attachNote(loc)
        << "the function needs the argument '%ctx: !iris.ctx'";
}

/// Where a name was used, if the parser has found its first definition in
/// another function; null if it has not.
static FileLineColLoc findEarlierUse(const Diagnostic &diagnostic) {
  for (const Diagnostic &note : diagnostic.getNotes())
    if (note.str() == "previously referenced here")
      return dyn_cast<FileLineColLoc>(note.getLocation());
  return {};
}

LogicalResult mlir::iris::hintAtDialect(Diagnostic &diagnostic) {
  std::string message = diagnostic.str();
  SmallVector<StringRef> parts;
  if (!llvm::Regex("^Dialect `' not found for custom op '([^']+)'")
           .match(message, &parts))
    return failure(); // another handler prints it
  Diagnostic &note = diagnostic.attachNote() << "'" << parts[1] << "' ";
  if (parts[1] == "return")
    note << "ends functions of the func dialect; a gpu.func ends with "
            "'gpu.return'";
  else
    note << "has no dialect; expected one, as in 'arith.addi'";
  return failure();
}

LogicalResult mlir::iris::hintAtContext(Diagnostic &diagnostic,
                                        llvm::SourceMgr &sources) {
  auto loc = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
  std::string message = diagnostic.str();
  if (loc && message == "expected ','")
    hintAtMissingOperand(diagnostic, loc, sources);
  else if (loc && StringRef(message).contains("undeclared SSA value"))
    hintAtMissingArgument(diagnostic, loc, sources);
  else if (FileLineColLoc use = findEarlierUse(diagnostic))
    hintAtMissingArgument(diagnostic, use, sources);
  return failure(); // another handler prints it
}
