// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FileKind.h - What a file is that is no package -----------*- C++ -*-===//
#ifndef IRIS_RUNTIME_PACKAGE_FILEKIND_H
#define IRIS_RUNTIME_PACKAGE_FILEKIND_H

#include <string>
#include <string_view>

namespace iris::rt {

/// What a file with these bytes seems to be, and what to do with it, for error
/// messages: "text; ...".
std::string describeFile(std::string_view bytes);

} // namespace iris::rt

#endif // IRIS_RUNTIME_PACKAGE_FILEKIND_H
