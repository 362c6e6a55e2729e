// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulRun.cpp - Measurement of a matmul on one rank ----------------===//
#include "MatmulData.h"
#include "Matmuls.h"

#include <algorithm>
#include <utility>

using namespace iris;
using namespace iris::bench;
using ccl::MatmulKind;
using ccl::MatmulProblem;
using rt::Expected;
using rt::Status;
using rt::StatusCode;

/// The largest error on any rank; fails if a result is wrong.
static Expected<double> checkResult(Measurement &m, const MatmulData &data,
                                    uint64_t c) {
  std::vector<uint8_t> result(data.resultBytes());
  IRISRT_RETURN_IF_ERROR(
      m.world().copyToHost(result.data(), c, result.size(), m.stream()));
  IRISRT_RETURN_IF_ERROR(m.world().synchronize(m.stream()));
  std::string where;
  double mine = data.worstError(result, where);
  IRISRT_ASSIGN_OR_RETURN(double worst, m.largest(mine));
  if (mine > 1 || mine != mine)
    return rt::makeStatus(StatusCode::internal,
                          "element %s on rank %u; its error is %.3g times the "
                          "bound for rounding",
                          where.c_str(), m.world().rank(), mine);
  if (worst > 1)
    return rt::makeStatus(StatusCode::internal,
                          "the result is wrong on another rank");
  return worst;
}

static double flopsOf(const MatmulData &data, const MatmulProblem &p) {
  bool gathersK =
      p.kind == MatmulKind::allGatherMatmul && p.config.shard == "k";
  bool gathersM =
      p.kind == MatmulKind::allGatherMatmul && p.config.shard == "m";
  auto rows = static_cast<double>(gathersM ? data.c.rows : data.a.rows);
  return 2 * rows * static_cast<double>(data.b.columns) *
         static_cast<double>(gathersK ? data.depth : p.k);
}

static Expected<MatmulTiming> measureOn(Measurement &m, ccl::Matmul &matmul,
                                        const MatmulCase &each,
                                        const MatmulData &data,
                                        const MatmulRun::Matrices &at) {
  auto pointer = [](uint64_t address) {
    return reinterpret_cast<void *>(address);
  };
  Measurement::Call call = [&] {
    return matmul.run(pointer(at.a), pointer(at.b), pointer(at.c), {},
                      m.stream());
  };
  MatmulTiming result;
  Measurement::Call check = [&]() -> Status {
    IRISRT_ASSIGN_OR_RETURN(double error, checkResult(m, data, at.c));
    result.error = std::max(result.error, error);
    return m.world().zero(at.c, data.resultBytes(), m.stream());
  };
  IRISRT_ASSIGN_OR_RETURN(double firstMs, m.first(call, check));
  IRISRT_ASSIGN_OR_RETURN(double ms, m.timeOne(call));
  IRISRT_ASSIGN_OR_RETURN(result.timing, m.time(each.mode, call, ms));
  IRISRT_RETURN_IF_ERROR(check());
  result.timing.firstMs = firstMs;
  result.tflops = flopsOf(data, each.problem) / result.timing.median / 1e6;
  return result;
}

//===----------------------------------------------------------------------===//
// MatmulRun
//===----------------------------------------------------------------------===//

/// a and b are created once for all cases of a group.
Status MatmulRun::prepare(const MatmulCase &each, const MatmulData &data) {
  if (group == each.group)
    return Status::success();
  IRISRT_RETURN_IF_ERROR(release());
  rt::World &world = measurement.world();
  std::vector<uint8_t> left = data.left(), right = data.right();
  IRISRT_ASSIGN_OR_RETURN(at.a, world.allocate(left.size()));
  IRISRT_ASSIGN_OR_RETURN(at.b, world.allocate(right.size()));
  IRISRT_ASSIGN_OR_RETURN(at.c, world.allocate(data.resultBytes()));
  rt::Stream stream = measurement.stream();
  IRISRT_RETURN_IF_ERROR(
      world.writeNow(at.a, left.data(), left.size(), stream));
  IRISRT_RETURN_IF_ERROR(
      world.writeNow(at.b, right.data(), right.size(), stream));
  group = each.group;
  return Status::success();
}

Status MatmulRun::release() {
  rt::World &world = measurement.world();
  for (uint64_t *address : {&at.c, &at.b, &at.a})
    if (*address != 0)
      IRISRT_RETURN_IF_ERROR(world.deallocate(std::exchange(*address, 0)));
  group.reset();
  // Makes the freed memory available.
  return world.sync();
}

Expected<MatmulTiming> MatmulRun::run(const MatmulCase &each) {
  IRISRT_RETURN_IF_ERROR(each.status);
  rt::World &world = measurement.world();
  MatmulData data(each.problem, world.rank(), world.numRanks());
  if (Status status = prepare(each, data); !status.ok()) {
    IRISRT_RETURN_IF_ERROR(release());
    return status;
  }
  IRISRT_RETURN_IF_ERROR(
      world.zero(at.c, data.resultBytes(), measurement.stream()));
  // Exactly this config, which the case names.
  ccl::MatmulTuning tuning;
  tuning.level = rt::TuneLevel::off;
  IRISRT_ASSIGN_OR_RETURN(
      std::unique_ptr<ccl::Matmul> matmul,
      ccl::Matmul::create(world, each.problem, nullptr, tuning));
  Expected<MatmulTiming> timing =
      measureOn(measurement, *matmul, each, data, at);
  IRISRT_RETURN_IF_ERROR(matmul->destroy());
  IRISRT_RETURN_IF_ERROR(world.sync());
  return timing;
}
