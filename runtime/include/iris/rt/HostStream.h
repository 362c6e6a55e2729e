// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostStream.h - Streams of the host for several worlds ----*- C++ -*-===//
//
// On a GPU, a program creates streams by CUDA or HIP and passes them to several
// libraries. These functions are the counterpart for worlds on the host: each
// stream is a thread that runs the work of all worlds that adopt it
// (World::adoptStream), in order. Ranks that are threads of one process need a
// stream each: on one, work that waits for a peer's later work never ends.
//
// A stream belongs to the process that created it.
//
// \param stream a stream of createHostStream()
// \retval invalidArgument there is no such stream
#ifndef IRIS_RT_HOSTSTREAM_H
#define IRIS_RT_HOSTSTREAM_H

#include "iris/rt/Status.h"

#pragma GCC visibility push(default)
namespace iris::rt {

/// Creates a stream.
/// \return the stream
/// \retval unavailable the system starts no thread
Expected<void *> createHostStream();

/// Waits until the stream's work is done.
/// \param limitSeconds the time limit in seconds
/// \retval timeout the work takes longer
/// \retval aborted a world failed because of another rank or a time limit, and
/// waits of the work may have been ended; returned once
Status synchronizeHostStream(void *stream, double limitSeconds = 300);

/// Waits until the stream's work is done and destroys the stream. Worlds that
/// adopted it may end later.
/// \param limitSeconds the time limit in seconds
/// \retval timeout the work takes longer; the stream ends after it
Status destroyHostStream(void *stream, double limitSeconds = 300);

} // namespace iris::rt
#pragma GCC visibility pop

#endif // IRIS_RT_HOSTSTREAM_H
