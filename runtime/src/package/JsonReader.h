// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- JsonReader.h - Typed access to JSON ----------------------*- C++ -*-===//
//
// Records the first error and its path, so that reading metadata takes one line
// per field.
#ifndef IRIS_RT_PACKAGE_JSONREADER_H
#define IRIS_RT_PACKAGE_JSONREADER_H

#include "iris/rt/Status.h"

// Makes the library exception-free; only non-failing functions are used.
#define JSON_NOEXCEPTION 1
#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace iris::rt {

/// The first error in a JSON text.
class JsonErrors {
public:
  void report(const std::string &path, const std::string &what) {
    if (status_.ok())
      status_ = Status(StatusCode::invalidArgument, "'" + path + "' " + what);
  }
  const Status &status() const { return status_; }

private:
  Status status_;
};

/// A value and its path, for instance "kernels[0].args[2].offset".
class JsonValue {
public:
  JsonValue(const nlohmann::json *value, std::string path, JsonErrors &errors)
      : value_(value), path_(std::move(path)), errors_(&errors) {}

  const std::string &path() const { return path_; }
  void fail(const std::string &what) const { errors_->report(path_, what); }
  bool isNull() const { return value_->is_null(); }

  /// has() tests for the member `key`; member() reports an error if it is
  /// missing.
  bool has(const char *key) const {
    return value_->is_object() && value_->contains(key);
  }
  JsonValue member(const char *key) const {
    static const nlohmann::json null;
    std::string path = path_.empty() ? key : path_ + "." + key;
    if (has(key))
      return {&*value_->find(key), std::move(path), *errors_};
    errors_->report(path, "is missing");
    return {&null, std::move(path), *errors_};
  }

  /// Reports an error if this is not an object or has a key outside `keys`.
  void expectKeys(std::initializer_list<std::string_view> keys) const {
    expectKeys(std::vector<std::string_view>(keys));
  }
  void expectKeys(const std::vector<std::string_view> &keys) const {
    if (!value_->is_object())
      return fail("should be an object");
    for (auto it = value_->begin(); it != value_->end(); ++it) {
      bool known = false;
      for (std::string_view key : keys)
        known = known || it.key() == key;
      if (!known)
        return fail("has the unknown key '" + it.key() + "'");
    }
  }

  /// The size of an array of at most `limit` elements; 0 after an error.
  size_t arraySize(size_t limit) const {
    if (!value_->is_array()) {
      fail("should be an array");
      return 0;
    }
    if (value_->size() > limit) {
      fail(formatString("has %zu elements; at most %zu are allowed",
                        value_->size(), limit));
      return 0;
    }
    return value_->size();
  }
  JsonValue element(size_t i) const {
    return {&(*value_)[i], path_ + "[" + std::to_string(i) + "]", *errors_};
  }

  std::string string() const {
    auto *text = value_->get_ptr<const std::string *>();
    if (!text) {
      fail("should be a string");
      return {};
    }
    if (text->find('\0') != std::string::npos) {
      fail("holds a null character");
      return {};
    }
    return *text;
  }

  bool boolean() const {
    auto *value = value_->get_ptr<const bool *>();
    if (!value)
      fail("should be true or false");
    return value && *value;
  }

  /// An unsigned integer in [low, high]; `low` after an error.
  uint64_t integer(uint64_t low, uint64_t high) const {
    auto *value = value_->get_ptr<const uint64_t *>();
    if (value && *value >= low && *value <= high)
      return *value;
    fail(formatString("should be an integer from %llu to %llu",
                      static_cast<unsigned long long>(low),
                      static_cast<unsigned long long>(high)));
    return low;
  }

  /// A signed 64-bit integer; 0 after an error.
  int64_t signedInteger() const {
    if (auto *value = value_->get_ptr<const uint64_t *>()) {
      if (*value <= uint64_t(std::numeric_limits<int64_t>::max()))
        return int64_t(*value);
    } else if (auto *negative = value_->get_ptr<const int64_t *>()) {
      return *negative;
    }
    fail("should be a 64-bit integer");
    return 0;
  }

  /// A number; 0 after an error.
  double number() const {
    if (value_->is_number())
      return value_->get<double>();
    fail("should be a number");
    return 0;
  }

  /// The value as JSON text.
  std::string dump() const {
    using Json = nlohmann::json;
    return value_->dump(-1, ' ', false, Json::error_handler_t::replace);
  }

private:
  const nlohmann::json *value_;
  std::string path_;
  JsonErrors *errors_;
};

} // namespace iris::rt

#endif // IRIS_RT_PACKAGE_JSONREADER_H
