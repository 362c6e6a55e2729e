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
#include "iris-nccl/rccl_functions.inc"
#undef IRIS_NCCL_FUNCTION

#define IRIS_NCCL_DEVICE_FUNCTION(result, name, parameters, arguments)         \
  result name parameters;
#include "iris-nccl/device_functions.inc"
#undef IRIS_NCCL_DEVICE_FUNCTION

/// Makes the id of a communicator whose ranks are on one node, whatever
/// IRIS_NODE_ADDRESS says. libiris_rt knows this library by the function
/// (internode/NcclLibrary.h), and takes it for ranks on the host as an engine
/// between nodes, which must not have nodes of its own.
ncclResult_t getLocalUniqueId(ncclUniqueId *id);

} // namespace iris::nccl::api

#endif // IRIS_NCCL_API_H
