// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Tuning.h"

#include <cstdio>
#include <unistd.h>

using namespace iris;
using namespace iris::bench;
using rt::Status;

void Tuning::add(const ProductCase &each, double us) {
  for (Best &other : best)
    if (other.which.group == each.group) {
      if (each.chosen)
        other.chosenUs = us;
      if (us < other.us) {
        other.which = each;
        other.us = us;
      }
      return;
    }
  best.push_back({each, us, each.chosen ? us : 0});
}

Status Tuning::write(const Options &options, const rt::World &world) const {
  ccl::MatmulTable table;
  if (::access(options.tablePath.c_str(), F_OK) == 0) {
    IRISRT_ASSIGN_OR_RETURN(table, ccl::MatmulTable::read(options.tablePath));
  }
  for (const Best &each : best) {
    ccl::MatmulEntry entry;
    entry.target = world.target();
    entry.groupSize = world.numRanks();
    entry.problem = each.which.problem;
    entry.config = each.which.problem.config;
    entry.us = each.us;
    table.add(entry);
    std::printf("best of %s %llux%llux%llu: %s, %.2f us",
                ccl::kindName(entry.problem.kind),
                static_cast<unsigned long long>(each.which.shape.m),
                static_cast<unsigned long long>(each.which.shape.n),
                static_cast<unsigned long long>(each.which.shape.k),
                ccl::describe(entry.config).c_str(), each.us);
    if (each.chosenUs != 0)
      std::printf("; the selector's took %.2f us", each.chosenUs);
    std::printf("\n");
  }
  IRISRT_RETURN_IF_ERROR(table.write(options.tablePath));
  std::printf("%zu entries in %s\n", table.size(), options.tablePath.c_str());
  return Status::success();
}
