// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveOps.cpp - Collectives in @main ---------------------------===//
//
// A collective is executed when it is the next item of the streams of all
// members. Reductions go through the members in the order of the group; sums
// and products of f8, f16 and bf16 are f32. Kernels may take another order.
#include "Machine.h"

#include "iris/Dialect/Iris/IR/Iris.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::interp;

//===----------------------------------------------------------------------===//
// Elements of collectives
//===----------------------------------------------------------------------===//

namespace {
/// One collective on all members.
class Collective {
public:
  Collective(World &world, ArrayRef<StreamItem *> items)
      : items(items), size(items.size()),
        call(cast<CollectiveCallOpInterface>(items.front()->op)),
        stored(call.getInput().getType()), element(stored),
        program(world, items.front()->rank) {
    if (std::optional<Type> as = call.getElement()) {
      element = Kind(*as);
      isUnsigned = as->isUnsignedInteger();
    }
    program.placeAt(call);
  }

  void run();

private:
  const Buffer &input(int64_t member) {
    return *items[member]->arguments[0].buffer;
  }
  const Buffer &output(int64_t member) {
    return *items[member]->arguments[1].buffer;
  }
  static int64_t extent(const Buffer &buffer) {
    int64_t count = 1;
    for (int64_t size : buffer.sizes)
      count *= size;
    return count;
  }
  /// Elements by their number in row-major order.
  SmallVector<Element> read(const Buffer &buffer, int64_t start, int64_t count);
  void write(const Buffer &buffer, int64_t start, ArrayRef<Element> values);
  /// The same number on all members.
  int64_t agreed(const char *what, llvm::function_ref<int64_t(int64_t)> get);
  SmallVector<Element> reduced(int64_t start, int64_t count);
  Element reduce(ArrayRef<Element> values);
  void runCounted();

  ArrayRef<StreamItem *> items;
  int64_t size;
  CollectiveCallOpInterface call;
  /// Elements of the buffers, and what they mean.
  Kind stored, element;
  bool isUnsigned = false;
  /// For errors: `@main` of the first member.
  Program program;
};
} // namespace

SmallVector<Element> Collective::read(const Buffer &buffer, int64_t start,
                                      int64_t count) {
  Buffer flat = buffer;
  flat.sizes = {extent(buffer)};
  flat.strides = {1};
  SmallVector<Element> result;
  for (int64_t n = start; n < start + count && !program.failed; ++n)
    if (program.checkInside(flat, {n}))
      result.push_back(program.load(flat, stored, {n}));
  return result;
}

void Collective::write(const Buffer &buffer, int64_t start,
                       ArrayRef<Element> values) {
  Buffer flat = buffer;
  flat.sizes = {extent(buffer)};
  flat.strides = {1};
  for (size_t n = 0; n < values.size() && !program.failed; ++n) {
    int64_t at = start + static_cast<int64_t>(n);
    if (program.checkInside(flat, {at}))
      program.store(flat, stored, {at}, values[n]);
  }
}

int64_t Collective::agreed(const char *what,
                           llvm::function_ref<int64_t(int64_t)> get) {
  int64_t first = get(0);
  for (int64_t member = 1; member < size; ++member)
    if (get(member) != first)
      program.error("has the " + Twine(what) + " " + Twine(first) +
                    " on rank " + Twine(items[0]->rank) + " and " +
                    Twine(get(member)) + " on rank " +
                    Twine(items[member]->rank) + "; expected the same");
  return first;
}

Element Collective::reduce(ArrayRef<Element> values) {
  Reduction reduction = *call.getReductionKind();
  bool adds = reduction == Reduction::Sum || reduction == Reduction::Avg;
  Combine how = adds                           ? Combine::Add
                : reduction == Reduction::Prod ? Combine::Mul
                : reduction == Reduction::Min  ? Combine::Min
                                               : Combine::Max;
  if (isUnsigned && how == Combine::Min)
    how = Combine::UMin;
  if (isUnsigned && how == Combine::Max)
    how = Combine::UMax;
  Kind sum = element;
  if (element.isFloat() && element.width < 32)
    sum = Kind(Float32Type::get(call.getContext()));
  auto convert = [](Kind from, Kind to, Element e) {
    return e.poison || from.semantics == to.semantics
               ? e
               : fromFloat(to, toFloat(from, e));
  };
  Element total = convert(element, sum, values[0]);
  for (Element value : values.drop_front())
    total = combine(how, sum, total, convert(element, sum, value));
  if (reduction == Reduction::Avg && !total.poison) {
    if (sum.isFloat())
      total = fromFloat(
          sum, toFloat(sum, total) /
                   toFloat(sum, fromDouble(sum, static_cast<double>(size))));
    else if (isUnsigned)
      total = fromInt(toInt(sum, total).udiv(size));
    else // the number of members may not fit into i8's, but 8 does
      total = fromInt(toInt(sum, total).sdiv(llvm::APInt(sum.width, size)));
  }
  bool isInput = reduction == Reduction::Min || reduction == Reduction::Max;
  if (isInput && element.isFloat() && !total.poison) {
    // An infinity too: nothing saturates.
    llvm::APFloat input = toFloat(sum, total);
    bool inexact;
    input.convert(*element.semantics, llvm::APFloat::rmNearestTiesToEven,
                  &inexact);
    return fromInt(input.bitcastToAPInt());
  }
  return convert(sum, element, total);
}

SmallVector<Element> Collective::reduced(int64_t start, int64_t count) {
  SmallVector<SmallVector<Element>> inputs;
  for (int64_t member = 0; member < size; ++member)
    inputs.push_back(read(input(member), start, count));
  SmallVector<Element> result, values(size);
  for (int64_t n = 0; n < count && !program.failed; ++n) {
    for (int64_t member = 0; member < size; ++member)
      values[member] = inputs[member][n];
    result.push_back(reduce(values));
  }
  return result;
}

/// `all_gather_v` and `all_to_all_v`: the tables are counts and offsets of the
/// input, if it has several chunks, and of the output.
void Collective::runCounted() {
  bool toAll = call.getCollectiveKind() == CollectiveKind::AllGatherV;
  Kind number(IntegerType::get(call.getContext(), 64));
  auto table = [&](int64_t member, size_t which, int64_t entry) {
    const Buffer &buffer = *items[member]->arguments[2 + which].buffer;
    int64_t at[] = {entry};
    if (!program.checkInside(buffer, at))
      return int64_t(0);
    Element value = program.load(buffer, number, at);
    program.requireValue(value);
    return static_cast<int64_t>(value.bits);
  };
  size_t out = toAll ? 0 : 2;
  // What is sent is read before anything is stored.
  SmallVector<SmallVector<Element>> sent;
  for (int64_t from = 0; from < size; ++from) {
    for (int64_t to = 0; to < size; ++to) {
      int64_t count = table(from, 0, toAll ? from : to);
      int64_t start = toAll ? 0 : table(from, 1, to);
      int64_t wanted = table(to, out, from);
      if (!program.failed && count != wanted)
        program.error("sends " + Twine(count) + " elements from rank " +
                      Twine(items[from]->rank) + " to rank " +
                      Twine(items[to]->rank) + ", which expects " +
                      Twine(wanted));
      if (!program.failed && (count < 0 || start < 0))
        program.error("has the count " + Twine(count) + " and the offset " +
                      Twine(start) + "; expected 0 or more");
      if (program.failed)
        return;
      sent.push_back(read(input(from), start, count));
    }
  }
  for (int64_t from = 0; from < size; ++from)
    for (int64_t to = 0; to < size && !program.failed; ++to)
      write(output(to), table(to, out + 1, from), sent[from * size + to]);
}

void Collective::run() {
  CollectiveKind kind = call.getCollectiveKind();
  int64_t in = agreed("input's number of elements",
                      [&](int64_t member) { return extent(input(member)); });
  int64_t out = agreed("output's number of elements",
                       [&](int64_t member) { return extent(output(member)); });
  int64_t root = 0;
  if (call.getRootMember()) {
    root = agreed("root", [&](int64_t member) {
      return static_cast<int64_t>(
          items[member]->arguments.back().elements[0].bits);
    });
    if (root < 0 || root >= size)
      program.error("has the root " + Twine(root) + "; expected 0 to " +
                    Twine(size - 1));
  }
  if (program.failed)
    return;
  SmallVector<SmallVector<Element>> inputs;
  auto readAll = [&](int64_t count) {
    for (int64_t member = 0; member < size; ++member)
      inputs.push_back(read(input(member), 0, count));
  };
  switch (kind) {
  case CollectiveKind::AllGather:
  case CollectiveKind::Gather:
    readAll(in);
    for (int64_t to = 0; to < size; ++to)
      for (int64_t from = 0; from < size; ++from)
        if (kind == CollectiveKind::AllGather || to == root)
          write(output(to), from * in, inputs[from]);
    return;
  case CollectiveKind::AllReduce:
  case CollectiveKind::Reduce: {
    SmallVector<Element> result = reduced(0, in);
    for (int64_t to = 0; to < size; ++to)
      if (kind == CollectiveKind::AllReduce || to == root)
        write(output(to), 0, result);
    return;
  }
  case CollectiveKind::ReduceScatter: {
    SmallVector<Element> result = reduced(0, out * size);
    for (int64_t to = 0; to < size && !program.failed; ++to)
      write(output(to), 0, ArrayRef(result).slice(to * out, out));
    return;
  }
  case CollectiveKind::AllToAll: {
    int64_t chunk = in / size;
    readAll(chunk * size);
    for (int64_t to = 0; to < size; ++to)
      for (int64_t from = 0; from < size && !program.failed; ++from)
        write(output(to), from * chunk,
              ArrayRef(inputs[from]).slice(to * chunk, chunk));
    return;
  }
  case CollectiveKind::Broadcast: {
    SmallVector<Element> values = read(input(root), 0, in);
    for (int64_t to = 0; to < size; ++to)
      write(output(to), 0, values);
    return;
  }
  case CollectiveKind::Scatter: {
    SmallVector<Element> values = read(input(root), 0, out * size);
    for (int64_t to = 0; to < size && !program.failed; ++to)
      write(output(to), 0, ArrayRef(values).slice(to * out, out));
    return;
  }
  case CollectiveKind::AllToAllV:
  case CollectiveKind::AllGatherV:
    return runCounted();
  default:
    program.error("is not a collective that the reference executes");
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static void runCollective(World &world, ArrayRef<StreamItem *> items) {
  Collective(world, items).run();
}

Step mlir::iris::interp::enqueueCall(
    Program &program, Operation *op, ArrayRef<Datum> arguments,
    DenseI32ArrayAttr group, void (*run)(World &, ArrayRef<StreamItem *>)) {
  StreamItem item;
  item.op = op;
  item.arguments.assign(arguments.begin(), arguments.end());
  item.group = membersOf(program.world, group);
  item.collective = run;
  for (unsigned rank : item.group)
    if (rank >= program.world.ranks.size())
      program.error("names rank " + Twine(rank) + "; the world has " +
                    Twine(program.world.ranks.size()) + " ranks");
  // The verifier has checked a group that is written there.
  if (!group && item.group.size() > static_cast<size_t>(kMaxAnyGroup))
    program.error("has no group in a world of " + Twine(item.group.size()) +
                  " ranks; expected a group, or at most " +
                  Twine(kMaxAnyGroup) + " ranks");
  if (program.failed || !checkArguments(program, arguments) ||
      !llvm::is_contained(item.group, program.rank))
    return Step::Next; // the other ranks take no part
  program.world.enqueue(program, std::move(item));
  return Step::Next;
}

static Step collective(Program &program, Operation *op) {
  auto call = cast<CollectiveCallOpInterface>(op);
  SmallVector<Datum> arguments{program.get(call.getInput()),
                               program.get(call.getOutput())};
  for (Value table : call.getChunkTables())
    arguments.push_back(program.get(table));
  if (call.getRootMember())
    arguments.push_back(Datum(program.scalar(call.getRootMember())));
  return enqueueCall(program, op, arguments, call.getGroupAttr(),
                     runCollective);
}

void mlir::iris::interp::addCollectiveOps(World &world) {
  for (StringRef name :
       {"iris.all_gather", "iris.all_reduce", "iris.reduce_scatter",
        "iris.all_to_all", "iris.broadcast", "iris.reduce", "iris.gather_to",
        "iris.scatter_from", "iris.all_to_all_v", "iris.all_gather_v"})
    world.add(name, collective);
}
