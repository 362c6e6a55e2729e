// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GpuLibraryMatmul.cpp - Matmuls of the vendor's library -------------===//
//
// The libraries multiply column-major matrices, so the transposed problem is
// solved: c^T = b^T a^T, where a row-major matrix is the transpose of a
// column-major one in the same memory.
#include "backends/gpu/BlasLtApi.h"
#include "backends/gpu/GpuBackend.h"

#include <array>

using namespace iris::rt;
using namespace iris::rt::gpu;

/// The most that an algorithm may ask for; what PyTorch gives on such GPUs.
static constexpr uint64_t maxWorkspaceBytes = 32 << 20;

/// Alignments of the matrices for which there is an algorithm, in bytes.
static constexpr uint32_t wideAlignment = 16;

static Expected<int> blasTypeOf(IrisRtElement element) {
  switch (element) {
  case IRISRT_ELT_F16:
    return blasF16;
  case IRISRT_ELT_BF16:
    return blasBF16;
  case IRISRT_ELT_F32:
    return blasF32;
  default:
    return makeStatus(StatusCode::unavailable,
                      "a library's matmul of elements of kind %d; expected "
                      "f16, bf16 or f32",
                      static_cast<int>(element));
  }
}

static uint32_t bytesOf(int blasType) { return blasType == blasF32 ? 4 : 2; }

namespace iris::rt::gpu {

/// One matmul: the library's objects, and an algorithm for each alignment.
class GpuLibraryMatmul final : public LibraryMatmul {
public:
  GpuLibraryMatmul(GpuBackend &backend, std::shared_ptr<const BlasLtApi> api)
      : backend(backend), api(std::move(api)) {}
  ~GpuLibraryMatmul() override;

  Status open(const LibraryMatmulSpec &spec);
  Status run(StreamHandle stream, uint64_t a, uint64_t b, uint64_t c,
             float scale) override;
  const char *name() const override { return api->dialect.name; }

private:
  Status describe(const LibraryMatmulSpec &spec);
  Expected<BlasLtHeuristic> chooseFor(uint32_t alignment);

  GpuBackend &backend;
  const std::shared_ptr<const BlasLtApi> api;
  BlasLtObject handle = nullptr, matmul = nullptr;
  /// Of the operands in the library's order, b and a, and of c.
  std::array<BlasLtObject, 3> layouts = {};
  uint32_t elementBytes = 2, resultBytes = 2;
  BlasLtHeuristic wide, narrow;
  uint64_t workspace = 0, workspaceBytes = 0;
};

} // namespace iris::rt::gpu

Status GpuLibraryMatmul::describe(const LibraryMatmulSpec &spec) {
  const BlasLtDialect &dialect = api->dialect;
  IRISRT_ASSIGN_OR_RETURN(int element, blasTypeOf(spec.element));
  IRISRT_ASSIGN_OR_RETURN(int result, blasTypeOf(spec.result));
  elementBytes = bytesOf(element);
  resultBytes = bytesOf(result);
  int compute =
      element == blasF32 ? dialect.computeStrictF32 : dialect.computeF32;
  IRISRT_RETURN_IF_ERROR(
      api->check(api->matmulCreate(&matmul, compute, blasF32),
                 "describe a matmul with sums of f32"));
  auto transpose = [&](int attribute, bool isTransposed) {
    int32_t operation =
        isTransposed ? dialect.operationTranspose : dialect.operationNone;
    return api->check(
        api->matmulSet(matmul, attribute, &operation, sizeof(operation)),
        "transpose an operand");
  };
  IRISRT_RETURN_IF_ERROR(
      transpose(dialect.attributeTransposeA, spec.bIsColumnMajor));
  IRISRT_RETURN_IF_ERROR(
      transpose(dialect.attributeTransposeB, spec.aIsColumnMajor));
  auto layout = [&](BlasLtObject &object, int type, uint64_t rows,
                    uint64_t columns) {
    return api->check(api->layoutCreate(&object, type, rows, columns,
                                        static_cast<int64_t>(rows)),
                      "describe a matrix");
  };
  // A row-major matrix is its transpose, column by column.
  auto operand = [&](BlasLtObject &object, uint64_t rows, uint64_t columns,
                     bool isColumnMajor) {
    return isColumnMajor ? layout(object, element, rows, columns)
                         : layout(object, element, columns, rows);
  };
  IRISRT_RETURN_IF_ERROR(
      operand(layouts[0], spec.k, spec.n, spec.bIsColumnMajor));
  IRISRT_RETURN_IF_ERROR(
      operand(layouts[1], spec.m, spec.k, spec.aIsColumnMajor));
  return layout(layouts[2], result, spec.n, spec.m);
}

/// The library's first choice for matrices of this alignment.
Expected<BlasLtHeuristic> GpuLibraryMatmul::chooseFor(uint32_t alignment) {
  const BlasLtDialect &dialect = api->dialect;
  BlasLtObject preference = nullptr;
  IRISRT_RETURN_IF_ERROR(
      api->check(api->preferenceCreate(&preference), "create a preference"));
  int status = 0;
  auto set = [&](int attribute, const auto &value) {
    if (status == 0 && attribute >= 0)
      status = api->preferenceSet(preference, attribute, &value, sizeof(value));
  };
  set(dialect.preferenceWorkspace, maxWorkspaceBytes);
  set(dialect.preferenceReduction, reductionInComputeType);
  for (int attribute :
       {dialect.preferenceAlignmentA, dialect.preferenceAlignmentB,
        dialect.preferenceAlignmentC, dialect.preferenceAlignmentD})
    set(attribute, alignment);
  BlasLtHeuristic found;
  int count = 0;
  if (status == 0)
    status =
        api->heuristic(handle, matmul, layouts[0], layouts[1], layouts[2],
                       layouts[2], preference, /*requested=*/1, &found, &count);
  (void)api->preferenceDestroy(preference);
  if (status != 0 || count < 1 || found.status(dialect) != 0)
    return makeStatus(StatusCode::unavailable,
                      "%s has no algorithm for this matmul (status %d)",
                      dialect.name, status);
  if (found.workspaceBytes(dialect) > maxWorkspaceBytes)
    return makeStatus(StatusCode::internal,
                      "%s chose an algorithm with a workspace of %zu bytes; "
                      "expected at most %llu",
                      dialect.name, found.workspaceBytes(dialect),
                      static_cast<unsigned long long>(maxWorkspaceBytes));
  return found;
}

Status GpuLibraryMatmul::open(const LibraryMatmulSpec &spec) {
  {
    const DeviceBinding bound = backend.bind();
    IRISRT_RETURN_IF_ERROR(bound.status());
    IRISRT_RETURN_IF_ERROR(
        api->check(api->create(&handle), "start on this device"));
    IRISRT_RETURN_IF_ERROR(api->checkVersion(handle));
    IRISRT_RETURN_IF_ERROR(describe(spec));
    IRISRT_ASSIGN_OR_RETURN(wide, chooseFor(wideAlignment));
    IRISRT_ASSIGN_OR_RETURN(narrow,
                            chooseFor(std::min(elementBytes, resultBytes)));
  }
  workspaceBytes = std::max(wide.workspaceBytes(api->dialect),
                            narrow.workspaceBytes(api->dialect));
  if (workspaceBytes != 0) {
    IRISRT_ASSIGN_OR_RETURN(workspace, backend.allocate(workspaceBytes));
  }
  return Status::success();
}

Status GpuLibraryMatmul::run(StreamHandle stream, uint64_t a, uint64_t b,
                             uint64_t c, float scale) {
  IRISRT_RETURN_IF_ERROR(backend.checkStream(stream));
  const DeviceBinding bound = backend.bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  const BlasLtHeuristic &choice =
      ((a | b | c) % wideAlignment == 0) ? wide : narrow;
  const float zero = 0;
  void *result = toPointer(c);
  return api->check(api->run(handle, matmul, &scale, toPointer(b), layouts[0],
                             toPointer(a), layouts[1], &zero, result,
                             layouts[2], result, layouts[2], choice.algorithm(),
                             toPointer(workspace), workspaceBytes,
                             backend.driverStream(stream)),
                    "enqueue a matmul");
}

GpuLibraryMatmul::~GpuLibraryMatmul() {
  {
    const DeviceBinding bound = backend.bind();
    for (BlasLtObject layout : layouts)
      if (layout)
        (void)api->layoutDestroy(layout);
    if (matmul)
      (void)api->matmulDestroy(matmul);
    if (handle)
      (void)api->destroy(handle);
  }
  if (workspace != 0)
    backend.free(workspace).ignore("a destructor cannot return an error");
}

Expected<std::unique_ptr<LibraryMatmul>>
GpuBackend::createLibraryMatmul(const LibraryMatmulSpec &spec) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<const BlasLtApi> api,
                          loadBlasLtApi(options_.kind, options_.matmulLibrary));
  auto matmul = std::make_unique<GpuLibraryMatmul>(*this, std::move(api));
  IRISRT_RETURN_IF_ERROR(matmul->open(spec));
  return std::unique_ptr<LibraryMatmul>(std::move(matmul));
}
