// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands for NCCL behind IRIS_NCCL_LIBRARY: every function records that it was
// called, and creation returns a handle that is none of Iris'. The function
// that IRIS_FAKE_NCCL_FAILS names fails, as NCCL's do when the device fails.
#include <nccl_device.h>

#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <type_traits>

static const auto theComm = reinterpret_cast<ncclComm_t>(0x1230);

/// The names of the functions that were called.
static std::string &calls() {
  static std::string text;
  return text;
}

template <typename T>
static void fill(T argument) {
  if constexpr (std::is_same_v<T, ncclComm_t *>)
    *argument = theComm;
  if constexpr (std::is_same_v<T, int *>)
    *argument = 29999;
}

/// Calls a function that takes a communicator and returns a result in memory.
static ncclResult_t callByName(const char *name) {
  auto function = reinterpret_cast<decltype(&ncclCommGetAsyncError)>(
      ::dlsym(RTLD_DEFAULT, name));
  ncclResult_t error = ncclSuccess;
  // Not a tail call: the caller is this library.
  const ncclResult_t result = function(theComm, &error);
  return result == ncclSuccess ? error : result;
}

template <typename... Arguments>
static ncclResult_t record(const char *name, Arguments... arguments) {
  calls() += std::string(name) + " ";
  (fill(arguments), ...);
  const char *failing = std::getenv("IRIS_FAKE_NCCL_FAILS");
  if (failing && failing == std::string(name))
    return ncclUnhandledCudaError;
  // As NCCL does, by name: another library may come first.
  if (name == std::string("ncclSend"))
    return callByName("ncclCommGetAsyncError");
  return ncclSuccess;
}

/// The arguments of a call, to be passed with its name.
template <typename... Arguments>
static auto listOf(Arguments... arguments) {
  return [=](const char *name) { return record(name, arguments...); };
}

#pragma GCC visibility push(default)
extern "C" {
#define IRIS_NCCL_FUNCTION(name, parameters, arguments)                        \
  ncclResult_t name parameters { return listOf arguments(#name); }
#include "functions.inc"
#include "rccl_functions.inc"
#undef IRIS_NCCL_FUNCTION
#define IRIS_NCCL_DEVICE_FUNCTION(result, name, parameters, arguments)         \
  result name parameters {                                                     \
    calls() += #name " ";                                                      \
    return result{};                                                           \
  }
#include "device_functions.inc"
#undef IRIS_NCCL_DEVICE_FUNCTION

const char *ncclGetErrorString(ncclResult_t) { return "fake"; }
/// Returns what was called, so that tests need no other function.
const char *ncclGetLastError(ncclComm_t) { return calls().c_str(); }
}
#pragma GCC visibility pop
