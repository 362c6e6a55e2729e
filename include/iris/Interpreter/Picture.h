// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Picture.h - What an execution did, to look at ------------*- C++ -*-===//
#ifndef IRIS_INTERPRETER_PICTURE_H
#define IRIS_INTERPRETER_PICTURE_H

#include "iris/Interpreter/Schedule.h"

namespace mlir::iris {

/// An op that accessed memory of the symmetric heap, or synchronized.
struct PictureMark {
  ProgramId program;
  /// "rank 0, program (0, 0, 0) of launch 1 of @kernel".
  std::string lane;
  /// "iris.signal", and "file.mlir:12:5".
  std::string op, location;
  /// A wait or barrier that did not hold then.
  bool blocked = false;
  /// One of the two accesses of a data race, or another error.
  bool faulty = false;
};

/// The op `from` came before the op `to`, by the memory model: a release and an
/// acquire, two sides of a barrier, or a packet. Numbers of marks.
struct PictureArrow {
  uint32_t from, to;
};

struct Picture {
  /// In the order of the execution.
  std::vector<PictureMark> marks;
  std::vector<PictureArrow> arrows;
  /// The error; empty if there is none.
  std::string title;
};

/// An SVG image: a column for each program, time runs downwards. Of more than
/// `most` marks, the last ones.
std::string drawImage(const Picture &picture, size_t most = 60);

/// A trace for ui.perfetto.dev: a process for each rank, a thread for each
/// program, one microsecond for each mark.
std::string drawTrace(const Picture &picture);

} // namespace mlir::iris

#endif // IRIS_INTERPRETER_PICTURE_H
