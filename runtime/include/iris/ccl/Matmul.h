// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matmuls of matrices, alone and fused with communication (docs/fused.md).
//
//   MatmulProblem problem;
//   problem.kind = MatmulKind::allGatherMatmul;
//   problem.m = 4096, problem.n = 3584, problem.k = 8192 / world->numRanks();
//   auto matmul = iris::ccl::Matmul::create(*world, problem);
//   (*matmul)->run(a, b, c, {}, stream);
//
// A Matmul is made for one problem: it holds the compiled kernel, and the
// memory that ranks share while it runs, which serves any number of calls.  All
// ranks of the world, at most 8, make the same ones in the same order and call
// them alike. Calls are stream-ordered: they return when the kernel is
// enqueued.  Calls of one Matmul must be ordered on the device: put them on one
// stream, or order the streams by events.  Nothing in a call allocates or talks
// to other ranks, so it can be captured.  One thread at a time uses a Matmul.
//
// Matrices lie on the symmetric heap, at the same place on all ranks.
#ifndef IRIS_CCL_MATMUL_H
#define IRIS_CCL_MATMUL_H

#include "iris/ccl/KernelCache.h"
#include "iris/ccl/Types.h"
#include "iris/rt/World.h"

#include <cstdint>
#include <memory>
#include <string>

#pragma GCC visibility push(default)
namespace iris::ccl {

/// What is done; W is the number of ranks.  The values are those of the C API.
enum class MatmulKind : int32_t {
  /// a (m x k), b (k x n), c (m x n), every rank for itself.
  matmul = 0,
  /// shard "k": a (m x k) has columns of the whole, b is (W k x n), c (m x n).
  /// shard "m": a (m x k) has rows of the whole, b is (k x n), c (W m x n).
  allGatherMatmul,
  /// shard "m": a (m x k), b (k x n), c (W m x n): all ranks' rows.
  /// shard "n": a (m x k), b (k x n), c (m x W n): all ranks' columns.
  matmulAllGather,
  /// a (W m x k), b (k x n), c (m x n): the own rows of the sum.
  matmulReduceScatter,
  /// a (m x k), b (k x n), c (m x n): the sum.
  matmulAllReduce,
};

enum class Bias : int32_t {
  none = 0,
  /// One number for each row of c, or for each column, of the type of c.
  row,
  column
};
enum class Activation : int32_t { none = 0, relu, gelu };

/// How it is done; docs/fused.md explains the fields.  What is empty or 0 is
/// chosen (iris/ccl/MatmulSelector.h), but for `shard` and `share`, which say
/// what is computed and have the defaults of docs/fused.md.
struct MatmulConfig {
  /// A kernel's; "unfused": a matmul and a collective, one after the other; or
  /// "copy_engine": copies beside a matmul.
  std::string variant, shard, stagedLayout, partialType;
  int64_t tileM = 0, tileN = 0, tileK = 0;
  int64_t groupM = 0, xcds = 0, warps = 0;
  /// Most programs of a launch.
  int64_t programs = 0;
  int64_t kPerFlag = 0, numFetchPrograms = 0, numFetchStages = 0;
  int64_t firstStageFetchPrograms = 0, tilesPerCommProgram = 0;
  /// Of a matmul without communication, and of "unfused".
  int64_t splitK = 0;

  bool operator==(const MatmulConfig &other) const;
};

struct MatmulProblem {
  MatmulKind kind = MatmulKind::matmul;
  /// See MatmulKind; at least 1.
  uint64_t m = 0, n = 0, k = 0;
  /// Of a and b: f16, bf16, f32, i8 or an fp8 type.  Of c: f16, bf16 or f32,
  /// and i32 for i8.
  DType element = DType::f16, result = DType::f16;
  /// Columns, not rows, follow each other.
  bool aIsColumnMajor = false, bIsColumnMajor = false;
  Bias bias = Bias::none;
  /// Matmuls are multiplied by a number that the call passes.
  bool hasScale = false;
  Activation activation = Activation::none;
  MatmulConfig config;
};

/// What else a call passes, as far as the problem asks for it.
struct Epilogue {
  const void *bias = nullptr;
  float scale = 1;
};

/// The .mlir module that makes iris-compile generate the kernel, for groups of
/// that size.
std::string kernelSource(const MatmulProblem &problem, uint32_t groupSize);

class Matmul {
public:
  /// Collective over the world.  What is wrong on one rank, also what its
  /// compiler says, is returned by all.  The world must outlive the Matmul.
  static rt::Expected<std::unique_ptr<Matmul>>
  create(rt::World &world, const MatmulProblem &problem,
         std::shared_ptr<KernelCache> cache = nullptr);
  /// Leaves the shared memory to the world if destroy() was not called.
  ~Matmul();
  Matmul(const Matmul &) = delete;
  Matmul &operator=(const Matmul &) = delete;

  /// Frees the shared memory.  Collective over the world.
  rt::Status destroy();

  /// c = activation(scale * matmul + bias).
  rt::Status run(const void *a, const void *b, void *c,
                 const Epilogue &epilogue = {}, rt::Stream stream = {});

  /// Bytes of heap that it holds on every rank, beside the matrices.
  uint64_t sharedBytes() const;

  /// The config with what was chosen filled in.
  const MatmulConfig &config() const;
  /// What was chosen and why, in a line.
  const std::string &explain() const;

private:
  struct __attribute__((visibility("hidden"))) Impl;
  explicit Matmul(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace iris::ccl
#pragma GCC visibility pop

#endif // IRIS_CCL_MATMUL_H
