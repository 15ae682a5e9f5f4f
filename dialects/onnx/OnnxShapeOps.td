// Ops on shapes: metadata, reshaping, joining, cutting, filling.
#ifndef LLMC_ONNX_SHAPE_OPS
#define LLMC_ONNX_SHAPE_OPS
include "dialects/onnx/OnnxBase.td"

def Onnx_ShapeOp : Onnx_PureOp<"shape"> {
  let summary = "dims start .. end as a vector";
  let arguments = (ins AnyType:$data, Onnx_Int<"0">:$start,
                       OptionalAttr<I64Attr>:$end);
  let results = (outs AnyType:$output);
}
def Onnx_SizeOp : Onnx_PureOp<"size"> {
  let summary = "number of elements, a scalar";
  let arguments = (ins AnyType:$data);
  let results = (outs AnyType:$output);
}
def Onnx_ReshapeOp : Onnx_PureOp<"reshape"> {
  let summary = "new dims: 0 copies one (without allowzero), -1 is what remains";
  let arguments = (ins AnyType:$data, AnyType:$shape,
                       Onnx_Flag<"0">:$allowzero);
  let results = (outs AnyType:$output);
}
def Onnx_FlattenOp : Onnx_AxisOp<"flatten", 1> {
  let summary = "a matrix: dims before axis by dims from axis";
  let arguments = (ins AnyType:$input, Onnx_Int<"1">:$axis);
  let results = (outs AnyType:$output);
}
def Onnx_SqueezeOp : Onnx_PureOp<"squeeze"> {
  let summary = "without the dims in axes (none: all that are 1)";
  let arguments = (ins AnyType:$data, AnyType:$axes);
  let results = (outs AnyType:$output);
}
def Onnx_UnsqueezeOp : Onnx_PureOp<"unsqueeze"> {
  let summary = "with dims of 1 inserted at axes";
  let arguments = (ins AnyType:$data, AnyType:$axes);
  let results = (outs AnyType:$output);
}
def Onnx_TransposeOp : Onnx_PureOp<"transpose"> {
  let summary = "permuted dims; without perm, reversed";
  let arguments = (ins AnyType:$data, OptionalAttr<DenseI64ArrayAttr>:$perm);
  let results = (outs AnyType:$output);
  let hasVerifier = 1;
}
def Onnx_ExpandOp : Onnx_PureOp<"expand"> {
  let summary = "broadcast to a shape, both ways";
  let arguments = (ins AnyType:$input, AnyType:$shape);
  let results = (outs AnyType:$output);
}
def Onnx_TileOp : Onnx_PureOp<"tile"> {
  let summary = "repeated along each dim";
  let arguments = (ins AnyType:$input, AnyType:$repeats);
  let results = (outs AnyType:$output);
}
def Onnx_ConcatOp : Onnx_PureOp<"concat"> {
  let summary = "joined along axis";
  let arguments = (ins Variadic<AnyType>:$inputs, I64Attr:$axis);
  let results = (outs AnyType:$output);
  let hasVerifier = 1;
}
def Onnx_SplitOp : Onnx_AxisOp<"split"> {
  let summary = "cut along axis, by sizes or into num_outputs parts";
  let arguments = (ins AnyType:$input, AnyType:$split, Onnx_Int<"0">:$axis,
                       OptionalAttr<I64Attr>:$num_outputs);
  let results = (outs Variadic<AnyType>:$outputs);
}
def Onnx_SliceOp : Onnx_PureOp<"slice"> {
  let summary = "a range per axis; bounds clamp";
  let arguments = (ins AnyType:$data, AnyType:$starts, AnyType:$ends,
                       AnyType:$axes, AnyType:$steps);
  let results = (outs AnyType:$output);
}
def Onnx_PadOp : Onnx_PureOp<"pad"> {
  let summary = "padded at both ends of axes";
  let arguments = (ins AnyType:$data, AnyType:$pads, AnyType:$constant_value,
                       AnyType:$axes,
                       Onnx_Choice<"constant", "\"constant\", \"reflect\", \"edge\", \"wrap\"", "constant, reflect, edge or wrap">:$mode);
  let results = (outs AnyType:$output);
}
def Onnx_RangeOp : Onnx_PureOp<"range"> {
  let summary = "start, start + delta, … below limit";
  let arguments = (ins AnyType:$start, AnyType:$limit, AnyType:$delta,
                       Onnx_Int<"1">:$stash_type);
  let results = (outs AnyType:$output);
}
def Onnx_ConstantOfShapeOp : Onnx_PureOp<"constant_of_shape"> {
  let summary = "filled with one value (default: f32 0)";
  let arguments = (ins AnyType:$input, OptionalAttr<ElementsAttr>:$value);
  let results = (outs AnyType:$output);
}
def Onnx_TriluOp : Onnx_PureOp<"trilu"> {
  let summary = "upper or lower triangle from diagonal k on";
  let arguments = (ins AnyType:$input, AnyType:$k, Onnx_Flag<"1">:$upper);
  let results = (outs AnyType:$output);
}
def Onnx_EyeLikeOp : Onnx_PureOp<"eye_like"> {
  let summary = "ones on diagonal k of a matrix like the input";
  let arguments = (ins AnyType:$input, OptionalAttr<TypeAttr>:$dtype,
                       Onnx_Int<"0">:$k);
  let results = (outs AnyType:$output);
}
def Onnx_CenterCropPadOp : Onnx_PureOp<"center_crop_pad"> {
  let summary = "cropped or padded with zeros at both ends to a shape";
  let arguments = (ins AnyType:$input, AnyType:$shape,
                       OptionalAttr<DenseI64ArrayAttr>:$axes);
  let results = (outs AnyType:$output);
}
class Onnx_DepthOp<string mnem, string text> : Onnx_PureOp<mnem> {
  let summary = text;
  let arguments = (ins AnyType:$input,
                       ConfinedAttr<I64Attr, [IntMinValue<1>]>:$blocksize,
                       Onnx_Choice<"DCR", "\"DCR\", \"CRD\"", "DCR or CRD">:$mode);
  let results = (outs AnyType:$output);
}
def Onnx_DepthToSpaceOp : Onnx_DepthOp<"depth_to_space", "blocks of channels moved to rows and columns">;
def Onnx_SpaceToDepthOp : Onnx_DepthOp<"space_to_depth", "blocks of rows and columns moved to channels">;
#endif
