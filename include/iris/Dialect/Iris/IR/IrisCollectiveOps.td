// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives: the kernel of one (`iris.collective`), and calls of them in
// host programs.

#ifndef IRIS_DIALECT_IRIS_IR_IRISCOLLECTIVEOPS_TD
#define IRIS_DIALECT_IRIS_IR_IRISCOLLECTIVEOPS_TD

include "iris/Dialect/Iris/IR/IrisInterfaces.td"
include "iris/Dialect/Iris/IR/IrisTypes.td"
include "iris/Dialect/Tile/IR/TileEnums.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Iris_CollectiveOp : Iris_Op<"collective", [Symbol]> {
  let summary = "Stands for the generated kernel of a collective";
  let description = [{
    `iris-expand-collectives` replaces it by a `gpu.module` of the same name
    with one kernel, which has that name as well. The element type is one of f16, bf16, f32, f64,
    i8, i16, i32, i64, ui8, ui32, ui64 and the f8 types; buffers hold unsigned
    elements as signless ones, and f8 ones as i8.
    `size` is the number of ranks in the group, at most 16; without it the
    kernel serves groups of any size up to 8.

    The kernel's arguments are the context, the input, the output, the
    workspace (memref<?xi32, #iris.symmetric>, zero at first and never reset,
    at least `workspace_bytes` of the kernel's metadata), the number of
    elements per chunk (as in NCCL) and the root (a member of the group). Input
    and output are on the symmetric heap unless the config says `staged`.
    Collectives with counts take the elements of one counted row in the place of
    the elements per chunk, and counts and offsets (memref<?xi64> anywhere, in
    rows, an entry for every member) of the input's chunks, if it has several,
    and of the output's.

    Config, all optional: `variant` (how the collective is done), `tile`
    (elements moved at once by one program, a power of two), `warps` (of a
    program), `programs` (most programs of a launch), `xcds` (chiplets that
    programs go to in round-robin order), `staged` (input and output may be
    anywhere, and the same), `workspace` (its bytes; the same for all kernels
    that share it).

    Example:

    ```mlir
    iris.collective @sum all_reduce sum bf16 size 8
        {tile = 2048, variant = "one_shot"}
    iris.collective @gather all_gather i8
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name, Iris_CollectiveKindAttr:$kind,
    OptionalAttr<Iris_ReductionAttr>:$reduction, TypeAttr:$element,
    OptionalAttr<I64Attr>:$size, OptionalAttr<DictionaryAttr>:$config);
  let assemblyFormat = [{
    $sym_name custom<Keyword>($kind) custom<OptionalReduction>($reduction)
    $element (`size` $size^)? ($config^)? attr-dict-with-keyword
  }];
  let hasVerifier = 1;
}

/// A collective in a host program. `reduces` and `rooted` say what it takes.
class Iris_CollectiveCallOp<string mnemonic, string kind, bit reduces,
                            bit rooted>
    : Iris_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>,
                         CollectiveCallOpInterface]> {
  let arguments = !con(
    !if(reduces, (ins Iris_ReductionAttr:$reduction), (ins)),
    (ins Iris_CtxType:$ctx, AnyMemRef:$input, AnyMemRef:$output),
    !if(rooted, (ins Index:$root), (ins)),
    (ins OptionalAttr<TypeAttr>:$element,
         OptionalAttr<DenseI32ArrayAttr>:$group,
         OptionalAttr<DictionaryAttr>:$config));
  let assemblyFormat =
    !if(reduces, "custom<Keyword>($reduction) ", "") #
    "$ctx `,` $input `,` $output " #
    !if(rooted, "`root` `(` $root `)` ", "") # [{
    (`as` $element^)? (`group` `(` $group^ `)`)? ($config^)?
    attr-dict-with-keyword `:` type($input) `,` type($output)
  }];
  let extraClassDeclaration = [{
    CollectiveKind getCollectiveKind() { return CollectiveKind::}] # kind # [{; }
    std::optional<Reduction> getReductionKind() {}] #
      !if(reduces, "return getReduction();", "return std::nullopt;") # [{}
    ::mlir::Value getRootMember() {}] #
      !if(rooted, "return getRoot();", "return {};") # [{}
    ::llvm::SmallVector<::mlir::Value> getChunkTables() { return {}; }
  }];
}

/// An entry for every member of the group.
def Iris_ChunkTable
    : MemRefRankOf<[I64], [1]>;

/// A collective in a host program whose chunks have counts and offsets: those of
/// the output, and of the input if `countsInput`.
class Iris_CollectiveVCallOp<string mnemonic, string kind, bit countsInput>
    : Iris_Op<mnemonic, [
        MemoryEffects<[MemRead, MemWrite]>, CollectiveCallOpInterface,
        AllTypesMatch<!listconcat(
          !if(countsInput, ["inCounts", "inOffsets"], []<string>),
          ["outCounts", "outOffsets"])>]> {
  let arguments = !con(
    (ins Iris_CtxType:$ctx, AnyMemRef:$input),
    !if(countsInput,
        (ins Iris_ChunkTable:$inCounts, Iris_ChunkTable:$inOffsets), (ins)),
    (ins AnyMemRef:$output, Iris_ChunkTable:$outCounts,
         Iris_ChunkTable:$outOffsets, OptionalAttr<TypeAttr>:$element,
         OptionalAttr<DenseI32ArrayAttr>:$group,
         OptionalAttr<DictionaryAttr>:$config));
  let assemblyFormat = "$ctx `,` $input " #
    !if(countsInput, "`chunks` `(` $inCounts `,` $inOffsets `)` ", "") # [{
    `,` $output `chunks` `(` $outCounts `,` $outOffsets `)`
    (`as` $element^)? (`group` `(` $group^ `)`)? ($config^)?
    attr-dict-with-keyword
    `:` type($input) `,` type($output) `,` type($outCounts)
  }];
  let extraClassDeclaration = [{
    CollectiveKind getCollectiveKind() { return CollectiveKind::}] # kind # [{; }
    std::optional<Reduction> getReductionKind() { return std::nullopt; }
    ::mlir::Value getRootMember() { return {}; }
    ::llvm::SmallVector<::mlir::Value> getChunkTables() {
      return }] # !if(countsInput, "{getInCounts(), getInOffsets(), ", "{") # [{
              getOutCounts(), getOutOffsets()};
    }
  }];
}

def Iris_AllGatherOp : Iris_CollectiveCallOp<"all_gather", "AllGather", 0, 0> {
  let summary = "Gives every rank the inputs of all ranks";
  let description = [{
    The output holds the inputs of the group's members, one after the other.
    All inputs have the same number of elements, and so have all outputs.
    In place: the input is this rank's chunk of the output.

    `group` names the ranks that take part, at most 16 in any order, of which
    more than 8 are among the ranks 0 to 15; the default is the world, of at
    most 8 ranks. The config is that of
    `iris.collective`. `as` names an element type that buffers cannot have:
    ui8 or an f8 type in a buffer of i8.

    Example:

    ```mlir
    iris.all_gather %ctx, %in, %out {variant = "push"}
        : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
    ```
  }];
}

def Iris_AllReduceOp : Iris_CollectiveCallOp<"all_reduce", "AllReduce", 1, 0> {
  let summary = "Gives every rank the reduction of all inputs";
  let description = [{
    Element i of every output is the reduction of the elements i of all inputs.
    Sums of f16, bf16 and fp8 accumulate in f32; `avg` divides once, after the
    sum, and truncates towards zero for integers. The result is the same, bit
    for bit, on all ranks and from run to run, but for the variant `atomic`. The
    output may be the input.

    Example:

    ```mlir
    iris.all_reduce sum %ctx, %in, %out group([0, 2])
        : memref<?xf16, #iris.symmetric>, memref<?xf16, #iris.symmetric>
    ```
  }];
}

def Iris_ReduceScatterOp : Iris_CollectiveCallOp<"reduce_scatter", "ReduceScatter", 1, 0> {
  let summary = "Gives every rank its chunk of the reduction";
  let description = [{
    The input holds a chunk for every member of the group; the output is the
    reduction of all members' chunks for this rank's index in the group.

    Example:

    ```mlir
    iris.reduce_scatter sum %ctx, %in, %out
        : memref<?xf32, #iris.symmetric>, memref<?xf32, #iris.symmetric>
    ```
  }];
}

def Iris_AllToAllOp : Iris_CollectiveCallOp<"all_to_all", "AllToAll", 0, 0> {
  let summary = "Sends chunk i of the input to member i of the group";
  let description = [{
    Both buffers hold a chunk for every member of the group, of equal lengths.
    Chunk i of the output comes from member i.

    Example:

    ```mlir
    iris.all_to_all %ctx, %in, %out
        : memref<?xf32, #iris.symmetric>, memref<?xf32, #iris.symmetric>
    ```
  }];
}

def Iris_BroadcastOp : Iris_CollectiveCallOp<"broadcast", "Broadcast", 0, 1> {
  let summary = "Gives every rank the root's input";
  let description = [{
    Every output becomes the input of the root. `root` is a member of the group,
    by its place there, and the same on all ranks. Other ranks' inputs are not
    read.

    Example:

    ```mlir
    iris.broadcast %ctx, %in, %out root(%r)
        : memref<?xf32, #iris.symmetric>, memref<?xf32, #iris.symmetric>
    ```
  }];
}

def Iris_ReduceToOp : Iris_CollectiveCallOp<"reduce", "Reduce", 1, 1> {
  let summary = "Gives the root the reduction of all inputs";
  let description = [{
    `iris.all_reduce` for one rank: other ranks' outputs are not written. `root`
    is that of `iris.broadcast`.

    Example:

    ```mlir
    iris.reduce max %ctx, %in, %out root(%r)
        : memref<?xi32, #iris.symmetric>, memref<?xi32, #iris.symmetric>
    ```
  }];
}

def Iris_GatherToOp : Iris_CollectiveCallOp<"gather_to", "Gather", 0, 1> {
  let summary = "Gives the root the inputs of all ranks";
  let description = [{
    `iris.all_gather` for one rank: other ranks' outputs are not written. `root`
    is that of `iris.broadcast`. (`iris.gather` is the access.)

    Example:

    ```mlir
    iris.gather_to %ctx, %in, %out root(%r)
        : memref<?xf32, #iris.symmetric>, memref<?xf32, #iris.symmetric>
    ```
  }];
}

def Iris_ScatterFromOp : Iris_CollectiveCallOp<"scatter_from", "Scatter", 0, 1> {
  let summary = "Gives member i of the group chunk i of the root's input";
  let description = [{
    The input of the root holds a chunk for every member of the group; other
    ranks' inputs are not read. `root` is that of `iris.broadcast`.
    (`iris.scatter` is the access.)

    Example:

    ```mlir
    iris.scatter_from %ctx, %in, %out root(%r)
        : memref<?xf32, #iris.symmetric>, memref<?xf32, #iris.symmetric>
    ```
  }];
}

def Iris_AllToAllVOp : Iris_CollectiveVCallOp<"all_to_all_v", "AllToAllV", 1> {
  let summary = "Sends a chunk of any length to each member of the group";
  let description = [{
    `iris.all_to_all` with counts, as MPI_Alltoallv: the chunk for member i is
    counts[i] elements of the input from offsets[i], and that from member i is
    counts[i] elements of the output from offsets[i], with a pair of tables for
    either buffer. They are read when the kernel runs. What a member sends is as
    long as what the other one expects, chunks of an output do not overlap, and
    the buffers have the same size on all members. A count or offset that does
    not fit fails the world before anything is stored.

    Example:

    ```mlir
    iris.all_to_all_v %ctx, %in chunks(%n, %at), %out chunks(%m, %to)
        : memref<?xf32, #iris.symmetric>, memref<?xf32, #iris.symmetric>,
          memref<?xi64, #iris.symmetric>
    ```
  }];
}

def Iris_AllGatherVOp : Iris_CollectiveVCallOp<"all_gather_v", "AllGatherV", 0> {
  let summary = "Gives every rank the inputs of all ranks, of any length";
  let description = [{
    `iris.all_gather` with counts, as MPI_Allgatherv: member i contributes the
    first counts[i] elements of its input, which go to the output from
    offsets[i]. All members pass the same counts; offsets may differ. For the
    rest see `iris.all_to_all_v`.

    Example:

    ```mlir
    iris.all_gather_v %ctx, %in, %out chunks(%n, %to)
        : memref<?xf32, #iris.symmetric>, memref<?xf32, #iris.symmetric>,
          memref<?xi64, #iris.symmetric>
    ```
  }];
}

#endif // IRIS_DIALECT_IRIS_IR_IRISCOLLECTIVEOPS_TD
