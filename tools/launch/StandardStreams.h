// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StandardStreams.h - Standard streams of a tool -----------*- C++ -*-===//
#ifndef IRIS_TOOLS_LAUNCH_STANDARDSTREAMS_H
#define IRIS_TOOLS_LAUNCH_STANDARDSTREAMS_H

namespace iris::run {

/// Call first in main. Opens closed standard descriptors, so that the next
/// opened file does not become standard output; their use still fails. Makes
/// writes beyond the file size limit an error instead of a signal.
void prepareStandardStreams();

/// Call last in main. Returns the exit status, or 1 with a message if the
/// output of `tool` could not be written (a full disk, a closed descriptor).
int finishStandardOutput(const char *tool, int exitStatus);

} // namespace iris::run

#endif // IRIS_TOOLS_LAUNCH_STANDARDSTREAMS_H
