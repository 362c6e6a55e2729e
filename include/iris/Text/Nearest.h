// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Nearest.h - The name that a misspelt word means ----------*- C++ -*-===//
//
// Shared by the compiler and the runtime's tools; neither LLVM nor the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_TEXT_NEAREST_H
#define IRIS_TEXT_NEAREST_H

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace iristext {

/// The number of characters to insert, remove or replace between two words.
inline size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

/// The member of `names`, a range of strings, from which `word` differs least;
/// empty if it differs from each by more than a third of the longer of the two:
/// any two short words are similar.
template <typename Names>
std::string_view findNearest(std::string_view word, const Names &names) {
  std::string_view nearest;
  size_t least = 0;
  for (std::string_view name : names) {
    size_t distance = editDistance(word, name);
    bool isSimilar = distance <= std::max(word.size(), name.size()) / 3;
    if (isSimilar && (nearest.empty() || distance < least)) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

} // namespace iristext

#endif // IRIS_TEXT_NEAREST_H
