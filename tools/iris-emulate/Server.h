// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Server.h - The emulator of devices such as emulated:gfx942 ---------===//
//
// The runtime starts iris-emulate with --serve for each rank, and sends
// requests through a socket, which is standard input. The protocol is that of
// runtime/src/backends/emulated/README.md.
#ifndef IRIS_EMULATE_SERVER_H
#define IRIS_EMULATE_SERVER_H

#include "llvm/Support/Error.h"

namespace iristools {

/// Answers requests until the socket is closed.
llvm::Error serve(int socket);

} // namespace iristools

#endif // IRIS_EMULATE_SERVER_H
