// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Schedule.cpp - The order in which programs took steps --------------===//
#include "iris/Interpreter/Schedule.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::iris;

void Schedule::add(const ProgramId &id) {
  if (!steps.empty() && steps.back().program == id)
    ++steps.back().turns;
  else
    steps.push_back({id, 1});
}

uint64_t Schedule::numTurns() const {
  uint64_t turns = 0;
  for (const ScheduleStep &step : steps)
    turns += step.turns;
  return turns;
}

uint64_t mlir::iris::hashText(StringRef text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : text)
    hash = (hash ^ byte) * 0x100000001b3;
  return hash;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static constexpr StringLiteral heading = "iris-schedule 1";

std::string mlir::iris::printSchedule(const Schedule &schedule) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << heading << "\nprogram " << llvm::utohexstr(schedule.program)
     << "\nranks " << schedule.numRanks << "\nresident " << schedule.resident
     << "\npoints " << (schedule.syncsOnly ? "syncs" : "accesses") << "\n";
  for (const ScheduleStep &step : schedule.steps) {
    os << "rank " << step.program.rank;
    if (step.program.launch < 0)
      os << " main";
    else
      os << " launch " << step.program.launch << " program "
         << step.program.block;
    os << " turns " << step.turns << "\n";
  }
  uint64_t sum = hashText(text);
  os << "checksum " << llvm::utohexstr(sum) << "\n";
  return text;
}

namespace {
/// Reads words and numbers of lines.
class Reader {
public:
  explicit Reader(StringRef text) : rest(text) {}

  bool nextLine() {
    if (rest.empty())
      return false;
    std::tie(line, rest) = rest.split('\n');
    ++number;
    return true;
  }
  bool word(StringRef expected) {
    line = line.ltrim(' ');
    if (!line.consume_front(expected) || (!line.empty() && line[0] != ' '))
      return false;
    return true;
  }
  template <typename T>
  bool value(T &result, unsigned radix = 10) {
    line = line.ltrim(' ');
    StringRef digits = line.take_until([](char c) { return c == ' '; });
    line = line.drop_front(digits.size());
    return !digits.getAsInteger(radix, result);
  }
  template <typename T>
  bool field(StringRef name, T &result) {
    return word(name) && value(result);
  }
  bool atEnd() const { return line.empty(); }

  unsigned number = 0;

private:
  StringRef line, rest;
};
} // namespace

static bool parseStep(Reader &reader, ScheduleStep &step) {
  ProgramId &id = step.program;
  if (!reader.field("rank", id.rank))
    return false;
  if (!reader.word("main") &&
      !(reader.field("launch", id.launch) && id.launch >= 0 &&
        reader.field("program", id.block) && id.block >= 0))
    return false;
  return reader.field("turns", step.turns) && step.turns > 0 && reader.atEnd();
}

static bool parseHead(Reader &reader, Schedule &schedule) {
  auto line = [&](auto parse) {
    return reader.nextLine() && parse() && reader.atEnd();
  };
  return line([&] {
           return reader.word("iris-schedule") && reader.word("1");
         }) &&
         line([&] {
           return reader.word("program") && reader.value(schedule.program, 16);
         }) &&
         line([&] { return reader.field("ranks", schedule.numRanks); }) &&
         line([&] { return reader.field("resident", schedule.resident); }) &&
         line([&] {
           if (!reader.word("points"))
             return false;
           schedule.syncsOnly = reader.word("syncs");
           return schedule.syncsOnly || reader.word("accesses");
         });
}

FailureOr<Schedule> mlir::iris::parseSchedule(StringRef text,
                                              std::string &error) {
  size_t end = text.rfind("checksum ");
  uint64_t sum = 0;
  if (!text.starts_with(heading) || end == StringRef::npos ||
      text.drop_front(end + strlen("checksum ")).trim().getAsInteger(16, sum) ||
      hashText(text.take_front(end)) != sum) {
    error = "is damaged, or not a schedule of iris-run: its checksum is wrong";
    return failure();
  }
  Schedule schedule;
  Reader reader(text.take_front(end));
  bool valid = parseHead(reader, schedule);
  while (valid && reader.nextLine()) {
    schedule.steps.emplace_back();
    valid = parseStep(reader, schedule.steps.back()) &&
            schedule.steps.back().program.rank < schedule.numRanks;
  }
  if (valid)
    return schedule;
  error = "has an error in line " + std::to_string(reader.number);
  return failure();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

LogicalResult mlir::iris::writeSchedule(StringRef path,
                                        const Schedule &schedule,
                                        std::string &error) {
  // A new file, which no other process has open, replaces the old one. A device
  // or a folder is not replaced.
  struct stat status;
  if (::lstat(path.str().c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    error = "cannot write '" + path.str() + "': it is not a regular file";
    return failure();
  }
  int descriptor = -1;
  llvm::SmallString<128> temporary;
  std::error_code code = llvm::sys::fs::createUniqueFile(
      path + ".%%%%%%%%", descriptor, temporary, llvm::sys::fs::OF_None,
      llvm::sys::fs::owner_read | llvm::sys::fs::owner_write);
  if (!code) {
    llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
    os << printSchedule(schedule);
    os.close();
    code = os.error();
    os.clear_error();
    if (!code)
      code = llvm::sys::fs::rename(temporary, path);
    if (code)
      (void)llvm::sys::fs::remove(temporary);
  }
  if (!code)
    return success();
  error = "cannot write '" + path.str() + "': " + code.message();
  return failure();
}

FailureOr<Schedule> mlir::iris::readSchedule(StringRef path,
                                             std::string &error) {
  auto fail = [&](const Twine &what) {
    error = ("'" + path + "' " + what).str();
    return failure();
  };
  int descriptor =
      ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return fail(Twine("cannot be read: ") + strerror(errno));
  struct stat status;
  bool known = ::fstat(descriptor, &status) == 0;
  std::string text;
  if (known && S_ISREG(status.st_mode)) {
    char buffer[4096];
    ssize_t bytes;
    while ((bytes = ::read(descriptor, buffer, sizeof buffer)) > 0)
      text.append(buffer, bytes);
    known = bytes == 0;
  }
  ::close(descriptor);
  if (!known)
    return fail(Twine("cannot be read: ") + strerror(errno));
  if (!S_ISREG(status.st_mode))
    return fail("is not a regular file");
  if (status.st_uid != ::geteuid())
    return fail("belongs to another user");
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return fail("can be written by other users; expected mode 600");
  std::string what;
  FailureOr<Schedule> schedule = parseSchedule(text, what);
  if (failed(schedule))
    return fail(what);
  return schedule;
}
