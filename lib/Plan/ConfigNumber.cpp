// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ConfigNumber.cpp - Numbers of configs and their ranges -------------===//

#include "iris/Plan/ConfigNumber.h"

std::string irisplan::ConfigNumber::describe() const {
  return (isPowerOfTwo ? "a power of two from " : "") + std::to_string(least) +
         " to " + std::to_string(most);
}
