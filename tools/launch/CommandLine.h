// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CommandLine.h - Options of the tools ---------------------*- C++ -*-===//
#ifndef IRIS_TOOLS_LAUNCH_COMMANDLINE_H
#define IRIS_TOOLS_LAUNCH_COMMANDLINE_H

#include "iris/rt/Device.h"
#include "iris/rt/Status.h"

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace iris::run {

/// The value of an option.
struct Value {
  /// Stores the value that `text` is. Called with the option as the user wrote
  /// it, for errors such as "--calls=0; expected a number from 1 to 9".
  std::function<rt::Status(const std::string &option, const std::string &text)>
      parse;
  /// The value if the option is not given; empty: the help text says it.
  std::string initial = {};
};

/// The command line of a tool as a table, from which both parsing and --help
/// follow. Values are "--name=value" or "--name value", of a one-letter option
/// also "-nvalue".
class CommandLine {
public:
  /// Starts a group of options in the help.
  void section(std::string title);
  /// An option without a value, which sets `target`. An empty `help` hides it,
  /// as it does for option().
  void flag(std::initializer_list<const char *> names, bool &target,
            std::string help);
  /// An option with a value; `placeholder` stands for it in the help.
  /// `implied` is the value if the option is given without one.
  void option(const char *name, std::string placeholder, Value value,
              std::string help, std::string implied = {});
  /// The argument without a name, of which there may be several.
  void positional(std::string placeholder, Value value);

  bool knows(const std::string &name) const { return find(name) != nullptr; }
  /// Parses the words after the name of the tool.
  rt::Status parse(const std::vector<std::string> &words) const;
  /// The groups, options and defaults, in lines of 80 columns.
  std::string help() const;

private:
  struct Option {
    std::vector<std::string> names;
    std::string placeholder;
    Value value;
    std::string help, implied;
    /// The title of a group, if there are no names.
    std::string title;
  };
  const Option *find(const std::string &name) const;
  rt::Status unknown(const std::string &word, const std::string &name) const;
  /// Parses words[index], and the following one if it is the value.
  rt::Status parseOne(const std::vector<std::string> &words,
                      size_t &index) const;

  std::vector<Option> options;
  Option argument;
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The words of a list.
std::vector<std::string> split(const std::string &text, char separator);

/// "--name=text" or "-n text".
std::string spelled(const std::string &option, const std::string &text);

/// " (did you mean all_reduce?)", or nothing if no name is similar.
std::string suggestion(const std::string &text,
                       const std::vector<std::string> &names);

rt::Expected<uint64_t> parseNumber(const std::string &option,
                                   const std::string &text, uint64_t least,
                                   uint64_t most);
/// The index of `text` in `names`.
rt::Expected<size_t> parseName(const std::string &option,
                               const std::string &text,
                               const std::vector<std::string> &names);

Value text(std::string &target);
Value fileName(std::string &target);
/// Each occurrence of the option appends.
Value fileNames(std::vector<std::string> &target);
Value byteSize(uint64_t &target);
Value device(rt::DeviceSpec &target);
/// Numbers from 1 to `most`, separated by commas.
Value numbers(std::vector<int64_t> &target, uint64_t most);

template <typename T>
Value number(T &target, uint64_t least, uint64_t most) {
  return {[&target, least, most](const std::string &option,
                                 const std::string &text) -> rt::Status {
            IRISRT_ASSIGN_OR_RETURN(uint64_t value,
                                    parseNumber(option, text, least, most));
            target = static_cast<T>(value);
            return {};
          },
          target >= static_cast<T>(least) ? std::to_string(target) : ""};
}

/// One of `all`, by the names that `nameOf` gives them.
template <typename T, typename Name>
Value word(T &target, std::vector<T> all, Name nameOf) {
  std::vector<std::string> names;
  for (const T &each : all)
    names.emplace_back(nameOf(each));
  return {[&target, all, names](const std::string &option,
                                const std::string &text) -> rt::Status {
            IRISRT_ASSIGN_OR_RETURN(size_t index,
                                    parseName(option, text, names));
            target = all[index];
            return {};
          },
          std::string(nameOf(target))};
}

/// Some of `all`, separated by commas, or "all".
template <typename T, typename Name>
Value words(std::vector<T> &target, std::vector<T> all, Name nameOf) {
  std::string initial;
  for (const T &each : target)
    initial += (initial.empty() ? "" : ",") + std::string(nameOf(each));
  return {[&target, all, nameOf](const std::string &option,
                                 const std::string &text) -> rt::Status {
            std::vector<T> found;
            if (text == "all")
              found = all;
            else
              for (const std::string &each : split(text, ',')) {
                Value one = word(found.emplace_back(), all, nameOf);
                IRISRT_RETURN_IF_ERROR(one.parse(option, each));
              }
            target = std::move(found);
            return {};
          },
          initial};
}

} // namespace iris::run

#endif // IRIS_TOOLS_LAUNCH_COMMANDLINE_H
