"""Writes one-op models of com.microsoft with the results that ONNX Runtime computes, in the form that NodeSuite reads.

    ms_cases.py OUT [--match TEXT]

The forms and files are those of node_cases.py. Inputs are seeded random numbers.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent))
import node_cases  # noqa: E402

F = np.float32
CASES = []
rng = np.random.default_rng(7)


def floats(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(F)


def codes(*shape, high=256):
    return rng.integers(0, high, shape).astype(np.uint8)


def case(name, op, inputs, outputs=1, rtol=1e-4, domain="com.microsoft", keep=None, **attrs):
    """`inputs` are arrays, TensorProtos or None; only the first `keep` outputs are compared."""
    CASES.append((name, op, inputs, outputs, rtol, domain, keep or outputs, attrs))


def as_tensor(value, name):
    if isinstance(value, TensorProto):
        value.name = name
        return value
    return numpy_helper.from_array(np.asarray(value), name)


def build(op, inputs, outputs, domain, keep, attrs):
    names = ["" if v is None else f"in{i}" for i, v in enumerate(inputs)]
    tensors = [as_tensor(v, n) for v, n in zip(inputs, names) if n]
    node = helper.make_node(op, names, [f"out{i}" for i in range(outputs)], name="node", domain=domain, **attrs)
    infos = [helper.make_tensor_value_info(t.name, t.data_type, list(t.dims)) for t in tensors]
    results = [onnx.ValueInfoProto(name=f"out{i}") for i in range(keep)]
    graph = helper.make_graph([node], "case", infos, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)], ir_version=10)
    return model, tensors


def run(model, tensors):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    # Sub-byte inputs have no numpy type: initializers instead.
    feed, copy = {}, onnx.ModelProto()
    copy.CopyFrom(model)
    for t in tensors:
        if t.data_type in (TensorProto.INT4, TensorProto.UINT4):
            copy.graph.initializer.add().CopyFrom(t)
            for i, info in enumerate(copy.graph.input):
                if info.name == t.name:
                    del copy.graph.input[i]
                    break
        else:
            feed[t.name] = numpy_helper.to_array(t)
    return ort.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feed)


# Attention ----------------------------------------------------------------------------------------------------------


def tables(rows, width):
    angles = np.outer(np.arange(rows), 1.0 / 100 ** (np.arange(width) / width))
    return np.cos(angles).astype(F), np.sin(angles).astype(F)


def gqa(name, batch=1, seq=5, past=0, heads=4, kv=2, size=16, packed=False, buffer=None, lengths=None, rotary=None, bias=None,
        sink=None, keep=3, extra=(), **attrs):
    total = past + seq
    rows = buffer or past
    q = floats(batch, seq, heads * size)
    k, v = floats(batch, seq, kv * size), floats(batch, seq, kv * size)
    query = [np.concatenate([q, k, v], -1), None, None] if packed else [q, k, v]
    lengths = np.array(lengths or [total] * batch, np.int32) - 1
    inputs = query + [floats(batch, kv, rows, size), floats(batch, kv, rows, size), lengths, np.array(total, np.int32)]
    inputs += list(tables(64, rotary)) if rotary else [None, None]
    inputs += [None, bias, sink, *extra]
    while inputs[-1] is None:
        inputs.pop()
    case("gqa_" + name, "GroupQueryAttention", inputs, 3, keep=keep, num_heads=heads, kv_num_heads=kv, do_rotary=int(bool(rotary)), **attrs)


def attention_cases():
    gqa("prompt")
    gqa("step", seq=1, past=6)
    gqa("packed", packed=True, rotary=8)
    gqa("chunk", seq=3, past=4, rotary=8)
    gqa("partial_rotary", rotary=8, size=32)
    gqa("interleaved", seq=1, past=3, rotary=8, rotary_interleaved=1)
    gqa("window", seq=6, local_window_size=3)
    gqa("window_step", seq=1, past=7, local_window_size=3)
    gqa("softcap", softcap=2.0, scale=0.7)
    gqa("smooth", smooth_softmax=1)
    gqa("sink", sink=floats(4))
    gqa("sink_softcap", sink=floats(4, scale=3), softcap=1.5, seq=1, past=4)
    gqa("buffer", seq=1, past=6, buffer=12, keep=1)
    gqa("bias", bias=floats(1, 4, 5, 5))
    gqa("bias_step", seq=1, past=3, bias=floats(1, 1, 1, 4))
    gqa("batch_step", batch=2, seq=1, past=6, lengths=[7, 4], keep=1)
    gqa("multi_query", kv=1, seq=4)
    mha()
    ms_attention()


def mha():
    n, h = 2, 8

    def one(name, inputs, outputs=1, **attrs):
        case("mha_" + name, "MultiHeadAttention", inputs, outputs, num_heads=n, **attrs)

    q, k, v = floats(2, 3, 16), floats(2, 5, 16), floats(2, 5, 16)
    one("plain", [q, k, v])
    one("bias", [q, k, v, floats(48)])
    one("lengths", [q, k, v, None, np.array([3, 5], np.int32)])
    mask = np.array([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1]], np.int32)
    one("mask", [q, k, v, None, mask])
    one("filter", [q, k, v, None, mask], mask_filter_value=-3.0)
    one("score_bias", [q, k, v, None, None, floats(1, 2, 3, 5)])
    one("scale", [q, k, v], scale=0.5)
    new_k, new_v = floats(2, 3, 16), floats(2, 3, 16)
    past = [floats(2, n, 4, h), floats(2, n, 4, h)]
    one("past", [q, new_k, new_v, None, None, None, *past], 3)
    one("past_causal", [q, new_k, new_v, None, None, None, *past], 3, unidirectional=1)
    one("causal", [q, new_k, new_v], unidirectional=1)
    one("heads_first", [q, floats(2, n, 5, h), floats(2, n, 5, h)])


def ms_attention():
    n, d = 2, 12

    def one(name, inputs, outputs=1, **attrs):
        case("attention_" + name, "Attention", inputs, outputs, num_heads=n, **attrs)

    x, w, b = floats(2, 4, d), floats(d, 3 * 16, scale=0.3), floats(3 * 16)
    one("plain", [x, w, b])
    one("no_bias", [x, w])
    one("causal", [x, w, b], unidirectional=1)
    one("lengths", [x, w, b, np.array([2, 4], np.int32)])
    one("ends_starts", [x, w, b, np.array([4, 3, 1, 0], np.int32)])
    one("mask", [x, w, b, np.array([[0, 1, 1, 1], [1, 1, 1, 0]], np.int32)])
    square = np.tril(np.ones((2, 4, 4), np.int32))
    one("mask3", [x, w, b, square])
    one("mask_causal", [x, w, b, np.array([[0, 1, 1, 1], [1, 1, 1, 1]], np.int32)], unidirectional=1)
    past = floats(2, 2, n, 3, 8)
    one("past", [x, w, b, None, past], 2, unidirectional=1)
    one("past_mask", [x, w, b, np.array([[0, 1, 1, 1, 1, 1, 1], [1] * 7], np.int32), past], 2, unidirectional=1)
    one("score_bias", [x, w, b, None, None, floats(1, n, 4, 4)])
    wide = floats(d, 16 + 16 + 24, scale=0.3)
    one("sizes", [x, wide, floats(56)], qkv_hidden_sizes=[16, 16, 24])
    one("scale", [x, w, b], scale=0.2)


def rotary_cases():
    cos, sin = tables(32, 4)
    ids = np.array([[0, 1, 2], [7, 8, 9]], np.int64)
    flat, heads = floats(2, 3, 16), floats(2, 2, 3, 8)
    for inter in (0, 1):
        case(f"rotary_flat_{inter}", "RotaryEmbedding", [flat, ids, cos, sin], interleaved=inter)
        case(f"rotary_heads_{inter}", "RotaryEmbedding", [heads, ids, cos, sin], interleaved=inter)
    case("rotary_offset", "RotaryEmbedding", [flat, np.array([4], np.int64), cos, sin])
    case("rotary_partial", "RotaryEmbedding", [floats(1, 3, 24), ids[:1], cos, sin], num_heads=2, rotary_embedding_dim=8)
    case("rotary_partial_heads", "RotaryEmbedding", [floats(1, 2, 3, 12), ids[:1], cos, sin], num_heads=2, rotary_embedding_dim=8)


# Weights ------------------------------------------------------------------------------------------------------------


def nbits(name, bits=4, n=6, k=64, block=16, zero=None, g_idx=None, bias=None, rows=3, dtype=F, rtol=1e-4):
    blocks = -(-k // block)
    w = codes(n, blocks, block * bits // 8)
    scales = (rng.random((n, blocks)) * 0.2 - 0.1).astype(dtype)
    inputs = [floats(2, rows, k), w, scales]
    if zero == "packed":
        inputs.append(codes(n, -(-blocks * bits // 8)))
    elif zero == "float":
        inputs.append((rng.random((n, blocks)) * 2 ** bits).astype(dtype))
    else:
        inputs.append(None)
    inputs += [g_idx, bias]
    while inputs[-1] is None:
        inputs.pop()
    case("nbits_" + name, "MatMulNBits", inputs, K=k, N=n, bits=bits, block_size=block, accuracy_level=1, rtol=rtol)


def weight_cases():
    for bits in (2, 4, 8):
        nbits(f"{bits}", bits)
        nbits(f"{bits}_zero", bits, zero="packed")
        nbits(f"{bits}_odd_blocks", bits, zero="packed", k=80, block=32)
    nbits("float_zero", zero="float")
    nbits("part_block", k=80, block=32)
    nbits("bias", bias=floats(6))
    nbits("g_idx", g_idx=rng.integers(0, 4, 64).astype(np.int32))
    nbits("block_128", k=256, block=128, zero="packed")
    # Blocks that end short, zero points of half bytes, none at all; as prompt and as a single row.
    for rows in (5, 1):
        for zero in ("packed", None):
            nbits(f"B31_{zero or 'no'}_zero_{rows}", k=40, block=32, zero=zero, rows=rows)
            nbits(f"B31_odd_blocks_{zero or 'no'}_zero_{rows}", k=107 * 32, block=32, zero=zero, rows=rows, n=2)
    for block in (16, 32, 64, 128, 256, 512):
        nbits(f"B31_block_{block}", k=520, block=block, zero="packed", n=3)
    for kind, label in ((0, "fp4"), (1, "nf4")):
        case(f"bnb4_{label}", "MatMulBnb4", [floats(3, 32), codes(8 * 32 // 2), rng.random(8 * 32 // 16).astype(F)],
             K=32, N=8, block_size=16, quant_type=kind)
    ids = np.array([[0, 3], [2, 5]], np.int64)
    case("gather_u8", "GatherBlockQuantized", [codes(6, 16), ids, floats(6, 2)], block_size=16, bits=4)
    case("gather_u8_zero", "GatherBlockQuantized", [codes(6, 16), ids, floats(6, 2), codes(6, 1)], block_size=16, bits=4)
    case("gather_8bit", "GatherBlockQuantized", [codes(6, 32), ids, floats(6, 2)], block_size=16, bits=8)
    four = helper.make_tensor("x", TensorProto.UINT4, [6, 32], codes(6, 32, high=16).flatten().tolist())
    case("gather_uint4", "GatherBlockQuantized", [four, ids, floats(6, 2)], block_size=16)
    signed = helper.make_tensor("x", TensorProto.INT4, [6, 32], (codes(6, 32, high=16).astype(np.int8) - 8).flatten().tolist())
    case("gather_int4", "GatherBlockQuantized", [signed, ids, floats(6, 2)], block_size=16)
    for attrs in ({}, {"transA": 1}, {"transB": 1}, {"alpha": 0.5, "transB": 1}):
        a = floats(2, 4, 3) if attrs.get("transA") else floats(2, 3, 4)
        b = floats(2, 5, 4) if attrs.get("transB") else floats(2, 4, 5)
        case("fused_matmul_" + ("_".join(attrs) or "plain"), "FusedMatMul", [a, b], **attrs)
    case("fused_matmul_batch", "FusedMatMul", [floats(3, 2, 4), floats(2, 4, 5)], transBatchA=1)
    u8, s8 = codes(3, 8), codes(8, 5).astype(np.int8)
    scale = np.array(0.02, F)
    case("matmul_integer_to_float", "MatMulIntegerToFloat",
         [u8, s8, scale, floats(5, scale=0.01), np.array(120, np.uint8), None, floats(5)], rtol=1e-3)
    case("dynamic_quantize_matmul", "DynamicQuantizeMatMul", [floats(3, 8), s8, floats(5, scale=0.01), None, floats(5)], rtol=1e-3)
    case("qlinear_add", "QLinearAdd", [codes(2, 8), F(0.1), np.uint8(100), codes(2, 8), F(0.05), np.uint8(90), F(0.15), np.uint8(128)])
    case("qlinear_mul", "QLinearMul", [codes(2, 8), F(0.1), np.uint8(100), codes(2, 8), F(0.05), np.uint8(90), F(0.61), np.uint8(128)])
    case("qlinear_sigmoid", "QLinearSigmoid", [codes(2, 8), F(0.05), np.uint8(128), F(1 / 256), np.uint8(0)])


def expert_cases():
    d, i, e = 8, 12, 4
    x, router = floats(1, 5, d), floats(5, e)

    def moe(name, rows, extra=(), **attrs):
        inputs = [x, router, floats(e, rows, d), floats(e, rows), floats(e, d, i), floats(e, d), *extra]
        case("moe_" + name, "MoE", inputs, rtol=1e-3, **attrs)

    moe("silu", i, k=2, activation_type="silu")
    moe("gelu_normal", i, k=2, activation_type="gelu", normalize_routing_weights=1)
    moe("relu", i, k=1, activation_type="relu")
    moe("swiglu", 2 * i, k=2, activation_type="swiglu", swiglu_fusion=1, activation_alpha=1.702, activation_beta=1.0, swiglu_limit=7.0,
        normalize_routing_weights=1)
    d, i = 32, 32
    x = floats(1, 3, d)
    router = floats(3, e)
    for bits in (4, 8):
        pack = 8 // bits
        case(f"qmoe_{bits}", "QMoE",
             [x, router, codes(e, 2 * i, d // pack), floats(e, 2 * i, scale=0.02), floats(e, 2 * i), codes(e, d, i // pack),
              floats(e, d, scale=0.02), floats(e, d)],
             rtol=2e-2, k=2, activation_type="swiglu", swiglu_fusion=1, activation_alpha=1.702, activation_beta=1.0,
             expert_weight_bits=bits, normalize_routing_weights=1)


def small_cases():
    x, skip, gamma, beta = floats(2, 3, 8), floats(2, 3, 8), floats(8), floats(8)
    case("skip_layer_norm", "SkipLayerNormalization", [x, skip, gamma, beta, floats(8)], 4, keep=1, epsilon=1e-5)
    case("skip_layer_norm_default", "SkipLayerNormalization", [x * F(1e-4), skip * F(1e-4), gamma], 1)
    case("skip_rms_norm", "SkipSimplifiedLayerNormalization", [x, skip, gamma, floats(8)], 1)
    case("skip_broadcast", "SkipSimplifiedLayerNormalization", [x, floats(1, 3, 8), gamma], 1, epsilon=1e-6)
    case("simplified", "SimplifiedLayerNormalization", [x, gamma], domain="", axis=-1, epsilon=1e-6)
    ids = np.array([[1, 0, 3], [2, 2, 4]], np.int32)
    word, position, segment = floats(5, 8), floats(6, 8), floats(2, 8)
    mask = np.array([[1, 1, 0], [1, 1, 1]], np.int32)
    case("embed", "EmbedLayerNormalization", [ids, None, word, position, None, gamma, beta], 2, keep=1, epsilon=1e-5)
    case("embed_all", "EmbedLayerNormalization", [ids, ids % 2, word, position, segment, gamma, beta, mask, np.array([[0, 1, 2], [3, 4, 5]], np.int32)],
         3, epsilon=1e-5)
    case("bias_gelu", "BiasGelu", [x, gamma])
    case("fast_gelu", "FastGelu", [x, gamma])
    case("gelu", "Gelu", [x])
    case("quick_gelu", "QuickGelu", [x], alpha=1.702)
    case("silu", "QuickGelu", [x], alpha=1.0)
    case("fused_gemm", "FusedGemm", [floats(3, 4), floats(5, 4), floats(5)], transB=1, activation="Relu", alpha=0.5)
    case("expand_dims", "ExpandDims", [x, np.array(1, np.int32)])
    case("causal_conv", "CausalConvWithState", [floats(2, 4, 6), floats(4, 1, 3), floats(4), floats(2, 4, 2)], 2, activation="silu")
    case("linear_attention", "LinearAttention",
         [floats(1, 4, 8, scale=0.5), floats(1, 4, 8, scale=0.5), floats(1, 4, 12), floats(1, 2, 4, 6), -np.abs(floats(1, 4, 2)),
          rng.random((1, 4, 2)).astype(F)], 2, q_num_heads=2, kv_num_heads=2, update_rule="gated_delta", rtol=1e-3)
    case("linear_attention_shared", "LinearAttention",
         [floats(1, 4, 8, scale=0.5), floats(1, 4, 8, scale=0.5), floats(1, 4, 24), floats(1, 4, 4, 6), -np.abs(floats(1, 4, 4)),
          rng.random((1, 4, 4)).astype(F)], 2, q_num_heads=2, kv_num_heads=4, update_rule="gated_delta", rtol=1e-3)


def write(entry, out):
    name, op, inputs, outputs, rtol, domain, keep, attrs = entry
    model, tensors = build(op, inputs, outputs, domain, keep, attrs)
    try:
        results = run(model, tensors)
    except Exception as error:  # which ops the installed ONNX Runtime has is told at the end
        return f"{name}: {str(error).splitlines()[0][:200]}"
    del model.graph.output[:]
    for i, value in enumerate(results):
        model.graph.output.add().CopyFrom(helper.make_tensor_value_info(f"out{i}", helper.np_dtype_to_tensor_dtype(value.dtype), None))
    expected = [numpy_helper.from_array(v, f"expected_{i}") for i, v in enumerate(results)]
    folder = out / name
    folder.mkdir(parents=True)
    onnx.save(model, folder / "static.onnx")
    onnx.save(node_cases.dynamic(model), folder / "dynamic.onnx")
    onnx.save(node_cases.constant(model, tensors), folder / "constant.onnx")
    onnx.save(node_cases.data_model(tensors + expected), folder / "data.onnx")
    return None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out", type=Path)
    p.add_argument("--match", default="", help="only cases whose name contains TEXT")
    args = p.parse_args()
    args.out.mkdir(parents=True)
    for make in (attention_cases, rotary_cases, weight_cases, expert_cases, small_cases):
        make()
    lines, refused = [], []
    for entry in CASES:
        if args.match not in entry[0]:
            continue
        problem = write(entry, args.out)
        if problem:
            refused.append(problem)
        else:
            lines.append(f"{entry[0]} {entry[4]} {sum(v is not None for v in entry[2])}\n")
    (args.out / "cases.txt").write_text("".join(lines))
    for problem in refused:
        print("ONNX Runtime refuses", problem, file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
