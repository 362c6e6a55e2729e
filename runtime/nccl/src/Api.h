// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Api.h - Iris' implementation of NCCL's functions ---------*- C++ -*-===//
//
// The functions of iris-nccl/functions.inc and device_functions.inc.
// Exports.cpp exports them by their C names, or the real library's in their
// place.
#ifndef IRIS_NCCL_API_H
#define IRIS_NCCL_API_H

#include "iris-nccl/nccl.h"
#include "iris-nccl/nccl_device.h"

namespace iris::nccl::api {

#define IRIS_NCCL_FUNCTION(name, parameters, arguments)                        \
  ncclResult_t name parameters;
#include "iris-nccl/functions.inc"
#undef IRIS_NCCL_FUNCTION

#define IRIS_NCCL_DEVICE_FUNCTION(result, name, parameters, arguments)         \
  result name parameters;
#include "iris-nccl/device_functions.inc"
#undef IRIS_NCCL_DEVICE_FUNCTION

} // namespace iris::nccl::api

#endif // IRIS_NCCL_API_H
