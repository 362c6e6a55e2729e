// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EscapeControls.h - Printing text of unknown origin -------*- C++ -*-===//
//
// Shared by the compiler's tools and the runtime; neither LLVM nor the runtime.
//
//===----------------------------------------------------------------------===//

#ifndef IRIS_TEXT_ESCAPECONTROLS_H
#define IRIS_TEXT_ESCAPECONTROLS_H

#include <algorithm>
#include <string>
#include <string_view>

namespace iristext {

/// The length of the printable UTF-8 character at `at`; 0 for a control
/// character or invalid UTF-8.
inline size_t printableBytes(std::string_view text, size_t at) {
  auto byte = [&](size_t offset) {
    return at + offset < text.size()
               ? static_cast<unsigned char>(text[at + offset])
               : 0u;
  };
  auto continues = [&](size_t offset) { return (byte(offset) & 0xc0) == 0x80; };
  unsigned first = byte(0);
  if (first == '\n' || first == '\t' || (first >= 0x20 && first < 0x7f))
    return 1;
  // U+0080 to U+009F are control characters, too.
  if (first >= 0xc2 && first < 0xe0)
    return continues(1) && (first != 0xc2 || byte(1) >= 0xa0) ? 2 : 0;
  // No overlong forms, no surrogates, nothing beyond U+10FFFF.
  if (first >= 0xe0 && first < 0xf0)
    return continues(1) && continues(2) && (first != 0xe0 || byte(1) >= 0xa0) &&
                   (first != 0xed || byte(1) < 0xa0)
               ? 3
               : 0;
  if (first >= 0xf0 && first < 0xf5)
    return continues(1) && continues(2) && continues(3) &&
                   (first != 0xf0 || byte(1) >= 0x90) &&
                   (first != 0xf4 || byte(1) < 0x90)
               ? 4
               : 0;
  return 0;
}

/// Replaces every control character except newline and tab, and every byte that
/// is not UTF-8, by an escape such as "\x1b", so that printing the text cannot
/// control a terminal.
inline std::string escapeControls(std::string text) {
  size_t at = 0, length = 0;
  while (at < text.size() && (length = printableBytes(text, at)) != 0)
    at += length;
  if (at == text.size())
    return text;
  std::string result = text.substr(0, at);
  while (at < text.size()) {
    length = printableBytes(text, at);
    unsigned byte = static_cast<unsigned char>(text[at]);
    if (length == 0)
      result += {'\\', 'x', "0123456789abcdef"[byte >> 4],
                 "0123456789abcdef"[byte & 15]};
    else
      result += text.substr(at, length);
    at += std::max<size_t>(length, 1);
  }
  return result;
}

} // namespace iristext

#endif // IRIS_TEXT_ESCAPECONTROLS_H
