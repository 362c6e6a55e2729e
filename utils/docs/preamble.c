/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What C fragments in the documents take as given (code_snippets.py). */
#include "iris/ccl.h"

#include <stdio.h>

extern IrisRtWorld *world;
extern void *in, *out;
extern size_t count;
