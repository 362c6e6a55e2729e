// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: iris-opt %s --split-input-file --verify-diagnostics --iris-place-allocas

gpu.module @kernels {
  gpu.func @dynamic(%n: index) kernel {
    // expected-error @+1 {{allocates 'memref<?xf32>' with a size that is not constant; expected a static shape: workgroup memory is laid out when the kernel is compiled}}
    %a = memref.alloca(%n) : memref<?xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @layout() kernel {
    // expected-error @+1 {{expected no layout, and views of the buffer}}
    %a = memref.alloca() : memref<8x8xf32, strided<[16, 1]>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @element() kernel {
    // expected-error @+1 {{allocates elements of 'index'; expected f16, bf16, f32, f64, i8, i16, i32 or i64}}
    %a = memref.alloca() : memref<8xindex>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @space() kernel {
    // expected-error @+1 {{expected no memory space, or that of workgroup memory, in which buffers of a program are}}
    %a = memref.alloca() : memref<8xf32, #gpu.address_space<private>>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @alignment() kernel {
    // expected-error @+1 {{has an alignment of 64 bytes; expected at most 16}}
    %a = memref.alloca() {alignment = 64 : i64} : memref<8xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @signal(%ctx: !iris.ctx, %one: i32, %i: index) kernel {
    %a = memref.alloca() : memref<8xi32>
    // expected-error @+1 {{uses 'memref<8xi32>', a buffer local to the program (memref.alloca); expected one that other programs can access, an argument of the kernel}}
    iris.signal set %ctx, %one, %a[%i] scope(gpu) : i32, memref<8xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @atomic(%ctx: !iris.ctx, %one: i32, %i: index) kernel {
    %a = memref.alloca() : memref<8xi32>
    %v = memref.subview %a[4] [4] [1] : memref<8xi32> to memref<4xi32, strided<[1], offset: 4>>
    // expected-error @+1 {{uses 'memref<4xi32, strided<[1], offset: 4>>', a buffer local to the program (memref.alloca)}}
    %old = iris.atomic_rmw add %ctx, %one, %v[%i] scope(block) : i32, memref<4xi32, strided<[1], offset: 4>>
    gpu.return
  }
}

// -----

// An op that names a rank needs a symmetric buffer, as for every buffer.
gpu.module @kernels {
  gpu.func @remote(%ctx: !iris.ctx, %i: index) kernel {
    %a = memref.alloca() : memref<8xi32>
    // expected-error @+1 {{names a rank, but the buffer 'memref<8xi32>' is not on the symmetric heap; expected memory space #iris.symmetric}}
    %t = iris.load %ctx, %a[%i] from %i : memref<8xi32> -> tensor<8xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @chosen(%b: memref<8xi32>, %c: i1) kernel {
    %a = memref.alloca() : memref<8xi32>
    // expected-error @+1 {{'arith.select' op chooses 'memref<8xi32>', a buffer of the program (memref.alloca); expected ops that access it, and views; in place of two buffers, index one of 'memref<2x8xi32>'}}
    %d = arith.select %c, %a, %b : memref<8xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @carried(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %a = memref.alloca() : memref<8xi32>
    // expected-error @+1 {{'scf.for' op carries 'memref<8xi32>', a buffer of the program (memref.alloca); expected ops that access it, and views; in place of two buffers, index one of 'memref<2x8xi32>'}}
    %b = scf.for %i = %c0 to %n step %n iter_args(%x = %a) -> memref<8xi32> {
      scf.yield %x : memref<8xi32>
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @freed() kernel {
    %a = memref.alloca() : memref<8xi32>
    // expected-error @+1 {{frees a buffer of the program; expected none: it lives as long as the program}}
    memref.dealloc %a : memref<8xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @heap() kernel {
    // expected-error @+1 {{allocates 'memref<8xi32>' in a kernel; expected memref.alloca, a buffer of the program, or an argument}}
    %a = memref.alloc() : memref<8xi32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @large() kernel {
    // expected-error @+1 {{'memref.alloca' op brings the kernel to 262144 bytes of buffers of the program (memref.alloca); expected at most 232448, the maximum of all targets}}
    %a = memref.alloca() : memref<65536xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @product() kernel {
    // expected-error @+1 {{'memref.alloca' op brings the kernel to at least 18446744073709551615 bytes of buffers of the program (memref.alloca); expected at most 232448, the maximum of all targets}}
    %a = memref.alloca() : memref<4294967296x4294967296xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @element_bytes() kernel {
    // expected-error @+1 {{'memref.alloca' op brings the kernel to at least 18446744073709551615 bytes of buffers of the program (memref.alloca); expected at most 232448, the maximum of all targets}}
    %a = memref.alloca() : memref<9223372036854775807xf32>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @sum() kernel {
    %z = memref.alloca() : memref<64xi8>
    // expected-error @+1 {{'memref.alloca' op brings the kernel to 9223372036854775872 bytes of buffers of the program (memref.alloca)}}
    %a = memref.alloca() : memref<9223372036854775800xi8>
    %b = memref.alloca() : memref<9223372036854775800xi8>
    %c = memref.alloca() : memref<64xi8>
    gpu.return
  }
}
