// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Controls the fake GPU driver (for tests only, see README.md).
#ifndef IRIS_TEST_RUNTIME_SUPPORT_FAKEGPU_H
#define IRIS_TEST_RUNTIME_SUPPORT_FAKEGPU_H

#include <atomic>

/// Settings and counters of the fake driver. The library exports the single
/// instance as `fakeGpuControl`.
struct FakeGpuControl {
  int devices = 2;
  /// All devices have the same UUID and place on the bus.
  bool devicesLookAlike = false;
  int cudaVersion = 12040;
  int hipVersion = 70200000;
  const char *hipTarget = "gfx942:sramecc+:xnack-";
  /// Mappings at fixed addresses and exports are supported; HIP also has the
  /// uncached kind.
  bool virtualMemory = true;
  bool hipUncachedMappings = true;
  /// Bug of some HIP versions: only the first mapping of a reservation, or a
  /// range that starts there, can be made accessible.
  bool hipAccessBug = false;
  /// Reservations ignore the requested alignment.
  bool ignoreAlignment = false;
  bool fineGrained = true;
  /// Like HIP without links between devices: returns coarse-grained memory for
  /// fine-grained requests. And like a device without an uncached pool:
  /// coarse-grained memory, without an error, allocated or mapped.
  bool fineGrainedIsCoarse = false;
  bool uncachedIsCoarse = false, uncachedMappingsAreCoarse = false;
  /// Whether hsa_amd_pointer_info reports the kind of memory, and of mappings.
  bool tellsKind = true, tellsKindOfMappings = true;
  /// Like some HIP versions: imported memory can be mapped only while the
  /// descriptor is open; or not at all.
  bool importNeedsDescriptor = false, canMapImported = true;
  bool canAccessPeer = true;
  /// The program uses the default stream; otherwise its use is a misuse.
  bool usesDefaultStream = false;

  /// The function (without "fake_", as in GpuApiTable.inc) that fails with
  /// `failResult` from its `failAfter`-th call on; null: none.
  const char *failFunction = nullptr;
  int failResult = 999;
  int failAfter = 0;

  /// Versions of the stand-ins for cuBLASLt and hipBLASLt; whether they have an
  /// algorithm for any matmul.
  int cublasLtVersion = 130000, hipblasLtVersion = 100000;
  bool blasHasAlgorithms = true;
  /// Matmuls that were enqueued, and the type of the last one's sums.
  std::atomic<int> blasMatmuls{0}, blasCompute{0};

  /// Like CUDA: a module is loaded when the kernels of the process have ended,
  /// and unloaded when those of its device have.
  bool loadsWhenIdle = false, unloadsWhenIdle = false;
  /// Multiprocessors, or compute units, of a device; 0: those of a large one.
  int processors = 0;
  /// A processor runs one program of the kernels whose names begin like this;
  /// null: none.
  const char *largeKernels = nullptr;

  /// Objects that were created and not destroyed.
  std::atomic<int> contexts{0}, chunks{0}, reservations{0}, mappings{0},
      allocations{0}, opened{0}, streams{0}, events{0}, modules{0}, graphs{0},
      blasObjects{0};
  int live() const {
    return contexts + chunks + reservations + mappings + allocations + opened +
           streams + events + modules + graphs + blasObjects;
  }
  /// Calls that violated the driver's documentation.
  std::atomic<int> misuses{0};
  /// Running kernels, and calls that took memory or code away from them. Frees
  /// for which a driver would wait for kernels are ignored; unmaps take effect.
  std::atomic<int> kernelsRunning{0}, takenFromKernels{0};
  /// By device.
  std::atomic<int> kernelsRunningOn[8] = {};
  /// Pairs of devices that got peer access.
  std::atomic<int> peerAccesses{0};
  /// The devices that were given access by the last memorySetAccess.
  std::atomic<int> accessingDevices{0};
  /// Waits of streams for events.
  std::atomic<int> eventWaits{0};
  /// Calls that changed the calling thread's device.
  std::atomic<int> bindings{0};
  /// Launches that may begin before the kernel in front of them has ended.
  std::atomic<int> dependentLaunches{0};
  /// Calls that allowed a kernel more shared memory.
  std::atomic<int> attributeCalls{0};
};

extern "C" FakeGpuControl *fakeGpuControl();
/// The device that the calling thread is bound to; -1: none.
extern "C" int fakeGpuCurrentDevice();
/// Binds it, as a program does without Iris' knowledge.
extern "C" void fakeGpuBindDevice(int device);

/// Streams that the program creates, uses and captures without Iris' knowledge,
/// on the thread's device.
extern "C" void *fakeGpuCreateStream();
extern "C" void fakeGpuDestroyStream(void *stream);
extern "C" bool fakeGpuIsIdle(void *stream);
extern "C" void fakeGpuBeginCapture(void *stream);
/// Ends the capture and runs what was captured `times` times; false if the
/// capture is not valid.
extern "C" bool fakeGpuReplayCapture(void *stream, int times);

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
