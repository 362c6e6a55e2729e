// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packets: data and flag in the same memory operation. The first two ops are
// those of kernels; the others are what they become below the tile level.

#ifndef IRIS_DIALECT_IRIS_IR_IRISPACKETOPS_TD
#define IRIS_DIALECT_IRIS_IR_IRISPACKETOPS_TD

include "iris/Dialect/Iris/IR/IrisInterfaces.td"
include "iris/Dialect/Iris/IR/IrisTypes.td"
include "iris/Dialect/Tile/IR/TileBase.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Packets pass between agents: they are not merged, dropped or moved across
/// other accesses, although they order nothing.
class Iris_PacketOp<string mnemonic, list<Trait> traits = []>
    : Iris_Op<mnemonic, !listconcat(traits, [
        MemoryEffects<[MemRead, MemWrite]>])>;

def Iris_PacketBuffer : MemRefRankOf<[I32], [1]>;

def Iris_PacketStoreOp : Iris_PacketOp<"packet_store", [
    DeclareOpInterfaceMethods<RankedAccessOpInterface>]> {
  let summary = "Stores a tile together with the flag that announces it";
  let description = [{
    Writes the bytes of the tile, in row-major order, as 32-bit words with a
    flag behind each of them: element `offset + 2 k` of the buffer becomes word
    k, element `offset + 2 k + 1` the flag. Whoever reads a word and its flag in
    one access of 64 bits, as `iris.packet_load` does, has received the word if
    the flag is the one it waits for. Nothing else announces the data: there is
    no fence, and no separate flag.

    A packet is relaxed: it orders nothing but its own payload. Earlier stores
    of the program may become visible after it.

    The tile has a power of two of bytes, at least 16. `offset` must be a
    multiple of 4 and the buffer begin on 16 bytes, as allocations do. A window
    that does not lie wholly inside of the buffer is not written at all. Without
    a rank the own copy is written, or the translated buffer.

    The flag must differ from what the memory holds: buffers are zero at first,
    and a flag may be used again only after another one has taken its place, as
    with epochs that count up and wrap. Whoever overwrites a packet must know
    that it was received. With two buffers, used in turn, and an exchange in
    both directions a program knows that of the packets before the last ones.

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
    at `offset`, again and again until every flag of it equals `flag`, and
    returns the data that came with the flags. Every thread waits for its own
    elements alone.

    Relaxed: a packet that has arrived says nothing about other memory. In a
    program, packets are received in the order of the ops.

    With `owed_by_members(n)` the tile has n equal parts, in row-major order,
    which come from members 0 to n - 1 of the launch's group: one wait for all
    of them takes one round trip, not one for each.

    A window that does not lie wholly inside of the buffer gives zeros, without
    waiting. The constraints of `iris.packet_store` hold here, too.

    The wait is bounded as that of `iris.wait`: on expiry it records where and
    for what it waited, `owed_by` names the rank that should have stored, and
    the program ends without publishing anything more. A program that contains a
    wait needs all programs of its launch, and of its peers', to run at once.

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
    /// Bytes of packets of one member, if members owe them.
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
  let summary = "Stores words with their flags, one thread's part of a tile";
  let description = [{
    The words go to as many places as there are offsets, in equal shares of one
    or two words; each place is an access of 8 or 16 bytes. Offsets are bytes
    from `base`, which is the same in all threads and on 16 bytes; they are not
    negative, and multiples of the access.

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
  let summary = "Waits for words with their flags, one thread's part of a tile";
  let description = [{
    The counterpart of `iris.write_packets`. All places are read before the
    first flag is looked at, and read again until all flags are there. A thread
    that gives up goes on, with whatever it has read; see `iris.leave_if_failed`.
    `owed_by` is the rank that should have stored them; with `member_bytes` it
    is that of member offset / `member_bytes` of the group.

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
  let summary = "Ends the program if one of its threads has given up";
  let description = [{
    All threads meet. If any of them gave up in an `iris.packet_load`, all of
    them leave the kernel. `iris-check-wait-status` puts it between a wait for
    packets and what other ranks can see.

    Example:

    ```mlir
    iris.leave_if_failed
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // IRIS_DIALECT_IRIS_IR_IRISPACKETOPS_TD
