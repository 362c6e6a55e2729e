// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matmuls, local and fused with communication: the kernel of a matmul
// (`iris.matmul_kernel`), and calls of matmuls in host programs.

#ifndef IRIS_DIALECT_IRIS_IR_IRISMATMULOPS_TD
#define IRIS_DIALECT_IRIS_IR_IRISMATMULOPS_TD

include "iris/Dialect/Iris/IR/IrisMatmulInterfaces.td"
include "iris/Dialect/Iris/IR/IrisTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Iris_MatmulKernelOp : Iris_Op<"matmul_kernel", [Symbol]> {
  let summary = "Declares a generated matmul kernel";
  let description = [{
    `iris-expand-matmuls` replaces it by a `gpu.module` of the same name with
    one kernel, which also has that name. The kind is the mnemonic of one of the
    calls (`matmul`, `all_gather_matmul`, ...), followed by the element types of
    the operands (f16, bf16, f32, i8 or an f8 type, which buffers hold as i8)
    and of the result. `size` is the number of ranks in the group, at most 8;
    without it the kernel supports groups of any such size.

    The kernel's arguments are the context, a, b, c, the bias and the scale if
    the config has them, and the staging buffer and the workspace if the kind
    needs them. See docs/guides/fused-matmuls.md for the config.

    Example:

    ```mlir
    iris.matmul_kernel @mm matmul f16 -> f16
        {tile_m = 128, tile_n = 128, tile_k = 64, bias = "column"}
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name, StrAttr:$kind, TypeAttr:$element,
    TypeAttr:$resultElement, OptionalAttr<I64Attr>:$size,
    OptionalAttr<DictionaryAttr>:$config);
  let assemblyFormat = [{
    $sym_name custom<MatmulKind>($kind) $element `->` $resultElement
    (`size` $size^)? ($config^)? attr-dict-with-keyword
  }];
  let hasVerifier = 1;
}

/// A matmul in a host program.
class Iris_MatmulCallOp<string mnemonic, string kind>
    : Iris_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>,
                         AttrSizedOperandSegments, MatmulCallOpInterface]> {
  let arguments = (ins
    Iris_CtxType:$ctx, AnyMemRef:$a, AnyMemRef:$b, AnyMemRef:$c,
    Optional<AnyMemRef>:$bias, Optional<F32>:$scale,
    OptionalAttr<TypeAttr>:$element, OptionalAttr<DenseI32ArrayAttr>:$group,
    OptionalAttr<DictionaryAttr>:$config);
  let assemblyFormat = [{
    $ctx `,` $a `,` $b `,` $c (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`scale` `(` $scale^ `)`)? (`as` $element^)? (`group` `(` $group^ `)`)?
    ($config^)? attr-dict-with-keyword
    `:` type($a) `,` type($b) `,` type($c)
  }];
  let extraClassDeclaration = [{
    MatmulKind getMatmulKind() { return MatmulKind::}] # kind # [{; }
  }];
}

def Iris_MultiplyOp : Iris_MatmulCallOp<"matmul", "Matmul"> {
  let summary = "Multiplies two matrices locally";
  let description = [{
    `c = activation(scale * (a x b) + bias)`, computed in f32 (i32 for i8) and
    then rounded to the elements of `c`. `a` and `b` are row-major with any row
    stride, or column-major. The bias has one element for each column of `c`
    (`bias = "column"`, the default) or row (`"row"`), of the element type of c.
    `as` specifies the f8 type of elements that buffers hold as i8.

    Example:

    ```mlir
    iris.matmul %ctx, %a, %b, %c bias(%v : memref<?xf16, #iris.symmetric>)
        {tile_m = 64, activation = "relu"}
        : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16, #iris.symmetric>,
          memref<?x?xf16, #iris.symmetric>
    ```
  }];
}

def Iris_AllGatherMatmulOp
    : Iris_MatmulCallOp<"all_gather_matmul", "AllGatherMatmul"> {
  let summary = "Multiplies an all-gathered matrix";
  let description = [{
    The ranks' shards of a, in group order, are beside each other (`shard =
    "k"`, the default: `a` has the columns of this rank) or below each other
    (`shard = "m"`: rows). Every rank multiplies the gathered matrix by its own
    `b`.

    Example:

    ```mlir
    iris.all_gather_matmul %ctx, %a, %b, %c {variant = "hbm_buffer"}
        : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16, #iris.symmetric>,
          memref<?x?xf16, #iris.symmetric>
    ```
  }];
}

def Iris_MatmulAllGatherOp
    : Iris_MatmulCallOp<"matmul_all_gather", "MatmulAllGather"> {
  let summary = "Multiplies matrices and all-gathers the result";
  let description = [{
    Every rank computes a chunk of `c`: rows (`shard = "m"`, the default; from
    its rows of `a`) or columns (`shard = "n"`; from its columns of `b`). All
    ranks get all chunks.

    Example:

    ```mlir
    iris.matmul_all_gather %ctx, %a, %b, %c {shard = "n"}
        : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16, #iris.symmetric>,
          memref<?x?xf16, #iris.symmetric>
    ```
  }];
}

def Iris_MatmulReduceScatterOp
    : Iris_MatmulCallOp<"matmul_reduce_scatter", "MatmulReduceScatter"> {
  let summary = "Multiplies matrices and reduce-scatters the result";
  let description = [{
    Member i of the group gets rows i * R to (i + 1) * R of the sum of all
    ranks' `a x b`, where R is the number of rows of `c`; `a` has R rows for
    every member. Bias, scale and activation apply to the sum.

    Example:

    ```mlir
    iris.matmul_reduce_scatter %ctx, %a, %b, %c
        : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16, #iris.symmetric>,
          memref<?x?xf16, #iris.symmetric>
    ```
  }];
}

def Iris_MatmulAllReduceOp
    : Iris_MatmulCallOp<"matmul_all_reduce", "MatmulAllReduce"> {
  let summary = "Multiplies matrices and all-reduces the result";
  let description = [{
    All ranks get the sum of their `a x b`, with the same bits except for the
    variant `atomic`. Bias, scale and activation apply to the sum.

    Example:

    ```mlir
    iris.matmul_all_reduce %ctx, %a, %b, %c {variant = "one_shot"}
        : memref<?x?xf16, #iris.symmetric>, memref<?x?xf16, #iris.symmetric>,
          memref<?x?xf16, #iris.symmetric>
    ```
  }];
}

#endif // IRIS_DIALECT_IRIS_IR_IRISMATMULOPS_TD
