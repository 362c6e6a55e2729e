// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Devices.h"
#include "support/ccl/Solve.h"

using namespace iris::rt;
using namespace iris::rt::test;

Expected<Buffers> Buffers::create(World &world, uint64_t bytes) {
  Buffers buffers;
  IRISRT_ASSIGN_OR_RETURN(buffers.in, world.allocate(bytes));
  IRISRT_ASSIGN_OR_RETURN(buffers.out, world.allocate(bytes));
  IRISRT_ASSIGN_OR_RETURN(
      buffers.backend,
      createBackend(world.deviceKind(),
                    deviceIndexOf(world.deviceKind(), world.rank())));
  IRISRT_ASSIGN_OR_RETURN(buffers.ordinaryIn, buffers.backend->allocate(bytes));
  IRISRT_ASSIGN_OR_RETURN(buffers.ordinaryOut,
                          buffers.backend->allocate(bytes));
  return std::move(buffers);
}

Buffers::~Buffers() {
  for (uint64_t address : {ordinaryIn, ordinaryOut})
    if (backend && address != 0)
      backend->free(address).ignore("a destructor cannot report errors");
}
