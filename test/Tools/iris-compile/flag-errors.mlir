// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Command line errors are reported in one line, with exit status 1.

// RUN: not iris-compile %s --target=gfx900 -o %t 2>&1 | FileCheck %s --check-prefix=TARGET --match-full-lines
// TARGET: iris-compile: error: unknown target 'gfx900'; expected one of gfx942, gfx950, gfx90a, gfx1100, gfx1201, gfx1250, sm_90a, sm_80, sm_86, sm_89, sm_100a, sm_103a, sm_120, host
// TARGET-NOT: {{.}}

// RUN: not iris-compile %s --target= -o %t 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: unknown target ''; expected one of

// RUN: not iris-compile %s --target=host,host -o %t 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: target 'host' is named twice

// RUN: not iris-compile %s --target=gfx942,host --emit=obj -o %t 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: not iris-compile %s --target=gfx942,host --emit=asm -o %t 2>&1 | FileCheck %s --check-prefix=SEVERAL
// RUN: not iris-compile %s --target=gfx942,host --emit=mlir -o %t 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: only a package can hold several targets; give one target, or use --emit=package

// RUN: not iris-compile %s --translation=both --emit=obj -o %t 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: only a package can hold both translations

// RUN: not iris-compile %s --translation=guess -o %t 2>&1 | FileCheck %s --check-prefix=TRANSLATION
// TRANSLATION: error: unknown translation 'guess'; expected stride, table or both

// RUN: not iris-compile %s --code-object-version=4 -o %t 2>&1 | FileCheck %s --check-prefix=COV
// COV: error: unknown code object version 4; expected 5 or 6

// RUN: not iris-compile %s -O7 -o %t 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: error: unknown optimization level -O7; expected -O0 to -O3

// RUN: not iris-compile %s -g2 -o %t 2>&1 | FileCheck %s --check-prefix=LINES
// LINES: error: unknown debug information -g2; expected -g0 (none) or -g1 (line tables)

// RUN: not iris-compile %s --emit=obj --until=abi -o %t 2>&1 | FileCheck %s --check-prefix=UNTIL
// UNTIL: error: --until writes MLIR; expected --emit=mlir or no --emit

// RUN: not iris-compile %s --until=nothing -o %t 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: error: unknown stage 'nothing'; expected one of expand, translate, tiles, sync, abi, llvm

// RUN: not iris-compile %s --target=sm_90a --ptxas=%t.nowhere -o %t 2>&1 | FileCheck %s --check-prefix=PTXAS
// PTXAS: error: '{{.*}}.nowhere', given by --ptxas, is not an executable

// RUN: not iris-compile %s --emit=elf -o %t 2>&1 | FileCheck %s --check-prefix=EMIT
// EMIT: error: unknown --emit=elf; expected mlir, llvm, asm, obj (one image: HSACO, cubin or PTX, or a shared object) or package
// RUN: not iris-compile %s --emit=hsaco --target=sm_90a -o %t 2>&1 | FileCheck %s --check-prefix=HSACO
// HSACO: error: --emit=hsaco is not a format of target sm_90a; expected --emit=obj
// RUN: not iris-compile %s --emit=ptx -o %t 2>&1 | FileCheck %s --check-prefix=PTX
// PTX: error: --emit=ptx is not a format of target host; expected --emit=asm
// RUN: not iris-compile %s --emit=cubin --target=sm_90a --ptxas=none -o %t 2>&1 | FileCheck %s --check-prefix=CUBIN
// CUBIN: error: --emit=cubin needs ptxas

// RUN: not iris-compile %s --debug --target=host,gfx942 -o %t 2>&1 | FileCheck %s --check-prefix=DEBUG
// DEBUG: error: --debug supports the host only; expected --target=host, but got gfx942

// RUN: not iris-compile %s --no-such-flag -o %t 2>&1 | FileCheck %s --check-prefix=FLAG
// FLAG: Unknown command line argument '--no-such-flag'

// RUN: not ls %t

gpu.module @kernels {
}
