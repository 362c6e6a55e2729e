// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Iris.h - The iris dialect --------------------------------*- C++ -*-===//

#ifndef IRIS_DIALECT_IRIS_IR_IRIS_H
#define IRIS_DIALECT_IRIS_IR_IRIS_H

#include "iris/Dialect/Tile/IR/Tile.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "iris/Dialect/Iris/IR/IrisDialect.h.inc"
#include "iris/Dialect/Iris/IR/IrisEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "iris/Dialect/Iris/IR/IrisTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "iris/Dialect/Iris/IR/IrisAttrs.h.inc"

namespace irisplan {
struct Collective;
} // namespace irisplan

namespace mlir::iris {
namespace plan = ::irisplan;

/// What is known of a collective; iris/Plan/Collectives.h.
const plan::Collective &getCollective(CollectiveKind kind);
/// Checks the ranks of a group, if there is one. It has at most `most`.
LogicalResult verifyGroup(Operation *op, DenseI32ArrayAttr group, int64_t most);
/// Verifies a collective of a host program.
LogicalResult verifyCollectiveCall(Operation *op);
} // namespace mlir::iris

#include "iris/Dialect/Iris/IR/IrisInterfaces.h.inc"

namespace mlir::iris {

/// Discardable attributes of kernels and of their arguments.
inline constexpr StringLiteral kNumWarpsAttr = "iris.num_warps";
inline constexpr StringLiteral kDivisibilityAttr = "iris.divisibility";
/// The config of a generated kernel: the metadata's "config".
inline constexpr StringLiteral kConfigAttr = "iris.config";
/// The metadata of a lowered kernel.
inline constexpr StringLiteral kMetaAttr = "iris.meta";

/// An upper bound on the ranks of a world: IRISRT_MAX_RANKS of RuntimeABI.h.
inline constexpr int64_t kMaxRanks = 64;
/// Maximum number of ranks in a group (IRISRT_MAX_GROUP), and in one that
/// generated kernels for groups of any size serve (IRISRT_MAX_ANY_GROUP).
inline constexpr int64_t kMaxGroup = 16;
inline constexpr int64_t kMaxAnyGroup = 8;

/// Default number of waves per workgroup.
inline constexpr int64_t kDefaultNumWarps = 4;
/// Waves per workgroup of `kernel`, without those that only load operand tiles.
int64_t getNumWarps(Operation *kernel);

/// True if `buffer` is this rank's copy of a buffer in the symmetric heap.
bool isSymmetric(MemRefType buffer);
/// True if `buffer` is a translated buffer: the copy on some rank.
bool isPeer(MemRefType buffer);
/// `buffer` in the memory space #iris.peer.
MemRefType getPeerType(MemRefType buffer);

/// A field of the device context, IrisRtContext of RuntimeABI.h.
struct ContextField {
  StringRef name;
  unsigned bits;
};

/// All fields of the device context, in order.
ArrayRef<ContextField> getContextFields();

/// Whether the offsets of an atomic are tiles of coordinates.
bool areIndexTiles(ValueRange offsets);
/// In the assembly format of atomics: the type of the buffer, then those of
/// tiles of coordinates; offsets are of type index.
ParseResult parseElementTypes(OpAsmParser &parser, Type &buffer,
                              ArrayRef<OpAsmParser::UnresolvedOperand> offsets,
                              SmallVectorImpl<Type> &types);
void printElementTypes(OpAsmPrinter &printer, Operation *op, Type buffer,
                       ValueRange offsets, TypeRange types);

/// The optional `mask %m` of a transfer; its type follows from the shape.
ParseResult
parseTransferMask(OpAsmParser &parser,
                  std::optional<OpAsmParser::UnresolvedOperand> &mask,
                  Type &maskType, DenseI64ArrayAttr shape);
void printTransferMask(OpAsmPrinter &printer, Operation *op, Value mask,
                       Type maskType, DenseI64ArrayAttr shape);

/// An optional reduction.
ParseResult parseOptionalReduction(OpAsmParser &parser,
                                   ReductionAttr &reduction);
void printOptionalReduction(OpAsmPrinter &printer, Operation *op,
                            ReductionAttr reduction);

} // namespace mlir::iris

#define GET_OP_CLASSES
#include "iris/Dialect/Iris/IR/IrisOps.h.inc"

#endif // IRIS_DIALECT_IRIS_IR_IRIS_H
