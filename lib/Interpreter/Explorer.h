// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Explorer.h - Dynamic partial-order reduction -------------*- C++ -*-===//
//
// Source sets and sleep sets (Abdulla, Aronis, Jonsson, Sagonas, "Optimal
// Dynamic Partial Order Reduction", POPL 2014; "Source Sets", JACM 2017). The
// events are the synchronizing ops, each with what its program does up to the
// next one: accesses that no synchronization orders are errors, so their order
// needs no exploration. Barriers, launches, streams and `iris.sync` order
// programs in one way only and are no events, except that the order in which
// programs leave their places matters if others wait for these.
//
// A wait is an event once it holds. It can come before a write of its flag only
// if it holds there (as in Jonsson, Lang, Sagonas, "Awaiting for Godot", FMCAD
// 2022): otherwise there is nothing to reverse. That includes waits that never
// came to hold.
#ifndef IRIS_LIB_INTERPRETER_EXPLORER_H
#define IRIS_LIB_INTERPRETER_EXPLORER_H

#include "Footprint.h"

namespace mlir::iris::interp {

class Explorer : public Scheduler, public SyncObserver {
public:
  //===--- One execution ---===//
  Program *pick(World &world, std::vector<Program *> &runnable) override;
  bool syncsOnly() const override { return true; }
  void began(Program &program) override;
  bool isAbandoned() const override { return abandoned; }
  void touch(const Allocation::Copy &copy, int64_t byte, int64_t bytes,
             bool writes) override;

  //===--- The exploration ---===//
  /// Before an execution.
  void start();
  /// After an execution: plans the next one.
  /// \return false if there is none
  bool finish(World &world);
  uint64_t numEvents() const { return events.size(); }
  /// Whether the program took other steps than before.
  bool hasDiverged() const { return diverged; }

  ThreadNumbers numbers;

private:
  struct Event {
    uint32_t thread, number;
    Footprint touches;
    /// By thread, the events that come before this one, and itself.
    VectorClock past;
  };
  /// What was explored behind a prefix of events.
  struct Node {
    /// The thread of the next event, of those that are planned.
    uint32_t chosen;
    SmallVector<uint32_t, 2> planned;
    /// Threads whose next event needs no exploration here, with what that
    /// accesses.
    std::map<uint32_t, Footprint> sleep;
  };

  bool isBefore(const Event &event, const VectorClock &past) const {
    return past.covers(event.thread, event.number);
  }
  std::map<uint32_t, Footprint> sleepAfter(const Node &node,
                                           const Event &event) const;
  Program *choose(ArrayRef<Program *> enabled);
  /// Finds the events that could come after `event`, which is about to be
  /// added, or is a wait that was not executed.
  void findRaces(const Event &event, const VectorClock &before,
                 const std::optional<Awaited> &awaited);
  /// Plans an execution in which `event` comes before `events[n]`.
  void reverse(size_t n, const Event &event, const VectorClock &before);

  std::vector<Node> nodes;
  std::vector<Event> events;
  /// By thread: its events so far.
  std::vector<uint32_t> counts;
  /// The first event that no earlier execution had.
  size_t firstNew = 0;
  /// The program whose event begins, and what it accesses.
  Program *active = nullptr;
  uint32_t lastThread = 0;
  std::vector<Touch> touches;
  std::optional<Awaited> awaited;
  bool abandoned = false, diverged = false;
};

} // namespace mlir::iris::interp

#endif // IRIS_LIB_INTERPRETER_EXPLORER_H
