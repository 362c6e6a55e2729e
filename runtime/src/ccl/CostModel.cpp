// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ccl/CostModel.h"

#include "iris/Plan/CollectiveWork.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace iris::ccl;
using iris::rt::DeviceKind;

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

static const plan::Variant &variantOf(Op op, const std::string &name) {
  // Models and configs name variants of the table only.
  return *getCollective(op).find(name);
}

bool iris::ccl::isThroughWorkspace(Op op, const std::string &variant) {
  return plan::usesWorkspace(variantOf(op, variant));
}

uint64_t iris::ccl::roomOf(const std::string &name,
                           const TuningKey &tuningKey) {
  const plan::Variant &variant = variantOf(tuningKey.op, name);
  if (variant.has(plan::slots) && !tuningKey.onHeap)
    return std::numeric_limits<uint64_t>::max();
  return static_cast<uint64_t>(plan::getRoundBytes(
      getCollective(tuningKey.op), variant, tuningKey.groupSize));
}

static plan::CollectiveWork workOf(Op op, const std::string &variant,
                                   int64_t size) {
  return plan::getWork(variantOf(op, variant), size);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The constants of a kernel that was not measured.
static KernelModel derive(const LinkModel &link, Op op,
                          const std::string &variant, int64_t tileBytes,
                          int64_t warps) {
  plan::CollectiveWork work =
      workOf(op, variant, plan::Workspace::maxAnyMembers);
  KernelModel kernel = {};
  kernel.op = op;
  kernel.variant = variant;
  kernel.tileBytes = tileBytes;
  kernel.warps = warps;
  kernel.startUs = link.launchUs + work.barriers * link.barrierUs +
                   work.packets * link.packetUs;
  kernel.tileUs = link.tileUs;
  kernel.tilePeersUs = work.barriersPerIteration * link.barrierUs;
  kernel.overlaps = work.barriersPerIteration == 0;
  return kernel;
}

std::vector<KernelModel> iris::ccl::kernelModelsOf(const DeviceModel &device,
                                                   Op op, bool onHeap) {
  // Whether the staged form of a variant has constants of its own.
  auto isListed = [&](const KernelModel &kernel) {
    return std::any_of(device.stagedKernels.begin(), device.stagedKernels.end(),
                       [&](const KernelModel &staged) {
                         return staged.op == op &&
                                staged.variant == kernel.variant;
                       });
  };
  std::vector<KernelModel> kernels;
  for (const KernelModel &each : device.kernels)
    if (each.op == op && (onHeap || isThroughWorkspace(op, each.variant) ||
                          (hasRoot(op) && !isListed(each))))
      kernels.push_back(each);
  for (const KernelModel &each : device.stagedKernels)
    if (each.op == op && !onHeap) {
      kernels.push_back(each);
      kernels.back().isStaged = true;
    }
  if (!kernels.empty())
    return kernels;
  for (const std::string &variant : variantsOf(op)) {
    // The model has no numbers of copy engines.
    if (!variantOf(op, variant).hasKernel())
      continue;
    // Slots of sends depend on the size of the group: the generator finds the
    // largest tile.
    if (device.kind != DeviceKind::host && getCollective(op).isPointToPoint())
      kernels.push_back(derive(device.links, op, variant, 0, 8));
    else if (device.kind != DeviceKind::host &&
             variantOf(op, variant).has(plan::packets))
      kernels.push_back(derive(device.links, op, variant, 1024, 8));
    else
      kernels.push_back(derive(device.links, op, variant, 0, 0));
  }
  return kernels;
}

static int64_t tileBytesOf(const KernelModel &kernel) {
  return kernel.tileBytes != 0
             ? kernel.tileBytes
             : plan::getDefaultTileBytes(variantOf(kernel.op, kernel.variant));
}

static int64_t threadsOf(const KernelModel &kernel, int64_t warpSize) {
  return (kernel.warps != 0 ? kernel.warps
                            : plan::collectiveWarps.defaultValue) *
         warpSize;
}

int64_t iris::ccl::tileOf(const KernelModel &kernel, DType dtype,
                          int64_t members, int64_t warpSize) {
  if (kernel.tileBytes == 0 || !reduces(kernel.op))
    return kernel.tileBytes;
  int64_t element = std::max(dtypeBytes(dtype), 1u);
  int64_t largest =
      plan::getLargestReducedTile(variantOf(kernel.op, kernel.variant), members,
                                  threadsOf(kernel, warpSize));
  return std::min(kernel.tileBytes / element, largest);
}

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

/// Microseconds of the copies between buffers and the workspace, for buffers
/// outside of the heap and for variants that are not in place.
static double stagingOf(const LinkModel &link, const KernelModel &kernel,
                        const TuningKey &tuningKey) {
  if (kernel.isStaged || isThroughWorkspace(tuningKey.op, kernel.variant))
    return 0;
  double copies = 0;
  if (!tuningKey.onHeap)
    copies = 1; // those to slots overlap with the transfer
  else if (tuningKey.inPlace &&
           !variantOf(tuningKey.op, kernel.variant).has(plan::inPlace))
    copies = 2;
  return copies * static_cast<double>(tuningKey.bytes) / link.localBytesPerUs;
}

double iris::ccl::estimate(const LinkModel &link, const KernelModel &kernel,
                           const TuningKey &tuningKey, int64_t programs) {
  double size = tuningKey.groupSize, peers = size - 1;
  double bytes = static_cast<double>(tuningKey.bytes);
  plan::CollectiveWork work =
      workOf(tuningKey.op, kernel.variant, tuningKey.groupSize);

  // Tiles, as many as the elements of the type make.
  uint64_t element =
      reduces(tuningKey.op) ? std::max(dtypeBytes(tuningKey.dtype), 1u) : 1;
  uint64_t tileBytes = static_cast<uint64_t>(tileBytesOf(kernel));
  if (kernel.tileBytes != 0)
    tileBytes = element * static_cast<uint64_t>(tileOf(kernel, tuningKey.dtype,
                                                       tuningKey.groupSize,
                                                       link.warpSize));
  double tiles = static_cast<double>(tuningKey.bytes / tileBytes +
                                     (tuningKey.bytes % tileBytes != 0));
  double iterations =
      work.countIterations(tiles, static_cast<double>(programs));

  double us = kernel.startUs + kernel.startPeersUs * peers / 7 +
              static_cast<double>(programs) * kernel.programUs;
  double tilesUs =
      iterations * (kernel.tileUs + kernel.tilePeersUs * peers / 7);

  // The transfer is limited by all links of the rank or by that to one peer.
  double rate = kernel.bytesPerUs, transferUs = 0;
  if (rate == 0) {
    rate = work.pulls ? link.pullBytesPerUs : link.pushBytesPerUs;
    us += work.localChunks * bytes / link.localBytesPerUs;
  }
  if (peers > 0) {
    double peerChunks =
        work.isStream ? work.linkChunks : work.linkChunks / peers;
    transferUs = std::max(work.linkChunks * bytes / rate,
                          peerChunks * bytes / link.peerBytesPerUs);
  }
  us +=
      kernel.overlaps ? std::hypot(tilesUs, transferUs) : tilesUs + transferUs;

  // Tiles that are accessed element by element: the last, or all where chunks
  // begin between two words.
  const uint64_t alignment = tuningKey.alignment;
  double slow =
      alignment % 16 == 0 ? 0
      : alignment % 4 == 0 || getCollective(tuningKey.op).isDivisible()
          ? 1
          : iterations;
  double members = isThroughWorkspace(tuningKey.op, kernel.variant) ? 0 : peers;
  us += slow * link.unalignedElementUs * members *
        static_cast<double>(tileBytes) /
        static_cast<double>(element * threadsOf(kernel, link.warpSize));
  return us + stagingOf(link, kernel, tuningKey);
}
