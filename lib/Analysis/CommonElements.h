// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether two accesses touch a common element.
#ifndef IRIS_LIB_ANALYSIS_COMMONELEMENTS_H
#define IRIS_LIB_ANALYSIS_COMMONELEMENTS_H

#include "IndexConstraints.h"

#include "iris/Analysis/AccessConflicts.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <map>

namespace mlir::iris {

/// The buffer that `buffer` is made of, in one step: a view's source, or what
/// is translated to another rank. Null if there is none.
Value getSource(Value buffer);

/// Follows two accesses through their views to the buffer that both are views
/// of, and looks for an element, on one rank, that both touch.
///
/// Where offsets are not linear in what a program knows of itself (its place in
/// the group, the parity of an epoch), each of its few values is a case of its
/// own.
class CommonElements {
public:
  CommonElements(Operation *function, IndexConstraints::GetRange getRange,
                 Divisibility &divisors);

  /// True unless it is certain that no element is touched by both. Where
  /// `isGrid`, equal places in both windows are one thread's: then elements may
  /// be common if all of them are at equal places.
  bool mayExist(const PendingAccess &before, const PendingAccess &now,
                bool isGrid);

private:
  /// An element that an access touches, in coordinates of a buffer that its own
  /// one is a view of.
  struct Place {
    /// What coordinates of the accessed buffer are multiplied by.
    int64_t unit = 1;
    SmallVector<LinearSum> element;
    /// The first element of the window; empty if there is no window, or if its
    /// elements are not neighbours there.
    SmallVector<LinearSum> first;
  };
  struct Query {
    const PendingAccess &before;
    const PendingAccess &now;
    bool isGrid;
    /// Buffers in whose coordinates places are compared.
    Value baseBefore = {}, baseNow = {};
    /// Null for this rank.
    Value rankBefore = {}, rankNow = {};
    /// Whose values are cases.
    SmallVector<IndexSymbol> branches = {};
  };

  bool findCommon(const PendingAccess &before, const PendingAccess &now,
                  bool isGrid);
  static bool findBases(Query &query);
  void collectBranches(const MemoryAccess &access, Value base, Value rank,
                       bool isBefore, Query &query);
  bool isExcluded(const Query &query, IndexConstraints::Case &chosen,
                  unsigned numChosen);
  bool areOnGrid(const Query &query, IndexConstraints constraints);
  bool areApart(const Query &query, IndexConstraints constraints);
  std::optional<Place> locate(const MemoryAccess &access, Value base,
                              bool isBefore, IndexConstraints &constraints);
  bool enterSource(Place &place, Value &buffer, bool isBefore,
                   IndexConstraints &constraints);
  bool enterBytes(Place &place, Value &buffer, memref::ViewOp view,
                  bool isBefore, IndexConstraints &constraints);
  void addSameRank(const Query &query, IndexConstraints &constraints);

  IndexConstraints::GetRange getRange;
  Divisibility &divisors;
  /// This rank and its index in the group, if the function asks for
  /// them.
  Value ownRank, ownIndex;
  /// What was asked for before.
  std::map<SmallVector<const void *>, bool> answers;
};

} // namespace mlir::iris

#endif // IRIS_LIB_ANALYSIS_COMMONELEMENTS_H
