// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelAttributes.cpp - The attributes that kernels may have --------===//
//
// MLIR accepts any attribute with a dialect's prefix. Before lowering only
// these mean something: a misspelt one would be ignored.
//
//===----------------------------------------------------------------------===//

#include "iris/Dialect/Iris/Transforms/KernelLanguage.h"

#include "iris/Analysis/ArgumentOverlaps.h"
#include "iris/Dialect/Iris/IR/GroupBounds.h"
#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Text/Nearest.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::iris;

namespace {
/// What has an attribute.
enum class Owner { Kernel, Argument, GroupIndex };

struct AttributeRow {
  StringLiteral name;
  Owner owner;
  StringLiteral meaning;
};
} // namespace

static constexpr AttributeRow attributes[] = {
    {kNumWarpsAttr, Owner::Kernel,
     "warps (waves) of a program: a power of two from 1 to 32; 4 without it"},
    {kMayOverlapAttr, Owner::Kernel,
     "the kernel orders accesses through arguments that overlap in memory "
     "itself; launches do not refuse them"},
    {kConfigAttr, Owner::Kernel,
     "set on generated kernels: the configuration they were generated for"},
    {kDivisibilityAttr, Owner::Argument,
     "what divides a scalar, the bytes of a pointer or, as {pointer, sizes, "
     "strides}, each of a buffer's; launches check it"},
    {kUpperBoundAttr, Owner::GroupIndex,
     "the result is less, because launches have smaller groups"},
};

/// Nouns for messages and for the reference.
static StringRef describeOwner(Owner owner) {
  switch (owner) {
  case Owner::Kernel:
    return "a kernel (gpu.func)";
  case Owner::Argument:
    return "an argument of a kernel";
  case Owner::GroupIndex:
    return "iris.group_index";
  }
  llvm_unreachable("unknown owner");
}

static const AttributeRow *findAttribute(StringRef name) {
  const AttributeRow *row = llvm::find_if(
      attributes, [&](const AttributeRow &row) { return row.name == name; });
  return row == std::end(attributes) ? nullptr : row;
}

/// The names of attributes, without the dialect's prefix, that `owner` has.
static SmallVector<StringRef> stemsOf(std::optional<Owner> owner) {
  SmallVector<StringRef> names;
  for (const AttributeRow &row : attributes)
    if (row.owner == owner)
      names.push_back(row.name.substr(row.name.find('.') + 1));
  return names;
}

/// Reports an attribute of the dialect that is not in the table.
static LogicalResult refuseUnknown(Operation *op, StringRef name,
                                   std::optional<Owner> owner) {
  InFlightDiagnostic error = op->emitOpError("has an unknown attribute '")
                             << name << "'; ";
  StringRef stem = name.substr(name.find('.') + 1);
  SmallVector<StringRef> names = stemsOf(owner);
  if (StringRef nearest = iristext::findNearest(stem, names); !nearest.empty())
    error << "did you mean 'iris." << nearest << "'?";
  else if (names.empty())
    error << "expected no attribute of the iris dialect here";
  else
    error << "expected iris." << llvm::join(names, ", iris.") << " on "
          << describeOwner(*owner);
  return error << " (" << kKernelLanguagePage << ")";
}

/// Reports an attribute of the table whose prefix is missing.
static LogicalResult verifyPrefix(Operation *op, StringRef name,
                                  std::optional<Owner> owner) {
  const AttributeRow *row = findAttribute(("iris." + name).str());
  if (!row || row->owner != owner)
    return success();
  return op->emitOpError("has the attribute '")
         << name << "', which means nothing; expected '" << row->name << "'";
}

/// Checks an attribute that `op` has, itself or on an argument or result.
static LogicalResult verifyAttribute(Operation *op, NamedAttribute attr,
                                     std::optional<Owner> owner) {
  StringRef name = attr.getName();
  if (!name.contains('.'))
    return verifyPrefix(op, name, owner);
  if (!isa_and_nonnull<IrisDialect>(attr.getNameDialect()))
    return success();
  const AttributeRow *row = findAttribute(name);
  if (!row)
    return refuseUnknown(op, name, owner);
  if (owner != row->owner)
    return op->emitOpError("has the attribute '")
           << name << "' where it means nothing; expected it on "
           << describeOwner(row->owner);
  return success();
}

LogicalResult mlir::iris::verifyIrisAttributes(Operation *op) {
  std::optional<Owner> owner;
  if (isa<gpu::GPUFuncOp>(op))
    owner = Owner::Kernel;
  else if (isa<GroupIndexOp>(op))
    owner = Owner::GroupIndex;
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (failed(verifyAttribute(op, attr, owner)))
      return failure();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  if (owner == Owner::Kernel)
    owner = Owner::Argument;
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    for (NamedAttribute attr : function.getArgAttrs(i))
      if (failed(verifyAttribute(op, attr, owner)))
        return failure();
  for (unsigned i = 0, e = function.getNumResults(); i < e; ++i)
    for (NamedAttribute attr : function.getResultAttrs(i))
      if (failed(verifyAttribute(op, attr, std::nullopt)))
        return failure();
  return success();
}

void mlir::iris::printKernelAttributes(raw_ostream &os) {
  os << "### Attributes\n\n| attribute | of | meaning |\n|---|---|---|\n";
  for (const AttributeRow &row : attributes)
    os << "| `" << row.name << "` | " << describeOwner(row.owner) << " | "
       << row.meaning << " |\n";
  os << "\n";
}
