// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file is replaced as a whole or left unchanged; pipes and devices are
// written to; links remain links.

// RUN: rm -rf %t && mkdir %t
// RUN: iris-compile %s -g0 -o %t/first.iris
// RUN: iris-compile %s -g0 -o - > %t/stdout.iris
// RUN: cmp %t/first.iris %t/stdout.iris
// RUN: iris-compile - -g0 -o %t/stdin.iris < %s
// RUN: cmp %t/first.iris %t/stdin.iris
// RUN: iris-compile %s -o /dev/null
// RUN: test -c /dev/null

// RUN: echo old > %t/pointee && ln -s pointee %t/link
// RUN: iris-compile %s -g0 -o %t/link
// RUN: test -L %t/link && cmp %t/first.iris %t/pointee

// A failure leaves the old file, and no temporary one.
// RUN: echo old > %t/kept
// RUN: echo 'gpu.module' | not iris-compile - -o %t/kept
// RUN: grep -x old %t/kept
// RUN: ls %t | FileCheck %s --check-prefix=FILES
// FILES-NOT: tmp

// RUN: not iris-compile %s -o %t/no/such/dir 2>&1 | FileCheck %s --check-prefix=NODIR
// NODIR: iris-compile: error: cannot write '{{.*}}/no/such/dir': No such file or directory
// RUN: not iris-compile %s -o %t 2>&1 | FileCheck %s --check-prefix=ISDIR
// ISDIR: iris-compile: error: cannot write '{{.*}}': it is a directory
// RUN: not iris-compile %s -o /dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: iris-compile: error: cannot write '/dev/full': No space left on device
// RUN: not iris-compile %s > /dev/full 2> %t/err
// RUN: FileCheck %s --check-prefix=STDOUT < %t/err
// STDOUT: error: cannot write 'standard output': No space left on device

// Binary output does not go to a terminal.
// RUN: not script -qec "iris-compile %s" /dev/null > %t/tty
// RUN: FileCheck %s --check-prefix=TTY < %t/tty
// TTY: refusing to write binary output to a terminal; name a file with -o, or pipe the output

gpu.module @kernels {
  llvm.func @k(%args: !llvm.ptr, %program: !llvm.ptr) attributes {
      iris.meta = {name = "k"}} {
    llvm.return
  }
}
