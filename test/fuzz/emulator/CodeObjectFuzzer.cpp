// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fuzzes the emulator's loader, decoder and handlers with code objects. One
// that is loaded is decoded from end to end, and each of its kernels is
// executed for a while, with addresses of a buffer as arguments. Every refusal
// has a message; a kernel's accesses outside of the buffer are such refusals.
#include "iris/Emulator/Emulator.h"
#include <cstdlib>

using namespace mlir::iris::emulator;

/// Only instrumented code marks memory of LLVM's arenas as used or unused, and
/// LLVM's libraries are not instrumented.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_leaks=0";
}

/// What a launch may take: a code object of a few bytes may ask for more, as a
/// kernel for a GPU may.
constexpr uint64_t kMaxScratchBytes = 4096, kMaxLdsBytes = 1 << 18;
constexpr uint64_t kMaxArgumentBytes = 1 << 16, kInstructions = 3000;

static void expectMessage(llvm::Error error) {
  if (error && llvm::toString(std::move(error)).empty())
    std::abort();
}

static void execute(const CodeObject &code, const Kernel &kernel,
                    Caches caches) {
  if (kernel.scratchBytes > kMaxScratchBytes ||
      kernel.ldsBytes > kMaxLdsBytes || kernel.kernargBytes > kMaxArgumentBytes)
    return;
  std::vector<uint8_t> buffer(4096);
  Memory memory;
  memory.add(buffer.data(), buffer.size(), /*isWritable=*/true, "the buffer");
  Launch launch;
  launch.code = &code;
  launch.kernel = &kernel;
  launch.groups = {2, 1, 1};
  launch.threads = {std::min(kernel.maxWorkgroupSize, 2 * kernel.waveSize), 1,
                    1};
  launch.arguments.resize(kernel.kernargBytes);
  uint64_t address = reinterpret_cast<uintptr_t>(buffer.data());
  for (size_t i = 0; i + 8 <= launch.arguments.size(); i += 8)
    std::memcpy(launch.arguments.data() + i, &address, 8);
  RunOptions options;
  options.caches = caches;
  options.budget = kInstructions;
  Emulator emulator(memory, options);
  auto number = emulator.launch(launch);
  if (!number)
    return expectMessage(number.takeError());
  expectMessage(emulator.finish());
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  auto code = CodeObject::load(bytes, "input");
  if (!code) {
    expectMessage(code.takeError());
    return 0;
  }
  auto reasons = listUnknown(**code);
  if (!reasons)
    expectMessage(reasons.takeError());
  for (const Kernel &kernel : (*code)->getKernels())
    for (Caches caches : {Caches::None, Caches::Device})
      execute(**code, kernel, caches);
  return 0;
}
