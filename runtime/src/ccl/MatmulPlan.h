// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulPlan.h - Shapes, memory and requests of matmuls ----*- C++ -*-===//
#ifndef IRIS_RT_CCL_MATMULPLAN_H
#define IRIS_RT_CCL_MATMULPLAN_H

#include "iris/Plan/FusedWorkspace.h"
#include "iris/ccl/MatmulSelector.h"

namespace iris::ccl {

struct Extents {
  uint64_t rows = 0, columns = 0;
};

/// The sizes of all kernel arguments.
struct MatmulPlan {
  Extents a, b, c, staging;
  uint64_t stagingBytes = 0;
  uint64_t workspaceBytes = 0;
  /// The number of programs that have work, whatever the launch asks for.
  uint64_t tiles = 1;
  bool hasCommPrograms = false;
};

/// Checks the problem before a config is selected.
rt::Status checkProblem(const MatmulProblem &problem, uint32_t groupSize);

/// Fills in the defaults of fields that change the result: shard, partial_type.
void fillSemantics(MatmulProblem &problem);

/// Checks the problem, fills in the fields that sizes depend on, and returns
/// the sizes.
rt::Expected<MatmulPlan> makePlan(MatmulProblem &problem, uint32_t groupSize);

/// Defaults of a config, equal to the generators': rows and columns of a tile,
/// elements of k per step, rows of tiles in a group, k-steps that share a flag.
constexpr int64_t defaultTile = 128, defaultTileK = 64;
constexpr int64_t defaultGroupM = 8, defaultKPerFlag = 4;
/// The maximum number of programs that split the k-steps of a tile; a power of
/// two.
constexpr int64_t mostSplits = 32;

/// Workspace of the variant copy_engine.  A rank's part of a matrix has `rows`
/// rows in groups of `groupRows`; each group is one copy.  The workspace is an
/// array of words, one cache line each, in this order:
///   flags           set when a copy has arrived
///   counts          tiles that are not done yet
///   entered         nonzero until the kernel has passed its entry barrier
///   doneCounts      tiles that are done; only with partial sums
///   flagValue       the value that flags of parts are set to
///   initialValues   values of all of the above but flagValue at a call's start
/// See lib/Kernels/MatmulKernels.cpp and MatmulCopiedSum.cpp.
struct CopiedParts {
  uint64_t rows = 0, groupRows = 1, groups = 0;
  uint64_t flags = 0, counts = 0;
  bool hasPartialSums = false;
  uint64_t entered() const { return flags + counts; }
  uint64_t doneCounts() const { return entered() + 1; }
  uint64_t numMutable() const {
    return doneCounts() + (hasPartialSums ? counts : 0);
  }
  uint64_t flagValue() const { return numMutable(); }
  uint64_t initialValues() const { return flagValue() + 1; }
  uint64_t words() const { return initialValues() + numMutable(); }
};
/// Requires a complete config.
CopiedParts copiedParts(const MatmulProblem &problem, uint32_t groupSize);

/// "matmul f16 -> f16 size 8 {variant = ...}"; equal texts mean equal kernels.
std::string describeRequest(const MatmulProblem &problem, uint32_t groupSize);

/// Whether a kernel that was compiled ahead of time matches the problem with
/// its complete config.
bool isKernelOf(const rt::KernelInfo &kernel, const MatmulProblem &problem,
                uint32_t groupSize);

/// The accumulator type.
DType sumType(DType element);

uint64_t divideUp(uint64_t a, uint64_t b);

/// Of the workspace: bytes of a flag, most programs, bytes before the flags.
constexpr uint64_t matmulFlagBytes = plan::FusedWorkspace::line;
constexpr uint64_t matmulMaxPrograms = plan::FusedWorkspace::maxPrograms;
constexpr uint64_t matmulWorkspaceBase = plan::FusedWorkspace::flags;

/// A numeric field of a config: its name in requests, kernels and tables, the
/// maximum in a table, and the default. The default of `programs` is set in
/// requests, all others by the generators (MatmulConfig of the compiler). -1:
/// the default depends on other fields.
struct MatmulNumber {
  const char *key;
  int64_t MatmulConfig::*value;
  uint64_t most;
  int64_t defaultValue;
};

/// All numeric fields, in the order of requests.
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
