// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NcclLibrary.h - A library with NCCL's API ----------------*- C++ -*-===//
#ifndef IRIS_RT_INTERNODE_NCCLLIBRARY_H
#define IRIS_RT_INTERNODE_NCCLLIBRARY_H

#include "iris-nccl/nccl_device.h"
#include "iris/rt/Status.h"

#include <string>

namespace iris::rt {

/// The functions of NCCL, RCCL or libiris_nccl; null where the library has
/// none.
struct NcclLibrary {
#define IRIS_NCCL_FUNCTION(name, parameters, arguments)                        \
  ncclResult_t(*name) parameters = nullptr;
#include "iris-nccl/functions.inc"
#include "iris-nccl/rccl_functions.inc"
#undef IRIS_NCCL_FUNCTION
#define IRIS_NCCL_DEVICE_FUNCTION(result, name, parameters, arguments)         \
  result(*name) parameters = nullptr;
#include "iris-nccl/device_functions.inc"
#undef IRIS_NCCL_DEVICE_FUNCTION
  const char *(*ncclGetLastError)(ncclComm_t comm) = nullptr;
  /// Of libiris_nccl alone: makes the id of a communicator on one node.
  ncclResult_t (*irisNcclGetLocalUniqueId)(ncclUniqueId *id) = nullptr;

  /// Opens a library. It stays open until the process ends: it may have
  /// threads.
  /// \param what names the library in messages: "IRIS_NCCL_LIBRARY"
  /// \param path the file, or a name for the system to find
  /// \retval unavailable the library cannot be opened, or lacks functions that
  ///   every version since 2.14 has
  static Expected<NcclLibrary> open(const char *what, const std::string &path);
  /// Whether a library that can be opened has NCCL's functions.
  static bool isNccl(const std::string &path);

  /// libiris_nccl, in place of NCCL or RCCL.
  bool isIris() const { return irisNcclGetLocalUniqueId != nullptr; }
};

} // namespace iris::rt

#endif // IRIS_RT_INTERNODE_NCCLLIBRARY_H
