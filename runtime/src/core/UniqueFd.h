// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- UniqueFd.h - An owned file descriptor --------------------*- C++ -*-===//
#ifndef IRIS_RT_CORE_UNIQUEFD_H
#define IRIS_RT_CORE_UNIQUEFD_H

#include <unistd.h>
#include <utility>

namespace iris::rt {

/// Owns a file descriptor and closes it; -1 means none.
class UniqueFd {
public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd &operator=(UniqueFd &&other) noexcept {
    if (this != &other)
      reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { reset(); }

  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0)
      ::close(fd_);
    fd_ = fd;
  }

private:
  int fd_ = -1;
};

} // namespace iris::rt

#endif // IRIS_RT_CORE_UNIQUEFD_H
