// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reductions.cpp - Reductions of the caller --------------------------===//
#include "Api.h"
#include "Comm.h"
#include "Types.h"

#include <cstring>

using namespace iris::nccl;
using namespace iris::rt;

static Status create(ncclRedOp_t *op, void *scalar, ncclDataType_t type,
                     ncclScalarResidence_t residence, ncclComm_t handle) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<ncclComm> comm,
                          ncclComm::find(handle));
  IRISRT_RETURN_IF_ERROR(checkPointer(op, "op"));
  IRISRT_RETURN_IF_ERROR(checkPointer(scalar, "scalar"));
  IRISRT_RETURN_IF_ERROR(comm->checkUsable());
  IRISRT_ASSIGN_OR_RETURN(iris::ccl::DType dtype, typeOf(type));
  Factor factor;
  factor.dtype = dtype;
  if (residence == ncclScalarHostImmediate)
    std::memcpy(&factor.bits, scalar, iris::ccl::dtypeBytes(dtype));
  else if (residence == ncclScalarDevice)
    factor.address = reinterpret_cast<uint64_t>(scalar);
  else
    return makeStatus(StatusCode::invalidArgument,
                      "%d is no residence; expected ncclScalarDevice or "
                      "ncclScalarHostImmediate",
                      static_cast<int>(residence));
  IRISRT_ASSIGN_OR_RETURN(int number, comm->scaling.add(factor));
  *op = static_cast<ncclRedOp_t>(ncclNumOps + number);
  return Status::success();
}

ncclResult_t api::ncclRedOpCreatePreMulSum(ncclRedOp_t *op, void *scalar,
                                           ncclDataType_t type,
                                           ncclScalarResidence_t residence,
                                           ncclComm_t comm) {
  return finish("ncclRedOpCreatePreMulSum",
                create(op, scalar, type, residence, comm));
}

static Status destroy(ncclRedOp_t op, ncclComm_t handle) {
  IRISRT_ASSIGN_OR_RETURN(std::shared_ptr<ncclComm> comm,
                          ncclComm::find(handle));
  return comm->scaling.remove(static_cast<int>(op) - ncclNumOps);
}

ncclResult_t api::ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  return finish("ncclRedOpDestroy", destroy(op, comm));
}
