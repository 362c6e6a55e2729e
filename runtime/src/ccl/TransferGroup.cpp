// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TransferGroup.cpp - Sends and receives that start together ---------===//
//
// One kernel runs all of them, so that none waits for another one, except those
// of one connection, whose messages are in order. The transfers of all ranks
// have an order: first the first one of each connection, then the second ones,
// and so on; among these by the distance from sender to receiver (in ranks,
// modulo their number), then by the sender.
//
// Where one launch has no room for all, or the device does not run a program of
// each connection at once, several launches follow each other in that order. If
// each rank has all of its transfers in one group, as in an all-to-all, that is
// no deadlock: of the transfers that have not ended, the first one is in the
// launch that runs on both of its ranks.
#include "ccl/CommunicatorImpl.h"
#include "ccl/ProgramLimit.h"
#include "iris/Plan/CollectiveForm.h"
#include "iris/Plan/Transfers.h"
#include "iris/ccl/Selector.h"

#include <algorithm>
#include <cinttypes>
#include <tuple>

using namespace iris::ccl;
using namespace iris::rt;

namespace iris::ccl {
/// A send or a receive of a group.
struct Transfer {
  Call call;
  CheckedCall checked;
  Chosen chosen;
  /// Transfers of the group before it that have its connection.
  size_t turn = 0;
  uint32_t sender = 0;
  /// Ranks from the sender to the receiver.
  uint32_t distance = 0;

  bool isSend() const { return call.op == Op::send; }
  bool hasSameConnection(const Transfer &other) const {
    return isSend() == other.isSend() && call.root == other.call.root;
  }
  const Extent &buffer() const { return isSend() ? checked.in : checked.out; }
};
} // namespace iris::ccl

Config Communicator::Impl::groupConfig() const {
  const auto size = static_cast<uint32_t>(group.ranks.size());
  for (const Config &each :
       candidates(Op::send, DType::i8, world.deviceKind(), size,
                  /*onHeap=*/true, &world.deviceAttributes()))
    if (each.variant == variantsOf(Op::send).front())
      return configOfGroups(completed(Config(), each));
  return configOfGroups(Config());
}

/// The transfers in the order of all ranks', and those of nothing, which are
/// only compared.
static std::vector<Transfer> inOrder(const std::vector<Call> &calls,
                                     uint32_t size, uint32_t me) {
  std::vector<Transfer> transfers;
  transfers.reserve(calls.size());
  for (const Call &call : calls) {
    Transfer next;
    next.call = call;
    next.sender = next.isSend() ? me : call.root;
    const uint32_t receiver = next.isSend() ? call.root : me;
    next.distance = (receiver + size - next.sender) % size;
    next.turn = static_cast<size_t>(std::count_if(
        transfers.begin(), transfers.end(), [&next](const Transfer &other) {
          return next.hasSameConnection(other);
        }));
    transfers.push_back(next);
  }
  std::sort(transfers.begin(), transfers.end(),
            [](const Transfer &a, const Transfer &b) {
              return std::tuple(a.turn, a.distance, a.sender) <
                     std::tuple(b.turn, b.distance, b.sender);
            });
  return transfers;
}

/// A transfer in the kernel of groups: it has the same steps as in a kernel of
/// its own, which the peer may use.
static Expected<plan::Message> messageOf(const Transfer &transfer,
                                         const KernelFacts &group) {
  const KernelFacts &facts = transfer.chosen.kernel->facts;
  const plan::Collective &collective = getCollective(Op::send);
  const plan::Variant *variant = collective.find(facts.variant);
  plan::CollectiveForm form;
  form.collective = &collective;
  form.size = facts.groupSize;
  form.workspace = plan::Workspace(static_cast<int64_t>(group.workspaceBytes));
  plan::Message message;
  message.inPackets = variant && variant->has(plan::packets);
  const int64_t tile =
      message.inPackets ? form.defaultTileOf(*variant) : group.tile;
  if (facts.tile != tile)
    return makeStatus(StatusCode::failedPrecondition,
                      "%s: tiles of %" PRId64 " bytes in a group, where tiles "
                      "have %" PRId64 "; expected a call without a config, and "
                      "kernels and cost models of one version",
                      opName(transfer.call.op).data(), facts.tile, tile);
  message.count = static_cast<int64_t>(transfer.buffer().bytes);
  plan::IntegerArithmetic n;
  message.programs =
      plan::countPrograms(n, plan::ceilDiv(message.count, tile),
                          static_cast<int64_t>(transfer.chosen.programs));
  return message;
}

namespace {
/// The arguments of one launch.
struct Launch {
  struct Queue {
    plan::Connection connection;
    std::vector<uint64_t> addresses;
    std::vector<plan::Message> messages;
  };
  std::vector<Queue> queues;

  /// Adds a transfer, if there is room.
  bool add(const Transfer &transfer, const plan::Message &message,
           size_t mostConnections, size_t mostMessages);
  /// Programs that the longest message has.
  uint64_t programs() const;
};
} // namespace

bool Launch::add(const Transfer &transfer, const plan::Message &message,
                 size_t mostConnections, size_t mostMessages) {
  auto queue =
      std::find_if(queues.begin(), queues.end(), [&](const Queue &each) {
        return each.connection.isSend == transfer.isSend() &&
               each.connection.peer == transfer.call.root;
      });
  if (queue == queues.end()) {
    if (queues.size() == mostConnections)
      return false;
    queues.emplace_back();
    queue = std::prev(queues.end());
    queue->connection.peer = transfer.call.root;
    queue->connection.isSend = transfer.isSend();
  }
  if (queue->messages.size() == mostMessages)
    return false;
  ++queue->connection.messages;
  queue->addresses.push_back(transfer.buffer().address);
  queue->messages.push_back(message);
  return true;
}

uint64_t Launch::programs() const {
  int64_t most = 1;
  for (const Queue &queue : queues)
    for (const plan::Message &message : queue.messages)
      most = std::max(most, message.programs);
  return static_cast<uint64_t>(most);
}

/// Packs the arguments (Transfers.h).
static std::vector<IrisRtArg> pack(const Launch &launch,
                                   const Extent &workspace, int64_t members) {
  const auto connections = static_cast<size_t>(plan::countConnections(members));
  const auto messages = static_cast<size_t>(plan::countMessages(members));
  std::vector<IrisRtArg> args = {
      makeContextArg(), vectorArg(IRISRT_ELT_I8, workspace, /*symmetric=*/true),
      vectorArg(IRISRT_ELT_I8, workspace, /*symmetric=*/false),
      makeScalarArg(IRISRT_ELT_INDEX, launch.queues.size())};
  const size_t first = args.size();
  args.resize(first + connections * (1 + 2 * messages),
              makeScalarArg(IRISRT_ELT_INDEX, 0));
  auto set = [&args](size_t number, uint64_t value) {
    args[number] = makeScalarArg(IRISRT_ELT_INDEX, value);
  };
  for (size_t c = 0; c < launch.queues.size(); ++c) {
    const Launch::Queue &queue = launch.queues[c];
    set(first + c, static_cast<uint64_t>(queue.connection.pack()));
    for (size_t m = 0; m < queue.messages.size(); ++m) {
      const size_t distance = first + connections * (1 + m) + c;
      set(distance, queue.addresses[m] - workspace.address);
      set(distance + connections * messages,
          static_cast<uint64_t>(queue.messages[m].pack()));
    }
  }
  return args;
}

Status Communicator::Impl::launchGroup(const std::vector<Transfer> &group,
                                       const LoadedKernel &loaded,
                                       Stream stream) {
  const auto size = static_cast<int64_t>(this->group.ranks.size());
  const auto members = static_cast<size_t>(
      loaded.facts.groupSize ? loaded.facts.groupSize
                             : plan::Workspace::maxAnyMembers);
  int64_t limit = static_cast<int64_t>(loaded.programs);
  for (const Transfer &each : group)
    limit = smallerLimit(
        limit, smallerLimit(options.maxPrograms, each.call.maxPrograms));
  const auto programs = static_cast<uint64_t>(limit);
  const size_t mostConnections = std::min<size_t>(
      programs, static_cast<size_t>(plan::countConnections(size)));
  const auto mostMessages =
      static_cast<size_t>(plan::countMessages(static_cast<int64_t>(members)));
  size_t next = 0;
  while (next < group.size()) {
    Launch launch;
    for (; next < group.size(); ++next) {
      IRISRT_ASSIGN_OR_RETURN(plan::Message message,
                              messageOf(group[next], loaded.facts));
      if (!launch.add(group[next], message, mostConnections, mostMessages))
        break;
    }
    const uint64_t connections = launch.queues.size();
    const uint64_t each = std::min(launch.programs(), programs / connections);
    const uint64_t grid[3] = {connections * each, 1, 1};
    const std::vector<IrisRtArg> args =
        pack(launch, {workspace, options.workspaceBytes},
             static_cast<int64_t>(members));
    IRISRT_RETURN_IF_ERROR(world.launchOnHeap(
        loaded.kernel, grid, args.data(), args.size(), stream, &this->group));
  }
  return Status::success();
}

const Spec &Communicator::Impl::groupSpec() const {
  if (!specOfGroups) {
    specOfGroups =
        makeSpec(Op::send, DType::i8, ReduceOp::sum,
                 static_cast<uint32_t>(group.ranks.size()), groupConfig());
    specOfGroups->isSelected = true;
  }
  return *specOfGroups;
}

bool Communicator::Impl::hasGroupKernel() const {
  return kernels.count(kernelSpec(groupSpec())) != 0;
}

Status Communicator::Impl::load(const Call &call) {
  IRISRT_RETURN_IF_ERROR(checkUsable("load"));
  IRISRT_ASSIGN_OR_RETURN(CheckedCall checked, check(call));
  return call.count == 0 ? Status::success() : choose(call, checked).status();
}

Status Communicator::Impl::runGroup(const std::vector<Call> &calls,
                                    Stream stream) {
  if (workspace == 0 || !group.contains() || !world.failure().ok())
    return checkUsable("a group of sends and receives");
  // A single call runs in a kernel of its own, unless its config says not or
  // there is no room for it.
  bool mayBeAlone = true;
  std::vector<Transfer> all;
  for (Transfer &each :
       inOrder(calls, static_cast<uint32_t>(group.ranks.size()),
               static_cast<uint32_t>(group.index))) {
    each.call.stream = stream;
    if (each.call.config &&
        isGrouped(each.call.op, each.call.config->variant)) {
      mayBeAlone = false;
      each.call.config = nullptr;
    }
    IRISRT_ASSIGN_OR_RETURN(each.checked, check(each.call));
    if (each.call.count != 0) {
      IRISRT_ASSIGN_OR_RETURN(each.chosen, choose(each.call, each.checked));
    }
    all.push_back(each);
  }
  for (const Transfer &each : all)
    IRISRT_RETURN_IF_ERROR(transfers.check(each.call));
  all.erase(
      std::remove_if(all.begin(), all.end(),
                     [](const Transfer &each) { return each.call.count == 0; }),
      all.end());
  if (all.empty())
    return Status::success();
  if (all.size() == 1 && mayBeAlone &&
      hasRoomFor(all[0].checked, all[0].chosen))
    return launch(all[0].call, all[0].checked, all[0].chosen);
  IRISRT_ASSIGN_OR_RETURN(const LoadedKernel *kernel,
                          kernelOf(groupSpec(), /*together=*/false));
  return launchGroup(all, *kernel, stream);
}
