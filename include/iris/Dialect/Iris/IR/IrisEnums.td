// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef IRIS_DIALECT_IRIS_IR_IRISENUMS_TD
#define IRIS_DIALECT_IRIS_IR_IRISENUMS_TD

include "iris/Dialect/Iris/IR/IrisBase.td"
include "mlir/IR/EnumAttr.td"

class Iris_Enum<string name, string description, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, description, cases> {
  let cppNamespace = "::mlir::iris";
  let genSpecializedAttr = 0;
}

def Iris_MemSemantic : Iris_Enum<"MemSemantic", "ordering of an access", [
    I32EnumAttrCase<"Relaxed", 0, "relaxed">,
    I32EnumAttrCase<"Acquire", 1, "acquire">,
    I32EnumAttrCase<"Release", 2, "release">,
    I32EnumAttrCase<"AcqRel", 3, "acq_rel">]>;
def Iris_MemSemanticAttr : EnumAttr<Iris_Dialect, Iris_MemSemantic, "sem">;

def Iris_Scope : Iris_Enum<"Scope", "scope of an ordering", [
    I32EnumAttrCase<"Block", 0, "block">, I32EnumAttrCase<"Gpu", 1, "gpu">,
    I32EnumAttrCase<"Sys", 2, "sys">]>;
def Iris_ScopeAttr : EnumAttr<Iris_Dialect, Iris_Scope, "scope">;

def Iris_RMWKind : Iris_Enum<"RMWKind", "read-modify-write operation", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Sub", 1, "sub">,
    I32EnumAttrCase<"Xchg", 2, "xchg">, I32EnumAttrCase<"And", 3, "and">,
    I32EnumAttrCase<"Or", 4, "or">, I32EnumAttrCase<"Xor", 5, "xor">,
    I32EnumAttrCase<"Min", 6, "min">, I32EnumAttrCase<"Max", 7, "max">,
    I32EnumAttrCase<"UMin", 8, "umin">, I32EnumAttrCase<"UMax", 9, "umax">]>;
def Iris_RMWKindAttr : EnumAttr<Iris_Dialect, Iris_RMWKind, "rmw">;

def Iris_SignalKind : Iris_Enum<"SignalKind", "update of a flag by a signal", [
    I32EnumAttrCase<"Set", 0, "set">, I32EnumAttrCase<"Add", 1, "add">]>;
def Iris_SignalKindAttr : EnumAttr<Iris_Dialect, Iris_SignalKind, "signal">;

// The numbers are those of IrisRtComparison in RuntimeABI.h.
def Iris_Comparison : Iris_Enum<"Comparison", "comparison of a wait", [
    I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">,
    I32EnumAttrCase<"GE", 2, "ge">, I32EnumAttrCase<"GT", 3, "gt">,
    I32EnumAttrCase<"LE", 4, "le">, I32EnumAttrCase<"LT", 5, "lt">]>;
def Iris_ComparisonAttr : EnumAttr<Iris_Dialect, Iris_Comparison, "comparison">;

def Iris_CollectiveKind : Iris_Enum<"CollectiveKind", "kind of a collective", [
    I32EnumAttrCase<"AllGather", 0, "all_gather">,
    I32EnumAttrCase<"AllReduce", 1, "all_reduce">,
    I32EnumAttrCase<"ReduceScatter", 2, "reduce_scatter">,
    I32EnumAttrCase<"AllToAll", 3, "all_to_all">,
    I32EnumAttrCase<"Broadcast", 4, "broadcast">,
    I32EnumAttrCase<"Reduce", 5, "reduce">,
    I32EnumAttrCase<"Gather", 6, "gather">,
    I32EnumAttrCase<"Scatter", 7, "scatter">,
    I32EnumAttrCase<"Send", 8, "send">, I32EnumAttrCase<"Recv", 9, "recv">,
    I32EnumAttrCase<"Barrier", 10, "barrier">,
    I32EnumAttrCase<"AllToAllV", 11, "all_to_all_v">,
    I32EnumAttrCase<"AllGatherV", 12, "all_gather_v">]>;
def Iris_CollectiveKindAttr
    : EnumAttr<Iris_Dialect, Iris_CollectiveKind, "collective_kind">;

def Iris_Reduction : Iris_Enum<"Reduction", "reduction operation", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Max", 3, "max">,
    I32EnumAttrCase<"Avg", 4, "avg">]>;
def Iris_ReductionAttr : EnumAttr<Iris_Dialect, Iris_Reduction, "reduction">;

def Iris_TracePhase : Iris_Enum<"TracePhase", "begin or end of a span", [
    I32EnumAttrCase<"Begin", 0, "begin">, I32EnumAttrCase<"End", 1, "end">]>;
def Iris_TracePhaseAttr
    : EnumAttr<Iris_Dialect, Iris_TracePhase, "trace_phase">;

#endif // IRIS_DIALECT_IRIS_IR_IRISENUMS_TD
