// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Types.cpp - NCCL's types and reductions in Iris' words -------------===//
#include "Types.h"

using namespace iris::ccl;
using namespace iris::nccl;
using namespace iris::rt;

Expected<DType> iris::nccl::typeOf(ncclDataType_t type) {
  switch (type) {
  case ncclInt8:
    return DType::i8;
  case ncclUint8:
    return DType::u8;
  case ncclInt32:
    return DType::i32;
  case ncclUint32:
    return DType::u32;
  case ncclInt64:
    return DType::i64;
  case ncclUint64:
    return DType::u64;
  case ncclFloat16:
    return DType::f16;
  case ncclFloat32:
    return DType::f32;
  case ncclFloat64:
    return DType::f64;
  case ncclBfloat16:
    return DType::bf16;
  case ncclFloat8e4m3:
    return DType::f8e4m3fn;
  case ncclFloat8e5m2:
    return DType::f8e5m2;
  case ncclNumTypes:
    break;
  }
  return makeStatus(StatusCode::invalidArgument,
                    "%d is no element type; expected 0 to %d",
                    static_cast<int>(type), ncclNumTypes - 1);
}

Expected<ReduceOp> iris::nccl::reductionOf(ncclRedOp_t op) {
  switch (op) {
  case ncclSum:
    return ReduceOp::sum;
  case ncclProd:
    return ReduceOp::prod;
  case ncclMax:
    return ReduceOp::max;
  case ncclMin:
    return ReduceOp::min;
  case ncclAvg:
    return ReduceOp::avg;
  default:
    break;
  }
  return makeStatus(StatusCode::invalidArgument,
                    "%d is no reduction; expected 0 to %d, or one of "
                    "ncclRedOpCreatePreMulSum that was not destroyed",
                    static_cast<int>(op), ncclNumOps - 1);
}

std::vector<DType> iris::nccl::allTypes() {
  std::vector<DType> all;
  for (int type = 0; type < ncclNumTypes; ++type)
    all.push_back(*typeOf(static_cast<ncclDataType_t>(type)));
  return all;
}

std::vector<ReduceOp> iris::nccl::allReductions() {
  std::vector<ReduceOp> all;
  for (int op = 0; op < ncclNumOps; ++op)
    all.push_back(*reductionOf(static_cast<ncclRedOp_t>(op)));
  return all;
}

std::vector<Op> iris::nccl::allOps() {
  std::vector<Op> all;
  for (const plan::Collective &each : plan::collectives)
    if (each.hasBuffers() && !each.hasCounts())
      all.push_back(static_cast<Op>(each.kind));
  return all;
}

Status iris::nccl::checkReduces(DType dtype, DeviceKind device) {
  if (device != DeviceKind::hip ||
      (dtype != DType::f8e4m3fn && dtype != DType::f8e5m2))
    return Status::success();
  return Status(StatusCode::failedPrecondition,
                "reductions of f8 elements on AMD's GPUs are not served; "
                "expected f16, bf16 or f32");
}
