// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files of the fake GPU driver share (for tests only, see README.md).
#ifndef IRIS_TEST_RUNTIME_SUPPORT_FAKEDRIVER_H
#define IRIS_TEST_RUNTIME_SUPPORT_FAKEDRIVER_H

#include "FakeGpu.h"
#include "backends/gpu/GpuTypes.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace fakegpu {

using namespace iris::rt::gpu;

constexpr Result errorInvalidImage = 200;
constexpr Result errorInvalidContext = 201;
constexpr Result errorInvalidHandle = 400;
constexpr Result errorLaunchFailed = 719;

/// Null: the function may go on; otherwise the result that was ordered for it.
Result injectedFailure(const char *function);

/// Notes that the caller broke a rule, and fails.
Result misuse(const char *what);

/// A piece of work; false: it failed, and so will all later work.
using Work = std::function<bool()>;

/// A stream is a thread with a queue, or a list while it is captured.
class FakeStream {
public:
  FakeStream();
  ~FakeStream();
  void push(Work work);
  Result query();
  bool capturing = false;
  std::vector<Work> captured;

private:
  void run();
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Work> queue;
  bool busy = false, stop = false, failed = false;
  std::thread thread;
};

/// Runs `work` on `stream`, or records it.
Result enqueue(Stream stream, Work work);

/// Exports a function under its CUDA and HIP names.
#define FAKE_EXPORT(function, name)                                            \
  extern "C" __attribute__((visibility("default"))) decltype(function) name    \
      __attribute__((alias(#function)));

/// Starts every function: an ordered failure comes first.
#define FAKE_ENTER(function)                                                   \
  if (Result failure = injectedFailure(function))                              \
  return failure

} // namespace fakegpu

#endif // IRIS_TEST_RUNTIME_SUPPORT_FAKEDRIVER_H
