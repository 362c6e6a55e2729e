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
constexpr Result errorCaptureUnjoined = 904;

/// Null: the function may go on; otherwise the result that was ordered for it.
Result injectedFailure(const char *function);

/// Notes that the caller broke a rule, and fails.
Result misuse(const char *what);

/// The calling thread's device, or -1.
int currentDevice();

/// What is asked of a thread without a device is a misuse.
bool isBound(const char *function);

/// Whether a kernel runs from which the call would take something away.
bool takesFromKernels();

/// A piece of work; false: it failed, and so will all later work.
using Work = std::function<bool()>;

class FakeStream;
struct FakeEvent;

/// What streams record while they are captured: all of them one list, since
/// work is captured after what it depends on.  So a graph runs its branches one
/// after another, which the driver does not promise, but may do.
struct FakeCapture {
  /// A stream that was captured along with the first one.  Somebody has to wait
  /// for the event that was recorded behind its last work.
  struct Branch {
    const FakeStream *stream;
    const FakeEvent *tail = nullptr;
    bool isJoined = false;
  };
  std::vector<Work> work;
  std::vector<Branch> branches;
  bool ended = false;

  /// The stream goes on; with an event if that is what it does.
  void goesOn(const FakeStream *stream, const FakeEvent *tail = nullptr);
  void waitsFor(const FakeEvent *event);
};

/// A stream is a thread with a queue, or part of a capture.
class FakeStream {
public:
  FakeStream();
  ~FakeStream();
  void push(Work work);
  Result query();
  bool isCaptured() const { return capture && !capture->ended; }
  std::shared_ptr<FakeCapture> capture;
  /// Of the thread that created it.
  const int device = currentDevice();

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

/// The same for functions that work on the calling thread's device.
#define FAKE_ENTER_BOUND(function)                                             \
  FAKE_ENTER(function);                                                        \
  if (!isBound(function))                                                      \
  return errorInvalidContext

} // namespace fakegpu

#endif // IRIS_TEST_RUNTIME_SUPPORT_FAKEDRIVER_H
