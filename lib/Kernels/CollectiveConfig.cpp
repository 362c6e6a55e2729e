// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveConfig.cpp - How a collective is done --------------------===//

#include "iris/Kernels/CollectiveConfig.h"

#include "ConfigReader.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::iris;

static_assert(Workspace::maxMembers == kMaxGroup &&
                  Workspace::maxAnyMembers == kMaxAnyGroup,
              "the same bounds in two libraries");

/// The type of the buffers' elements; buffers hold f8 elements as i8, and
/// unsigned ones as signless ones.
static Type getStorage(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  if (width == 8 || element.isUnsignedInteger())
    return IntegerType::get(element.getContext(), width);
  return element;
}

/// Checks that a tile fits into the workspace.
static LogicalResult checkRoom(Operation *op, const CollectiveConfig &config) {
  plan::CollectiveForm::TileRoom room = config.tileRoom();
  if (config.tileBytes() <= room.bytes)
    return success();
  return op->emitOpError("config has a tile of ")
         << config.tileBytes() << " bytes, but the " << StringRef(room.what)
         << " of a workspace of " << config.workspace.bytes
         << " bytes take at most " << room.bytes
         << "; expected a smaller tile or a larger workspace";
}

/// Rejects combinations that no generator supports.
static LogicalResult checkCombination(Operation *op,
                                      const CollectiveConfig &config) {
  StringRef variant = config.variant->name;
  if (config.variant->has(plan::anyOrder)) {
    if (*config.reduction != Reduction::Sum &&
        *config.reduction != Reduction::Avg)
      return op->emitOpError("variant ")
             << variant << " computes sums; expected sum or avg, not "
             << stringifyReduction(*config.reduction);
  }
  if (config.staged && !config.variant->hasStagedForm())
    return op->emitOpError("variant ")
           << variant << " works on the symmetric heap; expected no staging";
  if (config.variant->has(plan::anyOrder) && config.element != config.storage)
    return op->emitOpError("variant ")
           << variant << " has no additions of " << config.element
           << "; expected another type or variant";
  int64_t wideBytes = isa<FloatType>(config.element)
                          ? std::max<int64_t>(config.elementBytes, 4)
                          : config.elementBytes;
  if (config.variant->has(plan::programSlots) &&
      config.programs * 2 * config.tile * wideBytes >
          config.workspace.scratchBytes())
    return op->emitOpError("variant ")
           << variant << " has two slots of " << config.tile * wideBytes
           << " bytes for each of " << config.programs
           << " programs; expected at most " << config.workspace.scratchBytes()
           << " bytes in all";
  return success();
}

/// The tile without an entry in the config. A program that adds up the tiles of
/// all members has them in registers at once: 8 times 8 KiB are 64 registers of
/// each thread in 4 warps of 64 threads, but 128 of each in 4 warps of 32,
/// which would then spill, as with more members.
static int64_t getDefaultTile(const CollectiveConfig &config,
                              plan::ConfigNumber number, unsigned waveSize) {
  constexpr unsigned widestWave = 64;
  bool sumsInRegisters =
      config.collective->reduces() && !plan::usesWorkspace(*config.variant);
  if (!sumsInRegisters)
    return number.defaultValue;
  return std::max<int64_t>(number.defaultValue * waveSize / widestWave *
                               Workspace::maxAnyMembers /
                               Workspace::membersIn(config.size),
                           number.least);
}

FailureOr<CollectiveConfig>
mlir::iris::getConfig(CollectiveOp op, unsigned waveSize, Operation *call) {
  CollectiveConfig config;
  config.kind = op.getKind();
  config.collective = &getCollective(config.kind);
  config.variant = config.collective->begin();
  config.reduction = op.getReduction();
  config.element = op.getElement();
  config.storage = getStorage(config.element);
  config.elementBytes = config.storage.getIntOrFloatBitWidth() / 8;
  config.size = op.getSize().value_or(0);
  plan::ConfigNumber programs =
      plan::getProgramsNumber(*config.collective, config.maxMembers());
  config.programs = programs.defaultValue;

  int64_t workspaceBytes = Workspace::defaultBytes;
  Operation *written = call ? call : op;
  ConfigReader reader(written, op.getConfigAttr());
  if (failed(reader.readNamed("variant", *config.collective,
                              stringifyCollectiveKind(config.kind),
                              config.variant)))
    return failure();
  plan::ConfigNumber tile =
      plan::getTileNumber(*config.variant, config.elementBytes);
  config.tile = getDefaultTile(config, tile, waveSize);
  if (failed(reader.readInteger(tile, config.tile)) ||
      failed(reader.readInteger(plan::collectiveWarps, config.warps)) ||
      failed(reader.readInteger(programs, config.programs)) ||
      failed(reader.readInteger(plan::collectiveXcds, config.xcds)) ||
      failed(reader.readInteger(plan::collectiveWorkspace, workspaceBytes)) ||
      failed(reader.readBool("staged", config.staged)) ||
      failed(reader.finish()))
    return failure();
  config.workspace = Workspace(workspaceBytes);
  if (!op.getConfigAttr() || !op.getConfigAttr().contains("tile"))
    config.tile = config.largestTile();
  if (failed(checkCombination(written, config)) ||
      failed(checkRoom(written, config)))
    return failure();
  return config;
}
