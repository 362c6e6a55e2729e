// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tuning.cpp - Search for the best configs ---------------------------===//
#include "Tuning.h"

#include "iris/rt/Status.h"

#include <cstdio>
#include <unistd.h>

using namespace iris;
using namespace iris::bench;
using rt::Status;

rt::Expected<Tuning> Tuning::open(const Options &options,
                                  const rt::World &world) {
  Tuning tuning(options, world);
  if (::access(options.tablePath.c_str(), F_OK) == 0) {
    IRISRT_ASSIGN_OR_RETURN(tuning.table,
                            ccl::MatmulTable::read(options.tablePath));
  }
  return tuning;
}

Status Tuning::begin(const MatmulCase &each) {
  return best && best->group != each.group ? save() : Status::success();
}

void Tuning::add(const MatmulCase &each, double us) {
  if (each.chosen)
    chosenUs = us;
  if (!best || us < bestUs) {
    best = each;
    bestUs = us;
  }
}

/// Writes the best config of the current problem to the file.
Status Tuning::save() {
  ccl::MatmulEntry entry;
  entry.target = world->target();
  entry.groupSize = world->numRanks();
  entry.problem = best->problem;
  entry.config = best->problem.config;
  entry.us = bestUs;
  table.add(entry);
  std::printf("best of %s %llux%llux%llu: %s, %.2f us",
              matmulName(entry.problem).c_str(),
              static_cast<unsigned long long>(best->shape.m),
              static_cast<unsigned long long>(best->shape.n),
              static_cast<unsigned long long>(best->shape.k),
              ccl::describe(entry.config).c_str(), bestUs);
  if (chosenUs != 0)
    std::printf("; the selector's choice took %.2f us", chosenUs);
  std::printf("\n");
  std::fflush(stdout);
  best.reset();
  chosenUs = 0;
  return table.write(options->tablePath);
}

Status Tuning::finish() {
  if (best)
    IRISRT_RETURN_IF_ERROR(save());
  std::printf("%zu entries in %s\n", table.size(),
              rt::escapeControls(options->tablePath).c_str());
  return Status::success();
}
