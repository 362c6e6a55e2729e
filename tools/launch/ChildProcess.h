// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChildProcess.h - Child processes of a launcher -----------*- C++ -*-===//
//
// Starts and watches child processes, and always reaps them.
#ifndef IRIS_TOOLS_LAUNCH_CHILDPROCESS_H
#define IRIS_TOOLS_LAUNCH_CHILDPROCESS_H

#include "iris/rt/Status.h"

#include <chrono>
#include <string>
#include <sys/types.h>
#include <vector>

namespace iris::run {

/// How to start a child.
struct ChildSpec {
  std::string path;
  std::vector<std::string> args; ///< without argv[0]
  /// "NAME=value" entries that are added to the launcher's environment.
  std::vector<std::string> env;
  /// Descriptors that stay open in the child, with the same numbers.
  std::vector<int> keep;
};

/// A child that is running or has ended.
struct Child {
  pid_t pid = -1;
  bool running = false;
  int waitStatus = 0;
  /// The signal that stopped the child; 0 if it is not stopped. Kept if the
  /// child was killed while stopped.
  int stopSignal = 0;

  bool succeeded() const;
  bool wasKilled() const;
  /// "exited with status 3", "was killed by signal 9 (Killed)".
  std::string ending() const;
};

/// Starts children, and ends all of them on destruction. One per process: it
/// receives SIGCHLD, SIGCONT and the signals that end the launcher.
class Supervisor {
public:
  Supervisor();
  ~Supervisor();
  Supervisor(const Supervisor &) = delete;

  /// Whether the signal handling could be set up.
  const rt::Status &status() const { return status_; }

  /// Starts a child; returns its index in children().
  rt::Expected<size_t> start(const ChildSpec &spec);
  const std::vector<Child> &children() const { return children_; }
  bool anyRunning() const;

  /// Waits until a child ends, stops or continues, one of `readable` is
  /// readable, or a stop signal arrives; at most `limit`. Returns the indices
  /// of readable descriptors.
  std::vector<size_t> wait(const std::vector<int> &readable,
                           std::chrono::milliseconds limit);
  /// The signal that stopped the launcher, or 0.
  int stopSignal() const { return stopSignal_; }
  /// Whether the launcher itself was stopped, by Ctrl-Z in a terminal, and
  /// continued since the last call.
  bool takeContinued();

  /// Sends SIGTERM to all children, and SIGKILL after `grace`.
  void endAll(std::chrono::milliseconds grace);

private:
  void reap();
  void takeSignals();

  rt::Status status_;
  int signalFd_ = -1;
  int stopSignal_ = 0;
  bool wasContinued_ = false;
  std::vector<Child> children_;
};

} // namespace iris::run

#endif // IRIS_TOOLS_LAUNCH_CHILDPROCESS_H
