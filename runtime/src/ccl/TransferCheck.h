// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TransferCheck.h - Lengths of sends and their receives ----*- C++ -*-===//
//
// A debug check that waits for no rank, since a send may run long before the
// peer's host calls its receive. Messages from one rank to another are ordered:
// the n-th send matches the n-th receive. Each rank records its own in memory
// that the others read; the one that comes later compares.
#ifndef IRIS_RT_CCL_TRANSFERCHECK_H
#define IRIS_RT_CCL_TRANSFERCHECK_H

#include "iris-c/RuntimeABI.h"
#include "iris/ccl/Communicator.h"

#include <array>
#include <memory>
#include <vector>

namespace iris::ccl {

class TransferCheck {
public:
  TransferCheck(rt::World &world, const rt::Group &group)
      : world_(world), group_(group) {}

  /// Shares this rank's records with the others. Collective over the world.
  /// Without it, check() does nothing.
  rt::Status open();

  /// Records a send or receive that is about to be launched, and compares it
  /// with the peer's if that is recorded. If they differ, the world fails.
  /// Other calls are not looked at.
  rt::Status check(const Call &call);

private:
  struct Message;
  struct Record;
  struct Direction;
  struct Records;
  struct Unmap {
    void operator()(Records *records) const;
  };
  using Mapping = std::unique_ptr<Records, Unmap>;
  static rt::Expected<Mapping> map(int fd, bool isOwn);

  rt::Expected<std::vector<Mapping>> share();

  rt::World &world_;
  const rt::Group &group_;
  /// By index in the group.
  std::vector<Mapping> records_;
  /// Messages so far, to and from each member.
  std::array<uint64_t, IRISRT_MAX_GROUP> sends_{}, receives_{};
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_TRANSFERCHECK_H
