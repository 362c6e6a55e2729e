// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fake driver in a process that loads the driver by its name. CTest puts
// the fake first in the library path.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_FAKE_GPU_LOADEDFAKE_H
#define IRIS_TEST_RUNTIME_SUPPORT_FAKE_GPU_LOADEDFAKE_H

#include "support/fake_gpu/FakeGpu.h"

#include <dlfcn.h>

namespace iris::rt::test {

/// A function of FakeGpu.h; null without the fake.
template <typename Function>
Function *fake(const char *name) {
  // HIP's is the same file.
  void *library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function *>(library ? ::dlsym(library, name)
                                              : nullptr);
}

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_FAKE_GPU_LOADEDFAKE_H
