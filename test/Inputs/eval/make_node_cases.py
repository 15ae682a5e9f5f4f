#!/usr/bin/env python3
"""Writes node_cases.mlir: one function per case, whose inputs are constants and
which returns what the op computes and what onnx.reference computes.

usage: make_node_cases.py > node_cases.mlir     (onnx 1.23.2, numpy 2.4.6)
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

RNG = np.random.default_rng(7)
TYPES = {"float32": "f32", "float16": "f16", "float64": "f64", "int64": "i64", "int32": "i32", "int8": "i8",
         "uint8": "ui8", "bool": "i1"}
OPSET = 23
UNUSED = {"LayerNormalization": 2}  # results of the dialect that no case reads


def f(*shape, dtype=np.float32, low=-2.0, high=2.0):
    return RNG.uniform(low, high, shape).astype(dtype)


def i(*shape, low=-5, high=6, dtype=np.int64):
    return RNG.integers(low, high, shape).astype(dtype)


def v(*values, dtype=np.int64):
    return np.array(values, dtype=dtype)


def s(value, dtype=np.int64):
    return np.array(value, dtype=dtype)


def snake(name):
    special = {"MatMul": "mat_mul", "IsNaN": "is_nan", "IsInf": "is_inf", "GatherND": "gather_nd", "ScatterND": "scatter_nd",
               "TopK": "top_k", "RMSNormalization": "rms_normalization", "ReduceL2": "reduce_l2"}
    if name in special:
        return special[name]
    return "".join(("_" if c.isupper() and n else "") + c.lower() for n, c in enumerate(name))


def tensor_type(a):
    return "tensor<" + "".join(f"{d}x" for d in a.shape) + TYPES[str(a.dtype)] + ">"


def dense(a):
    if a.size == 0:
        return "dense<>"
    if a.dtype == bool:
        return "dense<" + str(a.tolist()).lower() + ">"
    return 'dense<"0x' + np.ascontiguousarray(a).tobytes().hex().upper() + '">'


def attribute(key, value):
    if isinstance(value, TensorProto):
        a = numpy_helper.to_array(value)
        return f"{key} = {dense(a)} : {tensor_type(a)}"
    if key == "perm":
        return f"perm = array<i64: {', '.join(map(str, value))}>"
    if key == "to":
        return "to = " + TYPES[str(helper.tensor_dtype_to_np_dtype(value))]
    if isinstance(value, str):
        return f'{key} = "{value}"'
    if isinstance(value, float):
        return f"{key} = {value!r} : f32"
    return f"{key} = {value} : i64"


CASES = []


def case(op, *inputs, outputs=1, operands=None, **attrs):
    """operands: number of operands in the dialect (absent ones are onnx.none)."""
    CASES.append((op, inputs, outputs, operands or len(inputs), attrs))


def elementwise():
    for op in ("Neg", "Abs", "Exp", "Erf", "Sin", "Cos", "Tanh", "Sigmoid", "Relu", "Softplus", "Floor", "Ceil", "Round", "Sign"):
        case(op, f(2, 5))
    case("Round", v(-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, dtype=np.float32))
    for op in ("Sqrt", "Log", "Reciprocal"):
        case(op, f(2, 5, low=0.1))
    case("Neg", i(4)), case("Abs", i(4)), case("Sign", i(4)), case("Exp", f(6, dtype=np.float16))
    for op in ("Add", "Sub", "Mul", "Div"):
        case(op, f(2, 3, 4), f(3, 1))
        case(op, f(4, dtype=np.float16), f(4, dtype=np.float16, low=1))
    case("Add", i(2, 1), i(3)), case("Mul", i(5), s(3)), case("Sub", i(3, dtype=np.int32), i(3, dtype=np.int32))
    case("Div", v(-7, 7, -7, 7), v(2, 2, -2, -2))
    case("Add", v(250, 5, dtype=np.uint8), v(10, 1, dtype=np.uint8))
    case("Pow", f(2, 3, low=0), s(2.0, np.float32)), case("Pow", f(3, low=1), v(2, 3, -1)), case("Pow", i(4), s(3))
    case("Mod", v(-7, 7, -7, 7), v(3, 3, -3, -3)), case("Mod", v(-7, 7), v(3, -3), fmod=1)
    case("Mod", f(4), f(4, low=0.5), fmod=1)
    for op in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
        case(op, i(3, 1, high=-3), i(2, high=-3)), case(op, f(4), v(0, dtype=np.float32))
    a, b = RNG.integers(0, 2, (2, 3)).astype(bool), RNG.integers(0, 2, (3,)).astype(bool)
    for op in ("And", "Or", "Xor"):
        case(op, a, b)
    case("Not", a), case("Equal", a, b)
    for op in ("Max", "Min", "Sum", "Mean"):
        case(op, f(2, 3), f(3), f(1, 1))
    case("Where", a, f(2, 3), f(3)), case("Where", b, i(2, 1), i(3))
    case("Clip", f(6), s(-1.0, np.float32), s(0.5, np.float32)), case("Clip", f(6), s(-1.0, np.float32), operands=3)
    case("Gelu", f(8)), case("Gelu", f(8), approximate="tanh")
    odd = np.array([np.nan, np.inf, -np.inf, 0, -1.5], dtype=np.float32)
    case("IsNaN", odd), case("IsInf", odd), case("IsInf", odd, detect_negative=0), case("Abs", odd), case("Max", odd, f(5))
    for to in (TensorProto.INT64, TensorProto.FLOAT16, TensorProto.BOOL, TensorProto.DOUBLE, TensorProto.INT32):
        case("Cast", np.array([-2.7, -0.4, 0, 0.6, 3.5], dtype=np.float32), to=to)
    case("Cast", v(-1, 0, 300), to=TensorProto.FLOAT), case("Cast", v(-1, 0, 300), to=TensorProto.UINT8)
    case("Cast", v(0, 2, -3), to=TensorProto.BOOL), case("Cast", a, to=TensorProto.FLOAT), case("CastLike", f(3), v(1))
    case("Cast", np.array([65519, 65520, 1e-8, 6e-8, 0.1, 1 + 2**-11], dtype=np.float32), to=TensorProto.FLOAT16)
    case("Identity", f(2, 2))


def shapes():
    x = f(2, 3, 4)
    case("Shape", x), case("Shape", x, start=1), case("Shape", x, start=-2, end=-1), case("Size", x)
    case("Reshape", x, v(0, -1)), case("Reshape", x, v(4, 0, 2)), case("Reshape", x, v(-1))
    case("Reshape", f(0, 3), v(3, 0), allowzero=1), case("Flatten", x, axis=2), case("Flatten", x, axis=0), case("Flatten", x, axis=-1)
    case("Squeeze", f(1, 3, 1), operands=2), case("Squeeze", f(1, 3, 1), v(-1)), case("Unsqueeze", x, v(0, -1)), case("Unsqueeze", s(3), v(0))
    case("Transpose", x), case("Transpose", x, perm=[1, 0, 2]), case("Expand", f(3, 1), v(2, 1, 4)), case("Expand", f(2, 3), v(1))
    case("Tile", f(2, 3), v(2, 3)), case("Concat", f(2, 1), f(2, 3), axis=-1), case("Concat", i(0, 2), i(2, 2), axis=0)
    case("Split", f(5, 2), v(2, 3), outputs=2, axis=0), case("Split", f(7), outputs=3, operands=2, axis=0, num_outputs=3)
    big = 2**63 - 1
    case("Slice", x, v(1), v(big), v(2), operands=5), case("Slice", x, v(0, 1), v(1, -1), v(0, 2), v(1, 2))
    case("Slice", x, v(-1), v(-big), v(-1), v(-1)), case("Slice", x, v(3), v(1), v(1), operands=5), case("Slice", x, v(-2), v(-1), operands=5)
    case("Slice", f(10), v(8), v(0), v(0), v(-3)), case("Slice", f(10), v(20), v(2), v(0), v(-2))
    case("Pad", f(2, 3), v(1, 0, 0, 2), s(9.0, np.float32), operands=4), case("Pad", f(4), v(2, 1), operands=4, mode="reflect")
    case("Pad", f(4), v(2, 1), operands=4, mode="edge"), case("Pad", f(2, 3), v(2, 1), s(0.0, np.float32), v(1))
    case("Range", s(2), s(9), s(3)), case("Range", s(5), s(-4), s(-2)), case("Range", s(3), s(3), s(1))
    case("Range", s(0.5, np.float32), s(2.0, np.float32), s(0.4, np.float32))
    case("ConstantOfShape", v(2, 3)), case("ConstantOfShape", v(3), value=numpy_helper.from_array(v(7)))
    case("ConstantOfShape", v(), value=numpy_helper.from_array(v(True, dtype=bool)))
    for k in (-1, 0, 1):
        case("Trilu", f(2, 3, 4), s(k)), case("Trilu", f(3, 4), s(k), upper=0)
    case("Trilu", f(3, 3), operands=2), case("EyeLike", f(3, 4), k=1)


def indices():
    x = f(3, 4, 2)
    case("Gather", x, v(0, -1)), case("Gather", x, i(2, 2, low=0, high=4), axis=1), case("Gather", v(5, 6, 7), s(-1)), case("Gather", x, s(1), axis=-1)
    case("GatherElements", f(3, 3), i(2, 3, low=-3, high=3), axis=0), case("GatherElements", f(3, 3), i(3, 2, low=0, high=3), axis=1)
    case("GatherND", x, v([0, 1], [2, -1])), case("GatherND", x, i(3, 1, low=0, high=4), batch_dims=1), case("GatherND", x, v([0, 1, 1], [2, 3, 0]))
    case("ScatterElements", f(3, 3), v([0, 2, 1], [1, 0, 2]), f(2, 3), axis=0)
    case("ScatterElements", f(3, 3), v([0, 0], [1, 1], [2, -1]), f(3, 2), axis=1, reduction="add")
    case("ScatterND", x, v([0], [2]), f(2, 4, 2)), case("ScatterND", x, v([0, 1], [0, 1]), f(2, 2), reduction="add")
    case("ScatterND", f(8), v([4], [3], [1], [7]), f(4), reduction="max")
    case("CumSum", f(2, 4), s(1)), case("CumSum", i(2, 4), s(-1), exclusive=1), case("CumSum", f(5), s(0), reverse=1)
    case("CumSum", f(5), s(0), reverse=1, exclusive=1)
    case("TopK", v(3, 1, 3, 2, dtype=np.float32), v(3), outputs=2), case("TopK", f(2, 5), v(2), outputs=2, axis=-1, largest=0)
    case("TopK", f(4, 2), v(2), outputs=2, axis=0)
    case("ArgMax", v([1, 3, 3], [2, 2, 0], dtype=np.float32), axis=1), case("ArgMax", v([1, 3, 3], [2, 2, 0], dtype=np.float32), axis=1, select_last_index=1, keepdims=0)
    case("ArgMin", f(3, 4), axis=0, keepdims=0), case("NonZero", v([1, 0], [0, 2])), case("NonZero", v(True, False, True, dtype=bool))
    case("OneHot", v(0, 2, -1, 9), s(3), v(0.0, 1.0, dtype=np.float32)), case("OneHot", v([0, 1], [1, 0]), s(2), v(5, 6), axis=1)
    for op in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare", "ReduceL2"):
        case(op, f(2, 3, 4), v(-1)), case(op, f(2, 3, 4), v(0, 2), keepdims=0)
    case("ReduceSum", f(2, 3), operands=2), case("ReduceSum", f(2, 3), operands=2, noop_with_empty_axes=1), case("ReduceProd", v(2, 3, 4), v(0), keepdims=0)
    case("ReduceMax", f(0, 3), v(1), keepdims=0), case("ReduceSum", f(2, 0), v(1))


def neural():
    case("MatMul", f(3, 4), f(4, 2)), case("MatMul", f(2, 3, 4), f(4, 5)), case("MatMul", f(2, 1, 3, 4), f(3, 4, 2))
    case("MatMul", f(4), f(4, 2)), case("MatMul", f(3, 4), f(4)), case("MatMul", f(4), f(4)), case("MatMul", i(2, 3), i(3, 2)), case("MatMul", f(2, 0), f(0, 3))
    case("Gemm", f(3, 4), f(4, 2), operands=3), case("Gemm", f(4, 3), f(2, 4), f(2), alpha=0.5, beta=2.0, transA=1, transB=1)
    case("Softmax", f(2, 5)), case("Softmax", f(2, 3, 2), axis=1), case("LogSoftmax", f(2, 5)), case("Softmax", f(2, 5, dtype=np.float16))
    case("LayerNormalization", f(2, 3, 4), f(4), f(4)), case("LayerNormalization", f(2, 6), f(6), operands=3, epsilon=1e-3)
    case("LayerNormalization", f(2, 3, 4), f(3, 4), operands=3, axis=1)
    case("RMSNormalization", f(2, 3, 4), f(4)), case("RMSNormalization", f(2, 3, 4), f(3, 4), axis=-2, epsilon=1e-2)


def emit(number, op, inputs, outputs, operands, attrs):
    names = [f"i{n}" for n in range(len(inputs))]
    results = [f"o{n}" for n in range(outputs)]
    node = helper.make_node(op, names, results, **attrs)
    graph = helper.make_graph(
        [node], "case", [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in zip(names, inputs)],
        [helper.make_tensor_value_info(r, TensorProto.UNDEFINED, None) for r in results])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    wanted = ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))
    wanted = [np.asarray(w) for w in wanted]
    print(f"func.func @{snake(op)}_{number}() -> ({', '.join(['tensor<*x' + TYPES[str(w.dtype)] + '>, ' + tensor_type(w) for w in wanted])}) {{")
    types = []
    for n, a in zip(names, inputs):
        print(f"  %{n} = onnx.constant {dense(a)} : {tensor_type(a)}")
        types.append(tensor_type(a))
    for n in range(len(inputs), operands):
        names.append(f"i{n}")
        types.append("none")
        print(f"  %i{n} = onnx.none")
    text = ", ".join(attribute(k, x) for k, x in sorted(attrs.items()))
    out = ["tensor<*x" + TYPES[str(w.dtype)] + ">" for w in wanted]
    out += ["tensor<*xf32>"] * UNUSED.get(op, 0)
    suffix = f":{len(out)}" if len(out) > 1 else ""
    print(f"  %r{suffix} = onnx.{snake(op)} {', '.join('%' + n for n in names)} {{{text}}} : ({', '.join(types)}) -> "
          + (f"({', '.join(out)})" if len(out) != 1 else out[0]))
    returned = []
    for n, w in enumerate(wanted):
        print(f"  %w{n} = onnx.constant {dense(w)} : {tensor_type(w)}")
        returned += [f"%r#{n}" if len(out) > 1 else "%r", f"%w{n}"]
    print(f"  return {', '.join(returned)} : " + ", ".join(o + ", " + tensor_type(w) for o, w in zip(out, wanted)) + "\n}")


for group in (elementwise, shapes, indices, neural):
    group()
print("// Made by make_node_cases.py: what the op computes, what onnx.reference computes.")
for number, entry in enumerate(CASES):
    emit(number, *entry)
