// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls with counts that the members make in different ways, drawn by seed: one
// member has other rows, types, counts, buffer sizes or offsets, another
// variant, tile or operation. Every such call is refused on all members within
// the wait limit, or moves what all members expect. No byte changes that no
// member may write: the outputs' chunks are all that a rank can lose.
//
// IRIS_TEST_DRAWS is the number of calls; a few by default.
#include "ccl/CountedCall.h"
#include "ccl/OnDevices.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace iris::ccl;
using namespace iris::rt;
using namespace iris::rt::test;

//===----------------------------------------------------------------------===//
// Draws
//===----------------------------------------------------------------------===//

namespace {
/// What one member does in another way.
enum class Difference {
  row,
  type,
  count,
  size,
  offset,
  variant,
  tile,
  op,
  end
};

constexpr const char *differenceNames[] = {
    "rows", "types", "counts", "sizes", "offsets", "variants", "tiles", "ops"};

/// How one member makes the call.
struct Side {
  Op op = Op::allToAllV;
  DType dtype = DType::i32;
  uint64_t rowElements = 1;
  Config config;
  /// Bytes of both buffers, and by how many they are shifted on the heap.
  uint64_t bytes = 0, shift = 0;

  uint64_t rowBytes() const { return rowElements * dtypeBytes(dtype); }
};

struct Draw {
  explicit Draw(uint64_t seed);

  uint64_t random(uint64_t what, uint64_t end) const {
    return hash(seed, what, 4711) % end;
  }
  const Side &side(uint32_t rank) const { return rank == odd ? other : usual; }
  bool isGather(uint32_t rank) const { return side(rank).op == Op::allGatherV; }

  /// Rows: as the tables of `from` and of `to` say.
  uint64_t sentRows(uint32_t from, uint32_t to) const;
  uint64_t receivedRows(uint32_t to, uint32_t from) const;
  /// Bytes from the beginning of the buffer, and of the chunk.
  uint64_t sentAt(uint32_t from, uint32_t to) const {
    return isGather(from) ? 0 : to * pitch * side(from).rowBytes();
  }
  uint64_t receivedAt(uint32_t to, uint32_t from) const {
    return from * pitch * side(to).rowBytes();
  }
  uint64_t sentBytes(uint32_t from, uint32_t to) const {
    return sentRows(from, to) * side(from).rowBytes();
  }
  uint64_t receivedBytes(uint32_t to, uint32_t from) const {
    return receivedRows(to, from) * side(to).rowBytes();
  }
  bool isPairEqual(uint32_t from, uint32_t to) const {
    return sentBytes(from, to) == receivedBytes(to, from);
  }
  /// Whether members run kernels that cannot work together.
  bool areKernelsDifferent() const;
  bool mustFail() const;

  std::string text() const;

  uint64_t seed;
  Difference difference;
  uint32_t size, odd;
  /// Rows from chunk to chunk, and of the largest chunk.
  uint64_t pitch, most;
  Side usual, other;
  /// Whether the kernels are loaded before the call; the odd member's is not
  /// without the others'.
  bool isUsualLoaded = true, isOtherLoaded = true;
};
} // namespace

Draw::Draw(uint64_t seed) : seed(seed) {
  constexpr uint32_t sizes[] = {2, 3, 4, 8};
  constexpr DType types[] = {DType::i8, DType::f16, DType::f32, DType::i64};
  constexpr Op ops[] = {Op::allToAllV, Op::allGatherV};
  constexpr const char *variants[] = {"push", "pull", "buffered"};
  constexpr uint64_t mosts[] = {3, 40, 700};
  size = sizes[random(0, 4)];
  odd = static_cast<uint32_t>(random(1, size));
  // Three in four are of the kinds that no other rank's host could see.
  difference = static_cast<Difference>(
      random(2, 4) ? random(3, 3)
                   : random(3, static_cast<uint64_t>(Difference::end)));
  most = mosts[random(4, 3)];
  pitch = most + 2;
  usual.op = ops[random(5, 2)];
  usual.dtype = types[random(6, 4)];
  usual.rowElements = 1 + random(7, 6);
  const uint64_t variant = random(8, 3);
  usual.config.variant = variants[variant];
  usual.config.staged = random(9, 4) == 0;
  other = usual;
  switch (difference) {
  case Difference::row:
    other.rowElements = 1 + (usual.rowElements + random(10, 5)) % 6;
    break;
  case Difference::type:
    other.dtype = types[(random(6, 4) + 1 + random(10, 3)) % 4];
    break;
  case Difference::variant:
    other.config.variant = variants[(variant + 1 + random(10, 2)) % 3];
    break;
  case Difference::tile:
    other.config.tile = 256;
    break;
  case Difference::op:
    other.op = ops[1 - random(5, 2)];
    break;
  case Difference::offset:
    other.shift = 512;
    break;
  default:
    break;
  }
  if (difference >= Difference::variant) {
    isOtherLoaded = random(11, 4) > 1;
    isUsualLoaded = random(11, 4) != 0;
  }
  const uint64_t rowBytes = std::max(usual.rowBytes(), other.rowBytes());
  usual.bytes = other.bytes = (size * pitch * rowBytes + 7) / 8 * 8;
  if (difference == Difference::size)
    other.bytes *= 2 + random(10, 6);
}

uint64_t Draw::sentRows(uint32_t from, uint32_t to) const {
  // One table says what a gather sends and what it receives of itself.
  if (isGather(from))
    return receivedRows(from, from);
  uint64_t h = hash(seed, from, usual.op == Op::allGatherV ? 0 : to);
  uint64_t rows = h % 5 == 0 ? 0 : h / 5 % (most + 1);
  bool differs =
      difference == Difference::count && from == odd && to == (odd + 1) % size;
  return rows + differs;
}

uint64_t Draw::receivedRows(uint32_t to, uint32_t from) const {
  uint64_t h = hash(seed, from, usual.op == Op::allGatherV ? 0 : to);
  uint64_t rows = h % 5 == 0 ? 0 : h / 5 % (most + 1);
  bool differs = difference == Difference::count && isGather(to) && to == odd &&
                 from == (odd + 1) % size;
  return rows + differs;
}

/// Staged, every variant is the buffered one, whatever its name; members that
/// disagree in the name are refused all the same.
bool Draw::areKernelsDifferent() const {
  if (difference == Difference::offset)
    return usual.config.variant != "buffered" && !usual.config.staged;
  return difference >= Difference::variant;
}

bool Draw::mustFail() const {
  for (uint32_t from = 0; from < size; ++from)
    for (uint32_t to = 0; to < size; ++to)
      if (!isPairEqual(from, to))
        return true;
  return areKernelsDifferent();
}

std::string Draw::text() const {
  return "seed " + std::to_string(seed) + ": " + opName(usual.op).data() + " " +
         usual.config.variant + (usual.config.staged ? " staged" : "") + ", " +
         std::to_string(size) + " members, rank " + std::to_string(odd) +
         " differs in " + differenceNames[static_cast<int>(difference)] +
         (isOtherLoaded   ? ""
          : isUsualLoaded ? ", not loaded"
                          : ", nothing loaded") +
         ": ";
}

//===----------------------------------------------------------------------===//
// One call
//===----------------------------------------------------------------------===//

namespace {
enum class Outcome : int { none, done, refused };

/// What the processes of a call share.
struct Shared {
  std::atomic<uint32_t> arrived;
  std::atomic<Outcome> outcomes[8];
  std::atomic<double> seconds[8];
  char messages[8][512];
};

/// The heap of one member: a red zone, the input, a red zone, the output, a red
/// zone. Everything has contents that tell the byte and the rank.
struct Layout {
  explicit Layout(const Draw &draw, uint32_t rank)
      : draw(draw), rank(rank),
        zone(std::max(draw.usual.bytes, draw.other.bytes) + 4096),
        in(zone + draw.side(rank).shift), out(in + 2 * zone) {}

  uint64_t bytes() const { return 6 * zone; }
  static uint8_t contents(uint32_t rank, uint64_t i) {
    return static_cast<uint8_t>(hash(rank, i, 99));
  }

  const Draw &draw;
  uint32_t rank;
  uint64_t zone, in, out;
};
} // namespace

static std::vector<int64_t> tablesOf(const Draw &draw, uint32_t me) {
  const uint64_t row = draw.side(me).rowBytes();
  return chunkTables(draw.size, [&](uint32_t peer) -> PeerChunks {
    return {draw.sentRows(me, peer), draw.sentAt(me, peer) / row,
            draw.receivedRows(me, peer), draw.receivedAt(me, peer) / row};
  });
}

static Call callOf(const Draw &draw, const Layout &layout, uint64_t heap,
                   uint64_t tables) {
  const Side &side = draw.side(layout.rank);
  Call call = countedCall(side.op, side.dtype, side.rowElements, draw.size,
                          {heap + layout.in, heap + layout.out, tables});
  call.inSize = call.outSize = side.bytes / dtypeBytes(side.dtype);
  call.config = &side.config;
  return call;
}

/// "" if no byte has changed that this call may not change, and those that it
/// must have changed have.
static std::string compare(const Layout &layout, bool isDone,
                           const std::vector<uint8_t> &got) {
  const Draw &draw = layout.draw;
  const uint32_t me = layout.rank;
  std::vector<int32_t> source(got.size(), -1);
  for (uint32_t from = 0; from < draw.size; ++from) {
    if (draw.areKernelsDifferent() || !draw.isPairEqual(from, me))
      continue;
    Layout theirs(draw, from);
    uint64_t to = layout.out + draw.receivedAt(me, from),
             at = theirs.in + draw.sentAt(from, me);
    for (uint64_t i = 0; i < draw.receivedBytes(me, from); ++i)
      source[to + i] = Layout::contents(from, at + i);
  }
  for (uint64_t i = 0; i < got.size(); ++i) {
    const bool isOld = got[i] == Layout::contents(me, i);
    const bool isNew = source[i] >= 0 && got[i] == source[i];
    if (isNew || (isOld && (source[i] < 0 || !isDone)))
      continue;
    return "byte " + std::to_string(i) + " of " + std::to_string(got.size()) +
           " is " + std::to_string(got[i]) + " (input at " +
           std::to_string(layout.in) + ", output at " +
           std::to_string(layout.out) + ")";
  }
  return "";
}

static Status prepare(Communicator &comm, const Draw &draw) {
  auto load = [&](const Side &side) {
    return comm.prepare(side.op, side.dtype, {}, &side.config);
  };
  if (draw.isUsualLoaded)
    IRISRT_RETURN_IF_ERROR(load(draw.usual));
  if (draw.isOtherLoaded)
    IRISRT_RETURN_IF_ERROR(load(draw.other));
  return Status::success();
}

/// The device's memory, which a failed world copies no more.
static Status readBack(World &world, std::vector<uint8_t> &to, uint64_t from) {
  if (world.deviceKind() == DeviceKind::host) {
    std::memcpy(to.data(), toPointer(from), to.size());
    return Status::success();
  }
  IRISRT_ASSIGN_OR_RETURN(
      auto backend,
      createBackend(world.deviceKind(),
                    deviceIndexOf(world.deviceKind(), world.rank())));
  IRISRT_RETURN_IF_ERROR(backend->copyToHost({}, to.data(), from, to.size()));
  return backend->synchronize({}, std::chrono::seconds(20));
}

static double now() {
  auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time).count();
}

class InconsistentCounts : public testing::TestWithParam<DeviceKind> {
protected:
  static constexpr double waitLimit = 4;

  /// On one rank.
  static std::string run(const LaunchInfo &launch, const Draw &draw,
                         Shared &shared) {
    WorldOptions options = worldOptions(GetParam(), launch);
    options.heapBytes = 64 << 20;
    options.heapChunkBytes = 16 << 20;
    options.waitLimit = waitLimit;
    options.collectiveLimit = 60;
    RANK_ASSIGN(auto world, World::create(options));
    CommunicatorOptions members = communicatorOptions();
    members.workspaceBytes = 4 << 20;
    members.checkCalls = false;
    RANK_ASSIGN(auto comm, Communicator::create(*world, members));
    const Layout layout(draw, world->rank());
    RANK_ASSIGN(uint64_t heap, world->allocate(layout.bytes()));
    RANK_ASSIGN(uint64_t tables, world->allocate(4096));
    std::vector<uint8_t> bytes(layout.bytes());
    for (uint64_t i = 0; i < bytes.size(); ++i)
      bytes[i] = Layout::contents(world->rank(), i);
    const std::vector<int64_t> entries = tablesOf(draw, world->rank());
    RANK_TRY(world->copyToDevice(heap, bytes.data(), bytes.size()));
    RANK_TRY(world->copyToDevice(tables, entries.data(), 8 * entries.size()));
    RANK_TRY(world->synchronize());
    RANK_TRY(prepare(*comm, draw));
    RANK_TRY(world->sync());
    const double start = now();
    Status status = comm->run(callOf(draw, layout, heap, tables));
    if (status.ok())
      status = world->synchronize();
    shared.seconds[world->rank()] = now() - start;
    shared.outcomes[world->rank()] =
        status.ok() ? Outcome::done : Outcome::refused;
    std::snprintf(shared.messages[world->rank()], sizeof(shared.messages[0]),
                  "%s", status.message().c_str());
    ++shared.arrived;
    while (shared.arrived < draw.size && now() - start < 60)
      ::usleep(1000);
    RANK_TRY(readBack(*world, bytes, heap));
    return compare(layout, status.ok(), bytes);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, InconsistentCounts,
                         testing::Values(DeviceKind::host, DeviceKind::cuda,
                                         DeviceKind::hip),
                         [](const auto &info) {
                           return std::string(deviceKindName(info.param));
                         });

/// What an error may say; the last one where the kernels were not loaded, and
/// the odd member waits for the others before it has one.
static constexpr const char *causes[] = {
    "bytes to a member that expects",
    "meets a member that calls another operation",
    "meets a member whose buffer is elsewhere",
    "members differ in what they call",
    "timed out after",
};

/// The first cause that a member names; the number of causes if none does.
static size_t causeOf(const Shared &shared, uint32_t size) {
  size_t cause = 0;
  for (; cause < std::size(causes); ++cause)
    for (uint32_t rank = 0; rank < size; ++rank)
      if (std::strstr(shared.messages[rank], causes[cause]))
        return cause;
  return cause;
}

static uint64_t numDraws() {
  const char *draws = std::getenv("IRIS_TEST_DRAWS");
  return draws ? std::strtoull(draws, nullptr, 10) : 24;
}

TEST_P(InconsistentCounts, AreRefusedOrRight) {
  (void)communicatorOptions(); // reads the packages
  void *memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  uint32_t calls = 0, refused = 0, right = 0, wrong = 0, late = 0;
  double slowest = 0;
  uint32_t named[std::size(causes)] = {};
  for (uint64_t seed = 0; seed < numDraws(); ++seed) {
    const Draw draw(seed);
    if (devicesOf(GetParam()) < draw.size)
      continue;
    auto &shared = *new (memory) Shared();
    std::string text = failures(runProcesses(
        draw.size,
        [&](const LaunchInfo &launch) { return run(launch, draw, shared); },
        120));
    ++calls;
    wrong += !text.empty();
    EXPECT_EQ("", text) << draw.text();
    uint32_t refusals = 0;
    for (uint32_t rank = 0; rank < draw.size; ++rank) {
      refusals += shared.outcomes[rank] == Outcome::refused;
      slowest = std::max(slowest, shared.seconds[rank].load());
      late += shared.seconds[rank] > 4 * waitLimit;
    }
    // All members see the same: a barrier ends the kernel.
    EXPECT_TRUE(refusals == 0 || refusals == draw.size)
        << draw.text() << refusals << " refused";
    if (draw.mustFail())
      EXPECT_EQ(draw.size, refusals) << draw.text() << "expected an error";
    else if (draw.difference != Difference::size)
      EXPECT_EQ(0u, refusals) << draw.text() << "expected none";
    if (refusals != 0) {
      size_t cause = causeOf(shared, draw.size);
      EXPECT_LT(cause, std::size(causes)) << draw.text() << shared.messages[0];
      if (cause < std::size(causes))
        ++named[cause];
    }
    refused += refusals == draw.size;
    right += refusals == 0;
  }
  ::munmap(memory, sizeof(Shared));
  if (calls == 0)
    GTEST_SKIP() << "needs two " << std::string(deviceKindName(GetParam()))
                 << " devices";
  EXPECT_EQ(0u, late) << "members that took longer than 4 wait limits";
  std::printf("%u calls: %u refused on all members, %u done by all members, "
              "%u with a wrong write or an error of their own, %u members "
              "late, the slowest after %.1f s\n",
              calls, refused, right, wrong, late, slowest);
  for (size_t i = 0; i < std::size(causes); ++i)
    std::printf("  %3u: \"%s\"\n", named[i], causes[i]);
}
