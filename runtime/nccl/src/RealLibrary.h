// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RealLibrary.h - NCCL or RCCL behind this library ---------*- C++ -*-===//
//
// IRIS_NCCL_LIBRARY names a library with the same functions. It serves what
// Iris does not: communicators of more ranks than Iris takes, or, with
// IRIS_NCCL=off, everything.
#ifndef IRIS_NCCL_REALLIBRARY_H
#define IRIS_NCCL_REALLIBRARY_H

#include "internode/NcclLibrary.h"

#include <string>

namespace iris::nccl {

/// The functions of the real library.
class RealLibrary : public rt::NcclLibrary {
public:
  /// The library of IRIS_NCCL_LIBRARY, opened at the first call.
  /// \return the library; null if the variable names none
  /// \retval unavailable the library cannot be opened, or lacks functions that
  ///   every version since 2.14 has
  static rt::Expected<const RealLibrary *> find();
  /// Whether every call goes to the real library (IRIS_NCCL=off).
  static bool servesAll();
  /// Whether the real library serves a communicator: it has created some, and
  /// this is none of Iris'.
  static bool serves(ncclComm_t comm);
  /// Creates a communicator that Iris cannot serve.
  /// \param why why Iris cannot, for the log
  ncclResult_t create(ncclComm_t *comm, int numRanks, int rank, int numIds,
                      ncclUniqueId *ids, ncclConfig_t *config,
                      const char *why) const;
  ncclResult_t createAll(ncclComm_t *comms, int ndev, const int *devices,
                         const char *why) const;

private:
  static rt::Expected<RealLibrary> open(const std::string &path);
};

} // namespace iris::nccl

#endif // IRIS_NCCL_REALLIBRARY_H
