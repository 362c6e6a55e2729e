// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Types.h - NCCL's types and reductions in Iris' words -----*- C++ -*-===//
#ifndef IRIS_NCCL_TYPES_H
#define IRIS_NCCL_TYPES_H

#include "iris-nccl/nccl.h"
#include "iris/ccl/Types.h"
#include "iris/rt/Device.h"

namespace iris::nccl {

/// The element type of a value of the caller.
/// \retval invalidArgument it is no type
rt::Expected<ccl::DType> typeOf(ncclDataType_t type);

/// The built-in reduction of a value of the caller.
/// \retval invalidArgument it is none
rt::Expected<ccl::ReduceOp> reductionOf(ncclRedOp_t op);

} // namespace iris::nccl

#endif // IRIS_NCCL_TYPES_H
