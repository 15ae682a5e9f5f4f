// Clean-up of imported graphs. Order and reasons: compiler/pipeline.
#ifndef LLMC_PASSES_IMPORT
#define LLMC_PASSES_IMPORT
include "mlir/Pass/PassBase.td"

def WidenFloats : Pass<"llmc-widen-floats", "::mlir::ModuleOp"> {
  let summary = "turns a graph of f16 or bf16 activations into one of f32";
  let description = [{
    Every f16 or bf16 value, constant and element type of an attribute becomes
    f32. Weights stay in the file's encoding: their users see a Cast, which
    products look through, so that the artifact holds the halves. Casts between
    halves and f32 become casts to the same type (`llmc-simplify-shapes` removes
    them). Activations are therefore computed more exactly than the file asks.

    ```mlir
    // before
    %w = onnx.weight @w : tensor<64x64xf16>
    %y = onnx.mat_mul %x, %w : (tensor<?x64xf16>, tensor<64x64xf16>) -> tensor<?x64xf16>
    // after
    %w = onnx.weight @w : tensor<64x64xf16>
    %c = onnx.cast %w {to = f32} : (tensor<64x64xf16>) -> tensor<64x64xf32>
    %y = onnx.mat_mul %x, %c : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let dependentDialects = ["::llmc::onnx::OnnxDialect"];
  let statistics = [Statistic<"NumWidened", "num-widened", "values that became f32">];
}

def InferShapes : Pass<"llmc-infer-shapes", "::mlir::ModuleOp"> {
  let summary = "gives every value its rank and its dims as expressions of the arguments' dims";
  let description = [{
    Symbols are the dim_params of the arguments; an argument's dim without one
    gets `<argument>.d<axis>`. Elements of small integer tensors are followed
    through Shape, Gather, Concat, arithmetic, comparisons and Where, so that
    computed shapes of Reshape, Expand and Slice are known. Declared types of
    inner values are not believed; what cannot be proved is left `?`.

    ```mlir
    // before
    func.func @main(%x: tensor<?x?x576xf32, #onnx.dims<["batch", "seq", "576"]>>) {
      %s = onnx.constant dense<[0, 0, 9, 64]> : tensor<4xi64>
      %y = onnx.reshape %x, %s : (…) -> tensor<*xf32>
    // after
      %y = onnx.reshape %x, %s : (…) -> tensor<?x?x9x64xf32, #onnx.dims<["batch", "seq", "9", "64"]>>
    ```
  }];
  let dependentDialects = ["::llmc::onnx::OnnxDialect"];
}

def BindInputs : Pass<"llmc-bind-inputs", "::mlir::ModuleOp"> {
  let summary = "inputs about what the runtime decides itself become constants";
  let description = [{
    How many rows of logits are kept, or which: one, as the step function picks
    rows itself. The sequence of a batch that a cache continues: its own. Types
    of tokens: the first. Such inputs are known by how they are used; all others
    stay.

    ```mlir
    // before
    %n = onnx.neg %num_logits_to_keep
    // after
    %one = onnx.constant dense<1> : tensor<i64>
    %n = onnx.neg %one
    ```
  }];
}

def FoldConstants : Pass<"llmc-fold-constants", "::mlir::ModuleOp"> {
  let summary = "evaluates what depends on small constants only";
  let description = [{
    An op becomes `onnx.constant` when its result has at most 64 elements and
    its operands are constants, or when its elements are known from shapes (a
    `Gather` of a static dim, `Where(Equal(shape, -1), …)`). Weights are never
    read, larger results are left alone. Work is bounded: 65,536 elements and
    1,048,576 operations per op.

    ```mlir
    // before
    %a = onnx.constant dense<2> : tensor<i64>
    %b = onnx.constant dense<3> : tensor<i64>
    %c = onnx.mul %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i64>
    // after
    %c = onnx.constant dense<6> : tensor<i64>
    ```
  }];
  let dependentDialects = ["::llmc::onnx::OnnxDialect"];
  let statistics = [Statistic<"NumFolded", "num-folded", "ops that became constants">];
}

def ExpandFused : Pass<"llmc-expand-fused", "::mlir::ModuleOp"> {
  let summary = "attention and rotary ops of all domains as primitive ops";
  let description = [{
    Each op becomes what it means, with its location kept: products, softmax,
    slices, masks made of ranges. Caches grow: a cache input that is a buffer of
    fixed size, paged or quantised becomes one of as many rows as there are past
    tokens. Integer inputs that ops take as lengths get `llm.length`. What an op
    says that this cannot express is an error at the op. Types are inferred
    anew.

    ```mlir
    %y = onnx.rotary_embedding %x, %cos, %sin, %positions : …
    // becomes
    %c = onnx.gather %cos, %positions : …
    %p = onnx.mul %lo, %c : …
    %a = onnx.sub %p, %q : …
    %y = onnx.concat %a, %b {axis = -1} : …
    ```
  }];
  let dependentDialects = ["::llmc::onnx::OnnxDialect"];
}

def SimplifyShapes : Pass<"llmc-simplify-shapes", "::mlir::ModuleOp"> {
  let summary = "removes ops that change nothing and shape arithmetic that is known";
  let description = [{
    Uses the dims of `llmc-infer-shapes`, which it computes anew. Three steps:

    - An op whose result is its operand is removed: Identity, Dropout, Cast to
      the same type, Reshape/Squeeze/Unsqueeze/Flatten chains that end in the
      shape they began with, Expand to the same shape, Transpose that moves
      nothing, Slice and Pad of nothing, Concat and Split of one.
    - The shape operand of Reshape and Expand becomes a constant where copying a
      dim (0, respectively 1) and one -1 can express it.
    - A single element that is a dim of an argument becomes that dim:
      `Gather(Shape(argument), axis)`, whatever computed it.

    ```mlir
    // before: %x is [batch, seq, 576], %b and %s are its first dims
    %shape = onnx.concat %b, %s, %minus_1, %c64 {axis = 0} : …
    %y = onnx.reshape %x, %shape : …
    // after
    %shape = onnx.constant dense<[0, 0, 9, 64]> : tensor<4xi64>
    %y = onnx.reshape %x, %shape : …
    ```
  }];
  let dependentDialects = ["::llmc::onnx::OnnxDialect"];
  let statistics = [
    Statistic<"NumRemoved", "num-removed", "ops that changed nothing">,
    Statistic<"NumShapes", "num-shapes", "shape operands that became constants">,
    Statistic<"NumDims", "num-dims", "elements that became a dim of an argument">];
}

def CanonicalizeGraph : Pass<"llmc-canonicalize-graph", "::mlir::ModuleOp"> {
  let summary = "one spelling of equal things: identities, constants on the right, no duplicates, no dead code";
  let description = [{
    Exact rewrites only: `x * 1`, `x / 1`, `x - 0`, `And(x, true)`,
    `Or(x, false)` and Where with a known condition are their operand; a
    constant or weight operand of Add, Mul, And, Or and Equal stands on the
    right; division by a power of two is a product; two Transposes are one;
    `Not(Not(x))` is x; a ScatterND chain that writes each row of the first dim
    once is a Concat, and a GatherND of whole rows by constants a Gather. Then
    identical ops are merged and unused ones removed.

    ```mlir
    // before
    %d = onnx.div %x, %eight : …
    %m = onnx.mul %one, %d : …
    // after
    %m = onnx.mul %x, %eighth : …
    ```
  }];
  let dependentDialects = ["::llmc::onnx::OnnxDialect"];
  let statistics = [Statistic<"NumRewritten", "num-rewritten", "ops rewritten">];
}

def ResolveControlFlow : Pass<"llmc-resolve-control-flow", "::mlir::ModuleOp"> {
  let summary = "decides onnx.if where that is possible before the model runs";
  let description = [{
    The importer has moved the bodies of both branches in front of the If, which
    chooses among finished values. It is replaced by the values of one branch
    where

    - the condition is known from constants and shapes,
    - the condition is a bool input (a merged decoder's use_cache_branch): the
      branch that reads more float inputs is taken, since it continues from a
      past, which may be empty; the input is removed,
    - both branches yield the same value.

    Other Ifs stay, for instance the choice between two tables by the length.

    ```mlir
    // before: %flag is a bool input, only %with reads the caches
    %r = onnx.if %flag {onnx.yield %with : …} else {onnx.yield %without : …}
    // after
    %with
    ```
  }];
  let dependentDialects = ["::llmc::onnx::OnnxDialect"];
  let statistics = [Statistic<"NumResolved", "num-resolved", "Ifs that were decided">];
}
#endif
