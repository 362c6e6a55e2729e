// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ConfigReader.h - Reads the entries of a config -----------*- C++ -*-===//

#ifndef IRIS_LIB_KERNELS_CONFIGREADER_H
#define IRIS_LIB_KERNELS_CONFIGREADER_H

#include "iris/Plan/ConfigNumber.h"
#include "mlir/IR/Operation.h"

namespace mlir::iris {

/// Reads and removes the entries of a config. Invalid entries are reported at
/// `op`, the op that the user wrote. If an entry is absent, its value keeps its
/// default, which is validated too.
class ConfigReader {
public:
  ConfigReader(Operation *op, DictionaryAttr config);

  /// `what` describes in error messages what the name selects.
  LogicalResult readName(StringRef key, ArrayRef<StringRef> allowed,
                         StringRef what, std::string &value);
  /// As `readName`; returns the index of the name in `allowed`.
  template <typename EnumT>
  LogicalResult readEnum(StringRef key, ArrayRef<StringRef> allowed,
                         StringRef what, EnumT &value) {
    std::string name = allowed[static_cast<size_t>(value)].str();
    if (failed(readName(key, allowed, what, name)))
      return failure();
    value = static_cast<EnumT>(llvm::find(allowed, name) - allowed.begin());
    return success();
  }
  /// As `readName`, for the name of an element of `all` that has a kernel;
  /// `value` is the default.
  template <typename ListT, typename ElementT>
  LogicalResult readNamed(StringRef key, const ListT &all, StringRef what,
                          const ElementT *&value) {
    SmallVector<StringRef> allowed;
    for (const ElementT &each : all)
      if (each.hasKernel())
        allowed.push_back(each.name);
    std::string name(value->name);
    if (failed(readName(key, allowed, what, name)))
      return failure();
    value = all.find(name);
    return success();
  }
  LogicalResult readInteger(const irisplan::ConfigNumber &number,
                            int64_t &value);
  LogicalResult readBool(StringRef key, bool &value);
  /// Reports an error if an entry has not been read. The error lists the keys
  /// that were read, except those that the user cannot set.
  LogicalResult finish(ArrayRef<StringRef> internalKeys = {});

private:
  Attribute take(StringRef key);

  Operation *op;
  SmallVector<NamedAttribute> rest;
  SmallVector<std::string> keys;
};

} // namespace mlir::iris

#endif // IRIS_LIB_KERNELS_CONFIGREADER_H
