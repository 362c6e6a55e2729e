// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelBuilder.cpp - Builds the kernel of a collective --------------===//

#include "iris/Kernels/KernelBuilder.h"

#include "iris/Plan/Transfers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// Bytes in a section of a segment: byte offsets are positive 32-bit numbers.
static constexpr int64_t kSectionBytes = int64_t(1) << 30;

/// The arguments of `iris.collective` after the context.
static SmallVector<Type> argumentTypes(const CollectiveConfig &config) {
  MLIRContext *context = config.storage.getContext();
  constexpr int64_t dynamic = ShapedType::kDynamic;
  auto heap = SymmetricAttr::get(context);
  auto data = [&](bool isAnywhere) {
    return MemRefType::get({dynamic}, config.storage, AffineMap(),
                           isAnywhere ? Attribute() : heap);
  };
  auto bytes = MemRefType::get({dynamic}, IntegerType::get(context, 8),
                               AffineMap(), heap);
  Type index = IndexType::get(context);
  const plan::Collective &collective = *config.collective;
  if (config.variant->has(plan::grouped)) {
    auto memory = MemRefType::get({dynamic}, IntegerType::get(context, 8));
    SmallVector<Type> types = {bytes, memory, index};
    const int64_t connections = plan::countConnections(config.maxMembers());
    types.append(connections *
                     (1 + 2 * plan::countMessages(config.maxMembers())),
                 index);
    return types;
  }
  SmallVector<Type> types = {data(config.staged || collective.in.isOnlyOnRoot),
                             data(config.staged || collective.out.isOnlyOnRoot),
                             bytes, index, index};
  types.append(collective.numTables(),
               MemRefType::get({dynamic}, IntegerType::get(context, 64)));
  return types;
}

KernelBuilder::KernelBuilder(gpu::GPUModuleOp module,
                             const CollectiveConfig &config)
    : GroupBuilder(module, argumentTypes(config),
                   {config.size, config.warps, config.xcds}),
      config(config) {
  if (config.variant->has(plan::grouped))
    takeTransfers();
  else
    takeArguments();
  barrierState = words(Workspace::barrier, Workspace::barrierBytes);
}

void KernelBuilder::takeTransfers() {
  auto arguments = kernel.getArguments().drop_front();
  auto take = [&](int64_t number) {
    SmallVector<Value> taken(arguments.take_front(number));
    arguments = arguments.drop_front(number);
    return taken;
  };
  workspace = take(1).front();
  transfers.memory = take(1).front();
  transfers.numConnections = take(1).front();
  const int64_t connections = plan::countConnections(config.maxMembers());
  const int64_t messages =
      connections * plan::countMessages(config.maxMembers());
  transfers.connections = take(connections);
  transfers.distances = take(messages);
  transfers.messages = take(messages);
}

void KernelBuilder::takeArguments() {
  in = kernel.getArgument(1);
  out = kernel.getArgument(2);
  workspace = kernel.getArgument(3);
  count = kernel.getArgument(4);
  root = kernel.getArgument(5);
  unsigned next = 6;
  auto takeTable = [&](const plan::Buffer &buffer, ChunkTable &table) {
    if (!buffer.hasCounts)
      return;
    table = {kernel.getArgument(next), kernel.getArgument(next + 1)};
    next += 2;
  };
  takeTable(config.collective->in, inChunks);
  takeTable(config.collective->out, outChunks);
  if (config.collective->hasRoot()) {
    isRootOffHeap = notLess(root, index(plan::rootIsElsewhere));
    root = rem(root, index(plan::rootIsElsewhere));
  }
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

int64_t KernelBuilder::tilesInRegisters() const {
  // The bytes of registers per thread available for tiles, and the smallest
  // wave size.
  constexpr int64_t maxBytes = 256, waveSize = 32;
  int64_t threads = config.warps * waveSize;
  int64_t each = std::max<int64_t>(
      llvm::divideCeil(config.tile * config.elementBytes, threads), 1);
  return std::max<int64_t>(maxBytes / each, 1);
}

void KernelBuilder::forMembersLoaded(
    int64_t first, llvm::function_ref<Value(Value)> load,
    llvm::function_ref<void(Value, Value)> use) {
  if (!config.size)
    return forMembers(first, [&](Value i) { use(i, load(i)); });
  auto together = [&](Value start, int64_t members) {
    SmallVector<std::pair<Value, Value>> loaded;
    for (int64_t member = 0; member < members; ++member) {
      Value i = b.createOrFold<arith::AddIOp>(start, index(member));
      loaded.push_back({i, load(i)});
    }
    for (auto [i, tile] : loaded)
      use(i, tile);
  };
  forBatchesOfMembers(first, tilesInRegisters(), together);
}

void KernelBuilder::forBatchesOfMembers(
    int64_t first, int64_t batch,
    llvm::function_ref<void(Value, int64_t)> body) {
  int64_t start = first;
  if (!unrollsMembers()) {
    batch = std::min(batch, batchOfLargeGroup);
    start += (config.size - first) / batch * batch;
    loop(index(first), index(start), index(batch),
         [&](Value member) { body(member, batch); });
  }
  for (; start < config.size; start += batch)
    body(index(start), std::min(batch, config.size - start));
}

void KernelBuilder::forPeers(int64_t first, Value start, Value length,
                             Value offset,
                             llvm::function_ref<void(Value, Value)> use) {
  forMembersLoaded(
      first,
      [&](Value i) {
        return load(slice(in, rotate(me, i), start, length), offset);
      },
      [&](Value i, Value tile) { use(rotate(me, i), tile); });
}

void KernelBuilder::gatherChunks(Value stage, Value start, Value length) {
  forTiles(length, [&](Value, Value offset) {
    forMembersLoaded(
        0, [&](Value i) { return loadFrom(rotate(me, i), stage, offset); },
        [&](Value i, Value tile) {
          store(tile, slice(out, rotate(me, i), start, length), offset);
        });
  });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value KernelBuilder::tileSize() { return index(config.tile); }

Value KernelBuilder::tilesIn(Value elements) {
  return ceilDiv(elements, tileSize());
}

Value KernelBuilder::window(Value buffer, Value offset, Value length) {
  return memref::SubViewOp::create(b, buffer, ArrayRef<OpFoldResult>{offset},
                                   ArrayRef<OpFoldResult>{length},
                                   ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

Value KernelBuilder::chunk(Value buffer, Value i) {
  return window(buffer, mul(i, count), count);
}

Value KernelBuilder::slice(Value buffer, Value i, Value start, Value length) {
  return window(buffer, add(mul(i, count), start), length);
}

void KernelBuilder::forTiles(Value length,
                             llvm::function_ref<void(Value, Value)> body) {
  forTilesFrom(program, programs, length, body);
}

Value KernelBuilder::bytesOf(Value first, Value step, Value length) {
  Value whole = div(length, tileSize());
  Value tiles = ceilDiv(sub(max(whole, first), first), step);
  Value cut =
      select(equal(rem(whole, step), first), rem(length, tileSize()), index(0));
  return mul(add(mul(tiles, tileSize()), cut), index(config.elementBytes));
}

void KernelBuilder::forTilesFrom(Value first, Value step, Value length,
                                 llvm::function_ref<void(Value, Value)> body) {
  assert(!sectionStart && "segments do not nest");
  // The number of steps is chosen such that every section begins with tile 0 of
  // a step. It is selected from two constants: the remainder of a division is a
  // significant part of a small kernel's time.
  constexpr int64_t fewSteps = 64, maxSteps = Workspace::maxPrograms *
                                              Workspace::maxAnyMembers;
  int64_t most = kSectionBytes / (config.tile * config.elementBytes);
  Value steps = select(less(step, index(fewSteps + 1)), index(most / fewSteps),
                       index(most / maxSteps));
  // This bound lets passes prove that offsets fit in 32 bits.
  Value sectionTiles = min(mul(step, steps), index(most));
  Value sectionSize = mul(sectionTiles, tileSize());
  loop(index(0), length, sectionSize, [&](Value start) {
    // Each section is a different window of the buffers. Passes cannot prove
    // that no thread depends on other threads' accesses to the previous
    // section.
    gpu::BarrierOp::create(b);
    sectionStart = start;
    sectionLength = min(sectionSize, sub(length, start));
    Value before = div(start, tileSize());
    Value whole = div(sectionLength, tileSize());
    span("tiles", bytesOf(first, step, sectionLength), [&] {
      // A section has few tiles: 32 bits suffice to count them.
      loop(asI32(first), asI32(whole), asI32(step), [&](Value number) {
        Value t = asIndex(number);
        body(add(before, t), mul(t, tileSize()));
      });
      // Compute the remainder only if there is a partial tile.
      ifThen(notEqual(rem(sectionLength, tileSize()), index(0)), [&] {
        ifThen(equal(rem(whole, step), first),
               [&] { body(add(before, whole), mul(whole, tileSize())); });
      });
    });
    sectionStart = sectionLength = Value();
  });
}

Value KernelBuilder::sectionOf(Value buffer) {
  return sectionStart ? window(buffer, sectionStart, sectionLength) : buffer;
}

void KernelBuilder::copy(Value from, Value to, Value length) {
  forTiles(length,
           [&](Value, Value offset) { store(load(from, offset), to, offset); });
}

Value KernelBuilder::load(Value buffer, Value offset, RankedTensorType type) {
  return tile::LoadOp::create(b, type ? type : config.tileType(),
                              sectionOf(buffer), offset, /*other=*/Value());
}

void KernelBuilder::store(Value value, Value buffer, Value offset) {
  tile::StoreOp::create(b, value, sectionOf(buffer), offset);
}

void KernelBuilder::addTo(Value member, Value value, Value buffer,
                          Value offset) {
  AtomicRMWOp::create(b, value.getType(), RMWKind::Add, ctx, value,
                      sectionOf(buffer), offset, rankOf(member),
                      /*mask=*/Value(), MemSemantic::Relaxed, Scope::Sys);
}

void KernelBuilder::storeRows(Value rows, Value buffer, Value offset) {
  if (sectionStart)
    buffer = memref::SubViewOp::create(
        b, buffer, ArrayRef<OpFoldResult>{b.getIndexAttr(0), sectionStart},
        ArrayRef<OpFoldResult>{b.getIndexAttr(config.size), sectionLength},
        ArrayRef<OpFoldResult>{b.getIndexAttr(1), b.getIndexAttr(1)});
  tile::StoreOp::create(b, rows, buffer, ValueRange{index(0), offset});
}

Value KernelBuilder::loadFrom(Value member, Value buffer, Value offset) {
  return iris::LoadOp::create(b, config.tileType(), ctx, sectionOf(buffer),
                              offset, rankOf(member), /*other=*/Value());
}

void KernelBuilder::storeTo(Value member, Value value, Value buffer,
                            Value offset) {
  iris::StoreOp::create(b, ctx, value, sectionOf(buffer), offset,
                        rankOf(member));
}

Value KernelBuilder::scratch(Value offset, Value elements, Type type) {
  type = type ? type : config.storage;
  int64_t bytes = type.getIntOrFloatBitWidth() / 8;
  Value all = view(index(config.workspace.scratch()),
                   index(config.workspace.scratchBytes() / bytes), type);
  return window(all, offset, elements);
}

Value KernelBuilder::addressOf(Value buffer) {
  return memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
}

//===----------------------------------------------------------------------===//
// Buffers whose location differs between members
//===----------------------------------------------------------------------===//

/// The workspace has the same offset in every heap, so a distance from it is
/// valid on all members.
static Value pointerExchangeOf(KernelBuilder &k) {
  return k.view(k.index(Workspace::pointerExchange),
                k.index(Workspace::pointerExchangeBytes / 8), k.b.getI64Type());
}

Value KernelBuilder::locate(Value member) {
  return add(mul(program, index(Workspace::membersIn(config.size))), member);
}

Value KernelBuilder::distanceTo(Value buffer) {
  return arith::IndexCastOp::create(
      b, b.getI64Type(), sub(addressOf(buffer), addressOf(workspace)));
}

void KernelBuilder::announceTo(Value member, Value distance) {
  SignalOp::create(b, SignalKind::Set, ctx, distance, pointerExchangeOf(*this),
                   locate(me), rankOf(member), MemSemantic::Relaxed,
                   Scope::Sys);
}

void KernelBuilder::announceFromRoot(Value buffer) {
  ifThen(equal(me, root), [&] {
    // The workspace itself is never announced, so a distance of 0 means none.
    Value none = arith::ConstantIntOp::create(b, b.getI64Type(), 0);
    Value distance = select(isRootOffHeap, none, distanceTo(buffer));
    forMembers(0, [&](Value member) { announceTo(member, distance); });
  });
}

void KernelBuilder::announceToRoot(Value buffer) {
  announceTo(root, distanceTo(buffer));
}

Value KernelBuilder::distanceOf(Value member) {
  Value distance =
      memref::LoadOp::create(b, pointerExchangeOf(*this), locate(member));
  return arith::IndexCastOp::create(b, b.getIndexType(), distance);
}

Value KernelBuilder::announced(Value member, Value elements) {
  return window(view(distanceOf(member), elements, config.storage), index(0),
                elements);
}

void KernelBuilder::ifAnnounced(Value elements,
                                llvm::function_ref<void(Value)> body,
                                llvm::function_ref<void()> otherwise) {
  Value distance = distanceOf(root);
  auto reach = [&] {
    body(window(view(distance, elements, config.storage), index(0), elements));
  };
  ifThenElse(equal(distance, index(0)), otherwise, reach);
}

//===----------------------------------------------------------------------===//
// Packets
//===----------------------------------------------------------------------===//

void KernelBuilder::forPacketRounds(
    llvm::function_ref<void(Value, Value)> body) {
  Value most = index(config.packetRound());
  forEpochs(most, count, [&](Value start) {
    // Within a kernel only a barrier frees the slots of the previous round.
    ifThen(notEqual(start, index(0)), [&] { barrier(); });
    slots = view(add(index(config.workspace.packets()),
                     mul(parity, index(config.workspace.packetBytes()))),
                 index(config.workspace.packetBytes() / 4), b.getI32Type());
    body(start, roundLength(start, most));
  });
}

/// Words of one tile's packets: data and flags alternate.
static Value packetWords(KernelBuilder &k) {
  return k.index(2 * k.config.tile * k.config.elementBytes / 4);
}

void KernelBuilder::sendPacket(Value member, Value value, Value slot) {
  PacketStoreOp::create(b, ctx, value, slots, mul(slot, packetWords(*this)),
                        rankOf(member), epoch);
}

static RankedTensorType arrivalType(KernelBuilder &k) {
  return RankedTensorType::get({Workspace::arrivalBytes / 8}, k.b.getI32Type());
}

Value KernelBuilder::arrivalOf(Value member) {
  int64_t first =
      config.workspace.packetBytes() - Workspace::allArrivalBytes(config.size);
  return add(index(first / 4), mul(member, index(Workspace::arrivalBytes / 4)));
}

void KernelBuilder::arrive() {
  ifThen(equal(program, index(0)), [&] {
    Value nothing = arith::ConstantOp::create(
        b, cast<TypedAttr>(b.getZeroAttr(arrivalType(*this))));
    forMembers(1, [&](Value i) {
      PacketStoreOp::create(b, ctx, nothing, slots, arrivalOf(me),
                            rankOf(rotate(me, i)), epoch);
    });
  });
}

void KernelBuilder::waitForArrivals() {
  ifThen(equal(program, index(0)), [&] {
    forMembers(1, [&](Value i) {
      Value member = rotate(me, i);
      Value nothing = PacketLoadOp::create(
          b, arrivalType(*this), ctx, slots, arrivalOf(member), epoch,
          rankOf(member), /*members=*/IntegerAttr());
      // Store the value where no one else writes it, or LLVM removes the loads
      // of unused data.
      tile::StoreOp::create(b, nothing, slots, arrivalOf(me));
    });
  });
}

bool KernelBuilder::receivesAll() const {
  return config.size > 1 && llvm::isPowerOf2_64(config.size);
}

Value KernelBuilder::receivePackets(Value slot, bool isFlat) {
  auto type = RankedTensorType::get({config.size, config.tile}, config.storage);
  if (isFlat)
    type = RankedTensorType::get({config.size * config.tile}, config.storage);
  return PacketLoadOp::create(
      b, type, ctx, slots, mul(slot, packetWords(*this)), epoch,
      /*owedBy=*/Value(), b.getI64IntegerAttr(config.size));
}

Value KernelBuilder::slicesOfAll(Value buffer, Value start, Value length) {
  constexpr int64_t dynamic = ShapedType::kDynamic;
  auto flat = cast<MemRefType>(buffer.getType());
  auto type = MemRefType::get(
      {config.size, dynamic}, config.storage,
      StridedLayoutAttr::get(b.getContext(), dynamic, {dynamic, 1}),
      flat.getMemorySpace());
  return memref::ReinterpretCastOp::create(
      b, type, buffer, OpFoldResult(start),
      ArrayRef<OpFoldResult>{b.getIndexAttr(config.size), length},
      ArrayRef<OpFoldResult>{count, b.getIndexAttr(1)});
}

Value KernelBuilder::packetSlot(Value source, Value t) {
  return add(mul(t, size), source);
}

void KernelBuilder::receiveChunks(Value start, Value length) {
  if (receivesAll()) {
    Value all = slicesOfAll(out, start, length);
    return forTiles(length, [&](Value t, Value offset) {
      storeRows(receivePackets(packetSlot(index(0), t)), all, offset);
    });
  }
  forTiles(length, [&](Value t, Value offset) {
    forMembers(1, [&](Value i) {
      Value source = rotate(me, i);
      store(receivePacket(source, packetSlot(source, t)),
            slice(out, source, start, length), offset);
    });
  });
}

Value KernelBuilder::receivePacket(Value member, Value slot) {
  return PacketLoadOp::create(b, config.tileType(), ctx, slots,
                              mul(slot, packetWords(*this)), epoch,
                              rankOf(member), /*members=*/IntegerAttr());
}
