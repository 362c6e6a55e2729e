// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices, contexts and errors of the fake driver (for tests only).
#include "FakeDriver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace fakegpu;

extern "C" __attribute__((visibility("default"))) FakeGpuControl *
fakeGpuControl() {
  static FakeGpuControl *control = [] {
    auto *fresh = new FakeGpuControl;
    // For processes in which no test can set it.
    const char *text = std::getenv("IRIS_FAKE_GPU_VIRTUAL_MEMORY");
    if (text)
      fresh->virtualMemory = std::strcmp(text, "0") != 0;
    return fresh;
  }();
  return control;
}

static FakeGpuControl &control() { return *fakeGpuControl(); }

Result fakegpu::injectedFailure(const char *function) {
  FakeGpuControl &c = control();
  if (!c.failFunction || std::strcmp(c.failFunction, function) != 0)
    return success;
  if (c.failAfter-- > 0)
    return success;
  return c.failResult;
}

Result fakegpu::misuse(const char *what) {
  std::fprintf(stderr, "fake gpu driver: misuse: %s\n", what);
  ++control().misuses;
  return errorInvalidValue;
}

/// The default device of a thread: the first one on HIP, none on CUDA.
static std::atomic<bool> isHip{false};
static thread_local int boundDevice = -1;

int fakegpu::currentDevice() {
  return boundDevice < 0 && isHip ? 0 : boundDevice;
}

Context fakegpu::contextOf(int device) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(device + 1));
}

bool fakegpu::isBound(const char *function) {
  if (currentDevice() >= 0)
    return true;
  (void)misuse(function);
  return false;
}

bool fakegpu::takesFromKernels() {
  if (control().kernelsRunning == 0)
    return false;
  ++control().takenFromKernels;
  return true;
}

extern "C" __attribute__((visibility("default"))) int fakeGpuCurrentDevice() {
  return boundDevice;
}

extern "C" __attribute__((visibility("default"))) void
fakeGpuBindDevice(int device) {
  boundDevice = device;
}

extern "C" {

Result fake_cuda_init(unsigned flags) {
  FAKE_ENTER("init");
  if (flags != 0)
    return misuse("init with flags");
  isHip = false;
  return control().devices > 0 ? success : errorNoDevice;
}

Result fake_hip_init(unsigned flags) {
  Result result = fake_cuda_init(flags);
  isHip = true;
  return result;
}

Result fake_cuda_version(int *version) {
  *version = control().cudaVersion;
  return success;
}

Result fake_hip_version(int *version) {
  *version = control().hipVersion;
  return success;
}

Result fake_device_count(int *count) {
  FAKE_ENTER("deviceCount");
  *count = control().devices;
  return success;
}

Result fake_device_get(Device *device, int index) {
  if (index < 0 || index >= control().devices)
    return errorInvalidDevice;
  *device = index;
  return success;
}

Result fake_device_name(char *name, int bytes, Device device) {
  std::snprintf(name, static_cast<size_t>(bytes), "Fake GPU %d", device);
  return success;
}

Result fake_device_uuid(void *uuid, Device device) {
  std::memset(uuid, control().devicesLookAlike ? 0 : device + 1, 16);
  return success;
}

Result fake_device_bus(char *id, int bytes, Device device) {
  std::snprintf(id, static_cast<size_t>(bytes), "0000:%02x:00.0",
                control().devicesLookAlike ? 0 : device + 1);
  return success;
}

Result fake_device_memory(size_t *bytes, Device) {
  *bytes = size_t(1) << 34;
  return success;
}

Result fake_cuda_attribute(int *value, int attribute, Device) {
  static const std::map<int, int> values = {
      {10, 32},   {13, 1980000}, {16, 132}, {36, 3201000},
      {37, 6144}, {75, 9},       {76, 0},   {97, 232448}};
  if (attribute == 102 || attribute == 103) {
    *value = control().virtualMemory;
    return success;
  }
  auto found = values.find(attribute);
  if (found == values.end())
    return misuse("unknown CUDA device attribute");
  *value = attribute == 16 && control().processors ? control().processors
                                                   : found->second;
  return success;
}

Result fake_hip_attribute(int *value, int attribute, Device) {
  static const std::map<int, int> values = {
      {5, 2100000}, {63, 304}, {74, 65536}, {87, 64}};
  auto found = values.find(attribute);
  if (found == values.end())
    return misuse("unknown HIP device attribute");
  *value = attribute == 63 && control().processors ? control().processors
                                                   : found->second;
  return success;
}

Result fake_can_access_peer(int *yes, Device device, Device peer) {
  *yes = control().canAccessPeer && device != peer;
  return success;
}

Result fake_peer_attribute(int *value, int attribute, Device device,
                           Device peer) {
  FAKE_ENTER("peerAttribute");
  const GpuDialect &dialect = isHip ? hipDialect : cudaDialect;
  if (device == peer)
    return errorInvalidDevice;
  *value = attribute == dialect.peerAccess    ? control().canAccessPeer
           : attribute == dialect.peerAtomics ? 1
                                              : 0;
  return success;
}

Result fake_context_retain(Context *context, Device device) {
  FAKE_ENTER("primaryContextRetain");
  ++control().contexts;
  *context = contextOf(device);
  return success;
}

Result fake_context_release(Device) {
  --control().contexts;
  return success;
}

/// Null unbinds.
Result fake_set_context(Context context) {
  FAKE_ENTER("setContext");
  int device = static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 1;
  if (device >= control().devices)
    return errorInvalidContext;
  ++control().bindings;
  boundDevice = device;
  return success;
}

Result fake_get_context(Context *context) {
  FAKE_ENTER("contextCurrent");
  *context = contextOf(boundDevice);
  return success;
}

Result fake_context_device(Device *device) {
  FAKE_ENTER("contextDevice");
  if (boundDevice < 0)
    return errorInvalidContext;
  *device = boundDevice;
  return success;
}

Result fake_set_device(int index) {
  FAKE_ENTER("setDevice");
  if (index < 0 || index >= control().devices)
    return errorInvalidDevice;
  ++control().bindings;
  boundDevice = index;
  return success;
}

Result fake_get_device(int *index) {
  FAKE_ENTER("deviceCurrent");
  *index = currentDevice();
  return success;
}

static Result enablePeer(int peer) {
  static std::mutex mutex; // ranks may be threads
  static std::map<std::pair<int, int>, bool> enabled;
  std::lock_guard<std::mutex> lock(mutex);
  bool &done = enabled[{currentDevice(), peer}];
  if (done)
    return errorPeerAccessAlreadyEnabled;
  done = true;
  ++control().peerAccesses;
  return success;
}

Result fake_enable_peer_context(Context peer, unsigned) {
  return enablePeer(static_cast<int>(reinterpret_cast<uintptr_t>(peer)) - 1);
}

Result fake_enable_peer_device(int peer, unsigned) { return enablePeer(peer); }

// Like hipDeviceProp_t of HIP 6: the target's name is at byte 1160.
Result fake_properties6(void *properties, int) {
  auto *bytes = static_cast<char *>(properties);
  std::memset(bytes, 0, 1472);
  std::strcpy(bytes, "gfx is how this name starts");
  std::strcpy(bytes + 1160, control().hipTarget);
  return success;
}

// Like HIP 5's: at byte 396.
Result fake_properties5(void *properties, int) {
  auto *bytes = static_cast<char *>(properties);
  std::memset(bytes, 0, 792);
  std::strcpy(bytes + 396, control().hipTarget);
  return success;
}

Result fake_cuda_error_name(Result error, const char **name) {
  *name = error == errorOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR";
  return success;
}

Result fake_cuda_error_text(Result error, const char **text) {
  *text = error == errorOutOfMemory ? "out of memory" : "fake failure";
  return success;
}

const char *fake_hip_error_name(Result) { return "hipError"; }
const char *fake_hip_error_text(Result) { return "fake failure"; }

} // extern "C"

FAKE_EXPORT(fake_cuda_init, cuInit)
FAKE_EXPORT(fake_hip_init, hipInit)
FAKE_EXPORT(fake_cuda_version, cuDriverGetVersion)
FAKE_EXPORT(fake_hip_version, hipRuntimeGetVersion)
FAKE_EXPORT(fake_device_count, cuDeviceGetCount)
FAKE_EXPORT(fake_device_count, hipGetDeviceCount)
FAKE_EXPORT(fake_device_get, cuDeviceGet)
FAKE_EXPORT(fake_device_get, hipDeviceGet)
FAKE_EXPORT(fake_device_name, cuDeviceGetName)
FAKE_EXPORT(fake_device_name, hipDeviceGetName)
FAKE_EXPORT(fake_device_uuid, cuDeviceGetUuid_v2)
FAKE_EXPORT(fake_device_uuid, hipDeviceGetUuid)
FAKE_EXPORT(fake_device_bus, cuDeviceGetPCIBusId)
FAKE_EXPORT(fake_device_bus, hipDeviceGetPCIBusId)
FAKE_EXPORT(fake_device_memory, cuDeviceTotalMem_v2)
FAKE_EXPORT(fake_device_memory, hipDeviceTotalMem)
FAKE_EXPORT(fake_cuda_attribute, cuDeviceGetAttribute)
FAKE_EXPORT(fake_hip_attribute, hipDeviceGetAttribute)
FAKE_EXPORT(fake_can_access_peer, cuDeviceCanAccessPeer)
FAKE_EXPORT(fake_can_access_peer, hipDeviceCanAccessPeer)
FAKE_EXPORT(fake_peer_attribute, cuDeviceGetP2PAttribute)
FAKE_EXPORT(fake_peer_attribute, hipDeviceGetP2PAttribute)
FAKE_EXPORT(fake_context_retain, cuDevicePrimaryCtxRetain)
FAKE_EXPORT(fake_context_release, cuDevicePrimaryCtxRelease_v2)
FAKE_EXPORT(fake_set_context, cuCtxSetCurrent)
FAKE_EXPORT(fake_get_context, cuCtxGetCurrent)
FAKE_EXPORT(fake_context_device, cuCtxGetDevice)
FAKE_EXPORT(fake_set_device, hipSetDevice)
FAKE_EXPORT(fake_get_device, hipGetDevice)
FAKE_EXPORT(fake_enable_peer_context, cuCtxEnablePeerAccess)
FAKE_EXPORT(fake_enable_peer_device, hipDeviceEnablePeerAccess)
FAKE_EXPORT(fake_properties6, hipGetDevicePropertiesR0600)
FAKE_EXPORT(fake_properties5, hipGetDeviceProperties)
FAKE_EXPORT(fake_cuda_error_name, cuGetErrorName)
FAKE_EXPORT(fake_cuda_error_text, cuGetErrorString)
FAKE_EXPORT(fake_hip_error_name, hipGetErrorName)
FAKE_EXPORT(fake_hip_error_text, hipGetErrorString)
