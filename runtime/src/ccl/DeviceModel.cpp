// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ccl/DeviceModel.h"

#include "ccl/EmbeddedModels.h"
#include "core/Files.h"
#include "core/Log.h"
#include "iris/Chips/ChipTable.h"
#include "iris/Plan/CollectiveForm.h"
#include "iris/Plan/Matmuls.h"
#include "iris/rt/Env.h"
#include "package/JsonReader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

using namespace iris::ccl;
using namespace iris::rt;
namespace numbers = plan::matmul_numbers;

/// Bounds that keep sums and products of an estimate finite.
static constexpr double maxNumber = 1e15;
static constexpr uint64_t maxInteger = uint64_t(1) << 30;
static constexpr uint64_t maxFileBytes = 1 << 20;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// An emulated device executes code for AMD's GPUs.
static DeviceKind modelKind(DeviceKind device) {
  return device == DeviceKind::emulated ? DeviceKind::hip : device;
}

namespace {
/// A number of a model: its key and where it is kept.
template <typename ModelT>
struct NumberField {
  const char *key;
  double ModelT::*value;
  /// Positive; otherwise 0 is allowed.
  bool isPositive;
};
} // namespace

// null stands for "no limit": see readLinks.
static const NumberField<LinkModel> linkNumbers[] = {
    {"launchUs", &LinkModel::launchUs, false},
    {"barrierUs", &LinkModel::barrierUs, false},
    {"packetUs", &LinkModel::packetUs, false},
    {"tileUs", &LinkModel::tileUs, false},
    {"pushBytesPerUs", &LinkModel::pushBytesPerUs, true},
    {"pullBytesPerUs", &LinkModel::pullBytesPerUs, true},
    {"localBytesPerUs", &LinkModel::localBytesPerUs, true},
    {"unalignedElementUs", &LinkModel::unalignedElementUs, false},
    {"acceptedSlowdown", &LinkModel::acceptedSlowdown, true},
};

static const NumberField<KernelModel> kernelNumbers[] = {
    {"startUs", &KernelModel::startUs, false},
    {"startPeersUs", &KernelModel::startPeersUs, false},
    {"tileUs", &KernelModel::tileUs, false},
    {"tilePeersUs", &KernelModel::tilePeersUs, false},
    {"programUs", &KernelModel::programUs, false},
    {"bytesPerUs", &KernelModel::bytesPerUs, false},
};

static const NumberField<ProcessorModel> processorNumbers[] = {
    {"clockMHz", &ProcessorModel::clockMHz, true},
    {"memoryPeakBytesPerUs", &ProcessorModel::memoryPeakBytesPerUs, true},
    {"processorOpsPerUs", &ProcessorModel::processorOpsPerUs, true},
    {"deviceOpsPerUs", &ProcessorModel::deviceOpsPerUs, false},
    {"nonPow2Efficiency", &ProcessorModel::nonPow2Efficiency, false},
    {"bf16Factor", &ProcessorModel::bf16Factor, true},
    {"factor8Bit", &ProcessorModel::factor8Bit, true},
    {"factor32Bit", &ProcessorModel::factor32Bit, true},
    {"overlapExponent", &ProcessorModel::overlapExponent, true},
    {"splitUs", &ProcessorModel::splitUs, false},
    {"splitBytesPerUs", &ProcessorModel::splitBytesPerUs, true},
    {"processorLoadBytesPerUs", &ProcessorModel::processorLoadBytesPerUs, true},
    {"deviceLoadBytesPerUs", &ProcessorModel::deviceLoadBytesPerUs, true},
    {"memoryBytesPerUs", &ProcessorModel::memoryBytesPerUs, true},
    {"kStepUs", &ProcessorModel::kStepUs, false},
    {"tileUs", &ProcessorModel::tileUs, false},
    {"startUs", &ProcessorModel::startUs, false},
    {"commProgramBytesPerUs", &ProcessorModel::commProgramBytesPerUs, true},
    {"reduceBytesPerUs", &ProcessorModel::reduceBytesPerUs, true},
    {"reduceTileUs", &ProcessorModel::reduceTileUs, false},
    {"storeOverlapLoss", &ProcessorModel::storeOverlapLoss, false},
    {"fetchOverlapLoss", &ProcessorModel::fetchOverlapLoss, false},
    {"signalUs", &ProcessorModel::signalUs, false},
    {"waitUs", &ProcessorModel::waitUs, false},
    {"copyEngineBytesPerUs", &ProcessorModel::copyEngineBytesPerUs, false},
    {"copyUs", &ProcessorModel::copyUs, false},
    {"copyEngineStartUs", &ProcessorModel::copyEngineStartUs, false},
    {"copyEngineWaitUs", &ProcessorModel::copyEngineWaitUs, false},
    {"copyOverlapLoss", &ProcessorModel::copyOverlapLoss, false},
};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static double readNumber(const JsonValue &json, bool isPositive) {
  double value = json.number();
  bool isInRange = value >= 0 && value <= maxNumber;
  if (!isInRange || (isPositive && value == 0))
    json.fail(formatString("is %g; expected a number %s and at most %g", value,
                           isPositive ? "above 0" : "of at least 0",
                           maxNumber));
  return value;
}

template <typename ModelT, size_t count>
static void readNumbers(const JsonValue &json,
                        const NumberField<ModelT> (&fields)[count],
                        ModelT &model) {
  for (const NumberField<ModelT> &field : fields)
    model.*field.value = readNumber(json.member(field.key), field.isPositive);
}

/// The keys of number fields and `others`.
template <typename ModelT, size_t count>
static void expectKeys(const JsonValue &json,
                       const NumberField<ModelT> (&fields)[count],
                       std::initializer_list<std::string_view> others) {
  std::vector<std::string_view> keys(others);
  for (const NumberField<ModelT> &field : fields)
    keys.push_back(field.key);
  json.expectKeys(keys);
}

static int64_t readInteger(const JsonValue &json) {
  return static_cast<int64_t>(json.integer(1, maxInteger));
}

/// A number of the configs that are chosen with the model; others would be
/// refused in every call.
static int64_t readConfigNumber(const JsonValue &json,
                                const plan::ConfigNumber &number) {
  int64_t value = readInteger(json);
  if (!number.accepts(value))
    json.fail("is " + std::to_string(value) + "; expected " +
              number.describe());
  return value;
}

/// The same, or 0 for what the compiler takes.
static int64_t readOpenNumber(const JsonValue &json,
                              const plan::ConfigNumber &number) {
  int64_t value = static_cast<int64_t>(json.integer(0, maxInteger));
  if (value != 0 && !number.accepts(value))
    json.fail("is " + std::to_string(value) + "; expected 0 or " +
              number.describe());
  return value;
}

static std::vector<int64_t>
readConfigNumbers(const JsonValue &json, const plan::ConfigNumber &number) {
  std::vector<int64_t> values;
  size_t size = json.arraySize(64);
  for (size_t i = 0; i < size; ++i)
    values.push_back(readConfigNumber(json.element(i), number));
  if (values.empty())
    json.fail("is empty; expected at least one integer");
  return values;
}

/// Of the collective that may have the most.
static constexpr plan::ConfigNumber linkPrograms = {
    "programs", 1, plan::Workspace::maxPrograms, false, 32};
/// Of the smallest and of the largest elements.
static constexpr plan::ConfigNumber kBytes = {
    "kBytes", numbers::tileK.least, 8 * numbers::tileK.most, true, 128};
static constexpr plan::ConfigNumber tileBytes = {
    "tileBytes", plan::minTileBytes, plan::maxTileBytes, true,
    plan::defaultTileBytes};

/// "sources": where each number comes from, for people; optional.
template <typename ModelT, size_t count>
static void checkSources(const JsonValue &json,
                         const NumberField<ModelT> (&fields)[count],
                         std::initializer_list<std::string_view> others) {
  if (!json.has("sources"))
    return;
  JsonValue sources = json.member("sources");
  expectKeys(sources, fields, others);
  std::vector<std::string_view> keys(others);
  for (const NumberField<ModelT> &field : fields)
    keys.push_back(field.key);
  for (std::string_view key : keys)
    if (sources.has(std::string(key).c_str()))
      (void)sources.member(std::string(key).c_str()).string();
}

static LinkModel readLinks(const JsonValue &json) {
  expectKeys(json, linkNumbers,
             {"source", "sources", "peerBytesPerUs", "warpSize", "programs"});
  checkSources(json, linkNumbers, {"peerBytesPerUs"});
  LinkModel links = {};
  links.source = json.member("source").string();
  readNumbers(json, linkNumbers, links);
  JsonValue peer = json.member("peerBytesPerUs");
  links.peerBytesPerUs = peer.isNull() ? std::numeric_limits<double>::infinity()
                                       : readNumber(peer, /*isPositive=*/true);
  links.warpSize = readInteger(json.member("warpSize"));
  links.programs = readConfigNumbers(json.member("programs"), linkPrograms);
  if (!std::is_sorted(links.programs.begin(), links.programs.end()))
    json.member("programs").fail("is not in ascending order");
  return links;
}

static ProcessorModel readProcessor(const JsonValue &json) {
  expectKeys(json, processorNumbers,
             {"source", "sources", "processors", "copiesUseProcessors", "xcds",
              "tiles", "commPrograms", "kPerFlag", "copyGroups"});
  checkSources(json, processorNumbers, {});
  ProcessorModel model = {};
  model.source = json.member("source").string();
  readNumbers(json, processorNumbers, model);
  model.processors = readInteger(json.member("processors"));
  model.copiesUseProcessors = json.member("copiesUseProcessors").boolean();
  model.xcds = readConfigNumber(json.member("xcds"), numbers::xcds);
  JsonValue tiles = json.member("tiles");
  size_t size = tiles.arraySize(64);
  for (size_t i = 0; i < size; ++i) {
    JsonValue tile = tiles.element(i);
    tile.expectKeys(
        {"m", "n", "kBytes", "warps", "fetches", "shardKBytes", "mostRows"});
    model.tiles.push_back(
        {readConfigNumber(tile.member("m"), numbers::tileM),
         readConfigNumber(tile.member("n"), numbers::tileN),
         readConfigNumber(tile.member("kBytes"), kBytes),
         readConfigNumber(tile.member("warps"), numbers::warps),
         !tile.has("fetches") || tile.member("fetches").boolean(),
         tile.has("shardKBytes")
             ? readConfigNumber(tile.member("shardKBytes"), kBytes)
             : 0,
         tile.has("mostRows") ? readInteger(tile.member("mostRows")) : 0});
  }
  if (model.tiles.empty())
    tiles.fail("is empty; expected at least one tile");
  model.commPrograms =
      readConfigNumbers(json.member("commPrograms"), numbers::fetchPrograms);
  model.kPerFlag =
      readConfigNumbers(json.member("kPerFlag"), numbers::kPerFlag);
  model.copyGroups =
      readConfigNumbers(json.member("copyGroups"), numbers::groupM);
  return model;
}

static Op readOp(const JsonValue &json) {
  std::string name = json.string();
  for (int32_t op = 0; plan::findCollective(op); ++op)
    if (name == opName(static_cast<Op>(op)))
      return static_cast<Op>(op);
  json.fail("is '" + name + "'; expected the name of a collective");
  return Op::allReduce;
}

static KernelModel readKernel(const JsonValue &json) {
  // "fit": how the constants were found, for people.
  expectKeys(json, kernelNumbers,
             {"op", "variant", "tileBytes", "warps", "overlaps", "fit"});
  KernelModel kernel = {};
  kernel.op = readOp(json.member("op"));
  kernel.variant = json.member("variant").string();
  const std::vector<std::string> &variants = variantsOf(kernel.op);
  if (std::find(variants.begin(), variants.end(), kernel.variant) ==
      variants.end())
    json.member("variant").fail("is '" + kernel.variant + "'; " +
                                std::string(opName(kernel.op)) +
                                " has no such variant");
  kernel.tileBytes = readOpenNumber(json.member("tileBytes"), tileBytes);
  kernel.warps = readOpenNumber(json.member("warps"), plan::collectiveWarps);
  readNumbers(json, kernelNumbers, kernel);
  kernel.overlaps = json.member("overlaps").boolean();
  return kernel;
}

static std::vector<KernelModel> readKernels(const JsonValue &json) {
  std::vector<KernelModel> kernels;
  size_t size = json.arraySize(1024);
  for (size_t i = 0; i < size; ++i)
    kernels.push_back(readKernel(json.element(i)));
  return kernels;
}

Expected<DeviceModel> iris::ccl::parseDeviceModel(const std::string &text,
                                                  const std::string &name) {
  nlohmann::json parsed =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded())
    return makeStatus(StatusCode::invalidArgument,
                      "%s: the text is not JSON; expected a cost model",
                      name.c_str());
  JsonErrors errors;
  JsonValue json(&parsed, "", errors);
  json.expectKeys({"license", "name", "device", "targets", "gpu", "links",
                   "processor", "kernels", "stagedKernels"});
  DeviceModel model = {};
  model.name = json.member("name").string();
  std::string kind = json.member("device").string();
  Expected<DeviceSpec> device = parseDevice(kind);
  if (device.ok() && device->kind == modelKind(device->kind))
    model.kind = device->kind;
  else
    json.member("device").fail("is '" + kind + "'; expected host, cuda or hip");
  JsonValue targets = json.member("targets");
  size_t size = targets.arraySize(64);
  for (size_t i = 0; i < size; ++i)
    model.targets.push_back(targets.element(i).string());
  model.gpu = json.member("gpu").string();
  model.links = readLinks(json.member("links"));
  model.processor = readProcessor(json.member("processor"));
  model.kernels = readKernels(json.member("kernels"));
  model.stagedKernels = readKernels(json.member("stagedKernels"));
  if (!errors.status().ok())
    return errors.status().withContext(name);
  return model;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

using OrderedJson = nlohmann::ordered_json;

/// Numbers without a fraction are written as integers.
static OrderedJson numberJson(double value) {
  constexpr double mostExact = 9007199254740992; // 2^53
  if (value == std::floor(value) && value < mostExact)
    return static_cast<int64_t>(value);
  return value;
}

template <typename ModelT, size_t count>
static void addNumbers(OrderedJson &json, const ModelT &model,
                       const NumberField<ModelT> (&fields)[count]) {
  for (const NumberField<ModelT> &field : fields)
    json[field.key] = numberJson(model.*field.value);
}

static OrderedJson linksJson(const LinkModel &links) {
  OrderedJson json;
  json["source"] = links.source;
  addNumbers(json, links, linkNumbers);
  json["peerBytesPerUs"] = std::isfinite(links.peerBytesPerUs)
                               ? numberJson(links.peerBytesPerUs)
                               : OrderedJson();
  json["warpSize"] = links.warpSize;
  json["programs"] = links.programs;
  return json;
}

static OrderedJson processorJson(const ProcessorModel &processor) {
  OrderedJson json;
  json["source"] = processor.source;
  json["processors"] = processor.processors;
  addNumbers(json, processor, processorNumbers);
  json["copiesUseProcessors"] = processor.copiesUseProcessors;
  json["xcds"] = processor.xcds;
  json["tiles"] = OrderedJson::array();
  for (const TileShape &tile : processor.tiles) {
    OrderedJson each = {{"m", tile.m},
                        {"n", tile.n},
                        {"kBytes", tile.kBytes},
                        {"warps", tile.warps}};
    if (!tile.fetches)
      each["fetches"] = false;
    if (tile.shardKBytes != 0)
      each["shardKBytes"] = tile.shardKBytes;
    if (tile.mostRows != 0)
      each["mostRows"] = tile.mostRows;
    json["tiles"].push_back(std::move(each));
  }
  json["commPrograms"] = processor.commPrograms;
  json["kPerFlag"] = processor.kPerFlag;
  json["copyGroups"] = processor.copyGroups;
  return json;
}

static std::string kernelLines(const std::vector<FittedKernelModel> &kernels) {
  std::string text;
  for (const FittedKernelModel &each : kernels) {
    OrderedJson json;
    json["op"] = std::string(opName(each.kernel.op));
    json["variant"] = each.kernel.variant;
    json["tileBytes"] = each.kernel.tileBytes;
    json["warps"] = each.kernel.warps;
    addNumbers(json, each.kernel, kernelNumbers);
    json["overlaps"] = each.kernel.overlaps;
    json["fit"] = each.fit;
    text += (text.empty() ? "\n    " : ",\n    ") + json.dump();
  }
  return "[" + text + (text.empty() ? "]" : "\n  ]");
}

std::string FittedModel::text() const {
  OrderedJson json;
  json["license"] = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception";
  json["name"] = model.name;
  json["device"] = std::string(deviceKindName(model.kind));
  json["targets"] = model.targets;
  json["gpu"] = model.gpu;
  json["links"] = linksJson(model.links);
  json["processor"] = processorJson(model.processor);
  std::string text =
      json.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
  text.resize(text.size() - 2); // "\n}"
  // A line for each kernel, so that changes can be read.
  return text + ",\n  \"kernels\": " + kernelLines(kernels) +
         ",\n  \"stagedKernels\": " + kernelLines(stagedKernels) + "\n}\n";
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

const std::vector<DeviceModel> &iris::ccl::embeddedDeviceModels() {
  static const std::vector<DeviceModel> models = [] {
    std::vector<DeviceModel> all;
    for (const EmbeddedModel &each : embeddedModelTexts()) {
      Expected<DeviceModel> model = parseDeviceModel(each.text, each.file);
      // A unit test parses all of them.
      if (model.ok())
        all.push_back(std::move(*model));
      else
        Log().error("%s", model.status().message().c_str());
    }
    return all;
  }();
  return models;
}

/// The model of IRIS_COST_MODEL, read once; an error if it cannot be used.
static const Expected<std::optional<DeviceModel>> &fromEnvironment() {
  static const auto model = []() -> Expected<std::optional<DeviceModel>> {
    const std::string &path = Env::get().costModel();
    if (path.empty())
      return std::optional<DeviceModel>();
    Expected<std::string> text =
        readOwnFile(path, "the cost model", maxFileBytes);
    if (!text.ok())
      return text.status().withContext("IRIS_COST_MODEL");
    Expected<DeviceModel> parsed = parseDeviceModel(*text, path);
    if (!parsed.ok())
      return parsed.status().withContext("IRIS_COST_MODEL");
    return std::optional<DeviceModel>(std::move(*parsed));
  }();
  return model;
}

Status iris::ccl::checkCostModel(DeviceKind device) {
  const Expected<std::optional<DeviceModel>> &model = fromEnvironment();
  if (!model.ok())
    return model.status();
  if (*model && (*model)->kind != modelKind(device))
    return makeStatus(StatusCode::invalidArgument,
                      "IRIS_COST_MODEL: '%s' is a model of %s; expected one of "
                      "%s",
                      (*model)->name.c_str(),
                      std::string(deviceKindName((*model)->kind)).c_str(),
                      std::string(deviceKindName(modelKind(device))).c_str());
  return Status::success();
}

static bool hasTarget(const DeviceModel &model, const std::string &target) {
  return std::find(model.targets.begin(), model.targets.end(), target) !=
         model.targets.end();
}

const DeviceModel *
iris::ccl::findDeviceModel(DeviceKind kind, const std::string &target,
                           const DeviceAttributes *attributes) {
  for (const DeviceModel &model : embeddedDeviceModels())
    if (model.kind == kind && hasTarget(model, target) &&
        (!attributes || attributes->name.find(model.gpu) != std::string::npos))
      return &model;
  return nullptr;
}

/// Threads of a warp; 0: not known.
static int64_t warpSizeOf(const std::string &target,
                          const DeviceAttributes *attributes) {
  if (attributes && attributes->warpSize != 0)
    return attributes->warpSize;
  const irischips::ChipInfo *chip = irischips::findChip(target);
  return chip ? chip->waveSize : 0;
}

/// The embedded model from which that of another GPU is made: of the same
/// target, else the first with the same warp size, else the first of the kind.
static const DeviceModel &referenceModel(DeviceKind kind,
                                         const std::string &target,
                                         const DeviceAttributes *attributes) {
  if (const DeviceModel *model = findDeviceModel(kind, target, nullptr))
    return *model;
  const int64_t warpSize = warpSizeOf(target, attributes);
  const DeviceModel *first = nullptr;
  for (const DeviceModel &model : embeddedDeviceModels()) {
    if (model.kind != kind)
      continue;
    if (model.links.warpSize == warpSize)
      return model;
    first = first ? first : &model;
  }
  // There is a model of every kind: a unit test.
  return *first;
}

/// `value` relative to that of the reference; 1 if it is not known.
static double ratioOf(double value, double reference) {
  return value == 0 ? 1 : value / reference;
}

/// A model of a GPU that has none. Processors, clock and memory are its own;
/// efficiencies, tiles and links are those of the reference. Kernels that were
/// measured on a reference of the same target are kept, because the machine
/// code is the same; without any, the selector compares all variants by the
/// times of the links. It does not choose copy engines for fused matmuls.
static DeviceModel modelFromAttributes(const DeviceModel &reference,
                                       const DeviceAttributes &attributes) {
  DeviceModel model = reference;
  ProcessorModel &processor = model.processor;
  const double processors =
      ratioOf(attributes.processors, static_cast<double>(processor.processors));
  const double clock = ratioOf(attributes.clockMHz, processor.clockMHz);
  const double memory =
      ratioOf(static_cast<double>(attributes.memoryBytesPerUs),
              processor.memoryPeakBytesPerUs);
  if (attributes.processors != 0)
    processor.processors = attributes.processors;
  processor.clockMHz *= clock;
  processor.processorOpsPerUs *= clock;
  processor.processorLoadBytesPerUs *= clock;
  processor.deviceOpsPerUs *= processors * clock;
  processor.deviceLoadBytesPerUs *= processors * clock;
  processor.memoryPeakBytesPerUs *= memory;
  processor.memoryBytesPerUs *= memory;
  processor.copyEngineBytesPerUs = 0;
  if (attributes.warpSize != 0)
    model.links.warpSize = attributes.warpSize;
  const bool sameTarget = hasTarget(reference, attributes.target);
  if (!sameTarget) {
    model.kernels.clear();
    model.stagedKernels.clear();
  }
  std::string source = formatString(
      "no cost model for '%s' (%s): modelled from its attributes, %lld "
      "processors at %.0f MHz and %.0f GB/s of memory, with the efficiencies, "
      "%s of %s; measure and set IRIS_COST_MODEL (iris-bench --calibrate)",
      attributes.name.c_str(), attributes.target.c_str(),
      static_cast<long long>(processor.processors), processor.clockMHz,
      processor.memoryPeakBytesPerUs / 1000,
      sameTarget ? "links and collective kernels" : "and links",
      reference.name.c_str());
  model.name = attributes.name;
  model.targets = {attributes.target};
  model.gpu = attributes.name;
  model.links.source = processor.source = source;
  return model;
}

const DeviceModel &
iris::ccl::deviceModelOf(DeviceKind device, const std::string &target,
                         const DeviceAttributes *attributes) {
  const DeviceKind kind = modelKind(device);
  const Expected<std::optional<DeviceModel>> &named = fromEnvironment();
  if (named.ok() && *named && (*named)->kind == kind)
    return **named;
  if (!attributes)
    return referenceModel(kind, target, nullptr);
  if (const DeviceModel *model =
          findDeviceModel(kind, attributes->target, attributes))
    return *model;
  using Key = std::tuple<DeviceKind, std::string, std::string, uint32_t>;
  static std::mutex mutex;
  static std::map<Key, DeviceModel> made;
  std::lock_guard<std::mutex> lock(mutex);
  auto [found, isNew] = made.try_emplace(
      Key(kind, attributes->target, attributes->name, attributes->processors));
  if (isNew) {
    found->second = modelFromAttributes(
        referenceModel(kind, attributes->target, attributes), *attributes);
    // The times of an emulator mean nothing, so no model would serve it better.
    if (device != DeviceKind::emulated)
      Log().warning("%s", found->second.links.source.c_str());
  }
  return found->second;
}

Expected<DeviceKind> iris::ccl::deviceKindOfTarget(const std::string &target) {
  if (target == deviceKindName(DeviceKind::host))
    return DeviceKind::host;
  if (const irischips::ChipInfo *chip = irischips::findChip(target))
    return chip->isAMD() ? DeviceKind::hip : DeviceKind::cuda;
  return makeStatus(StatusCode::invalidArgument,
                    "unknown target '%s'; expected one of iris-compile "
                    "--list-targets",
                    target.c_str());
}

Expected<std::vector<DeviceModel>>
iris::ccl::deviceModelsOfTarget(const std::string &target) {
  IRISRT_ASSIGN_OR_RETURN(DeviceKind kind, deviceKindOfTarget(target));
  IRISRT_RETURN_IF_ERROR(checkCostModel(kind));
  DeviceAttributes attributes;
  attributes.target = target;
  attributes.warpSize =
      static_cast<uint32_t>(warpSizeOf(target, /*attributes=*/nullptr));
  std::vector<DeviceModel> models = {modelFromAttributes(
      referenceModel(kind, target, &attributes), attributes)};
  for (const DeviceModel &model : embeddedDeviceModels())
    if (model.kind == kind && hasTarget(model, target))
      models.push_back(model);
  const Expected<std::optional<DeviceModel>> &named = fromEnvironment();
  if (named.ok() && *named)
    models.push_back(**named);
  return models;
}
