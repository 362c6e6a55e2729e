// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Standard input, output and error of a tool.
#ifndef IRIS_TOOLS_LAUNCH_STANDARDSTREAMS_H
#define IRIS_TOOLS_LAUNCH_STANDARDSTREAMS_H

namespace iris::run {

/// Comes first in main.  A standard descriptor that is closed gets one that
/// fails as it does: else the next file that is opened would become standard
/// output.  And what a limit on file sizes forbids becomes an error in place of
/// a signal.
void prepareStandardStreams();

/// Comes last in main: the exit status, which is 1 if what `tool` has printed
/// could not be written (a full disk, a closed descriptor); a message says so.
int finishStandardOutput(const char *tool, int exitStatus);

} // namespace iris::run

#endif // IRIS_TOOLS_LAUNCH_STANDARDSTREAMS_H
