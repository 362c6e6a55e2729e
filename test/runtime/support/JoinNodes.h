// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins a job whose nodes a test declares on one machine.
#ifndef IRIS_TEST_RUNTIME_SUPPORT_JOINNODES_H
#define IRIS_TEST_RUNTIME_SUPPORT_JOINNODES_H

#include "iris/rt/Job.h"
#include "support/SharedText.h"

namespace iris::rt::test {

/// Joins as a rank of the node. Rank 0 opens a port of `host` and tells
/// `address` to the others.
inline Expected<std::unique_ptr<Job>>
joinNodes(const LaunchInfo &launch, const std::string &node,
          SharedText &address, const std::string &host = "127.0.0.1",
          double limit = 20) {
  JobOptions options;
  options.launch = launch;
  options.launch->node = node;
  options.joinLimit = options.collectiveLimit = limit;
  if (launch.rank == 0) {
    IRISRT_ASSIGN_OR_RETURN(options.launch->address, Job::reserveAddress(host));
    address.set(options.launch->address);
  } else {
    options.launch->address = address.get();
  }
  return Job::create(options);
}

} // namespace iris::rt::test

#endif // IRIS_TEST_RUNTIME_SUPPORT_JOINNODES_H
