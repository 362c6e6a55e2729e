// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream for work beside a caller's: it begins where the caller's is, and the
// caller's waits for it later.  All of it can be captured.
#ifndef IRIS_RT_CCL_SIDESTREAM_H
#define IRIS_RT_CCL_SIDESTREAM_H

#include "iris/rt/World.h"

namespace iris::ccl {

class SideStream {
public:
  explicit SideStream(rt::World &world) : world_(world) {}

  rt::Status open();
  bool isOpen() const { return end_.id != 0; }
  /// Frees what open() made, also if it failed.
  rt::Status close();

  rt::Stream stream() const { return stream_; }
  /// Work that follows comes after what `from` has now.
  rt::Status fork(rt::Stream from);
  /// What `to` gets from now on comes after the work so far.
  rt::Status join(rt::Stream to);

private:
  rt::World &world_;
  rt::Stream stream_;
  rt::Event begin_, end_;
};

} // namespace iris::ccl

#endif // IRIS_RT_CCL_SIDESTREAM_H
