// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared declarations of the fake GPU driver (for tests only, see README.md).
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
constexpr Result errorCaptureUnsupported = 900;
constexpr Result errorCaptureUnjoined = 904;

/// The failure injected for this function, or null.
Result injectedFailure(const char *function);

/// Records a misuse by the caller, and fails.
Result misuse(const char *what);

/// The calling thread's device, or -1.
int currentDevice();

/// A device's context: its number plus 1. Null for -1.
Context contextOf(int device);

/// Records a misuse if the thread has no device.
bool isBound(const char *function);

/// Records a misuse if the thread's mode forbids a call that may depend on
/// captured work, as a capture of the global mode is in progress.
bool mayDisturbCaptures(const char *function);

/// Whether a kernel runs from which the call would take memory or code.
bool takesFromKernels();

/// A piece of work; false: it failed, and all later work fails too.
using Work = std::function<bool()>;

class FakeStream;
struct FakeEvent;

/// Work that streams record while they are captured: one list for all of them,
/// since work is captured after its dependencies. So a graph runs its branches
/// one after another, which the driver does not guarantee, but allows.
struct FakeCapture {
  /// A stream that was captured along with the first one. The event recorded
  /// after its last work must be joined.
  struct Branch {
    const FakeStream *stream;
    const FakeEvent *tail = nullptr;
    bool isJoined = false;
  };
  std::vector<Work> work;
  std::vector<Branch> branches;
  bool ended = false;
  bool isGlobal = false;

  /// Records that the stream has new work; with an event if the work is a
  /// record.
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
  /// The device of the thread that created it.
  const int device = currentDevice();
  /// Differs from that of every other stream, also of those that are gone.
  const unsigned long long id;

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

/// Start of every function: checks for an injected failure first.
#define FAKE_ENTER(function)                                                   \
  if (Result failure = injectedFailure(function))                              \
  return failure

/// The same for functions that use the calling thread's device.
#define FAKE_ENTER_BOUND(function)                                             \
  FAKE_ENTER(function);                                                        \
  if (!isBound(function))                                                      \
  return errorInvalidContext

} // namespace fakegpu

#endif // IRIS_TEST_RUNTIME_SUPPORT_FAKEDRIVER_H
