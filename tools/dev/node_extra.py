"""One-op models beside the node tests of the onnx package, with what ONNX Runtime computes for them.

Only forms that those tests lack: zero points per column, blocks that end short, packed GQA with a past, windows, masks by rank,
ties, opsets up to 12. `cases()` yields (name, model, inputs, outputs); node_cases.py writes them like the others."""
import numpy as np
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

RNG = np.random.default_rng(11)
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
CASES = []


def f(*shape, dtype=np.float32):
    return RNG.uniform(-2, 2, shape).astype(dtype)


def i(low, high, *shape, dtype=np.int64):
    return RNG.integers(low, high, shape).astype(dtype)


def v(values, dtype=np.int64):
    return np.array(values, dtype)


def case(name, op, inputs, outputs=1, opset=25, **attrs):
    """inputs: arrays, TensorProtos (then they are initializers), None for absent ones."""
    CASES.append((f"own_{name}", op, inputs, outputs, opset, attrs))


def packed(values, shape, elem, name="w"):
    return h.make_tensor(name, elem, shape, values)


def quantised():
    case("B34_zeros", "DynamicQuantizeLinear", [np.zeros((2, 3), np.float32)], outputs=3)
    case("dql_negative", "DynamicQuantizeLinear", [v([-1, -2, -3, -4], np.float32)], outputs=3)
    case("dql_positive", "DynamicQuantizeLinear", [v([1, 2, 3, 4], np.float32)], outputs=3)
    a, b = i(0, 256, 2, 3, 8, dtype=np.uint8), i(-128, 128, 8, 5, dtype=np.int8)
    case("matmul_integer_none", "MatMulInteger", [a, b])
    case("matmul_integer_scalar", "MatMulInteger", [a, b, v(130, np.uint8), v(3, np.int8)])
    case("matmul_integer_columns", "MatMulInteger", [a, b, v(7, np.uint8), v([-3, 0, 3, 100, -128], np.int8)])
    case("matmul_integer_u8", "MatMulInteger", [a, i(0, 256, 8, 5, dtype=np.uint8), v(7, np.uint8), v([3, 0, 3, 100, 255], np.uint8)])
    x = i(-128, 128, 3, 4, 5, dtype=np.int8)
    for axis, n in ((0, 3), (1, 4), (-1, 5)):
        case(f"dq_axis_{axis}", "DequantizeLinear", [x, np.abs(f(n)) + 0.1, i(-9, 9, n, dtype=np.int8)], axis=axis)
    case("dq_i32", "DequantizeLinear", [i(-10**6, 10**6, 3, 4, dtype=np.int32), v(0.001, np.float32)])
    case("dq_f16", "DequantizeLinear", [x, np.abs(f(4, dtype=np.float16)) + np.float16(0.1)])
    four = lambda n, elem: [int(k) for k in (i(-8, 8, n) if elem == T.INT4 else i(0, 16, n))]
    for elem, name in ((T.INT4, "i4"), (T.UINT4, "u4")):
        w = packed(four(5 * 6, elem), [5, 6], elem)
        case(f"dq_{name}_blocks_0", "DequantizeLinear", [w, np.abs(f(2, 6)) + 0.1, packed(four(12, elem), [2, 6], elem, "z")], axis=0, block_size=3)
        case(f"dq_{name}_blocks_1", "DequantizeLinear", [w, np.abs(f(5, 2)) + 0.1], axis=1, block_size=4)
    q = v([0.5, 1.5, 2.5, -0.5, -1.5, 300, -300, 7.49], np.float32)
    for name, dtype in (("u8", np.uint8), ("i8", np.int8), ("u16", np.uint16), ("i16", np.int16)):
        case(f"q_{name}", "QuantizeLinear", [q, v(1, np.float32), v(3, dtype)])
    case("q_axis", "QuantizeLinear", [f(3, 4), np.abs(f(3)) / 20, i(-5, 5, 3, dtype=np.int8)], axis=0)
    case("qlinear_matmul", "QLinearMatMul", [i(0, 256, 3, 8, dtype=np.uint8), v(0.1, np.float32), v(120, np.uint8), b, np.abs(f(5)) / 10,
                                             v([0, 1, -2, 3, 4], np.int8), v(0.3, np.float32), v(100, np.uint8)])


def attention():
    def heads(n, s, d, batch=2):
        return f(batch, s, n * d)

    gqa = dict(q_num_heads=4, kv_num_heads=2)
    past = [f(2, 2, 3, 8), f(2, 2, 3, 6)]
    q, k, w = heads(4, 5, 8), heads(2, 5, 8), heads(2, 5, 6)
    case("attention_gqa_past", "Attention", [q, k, w, None, *past], outputs=3, is_causal=1, **gqa)
    case("attention_gqa_past_window", "Attention", [q, k, w, None, *past], outputs=3, is_causal=1, left_window_size=2, **gqa)
    case("attention_window_both", "Attention", [q, k, w], left_window_size=1, right_window_size=1, **gqa)
    case("attention_scale_softcap", "Attention", [q, k, w], scale=0.7, softcap=1.5, is_causal=1, **gqa)
    case("attention_mask_heads", "Attention", [q, k, w, f(4, 5, 5)], **gqa)
    case("attention_mask_batch", "Attention", [q, k, w, RNG.integers(0, 2, (2, 1, 5, 5)).astype(bool)], **gqa)
    case("attention_nonpad", "Attention", [q, heads(2, 9, 8), heads(2, 9, 6), None, None, None, v([7, 5])], is_causal=1, **gqa)
    case("attention_nonpad_short", "Attention", [q, heads(2, 9, 8), heads(2, 9, 6), None, None, None, v([7, 2])], is_causal=1, **gqa)
    for mode in range(4):
        case(f"attention_scores_{mode}", "Attention", [f(1, 2, 3, 4), f(1, 2, 5, 4), f(1, 2, 5, 4), f(3, 5)], outputs=4, qk_matmul_output_mode=mode, softcap=2.0)
    case("attention_nothing_visible", "Attention", [f(1, 2, 3, 4), f(1, 2, 5, 4), f(1, 2, 5, 4), np.zeros((3, 5), bool)])
    cos, sin = f(16, 4), f(16, 4)
    ids = i(0, 16, 2, 5)
    for inter in (0, 1):
        case(f"rotary_{inter}", "RotaryEmbedding", [f(2, 3, 5, 8), cos, sin, ids], interleaved=inter)
        case(f"rotary_partial_{inter}", "RotaryEmbedding", [f(2, 5, 36), cos, sin, ids], interleaved=inter, num_heads=3, rotary_embedding_dim=8)


def norms():
    case("layer_norm_f16", "LayerNormalization", [f(3, 8, dtype=np.float16), f(8, dtype=np.float16), f(8, dtype=np.float16)], epsilon=1e-3)
    case("layer_norm_stats", "LayerNormalization", [f(2, 3, 4), f(3, 4), f(3, 4)], outputs=3, axis=1)
    case("rms_norm_axis", "RMSNormalization", [f(2, 3, 4), f(3, 4)], axis=-2, epsilon=1e-2)
    case("conv_depthwise", "Conv", [f(2, 6, 7), f(6, 1, 4), f(6)], group=6, pads=[3, 0], kernel_shape=[4])
    case("conv_dilated", "Conv", [f(1, 4, 9, 8), f(6, 2, 3, 2)], group=2, strides=[2, 1], dilations=[2, 3], pads=[1, 2, 0, 1])
    case("conv_same", "Conv", [f(1, 2, 9), f(3, 2, 4)], auto_pad="SAME_LOWER", strides=[2])


def rearrangements():
    for n, (equation, shapes) in enumerate([("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]), ("...ij->...ji", [(2, 3, 4)]), ("i,i->", [(5,), (5,)]),
                                            ("ii->i", [(4, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("ba", [(2, 3)]), ("b...n,nk->b...k", [(2, 3, 4), (4, 5)])]):
        case(f"einsum_{n}", "Einsum", [f(*s) for s in shapes], equation=equation)
    x = f(4, 5)
    case("slice_reverse", "Slice", [x, v([-1]), v([INT64_MIN]), v([1]), v([-2])])
    case("slice_end", "Slice", [x, v([1, -2]), v([INT64_MAX, INT64_MAX])])
    for mode in ("reflect", "edge", "wrap"):
        case(f"pad_{mode}", "Pad", [x, v([2, 1, 1, 3])], mode=mode)
    case("pad_axes_negative", "Pad", [x, v([-1, 2]), v(9, np.float32), v([-1])])
    ties = v([[3, 1, 3, 2, 3], [0, 0, -1, -1, 5]], np.float32)
    case("topk_ties", "TopK", [ties, v([3])], outputs=2)
    case("topk_smallest_axis_0", "TopK", [f(5, 3), v([2])], outputs=2, axis=0, largest=0)
    case("argmax_last", "ArgMax", [ties], axis=1, select_last_index=1, keepdims=0)
    case("cumsum", "CumSum", [f(3, 4), v(1, np.int32)], exclusive=1, reverse=1)
    for reduction in ("none", "add", "mul", "max", "min"):
        rows = v([[1], [3]]) if reduction == "none" else v([[1], [3], [1]])
        case(f"scatter_nd_{reduction}", "ScatterND", [x, rows, f(len(rows), 5)], reduction=reduction)
        case(f"scatter_elements_{reduction}", "ScatterElements", [x, v([[0, 1], [-1, 3]]), f(2, 2)], axis=1, reduction=reduction)
    case("gather_nd_batch", "GatherND", [f(2, 3, 4), v([[[0], [2]], [[1], [-1]]])], batch_dims=1)
    case("gather_negative", "Gather", [x, v([[-1, 0], [2, -4]])], axis=0)
    case("mod_negative", "Mod", [v([-7, 7, -7, 7]), v([3, -3, -3, 3])])
    case("mod_fmod", "Mod", [v([-7.5, 7.5], np.float32), v([2, -2], np.float32)], fmod=1)
    case("pow_mixed", "Pow", [np.abs(f(3)), v([2, 0, 3])])
    case("range_float", "Range", [v(1, np.float32), v(2.05, np.float32), v(0.25, np.float32)])
    case("range_down", "Range", [v(10), v(1), v(-3)])
    case("onehot_negative", "OneHot", [v([0, -1, 2]), v(3), v([5, 9], np.float32)], axis=0)
    case("trilu_k", "Trilu", [f(4, 5), v(-1)], upper=0)
    case("nonzero", "NonZero", [v([[1, 0, 2], [0, 0, 3]], np.float32)])
    case("cast_f16_bits", "Cast", [v([1 / 3, 65519, 65520, 1e-8, 6e-8], np.float32)], to=T.FLOAT16)
    case("cast_truncates", "Cast", [v([1.9, -1.9, 2.5, -0.5], np.float32)], to=T.INT32)
    case("cast_wraps", "Cast", [v([300, -300, 128], np.int32)], to=T.INT8)


def old_opsets():
    for axis in (0, 1, 2):
        for op in ("Softmax", "LogSoftmax", "Hardmax"):
            case(f"{op.lower()}11_{axis}", op, [f(2, 3, 4)], opset=11, axis=axis)
    case("softmax11_default", "Softmax", [f(2, 3, 4)], opset=11)
    case("clip6", "Clip", [f(3, 4)], opset=10, min=-0.5, max=1.0)
    case("dropout7", "Dropout", [f(3, 4)], opset=9, ratio=0.5)
    case("gemm7", "Gemm", [f(3, 4), f(5, 4), f(5)], opset=8, transB=1, alpha=0.5)
    case("reduce_empty_axes", "ReduceSum", [f(2, 3), np.zeros(0, np.int64)], opset=13, noop_with_empty_axes=1)
    case("upsample_free_unsqueeze", "Unsqueeze", [f(3, 4)], opset=11, axes=[0, -1])
    case("split_uneven", "Split", [f(7, 2)], outputs=3, opset=18, num_outputs=3)
    case("reshape_allowzero", "Reshape", [np.zeros((0, 3), np.float32), v([3, 0])], opset=14, allowzero=1)


def build(name, op, inputs, outputs, opset, attrs):
    names, infos, inits, feeds = [], [], [], {}
    for n, value in enumerate(inputs):
        names.append("" if value is None else f"x{n}")
        if isinstance(value, T):
            value.name = names[-1]
            inits.append(value)
        elif value is not None:
            infos.append(h.make_tensor_value_info(names[-1], h.np_dtype_to_tensor_dtype(value.dtype), value.shape))
            feeds[names[-1]] = value
    outs = [f"y{n}" for n in range(outputs)]
    node = h.make_node(op, names, outs, name=name, **attrs)
    graph = h.make_graph([node], name, infos, [h.make_value_info(o, h.make_tensor_type_proto(T.UNDEFINED, None)) for o in outs], inits)
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)])
    model.ir_version = min(model.ir_version, 13)
    return model, feeds


def cases(groups=(quantised, attention, norms, rearrangements, old_opsets)):
    """Models with their inputs and what ONNX Runtime, without fusions, gives for them."""
    CASES.clear()
    for group in groups:
        group()
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    for name, op, inputs, outputs, opset, attrs in CASES:
        model, feeds = build(name, op, inputs, outputs, opset, attrs)
        for info in model.graph.output:
            info.ClearField("type")
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        wanted = session.run(None, feeds)
        yield name, model, list(feeds.values()), wanted


if __name__ == "__main__":
    for name, *_ in cases():
        print(name)
