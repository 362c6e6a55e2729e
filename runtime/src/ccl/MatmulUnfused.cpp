// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulUnfused.cpp - A matmul and a separate collective -------------===//
#include "ccl/MatmulUnfused.h"

#include "ccl/MatmulPlan.h"

using namespace iris::ccl;
using namespace iris::rt;

static Status refuse(const MatmulProblem &p, const char *why) {
  return makeStatus(StatusCode::invalidArgument, "%s: variant unfused %s",
                    kindName(p.kind), why);
}

/// The local matmul of one rank, without communication.
static MatmulProblem localMatmul(const MatmulProblem &p) {
  MatmulProblem matmul = p;
  MatmulConfig &config = matmul.config;
  matmul.kind = MatmulKind::matmul;
  config.variant = "tiles";
  config.shard = config.partialType = config.stagedLayout = "";
  config.kPerFlag = config.numFetchPrograms = config.numFetchStages =
      config.firstStageFetchPrograms = config.tilesPerCommProgram = 0;
  return matmul;
}

/// The all-gather concatenates the shards by rows. Shards of columns form one
/// matrix only if a is column-major.
static Status planGather(const MatmulProblem &p, uint32_t size,
                         UnfusedPlan &plan) {
  bool isK = p.config.shard == "k";
  if (!isK && p.aIsColumnMajor)
    return refuse(p, "copies a in its memory layout; expected row-major a with "
                     "shard m");
  plan.collectiveFirst = true;
  plan.op = Op::allGather;
  plan.dtype = p.element;
  plan.count = p.m * p.k;
  plan.stagingBytes = size * plan.count * dtypeBytes(p.element);
  if (!isK) {
    plan.matmul.m *= size;
  } else if (p.aIsColumnMajor) {
    plan.matmul.k *= size;
  } else {
    plan.matmul.kind = MatmulKind::allGatherMatmul;
    if (p.config.splitK > 1)
      return refuse(p, "has no split_k with shard k and row-major a; expected "
                       "split_k 0 or 1");
    plan.matmul.config.splitK = 0;
    plan.matmul.config.variant = "gathered";
    plan.matmul.config.shard = "k";
  }
  return Status::success();
}

static Status planSum(const MatmulProblem &p, uint32_t size,
                      UnfusedPlan &plan) {
  if (p.result != sumType(p.element) && sumType(p.element) == DType::i32)
    return refuse(p, "rounds every partial sum to the type of the result; "
                     "expected i32 for sums of integers");
  if (p.config.partialType != "result" && p.result != sumType(p.element))
    return refuse(p, "rounds every partial sum to the type of the result; "
                     "expected partial_type = \"result\"");
  if (p.bias != Bias::none || p.hasScale || p.activation != Activation::none)
    return refuse(p, "reduces the results of the ranks; expected no bias, "
                     "scale or activation, which apply to the final sum");
  bool scatters = p.kind == MatmulKind::matmulReduceScatter;
  plan.op = scatters ? Op::reduceScatter : Op::allReduce;
  plan.dtype = p.result;
  plan.count = p.m * p.n;
  if (scatters)
    plan.matmul.m *= size;
  plan.stagingBytes = plan.matmul.m * p.n * dtypeBytes(p.result);
  return Status::success();
}

Expected<UnfusedPlan> iris::ccl::planUnfused(const MatmulProblem &p,
                                             const MatmulTuningKey &key) {
  const uint32_t groupSize = key.groupSize;
  UnfusedPlan plan;
  plan.matmul = localMatmul(p);
  Status status;
  switch (p.kind) {
  case MatmulKind::allGatherMatmul:
    status = planGather(p, groupSize, plan);
    break;
  case MatmulKind::matmulAllGather:
    if (p.config.shard == "n")
      status = refuse(p, "gathers whole rows; expected shard m");
    plan.op = Op::allGather;
    plan.dtype = p.result;
    plan.count = p.m * p.n;
    break;
  case MatmulKind::matmulReduceScatter:
  case MatmulKind::matmulAllReduce:
    status = planSum(p, groupSize, plan);
    break;
  default:
    status = refuse(p, "needs a collective; expected variant tiles");
  }
  IRISRT_RETURN_IF_ERROR(status);
  TuningKey tuningKey;
  tuningKey.op = plan.op;
  tuningKey.dtype = plan.dtype;
  tuningKey.bytes = plan.count * dtypeBytes(plan.dtype);
  tuningKey.groupSize = groupSize;
  tuningKey.device = key.device;
  tuningKey.attributes = key.attributes;
  // The largest power of two that divides the size: every buffer and chunk can
  // have this alignment.
  tuningKey.alignment = tuningKey.bytes & (~tuningKey.bytes + 1);
  tuningKey.inPlace = plan.stagingBytes == 0;
  Estimate best = estimates(tuningKey).front();
  plan.collective = best.config;
  plan.collectiveUs = best.us;
  return plan;
}
