// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Types.h - NCCL's types and reductions in Iris' words -----*- C++ -*-===//
#ifndef IRIS_NCCL_TYPES_H
#define IRIS_NCCL_TYPES_H

#include "iris-nccl/nccl.h"
#include "iris/ccl/Types.h"
#include "iris/rt/Device.h"

#include <vector>

namespace iris::nccl {

/// The element type of a value of the caller.
/// \retval invalidArgument it is no type
rt::Expected<ccl::DType> typeOf(ncclDataType_t type);

/// The built-in reduction of a value of the caller.
/// \retval invalidArgument it is none
rt::Expected<ccl::ReduceOp> reductionOf(ncclRedOp_t op);

/// All of those that NCCL has.
std::vector<ccl::DType> allTypes();
std::vector<ccl::ReduceOp> allReductions();
/// The operations of NCCL: those of Iris with buffers and without counts.
std::vector<ccl::Op> allOps();

/// Checks that a device reduces elements of a type. AMD's GPUs differ in what
/// an f8 number is, and NCCL's types do not tell.
rt::Status checkReduces(ccl::DType dtype, rt::DeviceKind device);

} // namespace iris::nccl

#endif // IRIS_NCCL_TYPES_H
