// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulSelector.h - Selection of matmul configs -----------*- C++ -*-===//
//
// Selects the fields of a matmul's config that the caller leaves open: from the
// table entry for exactly this problem if there is one, else by the cost model
// (docs/guides/tuning.md).
//
// \param tuningKey the problem, the number of ranks and the device
// \param kind the operation of the matmul
// \param variant the name of a variant
// \param path the path of the file
#ifndef IRIS_CCL_MATMULSELECTOR_H
#define IRIS_CCL_MATMULSELECTOR_H

#include "iris/ccl/Matmul.h"
#include "iris/rt/Device.h"

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace iris::ccl {

/// The input of the selection. It must be equal on all ranks.
struct MatmulTuningKey {
  /// Fields that its config sets are kept.
  MatmulProblem problem;
  /// The number of ranks, and the kind of their devices.
  uint32_t groupSize = 1;
  rt::DeviceKind device = rt::DeviceKind::host;
  /// "sm_90a", "gfx942"; empty: the device kind's best-measured target.
  std::string target;
  /// The device's attributes (World::deviceAttributes); null: the first GPU of
  /// the target that has a cost model.
  const rt::DeviceAttributes *attributes = nullptr;
  /// The device has fewer hardware queues than usual. Variants that copy
  /// results by copy engine are then not selected: after a failure, a stream
  /// wait could block the work that ends it.
  bool hasFewQueues = false;
};

/// The estimated time of a matmul with a config.
struct MatmulEstimate {
  /// A complete config.
  MatmulConfig config;
  /// Microseconds in total, of the matmul alone, and of the communication
  /// alone. The total is less than the sum where the two overlap.
  double us = 0, matmulUs = 0, commUs = 0;
};

/// What a choice comes from.
enum class ChoiceSource : int32_t {
  /// The cost model.
  model = 0,
  /// A table entry for exactly this problem: IRIS_MATMUL_TABLE, or built in.
  table,
  builtInTable,
  /// A measurement on these devices.
  measured,
};

/// A selected config and the reason.
struct MatmulChoice {
  /// The problem's config, completed.
  MatmulConfig config;
  /// What it comes from.
  ChoiceSource source = ChoiceSource::model;
  /// Why it was selected, in one line.
  std::string reason;
};

/// A table entry: the best config of a tuned problem, and its time.
struct MatmulEntry {
  /// "sm_90a", "gfx942", and the number of ranks.
  std::string target;
  uint32_t groupSize = 1;
  /// The epilogue is ignored. The config's shard and partialType are compared.
  MatmulProblem problem;
  /// The best config, and its time in microseconds.
  MatmulConfig config;
  double us = 0;
};

/// Tuned matmuls: the built-in table, or the file named by IRIS_MATMUL_TABLE.
class MatmulTable {
public:
  /// \return the built-in table
  static const MatmulTable &builtIn();
  /// \return the table that the environment names, read once; empty if there is
  ///   none
  static const rt::Expected<MatmulTable> &fromEnvironment();
  /// Parses a table.
  /// \param text one JSON object per line
  /// \param name what messages call the text
  /// \return the table
  /// \retval invalidArgument a line is no entry; the message has its number
  static rt::Expected<MatmulTable> parse(const std::string &text,
                                         const std::string &name);
  /// Reads a regular file of this user that no other user can read or write.
  /// \return the table
  /// \retval invalidArgument the file cannot be read, or is no table
  /// \retval failedPrecondition other users can access the file
  static rt::Expected<MatmulTable> read(const std::string &path);

  /// \return the entry of exactly this problem; null if there is none
  const MatmulEntry *find(const MatmulTuningKey &tuningKey) const;
  /// Finds an entry that can serve: its config is possible on the device, and
  /// agrees with the fields that the problem's config sets.
  /// \return the entry; null if there is none
  const MatmulEntry *findPossible(const MatmulTuningKey &tuningKey) const;
  /// Adds an entry, or replaces that of the same problem.
  /// \param entry the entry
  void add(const MatmulEntry &entry);
  /// \return the entries as parse() reads them
  std::string text() const;
  /// Atomically replaces the file; its mode is 0600.
  /// \retval unavailable the file cannot be written
  rt::Status write(const std::string &path) const;
  /// \return the number of entries
  size_t size() const { return entries_.size(); }

private:
  std::vector<MatmulEntry> entries_;
};

/// \return the variants of a kind: "hbm_buffer", ..., "unfused"
const std::vector<std::string> &variantsOf(MatmulKind kind);

/// \return whether a variant has communication programs (num_fetch_programs)
bool hasCommPrograms(MatmulKind kind, const std::string &variant);
/// \return whether its communication programs move k-steps with a flag each
///   (k_per_flag, num_fetch_stages, first_stage_fetch_programs, staged_layout)
bool hasUnits(MatmulKind kind, const std::string &variant);

/// \return whether several programs may share the k-steps of a tile (split_k)
bool hasSplits(MatmulKind kind, const std::string &variant);

/// \return whether partial sums are added up in the result, whose type must
///   then be the accumulator's
bool addsInResult(MatmulKind kind, const std::string &variant);

/// \return the name of a kind: "all_gather_matmul"; "unknown" for an invalid
///   value
const char *kindName(MatmulKind kind);

/// Checks that the device has what the config's variant needs, such as copies
/// beside a kernel.
/// \retval failedPrecondition the device lacks it
rt::Status checkDevice(const MatmulTuningKey &tuningKey);

/// Completes the problem's config.
/// \return the config and the reason
/// \retval invalidArgument no possible config matches the problem's
rt::Expected<MatmulChoice> select(const MatmulTuningKey &tuningKey);

/// Estimates the times of all candidates; select() takes the first one if the
/// tables have no entry.
/// \return the candidates that match the problem's config, fastest first
std::vector<MatmulEstimate> estimates(const MatmulTuningKey &tuningKey);

/// Lists candidates for tuning.
/// \param most the maximum number of candidates
/// \return the best one of each variant, then others
std::vector<MatmulConfig> tuningCandidates(const MatmulTuningKey &tuningKey,
                                           size_t most);

/// Describes a config.
/// \param config the config
/// \return "hbm_buffer, tile 128x256x64, 8 warps, 132 programs, 16 fetch"
std::string describe(const MatmulConfig &config);

/// Finds out where the model's parameters for a target come from.
/// \param device the kind of device
/// \param target "sm_90a", "gfx942"; empty: that of the attributes
/// \param attributes the device's attributes; null: the first GPU of the target
///   that has a cost model
/// \return the source, in words
std::string matmulModelSource(rt::DeviceKind device, const std::string &target,
                              const rt::DeviceAttributes *attributes = nullptr);

/// Writes the .mlir modules of all kernels that a matmul with a complete config
/// uses, for packages for machines without a compiler.
/// \return the texts of the modules
std::vector<std::string> kernelSources(const MatmulTuningKey &tuningKey);

/// Computes the bytes of heap that the matmul holds on every rank, in addition
/// to the matrices.
/// \return the bytes
/// \retval invalidArgument no possible config matches the problem's
rt::Expected<uint64_t> sharedBytes(const MatmulTuningKey &tuningKey);

} // namespace iris::ccl
#pragma GCC visibility pop

#endif // IRIS_CCL_MATMULSELECTOR_H
