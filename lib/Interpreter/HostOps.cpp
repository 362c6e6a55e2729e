// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostOps.cpp - Allocations, launches, iris.sync ---------------------===//
#include "Machine.h"

#include "iris/Dialect/Iris/IR/Iris.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::interp;

static Step alloc(Program &program, Operation *op) {
  auto alloc = cast<AllocOp>(op);
  auto type = cast<MemRefType>(alloc.getResult().getType());
  Buffer buffer;
  buffer.rank = program.rank;
  size_t next = 0;
  bool overflows = false;
  int64_t bytes = Kind(type).bytes();
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size))
      size = program.index(alloc.getSizes()[next++]);
    if (size < 0)
      program.error("has the size " + Twine(size) + "; expected 0 or more");
    overflows |= llvm::MulOverflow(bytes, size, bytes);
    buffer.sizes.push_back(size);
  }
  if (overflows)
    program.error("allocates more than 2^63 bytes");
  if (program.failed)
    return Step::Next;
  buffer.strides.assign(buffer.sizes.size(), 1);
  for (size_t dim = buffer.sizes.size(); dim-- > 1;)
    buffer.strides[dim - 1] = buffer.strides[dim] * buffer.sizes[dim];
  buffer.allocation = program.world.allocate(program, bytes, buffer.sizes);
  if (buffer.allocation)
    program.set(op->getResult(0), Datum(std::move(buffer)));
  return Step::Next;
}

static Step dealloc(Program &program, Operation *op) {
  const Buffer &buffer = program.buffer(op->getOperand(0));
  if (!program.failed)
    program.world.free(program, buffer);
  return Step::Next;
}

SmallVector<unsigned> mlir::iris::interp::membersOf(const World &world,
                                                    DenseI32ArrayAttr group) {
  SmallVector<unsigned> members;
  if (group) {
    members.append(group.asArrayRef().begin(), group.asArrayRef().end());
  } else {
    for (unsigned rank = 0; rank < world.ranks.size(); ++rank)
      members.push_back(rank);
  }
  return members;
}

bool mlir::iris::interp::checkArguments(Program &program,
                                        ArrayRef<Datum> arguments) {
  for (const Datum &datum : arguments) {
    if (datum.buffer && !datum.buffer->poison &&
        datum.buffer->allocation->freedBy >> program.rank & 1)
      program.error("passes allocation " +
                    Twine(datum.buffer->allocation->number) +
                    ", which the rank has freed");
  }
  return !program.failed;
}

static Step launch(Program &program, Operation *op) {
  auto launch = cast<LaunchOp>(op);
  StreamItem item;
  item.op = op;
  Operation *kernel =
      SymbolTable::lookupNearestSymbolFrom(op, launch.getKernelAttr());
  item.kernel = dyn_cast_or_null<gpu::GPUFuncOp>(kernel);
  if (!item.kernel) {
    program.error("launches what is not a gpu.func");
    return Step::Next;
  }
  SmallVector<int64_t> extents = program.indices(launch.getPrograms());
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    if (extent < 1)
      program.error("launches " + Twine(extent) +
                    " programs; expected 1 or more");
    item.grid[dim] = extent;
  }
  // The verifier has compared the types with the kernel's.
  for (const Datum &datum : program.getAll(launch.getKernelOperands())) {
    if (!program.failed && !datum.elements.empty())
      program.requireValue(datum.elements[0]);
    item.arguments.push_back(datum);
  }
  if (program.failed || !checkArguments(program, item.arguments))
    return Step::Next;
  if (DenseI32ArrayAttr group = launch.getGroupAttr()) {
    item.group = membersOf(program.world, group);
    for (unsigned rank : item.group)
      if (rank >= program.world.ranks.size())
        program.error("names rank " + Twine(rank) + "; the world has " +
                      Twine(program.world.ranks.size()) + " ranks");
    if (program.failed || !llvm::is_contained(item.group, program.rank))
      return Step::Next; // the other ranks do not launch
  }
  program.world.enqueue(program, std::move(item));
  return Step::Next;
}

static Step sync(Program &program, Operation *) {
  return program.world.sync(program);
}

void mlir::iris::interp::addHostOps(World &world) {
  world.add("iris.alloc", alloc);
  world.add("iris.dealloc", dealloc);
  world.add("iris.launch", launch, Point::Access);
  world.add("iris.sync", sync);
}
