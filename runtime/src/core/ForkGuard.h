// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ForkGuard.h - Detection of forked children ---------------*- C++ -*-===//
//
// A forked child inherits its parent's worlds but must not use them: their
// sockets would let it communicate as the parent's rank.
#ifndef IRIS_RT_CORE_FORKGUARD_H
#define IRIS_RT_CORE_FORKGUARD_H

#include "iris/rt/Status.h"

#include <cstdint>
#include <sys/types.h>

namespace iris::rt {

/// Remembers the process that created it. Checking it costs one load instead of
/// a getpid call.
class ProcessOwner {
public:
  ProcessOwner();

  /// False in a child that was forked later, and in its descendants.
  bool isHere() const;
  /// Fails unless isHere().
  Status check() const;

private:
  uint64_t mark_;
  pid_t pid_;
};

/// Makes fork close `fd` in the child. While any copy of a connection is open,
/// the peer does not notice that this process has ended. (exec closes it by
/// O_CLOEXEC.)
void closeInChildren(int fd);
/// Must be called before the descriptor is closed.
void forgetInChildren(int fd);

} // namespace iris::rt

#endif // IRIS_RT_CORE_FORKGUARD_H
