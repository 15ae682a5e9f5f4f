"""Writes small graphs of known importer faults with the results that ONNX Runtime computes, in the form that NodeSuite reads.

    graph_cases.py OUT

The forms and files are those of node_cases.py. Names begin with the fault: B47 is an If that other importers read wrongly.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
from onnx import numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent))
import node_cases  # noqa: E402

F, I = np.float32, np.int64
rng = np.random.default_rng(11)


def f(*shape):
    return rng.standard_normal(shape).astype(F)


def i(*values):
    return np.array(values, I)


# name -> (opset, body, inputs, types of the outputs). The body is in ONNX's textual syntax; inputs by name.
CASES = {}


def case(name, opset, body, outputs="float y", **inputs):
    CASES[name] = (opset, body, outputs, inputs)


def cases():
    zeros = np.zeros((2, 3, 4), F)
    for op in ("Softmax", "LogSoftmax"):
        case(f"B04_{op}_11", 11, f"y = {op} (x)", x=zeros)
        case(f"B04_{op}_13", 13, f"y = {op} (x)", x=zeros)
        case(f"B04_{op}_axis2", 11, f"y = {op} <axis = 2> (x)", x=f(2, 3, 4, 5))
    case("B05_allowzero", 14, "a = Reshape (x, s) y = Reshape <allowzero = 1> (a, t)", x=np.zeros((0, 8, 2), F), s=i(4, 2, -1), t=i(0, 0, 4))
    case("B05_empty_past", 17, "a = Concat <axis = 2> (past, new) b = Transpose <perm = [0, 2, 1, 3]> (a) y = Reshape (b, s)",
         past=np.zeros((1, 2, 0, 8), F), new=f(1, 2, 5, 8), s=i(0, 0, 16))
    case("B25_negative_index", 13, "y = Gather (x, k)", x=f(3, 4), k=i(0, -1))
    case("B25_shape_index", 13, "s = Shape (x) k = Constant <value_int = -1> () y = Gather (s, k)", "int64 y", x=f(3, 4))
    case("B26_clip", 13, 'y = Clip (x, "", m)', x=f(4) * F(9), m=np.array(6, F))
    case("B26_split", 18, 'y, z = Split <num_outputs = 2> (x, "")', "float y, float z", x=f(6))
    case("B38_sum_axes", 13, "y = ReduceSum (x, a)", x=np.ones((2, 3, 4), F), a=i(0, 2))
    case("B38_sum_all", 13, "y = ReduceSum (x)", x=np.ones((2, 3, 4), F))
    case("B38_sum_noop", 13, "y = ReduceSum <noop_with_empty_axes = 1> (x)", x=f(2, 3))
    case("B38_mean", 18, "y = ReduceMean (x, a)", x=f(2, 3, 4), a=i(-1))
    case("B38_scalar", 18, "y = ReduceSum (x)", x=np.array(3, F))
    case("B39_uneven", 18, "a, b, c = Split <num_outputs = 3> (x)", "float a, float b, float c", x=f(10))
    case("B39_seven", 18, "a, b, c = Split <num_outputs = 3> (x)", "float a, float b, float c", x=f(7))
    case("B40_expand_up", 13, "y = Expand (x, s)", x=f(3, 1), s=i(1, 4))
    case("B40_expand_keep", 13, "y = Expand (x, s)", x=f(3, 4), s=i(1))
    case("B40_where", 13, "y = Where (c, x, z)", c=np.array([[True], [False], [True]]), x=f(2), z=f(3, 2))
    case("B40_min", 13, "y = Min (x, z)", x=f(30), z=f(1))
    for axis, exclusive, reverse in ((1, 0, 0), (-1, 1, 0), (0, 0, 1), (1, 1, 1)):
        case(f"B41_cumsum_{axis}_{exclusive}{reverse}", 14, f"y = CumSum <exclusive = {exclusive}, reverse = {reverse}> (x, a)",
             x=np.array([[1, 2], [3, 4]], F), a=np.array(axis, I))
    case("B41_trilu", 14, "y = Trilu <upper = 1> (x, k)", x=f(4, 4), k=np.array(1, I))
    case("B41_pow", 15, "y = Pow (x, e)", x=f(3), e=np.array(2, I))
    case("B41_norm_no_bias", 17, "y = LayerNormalization (x, s)", x=f(2, 3, 4, 8), s=f(8))
    case("B41_norm_axis", 17, "y = LayerNormalization <axis = 2> (x, s)", x=f(2, 3, 4, 8), s=f(4, 8))
    case("B42_gelu", 20, "y = Gelu (x)", x=np.array([-1, 3], F))
    case("B42_gelu_tanh", 20, 'y = Gelu <approximate = "tanh"> (x)', x=np.array([-1, 3], F))
    case("B45_value_floats", 13, "c = Constant <value_floats = [1.0, 2.0]> () y = Add (x, c)", x=f(2))
    case("B45_value_float", 13, "c = Constant <value_float = 1.5> () y = Add (x, c)", x=f(2))
    case("B45_value_ints", 13, "c = Constant <value_ints = [1, 2]> () y = Add (x, c)", "int64 y", x=i(5, 6))
    case("B45_of_shape", 13, "y = ConstantOfShape <value = int64[1] {7}> (s)", "int64 y", s=i(2, 3))
    case("B45_of_scalar", 13, "y = ConstantOfShape (s)", s=np.zeros((0,), I))
    case("B45_of_empty", 13, "y = ConstantOfShape (s)", s=i(0))
    case("B45_shape_scalar", 13, "y = Shape (x)", "int64 y", x=np.array(1, F))
    case("B46_gather_scalar", 13, "y = Gather (x, k)", x=f(3, 4, 5), k=np.array(1, I))
    case("B46_gather_vector", 13, "y = Gather (x, k)", x=f(3, 4, 5), k=i(1))
    case("B46_unsqueeze", 13, "y = Unsqueeze (x, a)", x=f(3), a=i(2, 0))
    case("B46_unsqueeze_last", 13, "y = Unsqueeze (x, a)", x=f(3, 2), a=i(-1))
    branches = """a = Neg (x)
        y = If (c) <
            then_branch = t () => (float[n] r) <float[4] w = {1, 2, 3, 4}> { b = Add (a, w) r = Add (b, x) },
            else_branch = e () => (float[n] r) <float[4] w = {5, 6, 7, 8}> { b = Mul (x, w) r = Sub (b, a) }
        >"""
    case("B47_captures_then", 17, branches, x=f(4), c=np.array(True))
    case("B47_captures_else", 17, branches, x=f(4), c=np.array(False))
    shapes = """y = If (c) <
            then_branch = t () => (float[m, k] r) { r = Identity (x) },
            else_branch = e () => (float[m, k] r) { r = Concat <axis = 0> (x, x) }
        >"""
    case("B47_shapes_then", 17, shapes, x=f(2, 4), c=np.array(True))
    case("B47_shapes_else", 17, shapes, x=f(2, 4), c=np.array(False))
    nested = """y = If (c) <
            then_branch = t () => (float[n] r) {
                b = Neg (x)
                r = If (d) <then_branch = u () => (float[n] q) { q = Add (b, x) }, else_branch = v () => (float[n] q) { q = Mul (b, x) }>
            },
            else_branch = e () => (float[n] r) { b = Abs (x) r = Identity (b) }
        >"""
    for c, d in ((True, True), (True, False), (False, True)):
        case(f"B47_nested_{int(c)}{int(d)}", 17, nested, x=f(4), c=np.array(c), d=np.array(d))
    squeeze = """s = Shape (x) one = Constant <value_ints = [1]> () k = Constant <value_int = 0> () d = Gather (s, k) o = Squeeze (one)
        c = Equal (d, o) a = Constant <value_ints = [0]> ()
        y = If (c) <then_branch = t () => (float[n] r) { r = Squeeze (x, a) }, else_branch = e () => (float[n] r) { r = Identity (x) }>"""
    case("B47_squeeze", 17, squeeze, x=f(1, 5))


def build(opset, body, outputs, inputs):
    declared = ", ".join(f"{onnx_type(v)}[{', '.join(map(str, v.shape))}] {name}" for name, v in inputs.items())
    text = f'<ir_version: 8, opset_import: ["" : {opset}]> g ({declared}) => ({outputs}) {{ {body} }}'
    model = onnx.parser.parse_model(text)
    for info in model.graph.output:  # no shapes claimed
        info.type.tensor_type.ClearField("shape")
    tensors = [numpy_helper.from_array(v, n) for n, v in inputs.items()]
    return model, tensors


def onnx_type(value):
    return {"float32": "float", "int64": "int64", "bool": "bool", "float16": "float16"}[str(value.dtype)]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out", type=Path)
    args = p.parse_args()
    args.out.mkdir(parents=True)
    cases()
    lines = []
    for name, (opset, body, outputs, inputs) in CASES.items():
        model, tensors = build(opset, body, outputs, inputs)
        options = ort.SessionOptions()
        options.log_severity_level = 4
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        expected = [numpy_helper.from_array(np.asarray(v), f"expected_{n}") for n, v in enumerate(session.run(None, inputs))]
        folder = args.out / name
        folder.mkdir()
        onnx.save(model, folder / "static.onnx")
        onnx.save(node_cases.dynamic(model), folder / "dynamic.onnx")
        onnx.save(node_cases.constant(model, tensors), folder / "constant.onnx")
        onnx.save(node_cases.data_model(tensors + expected), folder / "data.onnx")
        lines.append(f"{name} 1e-5 {len(tensors)}\n")
    (args.out / "cases.txt").write_text("".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
