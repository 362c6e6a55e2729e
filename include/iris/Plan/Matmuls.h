// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Matmuls.h - What is known of each kind of matmul ---------*- C++ -*-===//
//
// The tables of Matmuls.def, and the numbers of a matmul's config, for the
// compiler and the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_PLAN_MATMULS_H
#define IRIS_PLAN_MATMULS_H

#include "iris/Plan/ConfigNumber.h"
#include "iris/Plan/FusedWorkspace.h"
#include "iris/Plan/VariantRows.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace irisplan {

enum class MatmulKind : int32_t {
#define IRIS_MATMUL(Kind, ...) Kind,
#include "iris/Plan/Matmuls.def"
};

/// Traits of a variant.
enum MatmulTrait : uint32_t {
  /// There are communication programs and compute programs.
  hasCommPrograms = 1 << 0,
  /// Communication programs copy shards of a to the staging buffer, in units of
  /// some k-blocks of a tile row; each unit has a flag.
  movesUnits = 1 << 1,
  /// The caller of the kernel copies the data between ranks by copy engine, a
  /// group of tile rows at a time.
  copiedByEngine = 1 << 2,
  /// Used by `unfused` only: a is the output of an all-gather, and the kernel
  /// does not wait for other ranks.
  takesGathered = 1 << 3,
  /// Several programs may share the k-blocks of an output tile (split-K).
  splitsK = 1 << 4,
  /// A matmul and a collective; there is no kernel for both.
  separateKernels = 1 << 5,
  /// Partial sums are added to the result by atomics, in any order: results
  /// differ between runs.
  addsInResult = 1 << 6,
};

struct MatmulVariant {
  std::string_view name;
  uint32_t traits = 0;
  MatmulKind kind = MatmulKind::Matmul;

  constexpr bool has(MatmulTrait trait) const { return (traits & trait) != 0; }
  constexpr bool hasKernel() const { return !has(separateKernels); }
  /// Whether callers may ask for it.
  constexpr bool isPublic() const { return !has(takesGathered); }
};

/// The variants of all kinds, in the order of Matmuls.def.
inline constexpr MatmulVariant matmulVariants[] = {
#define IRIS_MATMUL_VARIANT(Kind, variant, Generator, traits)                  \
  {variant, traits, MatmulKind::Kind},
#include "iris/Plan/Matmuls.def"
};

/// The index of one of `matmulVariants`, for tables with an entry for each of
/// them.
constexpr size_t getIndex(const MatmulVariant &variant) {
  return static_cast<size_t>(&variant - matmulVariants);
}

struct Matmul {
  static constexpr int maxShards = 2;

  MatmulKind kind;
  /// "all_gather_matmul".
  std::string_view name;
  /// The dimensions by which the operands or the result may be sharded, "k",
  /// "m" or "n"; up to the first that is empty.
  std::string_view shards[maxShards];
  /// The first one is the default.
  RowsOf<MatmulVariant> variants;

  constexpr const MatmulVariant *begin() const { return variants.first; }
  constexpr const MatmulVariant *end() const { return variants.last; }

  /// Whether partial sums of the ranks are reduced.
  constexpr bool reduces() const {
    return kind == MatmulKind::MatmulReduceScatter ||
           kind == MatmulKind::MatmulAllReduce;
  }

  /// The variant of that name; null if there is none.
  constexpr const MatmulVariant *find(std::string_view variant) const {
    for (const MatmulVariant &each : *this)
      if (each.name == variant)
        return &each;
    return nullptr;
  }
};

/// All kinds, in the order of MatmulKind.
inline constexpr Matmul matmuls[] = {
#define IRIS_MATMUL(Kind, kind, ...)                                           \
  {MatmulKind::Kind, __VA_ARGS__, findRows(matmulVariants, MatmulKind::Kind)},
#include "iris/Plan/Matmuls.def"
};
static_assert(areRowsComplete(matmuls, matmulVariants, /*most=*/6),
              "expected 1 to 6 consecutive variants of each kind");

constexpr const Matmul &getMatmul(MatmulKind kind) {
  return matmuls[static_cast<int32_t>(kind)];
}

/// The same for a number from outside; null if it is no kind.
constexpr const Matmul *findMatmul(int32_t kind) {
  return kind >= 0 && kind < static_cast<int32_t>(std::size(matmuls))
             ? &matmuls[kind]
             : nullptr;
}

//===----------------------------------------------------------------------===//
// Numbers of a config
//===----------------------------------------------------------------------===//

/// Columns of a tile that are no power of two are a multiple of this.
inline constexpr int64_t matmulColumnUnit = 16;

/// Whether a tile may have so many columns.
constexpr bool isTileWidth(int64_t columns) {
  return isPowerOfTwo(columns) || columns % matmulColumnUnit == 0;
}

/// Numbers of a config, with the kernel generators' defaults. Communication
/// programs are also bounded by the programs of the launch.
namespace matmul_numbers {
inline constexpr int64_t maxPrograms = FusedWorkspace::maxPrograms;
/// Output tile and k-block, in elements.
inline constexpr ConfigNumber tileM = {"tile_m", 1, 256, true, 128};
inline constexpr ConfigNumber tileN = {"tile_n", 1, 256, false, 128};
inline constexpr ConfigNumber tileK = {"tile_k", 16, 256, true, 64};
/// Tile rows in a group; within a group the order is column by column.
inline constexpr ConfigNumber groupM = {"group_m", 1, 1024, false, 8};
inline constexpr ConfigNumber xcds = {"xcds", 1, 64, false, 1};
inline constexpr ConfigNumber warps = {"warps", 1, 16, true, 4};
/// Maximum number of programs of a launch.
inline constexpr ConfigNumber programs = {"programs", 1, maxPrograms, false,
                                          32};
/// k-blocks that share a flag.
inline constexpr ConfigNumber kPerFlag = {"k_per_flag", 1, 1024, false, 4};
/// Communication programs. The default is at most a quarter of the programs.
inline constexpr ConfigNumber fetchPrograms = {"num_fetch_programs", 1,
                                               maxPrograms, false, 4};
/// Tiles that a communication program also computes, at most.
inline constexpr ConfigNumber tilesPerCommProgram = {"tiles_per_comm_program",
                                                     0, 1 << 20, false, 0};
/// Programs that split the k-blocks of a tile.
inline constexpr ConfigNumber splitK = {"split_k", 1, 32, true, 1};
/// Stages of tile rows, and communication programs in the first one.
inline constexpr ConfigNumber fetchStages = {"num_fetch_stages", 1, 1024, false,
                                             1};
inline constexpr ConfigNumber firstStageFetchPrograms = {
    "first_stage_fetch_programs", 1, maxPrograms, false, 4};
} // namespace matmul_numbers

} // namespace irisplan

#endif // IRIS_PLAN_MATMULS_H
