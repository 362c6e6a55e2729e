// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Conversion/ThreadContext.h"

#include "iris/Analysis/TileLayout.h"
#include "iris/Dialect/Iris/IR/IrisWarpGroups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

KernelInfo mlir::iris::getKernelInfo(FunctionOpInterface function,
                                     unsigned warpSize) {
  KernelInfo kernel;
  kernel.warpSize = warpSize;
  kernel.numWarps = getNumWarps(function);
  for (BlockArgument argument : function.getArguments())
    if (isa<CtxType>(argument.getType()))
      kernel.ctx = argument;
  return kernel;
}

void mlir::iris::emitThreadNumbers(FunctionOpInterface function,
                                   KernelInfo &kernel) {
  OpBuilder builder =
      OpBuilder::atBlockBegin(&function.getFunctionBody().front());
  Location loc = function.getLoc();
  int64_t numWarps = kernel.numWarps;
  if (auto more = function->getAttrOfType<IntegerAttr>(kProducerWarpsAttr))
    numWarps += more.getInt();
  auto thread = gpu::ThreadIdOp::create(
      builder, loc, builder.getIndexType(), gpu::Dimension::x,
      builder.getIndexAttr(numWarps * kernel.warpSize));
  Value id =
      arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(), thread);
  auto constant = [&](unsigned value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  };
  kernel.lane =
      arith::AndIOp::create(builder, loc, id, constant(kernel.warpSize - 1));
  kernel.warp = arith::ShRUIOp::create(
      builder, loc, id, constant(llvm::Log2_32(kernel.warpSize)));
}

LLVM::GlobalOp mlir::iris::getScratch(FunctionOpInterface function,
                                      uint64_t bytes) {
  Operation *table = SymbolTable::getNearestSymbolTable(function);
  std::string name = (function.getName() + "__scratch").str();
  OpBuilder builder(function);
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes);
  if (auto global = dyn_cast_or_null<LLVM::GlobalOp>(
          SymbolTable::lookupSymbolIn(table, name))) {
    auto present = cast<LLVM::LLVMArrayType>(global.getType());
    if (present.getNumElements() < bytes)
      global.setGlobalType(type);
    return global;
  }
  auto global = LLVM::GlobalOp::create(
      builder, function.getLoc(), type, /*isConstant=*/false,
      LLVM::Linkage::Internal, name, /*value=*/Attribute(), /*alignment=*/16,
      /*addrSpace=*/3);
  SymbolTable(table).insert(global);
  return global;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

VectorType mlir::iris::getThreadType(RankedTensorType type) {
  std::optional<LinearLayout> layout = getLinearLayout(type);
  if (!layout)
    return {};
  return VectorType::get({static_cast<int64_t>(layout->getNumRegisters())},
                         type.getElementType());
}

unsigned mlir::iris::getAddressSpace(MemRefType type) {
  Attribute space = type.getMemorySpace();
  if (auto number = dyn_cast_or_null<IntegerAttr>(space))
    return number.getInt();
  auto gpuSpace = dyn_cast_or_null<gpu::AddressSpaceAttr>(space);
  if (gpuSpace && gpuSpace.getValue() == gpu::AddressSpace::Workgroup)
    return 3;
  // This rank's or a peer's heap, and any other buffer.
  return 1;
}

Type mlir::iris::getStorageType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  return element;
}

Value mlir::iris::toStorage(OpBuilder &b, Location loc, Value value) {
  Type storage = getStorageType(value.getType());
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(b, loc, storage, value);
  if (value.getType().isInteger(1))
    return arith::ExtUIOp::create(b, loc, storage, value);
  return value;
}

Value mlir::iris::fromStorage(OpBuilder &b, Location loc, Value value,
                              Type element) {
  if (element.isIndex())
    return arith::IndexCastOp::create(b, loc, element, value);
  if (element.isInteger(1))
    return arith::TruncIOp::create(b, loc, element, value);
  return value;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value ThreadBuilder::i32(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}
Value ThreadBuilder::i64(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 64);
}
Value ThreadBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}
Value ThreadBuilder::toI64(Value index) {
  return b.createOrFold<arith::IndexCastOp>(loc, b.getI64Type(), index);
}
Value ThreadBuilder::add(Value lhs, Value rhs) {
  return b.createOrFold<arith::AddIOp>(loc, lhs, rhs);
}
Value ThreadBuilder::mul(Value lhs, Value rhs) {
  return b.createOrFold<arith::MulIOp>(loc, lhs, rhs);
}
Value ThreadBuilder::mul(Value lhs, int64_t rhs) {
  Value factor = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getIntegerAttr(lhs.getType(), rhs)));
  return mul(lhs, factor);
}

Value ThreadBuilder::applyBases(ArrayRef<MapInput> inputs) {
  Value result;
  uint64_t seen = 0;
  // Adds one term; bits that are not set yet may be added with `or`.
  auto combine = [&](Value term, uint64_t bits) {
    if (!result)
      result = term;
    else if (seen & bits)
      result = arith::XOrIOp::create(b, loc, result, term);
    else
      result = arith::OrIOp::create(b, loc, result, term);
    seen |= bits;
  };
  auto addInput = [&](Value input, ArrayRef<uint64_t> bases) {
    // Input bits with the same shift distance share one masked shift.
    llvm::MapVector<int, uint64_t> shifts;
    for (auto [i, basis] : llvm::enumerate(bases))
      for (uint64_t rest = basis; rest; rest &= rest - 1)
        shifts[llvm::countr_zero(rest) - static_cast<int>(i)] |= uint64_t(1)
                                                                 << i;
    for (auto [shift, mask] : shifts) {
      Value term = input;
      bool allBits = mask + 1 == uint64_t(1) << bases.size();
      if (!allBits)
        term = arith::AndIOp::create(b, loc, term, i32(mask));
      if (shift > 0)
        term = arith::ShLIOp::create(b, loc, term, i32(shift));
      else if (shift < 0)
        term = arith::ShRUIOp::create(b, loc, term, i32(-shift));
      combine(term, shift > 0 ? mask << shift : mask >> -shift);
    }
  };
  for (auto [input, bases] : inputs)
    addInput(input, bases);
  return result ? result : i32(0);
}

Value ThreadBuilder::applyBases(ArrayRef<uint64_t> laneBases,
                                ArrayRef<uint64_t> warpBases) {
  return applyBases({{kernel.lane, laneBases}, {kernel.warp, warpBases}});
}

Value ThreadBuilder::getThreadIndex(const LinearLayout &layout) {
  return applyBases(layout.getBases(LayoutDim::Lane),
                    layout.getBases(LayoutDim::Warp));
}

Value ThreadBuilder::getThreadCoordinate(const LinearLayout &layout,
                                         unsigned dim) {
  uint64_t mask = layout.getDimMask(dim);
  unsigned shift = layout.getDimShift(dim);
  auto restrict = [&](ArrayRef<uint64_t> bases) {
    return llvm::map_to_vector(
        bases, [&](uint64_t basis) { return (basis & mask) >> shift; });
  };
  return applyBases(restrict(layout.getBases(LayoutDim::Lane)),
                    restrict(layout.getBases(LayoutDim::Warp)));
}

Value ThreadBuilder::getOwnerPredicate(const LinearLayout &layout) {
  LayoutIndex free = layout.getFreeBits();
  Value result;
  for (auto [input, bits] :
       {std::pair<Value, uint64_t>(kernel.lane, free.lane),
        std::pair<Value, uint64_t>(kernel.warp, free.warp)}) {
    if (!bits)
      continue;
    Value rest = arith::AndIOp::create(b, loc, input, i32(bits));
    Value isOwner =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rest, i32(0));
    result = result ? arith::AndIOp::create(b, loc, result, isOwner).getResult()
                    : isOwner;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value ThreadBuilder::extract(Value vector, int64_t i) {
  return b.createOrFold<vector::ExtractOp>(loc, vector, i);
}

SmallVector<Value> ThreadBuilder::unpack(Value vector) {
  int64_t count = cast<VectorType>(vector.getType()).getDimSize(0);
  return llvm::map_to_vector(llvm::seq<int64_t>(0, count),
                             [&](int64_t i) { return extract(vector, i); });
}

Value ThreadBuilder::pack(ArrayRef<Value> elements) {
  auto type = VectorType::get({static_cast<int64_t>(elements.size())},
                              elements.front().getType());
  return vector::FromElementsOp::create(b, loc, type, elements);
}

//===----------------------------------------------------------------------===//
// Exchange between threads
//===----------------------------------------------------------------------===//

uint64_t mlir::iris::getExchangeBytes(const LinearLayout &from, Type element) {
  Type storage = getStorageType(element);
  return from.getNumElements() * storage.getIntOrFloatBitWidth() / 8;
}

void ThreadBuilder::barrier() { gpu::BarrierOp::create(b, loc); }

Value ThreadBuilder::getScratchPointer(Type element, Value index) {
  Value base = LLVM::AddressOfOp::create(b, loc, kernel.scratch);
  return LLVM::GEPOp::create(b, loc, base.getType(), element, base,
                             ArrayRef<LLVM::GEPArg>{index});
}

Value ThreadBuilder::exchange(Value registers, const LinearLayout &from,
                              const LinearLayout &to,
                              llvm::function_ref<uint64_t(uint64_t)> project) {
  Type element = cast<VectorType>(registers.getType()).getElementType();
  Type storage = getStorageType(element);

  // Wait until earlier users of the scratch memory are done.
  barrier();
  Value owner = getOwnerPredicate(from);
  uint64_t freeRegisters = from.getFreeBits().reg;
  auto write = [&](OpBuilder &inner) {
    ThreadBuilder t(inner, loc, kernel);
    Value thread = t.getThreadIndex(from);
    for (uint64_t reg = 0; reg < from.getNumRegisters(); ++reg) {
      if (reg & freeRegisters)
        continue;
      Value index = inner.createOrFold<arith::XOrIOp>(
          loc, thread, t.i32(from.apply({reg, 0, 0})));
      LLVM::StoreOp::create(inner, loc,
                            toStorage(inner, loc, t.extract(registers, reg)),
                            t.getScratchPointer(storage, index));
    }
  };
  if (owner) {
    scf::IfOp::create(b, loc, owner, [&](OpBuilder &inner, Location) {
      write(inner);
      scf::YieldOp::create(inner, loc);
    });
  } else {
    write(b);
  }
  barrier();

  auto projectAll = [&](ArrayRef<uint64_t> bases) {
    return llvm::map_to_vector(bases,
                               [&](uint64_t basis) { return project(basis); });
  };
  Value thread = applyBases(projectAll(to.getBases(LayoutDim::Lane)),
                            projectAll(to.getBases(LayoutDim::Warp)));
  SmallVector<Value> elements;
  for (uint64_t reg = 0; reg < to.getNumRegisters(); ++reg) {
    Value index = b.createOrFold<arith::XOrIOp>(
        loc, thread, i32(project(to.apply({reg, 0, 0}))));
    Value stored = LLVM::LoadOp::create(b, loc, storage,
                                        getScratchPointer(storage, index));
    elements.push_back(fromStorage(b, loc, stored, element));
  }
  return pack(elements);
}
