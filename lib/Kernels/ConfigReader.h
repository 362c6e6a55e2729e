// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ConfigReader.h - Entries of a config, one by one ---------*- C++ -*-===//

#ifndef IRIS_LIB_KERNELS_CONFIGREADER_H
#define IRIS_LIB_KERNELS_CONFIGREADER_H

#include "mlir/IR/Operation.h"

namespace mlir::iris {

/// Takes the entries of the config of an op. What does not fit is reported at
/// the op. Without an entry a value keeps its default, which is checked too.
class ConfigReader {
public:
  ConfigReader(Operation *op, DictionaryAttr config);

  /// `what` says for what the names are.
  LogicalResult readName(StringRef key, ArrayRef<StringRef> allowed,
                         StringRef what, std::string &value);
  /// The same; gives the name's place in `allowed`.
  template <typename EnumT>
  LogicalResult readEnum(StringRef key, ArrayRef<StringRef> allowed,
                         StringRef what, EnumT &value) {
    std::string name = allowed[static_cast<size_t>(value)].str();
    if (failed(readName(key, allowed, what, name)))
      return failure();
    value = static_cast<EnumT>(llvm::find(allowed, name) - allowed.begin());
    return success();
  }
  LogicalResult readInteger(StringRef key, int64_t min, int64_t max,
                            bool powerOfTwo, int64_t &value);
  LogicalResult readBool(StringRef key, bool &value);
  /// What nobody has asked for is an error.
  LogicalResult finish(StringRef expectedKeys);

private:
  Attribute take(StringRef key);

  Operation *op;
  SmallVector<NamedAttribute> rest;
};

} // namespace mlir::iris

#endif // IRIS_LIB_KERNELS_CONFIGREADER_H
