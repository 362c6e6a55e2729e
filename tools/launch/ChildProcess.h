// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Child processes: started, watched, and always reaped.
#ifndef IRIS_TOOLS_LAUNCH_CHILDPROCESS_H
#define IRIS_TOOLS_LAUNCH_CHILDPROCESS_H

#include "iris/rt/Status.h"

#include <chrono>
#include <csignal>
#include <string>
#include <sys/types.h>
#include <vector>

namespace iris::run {

/// How to start a child.
struct ChildSpec {
  std::string path;
  std::vector<std::string> args; ///< without argv[0]
  /// "NAME=value" added to our environment.
  std::vector<std::string> env;
  /// Descriptors that stay open in the child, under the same numbers.
  std::vector<int> keep;
  /// Its standard output goes here; -1: ours.
  int outputFd = -1;
  /// What it gets when we end, however we do: SIGTERM for a program that has
  /// something to clean up.
  int deathSignal = SIGKILL;
};

/// A child that runs or has ended.
struct Child {
  pid_t pid = -1;
  bool running = false;
  int waitStatus = 0;
  /// The signal that has stopped it; 0 while it goes on.  What it was stopped
  /// by when it was killed stays.
  int stopSignal = 0;

  bool succeeded() const;
  bool wasKilled() const;
  /// "exited with status 3", "was killed by signal 9 (Killed)".
  std::string ending() const;
};

/// Starts children, and ends them all when it goes.  One per process: it
/// receives SIGCHLD and the signals that ask us to stop.
class Supervisor {
public:
  Supervisor();
  ~Supervisor();
  Supervisor(const Supervisor &) = delete;

  /// Whether the signals could be set up.
  const rt::Status &status() const { return status_; }

  /// Starts a child; its index in children().
  rt::Expected<size_t> start(const ChildSpec &spec);
  const std::vector<Child> &children() const { return children_; }
  bool anyRunning() const;

  /// Waits until a child ends, stops or goes on, one of `readable` can be read,
  /// or a stop was asked for, at most `limit`.  Returns the indices of
  /// `readable`.
  std::vector<size_t> wait(const std::vector<int> &readable,
                           std::chrono::milliseconds limit);
  /// The signal that asked us to stop, or 0.
  int stopSignal() const { return stopSignal_; }

  /// Asks all children to end, then makes them.
  void endAll(std::chrono::milliseconds grace);

private:
  void reap();
  void takeSignals();

  rt::Status status_;
  int signalFd_ = -1;
  int stopSignal_ = 0;
  std::vector<Child> children_;
};

} // namespace iris::run

#endif // IRIS_TOOLS_LAUNCH_CHILDPROCESS_H
