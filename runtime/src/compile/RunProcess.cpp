// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RunProcess.cpp - Child processes -----------------------------------===//
#include "compile/RunProcess.h"

#include "core/Deadline.h"
#include "core/Files.h"
#include "core/UniqueFd.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char **environ;

using namespace iris::rt;

/// Standard error is truncated to this many bytes.
static constexpr size_t maxMessages = 64 << 10;
/// More bytes on standard output are an error.
static constexpr uint64_t maxOutput = uint64_t(1) << 30;
/// The time between SIGTERM and SIGKILL for a child that exceeds its limit.
static constexpr auto killGrace = std::chrono::milliseconds(500);

std::string iris::rt::describeExit(int waitStatus) {
  if (WIFSIGNALED(waitStatus)) {
    int signal = WTERMSIG(waitStatus);
    const char *name = ::sigdescr_np(signal);
    return formatString("was killed by signal %d (%s)", signal,
                        name ? name : "?");
  }
  return formatString("exited with status %d", WEXITSTATUS(waitStatus));
}

namespace {
/// The data that the child needs before exec, prepared by the parent, so that
/// the child allocates nothing.
struct ChildStart {
  const char *path;
  char *const *argv;
  int in, out, messages;
  pid_t parent;
  sigset_t empty;
  /// The errno value if the program could not be started; set by the child.
  volatile int error;
};
} // namespace

/// Runs in the parent's memory while the parent's thread is suspended, so it
/// uses only async-signal-safe calls.
[[noreturn]] static void becomeProgram(ChildStart &start) {
  // Reset the parent's signal handlers. All signals are blocked.
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action;
    if (::sigaction(signal, nullptr, &action) != 0 ||
        (action.sa_handler == SIG_IGN && signal != SIGPIPE))
      continue;
    action.sa_handler = SIG_DFL;
    action.sa_flags = 0;
    ::sigaction(signal, &action, nullptr);
  }
  // End the child if the requesting process ends. SIGTERM, so that a compiler
  // can remove its temporary files.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != start.parent)
    ::_exit(127);
  // Duplicate to descriptors above 2, so that dup2 overwrites none of them.
  int in = ::fcntl(start.in, F_DUPFD_CLOEXEC, 3);
  int out = ::fcntl(start.out, F_DUPFD_CLOEXEC, 3);
  int messages = ::fcntl(start.messages, F_DUPFD_CLOEXEC, 3);
  if (::dup2(in, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0 ||
      ::dup2(messages, STDERR_FILENO) < 0) {
    start.error = errno;
    ::_exit(127);
  }
  // The child must not inherit the parent's devices and sockets.
  ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  ::sigprocmask(SIG_SETMASK, &start.empty, nullptr);
  ::execve(start.path, start.argv, environ);
  start.error = errno;
  ::_exit(127);
}

/// vfork instead of fork: a process with a GPU has mappings that are slow to
/// copy, and other threads. posix_spawn cannot set a parent death signal. A
/// separate function, because the child must not change the caller's stack
/// frame.
[[gnu::noinline]] static pid_t forkAndExec(ChildStart &start) {
  pid_t pid = ::vfork();
  if (pid == 0)
    becomeProgram(start);
  return pid;
}

Expected<pid_t> iris::rt::startProcess(const std::vector<std::string> &argv,
                                       int in, int out, int messages) {
  std::vector<std::string> strings = argv;
  std::vector<char *> pointers;
  for (std::string &text : strings)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  ChildStart start = {strings[0].c_str(), pointers.data(), in, out,
                      messages,           ::getpid(),      {}, 0};
  sigset_t all, before;
  sigfillset(&all);
  sigemptyset(&start.empty);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t pid = forkAndExec(start);
  int error = pid < 0 ? errno : start.error;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid >= 0 && error != 0)
    ::waitpid(pid, nullptr, 0); // the child has ended
  if (error != 0)
    return makeErrnoStatus(StatusCode::unavailable, error, "cannot run '%s'",
                           strings[0].c_str());
  return pid;
}

/// Reads until the child closes its end; false if the deadline passes first.
static bool drain(int fd, std::string &output, const Deadline &deadline) {
  char buffer[4096];
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline.remaining());
    pollfd entry = {fd, POLLIN, 0};
    int ready =
        ::poll(&entry, 1,
               static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30)));
    if (ready == 0)
      return false;
    if (ready < 0 && errno != EINTR)
      return true;
    ssize_t got = ::read(fd, buffer, sizeof(buffer));
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
      return true;
    if (got > 0 && output.size() < maxMessages)
      output.append(buffer, static_cast<size_t>(got));
  }
}

Status iris::rt::runProcess(const std::vector<std::string> &argv,
                            std::string_view input, ProcessOutput &output,
                            std::chrono::milliseconds limit) {
  output = ProcessOutput();
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    return makeErrnoStatus(StatusCode::internal, errno, "cannot create a pipe");
  UniqueFd readEnd(fds[0]), writeEnd(fds[1]);
  // In-memory files, which are freed however this process ends.
  IRISRT_ASSIGN_OR_RETURN(UniqueFd in, makeMemoryFile("iris-input", input));
  IRISRT_ASSIGN_OR_RETURN(UniqueFd out, makeMemoryFile("iris-output", ""));
  IRISRT_ASSIGN_OR_RETURN(
      pid_t pid, startProcess(argv, in.get(), out.get(), writeEnd.get()));
  writeEnd.reset();

  Deadline deadline(limit);
  bool inTime = drain(readEnd.get(), output.messages, deadline);
  int waitStatus = 0;
  pid_t ended = 0;
  while (inTime && (ended = ::waitpid(pid, &waitStatus, WNOHANG)) == 0) {
    inTime = !deadline.passed();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!inTime) {
    ::kill(pid, SIGTERM); // lets it remove its temporary files
    Deadline grace(killGrace);
    while ((ended = ::waitpid(pid, &waitStatus, WNOHANG)) == 0 &&
           !grace.passed())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (ended == 0) {
      ::kill(pid, SIGKILL);
      while (::waitpid(pid, &waitStatus, 0) < 0 && errno == EINTR) {
      }
    }
    return makeStatus(StatusCode::timeout, "'%s' did not end within %.3g s",
                      argv[0].c_str(),
                      std::chrono::duration<double>(limit).count());
  }
  // The parent may have reaped the child (by ignoring SIGCHLD or waiting for
  // any child). Its exit status is then unknown, and only its output shows
  // failure.
  if (ended > 0 && !(WIFEXITED(waitStatus) && WEXITSTATUS(waitStatus) == 0))
    return makeStatus(StatusCode::invalidArgument, "'%s' %s", argv[0].c_str(),
                      describeExit(waitStatus).c_str());
  IRISRT_ASSIGN_OR_RETURN(
      output.standard,
      readRegularFile(out.get(), "output of '" + argv[0] + "'", maxOutput));
  return Status::success();
}
