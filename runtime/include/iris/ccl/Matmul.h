// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Matmul.h - Matmuls fused with communication --------------*- C++ -*-===//
//
// Matmuls, alone and fused with communication (docs/guides/fused-matmuls.md).
//
//   MatmulProblem problem;
//   problem.kind = MatmulKind::allGatherMatmul;
//   problem.m = 4096, problem.n = 3584, problem.k = 8192 / world->numRanks();
//   auto matmul = iris::ccl::Matmul::create(*world, problem);
//   (*matmul)->run(a, b, c, {}, stream);
//
// A Matmul is created for one problem.  It holds the compiled kernel and the
// workspace that the ranks share, for any number of calls.  All ranks of the
// world, at most 8, create the same matmuls in the same order and make the same
// calls.  Calls are stream-ordered: they return when the kernel is enqueued.
// Calls of one Matmul must be ordered on the device: use one stream, or order
// the streams by events.  A call neither allocates nor communicates on the
// host, so it can be captured.  One thread at a time uses a Matmul.
//
// Matrices are on the symmetric heap, at the same offset on all ranks.
//
// A failed world returns its error from every call.
//
// \param problem the operation, its sizes and types, and its config
// \retval invalidArgument a problem, config or buffer is not possible
// \retval failedPrecondition the device lacks what the variant needs, or the
//   matmul was destroyed
// \retval unavailable a kernel is in no package, and there is no compiler
// \retval aborted another rank failed or ended
// \retval deviceError the device of this rank failed
#ifndef IRIS_CCL_MATMUL_H
#define IRIS_CCL_MATMUL_H

#include "iris/ccl/KernelCache.h"
#include "iris/ccl/Types.h"
#include "iris/rt/World.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#pragma GCC visibility push(default)
namespace iris::ccl {

/// The operation; W is the number of ranks. The values are those of the C API.
enum class MatmulKind : int32_t {
  /// a (m x k), b (k x n), c (m x n), without communication.
  matmul = 0,
  /// shard "k": a (m x k) is a slice of columns, b is (W k x n), c (m x n).
  /// shard "m": a (m x k) is a slice of rows, b is (k x n), c (W m x n).
  allGatherMatmul,
  /// shard "m": a (m x k), b (k x n), c (W m x n): all ranks' rows.
  /// shard "n": a (m x k), b (k x n), c (m x W n): all ranks' columns.
  matmulAllGather,
  /// a (W m x k), b (k x n), c (m x n): this rank's rows of the sum.
  matmulReduceScatter,
  /// a (m x k), b (k x n), c (m x n): the sum.
  matmulAllReduce,
};

/// What is added to the result: elements of the type of c. The values are those
/// of the C API.
enum class Bias : int32_t {
  /// Nothing.
  none = 0,
  /// One element for each row of c.
  row,
  /// One element for each column of c.
  column,
};

/// The function that is applied to each element of the result, after the bias.
/// The values are those of the C API.
enum class Activation : int32_t { none = 0, relu, gelu };

/// The config; docs/guides/fused-matmuls.md explains the fields. Fields that
/// are empty or 0 are selected (iris/ccl/MatmulSelector.h), except `shard` and
/// `partialType`, which change the result and have the defaults of
/// docs/guides/fused-matmuls.md.
struct MatmulConfig {
  /// Variants are those of the kernels; "unfused": a matmul, then a collective;
  /// "copy_engine": DMA copies during the matmul.
  std::string variant, shard, stagedLayout, partialType;
  /// Elements of a tile of the result, and of a k-block.
  int64_t tileM = 0, tileN = 0, tileK = 0;
  /// Rows of tiles that are computed column by column, chiplets (XCDs) of the
  /// program remap, and warps of a program.
  int64_t groupM = 0, xcds = 0, warps = 0;
  /// The maximum number of programs of a launch.
  int64_t programs = 0;
  /// k-steps for each flag; communication programs, their stages, and those of
  /// the first stage; tiles for each communication program.
  int64_t kPerFlag = 0, numFetchPrograms = 0, numFetchStages = 0;
  int64_t firstStageFetchPrograms = 0, tilesPerCommProgram = 0;
  /// For matmuls without communication, and for "unfused".
  int64_t splitK = 0;
  /// For the same: "vendor" has cuBLASLt or hipBLASLt compute the matmul, which
  /// then has no bias or activation, and elements of f16, bf16 or f32. Chosen
  /// only where it is measured to be faster.
  std::string library;

  /// Whether all fields are equal.
  bool operator==(const MatmulConfig &other) const;
};

/// What a Matmul computes; the same on all ranks. m, n and k are the sizes of
/// one rank.
struct MatmulProblem {
  /// The operation.
  MatmulKind kind = MatmulKind::matmul;
  /// See MatmulKind; at least 1.
  uint64_t m = 0, n = 0, k = 0;
  /// The type of a and b: f16, bf16, f32, i8 or an fp8 type. The type of c:
  /// f16, bf16 or f32, or i32 for i8.
  DType element = DType::f16, result = DType::f16;
  /// Whether the columns of the matrix are contiguous.
  bool aIsColumnMajor = false, bIsColumnMajor = false;
  /// Whether the call passes a bias.
  Bias bias = Bias::none;
  /// The product is multiplied by a scalar argument of the call.
  bool hasScale = false;
  /// The function of the result's elements.
  Activation activation = Activation::none;
  /// How it is done; empty fields are selected.
  MatmulConfig config;
};

/// Further arguments of a call, ignored if the problem does not have them.
struct Epilogue {
  /// Elements of the type of c, in device memory.
  const void *bias = nullptr;
  /// The factor of MatmulProblem::hasScale.
  float scale = 1;
};

class TuningClock;

/// How the config's open fields are selected: by measuring candidates on the
/// device (docs/guides/tuning.md), or by the cost model. The same on all ranks.
struct MatmulTuning {
  /// How much is measured; default: IRIS_TUNE, else `quick` on CUDA and `off`
  /// elsewhere.
  std::optional<rt::TuneLevel> level;
  /// The maximum time of the measurement in milliseconds, without compilation;
  /// 0: 100 for `quick`, 2000 for `full`.
  double limitMs = 0;
  /// Replaces the clock; for tests.
  std::shared_ptr<TuningClock> clock;
};

/// Writes the .mlir module from which iris-compile generates the kernel.
/// \param groupSize the number of ranks
/// \return the module's text
std::string kernelSource(const MatmulProblem &problem, uint32_t groupSize);

/// A compiled matmul of one problem, and its workspace.
class Matmul {
public:
  /// Collective over the world. An error on one rank, also of its compiler, is
  /// returned on all ranks. A measurement waits for the work of all streams.
  /// \param world the world, which must outlive the Matmul
  /// \param cache the source of kernels; null: KernelCache::shared()
  /// \param tuning how open fields of the config are selected
  /// \return the matmul
  /// \retval outOfMemory the heap has no room for the workspace
  static rt::Expected<std::unique_ptr<Matmul>>
  create(rt::World &world, const MatmulProblem &problem,
         std::shared_ptr<KernelCache> cache = nullptr,
         const MatmulTuning &tuning = {});
  /// Without destroy(), the workspace stays allocated until the world ends.
  ~Matmul();
  Matmul(const Matmul &) = delete;
  Matmul &operator=(const Matmul &) = delete;

  /// Frees the workspace. Collective over the world.
  rt::Status destroy();

  /// Computes c = activation(scale * a * b + bias); MatmulKind has the shapes.
  /// \param a the left operand, on the heap
  /// \param b the right operand, on the heap
  /// \param c the result, on the heap
  /// \param epilogue the bias and the scale, if the problem has them
  /// \param stream the stream on which the kernels are enqueued
  rt::Status run(const void *a, const void *b, void *c,
                 const Epilogue &epilogue = {}, rt::Stream stream = {});

  /// \return bytes of heap that it holds on every rank, in addition to the
  ///   matrices
  uint64_t sharedBytes() const;

  /// \return the complete config, including selected fields
  const MatmulConfig &config() const;
  /// \return where the config comes from ("measured", "table" or "model"), the
  ///   config and the reason, in one line
  const std::string &explain() const;

private:
  struct __attribute__((visibility("hidden"))) Impl;
  explicit Matmul(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace iris::ccl
#pragma GCC visibility pop

#endif // IRIS_CCL_MATMUL_H
