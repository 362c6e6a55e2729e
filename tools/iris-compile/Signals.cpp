// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Signals.cpp - Cleanup on signals -----------------------------------===//
#include "Signals.h"

#include "iris/Target/TemporaryFiles.h"
#include <csignal>
#include <initializer_list>

static void cleanUpAndEnd(int signal) {
  mlir::iris::removeTemporaryDirectories();
  // SA_RESETHAND has restored the default action, which runs on return.
  ::raise(signal);
}

void mlir::iris::cleanUpOnSignals() {
  for (int signal : {SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ}) {
    struct sigaction action;
    if (::sigaction(signal, nullptr, &action) != 0 ||
        action.sa_handler == SIG_IGN)
      continue;
    action.sa_handler = cleanUpAndEnd;
    action.sa_flags = SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}
