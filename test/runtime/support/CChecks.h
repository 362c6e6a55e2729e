/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Checks of tests in C: a function that fails one returns its line.
 */
#ifndef IRIS_TEST_RUNTIME_SUPPORT_CCHECKS_H
#define IRIS_TEST_RUNTIME_SUPPORT_CCHECKS_H

#include "iris/iris.h"

#include <stdio.h>

/* A call of the runtime succeeds. */
#define TRY(expr)                                                              \
  do {                                                                         \
    if ((expr) != IRISRT_OK) {                                                 \
      fprintf(stderr, "%s: %s\n", #expr, irisrtLastError());                   \
      return __LINE__;                                                         \
    }                                                                          \
  } while (0)

#define CHECK(expr)                                                            \
  do {                                                                         \
    if (!(expr))                                                               \
      return __LINE__;                                                         \
  } while (0)

#endif /* IRIS_TEST_RUNTIME_SUPPORT_CCHECKS_H */
