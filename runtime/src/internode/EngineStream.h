// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EngineStream.h - A stream for engines between nodes ------*- C++ -*-===//
#ifndef IRIS_RT_INTERNODE_ENGINESTREAM_H
#define IRIS_RT_INTERNODE_ENGINESTREAM_H

#include "iris/rt/World.h"

namespace iris::rt {

/// A stream of a world on which an engine can enqueue transfers. Work of other
/// streams may wait for them.
class EngineStream {
public:
  explicit EngineStream(World &world) : world_(world) {}
  EngineStream(const EngineStream &) = delete;
  ~EngineStream();

  Status open();
  bool isOpen() const { return stream_.id != 0; }
  /// Waits for the work, and destroys the stream.
  Status close();
  Stream stream() const { return stream_; }

private:
  World &world_;
  Stream stream_;
  void *host_ = nullptr; ///< of createHostStream()
};

/// The handle by which an engine knows a stream.
/// \retval unavailable the stream has none (Backend::nativeStream)
Expected<void *> nativeStreamOf(World &world, Stream stream);

} // namespace iris::rt

#endif // IRIS_RT_INTERNODE_ENGINESTREAM_H
