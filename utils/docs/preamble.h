// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What C++ fragments in the documents take as given (code_snippets.py).
#include "iris/ccl/Communicator.h"
#include "iris/ccl/JobCommunicator.h"
#include "iris/ccl/Matmul.h"
#include "iris/rt/InterNode.h"
#include "iris/rt/Job.h"
#include "iris/rt/Package.h"
#include "iris/rt/Program.h"
#include "iris/rt/Trace.h"
#include "iris/rt/World.h"

using namespace iris::rt;
using namespace iris::ccl;

extern std::unique_ptr<World> world;
extern Kernel kernel;
extern void *in, *out, *a, *b, *c;
extern uint64_t inAddress, outAddress, mine;
extern size_t count, bytes;
extern uint32_t root;
extern Stream stream;
extern Communicator &comm;
extern uint64_t inSize, outSize, hidden;
extern const int64_t *inCounts, *inOffsets, *outCounts, *outOffsets;
