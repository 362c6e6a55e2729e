// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmulatorProcess.h - The process of an emulator -----------*- C++ -*-===//
#ifndef IRIS_RT_BACKENDS_EMULATED_EMULATORPROCESS_H
#define IRIS_RT_BACKENDS_EMULATED_EMULATORPROCESS_H

#include "backends/Backend.h"
#include "backends/emulated/EmulatorProtocol.h"
#include "core/Deadline.h"
#include "core/OsThread.h"

#include <condition_variable>
#include <map>
#include <optional>
#include <string_view>

namespace iris::rt {

/// How long an emulator may take.
struct EmulatorLimits {
  /// From its start to its first reply.
  std::chrono::milliseconds start = std::chrono::seconds(300);
  /// Without any message while a request is pending.
  std::chrono::milliseconds answer = std::chrono::seconds(120);
  /// While a request is pending, without an answer to any request: answers to
  /// pings do not show that a kernel makes progress. Longer than the default
  /// limits of waits and of host calls, which report more; none: unlimited.
  std::optional<std::chrono::milliseconds> progress = std::chrono::minutes(10);
};

/// An emulator, which is a child process, and requests to it. A thread starts
/// the process, receives its messages and waits for its end. After the process
/// has ended, been silent for too long or sent a malformed message, every
/// request fails with the reason.
///
/// The methods may be called from any thread.
class EmulatorProcess {
public:
  static Expected<std::unique_ptr<EmulatorProcess>>
  start(const std::string &program, const std::string &chip,
        const EmulatorLimits &limits = EmulatorLimits());
  /// Ends the process.
  ~EmulatorProcess();

  /// False if the emulator's process already uses the addresses.
  Expected<bool> reserve(uint64_t address, uint64_t bytes);
  Expected<bool> map(int fd, uint64_t address, uint64_t bytes);
  Status unmap(uint64_t address, uint64_t bytes);
  Status release(uint64_t address, uint64_t bytes);
  Expected<uint64_t> load(const void *image, size_t bytes);
  Status unload(uint64_t module);
  Expected<uint64_t> find(uint64_t module, std::string_view symbol);
  /// Returns when the kernel has ended.
  Status launch(uint64_t kernel, const LaunchConfig &config, const void *args,
                size_t argBytes);

  /// The maximum number of concurrent programs of a launch.
  uint32_t maxPrograms() const { return maxPrograms_; }
  /// Kills the process; pending and later requests fail with this status.
  void kill(const Status &why);

private:
  struct Answer {
    bool isDone = false;
    EmulatorResult result = EmulatorResult::ok;
    uint64_t value = 0;
    std::string text;
  };

  EmulatorProcess(std::string program, const EmulatorLimits &limits)
      : program_(std::move(program)), limits_(limits) {}

  Expected<Answer> request(EmulatorRequest request, std::string_view name = {},
                           std::string_view args = {}, int fd = -1);
  /// The same; fails if the result is not `ok`.
  Expected<uint64_t> valueOf(EmulatorRequest request,
                             std::string_view name = {},
                             std::string_view args = {}, int fd = -1);
  Expected<bool> acceptedBy(EmulatorRequest request, int fd = -1);
  /// Sends a request within a limit.
  Status send(const EmulatorRequest &request, std::string_view name,
              std::string_view args, int fd, std::chrono::milliseconds limit);

  // Of the thread.
  void run(UniqueFd theirs, UniqueFd errors);
  void receiveAll();
  /// Receives one message; an error ends the process.
  Expected<bool> receive();
  Status checkSilence();
  /// ", while its process 71 was stopped (signal 19)", or nothing.
  std::string describeStop() const;
  void readMessages();
  /// Waits for the process, which is killed if it does not end by itself, and
  /// describes its end.
  std::string reap();
  void failAll(const Status &why);

  const std::string program_;
  const EmulatorLimits limits_;
  uint32_t maxPrograms_ = 0;
  UniqueFd socket_, messages_;
  std::string messageText_; ///< the last output of the process
  OsThread thread_;

  std::mutex mutex_; // guards the members below
  std::condition_variable changed_;
  pid_t pid_ = -1; ///< -1 before the start and after the end
  bool isStarted_ = false;
  std::map<uint32_t, Answer *> pending_;
  uint32_t nextId_ = 1;
  /// The times of the last reply, of the last ping, and of the last reply that
  /// was not to a ping.
  Deadline::Clock::time_point heard_, pinged_, progressed_;
  Status failure_;
};

} // namespace iris::rt

#endif // IRIS_RT_BACKENDS_EMULATED_EMULATORPROCESS_H
