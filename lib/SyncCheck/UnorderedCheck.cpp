// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- UnorderedCheck.cpp - Stores and reads that nothing orders ----------===//
#include "Checks.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

SyncFinding mlir::iris::sync::describeUnordered(const Conflict &conflict) {
  const Event &store = conflict.store.event();
  const Event &read = conflict.read.event();
  SyncFinding finding{SyncCheckKind::Unordered, store.op, "", {}};
  finding.message = nameOf(store) +
                    " writes what another rank reads, and nothing orders them; "
                    "expected a wait or barrier in between, or another buffer";
  finding.notes.emplace_back(read.op, "the read");
  return finding;
}
