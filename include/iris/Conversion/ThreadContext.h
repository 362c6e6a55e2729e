// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers for per-thread code: thread numbers, ownership of elements, and the
// exchange of elements between threads.
#ifndef IRIS_CONVERSION_THREADCONTEXT_H
#define IRIS_CONVERSION_THREADCONTEXT_H

#include "iris/Analysis/LinearLayout.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::iris {

/// Properties of a kernel before its tiles are distributed over threads.
struct KernelInfo {
  unsigned numWarps = 0;
  unsigned warpSize = 0;
  /// This thread's lane and warp, i32.
  Value lane, warp;
  /// The `!iris.ctx` argument; null if there is none.
  Value ctx;
  /// Workgroup memory for the exchange of elements; null if it is not needed.
  LLVM::GlobalOp scratch;
};

using KernelInfos = llvm::DenseMap<Operation *, KernelInfo>;

/// Reads `iris.num_warps` and the context argument of `function`; emits
/// nothing.
KernelInfo getKernelInfo(FunctionOpInterface function, unsigned warpSize);

/// Sets lane and warp, computed at the start of `function`.
void emitThreadNumbers(FunctionOpInterface function, KernelInfo &kernel);

/// Returns the workgroup memory through which the threads of `function`
/// exchange elements, with at least `bytes` bytes. All users share it one after
/// the other: a barrier must precede every write.
LLVM::GlobalOp getScratch(FunctionOpInterface function, uint64_t bytes);

/// Emits code that depends on positions in a layout, at one point of a kernel.
class ThreadBuilder {
public:
  ThreadBuilder(OpBuilder &builder, Location loc, const KernelInfo &kernel)
      : b(builder), loc(loc), kernel(kernel) {}

  Value i32(int64_t value);
  Value i64(int64_t value);
  Value index(int64_t value);
  Value toI64(Value index);

  /// Folding arithmetic on integers of equal type.
  Value add(Value lhs, Value rhs);
  Value mul(Value lhs, Value rhs);
  Value mul(Value lhs, int64_t rhs);

  /// An i32 number, and the basis that each of its bits contributes.
  using MapInput = std::pair<Value, ArrayRef<uint64_t>>;
  /// Returns the value of a linear map, i32: the combination of the bases that
  /// the inputs' bits select.
  Value applyBases(ArrayRef<MapInput> inputs);
  /// The same for this thread's lane and warp.
  Value applyBases(ArrayRef<uint64_t> laneBases, ArrayRef<uint64_t> warpBases);

  /// Returns the row-major index of this thread's first element, i32.
  Value getThreadIndex(const LinearLayout &layout);

  /// Returns the coordinate of this thread's first element along `dim`, i32.
  Value getThreadCoordinate(const LinearLayout &layout, unsigned dim);

  /// Returns a predicate that holds in exactly one of the threads that hold the
  /// same elements; null if elements have no duplicates.
  Value getOwnerPredicate(const LinearLayout &layout);

  /// Returns element `i` of a vector.
  Value extract(Value vector, int64_t i);
  /// Returns the elements of a vector.
  SmallVector<Value> unpack(Value vector);
  /// Returns a vector of `elements`, which have one type.
  Value pack(ArrayRef<Value> elements);

  /// Returns a pointer to element `index` (i32) of type `element` in scratch
  /// memory.
  Value getScratchPointer(Type element, Value index);

  /// Returns, for every position of layout `to`, the element of the tile in
  /// layout `from` whose index is `project` of the position's element index.
  /// `registers` is the thread's vector of `from`. Only owners are read, so the
  /// values of duplicates do not matter.
  Value exchange(Value registers, const LinearLayout &from,
                 const LinearLayout &to,
                 llvm::function_ref<uint64_t(uint64_t)> project);

  /// A barrier of the workgroup.
  void barrier();

  OpBuilder &b;
  Location loc;
  const KernelInfo &kernel;
};

/// The type of elements in memory, and casts from and to it.
Type getStorageType(Type element);
Value toStorage(OpBuilder &b, Location loc, Value value);
Value fromStorage(OpBuilder &b, Location loc, Value value, Type element);

/// Bytes of scratch memory that `ThreadBuilder::exchange` needs.
uint64_t getExchangeBytes(const LinearLayout &from, Type element);

/// The vector type that holds a thread's elements of `type`; null if `type` has
/// no layout.
VectorType getThreadType(RankedTensorType type);

/// The address space of pointers to a buffer: workgroup or global memory.
unsigned getAddressSpace(MemRefType type);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_THREADCONTEXT_H
