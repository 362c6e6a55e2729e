// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Mutator.h"

#include <algorithm>
#include <cctype>
#include <functional>

using namespace iris::fuzz;

namespace {
/// A word of the input and its position.
struct Word {
  size_t begin;
  size_t size;
};
} // namespace

static bool isWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '$' || c == '#' || c == '!' || c == '%' || c == '@' || c == '^';
}

/// Splits `text` into names, keywords, numbers and strings. Angle brackets
/// after a word belong to it: "tensor<8x256xf16>" is one word.
static std::vector<Word> splitWords(const std::string &text) {
  std::vector<Word> words;
  for (size_t i = 0; i < text.size();) {
    size_t begin = i;
    if (text[i] == '"') {
      i = std::min(text.find('"', i + 1), text.size() - 1) + 1;
    } else if (isWordChar(text[i]) || text[i] == '-') {
      for (++i; i < text.size() && isWordChar(text[i]);)
        ++i;
      size_t depth = 0;
      size_t end = i;
      for (; end < text.size() && text[end] != '\n'; ++end) {
        depth += text[end] == '<';
        depth -= text[end] == '>' && text[end - 1] != '-';
        if (depth == 0)
          break;
      }
      if (end > i && end < text.size() && text[end] == '>')
        i = end + 1;
    } else {
      ++i;
      continue;
    }
    words.push_back({begin, i - begin});
  }
  return words;
}

/// Words of one class may replace each other.
static std::string classify(const std::string &word) {
  size_t bracket = word.find('<');
  if (bracket != std::string::npos)
    return word.substr(0, bracket + 1);
  char first = word[0];
  if (std::isdigit(static_cast<unsigned char>(first)) || first == '-')
    return word.find('.') == std::string::npos ? "integer" : "float";
  if (std::string("%@#!^\"").find(first) != std::string::npos)
    return std::string(1, first);
  static const std::set<std::string> types = {
      "i1", "i8", "i16", "i32", "i64", "index", "bf16", "f16", "f32", "f64"};
  if (types.count(word))
    return "type";
  return word.find('.') == std::string::npos ? "keyword" : "op";
}

static std::vector<std::string> splitLines(const std::string &text) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < text.size();) {
    size_t end = std::min(text.find('\n', i), text.size());
    lines.push_back(text.substr(i, end - i));
    i = end + 1;
  }
  return lines;
}

void Mutator::Pool::add(const std::string &value) {
  // Enough for every seed; later inputs add little.
  constexpr size_t limit = 5000;
  if (values.size() < limit && known.insert(value).second)
    values.push_back(value);
}

void Mutator::learn(const std::string &text) {
  for (const std::string &line : splitLines(text))
    lines.add(line);
  for (Word word : splitWords(text)) {
    std::string value = text.substr(word.begin, word.size);
    words[classify(value)].add(value);
  }
}

/// Another word of the same class, or a number that is often a boundary value.
std::string Mutator::chooseLike(const std::string &word) {
  static const std::vector<std::string> edges = {
      "0",          "1",           "-1",         "2",
      "3",          "7",           "8",          "63",
      "64",         "65",          "255",        "256",
      "1024",       "4096",        "65536",      "2147483647",
      "2147483648", "-2147483648", "4294967296", "9223372036854775807"};
  std::string kind = classify(word);
  if (kind == "integer" && below(2))
    return edges[below(edges.size())];
  // A number inside of a type: "tensor<8x256xf16>".
  size_t digit = word.find_first_of("0123456789?", word.find('<'));
  if (word.find('<') != std::string::npos && digit != std::string::npos &&
      below(2)) {
    size_t end = word.find_first_not_of("0123456789?", digit);
    std::string changed = word;
    return changed.replace(digit, end == std::string::npos ? end : end - digit,
                           below(8) ? edges[below(edges.size())]
                                    : std::string("?"));
  }
  // Values and symbols of other inputs are not defined in this one.
  auto here = present.find(kind);
  const Pool &pool =
      here != present.end() && below(8) ? here->second : words[kind];
  return pool.values.empty() ? word : pool.values[below(pool.values.size())];
}

void Mutator::replaceWord(std::string &line) {
  std::vector<Word> found = splitWords(line);
  if (found.empty())
    return;
  Word word = found[below(found.size())];
  std::string value = line.substr(word.begin, word.size);
  line.replace(word.begin, word.size, chooseLike(value));
}

/// Replaces a type, constant or attribute everywhere, so that uses still agree
/// with their definition.
void Mutator::replaceEverywhere(std::string &text) {
  std::vector<Word> found = splitWords(text);
  if (found.empty())
    return;
  Word chosen = found[below(found.size())];
  std::string from = text.substr(chosen.begin, chosen.size);
  std::string to = chooseLike(from);
  std::string result;
  size_t end = 0;
  for (Word word : found) {
    if (text.compare(word.begin, word.size, from) != 0)
      continue;
    result.append(text, end, word.begin - end).append(to);
    end = word.begin + word.size;
  }
  text = result.append(text, end);
}

void Mutator::mutateLines(std::vector<std::string> &all) {
  if (all.empty())
    return;
  size_t at = below(all.size());
  switch (below(6)) {
  case 0:
    all.erase(all.begin() + at);
    break;
  case 1:
    all.insert(all.begin() + below(all.size()), std::string(all[at]));
    break;
  case 2:
    std::swap(all[at], all[below(all.size())]);
    break;
  case 3:
    if (!lines.values.empty())
      all.insert(all.begin() + at, lines.values[below(lines.values.size())]);
    break;
  default:
    replaceWord(all[at]);
  }
}

std::string Mutator::mutate(const std::string &text, unsigned seed) {
  random.seed(seed);
  present.clear();
  for (Word word : splitWords(text)) {
    std::string value = text.substr(word.begin, word.size);
    std::string kind = classify(value);
    if (std::string("%@!#^").find(kind) != std::string::npos)
      present[kind].add(value);
  }
  std::string result = text;
  for (size_t count = 1 + below(3); count; --count) {
    if (below(3) == 0) {
      replaceEverywhere(result);
      continue;
    }
    std::vector<std::string> all = splitLines(result);
    mutateLines(all);
    result.clear();
    for (const std::string &line : all)
      result.append(line).push_back('\n');
  }
  return result;
}
