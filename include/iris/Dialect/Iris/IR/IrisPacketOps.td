// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packets (LL protocol): data and flag in the same memory operation. Kernels
// use the first two ops; the others are their lowering below the tile level.

#ifndef IRIS_DIALECT_IRIS_IR_IRISPACKETOPS_TD
#define IRIS_DIALECT_IRIS_IR_IRISPACKETOPS_TD

include "iris/Dialect/Iris/IR/IrisInterfaces.td"
include "iris/Dialect/Iris/IR/IrisTypes.td"
include "iris/Dialect/Tile/IR/TileBase.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Packets are communication: they are not merged, dropped or moved across
/// other accesses, although they order nothing.
class Iris_PacketOp<string mnemonic, list<Trait> traits = []>
    : Iris_Op<mnemonic, !listconcat(traits, [
        MemoryEffects<[MemRead, MemWrite]>])>;

def Iris_PacketBuffer : MemRefRankOf<[I32], [1]>;

def Iris_PacketStoreOp : Iris_PacketOp<"packet_store", [
    DeclareOpInterfaceMethods<RankedAccessOpInterface>]> {
  let summary = "Stores a tile with a flag in every word";
  let description = [{
    Writes the bytes of the tile, in row-major order, as 32-bit words, each
    followed by a flag: element `offset + 2 k` of the buffer becomes word k,
    element `offset + 2 k + 1` the flag. A reader that loads a word and its flag
    in one 64-bit access, as `iris.packet_load` does, has received the word if
    the flag equals the expected one. There is no fence and no separate flag.

    A packet is relaxed: it orders only its own payload. Earlier stores of the
    program may become visible after it.

    The size of the tile in bytes is a power of two, at least 16. `offset` must
    be a multiple of 4, and the buffer must be 16-byte aligned, as allocations
    are. A window that is not completely inside the buffer is not written at
    all. Without a rank the op writes this rank's copy, or the translated
    buffer.

    The flag must differ from the value in memory: buffers are initially zero,
    and a flag value may be reused only after another one has replaced it, as
    with epochs that count up and wrap. A program may overwrite a packet only if
    it knows that the packet has been received. With two alternating buffers and
    an exchange in both directions, this holds for all packets before the last
    ones.

    Example:

    ```mlir
    iris.packet_store %ctx, %tile, %buf[%i] to %r flag(%epoch)
        : tensor<2048xbf16>, memref<?xi32, #iris.symmetric>
    ```
  }];
  let arguments = (ins
    Iris_CtxType:$ctx, Tile_DataTile:$value, Iris_PacketBuffer:$buffer,
    Index:$offset, Optional<Index>:$rank, I32:$flag);
  let assemblyFormat = [{
    $ctx `,` $value `,` $buffer `[` $offset `]` (`to` $rank^)?
    `flag` `(` $flag `)` attr-dict `:` type($value) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Iris_PacketLoadOp : Iris_PacketOp<"packet_load"> {
  let summary = "Waits for a packet and returns its data";
  let description = [{
    Reads the window that an `iris.packet_store` of a tile of this type writes
    at `offset` repeatedly until all of its flags equal `flag`, and returns the
    data received with the flags. Every thread waits only for its own elements.

    Relaxed: a packet that has arrived does not order accesses to other memory.
    A program receives packets in the order of the ops.

    With `owed_by_members(n)` the tile has n equal parts, in row-major order,
    which members 0 to n - 1 of the launch's group send: a single wait for all
    of them takes one round trip instead of one per member.

    A window that is not completely inside the buffer returns zeros without
    waiting. The constraints of `iris.packet_store` apply here too.

    The wait is bounded like that of `iris.wait`. On timeout it records its
    location and its condition, `owed_by` is the rank that should have stored,
    and the program ends without publishing anything more. A program that
    contains a wait requires all programs of its launch, and of its peers'
    launches, to be co-resident.

    Example:

    ```mlir
    %t = iris.packet_load %ctx, %buf[%i] flag(%epoch) owed_by(%r)
        : memref<?xi32, #iris.symmetric> -> tensor<2048xbf16>
    %a = iris.packet_load %ctx, %buf[%i] flag(%epoch) owed_by_members(8)
        : memref<?xi32, #iris.symmetric> -> tensor<8x1024xbf16>
    ```
  }];
  let arguments = (ins
    Iris_CtxType:$ctx, Iris_PacketBuffer:$buffer, Index:$offset, I32:$flag,
    Optional<Index>:$owedBy, OptionalAttr<I64Attr>:$members);
  let results = (outs Tile_DataTile:$result);
  let assemblyFormat = [{
    $ctx `,` $buffer `[` $offset `]` `flag` `(` $flag `)`
    (`owed_by` `(` $owedBy^ `)`)? (`owed_by_members` `(` $members^ `)`)? attr-dict
    `:` type($buffer) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// Bytes of the packets of one member; null without `owed_by_members`.
    ::mlir::IntegerAttr getMemberBytes() {
      if (!getMembers())
        return {};
      ::mlir::RankedTensorType type = getType();
      int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
      return ::mlir::IntegerAttr::get(
          ::mlir::IntegerType::get(getContext(), 64),
          2 * bits / 8 / static_cast<int64_t>(*getMembers()));
    }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Below the tile level
//===----------------------------------------------------------------------===//

def Iris_WritePacketsOp : Iris_PacketOp<"write_packets"> {
  let summary = "Stores one thread's words with their flags";
  let description = [{
    The words are divided evenly among the offsets, one or two words each; an
    offset is an access of 8 or 16 bytes. Offsets are in bytes from `base`,
    which is uniform and 16-byte aligned; they are not negative, and multiples
    of the access size.

    Example:

    ```mlir
    iris.write_packets %words flag(%epoch), %base[%o, %p]
        : vector<4xi32>, !llvm.ptr<1>
    ```
  }];
  let arguments = (ins
    VectorOfRankAndType<[1], [I32]>:$words, I32:$flag, LLVM_AnyPointer:$base,
    Variadic<I32>:$offsets);
  let assemblyFormat = [{
    $words `flag` `(` $flag `)` `,` $base `[` $offsets `]` attr-dict
    `:` type($words) `,` qualified(type($base))
  }];
  let hasVerifier = 1;
}

def Iris_ReadPacketsOp : Iris_PacketOp<"read_packets", [
    AttrSizedOperandSegments]> {
  let summary = "Waits for one thread's words with their flags";
  let description = [{
    The counterpart of `iris.write_packets`. All offsets are read before the
    first flag is checked, and read again until all flags have arrived. A thread
    whose wait fails continues with the data it has read; see
    `iris.leave_if_failed`. `owed_by` is the rank that should have stored the
    words; with `member_bytes` it is that of member offset / `member_bytes` of
    the group.

    Example:

    ```mlir
    %words = iris.read_packets %ctx, %base[%o, %p] flag(%epoch)
        : !llvm.ptr<1> -> vector<4xi32>
    ```
  }];
  let arguments = (ins
    Iris_CtxType:$ctx, LLVM_AnyPointer:$base, Variadic<I32>:$offsets, I32:$flag,
    Optional<Index>:$owedBy, OptionalAttr<I64Attr>:$memberBytes);
  let results = (outs VectorOfRankAndType<[1], [I32]>:$words);
  let assemblyFormat = [{
    $ctx `,` $base `[` $offsets `]` `flag` `(` $flag `)`
    (`owed_by` `(` $owedBy^ `)`)? (`member_bytes` $memberBytes^)? attr-dict
    `:` qualified(type($base)) `->` type($words)
  }];
  let hasVerifier = 1;
}

def Iris_LeaveIfFailedOp : Iris_PacketOp<"leave_if_failed"> {
  let summary = "Ends the program if a wait of one of its threads has failed";
  let description = [{
    Contains a barrier of all threads. If an `iris.packet_load` has failed in
    any of them, all threads leave the kernel. `iris-check-wait-status` inserts
    it between a wait for packets and ops that are visible to other ranks.

    Example:

    ```mlir
    iris.leave_if_failed
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // IRIS_DIALECT_IRIS_IR_IRISPACKETOPS_TD
