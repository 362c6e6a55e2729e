// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileAhead.cpp - Kernels are compiled before they are used -------===//
#include "ccl/CompileAhead.h"

#include <algorithm>
#include <atomic>
#include <thread>

using namespace iris::ccl;

/// Compilers that run at once on each rank.
static constexpr size_t maxCompilers = 8;

void iris::ccl::compileAhead(KernelCache &cache,
                             const std::vector<KernelRequest> &requests) {
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < requests.size(); i = next++)
      cache.find(requests[i])
          .status()
          .ignore("the load of the kernel reports it");
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(requests.size(), maxCompilers); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
}
