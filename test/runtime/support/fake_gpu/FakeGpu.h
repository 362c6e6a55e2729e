// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steers the fake GPU driver (for tests only, see README.md).
#ifndef IRIS_TEST_RUNTIME_SUPPORT_FAKEGPU_H
#define IRIS_TEST_RUNTIME_SUPPORT_FAKEGPU_H

#include <atomic>

/// What the fake driver is like, and what it has handed out.  `fakeGpuControl`,
/// exported by the library, gives the one instance.
struct FakeGpuControl {
  int devices = 2;
  int cudaVersion = 12040;
  int hipVersion = 70200000;
  const char *hipTarget = "gfx942:sramecc+:xnack-";
  /// Mappings can be placed and exported; HIP also has the uncached kind.
  bool virtualMemory = true;
  bool hipUncachedMappings = true;
  /// As some versions of HIP: only the first mapping of a reservation, or a
  /// range from there, can be made accessible.
  bool hipAccessBug = false;
  /// Reservations ignore the alignment that was asked for.
  bool ignoreAlignment = false;
  bool fineGrained = true;
  /// As HIP without links between devices: coarse memory where fine-grained is
  /// asked for.  And where a device has no uncached pool: coarse memory,
  /// without an error, allocated or mapped.
  bool fineGrainedIsCoarse = false;
  bool uncachedIsCoarse = false, uncachedMappingsAreCoarse = false;
  /// Whether hsa_amd_pointer_info tells the kind of memory, and of mappings.
  bool tellsKind = true, tellsKindOfMappings = true;
  /// As versions of HIP: imported memory can be mapped only while the
  /// descriptor is open; or not at all.
  bool importNeedsDescriptor = false, canMapImported = true;
  bool canAccessPeer = true;

  /// The function (without "fake_", as in GpuApiTable.inc) that fails with
  /// `failResult`, once it was called `failAfter` times; null: none.
  const char *failFunction = nullptr;
  int failResult = 999;
  int failAfter = 0;

  /// Objects that were created and not destroyed.
  std::atomic<int> contexts{0}, chunks{0}, reservations{0}, mappings{0},
      allocations{0}, opened{0}, streams{0}, events{0}, modules{0}, graphs{0};
  int live() const {
    return contexts + chunks + reservations + mappings + allocations + opened +
           streams + events + modules + graphs;
  }
  /// Calls that broke a rule of the driver's documentation.
  std::atomic<int> misuses{0};
  /// Kernels that run now, and calls that took memory or code away meanwhile.
  /// What a driver would wait for kernels to free stays; mappings go.
  std::atomic<int> kernelsRunning{0}, takenFromKernels{0};
  /// Calls that changed the calling thread's device.
  std::atomic<int> bindings{0};
  /// Calls that allowed a kernel more shared memory.
  std::atomic<int> attributeCalls{0};
};

extern "C" FakeGpuControl *fakeGpuControl();
/// The device that the calling thread is bound to; -1: none.
extern "C" int fakeGpuCurrentDevice();
/// Binds it, as a program does behind our back.
extern "C" void fakeGpuBindDevice(int device);

/// An image that the fake driver loads.  Its kernels, and their arguments:
///   fill_u32    (u64 address, i64 count, u32 value)
///   spin_until  (u64 address): until the u32 there is not 0
///   spin_until_set (u64 a, i64, u64 b, i64): the same for a, then sets b
///   stamp_all   (IrisRtContext, u64 address): stores rank + 1 at
///               address + 4 * rank on every rank
///   store_ids   (u64 address, u32 value): stores value + p at address + 4 * p
///               for every program p
inline const char fakeGpuImage[] = "fake gpu image";

#endif // IRIS_TEST_RUNTIME_SUPPORT_FAKEGPU_H
