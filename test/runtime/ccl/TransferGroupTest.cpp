// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups of sends and receives: more messages than one launch takes, of all
// lengths, with few programs, and with peers that have no group.
#include "ccl/OnDevices.h"
#include "support/Hash.h"

#include <algorithm>
#include <vector>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

namespace {
/// The bytes of message `number` from `from` to `to`: none, in packets, in
/// slots, or more than slots hold.
uint64_t lengthOf(uint32_t from, uint32_t to, uint64_t number, uint64_t seed) {
  constexpr uint64_t most[] = {1, 40, 5000, 70000, 300000};
  const uint64_t h = hash(from * 8 + to, number, seed);
  return h % most[h / 1000 % 5];
}

std::vector<uint8_t> dataOf(uint32_t from, uint32_t to, uint64_t number,
                            uint64_t seed) {
  std::vector<uint8_t> data(lengthOf(from, to, number, seed));
  for (uint64_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<uint8_t>(
        hash((from * 8 + to) * 64 + number, i, seed) >> 17);
  return data;
}

/// The messages of one rank, in memory that peers do not access.
class Messages {
public:
  static constexpr uint64_t capacity = uint64_t(32) << 20;

  Messages(World &world, const Buffers &buffers)
      : world(world), in(buffers.ordinaryIn), out(buffers.ordinaryOut) {}

  /// Adds a send or receive, `shift` bytes after a multiple of 16.
  void add(Op op, uint32_t peer, uint64_t number, uint64_t seed,
           uint64_t shift) {
    const bool isSend = op == Op::send;
    const uint32_t me = world.rank();
    const std::vector<uint8_t> data = isSend ? dataOf(me, peer, number, seed)
                                             : dataOf(peer, me, number, seed);
    std::vector<uint8_t> &image = isSend ? sent : received;
    image.resize((image.size() + 15) / 16 * 16 + shift, unused);
    Call call;
    call.op = op;
    call.dtype = DType::u8;
    call.count = data.size();
    call.root = peer;
    if (isSend)
      call.in = reinterpret_cast<const void *>(in + image.size());
    else
      call.out = reinterpret_cast<void *>(out + image.size());
    calls.push_back(call);
    image.insert(image.end(), data.begin(), data.end());
  }

  /// Puts what is sent to the device.
  Status prepare() {
    sent.resize(sent.size() + 1, unused);
    received.resize(received.size() + 1, unused);
    if (sent.size() > capacity || received.size() > capacity)
      return makeStatus(StatusCode::internal,
                        "%zu and %zu bytes; expected at most %llu", sent.size(),
                        received.size(),
                        static_cast<unsigned long long>(capacity));
    const std::vector<uint8_t> nothing(received.size(), unused);
    IRISRT_RETURN_IF_ERROR(world.copyToDevice(in, sent.data(), sent.size()));
    IRISRT_RETURN_IF_ERROR(
        world.copyToDevice(out, nothing.data(), nothing.size()));
    return world.synchronize();
  }

  /// Whether all receives have what was sent, and nothing around it changed.
  Expected<bool> areRight() {
    std::vector<uint8_t> got(received.size());
    IRISRT_RETURN_IF_ERROR(world.copyToHost(got.data(), out, got.size()));
    IRISRT_RETURN_IF_ERROR(world.synchronize());
    return got == received;
  }

  std::vector<Call> calls;

private:
  static constexpr uint8_t unused = 0xee;

  World &world;
  const uint64_t in, out;
  std::vector<uint8_t> sent, received;
};
} // namespace

class TransferGroups : public OnDevices {};
IRIS_ON_DEVICES(TransferGroups, 2u, 3u, 4u, 8u);

/// Every rank has all of its messages in one group: up to 11 for each pair,
/// with as many programs as the device runs at once, and with few.
TEST_P(TransferGroups, AllPairs) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, Messages::capacity));
    for (int64_t programs : {0, 1, 5}) {
      CommunicatorOptions options = communicatorOptions();
      options.maxPrograms = programs;
      RANK_ASSIGN(auto comm, Communicator::create(*world, options));
      RANK_ASSIGN(Stream stream, world->createStream());
      for (uint64_t seed = 1; seed <= 3; ++seed) {
        Messages messages(*world, buffers);
        for (uint32_t peer = 0; peer < comm->size(); ++peer) {
          if (peer == launch.rank)
            continue;
          auto number = [&](uint32_t from, uint32_t to) {
            return hash(from, to, seed) % 12;
          };
          for (uint64_t i = 0; i < number(launch.rank, peer); ++i)
            messages.add(Op::send, peer, i, seed, i);
          for (uint64_t i = 0; i < number(peer, launch.rank); ++i)
            messages.add(Op::recv, peer, i, seed, 3 * i);
        }
        RANK_TRY(messages.prepare());
        RANK_TRY(comm->runGroup(messages.calls, stream));
        RANK_TRY(world->synchronize(stream));
        RANK_ASSIGN(bool right, messages.areRight());
        RANK_CHECK(right);
      }
      RANK_TRY(comm->destroy());
    }
    RANK_TRY(world->sync());
    return "";
  });
}

/// Rank 0 has a group, or each message asks for the kernel of groups; the
/// others have one message after the other, in an order that rank 0 does not
/// know.
TEST_P(TransferGroups, WithPeersThatHaveNone) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    RANK_ASSIGN(Buffers buffers, Buffers::create(*world, Messages::capacity));
    RANK_ASSIGN(Stream stream, world->createStream());
    Config group;
    group.variant = "group";
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      Messages messages(*world, buffers);
      const uint32_t last = comm->size() - 1;
      for (uint64_t i = 0; i < 2; ++i)
        for (uint32_t peer = 1; peer <= last; ++peer)
          for (Op op : {Op::send, Op::recv})
            if (launch.rank == 0)
              messages.add(op, peer, i, seed, 4 * i);
      if (launch.rank != 0) {
        // Half of the ranks receive first.
        const bool receivesFirst = hash(launch.rank, seed, 7) % 2 != 0;
        for (Op op : {receivesFirst ? Op::recv : Op::send,
                      receivesFirst ? Op::send : Op::recv})
          for (uint64_t i = 0; i < 2; ++i)
            messages.add(op, 0, i, seed, i);
      }
      RANK_TRY(messages.prepare());
      if (launch.rank == 0) {
        RANK_TRY(comm->runGroup(messages.calls, stream));
      } else {
        for (Call &call : messages.calls) {
          call.stream = stream;
          call.config = seed % 2 == 0 ? &group : nullptr;
          RANK_TRY(comm->run(call));
        }
      }
      RANK_TRY(world->synchronize(stream));
      RANK_ASSIGN(bool right, messages.areRight());
      RANK_CHECK(right);
    }
    RANK_TRY(world->sync());
    return "";
  });
}

TEST_P(TransferGroups, RefusesOtherOperations) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    Call call;
    call.op = Op::barrier;
    RANK_CHECK(comm->runGroup({call}, Stream()).code() ==
               StatusCode::invalidArgument);
    call.op = Op::send;
    call.dtype = DType::u8;
    call.count = 1;
    call.root = launch.rank;
    RANK_CHECK(comm->runGroup({call}, Stream()).code() ==
               StatusCode::invalidArgument);
    RANK_TRY(comm->runGroup(std::vector<Call>(), Stream()));
    RANK_TRY(world->sync());
    return "";
  });
}

/// Long gathers and scatters in memory that peers do not access: from and to
/// every rank, in place or not, also in a graph.
TEST_P(TransferGroups, LongGathersAndScatters) {
  expectGood([&](const LaunchInfo &launch) -> std::string {
    RANK_ASSIGN(auto world, makeWorld(launch));
    RANK_ASSIGN(auto comm, Communicator::create(*world, communicatorOptions()));
    constexpr uint64_t even = (1 << 20) / 4, most = even + 1001;
    RANK_ASSIGN(Buffers buffers,
                Buffers::create(*world, 4 * most * comm->size() + 1024));
    RANK_ASSIGN(Stream stream, world->createStream());
    uint64_t seed = 0;
    for (Op op : {Op::gather, Op::scatter})
      for (uint64_t count : {even - 1, even, most}) {
        Problem p;
        p.op = op;
        p.dtype = DType::i32;
        p.count = count;
        p.root = static_cast<uint32_t>(++seed % comm->size());
        p.seed = seed;
        SOLVE(*world, *comm, buffers, p, BufferLocation::ordinary);
        SOLVE(*world, *comm, buffers, p, BufferLocation::inPlace);
        SOLVE(*world, *comm, buffers, p, BufferLocation::ordinaryOnRoot);
        RANK_TRY(world->beginCapture(stream));
        RANK_TRY(call(*world, *comm, p, buffers.ordinaryIn, buffers.ordinaryOut,
                      nullptr, stream));
        RANK_ASSIGN(Graph graph, world->endCapture(stream));
        RANK_TRY(world->launchGraph(graph, stream));
        RANK_TRY(world->launchGraph(graph, stream));
        RANK_TRY(world->synchronize(stream));
      }
    RANK_TRY(world->sync());
    return "";
  });
}
