// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EngineLibrary.cpp - A library with an engine -----------------------===//
#include "internode/EngineLibrary.h"

#include <array>
#include <csignal>
#include <dlfcn.h>
#include <mutex>

using namespace iris::rt;

namespace {
/// Restores the process's signal handlers when it goes out of scope.
class SignalGuard {
public:
  SignalGuard() {
    for (size_t i = 1; i < actions_.size(); ++i)
      ::sigaction(static_cast<int>(i), nullptr, &actions_[i]);
  }
  SignalGuard(const SignalGuard &) = delete;
  ~SignalGuard() {
    for (size_t i = 1; i < actions_.size(); ++i) {
      struct sigaction now = {};
      if (::sigaction(static_cast<int>(i), nullptr, &now) == 0 &&
          now.sa_sigaction != actions_[i].sa_sigaction)
        ::sigaction(static_cast<int>(i), &actions_[i], nullptr);
    }
  }

private:
  std::array<struct sigaction, 32> actions_{};
};
} // namespace

static std::string defaultPath() {
  Dl_info info{};
  constexpr char name[] = "libiris_ucx.so";
  if (::dladdr(reinterpret_cast<void *>(&openEngineLibrary), &info) == 0 ||
      !info.dli_fname)
    return name;
  const std::string self = info.dli_fname;
  const size_t slash = self.rfind('/');
  return slash == std::string::npos ? name : self.substr(0, slash + 1) + name;
}

Expected<const IrisRtInterNodeApi *>
iris::rt::openEngineLibrary(const std::string &given) {
  const std::string path = given.empty() ? defaultPath() : given;
  // Two threads would restore each other's handlers.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  SignalGuard guard;
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library)
    return makeStatus(StatusCode::unavailable,
                      "cannot open the engine between nodes '%s' "
                      "(IRIS_INTERNODE_LIBRARY): %s",
                      path.c_str(), ::dlerror());
  auto function = reinterpret_cast<IrisRtInterNodeApiFunction>(
      ::dlsym(library, IRISRT_INTERNODE_SYMBOL));
  const IrisRtInterNodeApi *api = function ? function() : nullptr;
  if (!api)
    return makeStatus(StatusCode::failedPrecondition,
                      "'%s' is no engine between nodes; expected the function "
                      "%s",
                      path.c_str(), IRISRT_INTERNODE_SYMBOL);
  if (api->version != IRISRT_INTERNODE_VERSION)
    return makeStatus(StatusCode::failedPrecondition,
                      "'%s' has version %u of the interface of engines; "
                      "expected %u",
                      path.c_str(), api->version, IRISRT_INTERNODE_VERSION);
  return api;
}
