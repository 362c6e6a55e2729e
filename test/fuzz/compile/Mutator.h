// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IRIS_TEST_FUZZ_COMPILE_MUTATOR_H
#define IRIS_TEST_FUZZ_COMPILE_MUTATOR_H

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace iris::fuzz {

/// Mutates MLIR text by lines and words, so that much of it still parses:
/// replacements come from earlier inputs and have the same class as the word
/// they replace.
class Mutator {
public:
  /// Remembers the lines and words of an input.
  void learn(const std::string &text);

  /// A changed `text`; the same for the same seed and the same inputs learned.
  std::string mutate(const std::string &text, unsigned seed);

private:
  /// Distinct values to choose from.
  struct Pool {
    std::vector<std::string> values;
    std::set<std::string> known;
    void add(const std::string &value);
  };

  void mutateLines(std::vector<std::string> &lines);
  void replaceWord(std::string &line);
  void replaceEverywhere(std::string &text);
  std::string chooseLike(const std::string &word);
  size_t below(size_t bound) { return bound ? random() % bound : 0; }

  /// The words of all inputs, by class.
  Pool lines;
  std::map<std::string, Pool> words;
  /// Names of the current input: values, symbols, aliases, blocks.
  std::map<std::string, Pool> present;
  std::minstd_rand random;
};

} // namespace iris::fuzz

#endif // IRIS_TEST_FUZZ_COMPILE_MUTATOR_H
