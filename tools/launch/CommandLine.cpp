// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CommandLine.cpp - Options of the tools -----------------------------===//
#include "CommandLine.h"

#include "iris/Text/Nearest.h"
#include "iris/rt/Env.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

using namespace iris;
using namespace iris::run;
using rt::Expected;
using rt::Status;
using rt::StatusCode;

static Status invalid(const std::string &message) {
  return Status(StatusCode::invalidArgument, message);
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

void CommandLine::section(std::string title) {
  Option &option = options.emplace_back();
  option.title = std::move(title);
}

void CommandLine::flag(std::initializer_list<const char *> names, bool &target,
                       std::string help) {
  Option &option = options.emplace_back();
  option.names.assign(names.begin(), names.end());
  option.value.parse = [&target](const std::string &, const std::string &) {
    target = true;
    return Status::success();
  };
  option.help = std::move(help);
}

void CommandLine::option(const char *name, std::string placeholder, Value value,
                         std::string help, std::string implied) {
  options.push_back({{name},
                     std::move(placeholder),
                     std::move(value),
                     std::move(help),
                     std::move(implied),
                     /*title=*/{}});
}

void CommandLine::positional(std::string placeholder, Value value) {
  argument.placeholder = std::move(placeholder);
  argument.value = std::move(value);
}

const CommandLine::Option *CommandLine::find(const std::string &name) const {
  for (const Option &option : options)
    if (std::find(option.names.begin(), option.names.end(), name) !=
        option.names.end())
      return &option;
  return nullptr;
}

Status CommandLine::unknown(const std::string &word,
                            const std::string &name) const {
  std::vector<std::string> shown;
  for (const Option &option : options)
    if (!option.help.empty())
      shown.insert(shown.end(), option.names.begin(), option.names.end());
  return invalid("unknown option '" + word + "'" + suggestion(name, shown) +
                 "; see --help");
}

Status CommandLine::parseOne(const std::vector<std::string> &words,
                             size_t &index) const {
  const std::string &word = words[index];
  if (word.size() < 2 || word[0] != '-') {
    if (argument.value.parse)
      return argument.value.parse(argument.placeholder, word);
    return invalid("unknown argument '" + word +
                   "'; expected options only; see --help");
  }
  size_t equals = word.find('=');
  std::string name = word.substr(0, equals);
  const Option *option = find(name);
  if (!option && word[1] != '-') {
    // "-n4"
    option = find(word.substr(0, 2));
    if (option && !option->placeholder.empty())
      return option->value.parse(option->names[0], word.substr(2));
    option = nullptr;
  }
  if (!option)
    return unknown(word, name);
  bool valueFollows = equals != std::string::npos;
  if (option->placeholder.empty())
    return valueFollows ? invalid(word + "; expected no value")
                        : option->value.parse(name, "");
  if (valueFollows)
    return option->value.parse(name, word.substr(equals + 1));
  if (!option->implied.empty())
    return option->value.parse(name, option->implied);
  if (++index == words.size())
    return invalid(name + " has no value; expected " +
                   spelled(name, option->placeholder) + "; see --help");
  return option->value.parse(name, words[index]);
}

Status CommandLine::parse(const std::vector<std::string> &words) const {
  for (size_t index = 0; index < words.size(); ++index)
    IRISRT_RETURN_IF_ERROR(parseOne(words, index));
  return {};
}

//===----------------------------------------------------------------------===//
// Help
//===----------------------------------------------------------------------===//

/// Appends the words of `text`, which starts in column `column`, and indents
/// further lines by `indent`.
static void wrap(std::string &out, const std::string &text, size_t column,
                 size_t indent) {
  bool first = true;
  for (const std::string &word : split(text, ' ')) {
    if (!first && column + 1 + word.size() > 80) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    first = false;
  }
  out += '\n';
}

std::string CommandLine::help() const {
  constexpr size_t indent = 24;
  std::string out;
  for (const Option &option : options) {
    if (option.names.empty()) {
      out += (out.empty() ? "" : "\n") + option.title + ":\n";
      continue;
    }
    if (option.help.empty())
      continue;
    std::string left;
    for (const std::string &name : option.names)
      left += (left.empty() ? "  " : ", ") + name;
    if (!option.placeholder.empty())
      left = !option.implied.empty()
                 ? left + "[=" + option.placeholder + "]"
                 : "  " + spelled(left.substr(2), option.placeholder);
    if (left.size() + 2 <= indent)
      left.resize(indent, ' ');
    else
      left += "\n" + std::string(indent, ' ');
    out += left;
    std::string text = option.help;
    if (!option.value.initial.empty())
      text += " (default " + option.value.initial + ")";
    wrap(out, text, indent, indent);
  }
  return out;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::vector<std::string> iris::run::split(const std::string &text,
                                          char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (true) {
    size_t end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string::npos)
      return parts;
    start = end + 1;
  }
}

std::string iris::run::spelled(const std::string &option,
                               const std::string &text) {
  return option + (option.compare(0, 2, "--") == 0 ? "=" : " ") + text;
}

std::string iris::run::suggestion(const std::string &text,
                                  const std::vector<std::string> &names) {
  std::string nearest(iristext::findNearest(text, names));
  return nearest.empty() ? "" : " (did you mean " + nearest + "?)";
}

Expected<uint64_t> iris::run::parseNumber(const std::string &option,
                                          const std::string &text,
                                          uint64_t least, uint64_t most) {
  char *end = nullptr;
  errno = 0;
  unsigned long long number = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] < '0' || text[0] > '9' || *end != '\0' ||
      errno != 0 || number < least || number > most)
    return invalid(spelled(option, text) + "; expected a number from " +
                   std::to_string(least) + " to " + std::to_string(most));
  return static_cast<uint64_t>(number);
}

Expected<size_t> iris::run::parseName(const std::string &option,
                                      const std::string &text,
                                      const std::vector<std::string> &names) {
  auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end())
    return static_cast<size_t>(found - names.begin());
  std::string expected;
  for (const std::string &name : names)
    expected += (expected.empty() ? "" : ", ") + name;
  return invalid(spelled(option, text) + "; expected one of " + expected +
                 suggestion(text, names));
}

Value iris::run::text(std::string &target) {
  return {[&target](const std::string &, const std::string &text) {
    target = text;
    return Status::success();
  }};
}

Value iris::run::fileName(std::string &target) {
  return {[&target](const std::string &option, const std::string &text) {
    if (text.empty())
      return invalid(spelled(option, text) + "; expected the name of a file");
    target = text;
    return Status::success();
  }};
}

Value iris::run::fileNames(std::vector<std::string> &target) {
  return {[&target](const std::string &option, const std::string &text) {
    return fileName(target.emplace_back()).parse(option, text);
  }};
}

Value iris::run::byteSize(uint64_t &target) {
  return {
      [&target](const std::string &option, const std::string &text) -> Status {
        Expected<uint64_t> bytes = rt::parseByteSize(text);
        if (!bytes.ok())
          return bytes.status().withContext(option);
        target = *bytes;
        return {};
      }};
}

Value iris::run::device(rt::DeviceSpec &target) {
  return {
      [&target](const std::string &option, const std::string &text) -> Status {
        Expected<rt::DeviceSpec> device = rt::parseDevice(text);
        if (!device.ok())
          return device.status().withContext(option);
        target = *device;
        return {};
      },
      rt::deviceName(target)};
}

Value iris::run::numbers(std::vector<int64_t> &target, uint64_t most) {
  return {[&target, most](const std::string &option,
                          const std::string &text) -> Status {
    std::vector<int64_t> found;
    for (const std::string &word : split(text, ',')) {
      IRISRT_ASSIGN_OR_RETURN(uint64_t value,
                              parseNumber(option, word, 1, most));
      found.push_back(static_cast<int64_t>(value));
    }
    target = std::move(found);
    return {};
  }};
}
