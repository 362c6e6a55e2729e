// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedStreams.h - Streams of createHostStream ------------*- C++ -*-===//
#ifndef IRIS_RT_BACKENDS_HOST_SHAREDSTREAMS_H
#define IRIS_RT_BACKENDS_HOST_SHAREDSTREAMS_H

#include "backends/host/HostStream.h"

namespace iris::rt {

/// The stream behind a handle of createHostStream(). A forked child has none:
/// the streams' threads do not exist there.
Expected<std::shared_ptr<HostStream>> findHostStream(void *stream);

} // namespace iris::rt

#endif // IRIS_RT_BACKENDS_HOST_SHAREDSTREAMS_H
