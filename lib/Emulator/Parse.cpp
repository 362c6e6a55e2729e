// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Parse.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::iris::emulator;
using llvm::StringRef;

/// Splits at a character outside of brackets.
static llvm::SmallVector<StringRef, 8> splitOutside(StringRef text,
                                                    char separator) {
  llvm::SmallVector<StringRef, 8> parts;
  unsigned depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    char c = i < text.size() ? text[i] : separator;
    if (c == '(' || c == '[')
      ++depth;
    else if ((c == ')' || c == ']') && depth)
      --depth;
    if (i == text.size() || (c == separator && depth == 0)) {
      StringRef part = text.slice(begin, i).trim();
      if (!part.empty())
        parts.push_back(part);
      begin = i + 1;
    }
  }
  return parts;
}

/// Whether a word is a modifier: a name with a value, or a flag.
static bool isModifier(StringRef word) {
  static constexpr StringRef flags[] = {
      "sc0",   "sc1", "nt",  "glc",   "slc", "dlc",        "scc",
      "offen", "lds", "tfe", "idxen", "gds", "bound_ctrl", "clamp"};
  size_t colon = word.find(':');
  return llvm::is_contained(flags, word) ||
         (colon != StringRef::npos &&
          word.take_front(colon).find('[') == StringRef::npos);
}

ParsedInstruction::ParsedInstruction(StringRef text) {
  text = text.trim();
  std::tie(name, text) = text.split(text.contains('\t') ? '\t' : ' ');
  size_t space = name.find(' ');
  if (space != StringRef::npos) {
    text = StringRef(name.data() + space,
                     text.data() + text.size() - name.data() - space);
    name = name.take_front(space);
  }
  for (bool changed = true; changed;) {
    changed = false;
    if (name.consume_back("_dpp"))
      changed = isDpp = true;
    if (name.consume_back("_sdwa"))
      changed = isSdwa = true;
    if (name.consume_back("_e64"))
      changed = isLong = true;
    changed |= name.consume_back("_e32");
  }
  for (StringRef part : splitOutside(text, ','))
    for (auto [index, word] : llvm::enumerate(splitOutside(part, ' ')))
      if (index > 0 || isModifier(word))
        modifiers.push_back(word.split(':'));
      else
        operands.push_back(word);
}

std::optional<StringRef> ParsedInstruction::getText(StringRef modifier) const {
  for (auto [name, value] : modifiers)
    if (name == modifier)
      return value;
  return std::nullopt;
}

int64_t ParsedInstruction::getNumber(StringRef modifier,
                                     int64_t otherwise) const {
  std::optional<StringRef> value = getText(modifier);
  if (!value)
    return otherwise;
  return parseInteger(*value).value_or(otherwise);
}

llvm::SmallVector<unsigned, 4>
ParsedInstruction::getList(StringRef modifier) const {
  llvm::SmallVector<unsigned, 4> numbers;
  if (std::optional<StringRef> value = getText(modifier))
    for (StringRef part : splitOutside(value->trim("[]"), ','))
      numbers.push_back(unsigned(parseInteger(part).value_or(0)));
  return numbers;
}

std::optional<int64_t> mlir::iris::emulator::parseInteger(StringRef text) {
  bool isNegative = text.consume_front("-");
  uint64_t magnitude;
  if (text.empty() || text.getAsInteger(0, magnitude))
    return std::nullopt;
  return int64_t(isNegative ? 0 - magnitude : magnitude);
}
