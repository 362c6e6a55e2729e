// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a matmul is done where the caller does not say: by an entry of the
// table, if there is one for the very problem, else by the model
// (docs/fused.md, "How a config is chosen").
#ifndef IRIS_CCL_MATMULSELECTOR_H
#define IRIS_CCL_MATMULSELECTOR_H

#include "iris/ccl/Matmul.h"
#include "iris/rt/Device.h"

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::ccl {

/// What is known of a matmul before it is made.  All ranks must see the same.
struct MatmulTuningKey {
  /// What its config says is kept.
  MatmulProblem problem;
  uint32_t groupSize = 1;
  rt::DeviceKind device = rt::DeviceKind::host;
  /// "sm_90a", "gfx942"; empty: the best known of the device kind.
  std::string target;
  /// What the device says of itself (World::deviceAttributes); null: the first
  /// GPU of the target that there is a cost model for.
  const rt::DeviceAttributes *attributes = nullptr;
  /// The device has few queues, which its streams share: what leaves is not
  /// left to engines, as after a failure a wait could block what ends it.
  bool hasFewQueues = false;
};

/// What a matmul is expected to take with a config.
struct MatmulEstimate {
  MatmulConfig config;
  /// Microseconds in all; of the matmul alone, and of what moves.
  double us = 0, matmul = 0, moving = 0;
};

/// A choice, and why.
struct MatmulChoice {
  MatmulConfig config;
  std::string reason;
};

/// A matmul that was tuned: its best config and time.
struct MatmulEntry {
  std::string target;
  uint32_t groupSize = 1;
  /// Its epilogue does not count.  The config's shard and share do.
  MatmulProblem problem;
  MatmulConfig config;
  double us = 0;
};

/// Entries of the file that IRIS_MATMUL_TABLE names, and those that come with
/// the library.
class MatmulTable {
public:
  /// The library's own entries.
  static const MatmulTable &builtIn();
  /// Those of the file that the environment names, read once; none without it.
  static const rt::Expected<MatmulTable> &fromEnvironment();
  /// Lines of JSON; `name` is for messages.
  static rt::Expected<MatmulTable> parse(const std::string &text,
                                         const std::string &name);
  /// A regular file of ours that nobody else may write or read.
  static rt::Expected<MatmulTable> read(const std::string &path);

  /// The entry of exactly this problem; null if there is none.
  const MatmulEntry *find(const MatmulTuningKey &tuningKey) const;
  /// Replaces the entry of the same problem.
  void add(const MatmulEntry &entry);
  std::string text() const;
  /// Replaces the file, with mode 0600, at once.
  rt::Status write(const std::string &path) const;
  size_t size() const { return entries_.size(); }

private:
  std::vector<MatmulEntry> entries_;
};

/// "hbm_buffer", ..., "unfused"; the variants of a kind.
const std::vector<std::string> &variantsOf(MatmulKind kind);

/// Whether some programs of a variant move what others multiply:
/// num_fetch_programs is for it.
bool hasCommPrograms(MatmulKind kind, const std::string &variant);
/// Whether what they move comes in units with a flag each: k_per_flag,
/// num_fetch_stages, first_stage_fetch_programs and staged_layout are for it.
bool hasUnits(MatmulKind kind, const std::string &variant);

/// Whether programs may share the k-blocks of a tile: split_k is for it.
bool hasSplits(MatmulKind kind, const std::string &variant);

/// "all_gather_matmul"; "unknown" for a value that is no kind.
const char *kindName(MatmulKind kind);

/// The config for the problem: what it leaves open is filled in.  An error if
/// nothing that can be done agrees with it.
rt::Expected<MatmulChoice> select(const MatmulTuningKey &tuningKey);

/// What select() compares where no entry decides: every candidate that agrees
/// with the problem's config, the fastest first.
std::vector<MatmulEstimate> estimates(const MatmulTuningKey &tuningKey);

/// The most promising candidates: the best of each variant, then others.
std::vector<MatmulConfig> tuningCandidates(const MatmulTuningKey &tuningKey,
                                           size_t most);

/// "hbm_buffer, tile 128x256x64, 8 warps, 132 programs, 16 fetch".
std::string describe(const MatmulConfig &config);

/// Where the model's numbers for a target come from.
std::string matmulModelSource(rt::DeviceKind device, const std::string &target,
                              const rt::DeviceAttributes *attributes = nullptr);

/// The .mlir modules of all kernels that a matmul with a complete config
/// takes: what packages for machines without a compiler are made of.
std::vector<std::string> kernelSources(const MatmulTuningKey &tuningKey);

/// Bytes of heap that it holds on every rank, beside the matrices.
rt::Expected<uint64_t> sharedBytes(const MatmulTuningKey &tuningKey);

} // namespace iris::ccl
#pragma GCC visibility pop

#endif // IRIS_CCL_MATMULSELECTOR_H
