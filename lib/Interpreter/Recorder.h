// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Recorder.h - Records an execution for a picture ----------*- C++ -*-===//
#ifndef IRIS_LIB_INTERPRETER_RECORDER_H
#define IRIS_LIB_INTERPRETER_RECORDER_H

#include "iris/Interpreter/Picture.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <set>

namespace mlir::iris::interp {

class Program;

/// A mark's number, from 1; 0 is none.
using MarkNumber = uint32_t;

class Recorder {
public:
  explicit Recorder(Picture &picture) : picture(picture) {}

  /// The program is about to execute an op.
  void begin() { current = 0, arrows.clear(); }
  /// The mark of the op that the program executes.
  MarkNumber mark(Program &program);
  /// `from` comes before the op that the program executes.
  void follows(MarkNumber from, Program &program);
  /// The op has ended, or waits.
  void end(Program &program, bool blocked);
  /// The program waits forever.
  void markBlocked(Program &program);
  /// The op of the mark has part in the error.
  void blame(MarkNumber number);
  void setTitle(const std::string &title);

private:
  Picture &picture;
  MarkNumber current = 0;
  std::set<MarkNumber> arrows;
  /// The last mark of each program, with its op, if it waited.
  std::map<const Program *, std::pair<Operation *, MarkNumber>> waiting;
};

} // namespace mlir::iris::interp

#endif // IRIS_LIB_INTERPRETER_RECORDER_H
