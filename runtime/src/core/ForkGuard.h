// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a forked child inherits of its parent's worlds, and must not use: the
// memory says that it is rank 2, and the sockets would let it speak as rank 2.
#ifndef IRIS_RT_CORE_FORKGUARD_H
#define IRIS_RT_CORE_FORKGUARD_H

#include "iris/rt/Status.h"

#include <cstdint>
#include <sys/types.h>

namespace iris::rt {

/// Remembers the process that made it.  Asking costs a load: the kernel, not
/// getpid, says that this is another one.
class ProcessOwner {
public:
  ProcessOwner();

  /// False in a child that was forked since, and in its children.
  bool isHere() const;
  /// An error unless isHere().
  Status check() const;

private:
  uint64_t mark_;
  pid_t pid_;
};

/// From now on fork closes `fd` in the child, at once: as long as a copy of a
/// connection is open anywhere, the other end does not notice that this process
/// has died.  (What is executed anew, O_CLOEXEC closes.)
void closeInChildren(int fd);
/// Comes before the descriptor is closed here.
void forgetInChildren(int fd);

} // namespace iris::rt

#endif // IRIS_RT_CORE_FORKGUARD_H
