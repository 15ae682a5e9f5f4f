// The exe dialect: what the runtime executes. Printing an exe module shows
// exactly what will run: slots with offsets, packed weights with offsets and
// their programs, phases in order.
#ifndef LLMC_EXE_OPS
#define LLMC_EXE_OPS
include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Exe_Dialect : Dialect {
  let name = "exe";
  let cppNamespace = "::llmc::exe";
  let summary = "Explicit program of one target: slots, packed weights, phases";
  let useDefaultAttributePrinterParser = 1;
}
class Exe_Op<string mnem, list<Trait> traits = []> : Op<Exe_Dialect, mnem, traits>;

// What a phase gives to one buffer of its kernel.
//   arg    sym = LLMC_ARG name in lower case: ids, positions, logit_rows, logits
//   slot   sym = an exe.slot
//   weight sym = an exe.packed_weight
//   layer  sym = a role in the enclosing exe.layers' table
//   state  sym = an exe.state; inside exe.layers its layer is the loop's
//   none   null pointer
def Exe_BufferKind : I32EnumAttr<"BufferKind", "kind of a phase's buffer",
    [I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"arg", 1>, I32EnumAttrCase<"slot", 2>,
     I32EnumAttrCase<"weight", 3>, I32EnumAttrCase<"layer", 4>, I32EnumAttrCase<"state", 5>]> {
  let cppNamespace = "::llmc::exe";
}
def Exe_BufferAttr : AttrDef<Exe_Dialect, "Buffer"> {
  let mnemonic = "buf";
  let summary = "one buffer of a phase";
  let parameters = (ins EnumParameter<Exe_BufferKind>:$kind, OptionalParameter<"::mlir::StringAttr">:$sym);
  let assemblyFormat = "`<` $kind (`,` $sym^)? `>`";
}

// Row range of a source, as llm.piece, with the source spelled out.
def Exe_SourceAttr : AttrDef<Exe_Dialect, "Source"> {
  let mnemonic = "source";
  let summary = "rows of a tensor in a file (or inline data), one step of a weight program";
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::RankedTensorType":$type,
                        "int64_t":$file, "int64_t":$offset, "int64_t":$length,
                        "int64_t":$begin, "int64_t":$count, "bool":$transposed,
                        OptionalParameter<"::mlir::ElementsAttr">:$data);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exe_ProgramOp : Exe_Op<"program", [Symbol, SymbolTable, NoTerminator, SingleBlock, IsolatedFromAbove]> {
  let summary = "everything that one target runs";
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$target,
                       DenseI64ArrayAttr:$buckets,              // ascending; the last is the largest T of a step
                       I64Attr:$page_tokens, I64Attr:$max_context, I64Attr:$max_sequences,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$arena_bytes, // per bucket, by plan-arena
                       DefaultValuedAttr<I64Attr, "0">:$weight_bytes,
                       DefaultValuedAttr<I64Attr, "0">:$kv_pages);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

def Exe_SlotOp : Exe_Op<"slot", [Symbol]> {
  let summary = "a piece of the arena: fixed + per_token * T bytes";
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$per_token, DefaultValuedAttr<I64Attr, "0">:$fixed,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$offsets); // per bucket, by plan-arena
  let assemblyFormat = "$sym_name attr-dict";
}

def Exe_PackedWeightOp : Exe_Op<"packed_weight", [Symbol]> {
  let summary = "a tensor of the packed segment and the program that makes it";
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$rows, I64Attr:$cols, StrAttr:$layout,
                       TypedArrayAttrBase<Exe_SourceAttr, "weight program">:$program,
                       DefaultValuedAttr<I64Attr, "-1">:$offset, DefaultValuedAttr<I64Attr, "-1">:$bytes);
  let assemblyFormat = "$sym_name attr-dict";
}

def Exe_StateOp : Exe_Op<"state", [Symbol]> {
  let summary = "paged KV of all layers of one geometry";
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$layers, I64Attr:$kv_heads, I64Attr:$head_dim,
                       I64Attr:$v_head_dim, TypeAttr:$dtype, DefaultValuedAttr<I64Attr, "0">:$page_bytes);
  let assemblyFormat = "$sym_name attr-dict";
}

def Exe_StepOp : Exe_Op<"step", [NoTerminator, SingleBlock]> {
  let summary = "the phases of one step, in order";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}

def Exe_LayersOp : Exe_Op<"layers", [NoTerminator, SingleBlock]> {
  let summary = "a run of identical layers: one body, a table of symbols per layer";
  // weights = {role = [@layer0's packed weight, …]}, each of length count;
  // first: number of the first layer (index into the state); names: one
  // ONNX name per layer for messages and profiles.
  let arguments = (ins I64Attr:$first, I64Attr:$count, DictionaryAttr:$weights);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}

def Exe_PhaseOp : Exe_Op<"phase"> {
  let summary = "one kernel of the catalogue on the whole step; a barrier follows";
  // C1: kernel is in the catalogue. C2: as many buffers as the kernel has.
  // C3: constants are exactly the kernel's, by name (i64 or f32).
  // layer: for a state buffer outside exe.layers.
  let arguments = (ins StrAttr:$kernel, TypedArrayAttrBase<Exe_BufferAttr, "buffers">:$buffers,
                       DictionaryAttr:$consts, DefaultValuedAttr<I64Attr, "0">:$layer,
                       OptionalAttr<ArrayAttr>:$source_nodes);
  let assemblyFormat = "$kernel $buffers $consts attr-dict";
  let hasVerifier = 1;
}
#endif
