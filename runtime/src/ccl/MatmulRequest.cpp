// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatmulRequest.cpp - Requests for matmul kernels --------------------===//
//
// Writes the request from which the compiler generates a matmul kernel, and
// matches the config that such a kernel records. The compiler's side is
// lib/Kernels/MatmulKernels.cpp.
#include "ccl/MatmulPlan.h"
#include "ccl/Spec.h"
#include "package/JsonReader.h"

#include <algorithm>

using namespace iris::ccl;
using namespace iris::rt;

std::string iris::ccl::describeRequest(const MatmulProblem &p,
                                       uint32_t groupSize) {
  MatmulConfig config = p.config;
  std::string entries;
  auto add = [&](const char *key, const std::string &value) {
    entries += (entries.empty() ? "" : ", ") + std::string(key) + " = " + value;
  };
  auto addName = [&](const char *key, const std::string &value) {
    // No valid name contains quotes or escapes.
    if (!value.empty())
      add(key, '"' + value.substr(0, value.find_first_of("\"\\\n")) + '"');
  };
  addName("variant", config.variant);
  addName("shard", config.shard);
  if (config.programs == 0)
    config.programs = plan::matmul_numbers::maxPrograms;
  for (const MatmulNumber &number : matmulNumbers)
    if (config.*number.value != 0)
      add(number.key().c_str(), std::to_string(config.*number.value));
  addName("staged_layout", config.stagedLayout);
  addName("partial_type", config.partialType);
  addName("a", p.aIsColumnMajor ? "column" : "");
  addName("b", p.bIsColumnMajor ? "column" : "");
  addName("bias", p.bias == Bias::row      ? "row"
                  : p.bias == Bias::column ? "column"
                                           : "");
  addName("activation", p.activation == Activation::relu   ? "relu"
                        : p.activation == Activation::gelu ? "gelu"
                                                           : "");
  if (p.hasScale)
    add("scale", "true");
  return std::string(kindName(p.kind)) + " " + mlirType(p.element) + " -> " +
         mlirType(p.result) + " size " + std::to_string(groupSize) + " {" +
         entries + "}";
}

std::string iris::ccl::kernelSource(const MatmulProblem &p,
                                    uint32_t groupSize) {
  std::string description = describeRequest(p, groupSize);
  // Every kernel has a unique name, so that reports of hung kernels can
  // identify it. The location makes the package independent of the path of the
  // source file.
  return formatString("iris.matmul_kernel @%s_%016llx ", kindName(p.kind),
                      static_cast<unsigned long long>(fnv1a64(description))) +
         description + " loc(\"request\":1:1)\n";
}

bool iris::ccl::isKernelOf(const KernelInfo &kernel, const MatmulProblem &p,
                           uint32_t groupSize) {
  nlohmann::json json =
      nlohmann::json::parse(kernel.config, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return false;
  auto isName = [&](const char *key, const std::string &requested) {
    auto found = json.find(key);
    return requested.empty() || (found != json.end() && *found == requested);
  };
  // An open number means the generators' default: a package may hold several
  // kernels that differ only in this number.
  auto isNumber = [&](const MatmulNumber &number) {
    auto found = json.find(number.key());
    int64_t requested = p.config.*number.value;
    if (requested != 0)
      return found != json.end() && *found == requested;
    return found == json.end() || !number.hasDefault ||
           *found == number.number.defaultValue;
  };
  const MatmulConfig &config = p.config;
  static const char *const biases[] = {"none", "row", "column"};
  static const char *const activations[] = {"none", "relu", "gelu"};
  auto scale = json.find("scale"), group = json.find("group");
  return isName("matmul", kindName(p.kind)) &&
         isName("element", mlirType(p.element)) &&
         isName("result", mlirType(p.result)) &&
         isName("variant", config.variant) && isName("shard", config.shard) &&
         isName("partial_type", config.partialType) &&
         isName("staged_layout", config.stagedLayout) &&
         isName("a", p.aIsColumnMajor ? "column" : "row") &&
         isName("b", p.bIsColumnMajor ? "column" : "row") &&
         isName("bias", biases[static_cast<size_t>(p.bias)]) &&
         isName("activation", activations[static_cast<size_t>(p.activation)]) &&
         scale != json.end() && *scale == p.hasScale && group != json.end() &&
         *group == groupSize &&
         std::all_of(std::begin(matmulNumbers), std::end(matmulNumbers),
                     isNumber);
}
