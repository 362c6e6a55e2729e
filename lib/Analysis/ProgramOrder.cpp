// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One model per op, following the table "Order inside a program" of
// docs/internals/memory-model.md.
#include "iris/Analysis/ProgramOrder.h"

#include "iris/Dialect/Iris/IR/Iris.h"
#include "iris/Dialect/Iris/IR/IrisChecks.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace mlir::iris;

#include "iris/Analysis/ProgramOrder.cpp.inc"

using Accesses = SmallVectorImpl<MemoryAccess>;
using Threads = MemoryAccess::Threads;

//===----------------------------------------------------------------------===//
// Plain accesses: one access, no ordering
//===----------------------------------------------------------------------===//

static MemoryAccess makeRead(Value buffer) {
  MemoryAccess access;
  access.buffer = buffer;
  access.reads = true;
  return access;
}

static MemoryAccess makeWrite(Value buffer) {
  MemoryAccess access;
  access.buffer = buffer;
  access.writes = true;
  return access;
}

/// Restricts `access` to the window of `tile`'s shape at `offsets`.
static MemoryAccess atWindow(MemoryAccess access, ValueRange offsets,
                             RankedTensorType tile) {
  access.offsets = llvm::to_vector(offsets);
  access.tile = tile;
  if (tile)
    access.threads = Threads::Owners;
  return access;
}

namespace {

template <typename ModelT, typename OpT>
using Model = ProgramOrderOpInterface::ExternalModel<ModelT, OpT>;

struct LoadModel : Model<LoadModel, tile::LoadOp> {
  void getMemoryAccesses(Operation *op, Accesses &accesses) const {
    auto load = cast<tile::LoadOp>(op);
    accesses.push_back(atWindow(makeRead(load.getSource()), load.getOffsets(),
                                load.getResult().getType()));
  }
};

struct StoreModel : Model<StoreModel, tile::StoreOp> {
  void getMemoryAccesses(Operation *op, Accesses &accesses) const {
    auto store = cast<tile::StoreOp>(op);
    accesses.push_back(atWindow(makeWrite(store.getDestination()),
                                store.getOffsets(),
                                store.getValue().getType()));
  }
};

struct GatherModel : Model<GatherModel, tile::GatherOp> {
  void getMemoryAccesses(Operation *op, Accesses &accesses) const {
    accesses.push_back(makeRead(cast<tile::GatherOp>(op).getSource()));
  }
};

struct ScatterModel : Model<ScatterModel, tile::ScatterOp> {
  void getMemoryAccesses(Operation *op, Accesses &accesses) const {
    accesses.push_back(makeWrite(cast<tile::ScatterOp>(op).getDestination()));
  }
};

/// Reads the operands of the op and those that its region yields.
struct MatmulModel : Model<MatmulModel, tile::MatmulOp> {
  void getMemoryAccesses(Operation *op, Accesses &accesses) const {
    auto matmul = cast<tile::MatmulOp>(op);
    SmallVector<Value> buffers = {matmul.getA(), matmul.getB()};
    if (tile::YieldOp yield = matmul.getYield())
      llvm::append_values(buffers, yield.getA(), yield.getB());
    for (Value buffer : buffers)
      if (buffer)
        accesses.push_back(makeRead(buffer));
  }
};

/// Every thread loads a scalar.
struct ScalarLoadModel : Model<ScalarLoadModel, memref::LoadOp> {
  void getMemoryAccesses(Operation *op, Accesses &accesses) const {
    auto load = cast<memref::LoadOp>(op);
    accesses.push_back(
        atWindow(makeRead(load.getMemRef()), load.getIndices(), {}));
  }
};

/// Every thread stores the same scalar.
struct ScalarStoreModel : Model<ScalarStoreModel, memref::StoreOp> {
  void getMemoryAccesses(Operation *op, Accesses &accesses) const {
    auto store = cast<memref::StoreOp>(op);
    accesses.push_back(
        atWindow(makeWrite(store.getMemRef()), store.getIndices(), {}));
  }
};

//===----------------------------------------------------------------------===//
// Packets: relaxed
//===----------------------------------------------------------------------===//

struct PacketStoreModel : Model<PacketStoreModel, PacketStoreOp> {
  void getMemoryAccesses(Operation *op, Accesses &accesses) const {
    accesses.push_back(makeWrite(cast<PacketStoreOp>(op).getBuffer()));
    accesses.back().isPacket = true;
  }
};

struct PacketLoadModel : Model<PacketLoadModel, PacketLoadOp> {
  void getMemoryAccesses(Operation *op, Accesses &accesses) const {
    accesses.push_back(makeRead(cast<PacketLoadOp>(op).getBuffer()));
    accesses.back().isPacket = true;
  }
};

//===----------------------------------------------------------------------===//
// Atomics, signals and waits
//===----------------------------------------------------------------------===//

static bool releases(MemSemantic sem) {
  return sem == MemSemantic::Release || sem == MemSemantic::AcqRel;
}

static bool acquires(MemSemantic sem) {
  return sem == MemSemantic::Acquire || sem == MemSemantic::AcqRel;
}

/// An access of the leader, or of the owners of a tile.
template <typename OpT>
static MemoryAccess makeAtomic(OpT op, bool writes) {
  MemoryAccess access = makeRead(op.getBuffer());
  access.writes = writes;
  auto tile = dyn_cast<RankedTensorType>(op.getValue().getType());
  if (areIndexTiles(op.getOffsets()))
    return access;
  access = atWindow(access, op.getOffsets(), tile);
  if (!tile)
    access.threads = Threads::Leader;
  return access;
}

/// Atomics do not share fences with other ops.
template <typename OpT>
struct AtomicModel : Model<AtomicModel<OpT>, OpT> {
  void getMemoryAccesses(Operation *op, Accesses &accesses) const {
    accesses.push_back(makeAtomic(cast<OpT>(op), /*writes=*/true));
  }
  OrderedAccesses getOrderBefore(Operation *op) const {
    return releases(cast<OpT>(op).getSem()) ? OrderedAccesses::All
                                            : OrderedAccesses::None;
  }
  OrderedAccesses getOrderAfter(Operation *op) const {
    return acquires(cast<OpT>(op).getSem()) ? OrderedAccesses::All
                                            : OrderedAccesses::None;
  }
};

struct SignalModel : Model<SignalModel, SignalOp> {
  void getMemoryAccesses(Operation *op, Accesses &accesses) const {
    accesses.push_back(makeAtomic(cast<SignalOp>(op), /*writes=*/true));
  }
  OrderedAccesses getOrderBefore(Operation *op) const {
    return releases(cast<SignalOp>(op).getSem())
               ? OrderedAccesses::ButNeighbours
               : OrderedAccesses::None;
  }
};

struct WaitModel : Model<WaitModel, WaitOp> {
  void getMemoryAccesses(Operation *op, Accesses &accesses) const {
    accesses.push_back(makeAtomic(cast<WaitOp>(op), /*writes=*/false));
  }
  OrderedAccesses getOrderAfter(Operation *op) const {
    return acquires(cast<WaitOp>(op).getSem()) ? OrderedAccesses::ButNeighbours
                                               : OrderedAccesses::None;
  }
};

//===----------------------------------------------------------------------===//
// Barriers and fences
//===----------------------------------------------------------------------===//

/// Orders both sides. The state of a rank barrier is accessed by such barriers
/// only, and is not listed.
template <typename OpT>
struct BarrierModel : Model<BarrierModel<OpT>, OpT> {
  OrderedAccesses getOrderBefore(Operation *) const {
    return OrderedAccesses::All;
  }
  OrderedAccesses getOrderAfter(Operation *) const {
    return OrderedAccesses::All;
  }
};

/// A fence accesses no memory; with release or acquire semantics the program's
/// threads wait for each other.
struct FenceModel : Model<FenceModel, FenceOp> {
  OrderedAccesses getOrderBefore(Operation *op) const {
    return cast<FenceOp>(op).getSem() == MemSemantic::Relaxed
               ? OrderedAccesses::None
               : OrderedAccesses::All;
  }
  OrderedAccesses getOrderAfter(Operation *op) const {
    return getOrderBefore(op);
  }
};

//===----------------------------------------------------------------------===//
// Ops that access no buffer of the kernel
//===----------------------------------------------------------------------===//

/// Reports, traces and exits: no kernel reads the memory they write.
template <typename OpT>
struct NoAccessModel : Model<NoAccessModel<OpT>, OpT> {};

} // namespace

//===----------------------------------------------------------------------===//
// Other ops
//===----------------------------------------------------------------------===//

/// Adds the memory effects of an op without a model; every thread executes it.
static void addEffects(Operation *op, Accesses &accesses) {
  if (isMemoryEffectFree(op))
    return;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface) {
    if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return;
    accesses.push_back(makeWrite(Value()));
    accesses.back().reads = true;
    return;
  }
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    Value buffer = effect.getValue();
    if (buffer && !isa<MemRefType>(buffer.getType()))
      buffer = Value();
    if (isa<MemoryEffects::Read>(effect.getEffect()))
      accesses.push_back(makeRead(buffer));
    else if (isa<MemoryEffects::Write>(effect.getEffect()))
      accesses.push_back(makeWrite(buffer));
  }
}

SmallVector<MemoryAccess> mlir::iris::getMemoryAccesses(Operation *op) {
  SmallVector<MemoryAccess> accesses;
  if (auto interface = dyn_cast<ProgramOrderOpInterface>(op))
    interface.getMemoryAccesses(accesses);
  else
    addEffects(op, accesses);
  return accesses;
}

std::string mlir::iris::describe(const MemoryAccess &access) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << (!access.writes ? "reads" : access.reads ? "updates" : "writes");
  if (access.isPacket)
    os << " packets of";
  if (!access.buffer)
    os << " unknown memory";
  else if (access.tile)
    os << " a window of shape "
       << llvm::interleaved(access.tile.getShape(), "x") << " of a buffer";
  else if (!access.offsets.empty())
    os << " one element of a buffer";
  else
    os << " any element of a buffer";
  switch (access.threads) {
  case Threads::Every:
    os << ", in every thread";
    break;
  case Threads::Owners:
    os << ", in the threads that hold the elements";
    break;
  case Threads::Leader:
    os << ", in thread 0";
    break;
  }
  return text;
}

void mlir::iris::registerProgramOrderModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tile::TileDialect *) {
    tile::LoadOp::attachInterface<LoadModel>(*context);
    tile::StoreOp::attachInterface<StoreModel>(*context);
    tile::GatherOp::attachInterface<GatherModel>(*context);
    tile::ScatterOp::attachInterface<ScatterModel>(*context);
    tile::MatmulOp::attachInterface<MatmulModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, IrisDialect *) {
    AtomicRMWOp::attachInterface<AtomicModel<AtomicRMWOp>>(*context);
    AtomicCASOp::attachInterface<AtomicModel<AtomicCASOp>>(*context);
    SignalOp::attachInterface<SignalModel>(*context);
    WaitOp::attachInterface<WaitModel>(*context);
    BarrierOp::attachInterface<BarrierModel<BarrierOp>>(*context);
    FenceOp::attachInterface<FenceModel>(*context);
    PacketStoreOp::attachInterface<PacketStoreModel>(*context);
    PacketLoadOp::attachInterface<PacketLoadModel>(*context);
    LeaveIfFailedOp::attachInterface<NoAccessModel<LeaveIfFailedOp>>(*context);
    ExpectEqOp::attachInterface<NoAccessModel<ExpectEqOp>>(*context);
    CheckOp::attachInterface<NoAccessModel<CheckOp>>(*context);
    TraceOp::attachInterface<NoAccessModel<TraceOp>>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, memref::MemRefDialect *) {
    memref::LoadOp::attachInterface<ScalarLoadModel>(*context);
    memref::StoreOp::attachInterface<ScalarStoreModel>(*context);
  });
  registry.addExtension(+[](MLIRContext *context, gpu::GPUDialect *) {
    gpu::BarrierOp::attachInterface<BarrierModel<gpu::BarrierOp>>(*context);
  });
}
