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

/// The links between ranks, and the costs that all kernels of collectives have.
struct LinkModel {
  /// The measurement or publication that the constants come from.
  std::string source;
  /// Launch overhead: the time of an empty kernel.
  double launchUs;
  /// Latency of a barrier of all ranks: release, flags, acquire.
  double barrierUs;
  /// Latency of a packet, from its store to its arrival.
  double packetUs;
  /// Overhead of a tile that concurrent programs do not hide.
  double tileUs;
  /// Bandwidth of a rank's stores to, and loads from, all its peers together.
  double pushBytesPerUs, pullBytesPerUs;
  /// Bandwidth to one peer; infinite if links are not between pairs.
  double peerBytesPerUs;
  /// Bandwidth of copies in a rank's own memory.
  double localBytesPerUs;
  /// Overhead per element of a thread and per rank, if a tile is accessed
  /// element by element: the last tile of a chunk that is not aligned to 16
  /// bytes, or all tiles of buffers that are not aligned to 4.
  double unalignedElementUs;
  /// Threads of a warp.
  int64_t warpSize;
  /// The factor by which a call may be slower than the fastest one, for the
  /// sake of fewer programs, which leave the device to other kernels.
  double acceptedSlowdown;
  /// Candidate numbers of programs, in ascending order.
  std::vector<int64_t> programs;
};

/// A kernel of a collective that was measured, or derived from the links.
struct KernelModel {
  Op op;
  std::string variant;
  /// Bytes of a tile, and warps per program; 0: the generator's defaults.
  int64_t tileBytes;
  int64_t warps;
  /// Latency of the kernel and of a tile in a group without peers, and the
  /// increase with 7 peers.
  double startUs, startPeersUs;
  double tileUs, tilePeersUs;
  /// Overhead per program of the launch.
  double programUs;
  /// Bandwidth over the busiest rank's links; 0: that of LinkModel.
  double bytesPerUs;
  /// Whether the latency of tiles overlaps with the transfer.
  bool overlaps;
  /// One of DeviceModel::stagedKernels: copies to the workspace are part of it.
  bool isStaged = false;
};

/// Rows, columns and k-step of an output tile, and the warps that compute it.
struct TileShape {
  int64_t m, n, kBytes, warps;
  /// Whether kernels that fetch operands may have it. On some GPUs it makes
  /// them spill registers.
  bool fetches = true;
  /// As kBytes, of kernels that multiply shards of k, which need registers for
  /// the shards' addresses; 0: kBytes.
  int64_t shardKBytes = 0;
  /// Rows of the largest matrix that the tile is a candidate for; 0: any. Small
  /// tiles load more bytes for an operation.
  int64_t mostRows = 0;
};

/// The processors of a GPU (SMs, compute units), and how matmuls run on them.
struct ProcessorModel {
  /// The measurement or publication that the constants come from.
  std::string source;
  /// Programs that run concurrently, one per processor.
  int64_t processors;
  /// Clock and peak memory bandwidth that the driver reports for the modelled
  /// GPU. The model of another GPU is scaled by the ratio to its own.
  double clockMHz, memoryPeakBytesPerUs;
  /// Peak rate for 16-bit elements, of one processor and, where power limits
  /// it, of the device; 0: no such limit.
  double processorOpsPerUs, deviceOpsPerUs;
  /// Fraction of the device's peak rate that tiles reach whose number of
  /// columns is no power of two; 0: such tiles are padded to the next power of
  /// two.
  double nonPow2Efficiency;
  /// Peak rates of bf16 under the power limit, of 8-bit and of 32-bit elements,
  /// relative to f16.
  double bf16Factor, factor8Bit, factor32Bit;
  /// Concurrent times combine as a power mean with this exponent: the larger it
  /// is, the closer the result is to the longest time.
  double overlapExponent;
  /// Overhead of split-K per tile, without the additions; rate at which the
  /// last program of a tile adds the partial sums.
  double splitUs, splitBytesPerUs;
  /// Bandwidth of global-to-shared copies of operand tiles, of one processor
  /// and of the device.
  double processorLoadBytesPerUs, deviceLoadBytesPerUs;
  /// Bandwidth of device memory.
  double memoryBytesPerUs;
  /// Overhead of a k-step and of a tile.
  double kStepUs, tileUs;
  /// Latency from the start of a kernel to its first tile.
  double startUs;
  /// Bandwidth of one program to or from peers, and of its reductions in its
  /// rank's memory.
  double commProgramBytesPerUs, reduceBytesPerUs;
  /// Latency of flags and loads per tile that a program reduces over all ranks.
  double reduceTileUs;
  /// The fraction of the shorter of matmul and transfer that stays exposed
  /// although they overlap: 0 for perfect overlap, 1 for none. For tiles that
  /// are sent when they are finished, and for operands that are fetched ahead.
  double storeOverlapLoss, fetchOverlapLoss;
  /// Overhead of a signal after a release, and of a wait for a flag that is
  /// already set.
  double signalUs, waitUs;
  /// Copy engines beside a kernel: bandwidth (0: only selected by name), and
  /// the overhead of a copy with its flag, of the first copy, and of a stream's
  /// wait for tiles of the kernel.
  double copyEngineBytesPerUs, copyUs, copyEngineStartUs, copyEngineWaitUs;
  /// As storeOverlapLoss, for copy engines.
  double copyOverlapLoss;
  /// The device implements copies, or a stream's waits, by kernels, which
  /// cannot run beside a kernel that occupies all processors and waits for
  /// them.
  bool copiesUseProcessors;
  /// Chiplets (XCDs), each with an L2 cache.
  int64_t xcds;
  /// Candidate tiles.
  std::vector<TileShape> tiles;
  /// Candidates: communication programs, k-steps per flag, and rows of tiles
  /// per copy.
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

/// A kernel with a text for people: how its constants were found.
struct FittedKernelModel {
  KernelModel kernel = {};
  std::string fit;
};

/// A model whose kernels were fitted.
struct FittedModel {
  /// The kernels of the model itself are not used.
  DeviceModel model;
  std::vector<FittedKernelModel> kernels, stagedKernels;

  /// The file, which parseDeviceModel() reads.
  std::string text() const;
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
/// embedded model of the same target, else of the same warp size, are scaled by
/// processors, clock and memory. The kernels that were measured serve GPUs of
/// the same target; `source` and one line of the log say so. Without attributes
/// and for an empty or unknown target, the first model of the warp size or of
/// the kind serves.
const DeviceModel &deviceModelOf(rt::DeviceKind kind, const std::string &target,
                                 const rt::DeviceAttributes *attributes);

/// The models that may serve GPUs of a target: the file of IRIS_COST_MODEL, the
/// embedded ones, and that of a GPU without one. Needs no device.
/// \retval invalidArgument there is no such target
rt::Expected<std::vector<DeviceModel>>
deviceModelsOfTarget(const std::string &target);

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
