// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "iris/Emulator/CodeObject.h"
#include "iris/Chips/AMDExecution.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/BinaryFormat/MsgPackReader.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/AMDHSAKernelDescriptor.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::iris::emulator;
using llvm::Error;
using llvm::StringRef;
namespace ELF = llvm::ELF;
using ElfFile = llvm::object::ELFFile<llvm::object::ELF64LE>;

/// No code object of a kernel has an image as large as this.
constexpr uint64_t kMaxImageBytes = uint64_t(1) << 28;

namespace mlir::iris::emulator {

class CodeObjectLoader {
public:
  CodeObjectLoader(CodeObject &code, StringRef file) : code(code), file(file) {}

  Error load();

private:
  Error error(const llvm::Twine &message) const {
    return llvm::createStringError(code.name + ": " + message);
  }
  /// Adds the file's name to an error of LLVM.
  Error wrap(Error inner) const {
    return error(llvm::toString(std::move(inner)));
  }
  Error loadSegments(const ElfFile &elf);
  Error relocate(const ElfFile &elf);
  Error loadMetadata(const ElfFile &elf);
  Error loadKernels(const ElfFile &elf, StringRef metadata);
  Error loadKernel(llvm::msgpack::MapDocNode &node,
                   const llvm::StringMap<uint64_t> &symbols);
  Error loadDescriptor(Kernel &kernel);

  CodeObject &code;
  StringRef file;
};

} // namespace mlir::iris::emulator

llvm::Expected<std::unique_ptr<CodeObject>> CodeObject::load(StringRef bytes,
                                                             StringRef name) {
  std::unique_ptr<CodeObject> code(new CodeObject());
  code->name = name.str();
  code->file = bytes.str();
  if (Error error = CodeObjectLoader(*code, code->file).load())
    return std::move(error);
  return code;
}

llvm::Expected<const Kernel *> CodeObject::find(StringRef kernel) const {
  for (const Kernel &each : kernels)
    if (each.name == kernel)
      return &each;
  std::string known;
  for (const Kernel &each : kernels)
    known += (known.empty() ? "" : ", ") + each.name;
  return llvm::createStringError(name + ": no kernel '" + kernel +
                                 "'; the kernels are " + known);
}

/// Whether LLVM names the chip of these flags: it must not be asked otherwise.
static bool hasNamedChip(uint32_t flags) {
  unsigned machine = flags & ELF::EF_AMDGPU_MACH;
  switch (machine) {
  case ELF::EF_AMDGPU_MACH_AMDGCN_RESERVED_0X27:
  case ELF::EF_AMDGPU_MACH_AMDGCN_RESERVED_0X40:
  case ELF::EF_AMDGPU_MACH_AMDGCN_RESERVED_0X4B:
  case ELF::EF_AMDGPU_MACH_AMDGCN_RESERVED_0X4D:
  case ELF::EF_AMDGPU_MACH_AMDGCN_RESERVED_0X50:
  case ELF::EF_AMDGPU_MACH_AMDGCN_RESERVED_0X56:
  case ELF::EF_AMDGPU_MACH_AMDGCN_RESERVED_0X57:
    return false;
  default:
    return (machine >= ELF::EF_AMDGPU_MACH_AMDGCN_FIRST &&
            machine <= ELF::EF_AMDGPU_MACH_AMDGCN_GFX1251) ||
           machine == ELF::EF_AMDGPU_MACH_AMDGCN_LAST;
  }
}

Error CodeObjectLoader::load() {
  llvm::Expected<ElfFile> elf = ElfFile::create(file);
  if (!elf)
    return wrap(elf.takeError());
  const auto &header = elf->getHeader();
  if (!header.checkMagic() ||
      header.e_ident[ELF::EI_CLASS] != ELF::ELFCLASS64 ||
      header.e_ident[ELF::EI_DATA] != ELF::ELFDATA2LSB)
    return error("not an ELF file of 64 bits");
  if (header.e_machine != ELF::EM_AMDGPU)
    return error("an ELF file of machine " + llvm::Twine(header.e_machine) +
                 "; expected " + llvm::Twine(unsigned(ELF::EM_AMDGPU)) +
                 " (AMD GPU)");
  if (header.e_ident[ELF::EI_OSABI] != ELF::ELFOSABI_AMDGPU_HSA)
    return error("not a code object for HSA");
  llvm::Expected<std::unique_ptr<llvm::object::ObjectFile>> object =
      llvm::object::ObjectFile::createELFObjectFile(
          llvm::MemoryBufferRef(file, code.name));
  if (!object)
    return wrap(object.takeError());
  std::optional<StringRef> chip;
  if (hasNamedChip(header.e_flags))
    chip = (*object)->tryGetCPUName();
  if (!chip)
    return error("LLVM does not know the chip of its flags " +
                 llvm::formatv("{0:x}", uint32_t(header.e_flags)).str());
  code.chip = chip->str();
  code.execution = irischips::findExecution(code.chip);
  if (!code.execution)
    return error("code of " + code.chip +
                 ", which the emulator does not execute");
  if (Error error = loadSegments(*elf))
    return error;
  if (Error error = relocate(*elf))
    return error;
  return loadMetadata(*elf);
}

Error CodeObjectLoader::loadSegments(const ElfFile &elf) {
  auto headers = elf.program_headers();
  if (!headers)
    return wrap(headers.takeError());
  uint64_t end = 0;
  for (const auto &segment : *headers) {
    if (segment.p_type != ELF::PT_LOAD)
      continue;
    uint64_t begin = segment.p_vaddr, size = segment.p_memsz;
    if (begin > kMaxImageBytes || size > kMaxImageBytes)
      return error("a segment at " + llvm::Twine(begin) + " with " +
                   llvm::Twine(size) + " bytes; the emulator loads at most " +
                   llvm::Twine(kMaxImageBytes));
    if (segment.p_filesz > size || segment.p_offset > file.size() ||
        segment.p_filesz > file.size() - segment.p_offset)
      return error("a segment is outside of the file");
    end = std::max(end, begin + size);
  }
  if (!end)
    return error("no segments to load");
  // Instructions are words: the image has whole ones.
  code.image.assign((end + 3) & ~uint64_t(3), 0);
  for (const auto &segment : *headers) {
    if (segment.p_type != ELF::PT_LOAD)
      continue;
    std::copy_n(file.bytes_begin() + segment.p_offset, segment.p_filesz,
                code.image.begin() + segment.p_vaddr);
    if (segment.p_flags & ELF::PF_X) {
      if (code.codeEnd)
        return error("more than one segment with instructions");
      if (segment.p_filesz != segment.p_memsz)
        return error("the file has only a part of the instructions");
      code.codeBegin = segment.p_vaddr;
      code.codeEnd = segment.p_vaddr + segment.p_memsz;
    }
  }
  if (!code.codeEnd)
    return error("no segment with instructions");
  return Error::success();
}

Error CodeObjectLoader::relocate(const ElfFile &elf) {
  auto sections = elf.sections();
  if (!sections)
    return wrap(sections.takeError());
  uint64_t base = reinterpret_cast<uintptr_t>(code.image.data());
  for (const auto &section : *sections) {
    if (section.sh_type == ELF::SHT_REL)
      return error("relocations without addends");
    if (section.sh_type != ELF::SHT_RELA)
      continue;
    auto relocations = elf.relas(section);
    if (!relocations)
      return wrap(relocations.takeError());
    for (const auto &relocation : *relocations) {
      uint64_t offset = relocation.r_offset;
      uint32_t type = relocation.getType(/*isMips64EL=*/false);
      if (offset > code.image.size() || code.image.size() - offset < 8)
        return error("a relocation is outside of the image");
      if (type != ELF::R_AMDGPU_RELATIVE64)
        return error("a relocation of type " + llvm::Twine(type) +
                     "; the emulator knows R_AMDGPU_RELATIVE64");
      llvm::support::endian::write64le(code.image.data() + offset,
                                       base + uint64_t(relocation.r_addend));
    }
  }
  return Error::success();
}

Error CodeObjectLoader::loadMetadata(const ElfFile &elf) {
  auto headers = elf.program_headers();
  if (!headers)
    return wrap(headers.takeError());
  for (const auto &segment : *headers) {
    if (segment.p_type != ELF::PT_NOTE)
      continue;
    Error failure = Error::success();
    for (const auto &note : elf.notes(segment, failure)) {
      if (note.getName() != "AMDGPU" ||
          note.getType() != ELF::NT_AMDGPU_METADATA)
        continue;
      llvm::consumeError(std::move(failure));
      // 0 and 1 are for 4, as in LLVM's tools.
      return loadKernels(
          elf, note.getDescAsStringRef(std::max<uint64_t>(segment.p_align, 4)));
    }
    if (failure)
      return wrap(std::move(failure));
  }
  return error("no metadata of kernels");
}

/// Whether the next object is one that LLVM's document can hold: it must not
/// get keys other than strings, nor values that it does not know.
static bool isReadable(llvm::msgpack::Reader &reader, unsigned depth) {
  using llvm::msgpack::Type;
  llvm::msgpack::Object object;
  llvm::Expected<bool> isRead = reader.read(object);
  if (!isRead) {
    llvm::consumeError(isRead.takeError());
    return false;
  }
  bool isNested = object.Kind == Type::Map || object.Kind == Type::Array;
  if (!*isRead || object.Kind == Type::Extension || (isNested && depth == 0))
    return false;
  if (!isNested)
    return true;
  for (size_t i = 0; i < object.Length; ++i) {
    if (object.Kind == Type::Map) {
      llvm::msgpack::Object key;
      llvm::Expected<bool> isKey = reader.read(key);
      if (!isKey) {
        llvm::consumeError(isKey.takeError());
        return false;
      }
      if (!*isKey || key.Kind != Type::String)
        return false;
    }
    if (!isReadable(reader, depth - 1))
      return false;
  }
  return true;
}

Error CodeObjectLoader::loadKernels(const ElfFile &elf, StringRef metadata) {
  constexpr unsigned depth = 16; // maps of kernels of arguments need 5
  llvm::msgpack::Reader reader(metadata);
  llvm::msgpack::Document document;
  if (!isReadable(reader, depth) ||
      !document.readFromBlob(metadata, /*Multi=*/false))
    return error("the metadata are not in MessagePack, with strings as keys");
  auto &root = document.getRoot();
  if (!root.isMap())
    return error("the metadata are not a map");
  auto found = root.getMap().find("amdhsa.kernels");
  if (found == root.getMap().end() || !found->second.isArray())
    return error("the metadata have no list 'amdhsa.kernels'");

  llvm::StringMap<uint64_t> symbols;
  auto sections = elf.sections();
  if (!sections)
    return wrap(sections.takeError());
  for (const auto &section : *sections) {
    if (section.sh_type != ELF::SHT_DYNSYM)
      continue;
    auto entries = elf.symbols(&section);
    auto names = elf.getStringTableForSymtab(section);
    if (!entries)
      return wrap(entries.takeError());
    if (!names)
      return wrap(names.takeError());
    for (const auto &entry : *entries) {
      llvm::Expected<StringRef> name = entry.getName(*names);
      if (!name)
        return wrap(name.takeError());
      if (entry.st_shndx != ELF::SHN_UNDEF)
        symbols[*name] = entry.st_value;
    }
  }
  for (auto &node : found->second.getArray()) {
    if (!node.isMap())
      return error("the metadata of a kernel are not a map");
    if (Error error = loadKernel(node.getMap(), symbols))
      return error;
  }
  return Error::success();
}

/// A string of a map, or an empty one.
static StringRef getString(llvm::msgpack::MapDocNode &map, StringRef key) {
  auto found = map.find(key);
  if (found == map.end() || !found->second.isString())
    return "";
  return found->second.getString();
}

static std::optional<uint64_t> getNumber(llvm::msgpack::MapDocNode &map,
                                         StringRef key) {
  auto found = map.find(key);
  if (found == map.end())
    return std::nullopt;
  if (found->second.getKind() == llvm::msgpack::Type::UInt)
    return found->second.getUInt();
  if (found->second.getKind() == llvm::msgpack::Type::Int &&
      found->second.getInt() >= 0)
    return uint64_t(found->second.getInt());
  return std::nullopt;
}

Error CodeObjectLoader::loadKernel(llvm::msgpack::MapDocNode &node,
                                   const llvm::StringMap<uint64_t> &symbols) {
  Kernel kernel;
  kernel.name = getString(node, ".name").str();
  if (kernel.name.empty())
    return error("the metadata of a kernel have no name");
  auto fail = [&](const llvm::Twine &message) {
    return error("kernel '" + kernel.name + "': " + message);
  };
  StringRef symbol = getString(node, ".symbol");
  auto address = symbols.find(symbol);
  if (address == symbols.end())
    return fail("no symbol '" + symbol + "' of its descriptor");
  kernel.descriptor = address->second;
  if (Error failure = loadDescriptor(kernel))
    return fail(llvm::toString(std::move(failure)));

  // What both the metadata and the descriptor say must be equal.
  struct Check {
    StringRef key;
    uint64_t value;
  };
  for (Check check : {Check{".kernarg_segment_size", kernel.kernargBytes},
                      Check{".group_segment_fixed_size", kernel.ldsBytes},
                      Check{".private_segment_fixed_size", kernel.scratchBytes},
                      Check{".wavefront_size", kernel.waveSize}}) {
    std::optional<uint64_t> value = getNumber(node, check.key);
    if (!value)
      return fail("the metadata have no '" + check.key + "'");
    if (*value != check.value)
      return fail("'" + check.key + "' is " + llvm::Twine(*value) +
                  " in the metadata and " + llvm::Twine(check.value) +
                  " in the descriptor");
  }
  if (auto value = getNumber(node, ".max_flat_workgroup_size"))
    kernel.maxWorkgroupSize = unsigned(*value);
  auto arguments = node.find(".args");
  if (arguments != node.end()) {
    if (!arguments->second.isArray())
      return fail("'.args' is not a list");
    for (auto &each : arguments->second.getArray()) {
      if (!each.isMap())
        return fail("an argument is not a map");
      KernelArgument argument;
      argument.name = getString(each.getMap(), ".name").str();
      argument.kind = getString(each.getMap(), ".value_kind").str();
      auto offset = getNumber(each.getMap(), ".offset");
      auto size = getNumber(each.getMap(), ".size");
      if (argument.kind.empty() || !offset || !size)
        return fail("an argument has no kind, offset or size");
      if (*offset > kernel.kernargBytes ||
          *size > kernel.kernargBytes - *offset)
        return fail("an argument is beyond the " +
                    llvm::Twine(kernel.kernargBytes) + " bytes of arguments");
      argument.offset = *offset;
      argument.size = *size;
      kernel.arguments.push_back(std::move(argument));
    }
  }
  code.kernels.push_back(std::move(kernel));
  return Error::success();
}

Error CodeObjectLoader::loadDescriptor(Kernel &kernel) {
  namespace hsa = llvm::amdhsa;
  const std::vector<uint8_t> &image = code.image;
  if (kernel.descriptor > image.size() ||
      image.size() - kernel.descriptor < sizeof(hsa::kernel_descriptor_t))
    return llvm::createStringError("its descriptor is outside of the image");
  hsa::kernel_descriptor_t descriptor;
  std::memcpy(&descriptor, image.data() + kernel.descriptor,
              sizeof(descriptor));
  kernel.ldsBytes = descriptor.group_segment_fixed_size;
  kernel.scratchBytes = descriptor.private_segment_fixed_size;
  kernel.kernargBytes = descriptor.kernarg_size;
  kernel.rsrc1 = descriptor.compute_pgm_rsrc1;
  kernel.rsrc2 = descriptor.compute_pgm_rsrc2;
  kernel.properties = descriptor.kernel_code_properties;
  kernel.preloadedWords = descriptor.kernarg_preload & 0x7F;
  kernel.preloadOffset = descriptor.kernarg_preload >> 7;
  kernel.entry =
      kernel.descriptor + uint64_t(descriptor.kernel_code_entry_byte_offset);
  if (kernel.entry % 4 || kernel.entry < code.codeBegin ||
      kernel.entry >= code.codeEnd)
    return llvm::createStringError("its entry is outside of the code");
  const irischips::AMDExecution &execution = *code.execution;
  kernel.waveSize =
      kernel.properties & hsa::KERNEL_CODE_PROPERTY_ENABLE_WAVEFRONT_SIZE32
          ? 32
          : 64;
  if (kernel.waveSize != execution.waveSize)
    return llvm::createStringError(
        llvm::formatv("it has waves of {0} lanes; the emulator executes waves "
                      "of {1} on {2}",
                      kernel.waveSize, execution.waveSize, code.chip)
            .str());
  unsigned granules =
      kernel.rsrc1 & hsa::COMPUTE_PGM_RSRC1_GRANULATED_WORKITEM_VGPR_COUNT;
  kernel.numVectors = (granules + 1) * execution.vectorGranule;
  kernel.accumulatorOffset = kernel.numVectors;
  if (execution.hasAccumulatorOffset)
    kernel.accumulatorOffset = std::min(
        kernel.numVectors, 4 * ((descriptor.compute_pgm_rsrc3 &
                                 hsa::COMPUTE_PGM_RSRC3_GFX90A_ACCUM_OFFSET) +
                                1));
  if (kernel.numVectors > 512)
    return llvm::createStringError("it has more than 512 vector registers");
  // Round to nearest, keep denormals.
  unsigned mode = kernel.rsrc1 >> 12 & 0xFF;
  if (mode != 0xF0)
    return llvm::createStringError(llvm::formatv(
        "its rounding and denormal mode is {0:x}; the emulator only knows f0",
        mode));
  return Error::success();
}
