// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrisAccessOps.cpp - Ranks, and accesses to their buffers -----------===//
#include "Machine.h"

#include "iris/Dialect/Iris/IR/Iris.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::interp;

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

static Step rank(Program &program, Operation *op) {
  program.set(op->getResult(0), fromIndex(program.rank));
  return Step::Next;
}
static Step numRanks(Program &program, Operation *op) {
  program.set(op->getResult(0), fromIndex(program.world.ranks.size()));
  return Step::Next;
}

SmallVector<unsigned> mlir::iris::interp::groupOf(const Program &program) {
  if (!program.group.empty())
    return SmallVector<unsigned>(program.group);
  SmallVector<unsigned> all;
  size_t size = program.world.ranks.size();
  for (unsigned rank = 0; size <= static_cast<size_t>(kMaxGroup) && rank < size;
       ++rank)
    all.push_back(rank);
  return all;
}

static Step groupSize(Program &program, Operation *op) {
  program.set(op->getResult(0), fromIndex(groupOf(program).size()));
  return Step::Next;
}
static Step groupIndex(Program &program, Operation *op) {
  SmallVector<unsigned> group = groupOf(program);
  auto *found = llvm::find(group, program.rank);
  if (found == group.end())
    program.error(
        "is in a launch without a group; expected a world of at most " +
        Twine(kMaxGroup) + " ranks");
  else
    program.set(op->getResult(0), fromIndex(found - group.begin()));
  return Step::Next;
}
static Step groupMember(Program &program, Operation *op) {
  SmallVector<unsigned> group = groupOf(program);
  int64_t member = program.index(cast<GroupMemberOp>(op).getMember());
  if (member < 0 || member >= static_cast<int64_t>(group.size()))
    program.error("names member " + Twine(member) + "; expected 0 to " +
                  Twine(static_cast<int64_t>(group.size()) - 1));
  else
    program.set(op->getResult(0), fromIndex(group[member]));
  return Step::Next;
}

static Step translate(Program &program, Operation *op) {
  auto translation = cast<TranslateOp>(op);
  const Buffer &source = program.buffer(translation.getSource());
  int64_t rank = program.index(translation.getRank());
  if (!program.failed)
    program.set(op->getResult(0), Datum(program.translate(source, rank)));
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The copy on the rank of a value.
static Buffer copyOn(Program &program, Value buffer, Value rank) {
  const Buffer &local = program.buffer(buffer);
  int64_t number = program.index(rank);
  return program.failed ? local : program.translate(local, number);
}

static Step load(Program &program, Operation *op) {
  auto access = cast<LoadOp>(op);
  Buffer buffer = copyOn(program, access.getSource(), access.getRank());
  SmallVector<int64_t> offsets = program.indices(access.getOffsets());
  Element other = access.getOther() ? program.get(access.getOther()).elements[0]
                                    : Element();
  if (program.failed)
    return Step::Next;
  Type type = access.getResult().getType();
  program.set(op->getResult(0),
              Datum(loadWindow(program, buffer, elementOf(type), shapeOf(type),
                               offsets, other)));
  return Step::Next;
}

static Step store(Program &program, Operation *op) {
  auto access = cast<StoreOp>(op);
  Buffer buffer = copyOn(program, access.getDestination(), access.getRank());
  SmallVector<int64_t> offsets = program.indices(access.getOffsets());
  const Datum &value = program.get(access.getValue());
  if (program.failed)
    return Step::Next;
  Type type = access.getValue().getType();
  storeWindow(program, buffer, elementOf(type), shapeOf(type), offsets,
              value.elements);
  return Step::Next;
}

static Step gather(Program &program, Operation *op) {
  auto access = cast<GatherOp>(op);
  Buffer buffer = copyOn(program, access.getSource(), access.getRank());
  if (!program.failed)
    program.set(op->getResult(0),
                Datum(gatherElements(
                    program, buffer, elementOf(op->getResult(0).getType()),
                    access.getIndices(), access.getMask(), access.getOther())));
  return Step::Next;
}

static Step scatter(Program &program, Operation *op) {
  auto access = cast<ScatterOp>(op);
  Buffer buffer = copyOn(program, access.getDestination(), access.getRank());
  if (!program.failed)
    scatterElements(program, buffer, access.getValue(), access.getIndices(),
                    access.getMask());
  return Step::Next;
}

/// A load of a window from `source` and a store to `destination`.
template <typename OpT>
static Step transfer(Program &program, OpT op, const Buffer &source,
                     const Buffer &destination) {
  SmallVector<int64_t> from = program.indices(op.getSourceOffsets());
  SmallVector<int64_t> to = program.indices(op.getDestinationOffsets());
  Element other =
      op.getOther() ? program.get(op.getOther()).elements[0] : Element();
  const Datum *mask = op.getMask() ? &program.get(op.getMask()) : nullptr;
  if (program.failed)
    return Step::Next;
  Type element = op.getSource().getType().getElementType();
  SmallVector<Element, 1> values =
      loadWindow(program, source, element, op.getShape(), from, other);
  if (!program.failed)
    storeWindow(program, destination, element, op.getShape(), to, values, mask);
  return Step::Next;
}

static Step getWindow(Program &program, Operation *op) {
  auto access = cast<GetOp>(op);
  return transfer(program, access,
                  copyOn(program, access.getSource(), access.getRank()),
                  program.buffer(access.getDestination()));
}
static Step putWindow(Program &program, Operation *op) {
  auto access = cast<PutOp>(op);
  return transfer(program, access, program.buffer(access.getSource()),
                  copyOn(program, access.getDestination(), access.getRank()));
}
static Step copyWindow(Program &program, Operation *op) {
  auto access = cast<CopyOp>(op);
  return transfer(program, access,
                  copyOn(program, access.getSource(), access.getFromRank()),
                  copyOn(program, access.getDestination(), access.getToRank()));
}

void mlir::iris::interp::addIrisAccessOps(World &world) {
  world.add("iris.rank", rank);
  world.add("iris.num_ranks", numRanks);
  world.add("iris.group_size", groupSize);
  world.add("iris.group_index", groupIndex);
  world.add("iris.group_member", groupMember);
  world.add("iris.translate", translate);
  world.add("iris.load", load, Point::Access);
  world.add("iris.store", store, Point::Access);
  world.add("iris.gather", gather, Point::Access);
  world.add("iris.scatter", scatter, Point::Access);
  world.add("iris.get", getWindow, Point::Access);
  world.add("iris.put", putWindow, Point::Access);
  world.add("iris.copy", copyWindow, Point::Access);
}
