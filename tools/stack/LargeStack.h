// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LargeStack.h - A stack of known size for a tool ----------*- C++ -*-===//
//
// Shared by the compiler's tools and the runtime's; neither LLVM nor the
// runtime.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_TOOLS_STACK_LARGESTACK_H
#define IRIS_TOOLS_STACK_LARGESTACK_H

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <sys/resource.h>

namespace iristools {

/// What Linux gives a main thread by default. The compiler's parser and passes
/// recurse as deep as regions nest.
constexpr size_t largeStackBytes = size_t(8) << 20;

/// The main function of a tool, and the arguments and result of its call.
struct ToolCall {
  int (*run)(int, char **);
  int argc;
  char **argv;
  sigset_t signals; ///< The mask to run with.
  int exitStatus;
};

inline void *runToolCall(void *raw) {
  auto &call = *static_cast<ToolCall *>(raw);
  ::pthread_sigmask(SIG_SETMASK, &call.signals, nullptr);
  call.exitStatus = call.run(call.argc, call.argv);
  return nullptr;
}

/// Returns the exit status of `run(argc, argv)`, which gets a stack of at least
/// `largeStackBytes`, as do all threads that it starts: on a thread if the
/// limit of the main thread (`ulimit -s`) is less. Call it in main, before
/// anything that needs more than a page of stack.
inline int runOnLargeStack(const char *tool, int (*run)(int, char **), int argc,
                           char **argv) {
  rlimit limit;
  if (::getrlimit(RLIMIT_STACK, &limit) == 0 &&
      limit.rlim_cur >= largeStackBytes)
    return run(argc, argv);
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, largeStackBytes);
  ::pthread_setattr_default_np(&attributes);
  // Signals are for the threads of the tool, which block or handle them.
  ToolCall call{run, argc, argv, {}, 1};
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &call.signals);
  pthread_t thread;
  int error = ::pthread_create(&thread, &attributes, runToolCall, &call);
  ::pthread_attr_destroy(&attributes);
  if (error == 0)
    ::pthread_join(thread, nullptr);
  else
    std::fprintf(stderr,
                 "%s: cannot start a thread with a stack of %zu MiB, which the "
                 "stack limit of %llu KiB (ulimit -s) requires: %s\n",
                 tool, largeStackBytes >> 20,
                 static_cast<unsigned long long>(limit.rlim_cur >> 10),
                 std::strerror(error));
  return call.exitStatus;
}

} // namespace iristools

#endif // IRIS_TOOLS_STACK_LARGESTACK_H
