// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Exports.cpp - The functions that the library exports ---------------===//
//
// Every function of the tables, by NCCL's name and by that for profilers: Iris'
// or, with IRIS_NCCL=off and for its communicators, the real library's.
#include "Api.h"
#include "RealLibrary.h"
#include "Result.h"

#include <type_traits>

using namespace iris::nccl;
using namespace iris::rt;

/// The communicator among the arguments of a call; null without one.
template <typename... Arguments>
static ncclComm_t commOf(Arguments... arguments) {
  ncclComm_t comm = nullptr;
  [[maybe_unused]] auto look = [&](auto argument) {
    if constexpr (std::is_same_v<decltype(argument), ncclComm_t>)
      comm = argument;
  };
  (look(arguments), ...);
  return comm;
}

static bool isForOthers(ncclComm_t comm, const void *caller) {
  return RealLibrary::servesAll() || RealLibrary::serves(comm, caller);
}

/// The real library's function.
template <typename Function>
static Expected<Function> realFunction(const char *name,
                                       Function NcclLibrary::*function) {
  IRISRT_ASSIGN_OR_RETURN(const NcclLibrary *real,
                          RealLibrary::findForOthers());
  if (!real)
    return Status(StatusCode::failedPrecondition,
                  "IRIS_NCCL=off needs the absolute path of NCCL or RCCL in "
                  "IRIS_NCCL_LIBRARY");
  if (!(real->*function))
    return makeStatus(StatusCode::failedPrecondition,
                      "the library behind Iris has no %s", name);
  return real->*function;
}

/// What a function of nccl_device.h returns without the real library, beside
/// the last error.
template <typename Result>
static Result failureOf(const char *name, const Status &status) {
  ncclResult_t result = finish(name, status);
  if constexpr (std::is_same_v<Result, ncclResult_t>)
    return result;
  return {};
}

#pragma GCC visibility push(default)
extern "C" {

#define IRIS_NCCL_FUNCTION(name, parameters, arguments)                        \
  ncclResult_t name parameters {                                               \
    if (!isForOthers(commOf arguments, __builtin_return_address(0)))           \
      return api::name arguments;                                              \
    auto real = realFunction(#name, &NcclLibrary::name);                       \
    return real.ok() ? (*real)arguments : finish(#name, real.status());        \
  }                                                                            \
  ncclResult_t p##name parameters { return ::name arguments; }
#include "iris-nccl/functions.inc"
#include "iris-nccl/rccl_functions.inc"
#undef IRIS_NCCL_FUNCTION

#define IRIS_NCCL_DEVICE_FUNCTION(result, name, parameters, arguments)         \
  result name parameters {                                                     \
    if (!isForOthers(commOf arguments, __builtin_return_address(0)))           \
      return api::name arguments;                                              \
    auto real = realFunction(#name, &NcclLibrary::name);                       \
    return real.ok() ? (*real)arguments                                        \
                     : failureOf<result>(#name, real.status());                \
  }                                                                            \
  result p##name parameters { return ::name arguments; }
#include "iris-nccl/device_functions.inc"
#undef IRIS_NCCL_DEVICE_FUNCTION

const char *ncclGetErrorString(ncclResult_t result) {
  return resultText(result);
}
const char *pncclGetErrorString(ncclResult_t result) {
  return resultText(result);
}
const char *ncclGetLastError(ncclComm_t comm) {
  if (isForOthers(comm, __builtin_return_address(0))) {
    auto real =
        realFunction("ncclGetLastError", &NcclLibrary::ncclGetLastError);
    if (real.ok())
      return (*real)(comm);
  }
  return lastError();
}
const char *pncclGetLastError(ncclComm_t comm) {
  return ncclGetLastError(comm);
}
ncclResult_t irisNcclGetLocalUniqueId(ncclUniqueId *id) {
  return api::getLocalUniqueId(id);
}
/// NCCL forgets here what it read of the environment; Iris reads it once.
void ncclResetDebugInit(void) {}
void pncclResetDebugInit(void) {}

} // extern "C"
#pragma GCC visibility pop
