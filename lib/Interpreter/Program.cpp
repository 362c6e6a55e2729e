// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Program.cpp - One program: values, control flow, memory ------------===//
#include "Machine.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::interp;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const Datum &Program::get(Value value) {
  static const Datum none;
  auto found = values.find(value.getAsOpaquePointer());
  if (found != values.end())
    return found->second;
  error("uses a value that was never computed");
  return none;
}

Element Program::scalar(Value value) {
  const Datum &datum = get(value);
  if (datum.elements.empty()) {
    error("expected a scalar");
    return {};
  }
  requireValue(datum.elements.front());
  return datum.elements.front();
}

int64_t Program::index(Value value) {
  return toSigned(value.getType(), scalar(value));
}

SmallVector<int64_t> Program::indices(ValueRange list) {
  SmallVector<int64_t> result;
  for (Value value : list)
    result.push_back(index(value));
  return result;
}

const Buffer &Program::buffer(Value value) {
  static const Buffer none = [] {
    Buffer empty;
    empty.allocation = std::make_shared<Allocation>();
    empty.allocation->copies.resize(1);
    return empty;
  }();
  const Datum &datum = get(value);
  if (!datum.buffer) {
    error("expected a buffer");
    return none;
  }
  if (datum.buffer->poison) {
    requireValue({0, datum.buffer->poison});
    return none;
  }
  return *datum.buffer;
}

SmallVector<int64_t> Program::mixed(ArrayRef<int64_t> statics,
                                    ValueRange dynamics) {
  SmallVector<int64_t> result;
  size_t next = 0;
  for (int64_t value : statics)
    result.push_back(ShapedType::isDynamic(value) ? index(dynamics[next++])
                                                  : value);
  return result;
}

SmallVector<Datum> Program::getAll(ValueRange list) {
  SmallVector<Datum> result;
  for (Value value : list)
    result.push_back(get(value));
  return result;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Step Program::jump(Block *block, ArrayRef<Datum> arguments) {
  for (auto [argument, datum] : llvm::zip(block->getArguments(), arguments))
    set(argument, datum);
  frames.back().block = block;
  frames.back().position = block->begin();
  return Step::Jump;
}

Step Program::enter(Operation *owner, Block *block, ArrayRef<Datum> arguments) {
  frames.emplace_back();
  frames.back().owner = owner;
  return jump(block, arguments);
}

Step Program::leave(ArrayRef<Datum> results) {
  Operation *owner = frames.back().owner;
  SmallVector<Datum> kept(results);
  frames.pop_back();
  for (auto [result, datum] : llvm::zip(owner->getResults(), kept))
    set(result, datum);
  return Step::Next;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

bool Program::isInside(const Buffer &buffer, ArrayRef<int64_t> at) {
  for (auto [index, size] : llvm::zip(at, buffer.sizes))
    if (index < 0 || index >= size)
      return false;
  return true;
}

bool Program::checkInside(const Buffer &buffer, ArrayRef<int64_t> at) {
  for (auto [dim, pair] : llvm::enumerate(llvm::zip(at, buffer.sizes))) {
    auto [index, size] = pair;
    if (index >= 0 && index < size)
      continue;
    error("accesses index " + Twine(index) + " of dimension " + Twine(dim) +
          ", which has size " + Twine(size));
    return false;
  }
  return true;
}

int64_t Program::locate(const Buffer &buffer, Kind element,
                        ArrayRef<int64_t> at) {
  int64_t bytes = element.bytes(), position = buffer.offset;
  for (auto [index, stride] : llvm::zip(at, buffer.strides))
    position += index * stride;
  int64_t byte = buffer.base + position * bytes;
  if (byte >= 0 && byte + bytes <= buffer.allocation->size())
    return byte;
  error("accesses bytes " + Twine(byte) + " to " + Twine(byte + bytes - 1) +
        " of an allocation of " + Twine(buffer.allocation->size()) + " bytes");
  return -1;
}

Element Program::loadByte(Allocation::Copy &copy, int64_t byte, int64_t bytes,
                          unsigned width) {
  Element result;
  if (world.races)
    world.races->access(*this, copy, byte, bytes, /*writes=*/false);
  for (int64_t i = 0; i < bytes; ++i) {
    switch (copy.states[byte + i]) {
    case Allocation::Copy::Uninitialized:
      error("reads byte " + Twine(byte + i) +
            " of memory that was never written");
      return {};
    case Allocation::Copy::Poison:
      result.poison = copy.origins.lookup(byte + i);
      break;
    default:
      result.bits |= uint64_t(copy.bytes[byte + i]) << (8 * i);
    }
  }
  if (width < 64)
    result.bits &= (uint64_t(1) << width) - 1;
  return result;
}

void Program::storeByte(Allocation::Copy &copy, int64_t byte, int64_t bytes,
                        Element value) {
  if (world.races)
    world.races->access(*this, copy, byte, bytes, /*writes=*/true);
  bool changes = false;
  for (int64_t i = 0; i < bytes; ++i) {
    const auto now = static_cast<uint8_t>(value.bits >> (8 * i));
    changes |= copy.bytes[byte + i] != now;
    copy.bytes[byte + i] = now;
    copy.states[byte + i] =
        value.poison ? Allocation::Copy::Poison : Allocation::Copy::Written;
    if (value.poison)
      copy.origins[byte + i] = value.poison;
  }
  if (changes) {
    world.idleTurns = 0;
    ++numChanges;
  }
  if (copy.watched)
    world.wake(&copy);
}

Element Program::load(const Buffer &buffer, Kind element,
                      ArrayRef<int64_t> at) {
  int64_t byte = locate(buffer, element, at);
  if (byte < 0)
    return {};
  return loadByte(buffer.copy(), byte, element.bytes(), element.width);
}

void Program::store(const Buffer &buffer, Kind element, ArrayRef<int64_t> at,
                    Element value) {
  int64_t byte = locate(buffer, element, at);
  if (byte >= 0)
    storeByte(buffer.copy(), byte, element.bytes(), value);
}

Buffer Program::translate(const Buffer &buffer, int64_t peer) {
  Buffer result = buffer;
  if (peer < 0 || peer >= static_cast<int64_t>(world.ranks.size()))
    error("names rank " + Twine(peer) + "; expected 0 to " +
          Twine(world.ranks.size() - 1));
  else if (!buffer.allocation->isSymmetric())
    error("names a rank for memory that is not on the symmetric heap");
  else
    result.rank = static_cast<unsigned>(peer);
  return result;
}

SmallVector<Element, 1>
mlir::iris::interp::loadWindow(Program &program, const Buffer &buffer,
                               Kind element, ArrayRef<int64_t> shape,
                               ArrayRef<int64_t> offsets, Element other) {
  SmallVector<Element, 1> result;
  SmallVector<int64_t> position(offsets.size());
  forEachElement(shape, [&](int64_t, ArrayRef<int64_t> at) {
    if (program.failed)
      return;
    for (size_t dim = 0; dim < at.size(); ++dim)
      position[dim] = offsets[dim] + at[dim];
    result.push_back(Program::isInside(buffer, position)
                         ? program.load(buffer, element, position)
                         : other);
  });
  return result;
}

void mlir::iris::interp::storeWindow(Program &program, const Buffer &buffer,
                                     Kind element, ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> offsets,
                                     ArrayRef<Element> values,
                                     const Datum *mask) {
  SmallVector<int64_t> position(offsets.size());
  forEachElement(shape, [&](int64_t n, ArrayRef<int64_t> at) {
    if (program.failed || (mask && (!program.requireValue(mask->elements[n]) ||
                                    (mask->elements[n].bits & 1) == 0)))
      return;
    for (size_t dim = 0; dim < at.size(); ++dim)
      position[dim] = offsets[dim] + at[dim];
    if (Program::isInside(buffer, position))
      program.store(buffer, element, position, values[n]);
  });
}

//===----------------------------------------------------------------------===//
// Waiting and errors
//===----------------------------------------------------------------------===//

Step Program::waitFor(Allocation::Copy *copy, std::string what,
                      ArrayRef<unsigned> ranks) {
  watched = copy;
  if (copy)
    copy->watched = true;
  waitsFor = std::move(what);
  waitsForRanks.assign(ranks.begin(), ranks.end());
  return Step::Blocked;
}

Step Program::cutOff() {
  static Allocation::Copy never;
  ++world.numCutOff;
  return waitFor(&never, "no more steps");
}

void Program::placeAt(Operation *call) {
  function = call->getParentOp();
  isMain = true;
  frames.emplace_back();
  frames.back().block = call->getBlock();
  frames.back().position = call->getIterator();
}

std::string Program::position() const {
  return "rank " + std::to_string(rank) + ", program (" +
         std::to_string(block[0]) + ", " + std::to_string(block[1]) + ", " +
         std::to_string(block[2]) + ")";
}

std::string Program::describe() const {
  if (isMain)
    return "rank " + std::to_string(rank) + ", @main";
  return position() + " of @" + SymbolTable::getSymbolName(function).str();
}

void Program::error(Operation *op, const Twine &message, Operation *poison) {
  if (failed)
    return;
  failed = true;
  if (world.recorder && !isMain) {
    world.recorder->setTitle(
        (op->getName().getStringRef() + " " + message).str());
    world.recorder->blame(world.recorder->mark(*this));
  }
  InFlightDiagnostic diagnostic = world.report(op, message);
  diagnostic.attachNote() << "in " << describe();
  if (poison)
    diagnostic.attachNote(poison->getLoc())
        << "'" << poison->getName() << "' made the poison";
}

bool Program::requireValue(Element e) {
  if (!e.poison)
    return true;
  error(current(),
        "uses poison, which may be any value or none; expected a value",
        e.poison);
  return false;
}

Step mlir::iris::interp::mapElements(Program &program, Operation *op,
                                     ElementFn fn) {
  SmallVector<const Datum *, 3> operands;
  for (Value operand : op->getOperands())
    operands.push_back(&program.get(operand));
  if (program.failed)
    return Step::Next;
  SmallVector<Element, 1> result(countOf(op->getResult(0).getType()));
  SmallVector<Element, 3> inputs(operands.size());
  for (size_t n = 0; n < result.size(); ++n) {
    Operation *poison = nullptr;
    for (size_t i = 0; i < operands.size(); ++i) {
      inputs[i] = operands[i]->elements[n];
      if (!poison)
        poison = inputs[i].poison;
    }
    result[n] = poison ? Element{0, poison} : fn(inputs);
  }
  program.set(op->getResult(0), Datum(std::move(result)));
  return Step::Next;
}
