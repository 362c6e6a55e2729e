// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmitHelpers.h - Control flow and atomics, for TargetInfo -*- C++ -*-===//

#ifndef IRIS_CONVERSION_EMITHELPERS_H
#define IRIS_CONVERSION_EMITHELPERS_H

#include "iris/Conversion/TargetInfo.h"

namespace mlir::iris {

/// Splits the block at the insertion point and leaves the builder at the end of
/// the first part, which has no terminator. Returns the rest.
Block *splitBlockHere(ImplicitLocOpBuilder &b);

/// Runs `body` where `condition` (i1) holds.
void emitIf(ImplicitLocOpBuilder &b, Value condition,
            llvm::function_ref<void()> body);

/// Runs `body` in the leader of the program.
void emitInLeader(ImplicitLocOpBuilder &b, const TargetInfo &target,
                  llvm::function_ref<void()> body);

/// `value` of an integer or float type as an integer of the same width.
Value emitToBits(ImplicitLocOpBuilder &b, Value value);
/// The reverse of `emitToBits`.
Value emitFromBits(ImplicitLocOpBuilder &b, Value bits, Type type);
/// `-value`.
Value emitNegation(ImplicitLocOpBuilder &b, Value value);

/// What an update makes of an element: `kind(old, value)`. 16-bit floats are
/// computed in f32 and rounded once; float min and max propagate NaN.
Value emitUpdate(ImplicitLocOpBuilder &b, RMWKind kind, Value old, Value value);

/// An update as a compare-and-swap loop. Right for every type and kind: LLVM
/// turns narrow ones into a loop on the aligned word around them.
Value emitCASLoop(ImplicitLocOpBuilder &b, RMWKind kind, Value value,
                  Value address, LLVM::AtomicOrdering ordering,
                  StringRef syncScope);

/// An update as `atomicrmw`. LLVM expands what the target has no instruction
/// for. The ordering is the instruction's.
Value emitLLVMAtomicRMW(ImplicitLocOpBuilder &b, RMWKind kind, Value value,
                        Value address, LLVM::AtomicOrdering ordering,
                        StringRef syncScope);

/// Replaces the element at `address` by `value` if it equals `compare` bit for
/// bit; returns what was there.
Value emitAtomicCAS(ImplicitLocOpBuilder &b, Value compare, Value value,
                    Value address, LLVM::AtomicOrdering ordering,
                    StringRef syncScope);

/// A scoped atomic load and store.
Value emitAtomicLoad(ImplicitLocOpBuilder &b, Type type, Value address,
                     LLVM::AtomicOrdering ordering, StringRef syncScope);
void emitAtomicStore(ImplicitLocOpBuilder &b, Value value, Value address,
                     LLVM::AtomicOrdering ordering, StringRef syncScope);

/// Orderings of the dialect as LLVM's.
LLVM::AtomicOrdering toLLVM(MemSemantic sem);

/// True if `sem` is release or acq_rel (acquire or acq_rel).
bool isRelease(MemSemantic sem);
bool isAcquire(MemSemantic sem);

/// Integer constants.
Value emitI32(ImplicitLocOpBuilder &b, int64_t value);
Value emitI64(ImplicitLocOpBuilder &b, int64_t value);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_EMITHELPERS_H
