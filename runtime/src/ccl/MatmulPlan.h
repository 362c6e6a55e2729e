// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows from a problem: shapes, the request to the compiler, and how
// much memory the ranks share.
#ifndef IRIS_RT_CCL_MATMULPLAN_H
#define IRIS_RT_CCL_MATMULPLAN_H

#include "iris/Plan/FusedWorkspace.h"
#include "iris/ccl/MatmulSelector.h"

namespace iris::ccl {

struct Extents {
  uint64_t rows = 0, columns = 0;
};

/// Sizes of everything that a kernel gets.
struct MatmulPlan {
  Extents a, b, c, staging;
  uint64_t stagingBytes = 0;
  uint64_t workspaceBytes = 0;
  /// Programs that have something to do, whatever the launch asks for.
  uint64_t tiles = 1;
  bool hasCommPrograms = false;
};

/// What is wrong with the problem before anything is chosen, or success.
rt::Status checkProblem(const MatmulProblem &problem, uint32_t groupSize);

/// Fills in what says what is computed, and not how.
void fillMeaning(MatmulProblem &problem);

/// Checks the problem, fills in what sizes depend on, and says what follows.
rt::Expected<MatmulPlan> makePlan(MatmulProblem &problem, uint32_t groupSize);

/// What a config has where it does not say: the generators' defaults as well.
/// Rows and columns of a tile, values of k at a time, rows of tiles in a group,
/// k-blocks that share a flag.
constexpr int64_t defaultTile = 128, defaultTileK = 64;
constexpr int64_t defaultGroupM = 8, defaultKPerFlag = 4;
/// Programs that may share the k-blocks of a tile; a power of two.
constexpr int64_t mostSplits = 32;

/// The variant copy_engine: the rows of a matrix that are one rank's, groups of
/// `groupRows` of them, each of which is a copy, and the words in the
/// workspace, a line each: flags; counts of tiles that are missing; a count of
/// ranks' meeting, which is missing, too; of shares what is done; what flags of
/// parts are raised with; and what all of those that change are when a call
/// begins.  See lib/Kernels/MatmulKernels.cpp and MatmulCopiedSum.cpp.
struct CopiedParts {
  uint64_t rows = 0, groupRows = 1, groups = 0;
  uint64_t flags = 0, counts = 0;
  bool hasPartialSums = false;
  uint64_t entered() const { return flags + counts; }
  uint64_t done() const { return entered() + 1; }
  uint64_t changing() const { return done() + (hasPartialSums ? counts : 0); }
  uint64_t raised() const { return changing(); }
  uint64_t atFirst() const { return raised() + 1; }
  uint64_t words() const { return atFirst() + changing(); }
};
/// Takes a complete config.
CopiedParts copiedParts(const MatmulProblem &problem, uint32_t groupSize);

/// "matmul f16 -> f16 size 8 {variant = ...}": the same for the same kernel.
std::string describeRequest(const MatmulProblem &problem, uint32_t groupSize);

/// Whether a kernel that was compiled ahead is the one that the problem, with
/// its complete config, asks for.
bool isKernelOf(const rt::KernelInfo &kernel, const MatmulProblem &problem,
                uint32_t groupSize);

/// The type that sums of products have.
DType sumType(DType element);

uint64_t divideUp(uint64_t a, uint64_t b);

/// Of the workspace: bytes of a flag, most programs, bytes before the flags.
constexpr uint64_t matmulFlagBytes = plan::FusedWorkspace::line;
constexpr uint64_t matmulMaxPrograms = plan::FusedWorkspace::maxPrograms;
constexpr uint64_t matmulWorkspaceBase = plan::FusedWorkspace::flags;

/// A number of a config: its name in requests, kernels and tables, the most
/// that a table may say, and what a kernel has if the config leaves it open:
/// what requests say for programs, and the generators (the compiler's
/// MatmulConfig) take for the others.  -1: that depends on other numbers.
struct MatmulNumber {
  const char *key;
  int64_t MatmulConfig::*value;
  uint64_t most;
  int64_t normal;
};

/// All of them, in the order of requests.
inline constexpr MatmulNumber matmulNumbers[] = {
    {"tile_m", &MatmulConfig::tileM, 256, defaultTile},
    {"tile_n", &MatmulConfig::tileN, 256, defaultTile},
    {"tile_k", &MatmulConfig::tileK, 256, defaultTileK},
    {"group_m", &MatmulConfig::groupM, 1024, defaultGroupM},
    {"xcds", &MatmulConfig::xcds, 64, 1},
    {"warps", &MatmulConfig::warps, 16, 4},
    {"programs", &MatmulConfig::programs, matmulMaxPrograms, matmulMaxPrograms},
    {"k_per_flag", &MatmulConfig::kPerFlag, 1024, defaultKPerFlag},
    {"num_fetch_programs", &MatmulConfig::numFetchPrograms, matmulMaxPrograms,
     -1},
    {"tiles_per_comm_program", &MatmulConfig::tilesPerCommProgram, 1 << 20, 0},
    {"split_k", &MatmulConfig::splitK, mostSplits, 1},
    {"num_fetch_stages", &MatmulConfig::numFetchStages, 1024, 1},
    {"first_stage_fetch_programs", &MatmulConfig::firstStageFetchPrograms,
     matmulMaxPrograms, -1},
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_MATMULPLAN_H
