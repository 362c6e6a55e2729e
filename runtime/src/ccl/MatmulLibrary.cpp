// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulLibrary.cpp - Matmuls of a vendor's library ------------------===//
#include "ccl/MatmulLibrary.h"

#include "ccl/Spec.h"

using namespace iris::ccl;
using namespace iris::rt;

Expected<std::unique_ptr<LibraryMatmul>>
iris::ccl::createLibraryMatmul(World &world, const MatmulProblem &p,
                               const MatmulPlan &plan) {
  const char *why = nullptr;
  if (p.kind != MatmulKind::matmul)
    why = "multiplies one matrix; expected one that is not gathered in parts "
          "(shard m, or a column-major a)";
  else if (sumType(p.element) != DType::f32 || dtypeBytes(p.element) < 2)
    why = "has no such elements; expected f16, bf16 or f32";
  else if (p.bias != Bias::none || p.activation != Activation::none)
    why = "has another epilogue than Iris; expected no bias or activation";
  if (why)
    return makeStatus(StatusCode::unavailable, "the vendor's library %s", why);
  LibraryMatmulSpec spec;
  spec.element = bufferElement(p.element);
  spec.result = bufferElement(p.result);
  spec.m = plan.c.rows;
  spec.n = plan.c.columns;
  spec.k = plan.a.columns;
  spec.aIsColumnMajor = p.aIsColumnMajor;
  spec.bIsColumnMajor = p.bIsColumnMajor;
  return WorldAccess::backend(world).createLibraryMatmul(spec);
}
