// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulForm.cpp - Tiles and memory of a matmul kernel ---------------===//

#include "iris/Plan/MatmulForm.h"

using namespace irisplan;

MatmulMatrices irisplan::getMatrices(const MatmulForm &form, int64_t m,
                                     int64_t n, int64_t k, int64_t size) {
  MatmulMatrices all = {{m, k}, {k, n}, {m, n}};
  if (form.has(takesGathered))
    all.a.rows *= size;
  switch (form.kind) {
  case MatmulKind::Matmul:
  case MatmulKind::MatmulAllReduce:
    break;
  case MatmulKind::AllGatherMatmul:
    (form.shard == "k" ? all.b.rows : all.c.rows) *= size;
    break;
  case MatmulKind::MatmulAllGather:
    (form.shard == "m" ? all.c.rows : all.c.columns) *= size;
    break;
  case MatmulKind::MatmulReduceScatter:
    all.a.rows *= size;
    break;
  }
  return all;
}
