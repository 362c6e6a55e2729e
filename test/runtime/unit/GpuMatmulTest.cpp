// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matmuls of the vendor's library, with the stand-ins for cuBLASLt and
// hipBLASLt of the fake driver's library.
#include "backends/gpu/BlasLtApi.h"
#include "support/GpuFixture.h"

#include <cstring>
#include <vector>

using namespace iris::rt;
using namespace iris::rt::test;

/// -4 to 3; sums of their products are exact in f32.
static int number(uint64_t row, uint64_t column, uint64_t salt) {
  uint64_t hash = (row * 1009 + column + 1) * 0x9e3779b97f4a7c15ull +
                  salt * 0xc2b2ae3d27d4eb4full;
  hash = (hash ^ (hash >> 31)) * 0xd6e8feb86659fd93ull;
  return static_cast<int>(hash >> 61) - 4;
}

static uint32_t bytesOf(IrisRtElement element) {
  return element == IRISRT_ELT_F32 ? 4 : 2;
}

static void put(uint8_t *at, IrisRtElement element, float value) {
  if (element == IRISRT_ELT_F16) {
    auto half = static_cast<_Float16>(value);
    std::memcpy(at, &half, sizeof(half));
  } else if (element == IRISRT_ELT_BF16) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    auto upper = static_cast<uint16_t>(bits >> 16); // the test's are exact
    std::memcpy(at, &upper, sizeof(upper));
  } else {
    std::memcpy(at, &value, sizeof(value));
  }
}

namespace {
/// A matrix in device memory, `skew` bytes behind an aligned address.
class Matrix {
public:
  Matrix(Backend &backend, uint64_t bytes, uint64_t skew = 0)
      : backend(backend), base(backend.allocate(bytes + 64).take()),
        address(base + skew) {}
  ~Matrix() { EXPECT_OK(backend.free(base)); }

  Backend &backend;
  const uint64_t base, address;
};

class GpuMatmul : public Gpu {
protected:
  void expectRight(const LibraryMatmulSpec &spec, uint64_t skew, bool replays);
};
} // namespace

FAKE_GPU_SUITE(GpuMatmul);

/// Runs the matmul and compares every element.
void GpuMatmul::expectRight(const LibraryMatmulSpec &spec, uint64_t skew,
                            bool replays) {
  SCOPED_TRACE(testing::Message()
               << "element " << spec.element << ", result " << spec.result
               << ", a " << spec.aIsColumnMajor << ", b " << spec.bIsColumnMajor
               << ", skew " << skew);
  auto made = backend->createLibraryMatmul(spec);
  ASSERT_OK(made);
  std::unique_ptr<LibraryMatmul> matmul = made.take();
  EXPECT_STREQ(matmul->name(), cuda() ? "cuBLASLt" : "hipBLASLt");
  const uint32_t size = bytesOf(spec.element);
  std::vector<uint8_t> left(spec.m * spec.k * size),
      right(spec.k * spec.n * size);
  auto fill = [&](std::vector<uint8_t> &matrix, uint64_t rows, uint64_t columns,
                  bool isColumnMajor, uint64_t salt) {
    for (uint64_t i = 0; i < rows; ++i)
      for (uint64_t j = 0; j < columns; ++j)
        put(&matrix[(isColumnMajor ? j * rows + i : i * columns + j) * size],
            spec.element, static_cast<float>(number(i, j, salt)));
  };
  fill(left, spec.m, spec.k, spec.aIsColumnMajor, 1);
  fill(right, spec.k, spec.n, spec.bIsColumnMajor, 2);
  const uint32_t resultSize = bytesOf(spec.result);
  std::vector<uint8_t> got(spec.m * spec.n * resultSize), want(resultSize);
  Matrix a(*backend, left.size(), skew), b(*backend, right.size(), skew),
      c(*backend, got.size(), skew);
  auto stream = backend->createStream();
  ASSERT_OK(stream);
  auto write = [&](const Matrix &matrix, const std::vector<uint8_t> &bytes) {
    return backend->writeNow(*stream, matrix.address, bytes.data(),
                             bytes.size(), std::chrono::seconds(20));
  };
  ASSERT_OK(write(a, left));
  ASSERT_OK(write(b, right));
  if (replays)
    ASSERT_OK(backend->beginCapture(*stream));
  ASSERT_OK(matmul->run(*stream, a.address, b.address, c.address, 0.5f));
  if (replays) {
    auto graph = backend->endCapture(*stream);
    ASSERT_OK(graph);
    ASSERT_OK(backend->launchGraph(*graph, *stream));
    ASSERT_OK(synchronize(*stream));
    ASSERT_OK(backend->destroyGraph(*graph));
  }
  ASSERT_OK(backend->copyToHost(*stream, got.data(), c.address, got.size()));
  ASSERT_OK(synchronize(*stream));
  for (uint64_t i = 0; i < spec.m; ++i)
    for (uint64_t j = 0; j < spec.n; ++j) {
      int sum = 0;
      for (uint64_t k = 0; k < spec.k; ++k)
        sum += number(i, k, 1) * number(k, j, 2);
      put(want.data(), spec.result, static_cast<float>(sum) / 2);
      ASSERT_EQ(std::memcmp(&got[(i * spec.n + j) * resultSize], want.data(),
                            resultSize),
                0)
          << i << ", " << j;
    }
  EXPECT_OK(backend->destroyStream(*stream));
}

TEST_P(GpuMatmul, OfAllTypesAndLayouts) {
  create();
  struct Types {
    IrisRtElement element, result;
  };
  for (Types types : {Types{IRISRT_ELT_F16, IRISRT_ELT_F16},
                      Types{IRISRT_ELT_BF16, IRISRT_ELT_BF16},
                      Types{IRISRT_ELT_F16, IRISRT_ELT_F32},
                      Types{IRISRT_ELT_F32, IRISRT_ELT_F32}})
    for (int layouts = 0; layouts < 4; ++layouts) {
      LibraryMatmulSpec spec;
      spec.element = types.element;
      spec.result = types.result;
      spec.m = 7, spec.n = 5, spec.k = 6; // exact in bf16
      spec.aIsColumnMajor = (layouts & 1) != 0;
      spec.bIsColumnMajor = (layouts & 2) != 0;
      expectRight(spec, /*skew=*/0, /*replays=*/layouts == 3);
      // An algorithm for addresses that are multiples of an element only.
      expectRight(spec, /*skew=*/4, /*replays=*/false);
      const int strict = cuda() ? 69 : 2, ordinary = cuda() ? 68 : 2;
      EXPECT_EQ(control().blasCompute,
                types.element == IRISRT_ELT_F32 ? strict : ordinary);
    }
}

/// Libraries that cannot serve are `unavailable`, with the reason.
TEST_P(GpuMatmul, SaysWhatIsMissing) {
  create();
  LibraryMatmulSpec spec;
  auto refusal = [&] {
    Status status = backend->createLibraryMatmul(spec).status();
    EXPECT_EQ(status.code(), StatusCode::unavailable) << status.message();
    return status.message();
  };
  control().blasHasAlgorithms = false;
  EXPECT_HAS(refusal(), "has no algorithm for this matmul");
  control().blasHasAlgorithms = true;
  for (int version : {cuda() ? 110299 : 999, cuda() ? 140000 : 200000}) {
    (cuda() ? control().cublasLtVersion : control().hipblasLtVersion) = version;
    EXPECT_HAS(refusal(), std::to_string(version) + "; expected");
  }
  control().cublasLtVersion = FakeGpuControl().cublasLtVersion;
  control().hipblasLtVersion = FakeGpuControl().hipblasLtVersion;
  spec.element = IRISRT_ELT_I8;
  EXPECT_HAS(refusal(), "expected f16, bf16 or f32");
  auto openError = [](const char *path) {
    return gpu::loadBlasLtApi(GetParam(), path).status();
  };
  EXPECT_EQ(openError("/nonexistent/library.so").code(),
            StatusCode::unavailable);
  EXPECT_HAS(openError("/nonexistent/library.so").message(), "cannot open");
  EXPECT_HAS(openError("libc.so.6").message(), "does not export");
}

TEST_P(GpuMatmul, ReturnsErrorsOfTheLibrary) {
  create();
  LibraryMatmulSpec spec;
  control().failFunction = "blasLtCreate";
  EXPECT_HAS(backend->createLibraryMatmul(spec).status().message(),
             "start on this device");
  control().failFunction = nullptr;
  auto made = backend->createLibraryMatmul(spec);
  ASSERT_OK(made);
  std::unique_ptr<LibraryMatmul> matmul = made.take();
  Matrix a(*backend, 64), b(*backend, 64), c(*backend, 64);
  auto stream = backend->createStream();
  ASSERT_OK(stream);
  auto run = [&](StreamHandle where) {
    return matmul->run(where, a.address, b.address, c.address, 1).message();
  };
  control().failFunction = "blasLtMatmul";
  EXPECT_HAS(run(*stream), "cannot enqueue a matmul: status 999");
  control().failFunction = nullptr;
  EXPECT_HAS(run(StreamHandle{77}), "is not a valid stream");
  EXPECT_OK(backend->destroyStream(*stream));
}
