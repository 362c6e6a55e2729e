// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RunProcess.cpp - Child processes -----------------------------------===//
#include "compile/RunProcess.h"

#include "core/Deadline.h"
#include "core/Files.h"
#include "core/UniqueFd.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/close_range.h>
#include <optional>
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
/// How long a wait for messages lasts before the limit is looked at.
static constexpr auto pollInterval = std::chrono::milliseconds(20);

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
  bool leadsGroup;
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
  if (start.leadsGroup)
    ::setpgid(0, 0);
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
                                       int in, int out, int messages,
                                       bool leadsGroup) {
  std::vector<std::string> strings = argv;
  std::vector<char *> pointers;
  for (std::string &text : strings)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  ChildStart start = {strings[0].c_str(), pointers.data(), in, out, messages,
                      leadsGroup,         ::getpid(),      {}, 0};
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

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {
enum class ChildState { running, ended, unknown };
} // namespace

/// The state of a child, which is not reaped: its number stays its own. Unknown
/// if the host program reaps children itself, by ignoring SIGCHLD or waiting
/// for any child.
static ChildState stateOf(pid_t pid) {
  siginfo_t info = {};
  int result;
  do
    result = ::waitid(P_PID, static_cast<id_t>(pid), &info,
                      WEXITED | WNOHANG | WNOWAIT);
  while (result != 0 && errno == EINTR);
  if (result != 0)
    return ChildState::unknown;
  return info.si_pid == pid ? ChildState::ended : ChildState::running;
}

/// Ends the group that `pid` leads, if any of it is left, and reaps `pid`.
/// Returns its wait status unless that is unknown.
static std::optional<int> endGroup(pid_t pid) {
  if (stateOf(pid) == ChildState::running) {
    ::kill(-pid, SIGTERM); // lets it remove its temporary files
    Deadline grace(killGrace);
    while (stateOf(pid) == ChildState::running && !grace.passed())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // A group may outlive its leader, whose number it has until it is reaped.
  if (stateOf(pid) != ChildState::unknown)
    ::kill(-pid, SIGKILL);
  int waitStatus = 0;
  pid_t ended;
  while ((ended = ::waitpid(pid, &waitStatus, 0)) < 0 && errno == EINTR) {
  }
  return ended == pid ? std::optional<int>(waitStatus) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Reads what is there within `limit`; false if nothing is. Closes `fd` at the
/// end.
static bool readMessages(UniqueFd &fd, std::string &messages,
                         std::chrono::milliseconds limit) {
  pollfd entry = {fd.get(), POLLIN, 0};
  if (::poll(&entry, 1, static_cast<int>(limit.count())) <= 0)
    return false;
  char buffer[4096];
  ssize_t got = ::read(fd.get(), buffer, sizeof(buffer));
  if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN))
    fd.reset();
  if (got > 0 && messages.size() < maxMessages)
    messages.append(buffer, static_cast<size_t>(got));
  return true;
}

/// Waits until the child ends; a failure if it has to be ended before.
static Status waitForEnd(pid_t pid, UniqueFd &messages, ProcessOutput &output,
                         const std::string &name,
                         const ProcessOptions &options) {
  Deadline deadline(options.limit);
  while (stateOf(pid) == ChildState::running) {
    if (messages.valid())
      (void)readMessages(messages, output.messages, pollInterval);
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (options.isCancelled && options.isCancelled())
      return makeStatus(StatusCode::aborted, "%s was cancelled", name.c_str());
    if (deadline.passed())
      return makeStatus(
          StatusCode::timeout, "%s did not end within %.3g s and was killed",
          name.c_str(), std::chrono::duration<double>(options.limit).count());
  }
  return Status::success();
}

Status iris::rt::runProcess(const std::vector<std::string> &argv,
                            std::string_view input, ProcessOutput &output,
                            const ProcessOptions &options) {
  output = ProcessOutput();
  std::string path = "'" + argv[0] + "'";
  std::string name = options.name.empty() ? path : options.name;
  UniqueFd readEnd, writeEnd;
  if (options.keepsMessages) {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0)
      return makeErrnoStatus(StatusCode::internal, errno,
                             "cannot create a pipe");
    readEnd.reset(fds[0]);
    writeEnd.reset(fds[1]);
  }
  // In-memory files, which are freed however this process ends.
  IRISRT_ASSIGN_OR_RETURN(UniqueFd in, makeMemoryFile("iris-input", input));
  IRISRT_ASSIGN_OR_RETURN(UniqueFd out, makeMemoryFile("iris-output", ""));
  IRISRT_ASSIGN_OR_RETURN(
      pid_t pid, startProcess(argv, in.get(), out.get(),
                              writeEnd.valid() ? writeEnd.get() : STDERR_FILENO,
                              /*leadsGroup=*/true));
  writeEnd.reset();

  Status status = waitForEnd(
      pid, readEnd, output,
      options.name.empty() ? path : name + " (" + path + ")", options);
  std::optional<int> waitStatus = endGroup(pid);
  IRISRT_RETURN_IF_ERROR(status);
  // Nothing of the group is left to write more.
  while (readEnd.valid() &&
         readMessages(readEnd, output.messages, std::chrono::milliseconds(0))) {
  }
  // Without the exit status, only the output shows failure.
  if (waitStatus && !(WIFEXITED(*waitStatus) && WEXITSTATUS(*waitStatus) == 0))
    return makeStatus(StatusCode::invalidArgument, "%s %s", name.c_str(),
                      describeExit(*waitStatus).c_str());
  IRISRT_ASSIGN_OR_RETURN(
      output.standard,
      readRegularFile(out.get(), "output of " + path, maxOutput));
  return Status::success();
}
