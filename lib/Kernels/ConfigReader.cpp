// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ConfigReader.cpp - Reads the entries of a config -------------------===//

#include "ConfigReader.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::iris;

ConfigReader::ConfigReader(Operation *op, DictionaryAttr config) : op(op) {
  if (config)
    rest.append(config.begin(), config.end());
}

LogicalResult ConfigReader::readName(StringRef key, ArrayRef<StringRef> allowed,
                                     StringRef what, std::string &value) {
  Attribute attr = take(key);
  if (!attr)
    return success();
  auto name = dyn_cast<StringAttr>(attr);
  if (!name || !llvm::is_contained(allowed, name.getValue()))
    return op->emitOpError("config has ")
           << key << " = " << attr << "; expected one of "
           << llvm::join(allowed, ", ") << " for " << what;
  value = name.str();
  return success();
}

LogicalResult ConfigReader::readInteger(const irisplan::ConfigNumber &number,
                                        int64_t &value) {
  Attribute attr = take(number.key);
  auto integer = dyn_cast_or_null<IntegerAttr>(attr);
  bool fits = integer && integer.getValue().getSignificantBits() <= 64;
  int64_t given = fits ? integer.getValue().getSExtValue() : value;
  if ((attr && !fits) || !number.accepts(given)) {
    InFlightDiagnostic diag = op->emitOpError("config has ")
                              << StringRef(number.key) << " = ";
    if (attr)
      diag << attr;
    else
      diag << value << " by default";
    return diag << "; expected " << number.describe();
  }
  value = given;
  return success();
}

LogicalResult ConfigReader::readBool(StringRef key, bool &value) {
  Attribute attr = take(key);
  if (!attr)
    return success();
  auto flag = dyn_cast<BoolAttr>(attr);
  if (!flag)
    return op->emitOpError("config has ")
           << key << " = " << attr << "; expected true or false";
  value = flag.getValue();
  return success();
}

LogicalResult ConfigReader::finish(ArrayRef<StringRef> internalKeys) {
  if (rest.empty())
    return success();
  llvm::erase_if(keys, [&](const std::string &key) {
    return llvm::is_contained(internalKeys, StringRef(key));
  });
  return op->emitOpError("config has the key ")
         << rest.front().getName() << "; expected one of "
         << llvm::join(keys, ", ");
}

Attribute ConfigReader::take(StringRef key) {
  keys.push_back(key.str());
  auto *entry = llvm::find_if(
      rest, [&](NamedAttribute each) { return each.getName() == key; });
  if (entry == rest.end())
    return {};
  Attribute value = entry->getValue();
  rest.erase(entry);
  return value;
}
