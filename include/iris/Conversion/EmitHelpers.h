// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmitHelpers.h - Control flow and atomics, for TargetInfo -*- C++ -*-===//

#ifndef IRIS_CONVERSION_EMITHELPERS_H
#define IRIS_CONVERSION_EMITHELPERS_H

#include "iris/Conversion/TargetInfo.h"

namespace mlir::iris {

/// Splits the block at the insertion point and sets the insertion point to the
/// end of the first part, which has no terminator. Returns the second part.
Block *splitBlockHere(ImplicitLocOpBuilder &b);

/// Runs `body` if `condition` (i1) holds.
void emitIf(ImplicitLocOpBuilder &b, Value condition,
            llvm::function_ref<void()> body);

/// Runs `body` in the leader of the program.
void emitInLeader(ImplicitLocOpBuilder &b, const TargetInfo &target,
                  llvm::function_ref<void()> body);

/// `value` of an integer or float type as an integer of the same width.
Value emitToBits(ImplicitLocOpBuilder &b, Value value);
/// The inverse of `emitToBits`.
Value emitFromBits(ImplicitLocOpBuilder &b, Value bits, Type type);
/// `-value`.
Value emitNegation(ImplicitLocOpBuilder &b, Value value);

/// The updated value of an element: `kind(old, value)`. 16-bit floats are
/// computed in f32 and rounded once; float min and max propagate NaN.
Value emitUpdate(ImplicitLocOpBuilder &b, RMWKind kind, Value old, Value value);

/// An update as a compare-and-swap loop. Supports every type and kind: LLVM
/// expands narrow types to a loop on the aligned word that contains them.
Value emitCASLoop(ImplicitLocOpBuilder &b, RMWKind kind, Value value,
                  Value address, LLVM::AtomicOrdering ordering,
                  StringRef syncScope);

/// An update as `atomicrmw` with the given ordering. LLVM expands it if the
/// target has no such instruction.
Value emitLLVMAtomicRMW(ImplicitLocOpBuilder &b, RMWKind kind, Value value,
                        Value address, LLVM::AtomicOrdering ordering,
                        StringRef syncScope);

/// Replaces the element at `address` by `value` if it equals `compare` bit for
/// bit; returns the previous value.
Value emitAtomicCAS(ImplicitLocOpBuilder &b, Value compare, Value value,
                    Value address, LLVM::AtomicOrdering ordering,
                    StringRef syncScope);

/// A scoped atomic load and store.
Value emitAtomicLoad(ImplicitLocOpBuilder &b, Type type, Value address,
                     LLVM::AtomicOrdering ordering, StringRef syncScope);
void emitAtomicStore(ImplicitLocOpBuilder &b, Value value, Value address,
                     LLVM::AtomicOrdering ordering, StringRef syncScope);

/// Converts an ordering of the dialect to LLVM's.
LLVM::AtomicOrdering toLLVM(MemSemantic sem);

/// True if `sem` is release or acq_rel (acquire or acq_rel).
bool isRelease(MemSemantic sem);
bool isAcquire(MemSemantic sem);

/// Integer constants.
Value emitI32(ImplicitLocOpBuilder &b, int64_t value);
Value emitI64(ImplicitLocOpBuilder &b, int64_t value);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_EMITHELPERS_H
