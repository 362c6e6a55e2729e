// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Spec.cpp - Requests and facts of collective kernels ----------------===//
#include "ccl/Spec.h"

#include "iris/Plan/Transfers.h"
#include "iris/ccl/KernelCache.h"
#include "package/JsonReader.h"

#include <cctype>
#include <cinttypes>

using namespace iris::ccl;
using namespace iris::rt;

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

const char *iris::ccl::mlirType(DType dtype) {
  switch (dtype) {
  case DType::f16:
    return "f16";
  case DType::bf16:
    return "bf16";
  case DType::f32:
    return "f32";
  case DType::f64:
    return "f64";
  case DType::i8:
    return "i8";
  case DType::i16:
    return "i16";
  case DType::i32:
    return "i32";
  case DType::i64:
    return "i64";
  case DType::u8:
    return "ui8";
  case DType::f8e4m3fn:
    return "f8E4M3FN";
  case DType::f8e5m2:
    return "f8E5M2";
  case DType::f8e4m3fnuz:
    return "f8E4M3FNUZ";
  case DType::f8e5m2fnuz:
    return "f8E5M2FNUZ";
  case DType::u32:
    return "ui32";
  case DType::u64:
    return "ui64";
  }
  return "unknown";
}

IrisRtElement iris::ccl::bufferElement(DType dtype) {
  switch (dtype) {
  case DType::f16:
    return IRISRT_ELT_F16;
  case DType::bf16:
    return IRISRT_ELT_BF16;
  case DType::f32:
    return IRISRT_ELT_F32;
  case DType::f64:
    return IRISRT_ELT_F64;
  case DType::i16:
    return IRISRT_ELT_I16;
  case DType::i32:
  case DType::u32:
    return IRISRT_ELT_I32;
  case DType::i64:
  case DType::u64:
    return IRISRT_ELT_I64;
  case DType::i8:
  case DType::u8:
  case DType::f8e4m3fn:
  case DType::f8e5m2:
  case DType::f8e4m3fnuz:
  case DType::f8e5m2fnuz:
    return IRISRT_ELT_I8;
  }
  return IRISRT_ELT_I8;
}

Spec iris::ccl::makeSpec(Op op, DType dtype, ReduceOp reduce,
                         uint32_t groupSize, const Config &config) {
  Spec spec;
  spec.op = op;
  if (reduces(op)) {
    spec.reduce = reduce;
    spec.dtype = dtype;
  }
  spec.groupSize = groupSize;
  spec.config = config;
  return spec;
}

bool iris::ccl::isOpen(const Config &config) {
  return config.variant.empty() && config.tile == 0 && config.warps == 0 &&
         config.xcds == 0;
}

Config iris::ccl::complete(Config config, const Config &chosen) {
  // A tile and its number of warps are selected together.
  if (isOpen(config)) {
    config.tile = chosen.tile;
    config.warps = chosen.warps;
  }
  config.variant = chosen.variant;
  if (config.programs == 0)
    config.programs = chosen.programs;
  return config;
}

bool iris::ccl::usesCopyEngine(Op op, const std::string &variant) {
  const plan::Variant *found = getCollective(op).find(variant);
  return found && found->has(plan::copyEngine);
}

bool iris::ccl::isGrouped(Op op, const std::string &variant) {
  const plan::Variant *found = getCollective(op).find(variant);
  return found && found->has(plan::grouped);
}

Config iris::ccl::configOfGroups(Config ofSlots) {
  for (const plan::Variant &each : getCollective(Op::send))
    if (each.has(plan::grouped))
      ofSlots.variant = each.name;
  ofSlots.programs = 0;
  // Two programs of half the size on a processor: one stores while the other
  // one waits.
  if (ofSlots.warps > 1)
    ofSlots.warps /= 2;
  // Messages may be in any memory.
  ofSlots.staged = true;
  return ofSlots;
}

/// Whether the workspace limits the number of programs, which is then part of
/// the kernel.
static bool hasProgramSlots(const Spec &spec) {
  const plan::Variant *found = getCollective(spec.op).find(spec.config.variant);
  return found && found->has(plan::programSlots);
}

Spec iris::ccl::kernelSpec(Spec spec) {
  if (usesCopyEngine(spec.op, spec.config.variant)) {
    Config config;
    config.variant = variantsOf(Op::barrier).front();
    spec =
        makeSpec(Op::barrier, DType::i8, ReduceOp::sum, spec.groupSize, config);
    spec.isSelected = true;
  }
  if (!hasProgramSlots(spec))
    spec.config.programs = 0;
  // One kernel serves both directions, and all memory.
  if (isGrouped(spec.op, spec.config.variant)) {
    spec.op = Op::send;
    spec.config.staged = true;
  }
  return spec;
}

size_t SpecHash::operator()(const Spec &spec) const {
  uint64_t hash = fnv1a64(spec.config.variant);
  auto mix = [&hash](uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  };
  mix(static_cast<uint64_t>(spec.op) | static_cast<uint64_t>(spec.reduce) << 8 |
      static_cast<uint64_t>(spec.dtype) << 16 |
      static_cast<uint64_t>(spec.groupSize) << 24 |
      static_cast<uint64_t>(spec.config.staged) << 32 |
      static_cast<uint64_t>(spec.isSelected) << 33 |
      static_cast<uint64_t>(spec.config.warps) << 40 |
      static_cast<uint64_t>(spec.config.xcds) << 48);
  mix(static_cast<uint64_t>(spec.config.tile) |
      static_cast<uint64_t>(spec.config.programs) << 32);
  return hash;
}

/// Like describe(), with the workspace if its size is not the default.
static std::string describeFor(const Spec &spec, uint64_t workspaceBytes) {
  std::string text(opName(spec.op));
  if (reduces(spec.op))
    text += " " + std::string(reduceOpName(spec.reduce));
  text += std::string(" ") + mlirType(spec.dtype) + " size " +
          std::to_string(spec.groupSize);
  std::string config;
  auto add = [&config](const char *key, const std::string &value) {
    config += (config.empty() ? "" : ", ") + (key + (" = " + value));
  };
  if (spec.config.programs != 0)
    add("programs", std::to_string(spec.config.programs));
  if (spec.config.staged)
    add("staged", "true");
  if (spec.config.tile != 0)
    add("tile", std::to_string(spec.config.tile));
  if (!spec.config.variant.empty())
    add("variant", '"' + spec.config.variant + '"');
  if (spec.config.warps != 0)
    add("warps", std::to_string(spec.config.warps));
  if (workspaceBytes != defaultWorkspaceBytes)
    add("workspace", std::to_string(workspaceBytes));
  if (spec.config.xcds != 0)
    add("xcds", std::to_string(spec.config.xcds));
  return config.empty() ? text : text + " {" + config + "}";
}

std::string iris::ccl::describe(const Spec &spec) {
  return describeFor(spec, defaultWorkspaceBytes);
}

/// Every kernel has a unique name, so that reports of hung kernels can identify
/// it.
static std::string symbolOf(const std::string &description) {
  std::string symbol;
  for (char c : description) {
    bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain || (!symbol.empty() && symbol.back() != '_'))
      symbol += plain ? c : '_';
  }
  while (!symbol.empty() && symbol.back() == '_')
    symbol.pop_back();
  return symbol;
}

static std::string describeWithPrograms(Spec spec, uint64_t workspaceBytes) {
  // With slots per program, fewer programs may be supported; the compiler knows
  // the maximum.
  if (spec.config.programs == 0 && !hasProgramSlots(spec))
    spec.config.programs = getCollective(spec.op).maxPrograms(spec.groupSize);
  return describeFor(spec, workspaceBytes);
}

std::string iris::ccl::requestName(const Spec &spec, uint64_t workspaceBytes) {
  return symbolOf(describeWithPrograms(spec, workspaceBytes));
}

std::string iris::ccl::requestText(const Spec &spec, uint64_t workspaceBytes) {
  std::string description = describeWithPrograms(spec, workspaceBytes);
  // The location makes the package and the compiler's diagnostics independent
  // of the path of the source file.
  return "iris.collective @" + symbolOf(description) + " " + description +
         " loc(\"request\":1:1)\n";
}

std::string iris::ccl::kernelSource(Op op, DType dtype, ReduceOp reduce,
                                    uint32_t groupSize, const Config &config) {
  return requestText(
      kernelSpec(makeSpec(op, dtype, reduce, groupSize, config)));
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

/// Whether the kernel takes the arguments of Transfers.h.
static Status checkGroupSignature(const KernelInfo &kernel,
                                  const KernelFacts &facts) {
  const std::vector<ArgInfo> &args = kernel.args;
  const int64_t members =
      facts.groupSize ? facts.groupSize : plan::Workspace::maxAnyMembers;
  const int64_t numbers =
      plan::countConnections(members) * (1 + 2 * plan::countMessages(members)) +
      1;
  auto isBytes = [](const ArgInfo &arg, bool symmetric) {
    return arg.kind == IRISRT_ARG_MEMREF && arg.sizes.size() == 1 &&
           !arg.sizes[0] && arg.identity && arg.element == IRISRT_ELT_I8 &&
           arg.symmetric == symmetric;
  };
  bool right = args.size() == static_cast<size_t>(numbers) + 3 &&
               args[0].kind == IRISRT_ARG_CONTEXT &&
               isBytes(args[1], /*symmetric=*/true) &&
               isBytes(args[2], /*symmetric=*/false);
  for (size_t i = 3; right && i < args.size(); ++i)
    right = args[i].kind == IRISRT_ARG_SCALAR &&
            args[i].element == IRISRT_ELT_INDEX;
  if (right)
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "kernel %s is no group of sends and receives; expected the "
                    "arguments (!iris.ctx, memref<?xi8, symmetric>, "
                    "memref<?xi8>) and %" PRId64 " of index",
                    kernel.signature().c_str(), numbers);
}

/// Whether the kernel takes (ctx, in, out, workspace, count, root), and counts
/// and offsets if there are some.  A buffer that only the root has may be
/// anywhere.
static Status checkSignature(const KernelInfo &kernel,
                             const KernelFacts &facts) {
  const plan::Collective *collective = nullptr;
  for (const plan::Collective &each : plan::collectives)
    if (each.name == facts.collective)
      collective = &each;
  auto isOnlyOfRoot = [collective](size_t arg) {
    return collective && (arg == 1   ? collective->in.isOnlyOnRoot
                          : arg == 2 ? collective->out.isOnlyOnRoot
                                     : false);
  };
  auto isRightMemory = [&](size_t arg, bool symmetric) {
    if (arg == 3)
      return symmetric;
    return facts.staged ? !symmetric : symmetric || isOnlyOfRoot(arg);
  };
  const std::vector<ArgInfo> &args = kernel.args;
  size_t numTables = collective ? collective->numTables() : 0;
  bool right =
      args.size() == 6 + numTables && args[0].kind == IRISRT_ARG_CONTEXT;
  for (size_t i = 1; right && i < 4; ++i)
    right = args[i].kind == IRISRT_ARG_MEMREF && args[i].sizes.size() == 1 &&
            !args[i].sizes[0] && args[i].identity &&
            isRightMemory(i, args[i].symmetric);
  // The workspace may have any element type.
  right = right && args[1].element == args[2].element;
  for (size_t i = 4; right && i < 6; ++i)
    right = args[i].kind == IRISRT_ARG_SCALAR &&
            args[i].element == IRISRT_ELT_INDEX;
  for (size_t i = 6; right && i < args.size(); ++i)
    right = args[i].kind == IRISRT_ARG_MEMREF && args[i].sizes.size() == 1 &&
            !args[i].sizes[0] && args[i].identity &&
            args[i].element == IRISRT_ELT_I64;
  if (right)
    return Status::success();
  return makeStatus(StatusCode::invalidArgument,
                    "kernel %s is not a collective; expected the arguments "
                    "(!iris.ctx, memref<?xT>, memref<?xT>, memref<?xU, "
                    "symmetric>, index, index) and %zu of memref<?xi64>",
                    kernel.signature().c_str(), numTables);
}

Expected<KernelFacts> iris::ccl::readFacts(const KernelInfo &kernel) {
  nlohmann::json json =
      nlohmann::json::parse(kernel.config, nullptr, /*allow_exceptions=*/false);
  JsonErrors errors;
  JsonValue config(&json, "config", errors);
  constexpr uint64_t most = uint64_t(1) << 53;
  KernelFacts facts;
  facts.collective = config.member("collective").string();
  if (config.has("reduction") && !config.member("reduction").isNull())
    facts.reduction = config.member("reduction").string();
  facts.element = config.member("element").string();
  if (config.has("group"))
    facts.groupSize = static_cast<uint32_t>(
        config.member("group").integer(0, IRISRT_MAX_GROUP));
  if (config.has("variant"))
    facts.variant = config.member("variant").string();
  facts.tile = static_cast<int64_t>(config.member("tile").integer(1, most));
  facts.programs =
      static_cast<int64_t>(config.member("programs").integer(1, INT32_MAX));
  if (config.has("warps"))
    facts.warps = static_cast<int64_t>(config.member("warps").integer(1, 64));
  if (config.has("xcds"))
    facts.xcds = static_cast<int64_t>(config.member("xcds").integer(1, 64));
  if (config.has("staged"))
    facts.staged = config.member("staged").boolean();
  if (config.has("in_place"))
    facts.inPlace = config.member("in_place").boolean();
  facts.workspaceBytes = config.member("workspace_bytes").integer(0, most);
  if (config.has("workspace_layout"))
    facts.workspaceLayout = config.member("workspace_layout").integer(1, most);
  if (config.has("max_count"))
    facts.maxCount = config.member("max_count").integer(0, most);
  if (!errors.status().ok())
    return errors.status().withContext("kernel " + kernel.fullName());
  const bool isGroup = facts.collective == opName(Op::send) &&
                       isGrouped(Op::send, facts.variant);
  IRISRT_RETURN_IF_ERROR(isGroup ? checkGroupSignature(kernel, facts)
                                 : checkSignature(kernel, facts));
  return facts;
}

/// Whether the kernel computes what the spec asks for, with any variant or
/// tile.
static bool computes(const KernelFacts &facts, const Spec &spec) {
  return facts.collective == opName(spec.op) &&
         facts.reduction ==
             (reduces(spec.op) ? reduceOpName(spec.reduce) : "") &&
         facts.element == mlirType(spec.dtype) &&
         (facts.groupSize == 0 || facts.groupSize == spec.groupSize) &&
         facts.staged == spec.config.staged &&
         isGrouped(spec.op, facts.variant) ==
             isGrouped(spec.op, spec.config.variant);
}

bool iris::ccl::serves(const KernelFacts &facts, const Spec &spec) {
  const Config &config = spec.config;
  auto agrees = [&spec](int64_t requested, int64_t actual) {
    return requested == 0 || actual == 0 || requested == actual ||
           spec.isSelected;
  };
  return computes(facts, spec) &&
         (config.variant.empty() || facts.variant == config.variant) &&
         agrees(config.tile, facts.tile) &&
         agrees(config.programs, facts.programs) &&
         agrees(config.warps, facts.warps) && agrees(config.xcds, facts.xcds);
}

bool iris::ccl::servesAtAll(const KernelFacts &facts, const Spec &spec) {
  const plan::Variant *variant = getCollective(spec.op).find(facts.variant);
  bool isInAnyOrder = variant && variant->has(plan::anyOrder);
  return spec.isSelected && computes(facts, spec) && !isInAnyOrder;
}
