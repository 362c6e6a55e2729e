// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlainAccesses.cpp - Windows and elements that are accessed ---------===//
#include "KernelWalker.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

KernelWalker::Target KernelWalker::findCopy(Operation *op, Value buffer,
                                            Value rank, Buffer &copy) {
  copy = values.getBuffer(buffer);
  if (copy.root == Buffer::kPrivate)
    return Target::Private;
  if (copy.root == Buffer::kUnknown)
    return Target::Unknown;
  if (rank) {
    std::optional<int64_t> number = values.getNumber(rank);
    copy.rank.reset();
    if (!number)
      return Target::Unknown;
    copy.rank = *number;
  }
  const Position &position = values.getPosition();
  if (!copy.rank)
    copy.rank = position.rank;
  if (*copy.rank >= position.numRanks && !trace.outside)
    trace.outside = op;
  return Target::Ok;
}

void KernelWalker::addOverwrite(Operation *op, Buffer buffer) {
  Event event{Event::Kind::Overwrite, op, buffer};
  event.writes = true;
  addEvent(std::move(event));
}

bool mlir::iris::sync::clip(Event &event, MemRefType type) {
  const Buffer &buffer = event.buffer;
  for (auto [dim, size] : llvm::enumerate(buffer.sizes)) {
    int64_t first = dim < buffer.origin.size() ? buffer.origin[dim] : 0;
    int64_t end = event.offsets[dim] + event.shape[dim];
    if (size)
      end = std::min(end, first + *size * getUnit(type));
    event.offsets[dim] = std::max(event.offsets[dim], first);
    event.shape[dim] = end - event.offsets[dim];
    if (event.shape[dim] <= 0)
      return false;
  }
  return true;
}

std::optional<SmallVector<int64_t, 2>>
KernelWalker::locate(const Buffer &buffer, MemRefType type,
                     ValueRange offsets) {
  if (!buffer.isExact || !type.getElementType().isIntOrIndexOrFloat())
    return std::nullopt;
  SmallVector<int64_t, 2> element = buffer.origin;
  element.resize(type.getRank(), 0);
  for (auto [at, offset] : llvm::zip(element, offsets)) {
    std::optional<int64_t> number = values.getIndex(offset);
    if (!number)
      return std::nullopt;
    at += *number * getUnit(type);
  }
  return element;
}

bool KernelWalker::addWindow(Operation *op, Value buffer, ValueRange offsets,
                             Value rank, ArrayRef<int64_t> shape, bool writes,
                             Value stored) {
  Event event{Event::Kind::Access, op};
  Target target = findCopy(op, buffer, rank, event.buffer);
  if (target == Target::Private)
    return true;
  auto type = cast<MemRefType>(buffer.getType());
  auto element = locate(event.buffer, type, offsets);
  if (target == Target::Unknown || !element) {
    if (writes)
      addOverwrite(op, event.buffer);
    return true;
  }
  event.offsets = std::move(*element);
  event.isElement = shape.empty();
  // A tile may have fewer dimensions than the buffer: they are the last.
  event.shape.assign(event.offsets.size(), getUnit(type));
  for (auto [extent, size] :
       llvm::zip(llvm::reverse(event.shape), llvm::reverse(shape)))
    extent *= size;
  if (!clip(event, type))
    return true;
  event.writes = writes;
  if (stored)
    event.value = values.get(stored);
  addEvent(std::move(event));
  return true;
}

bool KernelWalker::addTransfer(Operation *op, Value source,
                               ValueRange sourceOffsets, Value from,
                               Value destination, ValueRange offsets, Value to,
                               ArrayRef<int64_t> shape, bool isMasked) {
  if (isMasked) {
    Buffer buffer;
    if (findCopy(op, destination, to, buffer) != Target::Private)
      addOverwrite(op, buffer);
    return true;
  }
  return addWindow(op, source, sourceOffsets, from, shape, /*writes=*/false) &&
         addWindow(op, destination, offsets, to, shape, /*writes=*/true);
}

bool KernelWalker::addScatter(tile::ScatterOp scatter) {
  Event element{Event::Kind::Access, scatter};
  Target target =
      findCopy(scatter, scatter.getDestination(), {}, element.buffer);
  if (target == Target::Private)
    return true;
  auto type = cast<MemRefType>(scatter.getDestination().getType());
  if (target == Target::Unknown || !element.buffer.isExact ||
      type.getRank() != 1)
    return addUnknown(scatter);
  DenseIntElementsAttr indices = values.getTile(scatter.getIndices().front());
  DenseIntElementsAttr mask;
  if (scatter.getMask())
    mask = values.getTile(scatter.getMask());
  if (!indices || (scatter.getMask() && !mask))
    return addUnknown(scatter);
  DenseIntElementsAttr stored = values.getTile(scatter.getValue());
  int64_t unit = getUnit(type);
  int64_t origin =
      element.buffer.origin.empty() ? 0 : element.buffer.origin.front();
  element.isElement = element.writes = true;
  std::vector<Event> elements;
  llvm::SmallDenseSet<int64_t> known;
  for (int64_t i = 0, e = indices.getNumElements(); i < e; ++i) {
    if (mask && !mask.getValues<bool>()[i])
      continue;
    int64_t index = indices.getValues<APInt>()[i].getSExtValue();
    // Which one of two stores is the last is not specified.
    if (std::abs(index) > kMostIndex || !known.insert(index).second)
      return addUnknown(scatter);
    Event event = element;
    event.offsets = {origin + index * unit};
    event.shape = {unit};
    if (stored)
      event.value.number = IntegerAttr::get(stored.getElementType(),
                                            stored.getValues<APInt>()[i]);
    if (clip(event, type))
      elements.push_back(std::move(event));
  }
  for (Event &event : elements)
    addEvent(std::move(event));
  return true;
}

bool KernelWalker::addLoad(memref::LoadOp load) {
  size_t before = trace.events.size();
  addWindow(load, load.getMemRef(), load.getIndices(), {}, {}, false);
  if (!memory || trace.events.size() == before ||
      !load.getType().isIntOrIndex())
    return true;
  Event &read = trace.events.back();
  read.value = memory->load(read, load.getType());
  if (read.value.isKnown())
    values.set(load.getResult(), read.value);
  return true;
}
