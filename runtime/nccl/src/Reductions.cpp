// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reductions.cpp - Reductions of the caller --------------------------===//
#include "Api.h"
#include "Comm.h"

using namespace iris::nccl;
using namespace iris::rt;

ncclResult_t api::ncclRedOpCreatePreMulSum(ncclRedOp_t *, void *,
                                           ncclDataType_t,
                                           ncclScalarResidence_t,
                                           ncclComm_t handle) {
  Status status = ncclComm::find(handle).status();
  if (status.ok())
    status = Status(StatusCode::failedPrecondition,
                    "Iris does not serve sums with factors; scale the input "
                    "and use ncclSum");
  return finish("ncclRedOpCreatePreMulSum", status);
}

ncclResult_t api::ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t handle) {
  Status status = ncclComm::find(handle).status();
  if (status.ok())
    status = makeStatus(StatusCode::invalidArgument,
                        "%d is no reduction of ncclRedOpCreatePreMulSum",
                        static_cast<int>(op));
  return finish("ncclRedOpDestroy", status);
}
