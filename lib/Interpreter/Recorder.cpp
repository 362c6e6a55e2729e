// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Recorder.cpp - Records an execution for a picture ------------------===//
#include "Recorder.h"

#include "Machine.h"

using namespace mlir;
using namespace mlir::iris;
using namespace mlir::iris::interp;

MarkNumber Recorder::mark(Program &program) {
  if (current != 0)
    return current;
  Operation *op = program.current();
  // An op that still waits has its mark.
  if (auto found = waiting.find(&program);
      found != waiting.end() && found->second.first == op &&
      picture.marks.size() == found->second.second)
    return current = found->second.second;
  PictureMark mark;
  mark.program = program.id();
  mark.lane = program.position() + " of launch " +
              std::to_string(program.launch) + " of @" +
              SymbolTable::getSymbolName(program.function).str();
  mark.op = op->getName().getStringRef().str();
  mark.location = locationText(op->getLoc());
  picture.marks.push_back(std::move(mark));
  return current = picture.marks.size();
}

void Recorder::follows(MarkNumber from, Program &program) {
  (void)mark(program);
  if (from != 0 && !(picture.marks[from - 1].program == program.id()))
    arrows.insert(from);
}

void Recorder::end(Program &program, bool blocked) {
  if (current == 0)
    return;
  picture.marks[current - 1].blocked = blocked;
  if (blocked) {
    waiting[&program] = {program.current(), current};
    return;
  }
  waiting.erase(&program);
  for (MarkNumber from : arrows)
    if (from != current)
      picture.arrows.push_back({from - 1, current - 1});
}

void Recorder::markBlocked(Program &program) {
  auto found = waiting.find(&program);
  if (found != waiting.end() && found->second.first == program.current())
    return;
  begin();
  (void)mark(program);
  end(program, /*blocked=*/true);
}

void Recorder::blame(MarkNumber number) {
  if (number != 0)
    picture.marks[number - 1].faulty = true;
}

void Recorder::setTitle(const std::string &title) {
  if (picture.title.empty())
    picture.title = title;
}
