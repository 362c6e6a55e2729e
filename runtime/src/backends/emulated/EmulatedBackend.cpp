// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmulatedBackend.cpp - Back end for emulated devices ----------------===//
#include "backends/emulated/EmulatedBackend.h"

#include "compile/Compiler.h"
#include "core/Align.h"
#include "iris/rt/Env.h"

#include <algorithm>
#include <cstring>

using namespace iris::rt;

/// Few, so that the cost models choose launches of few programs: an emulator
/// executes less than a million instructions per second.
static constexpr uint32_t emulatedProcessors = 4;
/// From it follows the address space of a heap; memory is only used where it is
/// touched.
static constexpr uint64_t emulatedMemoryBytes = uint64_t(1) << 30;
static constexpr uint64_t pageBytes = 4096;
/// For a stream to end after its emulator was killed.
static constexpr auto endGrace = std::chrono::seconds(10);

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static Expected<std::string> findEmulator() {
  const std::string &program = Env::get().emulator();
  if (program.empty()) {
    std::string found = findTool("iris-emulate");
    if (!found.empty())
      return found;
    return makeStatus(StatusCode::unavailable,
                      "the emulator, iris-emulate, is neither next to this "
                      "program nor next to the runtime nor on PATH (set "
                      "IRIS_EMULATOR to its path)");
  }
  if (!isProgram(program))
    return makeStatus(StatusCode::unavailable,
                      "the emulator '%s' (set by IRIS_EMULATOR) cannot be run; "
                      "expected the path of an executable file",
                      program.c_str());
  return program;
}

static EmulatorLimits limitsFromEnvironment() {
  EmulatorLimits limits;
  std::optional<double> seconds = Env::get().emulatorLimitSeconds();
  if (!seconds)
    return limits;
  limits.progress.reset();
  if (*seconds > 0)
    limits.progress = std::chrono::duration_cast<std::chrono::milliseconds>(
        secondsOf(*seconds));
  return limits;
}

Expected<int> iris::rt::countEmulatedDevices() {
  IRISRT_RETURN_IF_ERROR(findEmulator().status());
  return IRISRT_MAX_RANKS; // a process each
}

Expected<std::unique_ptr<Backend>>
iris::rt::createEmulatedBackend(const std::string &chip, int index,
                                bool placeMappings) {
  if (index < 0)
    return makeStatus(StatusCode::invalidArgument,
                      "there is no emulated device %d", index);
  IRISRT_ASSIGN_OR_RETURN(std::string program, findEmulator());
  IRISRT_ASSIGN_OR_RETURN(std::unique_ptr<EmulatedBackend> backend,
                          EmulatedBackend::create(program, chip, placeMappings,
                                                  limitsFromEnvironment()));
  return std::unique_ptr<Backend>(std::move(backend));
}

Expected<std::unique_ptr<EmulatedBackend>>
EmulatedBackend::create(const std::string &program, const std::string &chip,
                        bool placeMappings, const EmulatorLimits &limits) {
  IRISRT_ASSIGN_OR_RETURN(std::unique_ptr<EmulatorProcess> emulator,
                          EmulatorProcess::start(program, chip, limits));
  return std::unique_ptr<EmulatedBackend>(
      new EmulatedBackend(std::move(emulator), chip, placeMappings));
}

EmulatedBackend::EmulatedBackend(std::shared_ptr<EmulatorProcess> emulator,
                                 const std::string &chip, bool placeMappings)
    : HostBackend(placeMappings), emulator_(std::move(emulator)) {
  info_.target = chip;
  info_.name = "emulated " + chip;
  info_.processors = emulatedProcessors;
  info_.memoryBytes = std::min(info_.memoryBytes, emulatedMemoryBytes);
  info_.clockHz = IRISRT_CLOCK_HZ_AMDGPU;
  info_.memoryKind = IRISRT_MEMORY_FINE_GRAINED;
}

EmulatedBackend::~EmulatedBackend() {
  destroyStreams();
  // Before the memory is unmapped; the emulator's mappings end with it.
  emulator_->kill(
      makeStatus(StatusCode::failedPrecondition, "the device was closed"));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Expected<bool> EmulatedBackend::reserved(uint64_t address, uint64_t bytes) {
  return emulator_->reserve(address, bytes);
}

Expected<bool> EmulatedBackend::mapped(int fd, uint64_t address,
                                       uint64_t bytes) {
  return emulator_->map(fd, address, bytes);
}

void EmulatedBackend::unmapping(uint64_t address, uint64_t bytes) {
  emulator_->unmap(address, bytes).ignore("later requests fail alike");
}

void EmulatedBackend::unreserving(uint64_t address, uint64_t bytes) {
  emulator_->release(address, bytes).ignore("later requests fail alike");
}

/// Private memory is shared with the emulator, too.
Expected<uint64_t> EmulatedBackend::allocate(uint64_t bytes) {
  uint64_t rounded = alignTo(bytes, pageBytes);
  if (rounded < bytes)
    return makeStatus(StatusCode::outOfMemory, "cannot allocate %llu bytes",
                      static_cast<unsigned long long>(bytes));
  return allocateShareable(std::max(rounded, pageBytes));
}

Status EmulatedBackend::free(uint64_t address) {
  return address == 0 ? Status::success() : freeShareable(address);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Status EmulatedBackend::destroyStream(StreamHandle stream,
                                      std::chrono::nanoseconds limit) {
  Status busy = synchronize(stream, limit);
  if (busy.code() != StatusCode::timeout)
    return HostBackend::destroyStream(stream, endGrace);
  Status ended = makeStatus(StatusCode::aborted,
                            "the emulator was ended, because the work of a "
                            "stream did not end within %.3g s",
                            std::chrono::duration<double>(limit).count());
  emulator_->kill(ended);
  launchFailed_->store(true); // ends waits for memory values
  Status stopped = HostBackend::destroyStream(stream, endGrace);
  return stopped.ok() ? ended : stopped;
}

//===----------------------------------------------------------------------===//
// Modules and launches
//===----------------------------------------------------------------------===//

Expected<ModuleHandle> EmulatedBackend::loadModule(const void *image,
                                                   size_t bytes) {
  IRISRT_ASSIGN_OR_RETURN(uint64_t module, emulator_->load(image, bytes));
  return ModuleHandle{module};
}

Status EmulatedBackend::unloadModule(ModuleHandle module) {
  return emulator_->unload(module.value);
}

Expected<KernelHandle> EmulatedBackend::findKernel(ModuleHandle module,
                                                   const char *symbol) {
  IRISRT_ASSIGN_OR_RETURN(uint64_t kernel,
                          emulator_->find(module.value, symbol));
  return KernelHandle{kernel};
}

Expected<uint32_t> EmulatedBackend::maxCoresident(KernelHandle,
                                                  const LaunchConfig &) {
  return emulator_->maxPrograms();
}

Status EmulatedBackend::launch(StreamHandle stream, KernelHandle kernel,
                               const LaunchConfig &config, const void *args,
                               size_t argBytes) {
  std::shared_ptr<EmulatorProcess> emulator = emulator_;
  std::shared_ptr<std::atomic<bool>> failed = launchFailed_;
  LaunchConfig copied = config;
  copied.parameters = nullptr; // the block has AMD's layout
  std::string block(static_cast<const char *>(args), argBytes);
  auto run = [=] {
    Status status =
        emulator->launch(kernel.value, copied, block.data(), block.size());
    if (!status.ok())
      failed->store(true);
    return status;
  };
  return enqueue(stream, unlessAborted(stream, run));
}
