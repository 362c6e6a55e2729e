// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SideStream.h - A stream beside the caller's --------------*- C++ -*-===//
//
// A stream that forks from a caller's stream and joins it later. Both
// operations can be captured.
#ifndef IRIS_RT_CCL_SIDESTREAM_H
#define IRIS_RT_CCL_SIDESTREAM_H

#include "iris/rt/World.h"

namespace iris::ccl {

class SideStream {
public:
  explicit SideStream(rt::World &world) : world_(world) {}

  rt::Status open();
  bool isOpen() const { return end_.id != 0; }
  /// Frees the resources of open(), also after it failed.
  rt::Status close();

  rt::Stream stream() const { return stream_; }
  /// Work submitted to stream() from now on runs after the work in `from`.
  rt::Status fork(rt::Stream from);
  /// Work submitted to `to` from now on runs after the work in stream().
  rt::Status join(rt::Stream to);

private:
  rt::World &world_;
  rt::Stream stream_;
  rt::Event begin_, end_;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_SIDESTREAM_H
