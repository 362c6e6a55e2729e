// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compile/RunProcess.h"

#include "core/Deadline.h"
#include "core/UniqueFd.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>

extern char **environ;

using namespace iris::rt;

/// What a child has to say beyond this is dropped.
static constexpr size_t maxOutput = 64 << 10;

std::string iris::rt::describeExit(int waitStatus) {
  if (WIFSIGNALED(waitStatus)) {
    int signal = WTERMSIG(waitStatus);
    const char *name = ::sigdescr_np(signal);
    return formatString("was killed by signal %d (%s)", signal,
                        name ? name : "?");
  }
  return formatString("exited with status %d", WEXITSTATUS(waitStatus));
}

/// Starts the child with `out` as its standard output and error.
static Expected<pid_t> spawn(const std::vector<std::string> &argv, int out) {
  std::vector<std::string> strings = argv;
  std::vector<char *> pointers;
  for (std::string &text : strings)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDERR_FILENO);
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
  // Devices and sockets of the host program are none of the child's business.
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#endif
#endif
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  // Not fork: a process with a GPU has mappings that are slow to copy, and
  // other threads.
  int error = ::posix_spawn(&pid, strings[0].c_str(), &actions, &attributes,
                            pointers.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
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
    if (got > 0 && output.size() < maxOutput)
      output.append(buffer, static_cast<size_t>(got));
  }
}

Status iris::rt::runProcess(const std::vector<std::string> &argv,
                            std::string &output,
                            std::chrono::milliseconds limit) {
  output.clear();
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    return makeErrnoStatus(StatusCode::internal, errno, "cannot create a pipe");
  UniqueFd readEnd(fds[0]), writeEnd(fds[1]);
  IRISRT_ASSIGN_OR_RETURN(pid_t pid, spawn(argv, writeEnd.get()));
  writeEnd.reset();

  Deadline deadline(limit);
  bool inTime = drain(readEnd.get(), output, deadline);
  int waitStatus = 0;
  pid_t ended = 0;
  while (inTime && (ended = ::waitpid(pid, &waitStatus, WNOHANG)) == 0) {
    inTime = !deadline.passed();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!inTime) {
    ::kill(pid, SIGKILL);
    while (::waitpid(pid, &waitStatus, 0) < 0 && errno == EINTR) {
    }
    return makeStatus(StatusCode::timeout, "'%s' did not end within %.3g s",
                      argv[0].c_str(),
                      std::chrono::duration<double>(limit).count());
  }
  // The host program may reap our child (it ignores SIGCHLD, or waits for any
  // child); how it ended is then unknown, and shows in what it left.
  if (ended < 0)
    return Status::success();
  if (WIFEXITED(waitStatus) && WEXITSTATUS(waitStatus) == 0)
    return Status::success();
  return makeStatus(StatusCode::invalidArgument, "'%s' %s", argv[0].c_str(),
                    describeExit(waitStatus).c_str());
}
