// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program.h"

#include <algorithm>
#include <numeric>

using namespace nccl_random;

const char *nccl_random::nameOf(Op op) {
  switch (op) {
  case Op::allReduce:
    return "all_reduce";
  case Op::allGather:
    return "all_gather";
  case Op::reduceScatter:
    return "reduce_scatter";
  case Op::broadcast:
    return "broadcast";
  case Op::bcast:
    return "bcast";
  case Op::reduce:
    return "reduce";
  case Op::allToAll:
    return "all_to_all";
  case Op::gather:
    return "gather";
  case Op::scatter:
    return "scatter";
  case Op::send:
    return "send";
  }
  return "";
}

int Group::rankOf(int member) const {
  auto found = std::find(members.begin(), members.end(), member);
  return found == members.end() ? -1
                                : static_cast<int>(found - members.begin());
}

std::string Operation::describe() const {
  static const char *kinds[] = {"",    "sum", "prod",     "min",
                                "max", "avg", "premulsum"};
  std::string text = std::string(nameOf(op)) + " " + type->name + " x " +
                     std::to_string(count) + " on communicator " +
                     std::to_string(group);
  if (reduction.kind != Reduction::none)
    text += std::string(" ") + kinds[reduction.kind];
  text += " root " + std::to_string(root);
  if (op == Op::send)
    text += " to " + std::to_string(receiver);
  if (inPlace)
    text += " in place";
  if (memory == Memory::window)
    text += " window";
  return text + " offsets " + std::to_string(inOffset) + ", " +
         std::to_string(outOffset) + " stream " + std::to_string(stream);
}

Program::Program(const ProgramOptions &options)
    : options_(options), random_(options.seed), nextSeed_(options.seed << 20) {
  Group all;
  all.members.resize(static_cast<size_t>(options.ranks));
  std::iota(all.members.begin(), all.members.end(), 0);
  groups_.push_back(all);
}

const Group &Program::group(int id) const {
  return *std::find_if(groups_.begin(), groups_.end(),
                       [&](const Group &group) { return group.id == id; });
}

/// Few, or of any number of bits.
uint64_t Program::drawCount(uint64_t max) {
  static const uint64_t few[] = {0, 1, 2, 3, 4, 7, 8, 15, 17, 33};
  if (chance(25))
    return std::min(few[below(std::size(few))], max);
  unsigned bits = 0;
  while (max >> bits > 1)
    ++bits;
  const uint64_t top = uint64_t(1) << below(bits + 1);
  return std::min(max, top + below(top));
}

Operation Program::drawCollective(const Group &group) {
  const auto size = static_cast<uint64_t>(group.size());
  Operation operation;
  operation.op = static_cast<Op>(below(static_cast<uint64_t>(Op::send)));
  operation.group = group.id;
  operation.type = &allTypes()[below(allTypes().size())];
  operation.root = static_cast<int>(below(size));
  // NCCL has no all-to-all in place.
  operation.inPlace = operation.op != Op::allToAll && chance(30);
  operation.stream =
      static_cast<int>(below(static_cast<uint64_t>(options_.streams)));
  operation.factorOnDevice = chance(50);
  const bool reduces = operation.op == Op::allReduce ||
                       operation.op == Op::reduceScatter ||
                       operation.op == Op::reduce;
  Reduction &reduction = operation.reduction;
  reduction.type = operation.type;
  reduction.ranks = group.size();
  reduction.seed = ++nextSeed_;
  if (reduces)
    do
      reduction.kind = static_cast<Reduction::Kind>(Reduction::sum +
                                                    static_cast<int>(below(6)));
    while (!reduction.isExact());
  uint64_t room = options_.maxBytes;
  if (group.windowBytes != 0 && chance(60)) {
    operation.memory = Memory::window;
    room = group.windowBytes / 2;
  }
  // Half of them are aligned.
  if (chance(50)) {
    operation.inOffset = below(20);
    operation.outOffset = below(20);
  }
  // The offsets, and guards beside the buffer, have the rest.
  operation.count = drawCount((room - 1024) / operation.type->bytes / size);
  return operation;
}

/// Messages between any ranks, also of a rank to itself; the sends and receives
/// of a pair are in the same order.
void Program::drawTransfers(const Group &group,
                            std::vector<Operation> &operations) {
  const auto size = static_cast<uint64_t>(group.size());
  const uint64_t messages = 1 + below(2 * size + 2);
  const uint64_t shift = below(size);
  const bool isRing = chance(40);
  const Type *type = &allTypes()[below(allTypes().size())];
  for (uint64_t i = 0; i < (isRing ? size : messages); ++i) {
    Operation operation;
    operation.op = Op::send;
    operation.group = group.id;
    operation.type = isRing ? type : &allTypes()[below(allTypes().size())];
    operation.root = static_cast<int>(isRing ? i : below(size));
    operation.receiver =
        static_cast<int>(isRing ? (i + shift) % size : below(size));
    operation.stream =
        static_cast<int>(below(static_cast<uint64_t>(options_.streams)));
    operation.reduction.type = operation.type;
    operation.reduction.ranks = group.size();
    operation.reduction.seed = ++nextSeed_;
    if (chance(50)) {
      operation.inOffset = below(20);
      operation.outOffset = below(20);
    }
    operation.count =
        drawCount(options_.maxBytes / operation.type->bytes / size);
    operations.push_back(operation);
  }
}

Step Program::drawCalls() {
  Step step;
  step.isCaptured = options_.canCapture && chance(25);
  step.isChecked = step.isCaptured || chance(60);
  step.isGrouped = options_.alwaysGroups || chance(50);
  const uint64_t most = step.isGrouped || step.isCaptured ? 1 + below(4) : 1;
  for (uint64_t i = 0; i < most; ++i) {
    const Group &group = groups_[below(groups_.size())];
    // Sends outside of a group can wait for each other.
    if (step.isGrouped && chance(35))
      drawTransfers(group, step.operations);
    else
      step.operations.push_back(drawCollective(group));
  }
  // A group enqueues those of one communicator together. A rank may take part
  // in few of them only, and their order must be that of all ranks.
  std::vector<int> order;
  for (const Operation &operation : step.operations)
    if (std::find(order.begin(), order.end(), operation.group) == order.end())
      order.push_back(operation.group);
  std::stable_sort(step.operations.begin(), step.operations.end(),
                   [&](const Operation &a, const Operation &b) {
                     return std::find(order.begin(), order.end(), a.group) <
                            std::find(order.begin(), order.end(), b.group);
                   });
  if (step.isCaptured)
    for (Operation &operation : step.operations) {
      operation.stream = 0;
      // It is made and destroyed by calls that no graph has.
      if (operation.reduction.kind == Reduction::preMulSum)
        operation.reduction.kind = Reduction::max;
    }
  // Windows have room for one operation.
  for (size_t i = 0; i < step.operations.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (step.operations[k].group == step.operations[i].group)
        step.operations[i].memory = Memory::own;
  for (const Operation &operation : step.operations)
    step.isChecked = step.isChecked || operation.memory == Memory::window;
  return step;
}

Step Program::drawSplit() {
  Step step;
  step.kind = Step::split;
  const Group parent = groups_[below(groups_.size())];
  step.group = parent.id;
  const uint64_t colors = 1 + below(3);
  for (int i = 0; i < parent.size(); ++i) {
    step.colors.push_back(chance(15) ? NCCL_SPLIT_NOCOLOR
                                     : static_cast<int>(below(colors)));
    step.keys.push_back(static_cast<int>(below(4)));
  }
  for (int color = 0; color < static_cast<int>(colors); ++color) {
    std::vector<int> ranks;
    for (int i = 0; i < parent.size(); ++i)
      if (step.colors[static_cast<size_t>(i)] == color)
        ranks.push_back(i);
    std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
      return step.keys[static_cast<size_t>(a)] <
             step.keys[static_cast<size_t>(b)];
    });
    if (ranks.empty())
      continue;
    Group made;
    made.id = nextGroup_++;
    for (int rank : ranks)
      made.members.push_back(parent.members[static_cast<size_t>(rank)]);
    step.made.push_back(made);
    groups_.push_back(made);
  }
  return step;
}

Step Program::next() {
  if (groups_.size() < 6 && chance(6))
    return drawSplit();
  if (groups_.size() > 1 && chance(4)) {
    Step step;
    step.kind = Step::destroy;
    const size_t which = 1 + below(groups_.size() - 1);
    step.group = groups_[which].id;
    groups_.erase(groups_.begin() + static_cast<ptrdiff_t>(which));
    return step;
  }
  if (chance(4)) {
    Group &group = groups_[below(groups_.size())];
    if (group.windowBytes == 0) {
      Step step;
      step.kind = Step::registerWindow;
      step.group = group.id;
      group.windowBytes = step.windowBytes = 2 * options_.maxBytes;
      return step;
    }
  }
  return drawCalls();
}
