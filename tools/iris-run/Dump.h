// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dump.h - Buffers of a rank, for a comparison -------------*- C++ -*-===//
#ifndef IRIS_TOOLS_IRIS_RUN_DUMP_H
#define IRIS_TOOLS_IRIS_RUN_DUMP_H

#include "core/ProgramObserver.h"

namespace iris::run {

/// Appends the buffers to a file at every sync (compare/SyncDump.h).
class BufferDump : public rt::ProgramObserver {
public:
  explicit BufferDump(int fd) : fd(fd) {}
  rt::Status atSync(rt::World &world,
                    const std::vector<rt::ProgramBuffer> &buffers) override;

private:
  int fd;
};

} // namespace iris::run

#endif // IRIS_TOOLS_IRIS_RUN_DUMP_H
