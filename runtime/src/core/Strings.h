// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What C++17's strings lack.
#ifndef IRIS_RT_CORE_STRINGS_H
#define IRIS_RT_CORE_STRINGS_H

#include <string_view>

namespace iris::rt {

inline bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

} // namespace iris::rt

#endif // IRIS_RT_CORE_STRINGS_H
