// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/DeviceUnderTest.h"

#include "backends/host/HostBackend.h"
#include "support/PackageWriter.h"

#include <dlfcn.h>
#include <fstream>
#include <sstream>

using namespace iris::rt;
using namespace iris::rt::test;

// The driver compiles PTX for the device at hand.
static const char storeIdsPtx[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry store_ids(
  .param .u64 to, .param .u32 value, .param .u32 reserved)
{
  .reg .pred %p<2>;
  .reg .u32 %r<5>;
  .reg .u64 %a<4>;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra done;
  ld.param.u64 %a1, [to];
  ld.param.u32 %r2, [value];
  mov.u32 %r3, %ctaid.x;
  add.u32 %r4, %r2, %r3;
  mul.wide.u32 %a2, %r3, 4;
  add.u64 %a3, %a1, %a2;
  st.global.u32 [%a3], %r4;
done:
  ret;
}
.visible .entry spin_until_set(
  .param .u64 a, .param .u64 a_size, .param .u64 b, .param .u64 b_size)
{
  .reg .pred %p<2>;
  .reg .u32 %r<2>;
  .reg .u64 %a<3>;
  ld.param.u64 %a1, [a];
  ld.param.u64 %a2, [b];
again:
  ld.volatile.global.u32 %r1, [%a1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra again;
  st.volatile.global.u32 [%a2], %r1;
  ret;
}
)";

Expected<std::unique_ptr<Backend>> DeviceUnderTest::open() const {
  if (kind == DeviceKind::host)
    return std::unique_ptr<Backend>(new HostBackend(!table));
  return createBackend(spec(), 0, /*placeMappings=*/!table);
}

DeviceSpec DeviceUnderTest::spec() const {
  return {kind, kind == DeviceKind::emulated ? "gfx942" : ""};
}

std::string DeviceUnderTest::image() const {
  if (kind == DeviceKind::cuda)
    return std::string(storeIdsPtx, sizeof(storeIdsPtx)); // with its zero
  std::string path = IRIS_TEST_KERNELS;
  if (kind == DeviceKind::hip || kind == DeviceKind::emulated) {
    Expected<DeviceTarget> target = deviceTarget(spec(), 0);
    if (!target.ok())
      return "";
    path = IRIS_TEST_IMAGES "/store_ids." + target->name + ".hsaco";
  }
  std::ifstream stream(path, std::ios::binary);
  std::stringstream bytes;
  bytes << stream.rdbuf();
  return bytes.str();
}

std::string DeviceUnderTest::spinPackage(const std::string &target) const {
  const char *buffer = R"(, "element": "i32", "symmetric": true,
                          "sizes": [null], "strides": null})";
  std::string metadata =
      R"({"kernels": [{"name": "spin_until_set", "module": "kernels",
      "symbol": "spin_until_set", "workgroup": [1, 1, 1], "shared_bytes": 0,
      "dynamic_shared_bytes": 0, "arena_bytes": 0, "coresident": false,
      "args_bytes": 32, "hidden": [], "sites": [], "args": [
      {"kind": "memref", "offset": 0)" +
      std::string(buffer) + R"(, {"kind": "memref", "offset": 16)" + buffer +
      "]}]}";
  std::string bytes;
  for (const char *translation : {"stride", "table"})
    bytes += writeEntry(kernelEntry(target, metadata, image(), translation));
  return bytes;
}

std::string DeviceUnderTest::boundTo() const {
  const bool isCuda = kind == DeviceKind::cuda;
  void *library = kind == DeviceKind::host || kind == DeviceKind::emulated
                      ? nullptr
                      : ::dlopen(isCuda ? "libcuda.so.1" : "libamdhip64.so",
                                 RTLD_NOW | RTLD_LOCAL);
  void *query =
      library ? ::dlsym(library, isCuda ? "cuCtxGetCurrent" : "hipGetDevice")
              : nullptr;
  if (!query)
    return "";
  void *bound = nullptr; // a context, or the number of a device
  int result = reinterpret_cast<int (*)(void **)>(query)(&bound);
  std::ostringstream text;
  text << result << " " << bound;
  return text.str();
}

std::vector<DeviceUnderTest> iris::rt::test::devicesUnderTest() {
  return {{"host", DeviceKind::host, false},
          {"host_table", DeviceKind::host, true},
          {"cuda", DeviceKind::cuda, false},
          {"hip", DeviceKind::hip, false},
          {"emulated", DeviceKind::emulated, false},
          {"emulated_table", DeviceKind::emulated, true}};
}
