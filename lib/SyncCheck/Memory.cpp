// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.cpp - What the programs of a rank leave in memory -----------===//
#include "Memory.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

void Memory::apply(const Event &event) {
  if (!event.writes || (event.buffer.rank && *event.buffer.rank != rank))
    return;
  std::optional<Bytes> bytes = event.getBytes();
  if (!bytes)
    return forget(event.buffer.root);
  bool isKnown = event.kind == Event::Kind::Access && event.isElement;
  buffers[event.buffer.root].store(*bytes, isKnown ? event.value : Scalar());
}

void Memory::forget(int root) {
  if (root == Buffer::kUnknown)
    isForgotten = true;
  else
    buffers[root].forget();
}

Scalar Memory::load(const Event &read, Type type) const {
  std::optional<Bytes> bytes = read.getBytes();
  if (isForgotten || !bytes || *read.buffer.rank != rank ||
      unknown.contains(read.buffer.root))
    return {};
  // Allocations are zeroed.
  Scalar value{IntegerAttr::get(type, 0), {}};
  auto found = buffers.find(read.buffer.root);
  if (found != buffers.end())
    value = found->second.load(*bytes, value);
  // Its bytes may have been stored as another type.
  return value.number && value.number.getType() == type ? value : Scalar();
}
