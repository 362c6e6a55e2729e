// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveConfig.cpp - How a collective is done --------------------===//

#include "iris/Kernels/CollectiveConfig.h"

#include "ConfigReader.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::iris;

/// Bytes of a tile where the config does not say: 16 bytes a thread for 256
/// threads, twice.
static constexpr int64_t kDefaultTileBytes = 8192;
/// Of packets: as much of all members' tiles is waited for at once.
static constexpr int64_t kDefaultPacketBytes = 2048;
static constexpr int64_t kMaxTileBytes = 16384;

const plan::Collective &CollectiveConfig::collective() const {
  return getCollective(kind);
}

const plan::Variant &CollectiveConfig::variantInfo() const {
  return *collective().find(variant);
}

bool CollectiveConfig::usesPackets() const {
  return variantInfo().has(plan::packets);
}

bool CollectiveConfig::usesBuffers() const {
  return variantInfo().has(plan::slots);
}

bool CollectiveConfig::sendsResults() const {
  bool isTwoShot = variant == "two_shot" || variant == "two_shot_push";
  return kind == CollectiveKind::AllReduce && isTwoShot && staged;
}

int64_t CollectiveConfig::elementBytes() const {
  return storage.getIntOrFloatBitWidth() / 8;
}

RankedTensorType CollectiveConfig::tileType() const {
  return RankedTensorType::get({tile}, storage);
}

/// The type of the buffers' elements: bytes for what has no type of its own in
/// memory.
static Type getStorage(Type element) {
  if (element.getIntOrFloatBitWidth() == 8)
    return IntegerType::get(element.getContext(), 8);
  return element;
}

/// Elements of a chunk that the packets of a variant have room for.
static int64_t getPacketRound(const CollectiveConfig &config) {
  int64_t size = config.size ? config.size : kMaxGroup;
  int64_t room = config.workspace.packetBytes();
  if (config.collective().hasRoot())
    room -= Workspace::allArrivalBytes;
  // Packets are twice as large as their data.
  int64_t tiles = room / (2 * config.tile * config.elementBytes());
  if (config.variant == "two_shot_packet") {
    // size * ceil(tiles / size) slots of inputs, as many tiles of results.
    // Where the size is not known, rounding up takes at most kMaxGroup - 1.
    if (!config.size)
      return std::max<int64_t>(tiles - (kMaxGroup - 1), 0) / 2 * config.tile;
    int64_t turns = tiles / (2 * size);
    return turns * size * config.tile;
  }
  return tiles / size * config.tile;
}

namespace {
/// The part of the workspace that bounds a tile, and the largest one.
struct TileRoom {
  StringRef what;
  int64_t bytes;
};
} // namespace

static TileRoom getTileRoom(const CollectiveConfig &config) {
  const Workspace &workspace = config.workspace;
  int64_t size = config.size ? config.size : Workspace::maxMembers;
  if (config.collective().isPointToPoint())
    return {"fifo boxes", workspace.fifoSlotBytes()};
  if (config.usesPackets()) {
    int64_t room = workspace.packetBytes();
    if (config.collective().hasRoot())
      room -= Workspace::allArrivalBytes;
    // Packets are twice as large as their data. Results of two shots have as
    // many slots as inputs; where the size is not known, rounding up may take
    // another group's.
    int64_t slots = size;
    if (config.variant == "two_shot_packet")
      slots = config.size ? 2 * size : size + 1;
    return {"packets", room / (2 * slots)};
  }
  int64_t half = workspace.scratchBytes() / 2;
  if (config.variant == "two_shot_push" || config.usesBuffers() ||
      (config.staged && !config.collective().hasRoot()))
    return {"slots", half / (config.sendsResults() ? 2 * size : size)};
  if (config.staged)
    return {"staged tiles", workspace.scratchBytes() / Workspace::maxMembers};
  return {"", kMaxTileBytes};
}

/// What does not fit into the workspace.
static LogicalResult checkRoom(CollectiveOp op,
                               const CollectiveConfig &config) {
  TileRoom room = getTileRoom(config);
  int64_t tileBytes = config.tile * config.elementBytes();
  if (tileBytes <= room.bytes)
    return success();
  return op.emitOpError("config has a tile of ")
         << tileBytes << " bytes, but the " << room.what
         << " of a workspace of " << config.workspace.bytes
         << " bytes take at most " << room.bytes
         << "; expected a smaller tile or a larger workspace";
}

/// Combinations that no generator makes.
static LogicalResult checkCombination(CollectiveOp op,
                                      const CollectiveConfig &config) {
  StringRef variant = config.variant;
  if (config.variantInfo().has(plan::anyOrder)) {
    if (*config.reduction != Reduction::Sum &&
        *config.reduction != Reduction::Avg)
      return op.emitOpError("variant ")
             << variant << " computes sums; expected sum or avg, not "
             << stringifyReduction(*config.reduction);
  }
  if (config.staged && !config.variantInfo().hasStagedForm())
    return op.emitOpError("variant ")
           << variant << " works on the symmetric heap; expected no staging";
  if (variant == "atomic" && config.element != config.storage)
    return op.emitOpError("variant atomic has no additions of ")
           << config.element << "; expected another type or variant";
  int64_t wideBytes = isa<FloatType>(config.element)
                          ? std::max<int64_t>(config.elementBytes(), 4)
                          : config.elementBytes();
  if (variant == "ring" && config.programs * 2 * config.tile * wideBytes >
                               config.workspace.scratchBytes())
    return op.emitOpError("variant ring has two slots of ")
           << config.tile * wideBytes << " bytes for each of "
           << config.programs << " programs; expected at most "
           << config.workspace.scratchBytes() << " bytes in all";
  return success();
}

FailureOr<CollectiveConfig> mlir::iris::getConfig(CollectiveOp op) {
  CollectiveConfig config;
  config.kind = op.getKind();
  config.reduction = op.getReduction();
  config.element = op.getElement();
  config.storage = getStorage(config.element);
  config.size = op.getSize().value_or(0);
  int64_t bytes = config.elementBytes();
  int64_t maxPrograms = config.collective().maxPrograms();
  config.programs = std::min(config.programs, maxPrograms);

  int64_t workspaceBytes = Workspace::defaultBytes;
  ConfigReader reader(op, op.getConfigAttr());
  SmallVector<StringRef> variants;
  for (const plan::Variant &each : config.collective())
    if (each.hasKernel())
      variants.push_back({each.name.data(), each.name.size()});
  config.variant = variants.front().str();
  if (failed(reader.readName("variant", variants,
                             stringifyCollectiveKind(config.kind),
                             config.variant)))
    return failure();
  config.tile =
      (config.usesPackets() || config.usesBuffers() ? kDefaultPacketBytes
                                                    : kDefaultTileBytes) /
      bytes;
  if (failed(reader.readInteger("tile", 16 / std::min<int64_t>(bytes, 16),
                                kMaxTileBytes / bytes, /*powerOfTwo=*/true,
                                config.tile)) ||
      failed(reader.readInteger("warps", 1, 16, /*powerOfTwo=*/true,
                                config.warps)) ||
      failed(reader.readInteger("programs", 1, maxPrograms,
                                /*powerOfTwo=*/false, config.programs)) ||
      failed(reader.readInteger("xcds", 1, 64, /*powerOfTwo=*/false,
                                config.xcds)) ||
      failed(reader.readInteger("workspace", Workspace::minBytes,
                                Workspace::maxBytes, /*powerOfTwo=*/false,
                                workspaceBytes)) ||
      failed(reader.readBool("staged", config.staged)) ||
      failed(reader.finish("variant, tile, warps, programs, xcds, staged or "
                           "workspace")))
    return failure();
  config.workspace = Workspace(workspaceBytes);
  // Of tiles that are not asked for, the largest that the workspace has room
  // for.
  int64_t leastTile = 16 / std::min<int64_t>(bytes, 16);
  if (!op.getConfigAttr() || !op.getConfigAttr().contains("tile"))
    while (config.tile > leastTile &&
           config.tile * bytes > getTileRoom(config).bytes)
      config.tile /= 2;
  if (failed(checkCombination(op, config)) || failed(checkRoom(op, config)))
    return failure();
  if (config.usesPackets())
    config.packetRound = getPacketRound(config);
  config.inPlace = (config.staged && !config.collective().hasCounts()) ||
                   config.variantInfo().has(plan::inPlace);
  return config;
}
