// Ops that index, scatter, search, scan and reduce.
#ifndef LLMC_ONNX_INDEX_OPS
#define LLMC_ONNX_INDEX_OPS
include "dialects/onnx/OnnxBase.td"

def Onnx_GatherOp : Onnx_AxisOp<"gather"> {
  let summary = "slices of data along axis, by index";
  let arguments = (ins AnyType:$data, AnyType:$indices, Onnx_Int<"0">:$axis);
  let results = (outs AnyType:$output);
}
def Onnx_GatherElementsOp : Onnx_AxisOp<"gather_elements"> {
  let summary = "elements of data, indexed along axis";
  let arguments = (ins AnyType:$data, AnyType:$indices, Onnx_Int<"0">:$axis);
  let results = (outs AnyType:$output);
}
def Onnx_GatherNDOp : Onnx_PureOp<"gather_nd"> {
  let summary = "slices of data by index tuples";
  let arguments = (ins AnyType:$data, AnyType:$indices,
                       Onnx_Int<"0">:$batch_dims);
  let results = (outs AnyType:$output);
}
def Onnx_ScatterElementsOp : Onnx_AxisOp<"scatter_elements"> {
  let summary = "data with elements replaced or combined along axis";
  let arguments = (ins AnyType:$data, AnyType:$indices, AnyType:$updates,
                       Onnx_Int<"0">:$axis,
                       Onnx_Choice<"none", "\"none\", \"add\", \"mul\", \"max\", \"min\"", "none, add, mul, max or min">:$reduction);
  let results = (outs AnyType:$output);
}
def Onnx_ScatterNDOp : Onnx_PureOp<"scatter_nd"> {
  let summary = "data with slices replaced or combined by index tuples";
  let arguments = (ins AnyType:$data, AnyType:$indices, AnyType:$updates,
                       Onnx_Choice<"none", "\"none\", \"add\", \"mul\", \"max\", \"min\"", "none, add, mul, max or min">:$reduction);
  let results = (outs AnyType:$output);
}
def Onnx_CumSumOp : Onnx_PureOp<"cum_sum"> {
  let summary = "running sums along an axis";
  let arguments = (ins AnyType:$x, AnyType:$axis, Onnx_Flag<"0">:$exclusive,
                       Onnx_Flag<"0">:$reverse);
  let results = (outs AnyType:$output);
}
def Onnx_TopKOp : Onnx_AxisOp<"top_k"> {
  let summary = "the K largest or smallest along axis; ties: lower index first";
  let arguments = (ins AnyType:$x, AnyType:$k, Onnx_Int<"-1">:$axis,
                       Onnx_Flag<"1">:$largest, Onnx_Flag<"1">:$sorted);
  let results = (outs AnyType:$values, AnyType:$indices);
}
def Onnx_ArgMaxOp : Onnx_AxisOp<"arg_max"> {
  let summary = "index of the largest element along axis";
  let arguments = (ins AnyType:$data, Onnx_Int<"0">:$axis,
                       Onnx_Flag<"1">:$keepdims,
                       Onnx_Flag<"0">:$select_last_index);
  let results = (outs AnyType:$output);
}
def Onnx_ArgMinOp : Onnx_AxisOp<"arg_min"> {
  let summary = "index of the smallest element along axis";
  let arguments = (ins AnyType:$data, Onnx_Int<"0">:$axis,
                       Onnx_Flag<"1">:$keepdims,
                       Onnx_Flag<"0">:$select_last_index);
  let results = (outs AnyType:$output);
}
def Onnx_NonZeroOp : Onnx_PureOp<"non_zero"> {
  let summary = "indices of the elements that are not 0: [rank, n]";
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$output);
}
def Onnx_OneHotOp : Onnx_AxisOp<"one_hot", 1> {
  let summary = "[off, on] values by index, a new dim at axis";
  let arguments = (ins AnyType:$indices, AnyType:$depth, AnyType:$values,
                       Onnx_Int<"-1">:$axis);
  let results = (outs AnyType:$output);
}

class Onnx_ReduceOp<string mnem, string text> : Onnx_PureOp<mnem> {
  let summary = text;
  let arguments = (ins AnyType:$data, AnyType:$axes, Onnx_Flag<"1">:$keepdims,
                       Onnx_Flag<"0">:$noop_with_empty_axes);
  let results = (outs AnyType:$output);
}
def Onnx_ReduceMeanOp : Onnx_ReduceOp<"reduce_mean", "mean over axes (none: all)">;
def Onnx_ReduceSumOp : Onnx_ReduceOp<"reduce_sum", "sum over axes (none: all)">;
def Onnx_ReduceMaxOp : Onnx_ReduceOp<"reduce_max", "maximum over axes (none: all)">;
def Onnx_ReduceMinOp : Onnx_ReduceOp<"reduce_min", "minimum over axes (none: all)">;
def Onnx_ReduceProdOp : Onnx_ReduceOp<"reduce_prod", "product over axes (none: all)">;
def Onnx_ReduceSumSquareOp : Onnx_ReduceOp<"reduce_sum_square", "sum of squares over axes (none: all)">;
def Onnx_ReduceL2Op : Onnx_ReduceOp<"reduce_l2", "root of the sum of squares over axes (none: all)">;
def Onnx_ReduceL1Op : Onnx_ReduceOp<"reduce_l1", "sum of magnitudes over axes (none: all)">;
def Onnx_ReduceLogSumOp : Onnx_ReduceOp<"reduce_log_sum", "logarithm of the sum over axes (none: all)">;
def Onnx_ReduceLogSumExpOp : Onnx_ReduceOp<"reduce_log_sum_exp", "logarithm of the sum of e^x over axes (none: all)">;

def Onnx_CumProdOp : Onnx_PureOp<"cum_prod"> {
  let summary = "running products along an axis";
  let arguments = (ins AnyType:$x, AnyType:$axis, Onnx_Flag<"0">:$exclusive,
                       Onnx_Flag<"0">:$reverse);
  let results = (outs AnyType:$output);
}
def Onnx_CompressOp : Onnx_PureOp<"compress"> {
  let summary = "the slices along axis (without axis: elements) whose condition holds";
  let arguments = (ins AnyType:$input, AnyType:$condition,
                       OptionalAttr<I64Attr>:$axis);
  let results = (outs AnyType:$output);
}
def Onnx_ReverseSequenceOp : Onnx_PureOp<"reverse_sequence"> {
  let summary = "the first elements of each sequence in reverse";
  let arguments = (ins AnyType:$input, AnyType:$sequence_lens,
                       Onnx_Int<"1">:$batch_axis, Onnx_Int<"0">:$time_axis);
  let results = (outs AnyType:$output);
}
def Onnx_UniqueOp : Onnx_PureOp<"unique"> {
  let summary = "distinct slices along axis (without axis: elements), where they are first, which one each is, how often";
  let arguments = (ins AnyType:$x, OptionalAttr<I64Attr>:$axis,
                       Onnx_Flag<"1">:$sorted);
  let results = (outs AnyType:$y, AnyType:$indices, AnyType:$inverse_indices,
                      AnyType:$counts);
}
#endif
