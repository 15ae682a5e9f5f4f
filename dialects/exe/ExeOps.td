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
include "mlir/Interfaces/SideEffectInterfaces.td"

def Exe_Dialect : Dialect {
  let name = "exe";
  let cppNamespace = "::llmc::exe";
  let summary = "Explicit program of one target: slots, packed weights, phases";
  let description = [{
    What one target runs, with everything decided: pieces of the arena with
    their offsets, packed weights with their offsets and the programs that make
    them, states, and one `exe.step` with a flat list of phases. A phase is one
    kernel of `compiler/kernels/Catalogue.h` on the whole step. Identical layers
    are one `exe.layers` body with a table of symbols per layer.
    Constraints are numbered; the verifier message carries the number.
  }];
  let useDefaultAttributePrinterParser = 1;
}
class Exe_Op<string mnem, list<Trait> traits = []> : Op<Exe_Dialect, mnem, traits>;

// An i64 whose accessor is signed, so that a negative number can be refused.
def Exe_Int : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer">;

// What a phase gives to one buffer of its kernel.
//   arg    sym = LLMC_ARG name in lower case: ids, positions, logit_rows, logits
//   slot   sym = an exe.slot
//   weight sym = an exe.packed_weight
//   layer  sym = a role in the enclosing exe.layers' table
//   state  sym = an exe.state, of which the phase takes one layer
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
  let description = [{
    With `encoding` (compiler/weights/Encoding.h) the bytes are codes of a
    tensor of that type and `parts` are the sources of its scales, zero points
    and groups of columns, in this order, an absent one `unit`.
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::RankedTensorType":$type,
                        "int64_t":$file, "int64_t":$offset, "int64_t":$length,
                        "int64_t":$begin, "int64_t":$count, "bool":$transposed,
                        OptionalParameter<"::mlir::ElementsAttr">:$data,
                        OptionalParameter<"::mlir::StringAttr">:$encoding,
                        OptionalParameter<"::mlir::ArrayAttr">:$parts);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exe_ProgramOp : Exe_Op<"program", [Symbol, SymbolTable, NoTerminator, SingleBlock, IsolatedFromAbove]> {
  let summary = "everything that one target runs";
  let description = [{
    C1: buckets are positive and ascending; the last is the largest T of a step.
    C2: arena_bytes is empty (not planned yet) or has one number per bucket.
    C3: page_tokens, max_context and max_sequences are positive.

    ```mlir
    exe.program @cpu attributes {target = "x86-64-avx512vnni", buckets = array<i64: 1, 8>,
        page_tokens = 64, max_context = 2048, max_sequences = 1} {
      exe.slot @x {per_token = 256}
      exe.step { ... }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$target,
                       DenseI64ArrayAttr:$buckets,
                       Exe_Int:$page_tokens, Exe_Int:$max_context, Exe_Int:$max_sequences,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$arena_bytes, // per bucket, by plan-arena
                       DefaultValuedAttr<Exe_Int, "0">:$weight_bytes,
                       DefaultValuedAttr<Exe_Int, "0">:$kv_pages);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The step of the program, or null.
    StepOp getStep();
  }];
}

def Exe_SlotOp : Exe_Op<"slot", [Symbol]> {
  let summary = "a piece of the arena: fixed + per_token * T bytes";
  let description = [{
    C1: sizes are not negative and not both zero. C2: offsets is empty (not
    planned yet) or has one multiple of 64 per bucket of the program.
    In bucket b the slot takes `fixed + per_token * buckets[b]` bytes at
    `offsets[b]` of the arena.

    ```mlir
    exe.slot @x {per_token = 256, offsets = array<i64: 0, 0>}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Exe_Int:$per_token, DefaultValuedAttr<Exe_Int, "0">:$fixed,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$offsets); // per bucket, by plan-arena
  let assemblyFormat = "$sym_name attr-dict";
  let hasVerifier = 1;
}

def Exe_PackedWeightOp : Exe_Op<"packed_weight", [Symbol]> {
  let summary = "a tensor of the packed segment and the program that makes it";
  let description = [{
    C1: rows and cols are positive. C2: the counts of the program's steps add up
    to the rows. C3: offset and bytes are both -1 (not planned yet) or both
    planned.

    ```mlir
    exe.packed_weight @w_o {rows = 64, cols = 64, layout = "p16.f32", program = [
      #exe.source<name = "o_proj.weight", type = tensor<64x64xf32>, file = 1, offset = 0,
                  length = 16384, begin = 0, count = 64, transposed = true>]}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Exe_Int:$rows, Exe_Int:$cols, StrAttr:$layout,
                       TypedArrayAttrBase<Exe_SourceAttr, "weight program">:$program,
                       DefaultValuedAttr<Exe_Int, "-1">:$offset, DefaultValuedAttr<Exe_Int, "-1">:$bytes);
  let assemblyFormat = "$sym_name attr-dict";
  let hasVerifier = 1;
}

def Exe_StateOp : Exe_Op<"state", [Symbol]> {
  let summary = "paged KV of all layers of one geometry";
  let description = [{
    C1: all sizes are positive. C2: dtype is f32, f16 or i8 (codes and an f32 per token and half).

    ```mlir
    exe.state @kv {layers = 30, kv_heads = 3, head_dim = 64, v_head_dim = 64, dtype = f16}
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Exe_Int:$layers, Exe_Int:$kv_heads, Exe_Int:$head_dim,
                       Exe_Int:$v_head_dim, TypeAttr:$dtype, DefaultValuedAttr<Exe_Int, "0">:$page_bytes);
  let assemblyFormat = "$sym_name attr-dict";
  let hasVerifier = 1;
}

def Exe_StepOp : Exe_Op<"step", [NoTerminator, SingleBlock, HasParent<"ProgramOp">]> {
  let summary = "the phases of one step, in order";
  let description = [{
    C1: holds exe.phase and exe.layers only.

    ```mlir
    exe.step {
      exe.phase "embed" [...] {...}
      exe.layers attributes {...} { ... }
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Exe_LayersOp : Exe_Op<"layers", [NoTerminator, SingleBlock, HasParent<"StepOp">]> {
  let summary = "a run of identical layers: one body, a table of symbols per layer";
  let description = [{
    `weights = {role = [@layer0's packed weight, ...]}`, each of length count.
    In round i a state buffer of a phase is layer `first + i * stride + layer` of
    its state, `layer` being the phase's own: a body may hold several layers
    (stride 2 where two kinds alternate), or read one again and again (0). The
    optional `names` has one ONNX name per round, `nodes` the ONNX nodes of
    every phase in every round, for messages and profiles.

    C1: count is positive, first and stride are not negative. C2: every entry of
    weights is an array of count symbols of packed weights. C3: names and nodes,
    when given, have count entries. C4: holds exe.phase only.

    ```mlir
    exe.layers attributes {first = 0, count = 2, weights = {w = [@l0.w, @l1.w]}} {
      exe.phase "linear" [#exe.buf<slot, "x">, ..., #exe.buf<layer, "w">, ...] {k = 64, ...}
    }
    ```
  }];
  let arguments = (ins Exe_Int:$first, Exe_Int:$count, DictionaryAttr:$weights,
                       DefaultValuedAttr<Exe_Int, "1">:$stride,
                       OptionalAttr<StrArrayAttr>:$names, OptionalAttr<ArrayAttr>:$nodes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Layer of the state that a phase of the body works on in that round.
    int64_t layerOf(PhaseOp Phase, int64_t Round);
    /// ONNX nodes of the body's phase number Index in that round; null when
    /// there are none.
    ::mlir::ArrayAttr nodesOf(int64_t Round, int64_t Index);
  }];
}

def Exe_PhaseOp : Exe_Op<"phase", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one kernel of the catalogue on the whole step; a barrier follows";
  let description = [{
    C1: kernel is in the catalogue. C2: as many buffers as the kernel has.
    C3: constants are exactly the kernel's, by name (i64 or f32).
    C4: every buffer names an existing symbol of its kind: an exe.slot, an
    exe.packed_weight, an exe.state, a role of the enclosing exe.layers, or one
    of the arguments ids, positions, logit_rows, logits.
    `layer` is the layer of a state buffer; in exe.layers it counts from the
    round's. `source_nodes` are the ONNX nodes that the phase computes.

    ```mlir
    exe.phase "add" [#exe.buf<slot, "x">, #exe.buf<slot, "y">, #exe.buf<slot, "z">] {n = 64 : i64}
    ```
  }];
  let arguments = (ins StrAttr:$kernel, TypedArrayAttrBase<Exe_BufferAttr, "buffers">:$buffers,
                       DictionaryAttr:$consts, DefaultValuedAttr<Exe_Int, "0">:$layer,
                       OptionalAttr<StrArrayAttr>:$source_nodes);
  let assemblyFormat = "$kernel $buffers $consts attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The buffer that the catalogue calls Name; the kernel must have one.
    BufferAttr getBuffer(llvm::StringRef Name);
    /// The integer constant that the catalogue calls Name.
    int64_t getInt(llvm::StringRef Name);
    /// The f32 constant that the catalogue calls Name.
    float getFloat(llvm::StringRef Name);
  }];
}
#endif
