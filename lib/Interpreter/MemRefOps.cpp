// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemRefOps.cpp - memref ---------------------------------------------===//
#include "Machine.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::iris::interp;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static Step load(Program &program, Operation *op) {
  auto access = cast<memref::LoadOp>(op);
  const Buffer &buffer = program.buffer(access.getMemref());
  SmallVector<int64_t> at = program.indices(access.getIndices());
  if (!program.failed && program.checkInside(buffer, at))
    program.set(op->getResult(0), program.load(buffer, access.getType(), at));
  return Step::Next;
}
static Step store(Program &program, Operation *op) {
  auto access = cast<memref::StoreOp>(op);
  const Buffer &buffer = program.buffer(access.getMemref());
  SmallVector<int64_t> at = program.indices(access.getIndices());
  const Datum &value = program.get(access.getValue());
  if (!program.failed && program.checkInside(buffer, at))
    program.store(buffer, access.getValue().getType(), at, value.elements[0]);
  return Step::Next;
}

static void setStrides(Buffer &buffer) {
  buffer.strides.assign(buffer.sizes.size(), 1);
  for (size_t dim = buffer.sizes.size(); dim-- > 1;)
    buffer.strides[dim - 1] = buffer.strides[dim] * buffer.sizes[dim];
}

static Step allocate(Program &program, Operation *op) {
  auto type = cast<MemRefType>(op->getResult(0).getType());
  if (!type.hasStaticShape() || !type.getLayout().isIdentity()) {
    program.error("has a dynamic size or a layout; expected neither");
    return Step::Next;
  }
  Buffer buffer;
  buffer.allocation = program.world.makeMemory(
      -1, type.getNumElements() * Kind(type).bytes(), 1, /*zeroed=*/false);
  buffer.rank = program.rank;
  buffer.sizes.assign(type.getShape().begin(), type.getShape().end());
  setStrides(buffer);
  program.set(op->getResult(0), Datum(std::move(buffer)));
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Sizes and addresses
//===----------------------------------------------------------------------===//

static Step dim(Program &program, Operation *op) {
  auto size = cast<memref::DimOp>(op);
  const Buffer &buffer = program.buffer(size.getSource());
  int64_t dim = program.index(size.getIndex());
  if (program.failed)
    return Step::Next;
  if (dim < 0 || dim >= static_cast<int64_t>(buffer.sizes.size())) {
    program.error("asks for dimension " + Twine(dim) + "; expected 0 to " +
                  Twine(static_cast<int64_t>(buffer.sizes.size()) - 1));
    return Step::Next;
  }
  program.set(op->getResult(0), fromIndex(buffer.sizes[dim]));
  return Step::Next;
}

static int64_t addressOf(const Buffer &buffer) {
  // The heaps of ranks are far from each other.
  constexpr int64_t heapStride = int64_t(1) << 44;
  return static_cast<int64_t>(buffer.allocation->address) + buffer.base +
         (buffer.allocation->isSymmetric() ? buffer.rank + 1 : 0) * heapStride;
}

static Step pointer(Program &program, Operation *op) {
  program.set(op->getResult(0),
              fromIndex(addressOf(program.buffer(op->getOperand(0)))));
  return Step::Next;
}

static Step metadata(Program &program, Operation *op) {
  auto query = cast<memref::ExtractStridedMetadataOp>(op);
  Buffer buffer = program.buffer(query.getSource());
  program.set(query.getOffset(), fromIndex(buffer.offset));
  for (auto [result, size] : llvm::zip(query.getSizes(), buffer.sizes))
    program.set(result, fromIndex(size));
  for (auto [result, stride] : llvm::zip(query.getStrides(), buffer.strides))
    program.set(result, fromIndex(stride));
  buffer.offset = 0;
  buffer.sizes.clear();
  buffer.strides.clear();
  program.set(query.getBaseBuffer(), Datum(std::move(buffer)));
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// The same buffer; static sizes, strides and the offset of the type have to be
/// those of the buffer.
static Step castBuffer(Program &program, Operation *op) {
  const Buffer &buffer = program.buffer(op->getOperand(0));
  auto type = cast<MemRefType>(op->getResult(0).getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  auto check = [&](const char *what, int64_t found, int64_t expected) {
    if (!ShapedType::isDynamic(expected) && found != expected)
      program.error("has the " + Twine(what) + " " + Twine(found) +
                    "; the type says " + Twine(expected));
  };
  if (program.failed || failed(type.getStridesAndOffset(strides, offset)))
    return Step::Next;
  check("offset", buffer.offset, offset);
  for (size_t dim = 0; dim < buffer.sizes.size(); ++dim) {
    check("size", buffer.sizes[dim], type.getDimSize(dim));
    if (buffer.sizes[dim] > 1) // else it is not used
      check("stride", buffer.strides[dim], strides[dim]);
  }
  program.set(op->getResult(0), program.get(op->getOperand(0)));
  return Step::Next;
}

static Step same(Program &program, Operation *op) {
  program.buffer(op->getOperand(0));
  program.set(op->getResult(0), program.get(op->getOperand(0)));
  return Step::Next;
}

static Step assumeAlignment(Program &program, Operation *op) {
  auto assume = cast<memref::AssumeAlignmentOp>(op);
  const Buffer &buffer = program.buffer(assume.getMemref());
  auto type = cast<MemRefType>(assume.getMemref().getType());
  int64_t address = addressOf(buffer) + buffer.offset * Kind(type).bytes();
  if (address % assume.getAlignment() != 0)
    program.error("assumes an alignment of " + Twine(assume.getAlignment()) +
                  " bytes, which the buffer does not have");
  return same(program, op);
}

static Step reinterpret(Program &program, Operation *op) {
  auto view = cast<memref::ReinterpretCastOp>(op);
  Buffer buffer = program.buffer(view.getSource());
  buffer.offset = program.mixed(view.getStaticOffsets(), view.getOffsets())[0];
  SmallVector<int64_t> sizes =
      program.mixed(view.getStaticSizes(), view.getSizes());
  SmallVector<int64_t> strides =
      program.mixed(view.getStaticStrides(), view.getStrides());
  buffer.sizes.assign(sizes.begin(), sizes.end());
  buffer.strides.assign(strides.begin(), strides.end());
  program.set(op->getResult(0), Datum(std::move(buffer)));
  return Step::Next;
}

static Step subview(Program &program, Operation *op) {
  auto view = cast<memref::SubViewOp>(op);
  Buffer buffer = program.buffer(view.getSource());
  SmallVector<int64_t> offsets =
      program.mixed(view.getStaticOffsets(), view.getOffsets());
  SmallVector<int64_t> sizes =
      program.mixed(view.getStaticSizes(), view.getSizes());
  SmallVector<int64_t> strides =
      program.mixed(view.getStaticStrides(), view.getStrides());
  if (program.failed)
    return Step::Next;
  Buffer result = buffer;
  result.sizes.clear();
  result.strides.clear();
  llvm::SmallBitVector dropped = view.getDroppedDims();
  for (size_t dim = 0; dim < offsets.size(); ++dim) {
    result.offset += offsets[dim] * buffer.strides[dim];
    if (dropped.test(dim))
      continue;
    result.sizes.push_back(sizes[dim]);
    result.strides.push_back(strides[dim] * buffer.strides[dim]);
  }
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}

/// Lets a view of `bytes` bytes that begins outside of its source's allocation
/// be one of the allocation that has them all. Kernels of the library tell
/// peers where a buffer is by its distance from the workspace, which is the
/// same on all ranks. Any other view stays as it is, and its accesses are
/// errors.
static void moveToAllocation(const World &world, Buffer &buffer,
                             int64_t bytes) {
  const Allocation &source = *buffer.allocation;
  if (!source.isSymmetric() ||
      (buffer.base >= 0 && buffer.base <= source.size()))
    return;
  int64_t address = static_cast<int64_t>(source.address) + buffer.base;
  if (std::shared_ptr<Allocation> found = world.allocationAt(address, bytes)) {
    buffer.base = address - static_cast<int64_t>(found->address);
    buffer.allocation = std::move(found);
  }
}

static Step view(Program &program, Operation *op) {
  auto view = cast<memref::ViewOp>(op);
  Buffer buffer = program.buffer(view.getSource());
  int64_t shift = program.index(view.getByteShift());
  SmallVector<int64_t> sizes =
      program.mixed(view.getType().getShape(), view.getSizes());
  buffer.base += buffer.offset + shift;
  buffer.offset = 0;
  buffer.sizes.assign(sizes.begin(), sizes.end());
  setStrides(buffer);
  int64_t bytes = Kind(view.getType()).bytes();
  bool overflows = false;
  for (int64_t size : sizes)
    overflows |= size < 0 || llvm::MulOverflow(bytes, size, bytes);
  if (!program.failed && !overflows)
    moveToAllocation(program.world, buffer, bytes);
  program.set(op->getResult(0), Datum(std::move(buffer)));
  return Step::Next;
}

static Step transpose(Program &program, Operation *op) {
  auto view = cast<memref::TransposeOp>(op);
  Buffer buffer = program.buffer(view.getIn()), result = buffer;
  if (program.failed)
    return Step::Next;
  for (unsigned dim = 0; dim < buffer.sizes.size(); ++dim) {
    unsigned from = view.getPermutation().getDimPosition(dim);
    result.sizes[dim] = buffer.sizes[from];
    result.strides[dim] = buffer.strides[from];
  }
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}

/// A dimension for each group: its stride is that of the last dimension, of
/// those that have more than one element.
static Step collapse(Program &program, Operation *op) {
  auto view = cast<memref::CollapseShapeOp>(op);
  Buffer buffer = program.buffer(view.getSrc()), result = buffer;
  if (program.failed)
    return Step::Next;
  result.sizes.clear();
  result.strides.clear();
  for (const ReassociationIndices &group : view.getReassociationIndices()) {
    int64_t size = 1, stride = 0;
    for (int64_t dim : llvm::reverse(group)) {
      if (buffer.sizes[dim] != 1) {
        if (stride == 0)
          stride = buffer.strides[dim];
        else if (buffer.strides[dim] != stride * size)
          program.error("collapses dimension " + Twine(dim) +
                        ", which has the stride " + Twine(buffer.strides[dim]) +
                        "; expected " + Twine(stride * size));
      }
      size *= buffer.sizes[dim];
    }
    result.sizes.push_back(size);
    result.strides.push_back(stride == 0 ? buffer.strides[group.back()]
                                         : stride);
  }
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}

static Step expand(Program &program, Operation *op) {
  auto view = cast<memref::ExpandShapeOp>(op);
  Buffer buffer = program.buffer(view.getSrc()), result = buffer;
  SmallVector<int64_t> sizes =
      program.mixed(view.getStaticOutputShape(), view.getOutputShape());
  if (program.failed)
    return Step::Next;
  result.sizes.assign(sizes.begin(), sizes.end());
  result.strides.assign(sizes.size(), 1);
  for (auto [source, group] : llvm::enumerate(view.getReassociationIndices())) {
    int64_t stride = buffer.strides[source], size = 1;
    for (int64_t dim : llvm::reverse(group)) {
      result.strides[dim] = stride * size;
      size *= sizes[dim];
    }
    if (size != buffer.sizes[source])
      program.error("expands a dimension of size " +
                    Twine(buffer.sizes[source]) + " to " + Twine(size) +
                    " elements");
  }
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}

void mlir::iris::interp::addMemRefOps(World &world) {
  world.add("memref.load", load);
  world.add("memref.store", store);
  world.add("memref.alloca", allocate);
  world.add("memref.dim", dim);
  world.add("memref.extract_aligned_pointer_as_index", pointer);
  world.add("memref.extract_strided_metadata", metadata);
  world.add("memref.cast", castBuffer);
  world.add("memref.memory_space_cast", same);
  world.add("memref.assume_alignment", assumeAlignment);
  world.add("memref.reinterpret_cast", reinterpret);
  world.add("memref.subview", subview);
  world.add("memref.view", view);
  world.add("memref.transpose", transpose);
  world.add("memref.collapse_shape", collapse);
  world.add("memref.expand_shape", expand);
}
