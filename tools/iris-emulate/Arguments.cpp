// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Arguments.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace iristools;
using llvm::Error;
using llvm::StringRef;

const char *const iristools::explainArguments =
    R"(ARGUMENTS (--args) are separated by commas, in the order of the kernel's:

  i32:5  i64:-1  f32:0.5  f64:2   a number (also i8, i16)
  buf:BYTES[:INIT][:OUTPUT...]    a pointer to a new buffer of BYTES bytes
  @N  @N+BYTES                    a pointer into the buffer of argument N

INIT is what the buffer holds at first (default: zero):

  zero          zeros
  fill=HEX      this byte everywhere, as fill=ff
  hash=SEED     words that are a hash of SEED and their index
  file=PATH     the start of a file

OUTPUT is what becomes of it when the kernel has ended:

  out=PATH      it is written to a file
  print         it is printed, as words in hexadecimal

)";

/// Memory beyond each end of a buffer, which no kernel may access, but where an
/// address that is slightly wrong does not meet another buffer.
constexpr uint64_t kMargin = 256;

static Error fail(StringRef item, const llvm::Twine &message) {
  return llvm::createStringError("argument '" + item + "': " + message);
}

template <class T>
static std::vector<uint8_t> bytesOf(T value) {
  std::vector<uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

/// A hash of a word's index.
static uint32_t hashOf(uint32_t seed, uint32_t index) {
  uint32_t h = index * 0x9E3779B1u + seed * 40503u + 12345u;
  h = (h ^ h >> 15) * 739982445u;
  h = (h ^ h >> 13) * 2246822519u;
  return h ^ h >> 16;
}

static Error initialize(StringRef item, StringRef option, Buffer &buffer) {
  if (option == "zero")
    return Error::success();
  if (option == "print") {
    buffer.isPrinted = true;
    return Error::success();
  }
  auto [key, value] = option.split('=');
  unsigned number;
  if (key == "fill" && !value.getAsInteger(16, number) && number < 256) {
    std::memset(buffer.data, int(number), buffer.size);
    return Error::success();
  }
  if (key == "hash" && !value.getAsInteger(0, number)) {
    for (uint64_t i = 0; i < buffer.size; ++i)
      buffer.data[i] =
          uint8_t(hashOf(number, uint32_t(i / 4)) >> (8 * (i % 4)));
    return Error::success();
  }
  if (key == "out" && !value.empty()) {
    buffer.path = value.str();
    return Error::success();
  }
  if (key != "file")
    return fail(item, "'" + option +
                          "' is not one of zero, fill=HEX, hash=SEED, "
                          "file=PATH, out=PATH, print");
  auto file = llvm::MemoryBuffer::getFile(value);
  if (!file)
    return fail(item,
                "cannot read '" + value + "': " + file.getError().message());
  std::memcpy(buffer.data, (*file)->getBufferStart(),
              std::min<uint64_t>(buffer.size, (*file)->getBufferSize()));
  return Error::success();
}

static Error parseBuffer(StringRef item, StringRef text,
                         mlir::iris::emulator::Memory &memory,
                         Arguments &arguments) {
  llvm::SmallVector<StringRef> parts;
  text.split(parts, ':');
  Buffer buffer;
  if (parts[0].getAsInteger(0, buffer.size) || buffer.size == 0 ||
      buffer.size > uint64_t(1) << 40)
    return fail(item, "a buffer has 1 to 2^40 bytes");
  buffer.name = ("argument " + llvm::Twine(arguments.values.size())).str();
  buffer.storage.reset(new uint8_t[buffer.size + 2 * kMargin]());
  uintptr_t first = reinterpret_cast<uintptr_t>(buffer.storage.get());
  buffer.data = reinterpret_cast<uint8_t *>((first + kMargin - 1) &
                                            ~uintptr_t(kMargin - 1));
  for (StringRef option : llvm::ArrayRef(parts).drop_front())
    if (Error error = initialize(item, option, buffer))
      return error;
  memory.add(buffer.data, buffer.size, /*isWritable=*/true, buffer.name);
  arguments.values.push_back(
      bytesOf(uint64_t(reinterpret_cast<uintptr_t>(buffer.data))));
  arguments.buffers.push_back(std::move(buffer));
  return Error::success();
}

static Error parseReference(StringRef item, StringRef text,
                            Arguments &arguments) {
  auto [index, offset] = text.split('+');
  unsigned number;
  uint64_t bytes = 0;
  if (index.getAsInteger(0, number) ||
      (!offset.empty() && offset.getAsInteger(0, bytes)))
    return fail(item, "expected @N or @N+BYTES");
  std::string name = ("argument " + llvm::Twine(number)).str();
  for (const Buffer &buffer : arguments.buffers)
    if (buffer.name == name) {
      arguments.values.push_back(
          bytesOf(uint64_t(reinterpret_cast<uintptr_t>(buffer.data)) + bytes));
      return Error::success();
    }
  return fail(item, name + " is not a buffer");
}

static Error parseNumber(StringRef item, StringRef type, StringRef text,
                         Arguments &arguments) {
  double real;
  if (type == "f32" || type == "f64") {
    if (text.getAsDouble(real))
      return fail(item, "'" + text + "' is not a number");
    arguments.values.push_back(type == "f32" ? bytesOf(float(real))
                                             : bytesOf(real));
    return Error::success();
  }
  uint64_t magnitude;
  bool isNegative = text.consume_front("-");
  if (text.getAsInteger(0, magnitude))
    return fail(item, "'" + text + "' is not an integer");
  uint64_t value = isNegative ? 0 - magnitude : magnitude;
  if (type == "i8")
    arguments.values.push_back(bytesOf(uint8_t(value)));
  else if (type == "i16")
    arguments.values.push_back(bytesOf(uint16_t(value)));
  else if (type == "i32")
    arguments.values.push_back(bytesOf(uint32_t(value)));
  else if (type == "i64")
    arguments.values.push_back(bytesOf(value));
  else
    return fail(item, "'" + type +
                          "' is not one of i8, i16, i32, i64, f32, f64, buf");
  return Error::success();
}

llvm::Expected<Arguments>
iristools::parseArguments(StringRef text,
                          mlir::iris::emulator::Memory &memory) {
  Arguments arguments;
  llvm::SmallVector<StringRef> items;
  text.split(items, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef item : items) {
    StringRef rest = item.trim();
    Error error = Error::success();
    if (rest.consume_front("buf:"))
      error = joinErrors(std::move(error),
                         parseBuffer(item, rest, memory, arguments));
    else if (rest.consume_front("@"))
      error =
          joinErrors(std::move(error), parseReference(item, rest, arguments));
    else
      error = joinErrors(std::move(error),
                         parseNumber(item, rest.split(':').first,
                                     rest.split(':').second, arguments));
    if (error)
      return std::move(error);
  }
  return arguments;
}

Error iristools::finish(const Arguments &arguments) {
  for (const Buffer &buffer : arguments.buffers) {
    if (!buffer.path.empty()) {
      std::error_code failure;
      llvm::raw_fd_ostream os(buffer.path, failure);
      if (!failure) {
        os.write(reinterpret_cast<const char *>(buffer.data), buffer.size);
        os.close();
        failure = os.error();
        os.clear_error();
      }
      if (failure)
        return llvm::createStringError("cannot write '" + buffer.path +
                                       "': " + failure.message());
    }
    if (!buffer.isPrinted)
      continue;
    llvm::outs() << buffer.name << ":\n";
    for (uint64_t i = 0; i < buffer.size; i += 4) {
      uint32_t word = 0;
      std::memcpy(&word, buffer.data + i,
                  std::min<uint64_t>(4, buffer.size - i));
      bool isLast = i % 32 == 28 || i + 4 >= buffer.size;
      llvm::outs() << llvm::format_hex_no_prefix(word, 8)
                   << (isLast ? '\n' : ' ');
    }
  }
  return Error::success();
}
