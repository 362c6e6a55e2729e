// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants of the cost models, one file of JSON for each GPU in models/.
// The library embeds them; IRIS_COST_MODEL names a file that replaces them.
//
// A unit is part of a constant's name: microseconds (Us), or bytes and
// operations per microsecond (1000 bytes per microsecond = 1 GB/s, 1e6
// operations per microsecond = 1 TFLOP/s).
#ifndef IRIS_RT_CCL_DEVICEMODEL_H
#define IRIS_RT_CCL_DEVICEMODEL_H

#include "iris/ccl/MatmulSelector.h"
#include "iris/ccl/Selector.h"

#include <string>
#include <vector>

namespace iris::ccl {

/// A kind of links between ranks, and what every kernel of a collective costs.
struct LinkModel {
  /// Where the numbers come from.
  std::string source;
  /// From the start of a kernel to its end, if it does nothing.
  double launchUs;
  /// One barrier of all ranks: release, flags, acquire.
  double barrierUs;
  /// From a packet's store to its arrival.
  double packetUs;
  /// Of a program's tile, beyond what other programs hide.
  double tileUs;
  /// What one rank stores to, or loads from, all its peers together.
  double pushBytesPerUs, pullBytesPerUs;
  /// The same to one peer; infinite where links are not between pairs.
  double peerBytesPerUs;
  /// Copies in a rank's own memory.
  double localBytesPerUs;
  /// For each element of a thread and each rank, where a tile is accessed
  /// element by element: a tile that is not whole, or buffers that are not
  /// aligned to 16 bytes.
  double unalignedElementUs;
  /// Threads of a warp.
  int64_t warpSize;
  /// How much slower than the best a call may be, as a factor, with fewer
  /// programs: the rest of the device is left to other kernels.
  double acceptedSlowdown;
  /// Numbers of programs to choose from, in ascending order.
  std::vector<int64_t> programs;
};

/// A kernel of a collective that was measured, or derived from the links.
struct KernelModel {
  Op op;
  std::string variant;
  /// Bytes of the tile, and warps; 0: the generator's defaults.
  int64_t tileBytes;
  int64_t warps;
  /// Times of a group without peers, and what 7 peers add.
  double startUs, startPeersUs;
  double tileUs, tilePeersUs;
  /// What each program of a launch adds.
  double programUs;
  /// Over the busiest rank's links; 0: that of the links.
  double bytesPerUs;
  /// Whether the times of tiles and the transfer of bytes overlap.
  bool overlaps;
};

/// Rows, columns and k-step of an output tile, and the warps that compute it.
struct TileShape {
  int64_t m, n, kBytes, warps;
};

/// The processors of a GPU (SMs, compute units), and how matmuls run on them.
struct ProcessorModel {
  /// Where the numbers come from.
  std::string source;
  /// Programs that compute at once; a config's 0 stands for as many.
  int64_t processors;
  /// What the driver says of the clock and of the memory of the GPU that the
  /// constants are of: the model of another GPU is scaled by these.
  double clockMHz, memoryPeakBytesPerUs;
  /// Operations on 16-bit elements of one processor, and of all together where
  /// power limits them; 0: no such limit.
  double processorOpsPerUs, deviceOpsPerUs;
  /// What tiles whose columns are no power of two reach of the limit; 0: such
  /// tiles take as long as the next power of two.
  double nonPow2Efficiency;
  /// Speed on bf16 under the power limit, on 8-bit and on 32-bit elements,
  /// relative to f16.
  double bf16Factor, factor8Bit, factor32Bit;
  /// Times that overlap combine as a power mean of this exponent: the larger,
  /// the nearer to the longest of them.
  double overlapExponent;
  /// Of each split of k, beside its part of the additions.
  double splitUs;
  /// Global-to-shared copies of operand tiles, of one processor and of all.
  double processorLoadBytesPerUs, deviceLoadBytesPerUs;
  /// Device memory.
  double memoryBytesPerUs;
  /// Overhead of a k-step and of a tile.
  double kStepUs, tileUs;
  /// From the start of a kernel to its first tile.
  double startUs;
  /// Bytes that one program moves to or from peers, and that it reduces in its
  /// rank's memory.
  double commProgramBytesPerUs, reduceBytesPerUs;
  /// Of a tile whose partial sums of all ranks a program reduces: waiting for
  /// flags and for loads.
  double reduceTileUs;
  /// Part of the shorter of matmul and transfer that is added to the longer: 0
  /// where they overlap, 1 where they do not. For tiles that are sent when they
  /// are finished, and for operands that are fetched before.
  double storeOverlapLoss, fetchOverlapLoss;
  /// Setting a flag after a release; waiting for a flag that is set already.
  double signalUs, waitUs;
  /// Copy engines beside a kernel: their rate (0: only used when asked for),
  /// the overhead of a copy with its flag, of the first copy, and of a stream's
  /// wait for tiles of the kernel.
  double copyEngineBytesPerUs, copyUs, copyEngineStartUs, copyEngineWaitUs;
  /// As storeOverlapLoss, for copy engines.
  double copyOverlapLoss;
  /// Copies, or a stream's waits, are kernels themselves: they cannot run
  /// beside a kernel that has all processors and waits for them.
  bool copiesUseProcessors;
  /// Chiplets with an L2 cache each.
  int64_t xcds;
  /// Tiles to choose from.
  std::vector<TileShape> tiles;
  /// Communication programs, k-steps of a flag, and rows of tiles of a copy to
  /// choose from.
  std::vector<int64_t> commPrograms, kPerFlag, copyGroups;
};

/// All constants of a GPU.
struct DeviceModel {
  /// "NVIDIA H200".
  std::string name;
  rt::DeviceKind kind;
  /// Targets that the GPU runs: "sm_90a".
  std::vector<std::string> targets;
  /// Part of the name that the driver reports; empty: any.
  std::string gpu;
  LinkModel links;
  ProcessorModel processor;
  /// Measured kernels for buffers on the symmetric heap, and for others.
  std::vector<KernelModel> kernels, stagedKernels;
};

/// Reads a model; `name` is for messages. Unknown and missing keys are errors.
rt::Expected<DeviceModel> parseDeviceModel(const std::string &text,
                                           const std::string &name);

/// The models that the library embeds.
const std::vector<DeviceModel> &embeddedDeviceModels();

/// The embedded model of exactly this GPU, by target and name; null if there is
/// none. Without attributes, that of the target.
const DeviceModel *findDeviceModel(rt::DeviceKind kind,
                                   const std::string &target,
                                   const rt::DeviceAttributes *attributes);

/// The model of a device: the file of IRIS_COST_MODEL, or the embedded one of
/// this GPU. A GPU without one is modelled from its attributes: the rates of an
/// embedded model with the same warp size are scaled by processors, clock and
/// memory, and nothing that was measured on that GPU is used; `source` and one
/// line of the log say so. Without attributes and for an empty or unknown
/// target, the first model of the warp size or of the kind serves.
const DeviceModel &deviceModelOf(rt::DeviceKind kind, const std::string &target,
                                 const rt::DeviceAttributes *attributes);

inline const DeviceModel &deviceModelOf(const TuningKey &key) {
  return deviceModelOf(key.device,
                       key.attributes ? key.attributes->target : std::string(),
                       key.attributes);
}
inline const DeviceModel &deviceModelOf(const MatmulTuningKey &key) {
  return deviceModelOf(key.device, key.target, key.attributes);
}

} // namespace iris::ccl

#endif // IRIS_RT_CCL_DEVICEMODEL_H
