// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BlasLtApi.h - Function table of cuBLASLt or hipBLASLt ----*- C++ -*-===//
//
// The functions of the vendors' matmul libraries, resolved with dlopen and
// dlsym. Both have the same functions with the same parameters; constants and
// the size of an algorithm differ.
#ifndef IRIS_RT_BACKENDS_GPU_BLASLTAPI_H
#define IRIS_RT_BACKENDS_GPU_BLASLTAPI_H

#include "iris/rt/Device.h"
#include "iris/rt/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace iris::rt::gpu {

/// Opaque objects: handle, descriptor of a matmul, layout, preference.
using BlasLtObject = void *;

/// Differing constants of the two libraries.
struct BlasLtDialect {
  /// "cuBLASLt".
  const char *name;
  /// Versions of which the constants and layouts are known: from the first one
  /// to before the second one.
  int firstVersion, endVersion;
  /// Sums in f32, and the same without faster arithmetic for operands of f32.
  int computeF32, computeStrictF32;
  /// Operations on an operand: none, transposition.
  int operationNone, operationTranspose;
  /// Attributes of a matmul.
  int attributeTransposeA, attributeTransposeB;
  /// Attributes of a preference. -1: there is none.
  int preferenceWorkspace, preferenceReduction;
  int preferenceAlignmentA, preferenceAlignmentB, preferenceAlignmentC,
      preferenceAlignmentD;
  /// Bytes of an algorithm, with which the result of a heuristic starts.
  size_t algorithmBytes;
};

/// cudaDataType_t and hipDataType, which have the same numbers.
constexpr int blasF32 = 0, blasF16 = 2, blasBF16 = 14;
/// cublasLtReductionScheme_t: partial sums stay in the type of the sum. An
/// algorithm without partial sums is always allowed.
constexpr uint32_t reductionInComputeType = 2;

constexpr BlasLtDialect cublasLtDialect = {
    /*name=*/"cuBLASLt",
    /*firstVersion=*/110300,
    /*endVersion=*/140000,
    /*computeF32=*/68,
    /*computeStrictF32=*/69,
    /*operationNone=*/0,
    /*operationTranspose=*/1,
    /*attributeTransposeA=*/3,
    /*attributeTransposeB=*/4,
    /*preferenceWorkspace=*/1,
    /*preferenceReduction=*/3,
    /*preferenceAlignmentA=*/5,
    /*preferenceAlignmentB=*/6,
    /*preferenceAlignmentC=*/7,
    /*preferenceAlignmentD=*/8,
    /*algorithmBytes=*/64,
};

constexpr BlasLtDialect hipblasLtDialect = {
    /*name=*/"hipBLASLt",
    // 0.10, of ROCm 6.3, to before 2.0.
    /*firstVersion=*/1000,
    /*endVersion=*/200000,
    /*computeF32=*/2,
    /*computeStrictF32=*/2,
    /*operationNone=*/111,
    /*operationTranspose=*/112,
    /*attributeTransposeA=*/0,
    /*attributeTransposeB=*/1,
    /*preferenceWorkspace=*/1,
    /*preferenceReduction=*/-1,
    /*preferenceAlignmentA=*/-1,
    /*preferenceAlignmentB=*/-1,
    /*preferenceAlignmentC=*/-1,
    /*preferenceAlignmentD=*/-1,
    /*algorithmBytes=*/24,
};

/// The result of a heuristic, whose layout follows from algorithmBytes: the
/// algorithm, size_t workspaceBytes, int status, float waves, int reserved[4].
struct BlasLtHeuristic {
  unsigned char bytes[64 + 32] = {};

  static constexpr size_t sizeOf(const BlasLtDialect &dialect) {
    return dialect.algorithmBytes + 32;
  }
  const void *algorithm() const { return bytes; }
  size_t workspaceBytes(const BlasLtDialect &dialect) const;
  int status(const BlasLtDialect &dialect) const;
};

/// The functions of one library, which is never closed. All of them return 0
/// for success.
struct BlasLtApi {
  BlasLtDialect dialect = cublasLtDialect;
  /// The file name of the library, for messages.
  std::string library;

#define IRISRT_BLASLT_API(member, cuda, hip, parameters)                       \
  int(*member) parameters = nullptr;
#include "backends/gpu/BlasLtApiTable.inc"
#undef IRISRT_BLASLT_API

  // Functions whose signatures differ between the two libraries.
  size_t (*cublasVersion)() = nullptr;
  int (*hipblasVersion)(BlasLtObject handle, int *version) = nullptr;

  /// "cuBLASLt cannot <what>: status 15", or success.
  Status check(int status, const char *what) const;
  /// Fails for a version whose constants and layouts are not known.
  Status checkVersion(BlasLtObject handle) const;
};

/// Opens the library of a kind of device, or `path` if not empty. `unavailable`
/// if there is none.
Expected<std::shared_ptr<const BlasLtApi>>
loadBlasLtApi(DeviceKind kind, const std::string &path);

} // namespace iris::rt::gpu

#endif // IRIS_RT_BACKENDS_GPU_BLASLTAPI_H
