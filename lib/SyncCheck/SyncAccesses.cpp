// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SyncAccesses.cpp - Flags, packets and barriers ---------------------===//
#include "KernelWalker.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

bool KernelWalker::addFlag(Operation *op, Event::Kind kind, Value buffer,
                           ValueRange offsets, Value rank, Value value,
                           MemSemantic sem, Scope scope, Value compare) {
  Event event{kind, op};
  if (findCopy(op, buffer, rank, event.buffer) != Target::Ok)
    return stop(op, "its buffer or rank is not known");
  if (areIndexTiles(offsets))
    return stop(op, "it is an atomic at tiles of coordinates");
  auto element =
      locate(event.buffer, cast<MemRefType>(buffer.getType()), offsets);
  if (!element)
    return stop(op, "the index of its flag is not known");
  event.offsets = std::move(*element);
  if (!value.getType().isIntOrIndex())
    return stop(op, "it is an atomic of a tile or of floats");
  event.type = value.getType();
  event.value = values.get(value);
  if (compare)
    event.compare = values.get(compare);
  event.writes = kind != Event::Kind::Wait;
  event.sem = sem;
  event.scope = scope;
  addEvent(std::move(event));
  return true;
}

bool KernelWalker::addPackets(Operation *op, Event::Kind kind, Value buffer,
                              Value offset, Value rank, Value flag, Type tile) {
  Event event{kind, op};
  if (findCopy(op, buffer, rank, event.buffer) != Target::Ok)
    return stop(op, "its buffer or rank is not known");
  // Whether its window is inside of the buffer, without which it does nothing.
  if (event.buffer.sizes.empty() || !event.buffer.sizes.front())
    return stop(op, "the size of its buffer is not known");
  auto type = cast<MemRefType>(buffer.getType());
  auto first = locate(event.buffer, type, offset);
  event.value = values.get(flag);
  if (!first || !event.value.isKnown())
    return stop(op, "its offset or flag is not known");
  // A word of the tile, and a flag beside it.
  auto shaped = cast<RankedTensorType>(tile);
  int64_t bytes = 2 * shaped.getNumElements() *
                  tile::getElementBytes(shaped.getElementType());
  Event window = event;
  window.offsets = event.offsets = std::move(*first);
  window.shape = event.shape = {bytes};
  // A window that is not inside of the buffer is neither written nor awaited.
  if (!clip(window, type) || window.shape != event.shape)
    return true;
  event.writes = kind == Event::Kind::PacketStore;
  addEvent(std::move(event));
  return true;
}

bool KernelWalker::addBarrier(BarrierOp barrier) {
  Event event{Event::Kind::Barrier, barrier};
  if (findCopy(barrier, barrier.getState(), {}, event.buffer) != Target::Ok ||
      !event.buffer.isExact)
    return stop(barrier, "its state is not known");
  const Position &position = values.getPosition();
  if (!position.group.empty() && !barrier.getGroup())
    return stop(barrier, "its group is not the launch's");
  // It stores epochs to the states of all ranks.
  event.writes = true;
  event.buffer.rank.reset();
  const Buffer &state = event.buffer;
  if (!state.sizes.empty() && state.sizes.front()) {
    auto type = cast<MemRefType>(barrier.getState().getType());
    event.offsets.assign(state.origin.begin(), state.origin.end());
    event.offsets.resize(1, 0);
    event.shape = {*state.sizes.front() * getUnit(type)};
  }
  addEvent(std::move(event));
  return true;
}
