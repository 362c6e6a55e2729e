// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime's side of the emulator's protocol, with support/emulator.py in
// place of an emulator. The conformance suites test the back end with it.
#include "backends/emulated/EmulatedBackend.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>

using namespace iris::rt;
using namespace std::chrono_literals;

static constexpr const char *image = "store_ids spin_until_set";

/// Time limits: a minute for the start, 2 s of silence later, 3 s of pings.
static EmulatorLimits shortLimits() { return {60s, 2s, 3s}; }

static Expected<std::unique_ptr<EmulatorProcess>>
startEmulator(const std::string &chip, EmulatorLimits limits = shortLimits()) {
  return EmulatorProcess::start(IRIS_TEST_EMULATOR, chip, limits);
}

static Expected<uint64_t> findKernel(EmulatorProcess &emulator,
                                     const char *name) {
  IRISRT_ASSIGN_OR_RETURN(uint64_t module,
                          emulator.load(image, std::strlen(image)));
  return emulator.find(module, name);
}

/// Whether this process has children, also ones that have ended.
static bool hasChildren() {
  siginfo_t info;
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ||
         errno != ECHILD;
}

static size_t countDescriptors() {
  size_t count = 0;
  for (int fd = 0; fd < 1024; ++fd)
    count += ::fcntl(fd, F_GETFD) >= 0;
  return count;
}

//===----------------------------------------------------------------------===//
// Start
//===----------------------------------------------------------------------===//

TEST(Emulator, StartsAndEnds) {
  size_t before = countDescriptors();
  {
    auto emulator = startEmulator("gfx942");
    ASSERT_TRUE(emulator.ok()) << emulator.status().message();
    EXPECT_EQ((*emulator)->maxPrograms(), 1024u);
    EXPECT_TRUE(hasChildren());
  }
  EXPECT_FALSE(hasChildren());
  EXPECT_EQ(countDescriptors(), before);
}

TEST(Emulator, ReportsAProgramThatCannotBeStarted) {
  auto emulator = EmulatorProcess::start("/no/such/program", "gfx942");
  ASSERT_FALSE(emulator.ok());
  EXPECT_EQ(emulator.status().code(), StatusCode::unavailable);
  EXPECT_NE(emulator.status().message().find("cannot run '/no/such/program'"),
            std::string::npos)
      << emulator.status().message();
  EXPECT_FALSE(hasChildren());
}

TEST(Emulator, ReportsAProgramThatIsNoEmulator) {
  auto emulator = EmulatorProcess::start("/bin/true", "gfx942");
  ASSERT_FALSE(emulator.ok());
  EXPECT_EQ(emulator.status().code(), StatusCode::unavailable);
  EXPECT_EQ(emulator.status().message(),
            "the emulator '/bin/true' exited with status 0");
  EXPECT_FALSE(hasChildren());
}

TEST(Emulator, ReportsAnUnknownChip) {
  auto emulator = startEmulator("unknown");
  ASSERT_FALSE(emulator.ok());
  EXPECT_NE(emulator.status().message().find("no chip 'unknown' here"),
            std::string::npos)
      << emulator.status().message();
}

TEST(Emulator, ReportsASilentStart) {
  auto emulator = startEmulator("mute", {2s, 2s});
  ASSERT_FALSE(emulator.ok());
  EXPECT_EQ(emulator.status().code(), StatusCode::unavailable);
  EXPECT_NE(emulator.status().message().find("was silent for 2 s"),
            std::string::npos)
      << emulator.status().message();
  EXPECT_FALSE(hasChildren());
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

namespace {
struct Fault {
  const char *chip;
  const char *message;
  /// The process can be used afterwards.
  bool survives = false;
};
class EmulatorFault : public testing::TestWithParam<Fault> {};

void PrintTo(const Fault &fault, std::ostream *stream) {
  *stream << fault.chip;
}
} // namespace

TEST_P(EmulatorFault, FailsTheLaunch) {
  {
    auto started = startEmulator(GetParam().chip);
    ASSERT_TRUE(started.ok()) << started.status().message();
    EmulatorProcess &emulator = **started;
    auto kernel = findKernel(emulator, "store_ids");
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    Status status = emulator.launch(*kernel, LaunchConfig(), "", 0);
    EXPECT_EQ(status.code(), GetParam().survives ? StatusCode::deviceError
                                                 : StatusCode::unavailable);
    EXPECT_NE(status.message().find(GetParam().message), std::string::npos)
        << status.message();
    EXPECT_LT(status.message().size(), 5000u); // however long its text is
    // Later requests fail with the first reason.
    Status later = emulator.load(image, std::strlen(image)).status();
    EXPECT_EQ(later.ok(), GetParam().survives) << later.message();
    if (!later.ok()) {
      EXPECT_EQ(later.message(), status.message());
    }
  }
  EXPECT_FALSE(hasChildren());
}

INSTANTIATE_TEST_SUITE_P(
    All, EmulatorFault,
    testing::Values(Fault{"dies",
                          "exited with status 1: no memory for the waves"},
                    Fault{"hangs", "was silent for 2 s"},
                    Fault{"sends_garbage", "sent a message of 8 bytes"},
                    Fault{"sends_text", "sent a message that is no reply"},
                    Fault{"answers_another", "which is not pending"},
                    Fault{"fails_silently", "sent an error without a message"},
                    Fault{"closes", "closed its socket, but did not end "
                                    "within 2 s and was killed"},
                    Fault{"answers_pings_only",
                          "answered nothing but pings for 3 s, while 1 "
                          "request was pending; if its kernels take longer, "
                          "raise IRIS_EMULATOR_LIMIT"},
                    Fault{"stops", "was stopped (signal 19)"},
                    Fault{"fails_with_controls", "first line\\x01\\x1b",
                          /*survives=*/true},
                    Fault{"traps", "s_trap 2 in program 1", /*survives=*/true}),
    [](const auto &info) { return info.param.chip; });

//===----------------------------------------------------------------------===//
// Back end
//===----------------------------------------------------------------------===//

static Expected<std::unique_ptr<EmulatedBackend>> openBackend(bool place) {
  return EmulatedBackend::create(IRIS_TEST_EMULATOR, "gfx942", place,
                                 shortLimits());
}

/// The stand-in rejects the first reservation and the first mapping elsewhere.
TEST(EmulatedBackend, ChoosesAddressesThatBothProcessesHave) {
  auto opened = openBackend(/*place=*/true);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  Backend &backend = **opened;
  auto base = backend.reserve(4 << 20, 2 << 20);
  ASSERT_TRUE(base.ok()) << base.status().message();
  EXPECT_EQ(*base % (2 << 20), 0u);
  auto memory = backend.allocate(100);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  EXPECT_TRUE(backend.free(*memory).ok());
  EXPECT_TRUE(backend.unreserve(*base, 4 << 20).ok());
}

/// A large mapping of the emulator's process is where this process would place
/// small ranges side by side.
TEST(EmulatedBackend, GetsPastALargeMapping) {
  auto opened = EmulatedBackend::create(IRIS_TEST_EMULATOR, "crowded",
                                        /*placeMappings=*/true, shortLimits());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  auto memory = (*opened)->allocate(100);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  auto base = (*opened)->reserve(4 << 20, 2 << 20);
  ASSERT_TRUE(base.ok()) << base.status().message();
  EXPECT_EQ(*base % (2 << 20), 0u);
  EXPECT_TRUE((*opened)->free(*memory).ok());
  EXPECT_TRUE((*opened)->unreserve(*base, 4 << 20).ok());
}

/// A mapping that was not made must not look like one.
TEST(EmulatedBackend, ReportsAnOccupiedMappingInAReservation) {
  auto opened = EmulatedBackend::create(IRIS_TEST_EMULATOR, "occupied_inside",
                                        /*placeMappings=*/true, shortLimits());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  auto base = (*opened)->reserve(4 << 20, 2 << 20);
  auto chunk = (*opened)->createChunk(2 << 20);
  ASSERT_TRUE(base.ok() && chunk.ok());
  EXPECT_EQ((*opened)->map(*chunk, *base, 2 << 20).code(),
            StatusCode::unavailable);
}

/// A kernel that never ends: its stream ends with the emulator, and nothing is
/// left running.
TEST(EmulatedBackend, EndsAStreamWithARunningKernel) {
  {
    auto opened = openBackend(/*place=*/true);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    Backend &backend = **opened;
    auto stream = backend.createStream();
    auto other = backend.createStream();
    auto memory = backend.allocate(256);
    auto module = backend.loadModule(image, std::strlen(image));
    ASSERT_TRUE(stream.ok() && other.ok() && memory.ok() && module.ok());
    auto kernel = backend.findKernel(*module, "spin_until_set");
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    uint64_t args[] = {*memory, 1, *memory + 128, 1};
    ASSERT_TRUE(
        backend.launch(*stream, *kernel, LaunchConfig(), args, sizeof(args))
            .ok());
    ASSERT_TRUE(backend.waitEqual(*other, *memory, 1).ok());
    Status ended = backend.destroyStream(*stream, 100ms);
    EXPECT_EQ(ended.code(), StatusCode::aborted) << ended.message();
    EXPECT_FALSE(hasChildren());
    Status waited = backend.synchronize(*other, 20s);
    EXPECT_EQ(waited.code(), StatusCode::deviceError) << waited.message();
    EXPECT_EQ(backend.loadModule(image, 1).status().code(),
              StatusCode::aborted);
  }
  EXPECT_FALSE(hasChildren());
}

/// Work of many threads at the same time.
TEST(EmulatedBackend, RunsKernelsOfSeveralStreamsConcurrently) {
  auto opened = openBackend(/*place=*/false);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  Backend &backend = **opened;
  auto first = backend.createStream(), second = backend.createStream();
  auto memory = backend.allocate(1024);
  auto module = backend.loadModule(image, std::strlen(image));
  ASSERT_TRUE(first.ok() && second.ok() && memory.ok() && module.ok());
  auto spin = backend.findKernel(*module, "spin_until_set");
  auto store = backend.findKernel(*module, "store_ids");
  ASSERT_TRUE(spin.ok() && store.ok());
  // The first kernel waits for what the second one stores.
  uint64_t wait[] = {*memory + 4, 1, *memory + 128, 1};
  struct {
    uint64_t to;
    uint32_t value, reserved;
  } ids = {*memory, 40, 0};
  LaunchConfig three;
  three.grid[0] = 3;
  ASSERT_TRUE(
      backend.launch(*first, *spin, LaunchConfig(), wait, sizeof(wait)).ok());
  ASSERT_TRUE(backend.launch(*second, *store, three, &ids, sizeof(ids)).ok());
  for (StreamHandle stream : {*first, *second}) {
    Status status = backend.synchronize(stream, 60s);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  uint32_t got[2] = {};
  ASSERT_TRUE(backend.copyToHost(*first, &got[0], *memory + 8, 4).ok());
  ASSERT_TRUE(backend.copyToHost(*first, &got[1], *memory + 128, 4).ok());
  ASSERT_TRUE(backend.synchronize(*first, 60s).ok());
  EXPECT_EQ(got[0], 42u);
  EXPECT_EQ(got[1], 41u);
}

TEST(EmulatedBackend, ReportsAMissingKernel) {
  auto opened = openBackend(/*place=*/true);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  auto module = (*opened)->loadModule(image, std::strlen(image));
  ASSERT_TRUE(module.ok());
  auto kernel = (*opened)->findKernel(*module, "nothing");
  ASSERT_FALSE(kernel.ok());
  EXPECT_NE(kernel.status().message().find("no kernel 'nothing'"),
            std::string::npos);
}

TEST(Devices, AreParsed) {
  for (const char *name : {"host", "hip", "cuda", "emulated:gfx942"}) {
    auto device = parseDevice(name);
    ASSERT_TRUE(device.ok()) << name;
    EXPECT_EQ(deviceName(*device), name);
  }
  for (const char *name : {"", "gpu", "emulated", "emulated:", "host:gfx942",
                           "hip:", "cuda:sm_90", ":gfx942"}) {
    auto device = parseDevice(name);
    ASSERT_FALSE(device.ok()) << name;
    EXPECT_EQ(device.status().code(), StatusCode::invalidArgument);
  }
  auto target = deviceTarget({DeviceKind::emulated, "gfx950"}, 0);
  ASSERT_TRUE(target.ok());
  EXPECT_EQ(target->name, "gfx950");
  EXPECT_EQ(target->translation, "stride");
}
