// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two nodes that are network namespaces with a link between them, which may be
// slow, lose packets, or be cut.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_LINKEDNODES_H
#define IRIS_TEST_RUNTIME_SUPPORT_LINKEDNODES_H

#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <unistd.h>

namespace iris::rt::test {

class LinkedNodes {
public:
  /// Needs root and the program `ip`; see why().
  LinkedNodes() {
    run("ip netns add " + name(0) + " && ip netns add " + name(1) +
        " && ip link add iris0 netns " + name(0) +
        " type veth peer name iris1 netns " + name(1));
    for (int node : {0, 1})
      run("ip -n " + name(node) + " link set lo up && ip -n " + name(node) +
          " addr add " + address(node) + "/24 dev " + device(node) +
          " && ip -n " + name(node) + " link set " + device(node) + " up");
  }
  ~LinkedNodes() {
    why_.clear();
    for (int node : {0, 1})
      run("ip netns del " + name(node));
  }
  LinkedNodes(const LinkedNodes &) = delete;

  /// Why there is no link; empty: there is one.
  const std::string &why() const { return why_; }

  static std::string address(int node) {
    return "10.213.7." + std::to_string(node + 1);
  }
  /// Delays packets and drops some, in both directions; see why().
  void disturb(const std::string &how) {
    for (int node : {0, 1})
      run("ip netns exec " + name(node) + " tc qdisc add dev " + device(node) +
          " root netem " + how);
  }
  /// Cuts the link: no packet passes, and no connection is closed.
  void cut() { run("ip -n " + name(0) + " link set " + device(0) + " down"); }

  /// Moves this thread, and those it starts, to a node.
  /// \return whether that succeeded
  bool enter(int node) const {
    int fd = ::open(("/run/netns/" + name(node)).c_str(), O_RDONLY | O_CLOEXEC);
    bool entered = fd >= 0 && ::setns(fd, CLONE_NEWNET) == 0;
    if (fd >= 0)
      ::close(fd);
    return entered;
  }

private:
  static std::string device(int node) { return "iris" + std::to_string(node); }
  std::string name(int node) const {
    return "iris-test-" + std::to_string(owner_) + "-" + std::to_string(node);
  }

  /// Runs a command unless an earlier one has failed.
  void run(const std::string &command) {
    if (!why_.empty())
      return;
    FILE *output = ::popen(("(" + command + ") 2>&1").c_str(), "r");
    std::string text;
    char buffer[256];
    while (output && std::fgets(buffer, sizeof(buffer), output))
      text += buffer;
    if (!output || ::pclose(output) != 0)
      why_ = command + ": " + text;
  }

  const pid_t owner_ = ::getpid();
  std::string why_;
};

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_LINKEDNODES_H
