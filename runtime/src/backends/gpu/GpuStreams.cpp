// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GpuStreams.cpp - Streams and events of GPU back ends ---------------===//
#include "backends/gpu/GpuBackend.h"

#include <algorithm>
#include <thread>

using namespace iris::rt;
using namespace iris::rt::gpu;

/// CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, hipErrorStreamCaptureImplicit.
static constexpr Result errorCaptureImplicit = 906;

//===----------------------------------------------------------------------===//
// Streams of the back end
//===----------------------------------------------------------------------===//

Status GpuBackend::checkStream(StreamHandle stream) const {
  return checkHandle(streams_, recentStreams_, stream.value, "stream");
}

Stream GpuBackend::driverStream(StreamHandle stream) const {
  if (!hasTranslatedHandles_.load(std::memory_order_acquire))
    return toPointer(stream.value);
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = streams_.find(stream.value);
  return toPointer(found == streams_.end() ? stream.value
                                           : found->second.driverStream);
}

Expected<uint64_t> GpuBackend::createDriverStream(bool isHighPriority) {
  Stream stream = nullptr;
  IRISRT_RETURN_IF_ERROR(checkDone(
      api_->streamCreate(&stream, streamNonBlocking,
                         isHighPriority ? streamHighPriority : streamOrdinary),
      "create a stream"));
  return fromPointer(stream);
}

/// The caller holds `mutex_`.
StreamHandle GpuBackend::addStream(const StreamState &state) {
  // A replaced stream keeps its handle, which may be the address of a new
  // stream; HIP's default stream is null, which is no handle.
  uint64_t handle = std::max<uint64_t>(state.driverStream, 1);
  while (streams_.count(handle))
    ++handle;
  if (handle != state.driverStream)
    hasTranslatedHandles_.store(true, std::memory_order_release);
  streams_[handle] = state;
  return StreamHandle{handle};
}

Expected<StreamHandle> GpuBackend::createStream(bool isHighPriority) {
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  IRISRT_ASSIGN_OR_RETURN(uint64_t created, createDriverStream(isHighPriority));
  std::lock_guard<std::mutex> lock(mutex_);
  return addStream({created, isHighPriority, /*isAdopted=*/false});
}

Status GpuBackend::destroyStream(StreamHandle stream,
                                 std::chrono::nanoseconds limit) {
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  if (isAdopted(stream) && isCaptured(driverStream(stream)))
    return Status(StatusCode::failedPrecondition,
                  "the stream is captured by its owner");
  Status done = synchronize(stream, limit);
  if (done.code() == StatusCode::timeout) {
    std::lock_guard<std::mutex> lock(mutex_);
    stuck_.insert(stream.value);
    return done;
  }
  Result result = success;
  if (!isAdopted(stream))
    result = api_->streamDestroy(driverStream(stream));
  {
    std::lock_guard<std::mutex> lock(mutex_);
    streams_.erase(stream.value);
    late_.erase(stream.value);
    stuck_.erase(stream.value);
    recentStreams_.remove(stream.value);
  }
  IRISRT_RETURN_IF_ERROR(done);
  return checkDone(result, "destroy a stream");
}

/// Whether work is running for which a wait has timed out. Memory that it may
/// use must be neither unmapped, which would fault, nor freed, which would wait
/// for it. The host does not know which memory that is, so all of it stays.
bool GpuBackend::mayKernelRun() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = late_.begin(); it != late_.end(); it = late_.erase(it)) {
    Stream stream = toPointer(streams_[*it].driverStream);
    if (isCaptured(stream) || api_->streamQuery(stream) == errorNotReady)
      return true;
    stuck_.erase(*it);
  }
  return false;
}

Expected<bool> GpuBackend::query(StreamHandle stream) {
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  const Stream on = driverStream(stream);
  if (isCaptured(on)) // a query would end the capture
    return Status(StatusCode::failedPrecondition,
                  "the stream is captured; end the capture before waiting "
                  "for the stream's work");
  Result result = api_->streamQuery(on);
  if (result == errorNotReady)
    return false;
  IRISRT_RETURN_IF_ERROR(checkDone(result, "run the work of a stream"));
  return true;
}

Status GpuBackend::synchronize(StreamHandle stream,
                               std::chrono::nanoseconds limit) {
  using Clock = std::chrono::steady_clock;
  // The drivers' wait functions have no time limit. Poll frequently at first,
  // because most waits are short, then yield the CPU.
  constexpr std::chrono::nanoseconds spin(50'000), longest(200'000);
  std::chrono::nanoseconds pause(1'000);
  const DeviceBinding bound = bind(); // once for all queries
  IRISRT_RETURN_IF_ERROR(bound.status());
  const Clock::time_point start = Clock::now();
  for (;;) {
    IRISRT_ASSIGN_OR_RETURN(bool done, query(stream));
    if (done)
      return Status::success();
    auto elapsed = Clock::now() - start;
    if (elapsed >= limit) {
      std::lock_guard<std::mutex> lock(mutex_);
      late_.insert(stream.value);
      return makeStatus(
          StatusCode::timeout, "%s: the stream was not idle within %.3f s",
          api_->name(), std::chrono::duration<double>(limit).count());
    }
    if (elapsed < spin) {
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(
        pause, std::chrono::nanoseconds(limit - elapsed)));
    pause = std::min(2 * pause, longest);
  }
}

//===----------------------------------------------------------------------===//
// Streams of the caller
//===----------------------------------------------------------------------===//

/// Fails for a stream of another device. Drivers without the query do not tell.
Status GpuBackend::checkDevice(Stream stream) const {
  if (api_->streamContext) {
    Context context = nullptr;
    IRISRT_RETURN_IF_ERROR(checkDone(api_->streamContext(stream, &context),
                                     "find the context of a stream"));
    if (context != context_)
      return makeStatus(StatusCode::invalidArgument,
                        "the stream belongs to another context; expected one "
                        "of the primary context of device %d",
                        options_.index);
  }
  if (api_->streamDevice) {
    Device device = 0;
    IRISRT_RETURN_IF_ERROR(checkDone(api_->streamDevice(stream, &device),
                                     "find the device of a stream"));
    if (device != device_)
      return makeStatus(StatusCode::invalidArgument,
                        "the stream belongs to device %d; expected device %d",
                        device, device_);
  }
  return Status::success();
}

Expected<StreamHandle> GpuBackend::adoptStream(void *native) {
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  Stream stream = native ? native : toPointer(api_->dialect.defaultStream);
  IRISRT_RETURN_IF_ERROR(checkDevice(stream));
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto &[handle, state] : streams_)
    if (state.driverStream == fromPointer(stream))
      return StreamHandle{handle};
  return addStream(
      {fromPointer(stream), /*isHighPriority=*/false, /*isAdopted=*/true});
}

Status GpuBackend::forgetStream(StreamHandle stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = streams_.find(stream.value);
  if (found == streams_.end() || !found->second.isAdopted)
    return Backend::forgetStream(stream);
  streams_.erase(found);
  late_.erase(stream.value);
  stuck_.erase(stream.value);
  recentStreams_.remove(stream.value);
  return Status::success();
}

Expected<void *> GpuBackend::nativeStream(StreamHandle stream) {
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  return static_cast<void *>(driverStream(stream));
}

Status GpuBackend::useThread() {
  int mode = captureRelaxed;
  if (api_->threadCaptureMode)
    IRISRT_RETURN_IF_ERROR(
        api_->check(api_->threadCaptureMode(&mode),
                    "let a thread disturb no captures of other threads"));
  return api_->check(api_->setContext ? api_->setContext(context_)
                                      : api_->setDevice(options_.index),
                     "make the device current on this thread");
}

/// After a fault of a kernel, every query of the context fails. In the thread's
/// usual mode, one could invalidate captures of other threads.
Status GpuBackend::checkDevice(StreamHandle stream) {
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  const Stream on = driverStream(stream);
  const Result result = isCaptured(on) ? success : api_->streamQuery(on);
  return result == errorNotReady ? Status::success()
                                 : checkDone(result, "run work of the device");
}

Status GpuBackend::callOnDevice(const std::function<Status()> &function) {
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  return function();
}

bool GpuBackend::isAdopted(StreamHandle stream) const {
  std::lock_guard<std::mutex> lock(mutex_);
  auto found = streams_.find(stream.value);
  return found != streams_.end() && found->second.isAdopted;
}

/// Other errors are those of the device; the next operation returns them.
bool GpuBackend::isCaptured(Stream stream) const {
  int status = 0;
  Result result =
      info_.canCapture ? api_->streamIsCapturing(stream, &status) : success;
  // The default stream must not be used while another stream that waits for it
  // is captured.
  return result == errorCaptureImplicit || (result == success && status != 0);
}

Expected<bool> GpuBackend::isCapturing(StreamHandle stream) {
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bindForStream();
  IRISRT_RETURN_IF_ERROR(bound.status());
  return isCaptured(driverStream(stream));
}

std::optional<uint64_t> GpuBackend::streamId(StreamHandle stream) {
  if (!api_->streamId || !checkStream(stream).ok())
    return std::nullopt;
  const DeviceBinding bound = bindForStream();
  const Stream on = driverStream(stream);
  unsigned long long id = 0;
  if (!bound.status().ok() || fromPointer(on) == streamPerThread ||
      api_->streamId(on, &id) != success)
    return std::nullopt;
  return id;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

Expected<EventHandle> GpuBackend::createEvent(bool isTimed) {
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  Event event = nullptr;
  IRISRT_RETURN_IF_ERROR(checkDone(
      api_->eventCreate(&event, isTimed ? eventDefault : eventDisableTiming),
      "create an event"));
  std::lock_guard<std::mutex> lock(mutex_);
  events_.insert(fromPointer(event));
  return EventHandle{fromPointer(event)};
}

Status GpuBackend::destroyEvent(EventHandle event) {
  IRISRT_RETURN_IF_ERROR(checkHandle(events_, event.value, "event"));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  {
    std::lock_guard<std::mutex> lock(mutex_);
    events_.erase(event.value);
  }
  return checkDone(api_->eventDestroy(toPointer(event.value)),
                   "destroy an event");
}

Status GpuBackend::record(EventHandle event, StreamHandle stream) {
  IRISRT_RETURN_IF_ERROR(checkHandle(events_, event.value, "event"));
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bindForStream();
  IRISRT_RETURN_IF_ERROR(bound.status());
  return checkDone(
      api_->eventRecord(toPointer(event.value), driverStream(stream)),
      "record an event");
}

Status GpuBackend::wait(StreamHandle stream, EventHandle event) {
  IRISRT_RETURN_IF_ERROR(checkHandle(events_, event.value, "event"));
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bindForStream();
  IRISRT_RETURN_IF_ERROR(bound.status());
  return checkDone(api_->streamWaitEvent(driverStream(stream),
                                         toPointer(event.value), /*flags=*/0),
                   "wait for an event");
}

Status GpuBackend::waitEqual(StreamHandle stream, uint64_t address,
                             uint32_t value) {
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bindForStream();
  IRISRT_RETURN_IF_ERROR(bound.status());
  Stream on = driverStream(stream);
  if (api_->streamWaitValue && canWaitForWords_)
    return checkDone(
        api_->streamWaitValue(on, address, value, streamWaitValueEqual),
        "enqueue a wait for a memory value");
  // Some versions of HIP wait immediately instead of capturing the wait.
  const bool captured = isCaptured(on);
  if (api_->streamWaitMasked && canWaitForWords_ && !captured)
    return checkDone(api_->streamWaitMasked(on, address, value,
                                            streamWaitValueEqual,
                                            /*mask=*/0xffffffff),
                     "enqueue a wait for a memory value");
  return makeStatus(StatusCode::unavailable,
                    "streams of this %s driver cannot wait for a memory "
                    "value%s",
                    api_->name(), captured ? " while they are captured" : "");
}

/// Calls the function and frees it: the driver calls this once, because no
/// capture has it.
static void callAndFree(void *argument) {
  std::unique_ptr<std::function<void()>> function(
      static_cast<std::function<void()> *>(argument));
  (*function)();
}

Status GpuBackend::callOnHost(StreamHandle stream,
                              std::function<void()> function) {
  IRISRT_RETURN_IF_ERROR(checkStream(stream));
  const DeviceBinding bound = bindForStream();
  IRISRT_RETURN_IF_ERROR(bound.status());
  Stream on = driverStream(stream);
  const bool captured = isCaptured(on);
  if (!api_->launchOnHost || captured)
    return makeStatus(StatusCode::unavailable,
                      "streams of this %s driver cannot call functions%s",
                      api_->name(), captured ? " while they are captured" : "");
  auto owned = std::make_unique<std::function<void()>>(std::move(function));
  Result result = api_->launchOnHost(on, callAndFree, owned.get());
  if (result == success)
    (void)owned.release(); // of the driver
  return checkDone(result, "enqueue a function of the host");
}

Expected<double> GpuBackend::elapsedMs(EventHandle start, EventHandle end) {
  IRISRT_RETURN_IF_ERROR(checkHandle(events_, start.value, "event"));
  IRISRT_RETURN_IF_ERROR(checkHandle(events_, end.value, "event"));
  const DeviceBinding bound = bind();
  IRISRT_RETURN_IF_ERROR(bound.status());
  float milliseconds = 0;
  Result result = api_->eventElapsed(&milliseconds, toPointer(start.value),
                                     toPointer(end.value));
  if (result == errorNotReady)
    return Status(StatusCode::failedPrecondition, "an event is not complete");
  IRISRT_RETURN_IF_ERROR(checkDone(result, "get the time between two events"));
  return static_cast<double>(milliseconds);
}
