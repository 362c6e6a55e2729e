// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Hints.cpp - Hints for parser errors --------------------------------===//
#include "Hints.h"

#include "iris/Dialect/Iris/Transforms/KernelLanguage.h"
#include "iris/Dialect/Iris/Transforms/OpForms.h"
#include "iris/Text/Nearest.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// The source
//===----------------------------------------------------------------------===//

/// The main file from its start to `loc`; empty if `loc` is elsewhere.
static StringRef textBefore(FileLineColLoc loc, llvm::SourceMgr &sources) {
  unsigned main = sources.getMainFileID();
  llvm::SMLoc end =
      sources.FindLocForLineAndColumn(main, loc.getLine(), loc.getColumn());
  if (!end.isValid())
    return "";
  StringRef text = sources.getMemoryBuffer(main)->getBuffer();
  return text.take_front(end.getPointer() - text.data());
}

/// The main file from `loc`.
static StringRef textAfter(FileLineColLoc loc, llvm::SourceMgr &sources) {
  StringRef text =
      sources.getMemoryBuffer(sources.getMainFileID())->getBuffer();
  return text.drop_front(textBefore(loc, sources).size());
}

/// The value name at `loc`, with its '%'; empty if there is none.
static StringRef nameAt(FileLineColLoc loc, llvm::SourceMgr &sources) {
  StringRef text = textAfter(loc, sources);
  SmallVector<StringRef> parts;
  return llvm::Regex("^%[A-Za-z0-9_$.-]+").match(text, &parts) ? parts[0] : "";
}

/// Whether `text` starts with the name of an op, as at errors of verifiers.
static bool startsOp(StringRef text) {
  return llvm::Regex("^\"?[a-z_]+\\.[a-z_]").match(text);
}

/// The word or number with which `text` goes on, after spaces and comments;
/// empty if it goes on with anything else.
static StringRef nextWord(StringRef text) {
  text = text.ltrim();
  while (text.consume_front("//"))
    text = text.drop_front(text.find('\n')).ltrim();
  SmallVector<StringRef> parts;
  return llvm::Regex("^-?[A-Za-z0-9_.]+").match(text, &parts) ? parts[0] : "";
}

static StringRef withoutComment(StringRef line) {
  return line.take_front(line.find("//"));
}

/// The last op that `line` names: a dotted word that is no type, attribute,
/// value, symbol or string.
static StringRef lastOpIn(StringRef line) {
  llvm::Regex word("(^|[^#!%@\"A-Za-z0-9_.])([a-z_]+\\.[a-z_]+)");
  StringRef op;
  SmallVector<StringRef> parts;
  while (word.match(line, &parts)) {
    op = parts[2];
    line = line.substr(op.end() - line.begin());
  }
  return op;
}

/// The op in whose text `before` ends; empty if it is not near.
static StringRef openOp(StringRef before) {
  constexpr unsigned mostLines = 16;
  for (unsigned i = 0; i < mostLines && !before.empty(); ++i) {
    auto [rest, line] = before.rsplit('\n');
    if (line.empty() && rest == before) // the only line
      std::swap(rest, line);
    if (StringRef op = lastOpIn(withoutComment(line)); !op.empty())
      return op;
    before = rest;
  }
  return "";
}

/// The names of values in the function that `before` ends in.
static SmallVector<StringRef> namesIn(StringRef before) {
  before = before.substr(before.rfind("func "));
  llvm::Regex value("%[A-Za-z0-9_$.-]+");
  SmallVector<StringRef> names, parts;
  while (value.match(before, &parts)) {
    names.push_back(parts[0]);
    before = before.substr(parts[0].end() - before.begin());
  }
  return names;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// The operand that the op `name`, in whose text `before` ends, has in place of
/// the context, which ops of `form` take first; empty if it has none.
static StringRef operandForContext(StringRef before, StringRef name,
                                   StringRef form) {
  StringRef op = before.substr(before.rfind(name));
  SmallVector<StringRef> parts;
  if (form.contains(" %ctx") &&
      llvm::Regex("^[a-z_.]+( [a-z]+)? (%[A-Za-z0-9_]+)").match(op, &parts) &&
      parts[2] != "%ctx")
    return parts[2];
  return "";
}

/// An op does not have the form that the parser expects.
static void hintAtForm(Diagnostic &diagnostic, StringRef name,
                       StringRef before) {
  StringRef form = getOpForm(name);
  if (form.empty())
    return;
  Diagnostic &note = diagnostic.attachNote();
  StringRef operand = operandForContext(before, name, form);
  if (!operand.empty())
    note << "is '" << operand << "' the context? '" << name
         << "' takes it first: '" << form << "'";
  else
    note << "'" << name << "' is written '" << form << "'";
}

/// Why the op `name` has no mask, and which op has one; empty if it may have
/// one.
static std::string whyNoMask(StringRef name) {
  StringRef instead = llvm::StringSwitch<StringRef>(name)
                          .Case("tile.load", "tile.gather")
                          .Case("tile.store", "tile.scatter")
                          .Case("iris.load", "iris.gather")
                          .Case("iris.store", "iris.scatter")
                          .Default("");
  if (!instead.empty())
    return llvm::formatv(
        "has no mask, as it {0}; '{1}' has one, and coordinates: '{2}'",
        name.ends_with("load") ? "reads a window: what is outside of the "
                                 "buffer is 0, or the value of 'else'"
                               : "writes a window: what is outside of the "
                                 "buffer is not written",
        instead, getOpForm(instead));
  if (name == "iris.atomic_cas")
    return "has no mask; what is outside of the buffer is not updated";
  return "";
}

/// What the op `name` may have after a buffer's offsets; empty if nothing.
static StringRef optionsOf(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"tile.load", "iris.load"},
             "'else %value', 'cache(cg)' and 'volatile'")
      .Cases({"tile.store", "iris.store"}, "'cache(wt)' and 'volatile'")
      .Cases({"tile.gather", "iris.gather"},
             "'mask %mask', 'else %value', 'cache(cg)' and 'volatile'")
      .Cases({"tile.scatter", "iris.scatter"},
             "'mask %mask', 'cache(wt)' and 'volatile'")
      .Default("");
}

/// Whether an op whose text ends like `before` goes on with a value.
static bool wantsValue(StringRef before) {
  return llvm::Regex("([[(,]|(^|[^A-Za-z0-9_%])(else|from|to|ge|eq|init))$")
      .match(before.rtrim());
}

/// The op `name` goes on with `word`, which the parser does not expect.
static void hintAtToken(Diagnostic &diagnostic, StringRef message,
                        StringRef name, StringRef before, StringRef word) {
  std::string reason = word == "mask" ? whyNoMask(name) : "";
  if (!reason.empty()) {
    diagnostic.attachNote() << "'" << name << "' " << reason;
    return;
  }
  hintAtForm(diagnostic, name, before);
  if (llvm::Regex("^-?[0-9]").match(word) && wantsValue(before))
    diagnostic.attachNote()
        << "'" << word << "' is not a value; 'arith.constant " << word << " : "
        << (word.contains('.') ? "f32" : "index") << "' gives one";
  else if (StringRef options = optionsOf(name);
           message == "expected ':'" && !options.empty())
    diagnostic.attachNote() << "it may have " << options << " before ':'";
}

//===----------------------------------------------------------------------===//
// Names of ops
//===----------------------------------------------------------------------===//

/// A word of Triton, and what kernels have in place of it.
struct OtherWord {
  StringLiteral word, here;
};

static constexpr StringLiteral inBuffer =
    "kernels do it with a buffer of the program: memref.alloca, tile.store and "
    "tile.gather (docs/guides/writing-a-kernel.md)";

static constexpr OtherWord otherWords[] = {
    {"arange", "tile.range"},
    {"argmax", "tile.reduce"},
    {"argmin", "tile.reduce"},
    {"atomic_add", "iris.atomic_rmw add"},
    {"atomic_and", "iris.atomic_rmw and"},
    {"atomic_cas", "iris.atomic_cas"},
    {"atomic_max", "iris.atomic_rmw max"},
    {"atomic_min", "iris.atomic_rmw min"},
    {"atomic_or", "iris.atomic_rmw or"},
    {"atomic_xchg", "iris.atomic_rmw xchg"},
    {"atomic_xor", "iris.atomic_rmw xor"},
    {"cdiv", "arith.ceildivsi"},
    {"debug_barrier", "gpu.barrier"},
    {"dot", "tile.matmul"},
    {"full", "tensor.splat"},
    {"make_range", "tile.range"},
    {"max", "tile.reduce max"},
    {"min", "tile.reduce min"},
    {"num_programs", "gpu.grid_dim"},
    {"permute", "tile.transpose"},
    {"program_id", "gpu.block_id"},
    {"splat", "tensor.splat"},
    {"sum", "tile.reduce sum"},
    {"trans", "tile.transpose"},
    {"where", "arith.select"},
    {"zeros", "arith.constant"},
};

/// What Triton computes within a tile, and tile ops do not.
static constexpr StringLiteral inTiles[] = {
    "associative_scan", "cumprod", "cumsum", "flip",  "histogram", "join",
    "reshape",          "scan",    "sort",   "split", "topk",      "view"};

/// Hints at what Triton's op `word` is here; returns whether it is one.
static bool hintAtOtherWord(Diagnostic &diagnostic, StringRef word) {
  const OtherWord *other = llvm::find_if(
      otherWords, [&](const OtherWord &each) { return each.word == word; });
  if (other != std::end(otherWords))
    diagnostic.attachNote() << "did you mean '" << other->here << "'?";
  else if (llvm::is_contained(inTiles, word))
    diagnostic.attachNote() << inBuffer;
  else
    return false;
  return true;
}

/// The dialect has no op `name`.
static void hintAtOp(Diagnostic &diagnostic, StringRef name) {
  auto [dialect, word] = name.split('.');
  if (hintAtOtherWord(diagnostic, word))
    return;
  // Without the dialect, which would make any two short words similar.
  SmallVector<StringRef> known;
  for (RegisteredOperationName op :
       diagnostic.getLocation()->getContext()->getRegisteredOperations())
    if (op.getDialectNamespace() == dialect)
      known.push_back(op.stripDialect());
  SmallVector<StringRef> inKernels = getKernelOpNames(dialect);
  StringRef nearest = iristext::findNearest(word, known);
  if (!nearest.empty())
    diagnostic.attachNote()
        << "did you mean '" << dialect << "." << nearest << "'?";
  else if (!inKernels.empty())
    diagnostic.attachNote() << "of '" << dialect << "' kernels may use "
                            << llvm::join(inKernels, ", ");
}

/// No dialect has the prefix of the op `name`, or it has none.
static void hintAtDialect(Diagnostic &diagnostic, StringRef name) {
  auto [dialect, op] = name.split('.');
  StringRef nearest = iristext::findNearest(dialect, getKernelDialects());
  bool isTriton = llvm::is_contained({"tl", "gl", "tt", "triton"}, dialect);
  if (name == "return")
    diagnostic.attachNote() << "'return' ends functions of the func dialect; a "
                               "gpu.func ends with 'gpu.return'";
  else if (isTriton && hintAtOtherWord(diagnostic, op))
    return;
  else if (isTriton && !getOpForm(("tile." + op).str()).empty())
    diagnostic.attachNote() << "did you mean 'tile." << op << "'?";
  else if (op.empty())
    diagnostic.attachNote()
        << "'" << name << "' has no dialect; expected one, as in 'arith.addi'";
  else if (!nearest.empty())
    diagnostic.attachNote() << "did you mean '" << nearest << "." << op << "'?";
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// A dialect has no type or attribute (`kind`) with the name that was found.
static void hintAtAttribute(Diagnostic &diagnostic, StringRef kind,
                            StringRef dialect) {
  StringRef known = kind == "type"      ? "the type !iris.ctx"
                    : dialect == "iris" ? "the attributes #iris.symmetric and "
                                          "#iris.peer"
                                        : "the attributes #tile.blocked, "
                                          "#tile.slice and #tile.linear";
  if (dialect == "iris" || (dialect == "tile" && kind == "attribute"))
    diagnostic.attachNote() << "the " << dialect << " dialect has " << known;
}

/// A function uses the name at `loc`, which it does not define.
static void hintAtName(Diagnostic &diagnostic, FileLineColLoc loc,
                       llvm::SourceMgr &sources) {
  StringRef name = nameAt(loc, sources);
  if (name.empty())
    return;
  if (name == "%ctx") {
    diagnostic.attachNote(loc)
        << "the function needs the argument '%ctx: !iris.ctx'";
    return;
  }
  SmallVector<StringRef> names = namesIn(textBefore(loc, sources));
  llvm::erase(names, name);
  StringRef nearest = iristext::findNearest(name, names);
  Diagnostic &note = diagnostic.attachNote(loc)
                     << "'" << name << "' is not defined here";
  if (!nearest.empty())
    note << "; did you mean '" << nearest << "'?";
}

/// Where a name was used, if the parser has found its first definition in
/// another function; null if it has not.
static FileLineColLoc findEarlierUse(const Diagnostic &diagnostic) {
  for (const Diagnostic &note : diagnostic.getNotes())
    if (note.str() == "previously referenced here")
      return dyn_cast<FileLineColLoc>(note.getLocation());
  return {};
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

/// Hints for errors whose text alone says enough; returns whether it was one.
static bool hintFromText(Diagnostic &diagnostic, StringRef message) {
  SmallVector<StringRef> parts;
  if (llvm::Regex("^Dialect `[^']*' not found for custom op '([^']+)'")
          .match(message, &parts))
    hintAtDialect(diagnostic, parts[1]);
  else if (llvm::Regex("^custom op '([^']+)' is unknown")
               .match(message, &parts))
    hintAtOp(diagnostic, parts[1]);
  else if (llvm::Regex("^unknown +(type|attribute) `[^`]*` in dialect "
                       "`([a-z]+)`")
               .match(message, &parts))
    hintAtAttribute(diagnostic, parts[1], parts[2]);
  else if (message.starts_with("block with no terminator"))
    diagnostic.attachNote() << "expected 'gpu.return' at the end of a "
                               "gpu.func, 'return' at that of a func.func";
  else if (message.starts_with("'func.return' op expects parent op"))
    diagnostic.attachNote() << "a gpu.func ends with 'gpu.return'";
  else
    return false;
  return true;
}

/// Hints for errors that need the source at `loc`.
static void hintFromSource(Diagnostic &diagnostic, StringRef message,
                           FileLineColLoc loc, llvm::SourceMgr &sources) {
  StringRef before = textBefore(loc, sources);
  StringRef after = textAfter(loc, sources);
  SmallVector<StringRef> parts;
  if (llvm::Regex("^custom op '([^']+)'").match(message, &parts))
    hintAtForm(diagnostic, parts[1], before);
  else if (message.starts_with("expected ") && !startsOp(after))
    hintAtToken(diagnostic, message, openOp(before), before, nextWord(after));
  else if (message.contains("undeclared SSA value"))
    hintAtName(diagnostic, loc, sources);
  else if (FileLineColLoc use = findEarlierUse(diagnostic))
    hintAtName(diagnostic, use, sources);
}

LogicalResult mlir::iris::addHint(Diagnostic &diagnostic,
                                  llvm::SourceMgr &sources) {
  auto loc = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
  std::string message = diagnostic.str();
  if (!hintFromText(diagnostic, message) && loc)
    hintFromSource(diagnostic, message, loc, sources);
  return failure(); // another handler prints it
}
