// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChildProcess.cpp - Child processes of a launcher -------------------===//
#include "ChildProcess.h"

#include "compile/RunProcess.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char **environ;

using namespace iris;
using namespace iris::run;
using rt::StatusCode;

//===----------------------------------------------------------------------===//
// Child
//===----------------------------------------------------------------------===//

bool Child::succeeded() const {
  return !running && WIFEXITED(waitStatus) && WEXITSTATUS(waitStatus) == 0;
}

bool Child::wasKilled() const { return !running && WIFSIGNALED(waitStatus); }

std::string Child::ending() const { return rt::describeExit(waitStatus); }

//===----------------------------------------------------------------------===//
// Supervisor
//===----------------------------------------------------------------------===//

static sigset_t watchedSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGCHLD, SIGCONT, SIGINT, SIGTERM, SIGHUP})
    sigaddset(&set, signal);
  return set;
}

Supervisor::Supervisor() {
  sigset_t set = watchedSignals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  signalFd_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signalFd_ < 0)
    status_ = rt::makeErrnoStatus(StatusCode::internal, errno,
                                  "cannot watch for signals");
}

Supervisor::~Supervisor() {
  endAll(std::chrono::milliseconds(0));
  if (signalFd_ >= 0)
    ::close(signalFd_);
}

/// Runs between fork and exec; only async-signal-safe calls.
[[noreturn]] static void becomeChild(const ChildSpec &spec, char **argv,
                                     char **envp, pid_t parent) {
  sigset_t set = watchedSignals();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  // No child may outlive the launcher, however it ends.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(127);
  for (int fd : spec.keep)
    ::fcntl(fd, F_SETFD, 0);
  ::execve(spec.path.c_str(), argv, envp);
  ::_exit(127);
}

rt::Expected<size_t> Supervisor::start(const ChildSpec &spec) {
  std::vector<std::string> strings = {spec.path};
  strings.insert(strings.end(), spec.args.begin(), spec.args.end());
  std::vector<char *> argv;
  for (std::string &text : strings)
    argv.push_back(text.data());
  argv.push_back(nullptr);

  // The launcher's environment, except variables that the child overrides.
  std::vector<std::string> added = spec.env;
  std::vector<char *> envp;
  for (char **entry = environ; *entry; ++entry) {
    std::string name(*entry, std::strcspn(*entry, "="));
    bool replaced =
        std::any_of(added.begin(), added.end(), [&](const std::string &text) {
          return text.rfind(name + "=", 0) == 0;
        });
    if (!replaced)
      envp.push_back(*entry);
  }
  for (std::string &text : added)
    envp.push_back(text.data());
  envp.push_back(nullptr);

  std::fflush(nullptr);
  pid_t parent = ::getpid();
  pid_t pid = ::fork();
  if (pid < 0)
    return rt::makeErrnoStatus(StatusCode::unavailable, errno,
                               "cannot start a process");
  if (pid == 0)
    becomeChild(spec, argv.data(), envp.data(), parent);
  Child child;
  child.pid = pid;
  child.running = true;
  children_.push_back(child);
  return children_.size() - 1;
}

bool Supervisor::anyRunning() const {
  return std::any_of(children_.begin(), children_.end(),
                     [](const Child &child) { return child.running; });
}

void Supervisor::reap() {
  for (Child &child : children_) {
    int status = 0;
    while (child.running &&
           ::waitpid(child.pid, &status, WNOHANG | WUNTRACED | WCONTINUED) ==
               child.pid) {
      if (WIFSTOPPED(status)) {
        child.stopSignal = WSTOPSIG(status);
      } else if (WIFCONTINUED(status)) {
        child.stopSignal = 0;
      } else {
        child.waitStatus = status;
        child.running = false;
      }
    }
  }
}

void Supervisor::takeSignals() {
  signalfd_siginfo info;
  while (::read(signalFd_, &info, sizeof(info)) ==
         static_cast<ssize_t>(sizeof(info)))
    if (info.ssi_signo == SIGCONT)
      wasContinued_ = true;
    else if (info.ssi_signo != SIGCHLD && stopSignal_ == 0)
      stopSignal_ = static_cast<int>(info.ssi_signo);
}

bool Supervisor::takeContinued() {
  takeSignals();
  return std::exchange(wasContinued_, false);
}

std::vector<size_t> Supervisor::wait(const std::vector<int> &readable,
                                     std::chrono::milliseconds limit) {
  std::vector<pollfd> entries = {{signalFd_, POLLIN, 0}};
  for (int fd : readable)
    entries.push_back({fd, POLLIN, 0});
  int ready =
      ::poll(entries.data(), entries.size(), static_cast<int>(limit.count()));
  std::vector<size_t> result;
  if (ready > 0)
    for (size_t i = 0; i < readable.size(); ++i)
      if (entries[i + 1].revents != 0)
        result.push_back(i);
  takeSignals();
  reap();
  return result;
}

void Supervisor::endAll(std::chrono::milliseconds grace) {
  reap();
  if (!anyRunning())
    return;
  auto signalAll = [&](int signal) {
    for (const Child &child : children_)
      if (child.running)
        ::kill(child.pid, signal);
  };
  signalAll(SIGTERM);
  auto end = std::chrono::steady_clock::now() + grace;
  while (anyRunning() && std::chrono::steady_clock::now() < end)
    wait({}, std::chrono::milliseconds(20));
  signalAll(SIGKILL);
  for (Child &child : children_)
    if (child.running) {
      while (::waitpid(child.pid, &child.waitStatus, 0) < 0 && errno == EINTR) {
      }
      child.running = false;
    }
}
