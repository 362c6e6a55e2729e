// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares BlasLtApi.h and its table with cuBLASLt's own header; compiled if it
// is installed. Everything is checked at compile time.
#include "DriverSignatures.h"
#include "backends/gpu/BlasLtApi.h"

#include <cublasLt.h>

using namespace iris::rt::gpu;

SAME(cublasLtDialect.computeF32, CUBLAS_COMPUTE_32F);
SAME(cublasLtDialect.computeStrictF32, CUBLAS_COMPUTE_32F_PEDANTIC);
SAME(cublasLtDialect.operationNone, CUBLAS_OP_N);
SAME(cublasLtDialect.operationTranspose, CUBLAS_OP_T);
SAME(cublasLtDialect.attributeTransposeA, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(cublasLtDialect.attributeTransposeB, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(cublasLtDialect.preferenceWorkspace,
     CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(cublasLtDialect.preferenceReduction,
     CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
SAME(cublasLtDialect.preferenceAlignmentA,
     CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(cublasLtDialect.preferenceAlignmentB,
     CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SAME(cublasLtDialect.preferenceAlignmentC,
     CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SAME(cublasLtDialect.preferenceAlignmentD,
     CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
SAME(cublasLtDialect.algorithmBytes, sizeof(cublasLtMatmulAlgo_t));
SAME(reductionInComputeType, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
SAME(blasF32, CUDA_R_32F);
SAME(blasF16, CUDA_R_16F);
SAME(blasBF16, CUDA_R_16BF);
SAME(BlasLtHeuristic::sizeOf(cublasLtDialect),
     sizeof(cublasLtMatmulHeuristicResult_t));
SAME(cublasLtDialect.algorithmBytes,
     offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
SAME(cublasLtDialect.algorithmBytes + sizeof(size_t),
     offsetof(cublasLtMatmulHeuristicResult_t, state));

#define IRISRT_BLASLT_API(member, cuda, hip, parameters)                       \
  CHECK_##member(parameters)
#define CHECK_create(p) CHECK(p, cublasLtCreate);
#define CHECK_destroy(p) CHECK(p, cublasLtDestroy);
#define CHECK_matmulCreate(p) CHECK(p, cublasLtMatmulDescCreate);
#define CHECK_matmulDestroy(p) CHECK(p, cublasLtMatmulDescDestroy);
#define CHECK_matmulSet(p) CHECK(p, cublasLtMatmulDescSetAttribute);
#define CHECK_layoutCreate(p) CHECK(p, cublasLtMatrixLayoutCreate);
#define CHECK_layoutDestroy(p) CHECK(p, cublasLtMatrixLayoutDestroy);
#define CHECK_preferenceCreate(p) CHECK(p, cublasLtMatmulPreferenceCreate);
#define CHECK_preferenceDestroy(p) CHECK(p, cublasLtMatmulPreferenceDestroy);
#define CHECK_preferenceSet(p) CHECK(p, cublasLtMatmulPreferenceSetAttribute);
#define CHECK_heuristic(p) CHECK(p, cublasLtMatmulAlgoGetHeuristic);
#define CHECK_run(p) CHECK(p, cublasLtMatmul);
namespace iris::rt::gpu {
#include "backends/gpu/BlasLtApiTable.inc"
} // namespace iris::rt::gpu
