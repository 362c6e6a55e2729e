// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmulatedBackend.h - Back end for emulated devices --------*- C++ -*-===//
//
// Memory, streams, events and graphs are those of the host back end. Kernels
// are code objects of an AMD chip, which an emulator in another process
// executes on the same memory.
#ifndef IRIS_RT_BACKENDS_EMULATED_EMULATEDBACKEND_H
#define IRIS_RT_BACKENDS_EMULATED_EMULATEDBACKEND_H

#include "backends/emulated/EmulatorProcess.h"
#include "backends/host/HostBackend.h"

namespace iris::rt {

class EmulatedBackend final : public HostBackend {
public:
  /// Starts `program`, an emulator, for a chip.
  static Expected<std::unique_ptr<EmulatedBackend>>
  create(const std::string &program, const std::string &chip,
         bool placeMappings, const EmulatorLimits &limits = EmulatorLimits());
  ~EmulatedBackend() override;

  Expected<uint64_t> allocate(uint64_t bytes) override;
  Status free(uint64_t address) override;

  using Backend::destroyStream;
  /// Kills the emulator if the work does not end within the limit: `aborted`.
  Status destroyStream(StreamHandle stream,
                       std::chrono::nanoseconds limit) override;

  Expected<ModuleHandle> loadModule(const void *image, size_t bytes) override;
  Status unloadModule(ModuleHandle module) override;
  Expected<KernelHandle> findKernel(ModuleHandle module,
                                    const char *symbol) override;
  Expected<uint32_t> maxCoresident(KernelHandle kernel,
                                   const LaunchConfig &config) override;
  Status launch(StreamHandle stream, KernelHandle kernel,
                const LaunchConfig &config, const void *args,
                size_t argBytes) override;

protected:
  Expected<bool> reserved(uint64_t address, uint64_t bytes) override;
  Expected<bool> mapped(int fd, uint64_t address, uint64_t bytes) override;
  void unmapping(uint64_t address, uint64_t bytes) override;
  void unreserving(uint64_t address, uint64_t bytes) override;
  bool runsKernelsHere() const override { return false; }

private:
  EmulatedBackend(std::shared_ptr<EmulatorProcess> emulator,
                  const std::string &chip, bool placeMappings);

  /// Shared with the launches of streams.
  const std::shared_ptr<EmulatorProcess> emulator_;
};

} // namespace iris::rt

#endif // IRIS_RT_BACKENDS_EMULATED_EMULATEDBACKEND_H
