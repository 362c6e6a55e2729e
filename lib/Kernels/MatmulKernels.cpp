// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulKernels.cpp - Builds the kernel of an op ---------------------===//

#include "iris/Kernels/MatmulKernels.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::iris;

CopiedParts mlir::iris::getCopiedParts(ScalarBuilder &n,
                                       const MatmulConfig &config, Value rows,
                                       Value size) {
  CopiedParts parts;
  Value tileRows = n.index(config.tileM);
  if (config.kind == MatmulKind::MatmulReduceScatter)
    rows = n.div(rows, size);
  parts.rowTiles = n.ceilDiv(rows, tileRows);
  if (config.kind == MatmulKind::MatmulAllReduce) {
    parts.rowTiles = n.ceilDiv(parts.rowTiles, size);
    rows = n.mul(parts.rowTiles, tileRows);
  }
  parts.rows = rows;
  parts.groups = n.ceilDiv(parts.rowTiles, n.index(config.groupM));
  return parts;
}

void mlir::iris::barrierBeforeCopies(MatmulBuilder &k, Value isFirstTile,
                                     Value entered) {
  k.ifThen(isFirstTile, [&] {
    k.barrier();
    k.countDown(entered);
  });
}

/// An all-gather: the members' shards of a, below each other, and a flag for
/// each group of tile rows. A reduction: slices for partial sums to send and to
/// receive, and flags for both. A result all-gather: a counter of missing tiles
/// for each group of the result. Kernels that send by copy engine have one more
/// flag, on which the copies wait; reductions then have a counter of finished
/// tiles for each group.
static FusedSizes getCopiedSizes(ScalarBuilder &n, const MatmulConfig &config,
                                 const MatmulShape &shape) {
  CopiedParts parts = getCopiedParts(n, config, shape.aRows, shape.size);
  Value none = n.index(0), flags = n.mul(shape.size, parts.groups);
  if (config.kind == MatmulKind::AllGatherMatmul)
    return {flags, n.mul(shape.size, parts.rows), shape.aColumns};
  if (config.kind == MatmulKind::MatmulAllGather)
    return {n.add(parts.groups, n.index(1)), none, none};
  Value slices = n.mul(n.index(2), n.sub(shape.size, n.index(1)));
  return {n.add(n.mul(n.index(3), flags), n.index(1)),
          n.mul(n.max(slices, n.index(1)), parts.rows), shape.bColumns};
}

FusedSizes mlir::iris::getFusedSizes(ScalarBuilder &n,
                                     const MatmulConfig &config,
                                     const MatmulShape &shape) {
  auto tiles = [&](Value extent, int64_t tile) {
    return n.ceilDiv(extent, n.index(tile));
  };
  Value none = n.index(0);
  Value columnTiles = tiles(shape.bColumns, config.tileN);
  if (config.isCopied())
    return getCopiedSizes(n, config, shape);
  // The members' shards of a, below each other; a flag for each unit.
  if (config.isStaged()) {
    Value units = n.mul(tiles(shape.aRows, config.tileM),
                        tiles(shape.aColumns, config.kPerFlag * config.tileK));
    return {n.mul(shape.size, units), n.mul(shape.size, shape.aRows),
            shape.aColumns};
  }
  // The members' partial sums of this rank's rows, below each other; a flag for
  // each tile of each.
  if (config.kind == MatmulKind::MatmulReduceScatter) {
    Value rows = n.div(shape.aRows, shape.size);
    Value units = n.mul(tiles(rows, config.tileM), columnTiles);
    return {n.mul(shape.size, units), n.mul(shape.size, rows), shape.bColumns};
  }
  // The partial sums of each split, below each other; a counter for each tile.
  if (config.isSplit()) {
    Value units = n.mul(tiles(shape.aRows, config.tileM), columnTiles);
    return {units, n.mul(n.index(config.splitK), shape.aRows), shape.bColumns};
  }
  // This rank's partial sums of all tiles; a flag for each tile of each member.
  if (config.hasStaging()) {
    Value units = n.mul(tiles(shape.aRows, config.tileM), columnTiles);
    return {n.mul(shape.size, units), shape.aRows, shape.bColumns};
  }
  // A flag for each tile of this rank.
  if (config.hasCommPrograms()) {
    Value units = n.mul(tiles(shape.aRows, config.tileM), columnTiles);
    return {units, none, none};
  }
  return {none, none, none};
}

static void buildBody(MatmulBuilder &k) {
  switch (k.config.kind) {
  case MatmulKind::Matmul:
    return buildMatmul(k);
  case MatmulKind::AllGatherMatmul:
    return buildAllGatherMatmul(k);
  case MatmulKind::MatmulAllGather:
    return buildMatmulAllGather(k);
  case MatmulKind::MatmulReduceScatter:
    return buildMatmulReduceScatter(k);
  case MatmulKind::MatmulAllReduce:
    return buildMatmulAllReduce(k);
  }
}

/// The kernel's "config" metadata, which the runtime needs to launch it.
static DictionaryAttr describe(const MatmulConfig &config, MLIRContext *c) {
  Builder b(c);
  auto spell = [&](Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return b.getStringAttr(text);
  };
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  static constexpr StringRef biases[] = {"none", "row", "column"};
  static constexpr StringRef activations[] = {"none", "relu", "gelu"};
  SmallVector<NamedAttribute> entries = {
      b.getNamedAttr("matmul",
                     b.getStringAttr(stringifyMatmulKind(config.kind))),
      b.getNamedAttr("element", spell(config.element)),
      b.getNamedAttr("result", spell(config.result)),
      b.getNamedAttr("variant", b.getStringAttr(config.variant)),
      b.getNamedAttr("shard", b.getStringAttr(config.shard)),
      b.getNamedAttr("a", b.getStringAttr(stringifyLayout(config.a))),
      b.getNamedAttr("b", b.getStringAttr(stringifyLayout(config.b))),
      b.getNamedAttr("bias",
                     b.getStringAttr(biases[static_cast<size_t>(config.bias)])),
      b.getNamedAttr("scale", b.getBoolAttr(config.scale)),
      b.getNamedAttr(
          "activation",
          b.getStringAttr(activations[static_cast<size_t>(config.activation)])),
      number("group", config.size),
      number("tile_m", config.tileM),
      number("tile_n", config.tileN),
      number("tile_k", config.tileK),
      number("group_m", config.groupM),
      number("xcds", config.xcds),
      number("warps", config.warps),
      number("programs", config.programs)};
  if (config.kind == MatmulKind::Matmul)
    entries.push_back(number("split_k", config.splitK));
  if (config.hasCommPrograms())
    entries.append(
        {number("num_fetch_programs", config.fetchPrograms),
         number("tiles_per_comm_program", config.tilesPerCommProgram)});
  if (config.hasPartialSums())
    entries.push_back(b.getNamedAttr(
        "partial_type",
        b.getStringAttr(config.partialType == config.sum ? "sum" : "result")));
  if (config.movesUnits()) {
    bool isColumn = config.staged == MatmulConfig::Layout::Column;
    entries.push_back(b.getNamedAttr(
        "staged_layout",
        b.getStringAttr(isColumn ? "m_contiguous" : "k_contiguous")));
    entries.append(
        {number("k_per_flag", config.kPerFlag),
         number("num_fetch_stages", config.fetchStages),
         number("first_stage_fetch_programs", config.firstStageFetchPrograms)});
  }
  return b.getDictionaryAttr(entries);
}

FailureOr<gpu::GPUModuleOp> mlir::iris::buildMatmulKernel(MatmulKernelOp op) {
  FailureOr<MatmulConfig> config = getConfig(op);
  if (failed(config))
    return failure();
  OpBuilder b(op);
  auto module = gpu::GPUModuleOp::create(b, op.getLoc(), op.getSymName());
  MatmulBuilder k(module, *config);
  k.setDescription(describe(*config, b.getContext()));
  buildBody(k);
  k.finish();
  return module;
}
