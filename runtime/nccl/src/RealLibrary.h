// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RealLibrary.h - NCCL or RCCL behind this library ---------*- C++ -*-===//
//
// IRIS_NCCL_LIBRARY names a library with the same functions. It serves what
// Iris does not: communicators of more ranks than Iris takes, or, with
// IRIS_NCCL=off, everything.
//
// Such a library calls some of its own functions by name. Where a program has
// loaded it before Iris does, as PyTorch does, and Iris' library comes first
// (LD_PRELOAD), those calls reach Iris, which gives them back.
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
  /// Opens the library that connects nodes, whose calls of its own functions
  /// are to go back to it. If it cannot be opened, InterNode::connect says why.
  /// \retval failedPrecondition it is not that of IRIS_NCCL_LIBRARY
  static rt::Status openBetweenNodes(const std::string &path);
  /// The library for the communicators that are none of Iris': that of
  /// IRIS_NCCL_LIBRARY, else the one between nodes.
  /// \return the library; null if there is none
  /// \retval unavailable as find()
  static rt::Expected<const NcclLibrary *> findForOthers();
  /// Whether the other library serves a call: it makes the call itself, or has
  /// created the communicator, which is none of Iris'.
  /// \param comm the communicator; null without one
  /// \param caller where the call returns to
  static bool serves(ncclComm_t comm, const void *caller);
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
