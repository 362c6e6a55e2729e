// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LauncherNotice.h - Notices of ended ranks ----------------*- C++ -*-===//
//
// Tells ranks that are still in the rendezvous that one of them has ended. All
// ranks inherit the receiving end of one socket and peek at the packet on it,
// so that each of them sees it.
#ifndef IRIS_RT_BOOTSTRAP_LAUNCHERNOTICE_H
#define IRIS_RT_BOOTSTRAP_LAUNCHERNOTICE_H

#include "core/UniqueFd.h"
#include "iris/rt/Status.h"

#include <cstdint>
#include <optional>
#include <string>

namespace iris::rt {

/// For instance rank 2, "its process was killed by signal 9 (Killed)".
struct LauncherNotice {
  uint32_t rank = 0;
  std::string how;
};

/// The launcher's side.
class NoticeSender {
public:
  Status open();
  /// The socket that the ranks inherit, as IRIS_NOTICE_FD.
  int receiver() const { return receiver_.get(); }
  /// Sends the first notice; later ones are ignored.
  void send(const LauncherNotice &notice);

private:
  UniqueFd sender_, receiver_;
  bool sent_ = false;
};

/// A rank's side: the notice that is pending on `fd`; none if there is none, or
/// if `fd` is not such a socket.
std::optional<LauncherNotice> peekNotice(int fd);

} // namespace iris::rt

#endif // IRIS_RT_BOOTSTRAP_LAUNCHERNOTICE_H
