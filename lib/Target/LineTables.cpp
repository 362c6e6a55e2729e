// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LineTables.cpp - Debug scopes for line tables ----------------------===//
//
// MLIR's pass of the same purpose, ensure-debug-info-scope-on-llvm-func, visits
// top-level modules only, and neither knows symbols nor names of inlined
// functions.
//
//===----------------------------------------------------------------------===//

#include "LineTables.h"

#include "iris/Dialect/Iris/IR/InlinedLocation.h"
#include "iris/Target/Metadata.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/BinaryFormat/Dwarf.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// The scopes of one module.
class LineTables {
public:
  LineTables(Operation *module, TargetKind kind, bool isOptimized)
      : context(module->getContext()), module(module), kind(kind),
        isOptimized(isOptimized) {}

  void run();

private:
  LLVM::DIFileAttr fileOf(FileLineColLoc position) const;
  LLVM::DISubprogramAttr makeFunction(StringRef name, StringRef symbol,
                                      FileLineColLoc position);
  void visit(LLVM::LLVMFuncOp function);
  Location locate(Location loc, LLVM::DISubprogramAttr scope);
  Location locateAt(FileLineColLoc position,
                    LLVM::DISubprogramAttr scope) const;

  MLIRContext *context;
  Operation *module;
  TargetKind kind;
  bool isOptimized;
  /// Of the first function's file.
  LLVM::DICompileUnitAttr unit;
  /// The functions that were inlined, by name.
  llvm::DenseMap<StringAttr, LLVM::DISubprogramAttr> inlined;
};
} // namespace

/// The first position in `loc`; none if it names no file.
static FileLineColLoc findPosition(Location loc) {
  return loc->findInstanceOf<FileLineColLoc>();
}

/// The file, named as the compiler's command line names it. There is no
/// directory: the machine code does not depend on where it was compiled.
LLVM::DIFileAttr LineTables::fileOf(FileLineColLoc position) const {
  return LLVM::DIFileAttr::get(context, position.getFilename(),
                               StringAttr::get(context));
}

LLVM::DISubprogramAttr LineTables::makeFunction(StringRef name,
                                                StringRef symbol,
                                                FileLineColLoc position) {
  LLVM::DIFileAttr file = fileOf(position);
  if (!unit)
    unit = LLVM::DICompileUnitAttr::get(
        DistinctAttr::create(UnitAttr::get(context)), llvm::dwarf::DW_LANG_C,
        file, StringAttr::get(context, "iris-compile"), isOptimized,
        // With LineTablesOnly, the PTX would ask for code to debug, which ptxas
        // does not optimize.
        kind == TargetKind::NVPTX ? LLVM::DIEmissionKind::DebugDirectivesOnly
                                  : LLVM::DIEmissionKind::LineTablesOnly);
  auto flags = LLVM::DISubprogramFlags::Definition;
  if (isOptimized)
    flags = flags | LLVM::DISubprogramFlags::Optimized;
  return LLVM::DISubprogramAttr::get(
      context, DistinctAttr::create(UnitAttr::get(context)), unit, file,
      StringAttr::get(context, name), StringAttr::get(context, symbol), file,
      position.getLine(), /*scopeLine=*/position.getLine(), flags,
      LLVM::DISubroutineTypeAttr::get(context, llvm::dwarf::DW_CC_normal, {}),
      /*retainedNodes=*/{}, /*annotations=*/{});
}

/// `position` in `scope`, which may be in another file.
Location LineTables::locateAt(FileLineColLoc position,
                              LLVM::DISubprogramAttr scope) const {
  LLVM::DIFileAttr file = fileOf(position);
  if (file == scope.getFile())
    return FusedLoc::get(context, {position}, scope);
  return FusedLoc::get(context, {position},
                       LLVM::DILexicalBlockFileAttr::get(context, scope, file,
                                                         /*discriminator=*/0));
}

/// The one position that stands for `loc`, in the function `scope` or in a
/// function that was inlined into it. Fused locations have the first position:
/// LLVM would merge them to line 0.
Location LineTables::locate(Location loc, LLVM::DISubprogramAttr scope) {
  FileLineColLoc position = findPosition(loc);
  if (!position)
    return UnknownLoc::get(context);
  auto site = loc->findInstanceOf<CallSiteLoc>();
  StringAttr callee = site ? getInlinedFunction(site) : StringAttr();
  if (!callee || !findPosition(site.getCaller()))
    return locateAt(position, scope);
  LLVM::DISubprogramAttr &inlinedScope = inlined[callee];
  if (!inlinedScope)
    inlinedScope = makeFunction(callee, callee, position);
  return CallSiteLoc::get(locateAt(position, inlinedScope),
                          locate(site.getCaller(), scope));
}

void LineTables::visit(LLVM::LLVMFuncOp function) {
  FileLineColLoc position = findPosition(function.getLoc());
  if (function.isExternal() || !position)
    return;
  LLVM::DISubprogramAttr scope = makeFunction(
      function.getSymName(), getExportedSymbol(function), position);
  Location start = FusedLoc::get(context, {position}, scope);
  function->setLoc(start);
  function.getBody().walk([&](Operation *op) {
    Location loc = locate(op->getLoc(), scope);
    // LLVM needs to know where an inlined call was.
    if (isa<UnknownLoc>(loc) && isa<LLVM::CallOp>(op))
      loc = start;
    op->setLoc(loc);
  });
}

void LineTables::run() {
  module->walk([&](LLVM::LLVMFuncOp function) { visit(function); });
}

void mlir::iris::addLineTables(Operation *module, TargetKind kind,
                               bool isOptimized) {
  LineTables(module, kind, isOptimized).run();
}
