// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmulatorProtocol.h - Messages to and from an emulator ----*- C++ -*-===//
//
// README.md describes the protocol. iris-emulate --serve implements it for AMD
// code, test/runtime/support/emulator.py for the tests of this protocol.
#ifndef IRIS_RT_BACKENDS_EMULATED_EMULATORPROTOCOL_H
#define IRIS_RT_BACKENDS_EMULATED_EMULATORPROTOCOL_H

#include <cstddef>
#include <cstdint>

namespace iris::rt {

constexpr uint32_t emulatorVersion = 1;
/// The first word of every reply: "IREM".
constexpr uint32_t emulatorMagic = 0x4d455249;
/// The maximum size of a message.
constexpr size_t maxEmulatorMessage = 64 << 10;

enum class EmulatorRequestKind : uint32_t {
  /// `address`: emulatorVersion; name: the chip. The value of the reply is the
  /// maximum number of concurrent programs of a launch.
  hello = 1,
  /// Reserves addresses without memory.
  reserve = 2,
  release = 3,
  /// With a descriptor. Inside a reservation or, otherwise, at free addresses.
  map = 4,
  unmap = 5,
  /// With the descriptor of a code object of `bytes` bytes; the value is the
  /// module.
  load = 6,
  unload = 7,
  /// `address`: a module; name: a symbol; the value is the kernel.
  find = 8,
  /// `address`: a kernel; answered when the kernel has ended.
  launch = 9,
  ping = 10,
};

/// Followed by the name and the arguments.
struct EmulatorRequest {
  EmulatorRequestKind kind = EmulatorRequestKind::ping;
  /// Repeated in the reply.
  uint32_t id = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t grid[3] = {};
  uint32_t workgroup[3] = {};
  /// Bytes of dynamic shared memory (LDS).
  uint32_t dynamicSharedBytes = 0;
  uint32_t nameBytes = 0;
};
static_assert(sizeof(EmulatorRequest) == 56);

enum class EmulatorResult : uint32_t {
  ok = 0,
  /// The emulator's process already uses the addresses.
  occupied = 1,
  failed = 2,
};

/// Followed by a message if the request has failed.
struct EmulatorReply {
  uint32_t magic = 0;
  uint32_t id = 0;
  EmulatorResult result = EmulatorResult::ok;
  uint32_t reserved = 0;
  uint64_t value = 0;
};
static_assert(sizeof(EmulatorReply) == 24);

} // namespace iris::rt

#endif // IRIS_RT_BACKENDS_EMULATED_EMULATORPROTOCOL_H
