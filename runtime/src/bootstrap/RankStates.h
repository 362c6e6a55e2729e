// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RankStates.h - How ranks end, without rank 0 -------------*- C++ -*-===//
//
// Messages between ranks go through rank 0. Once it has left, each rank still
// reads in memory that all share how its peers end. The kernel marks the lock
// of a rank whose process ends, whatever ends it.
#ifndef IRIS_RT_BOOTSTRAP_RANKSTATES_H
#define IRIS_RT_BOOTSTRAP_RANKSTATES_H

#include "bootstrap/Messages.h"
#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <optional>
#include <string>
#include <vector>

namespace iris::rt {

class RankStates {
public:
  /// Creates this rank's memory.
  Status create();
  ~RankStates();
  RankStates() = default;
  RankStates(const RankStates &) = delete;
  RankStates &operator=(const RankStates &) = delete;

  /// The descriptor of this rank's memory, for the others.
  int fd() const { return fd_.get(); }
  /// Maps the memory of all ranks, after they have called hold().
  /// \param fds one for each rank
  Status map(std::vector<UniqueFd> fds, uint32_t rank);

  /// Takes this rank's lock, which the calling thread holds until it ends or
  /// calls letGo().
  Status hold();
  void letGo();

  /// Tells all ranks how this one ends. Only the first call counts.
  /// \param failure the rank that failed, this one or another, and why
  void tell(const Failure &failure, bool leaves);

  struct End {
    Failure failure;
    bool leaves = false;
  };
  /// How a rank has ended, or none.
  std::optional<End> endOf(uint32_t rank) const;

private:
  struct Slot;
  static Expected<Slot *> mapSlot(int fd);

  UniqueFd fd_;
  Slot *own_ = nullptr;
  std::vector<Slot *> slots_; ///< by rank; null for this one
};

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_RANKSTATES_H
