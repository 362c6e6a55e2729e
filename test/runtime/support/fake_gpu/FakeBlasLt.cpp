// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stand-ins for cuBLASLt and hipBLASLt in the fake driver's library: matmuls on
// CPU memory, as work of the fake's streams. Descriptors are checked as far as
// the back end uses them.
#include "FakeDriver.h"
#include "backends/gpu/BlasLtApi.h"

#include <cstring>

using namespace fakegpu;

namespace {
/// What every opaque object is.
struct Object {
  enum Kind { handle, matmul, layout, preference } kind = handle;
  bool isHip = false;
  int compute = 0, type = 0;
  int operations[2] = {-1, -1};
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0;
  uint64_t workspace = 0;
  uint32_t reduction = 7, alignment = 256;

  const BlasLtDialect &dialect() const {
    return isHip ? hipblasLtDialect : cublasLtDialect;
  }
};

/// The algorithm of the stand-in: what it needs.
struct Algorithm {
  uint32_t magic = 0x1815, alignment = 0;
};

constexpr int statusInvalid = 7, statusUnsupported = 15;
constexpr uint64_t workspaceOfAlgorithms = 4096;
} // namespace

static FakeGpuControl &control() { return *fakeGpuControl(); }

static int invalid(const char *what) {
  (void)misuse(what);
  return statusInvalid;
}

static Object *make(Object::Kind kind, bool isHip) {
  ++control().blasObjects;
  auto *object = new Object;
  object->kind = kind;
  object->isHip = isHip;
  return object;
}

static Object *get(BlasLtObject pointer, Object::Kind kind) {
  auto *object = static_cast<Object *>(pointer);
  return object && object->kind == kind ? object : nullptr;
}

static int destroyObject(BlasLtObject pointer, Object::Kind kind) {
  Object *object = get(pointer, kind);
  if (!object)
    return invalid("destroys another object");
  --control().blasObjects;
  delete object;
  return 0;
}

static int setMatmul(BlasLtObject pointer, int attribute, const void *value,
                     size_t bytes) {
  Object *matmul = get(pointer, Object::matmul);
  if (!matmul || bytes != 4)
    return invalid("an attribute of a matmul");
  const BlasLtDialect &dialect = matmul->dialect();
  int index = attribute == dialect.attributeTransposeA   ? 0
              : attribute == dialect.attributeTransposeB ? 1
                                                         : -1;
  if (index < 0)
    return invalid("an unknown attribute of a matmul");
  std::memcpy(&matmul->operations[index], value, bytes);
  return 0;
}

static int setPreference(BlasLtObject pointer, int attribute, const void *value,
                         size_t bytes) {
  Object *preference = get(pointer, Object::preference);
  if (!preference)
    return invalid("an attribute of a preference");
  const BlasLtDialect &dialect = preference->dialect();
  if (attribute == dialect.preferenceWorkspace && bytes == 8)
    std::memcpy(&preference->workspace, value, bytes);
  else if (attribute == dialect.preferenceReduction && bytes == 4)
    std::memcpy(&preference->reduction, value, bytes);
  else if (attribute >= dialect.preferenceAlignmentA &&
           attribute <= dialect.preferenceAlignmentD && bytes == 4)
    std::memcpy(&preference->alignment, value, bytes);
  else
    return invalid("an unknown attribute of a preference");
  return 0;
}

static int choose(BlasLtObject handle, BlasLtObject matmul, BlasLtObject a,
                  BlasLtObject b, BlasLtObject c, BlasLtObject d,
                  BlasLtObject preference, int requested,
                  BlasLtHeuristic *results, int *returned) {
  Object *wanted = get(preference, Object::preference);
  if (!get(handle, Object::handle) || !get(matmul, Object::matmul) ||
      !get(a, Object::layout) || !get(b, Object::layout) || c != d ||
      !get(d, Object::layout) || !wanted || requested != 1)
    return invalid("a heuristic");
  *returned = 0;
  if (!control().blasHasAlgorithms)
    return 0;
  const BlasLtDialect &dialect = wanted->dialect();
  if (!wanted->isHip && wanted->reduction != reductionInComputeType)
    return invalid("partial sums may be rounded");
  Algorithm algorithm;
  algorithm.alignment = wanted->isHip ? 1 : wanted->alignment;
  std::memset(results->bytes, 0, BlasLtHeuristic::sizeOf(dialect));
  std::memcpy(results->bytes, &algorithm, sizeof(algorithm));
  size_t bytes = std::min<uint64_t>(workspaceOfAlgorithms, wanted->workspace);
  std::memcpy(results->bytes + dialect.algorithmBytes, &bytes, sizeof(bytes));
  *returned = 1;
  return 0;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static float load(const void *at, uint64_t index, int type) {
  if (type == blasF32)
    return static_cast<const float *>(at)[index];
  if (type == blasF16)
    return static_cast<float>(static_cast<const _Float16 *>(at)[index]);
  uint32_t bits = uint32_t(static_cast<const uint16_t *>(at)[index]) << 16;
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

static void store(void *at, uint64_t index, int type, float value) {
  if (type == blasF32) {
    static_cast<float *>(at)[index] = value;
  } else if (type == blasF16) {
    static_cast<_Float16 *>(at)[index] = static_cast<_Float16>(value);
  } else {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    bits += 0x7fff + ((bits >> 16) & 1); // to nearest even; no NaN occurs
    static_cast<uint16_t *>(at)[index] = static_cast<uint16_t>(bits >> 16);
  }
}

static int multiply(BlasLtObject handle, BlasLtObject matmulPointer,
                    const void *alpha, const void *a, BlasLtObject layoutA,
                    const void *b, BlasLtObject layoutB, const void *beta,
                    const void *c, BlasLtObject layoutC, void *d,
                    BlasLtObject layoutD, const void *algorithmPointer,
                    void *workspace, size_t workspaceBytes, void *stream) {
  if (Result failure = injectedFailure("blasLtMatmul"))
    return failure;
  Object *matmul = get(matmulPointer, Object::matmul);
  Object *left = get(layoutA, Object::layout);
  Object *right = get(layoutB, Object::layout);
  Object *result = get(layoutD, Object::layout);
  Algorithm algorithm;
  std::memcpy(&algorithm, algorithmPointer, sizeof(algorithm));
  if (!get(handle, Object::handle) || !matmul || !left || !right || !result ||
      layoutC != layoutD || c != d || algorithm.magic != Algorithm().magic)
    return invalid("a matmul");
  if (currentDevice() < 0)
    return invalid("a matmul without a device");
  if (workspaceBytes < workspaceOfAlgorithms || !workspace)
    return invalid("a matmul without its workspace");
  for (const void *matrix : {a, b, static_cast<const void *>(d)})
    if (reinterpret_cast<uintptr_t>(matrix) % algorithm.alignment != 0)
      return statusUnsupported;
  float scale = 0, old = 0;
  std::memcpy(&scale, alpha, sizeof(scale));
  std::memcpy(&old, beta, sizeof(old));
  if (old != 0)
    return invalid("a matmul that adds");
  const int none = matmul->dialect().operationNone;
  const bool transposesA = matmul->operations[0] != none;
  const bool transposesB = matmul->operations[1] != none;
  const uint64_t depth = transposesA ? left->rows : left->columns;
  if ((transposesA ? left->columns : left->rows) != result->rows ||
      (transposesB ? right->rows : right->columns) != result->columns ||
      (transposesB ? right->columns : right->rows) != depth)
    return invalid("matrices that do not fit");
  ++control().blasMatmuls;
  control().blasCompute = matmul->compute;
  Object l = *left, r = *right, o = *result;
  return enqueue(static_cast<Stream>(stream), [=] {
    auto at = [](const Object &layout, uint64_t row, uint64_t column) {
      return row + column * static_cast<uint64_t>(layout.leading);
    };
    for (uint64_t i = 0; i < o.rows; ++i)
      for (uint64_t j = 0; j < o.columns; ++j) {
        float sum = 0;
        for (uint64_t k = 0; k < depth; ++k)
          sum += load(a, transposesA ? at(l, k, i) : at(l, i, k), l.type) *
                 load(b, transposesB ? at(r, j, k) : at(r, k, j), r.type);
        store(d, at(o, i, j), o.type, scale * sum);
      }
    return true;
  });
}

//===----------------------------------------------------------------------===//
// The two libraries
//===----------------------------------------------------------------------===//

#define FAKE_BLAS(prefix, hip)                                                 \
  extern "C" {                                                                 \
  __attribute__((visibility("default"))) int                                   \
      prefix##Create(BlasLtObject *handle) {                                   \
    if (Result failure = injectedFailure("blasLtCreate"))                      \
      return failure;                                                          \
    *handle = make(Object::handle, hip);                                       \
    return 0;                                                                  \
  }                                                                            \
  __attribute__((visibility("default"))) int                                   \
      prefix##Destroy(BlasLtObject handle) {                                   \
    return destroyObject(handle, Object::handle);                              \
  }                                                                            \
  __attribute__((visibility("default"))) int                                   \
      prefix##MatmulDescCreate(BlasLtObject *matmul, int compute, int scale) { \
    if (scale != blasF32)                                                      \
      return invalid("a scale that is not f32");                               \
    Object *object = make(Object::matmul, hip);                                \
    object->compute = compute;                                                 \
    *matmul = object;                                                          \
    return 0;                                                                  \
  }                                                                            \
  __attribute__((visibility("default"))) int                                   \
      prefix##MatmulDescDestroy(BlasLtObject matmul) {                         \
    return destroyObject(matmul, Object::matmul);                              \
  }                                                                            \
  __attribute__((visibility("default"))) int                                   \
      prefix##MatmulDescSetAttribute(BlasLtObject matmul, int attribute,       \
                                     const void *value, size_t bytes) {        \
    return setMatmul(matmul, attribute, value, bytes);                         \
  }                                                                            \
  __attribute__((visibility("default"))) int                                   \
      prefix##MatrixLayoutCreate(BlasLtObject *layout, int type,               \
                                 uint64_t rows, uint64_t columns,              \
                                 int64_t leading) {                            \
    Object *object = make(Object::layout, hip);                                \
    object->type = type;                                                       \
    object->rows = rows;                                                       \
    object->columns = columns;                                                 \
    object->leading = leading;                                                 \
    *layout = object;                                                          \
    return 0;                                                                  \
  }                                                                            \
  __attribute__((visibility("default"))) int                                   \
      prefix##MatrixLayoutDestroy(BlasLtObject layout) {                       \
    return destroyObject(layout, Object::layout);                              \
  }                                                                            \
  __attribute__((visibility("default"))) int                                   \
      prefix##MatmulPreferenceCreate(BlasLtObject *preference) {               \
    *preference = make(Object::preference, hip);                               \
    return 0;                                                                  \
  }                                                                            \
  __attribute__((visibility("default"))) int                                   \
      prefix##MatmulPreferenceDestroy(BlasLtObject preference) {               \
    return destroyObject(preference, Object::preference);                      \
  }                                                                            \
  __attribute__((visibility("default"))) int                                   \
      prefix##MatmulPreferenceSetAttribute(BlasLtObject preference,            \
                                           int attribute, const void *value,   \
                                           size_t bytes) {                     \
    return setPreference(preference, attribute, value, bytes);                 \
  }                                                                            \
  __attribute__((visibility("default"))) int prefix##MatmulAlgoGetHeuristic(   \
      BlasLtObject handle, BlasLtObject matmul, BlasLtObject a,                \
      BlasLtObject b, BlasLtObject c, BlasLtObject d, BlasLtObject preference, \
      int requested, BlasLtHeuristic *results, int *returned) {                \
    return choose(handle, matmul, a, b, c, d, preference, requested, results,  \
                  returned);                                                   \
  }                                                                            \
  __attribute__((visibility("default"))) int                                   \
      prefix##Matmul(BlasLtObject handle, BlasLtObject matmul,                 \
                     const void *alpha, const void *a, BlasLtObject layoutA,   \
                     const void *b, BlasLtObject layoutB, const void *beta,    \
                     const void *c, BlasLtObject layoutC, void *d,             \
                     BlasLtObject layoutD, const void *algorithm,              \
                     void *workspace, size_t bytes, void *stream) {            \
    return multiply(handle, matmul, alpha, a, layoutA, b, layoutB, beta, c,    \
                    layoutC, d, layoutD, algorithm, workspace, bytes, stream); \
  }                                                                            \
  }

FAKE_BLAS(cublasLt, false)
FAKE_BLAS(hipblasLt, true)

extern "C" __attribute__((visibility("default"))) size_t cublasLtGetVersion() {
  return static_cast<size_t>(control().cublasLtVersion);
}

extern "C" __attribute__((visibility("default"))) int
hipblasLtGetVersion(BlasLtObject handle, int *version) {
  if (!get(handle, Object::handle))
    return invalid("the version of another object");
  *version = control().hipblasLtVersion;
  return 0;
}
