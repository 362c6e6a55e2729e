// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What code for one thread of a workgroup is made of: who am I, which element
// do I hold, and how do elements get to other threads.
#ifndef IRIS_CONVERSION_THREADCONTEXT_H
#define IRIS_CONVERSION_THREADCONTEXT_H

#include "iris/Analysis/LinearLayout.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::iris {

/// What is known about one kernel before its tiles are spread.
struct KernelInfo {
  unsigned numWarps = 0;
  unsigned warpSize = 0;
  /// This thread's lane and warp, i32.
  Value lane, warp;
  /// The `!iris.ctx` argument; null if there is none.
  Value ctx;
  /// Workgroup memory through which tiles are exchanged; null if none are.
  LLVM::GlobalOp scratch;
};

using KernelInfos = llvm::DenseMap<Operation *, KernelInfo>;

/// Reads `iris.num_warps` and the context from `function`; creates nothing.
KernelInfo getKernelInfo(FunctionOpInterface function, unsigned warpSize);

/// Fills in lane and warp, computed at the begin of `function`.
void emitThreadNumbers(FunctionOpInterface function, KernelInfo &kernel);

/// Returns the memory through which the threads of `function` pass elements to
/// each other, with room for `bytes` at least. All that use it share the place,
/// one after the other: who wants to write waits for everyone first.
LLVM::GlobalOp getScratch(FunctionOpInterface function, uint64_t bytes);

/// Emits code about the places of a layout at one point of a kernel.
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

  /// A number (i32) and what each of its bits adds to a linear map.
  using MapInput = std::pair<Value, ArrayRef<uint64_t>>;
  /// Returns a linear map's value, i32: the combination of the bases that the
  /// inputs' bits select.
  Value applyBases(ArrayRef<MapInput> inputs);
  /// The same for this thread's lane and warp.
  Value applyBases(ArrayRef<uint64_t> laneBases, ArrayRef<uint64_t> warpBases);

  /// Returns this thread's part of the row-major element index, i32.
  Value getThreadIndex(const LinearLayout &layout);

  /// Returns this thread's part of the coordinate along `dim`, i32.
  Value getThreadCoordinate(const LinearLayout &layout, unsigned dim);

  /// Returns a predicate that holds in exactly one of the threads that hold the
  /// same elements; null if there is always just one.
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

  /// Gives each thread, for every place of layout `to`, the element of a tile
  /// in layout `from` that `project` maps the place's element index to.
  /// `registers` is the vector of `from`.  Only owners are read, so that what
  /// duplicates hold does not matter.
  Value exchange(Value registers, const LinearLayout &from,
                 const LinearLayout &to,
                 llvm::function_ref<uint64_t(uint64_t)> project);

  /// Waits for all threads of the workgroup.
  void barrier();

  OpBuilder &b;
  Location loc;
  const KernelInfo &kernel;
};

/// The type elements have in memory and the casts from and to it.
Type getStorageType(Type element);
Value toStorage(OpBuilder &b, Location loc, Value value);
Value fromStorage(OpBuilder &b, Location loc, Value value, Type element);

/// Bytes of scratch memory that `ThreadBuilder::exchange` needs.
uint64_t getExchangeBytes(const LinearLayout &from, Type element);

/// The vector type that holds a thread's part of `type`, or null if `type` has
/// no layout.
VectorType getThreadType(RankedTensorType type);

/// The address space of pointers into a buffer: workgroup memory, or global.
unsigned getAddressSpace(MemRefType type);

} // namespace mlir::iris

#endif // IRIS_CONVERSION_THREADCONTEXT_H
