// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Schedule.h - The order in which programs took steps ------*- C++ -*-===//
#ifndef IRIS_INTERPRETER_SCHEDULE_H
#define IRIS_INTERPRETER_SCHEDULE_H

#include "mlir/Support/LLVM.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::iris {

/// A program of a launch, or a rank's `@main`.
struct ProgramId {
  unsigned rank = 0;
  /// The number of the launch on its rank, from 0; -1 is `@main`.
  int64_t launch = -1;
  /// The linear block index.
  int64_t block = 0;

  bool operator==(const ProgramId &other) const {
    return rank == other.rank && launch == other.launch && block == other.block;
  }
};

/// The program goes on to its next scheduling point, `turns` times.
struct ScheduleStep {
  ProgramId program;
  uint64_t turns = 1;
};

struct Schedule {
  unsigned numRanks = 0;
  /// Programs of a device that run at once; 0: all of a launch.
  uint64_t resident = 0;
  /// Scheduling points are the synchronizing ops only, as in an exploration.
  bool syncsOnly = false;
  /// A hash of the program's text.
  uint64_t program = 0;
  std::vector<ScheduleStep> steps;

  void add(const ProgramId &id);
  uint64_t numTurns() const;
};

/// A hash (64-bit FNV-1a) of a text.
uint64_t hashText(StringRef text);

/// The text of a schedule: a line for each step, and a checksum.
std::string printSchedule(const Schedule &schedule);
/// Reads what printSchedule returns; an error, with the line, if it is
/// anything else.
FailureOr<Schedule> parseSchedule(StringRef text, std::string &error);

/// Writes a file that only its owner can read, in place of an older regular
/// file; an error if there is anything else.
LogicalResult writeSchedule(StringRef path, const Schedule &schedule,
                            std::string &error);
/// Reads a file that belongs to this user, and that no other user can write.
FailureOr<Schedule> readSchedule(StringRef path, std::string &error);

} // namespace mlir::iris

#endif // IRIS_INTERPRETER_SCHEDULE_H
