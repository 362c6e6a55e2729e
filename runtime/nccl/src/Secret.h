// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Secret.h - What the ranks of a communicator share --------*- C++ -*-===//
//
// The ranks find each other by a job name, in the rendezvous directory, and
// prove by a token that they belong together (bootstrap/Rendezvous.h). An
// ncclUniqueId carries both.
#ifndef IRIS_NCCL_SECRET_H
#define IRIS_NCCL_SECRET_H

#include "iris-nccl/nccl.h"
#include "iris/rt/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace iris::nccl {

/// 192 random bits.
struct Secret {
  uint64_t words[3] = {};

  /// \return a new secret
  /// \retval internal the system has no random numbers
  static rt::Expected<Secret> make();
  /// The secret of communicators that follow from this one.
  /// \param purpose distinguishes them; equal on all of their ranks
  Secret derive(std::string_view purpose) const;

  /// The name of the job, in hexadecimal digits.
  std::string job() const;
  uint64_t token() const { return words[2]; }
};

/// What an ncclUniqueId carries.
struct IdContents {
  Secret secret;
  /// Where rank 0 listens, "host:port"; empty: all ranks are processes of this
  /// user on this machine.
  std::string address;
  /// Whether another library made the id, which can create communicators from
  /// it.
  bool isForeign = false;
};

/// Makes an id.
/// \retval invalidArgument the address is too long
rt::Expected<ncclUniqueId> makeId(const IdContents &contents);

/// The secret of an id that another library made: a hash of its bytes, which
/// are one.
Secret hashId(const ncclUniqueId &id);

/// Reads an id.
/// \retval invalidArgument it is no id of this library
/// \retval failedPrecondition it was made on another machine or by another user
rt::Expected<IdContents> readId(const ncclUniqueId &id);

} // namespace iris::nccl

#endif // IRIS_NCCL_SECRET_H
