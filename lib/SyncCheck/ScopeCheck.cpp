// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScopeCheck.cpp - Scopes that leave out who writes a flag -----------===//
#include "Checks.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::sync;

void mlir::iris::sync::checkScopes(const Execution &execution,
                                   Findings &findings) {
  for (const NarrowAccess &access : execution.getNarrowAccesses()) {
    const Event &read = access.read.event();
    const Event &write = access.write.event();
    bool isOtherRank = access.read.program->rank != access.write.program->rank;
    Scope needed = isOtherRank ? Scope::Sys : Scope::Gpu;
    bool isReadNarrow = read.scope < needed;
    const Event &culprit = isReadNarrow ? read : write;
    const Event &other = isReadNarrow ? write : read;
    SyncFinding finding{SyncCheckKind::Scope, culprit.op, "", {}};
    finding.message = nameOf(culprit) + " has scope " +
                      stringifyScope(culprit.scope).str() + ", but " +
                      (isOtherRank ? "another rank" : "another program") +
                      (isReadNarrow ? " writes its flag" : " reads its flag") +
                      "; expected scope(" + stringifyScope(needed).str() + ")";
    finding.notes.emplace_back(other.op, isReadNarrow ? "it is written here"
                                                      : "it is read here");
    findings.push_back(std::move(finding));
  }
}
