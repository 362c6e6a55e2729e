// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ContestedDirectory.h - A name that another user takes ----*- C++ -*-===//
#ifndef IRIS_TEST_RUNTIME_SUPPORT_CONTESTEDDIRECTORY_H
#define IRIS_TEST_RUNTIME_SUPPORT_CONTESTEDDIRECTORY_H

#include <atomic>
#include <chrono>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace iris::rt::test {

/// Creates and removes a directory in a loop, as another user may do in /tmp.
/// Only root can give it another owner; for other users its mode, 0777, is what
/// makes it unusable. As in /tmp, what another user created is not removed.
class ContestedDirectory {
public:
  explicit ContestedDirectory(std::string path)
      : path_(std::move(path)), thread_([this] { run(); }) {}
  ContestedDirectory(const ContestedDirectory &) = delete;
  ~ContestedDirectory() {
    isDone_ = true;
    thread_.join();
  }

  /// Makes one that stays.
  static void occupy(const std::string &path) {
    constexpr unsigned otherUser = 65534;
    if (::mkdir(path.c_str(), 0777) != 0)
      return;
    if (::geteuid() == 0 && ::chown(path.c_str(), otherUser, otherUser) != 0)
      return;
    ::chmod(path.c_str(), 0777);
  }
  /// Waits until the name is taken once more.
  void awaitRound() const {
    for (int before = rounds_; rounds_ == before;)
      pause();
  }

private:
  void run() {
    while (!isDone_) {
      struct stat before;
      if (::stat(path_.c_str(), &before) != 0) {
        occupy(path_);
        rounds_ += isForeign();
      }
      pause();
      if (isForeign())
        ::rmdir(path_.c_str());
      pause();
    }
  }
  bool isForeign() const {
    struct stat info;
    return ::stat(path_.c_str(), &info) == 0 && (info.st_mode & 0777) == 0777;
  }
  static void pause() {
    std::this_thread::sleep_for(std::chrono::microseconds(700));
  }

  const std::string path_;
  std::atomic<bool> isDone_{false};
  std::atomic<int> rounds_{0};
  std::thread thread_; // last: it uses the other members
};

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_CONTESTEDDIRECTORY_H
