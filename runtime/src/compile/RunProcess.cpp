// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// What a child has to say on standard error beyond this is dropped.
static constexpr size_t maxMessages = 64 << 10;
/// More on standard output is an error.
static constexpr uint64_t maxOutput = uint64_t(1) << 30;
/// A child that is asked to end has this long to clean up.
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
/// What the child needs between its start and the program's; the parent makes
/// it, so that the child allocates nothing.
struct ChildStart {
  const char *path;
  char *const *argv;
  int in, out, messages;
  pid_t parent;
  sigset_t empty;
  /// Why the program could not be started; the child's to set.
  volatile int error;
};
} // namespace

/// Runs in the parent's memory while the parent's thread waits, so only calls
/// that are safe in a signal handler.
[[noreturn]] static void becomeProgram(ChildStart &start) {
  // Handlers of the host program must not run here.  All signals are blocked.
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action;
    if (::sigaction(signal, nullptr, &action) != 0 ||
        (action.sa_handler == SIG_IGN && signal != SIGPIPE))
      continue;
    action.sa_handler = SIG_DFL;
    action.sa_flags = 0;
    ::sigaction(signal, &action, nullptr);
  }
  // A compiler without the rank that asked for it helps nobody.  SIGTERM, so
  // that it can remove its temporary files.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != start.parent)
    ::_exit(127);
  // Above 2, so that none of them is overwritten before it is copied.
  int in = ::fcntl(start.in, F_DUPFD_CLOEXEC, 3);
  int out = ::fcntl(start.out, F_DUPFD_CLOEXEC, 3);
  int messages = ::fcntl(start.messages, F_DUPFD_CLOEXEC, 3);
  if (::dup2(in, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0 ||
      ::dup2(messages, STDERR_FILENO) < 0) {
    start.error = errno;
    ::_exit(127);
  }
  // Devices and sockets of the host program are none of the child's business.
  ::syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  ::sigprocmask(SIG_SETMASK, &start.empty, nullptr);
  ::execve(start.path, start.argv, environ);
  start.error = errno;
  ::_exit(127);
}

/// vfork and not fork: a process with a GPU has mappings that are slow to copy,
/// and other threads.  And not posix_spawn, which cannot tie the child's life
/// to ours.  A function of its own: nothing of the caller's frame may change in
/// the child.
[[gnu::noinline]] static pid_t forkAndExec(ChildStart &start) {
  pid_t pid = ::vfork();
  if (pid == 0)
    becomeProgram(start);
  return pid;
}

static Expected<pid_t> spawn(const std::vector<std::string> &argv, int in,
                             int out, int messages) {
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
    ::waitpid(pid, nullptr, 0); // it has ended
  if (error != 0)
    return makeErrnoStatus(StatusCode::unavailable, error, "cannot run '%s'",
                           strings[0].c_str());
  return pid;
}

/// Reads until the child closes its end; false when the time is over.
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
  // Files without names: nothing is left of them, however we end.
  IRISRT_ASSIGN_OR_RETURN(UniqueFd in, makeMemoryFile("iris-input", input));
  IRISRT_ASSIGN_OR_RETURN(UniqueFd out, makeMemoryFile("iris-output", ""));
  IRISRT_ASSIGN_OR_RETURN(pid_t pid,
                          spawn(argv, in.get(), out.get(), writeEnd.get()));
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
    ::kill(pid, SIGTERM); // it removes its temporary files
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
  // The host program may reap our child (it ignores SIGCHLD, or waits for any
  // child); how it ended is then unknown, and shows in what it left.
  if (ended > 0 && !(WIFEXITED(waitStatus) && WEXITSTATUS(waitStatus) == 0))
    return makeStatus(StatusCode::invalidArgument, "'%s' %s", argv[0].c_str(),
                      describeExit(waitStatus).c_str());
  IRISRT_ASSIGN_OR_RETURN(
      output.standard,
      readRegularFile(out.get(), "output of '" + argv[0] + "'", maxOutput));
  return Status::success();
}
