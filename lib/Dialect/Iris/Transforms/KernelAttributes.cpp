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
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

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

/// The name in the table that differs from `name` by the fewest letters.
static StringRef findNearest(StringRef name) {
  const AttributeRow *nearest = attributes;
  for (const AttributeRow &row : attributes)
    if (name.edit_distance(row.name) < name.edit_distance(nearest->name))
      nearest = &row;
  return nearest->name;
}

/// Checks an attribute that `op` has, itself or on an argument or result.
static LogicalResult verifyAttribute(Operation *op, NamedAttribute attr,
                                     std::optional<Owner> owner) {
  StringRef name = attr.getName();
  if (!isa_and_nonnull<IrisDialect>(attr.getNameDialect()))
    return success();
  const AttributeRow *row = llvm::find_if(
      attributes, [&](const AttributeRow &row) { return row.name == name; });
  if (row == std::end(attributes))
    return op->emitOpError("has an unknown attribute '")
           << name << "'; did you mean '" << findNearest(name) << "'? ("
           << kKernelLanguagePage << ")";
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
