// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that print what the analyses of lib/Analysis find, as remarks at the
// ops in question, or check what passes have made. They change nothing.
#ifndef IRIS_TEST_LIB_TESTPASSES_H
#define IRIS_TEST_LIB_TESTPASSES_H

namespace mlir::iris::test {

/// -test-print-barriers, -test-print-program-order,
/// -test-print-workgroup-memory.
void registerTestAccessPasses();
/// -test-verify-barriers.
void registerTestBarrierPathsPass();
/// -test-print-divisibility.
void registerTestDivisibilityPass();
/// -test-print-index-constraints.
void registerTestIndexConstraintsPass();
/// -test-print-tile-layouts.
void registerTestTileLayoutPass();

inline void registerTestPasses() {
  registerTestAccessPasses();
  registerTestBarrierPathsPass();
  registerTestDivisibilityPass();
  registerTestIndexConstraintsPass();
  registerTestTileLayoutPass();
}

} // namespace mlir::iris::test

#endif // IRIS_TEST_LIB_TESTPASSES_H
