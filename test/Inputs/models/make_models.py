#!/usr/bin/env python3
"""Writes tiny decoders with random weights as the TorchScript exporter spells them, and expect.json from ONNX Runtime.

usage: make_models.py [folder]        (onnx 1.23.2, onnxruntime 1.32.0, numpy 2.4.6)

Every model has the same weights in another spelling, so all give the same logits to about 1e-5:
  tiny-llama-sdpa    opset 18: rope computed from inv_freq, boolean mask of index comparisons, scaled q and k (SDPA)
  tiny-llama-eager   opset 14: rope from tables by position_ids, additive mask with the f32 minimum, Div by sqrt(d)
"""
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HIDDEN, LAYERS, HEADS, KV, DIM, FFN, VOCAB, MAXPOS = 32, 2, 4, 2, 8, 48, 96, 64
GROUP = HEADS // KV
END = 2**63 - 1
RNG = np.random.default_rng(135)


def weights():
    def w(*shape):
        return RNG.normal(0, 1 / np.sqrt(shape[0]), shape).astype(np.float32)
    out = {"embed": RNG.normal(0, 1, (VOCAB, HIDDEN)).astype(np.float32), "norm": 1 + 0.1 * w(HIDDEN)}
    for n in range(LAYERS):
        out |= {f"{n}.q": w(HIDDEN, HEADS * DIM), f"{n}.k": w(HIDDEN, KV * DIM), f"{n}.v": w(HIDDEN, KV * DIM),
                f"{n}.o": w(HEADS * DIM, HIDDEN), f"{n}.gate": w(HIDDEN, FFN), f"{n}.up": w(HIDDEN, FFN),
                f"{n}.down": w(FFN, HIDDEN), f"{n}.norm1": 1 + 0.1 * w(HIDDEN), f"{n}.norm2": 1 + 0.1 * w(HIDDEN)}
    return out


WEIGHTS = weights()
INV_FREQ = (10000.0 ** (-np.arange(0, DIM, 2) / DIM)).astype(np.float32)


class Graph:
    """Nodes with generated names; constants become Constant nodes, weights initializers."""

    def __init__(self, opset):
        self.opset, self.nodes, self.initializers = opset, [], {}

    def op(self, kind, *inputs, outputs=1, **attrs):
        inputs = [x if isinstance(x, str) else self.const(x) for x in inputs]
        number = len(self.nodes)
        names = [f"{kind}_{number}_output_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=f"/{kind}_{number}", **attrs))
        return names[0] if outputs == 1 else names

    def const(self, value):
        if isinstance(value, (int, list)):
            value = np.array(value, dtype=np.int64)
        return self.op("Constant", value=numpy_helper.from_array(value))

    def weight(self, name):
        self.initializers[name] = WEIGHTS[name]
        return name

    # What torch.onnx writes for its own shape questions and reshapes.
    def size(self, x, axis):
        return self.op("Gather", self.op("Shape", x), axis, axis=0)

    def unsqueeze(self, x, *axes):
        return self.op("Unsqueeze", x, list(axes))

    def reshape(self, x, *dims):
        parts = [self.const([d]) if isinstance(d, int) else self.unsqueeze(d, 0) for d in dims]
        return self.op("Reshape", x, self.op("Concat", *parts, axis=0))

    def expand(self, x, *dims):
        parts = [self.const([d]) if isinstance(d, int) else self.unsqueeze(d, 0) for d in dims]
        shape = self.op("Reshape", self.op("Concat", *parts, axis=0), [-1])
        ones = self.op("ConstantOfShape", self.op("Shape", shape), value=numpy_helper.from_array(np.array([1], dtype=np.int64)))
        keep = self.op("Equal", shape, self.op("Mul", ones, -1))
        return self.op("Expand", x, self.op("Where", keep, ones, shape))

    def slice(self, x, start, end, axis):
        return self.op("Slice", x, [start], [end] if isinstance(end, int) else self.unsqueeze(end, 0), [axis], [1])


def f32(x):
    return np.array(x, dtype=np.float32)


def norm(g, x, gain):
    axes = {"axes": [-1]} if g.opset < 18 else {}
    square = g.op("Pow", x, f32(2))
    mean = g.op("ReduceMean", square, *([] if axes else [[-1]]), **axes)
    root = g.op("Sqrt", g.op("Add", mean, f32(1e-5)))
    return g.op("Mul", g.weight(gain), g.op("Mul", x, g.op("Div", f32(1), root)))


def rotate(g, x, cos, sin):
    half = g.op("Div", g.size(x, 3), 2)
    low = g.op("Slice", x, [0], g.unsqueeze(half, 0), [3], [1])
    high = g.op("Slice", x, g.unsqueeze(half, 0), [END], [3], [1])
    turned = g.op("Concat", g.op("Neg", high), low, axis=-1)
    return g.op("Add", g.op("Mul", x, cos), g.op("Mul", turned, sin))


def rope_computed(g, batch):
    g.initializers["inv_freq"] = INV_FREQ.reshape(1, -1, 1)
    freq = g.expand("inv_freq", batch, -1, 1)
    angles = g.op("MatMul", freq, g.op("Cast", g.unsqueeze("position_ids", 1), to=TensorProto.FLOAT))
    angles = g.op("Transpose", angles, perm=[0, 2, 1])
    both = g.op("Concat", angles, angles, axis=-1)
    return [g.unsqueeze(g.op("Mul", g.op(k, both), f32(1)), 1) for k in ("Cos", "Sin")]


def rope_table(g, total):
    angles = np.arange(MAXPOS)[:, None].astype(np.float32) * INV_FREQ
    both = np.concatenate([angles, angles], -1)
    out = []
    for name, table in (("cos_cached", np.cos(both)), ("sin_cached", np.sin(both))):
        g.initializers[name] = table.astype(np.float32)
        rows = g.op("Slice", name, [0], g.unsqueeze(total, 0), [0], [1])
        out.append(g.unsqueeze(g.op("Gather", rows, "position_ids", axis=0), 1))
    return out


def mask_boolean(g, batch, seq, past, total):
    queries = g.unsqueeze(g.op("Range", past, total, 1), 0, 1, 3)
    keys = g.unsqueeze(g.op("Range", 0, total, 1), 0, 1, 2)
    causal = g.op("LessOrEqual", keys, queries)
    padding = g.unsqueeze(g.op("Cast", "attention_mask", to=TensorProto.BOOL), 1, 2)
    both = g.op("And", causal, padding)
    return g.op("Where", g.expand(both, batch, 1, seq, total), f32([0]), f32([-np.inf]))


def mask_additive(g, batch, seq, past, total):
    low = f32(np.finfo(np.float32).min)
    columns = g.op("Range", 0, seq, 1)
    square = g.expand(low, seq, seq)
    below = g.op("Less", columns, g.unsqueeze(g.op("Add", columns, 1), 1))
    causal = g.op("Where", below, f32(0), square)
    zeros = g.op("ConstantOfShape", g.op("Concat", g.unsqueeze(seq, 0), g.unsqueeze(past, 0), axis=0), value=numpy_helper.from_array(f32([0])))
    causal = g.expand(g.unsqueeze(g.op("Concat", zeros, causal, axis=-1), 0, 1), batch, 1, seq, total)
    given = g.op("Cast", g.expand(g.unsqueeze("attention_mask", 1, 2), batch, 1, seq, total), to=TensorProto.FLOAT)
    masked = g.op("Cast", g.op("Sub", f32(1), given), to=TensorProto.BOOL)
    return g.op("Where", masked, low, causal)


def repeat_kv(g, x, batch, total):
    wide = g.expand(g.unsqueeze(x, 2), batch, KV, GROUP, total, DIM)
    return g.reshape(wide, batch, HEADS, total, DIM)


def attention(g, x, layer, rope, mask, fused_scale):
    batch, seq = g.size(x, 0), g.size(x, 1)

    def heads(name, count):
        flat = g.op("MatMul", x, g.weight(f"{layer}.{name}"))
        return g.op("Transpose", g.reshape(flat, batch, seq, -1, DIM), perm=[0, 2, 1, 3])
    q, k, v = heads("q", HEADS), heads("k", KV), heads("v", KV)
    q, k = rotate(g, q, *rope), rotate(g, k, *rope)
    k = g.op("Concat", f"past_key_values.{layer}.key", k, axis=2)
    v = g.op("Concat", f"past_key_values.{layer}.value", v, axis=2)
    total = g.size(k, 2)
    keys, values = repeat_kv(g, k, batch, total), repeat_kv(g, v, batch, total)
    keys = g.op("Transpose", keys, perm=[0, 1, 3, 2])
    if fused_scale:
        root = f32(DIM ** -0.25)
        scores = g.op("MatMul", g.op("Mul", q, root), g.op("Mul", keys, root))
    else:
        scores = g.op("Div", g.op("MatMul", q, keys), f32(DIM ** 0.5))
    probs = g.op("Softmax", g.op("Add", scores, mask), axis=-1)
    if fused_scale:
        probs = g.op("Where", g.op("IsNaN", probs), f32([0]), probs)
    out = g.op("Transpose", g.op("MatMul", probs, values), perm=[0, 2, 1, 3])
    flat = g.reshape(out, batch, seq, -1)
    return g.op("MatMul", flat, g.weight(f"{layer}.o")), k, v


def llama(opset, sdpa):
    g = Graph(opset)
    x = g.op("Gather", g.weight("embed"), "input_ids", axis=0)
    past = g.size("past_key_values.0.key", 2)
    batch, seq = g.size(x, 0), g.size(x, 1)
    total = g.op("Add", past, seq)
    rope = rope_computed(g, batch) if sdpa else rope_table(g, total)
    mask = (mask_boolean if sdpa else mask_additive)(g, batch, seq, past, total)
    presents = []
    for n in range(LAYERS):
        y, k, v = attention(g, norm(g, x, f"{n}.norm1"), n, rope, mask, sdpa)
        x = g.op("Add", x, y)
        y = norm(g, x, f"{n}.norm2")
        gate, up = g.op("MatMul", y, g.weight(f"{n}.gate")), g.op("MatMul", y, g.weight(f"{n}.up"))
        y = g.op("Mul", g.op("Mul", gate, g.op("Sigmoid", gate)), up)
        x = g.op("Add", x, g.op("MatMul", y, g.weight(f"{n}.down")))
        presents += [(f"present.{n}.key", k), (f"present.{n}.value", v)]
    logits = g.op("MatMul", norm(g, x, "norm"), g.op("Transpose", "embed", perm=[1, 0]))
    return finish(g, [("logits", logits)] + presents)


def finish(g, results):
    rename = {value: name for name, value in results}
    for node in g.nodes:
        node.output[:] = [rename.get(o, o) for o in node.output]
        node.input[:] = [rename.get(i, i) for i in node.input]
    i64, f = TensorProto.INT64, TensorProto.FLOAT
    total = "past_sequence_length + sequence_length"

    def cache(kind, length):
        return [helper.make_tensor_value_info(f"{kind}.{n}.{part}", f, ["batch_size", KV, length, DIM]) for n in range(LAYERS) for part in ("key", "value")]
    inputs = [helper.make_tensor_value_info("input_ids", i64, ["batch_size", "sequence_length"]),
              helper.make_tensor_value_info("attention_mask", i64, ["batch_size", total]),
              helper.make_tensor_value_info("position_ids", i64, ["batch_size", "sequence_length"])] + cache("past_key_values", "past_sequence_length")
    outputs = [helper.make_tensor_value_info("logits", f, ["batch_size", "sequence_length", VOCAB])] + cache("present", total)
    graph = helper.make_graph(g.nodes, "main_graph", inputs, outputs, [numpy_helper.from_array(v, n) for n, v in g.initializers.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", g.opset)], ir_version=8, producer_name="make_models.py")
    onnx.checker.check_model(model)
    return model


def run(session, ids, cache):
    past = cache[0].shape[2]
    total = past + len(ids)
    feeds = {"input_ids": np.array([ids]), "attention_mask": np.ones((1, total), np.int64), "position_ids": np.arange(past, total)[None]}
    names = [i.name for i in session.get_inputs() if i.name.startswith("past")]
    out = session.run(None, feeds | dict(zip(names, cache)))
    return out[0][0, -1], out[1:]


def expectation(name, path):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    cases = []
    for prompt in ([17], [5, 91, 33, 42, 8, 20, 64], [int(t) for t in np.random.default_rng(3).integers(0, VOCAB, 24)]):
        logits, cache = run(session, prompt, [np.zeros((1, KV, 0, DIM), np.float32)] * (2 * LAYERS))
        case, gap = {"prompt": prompt, "last_logits": [float(f"{x:.9g}") for x in logits], "greedy": []}, np.inf
        for _ in range(12):
            top = np.sort(logits)[-2:]
            gap = min(gap, float(top[1] - top[0]))
            case["greedy"].append(int(logits.argmax()))
            logits, cache = run(session, case["greedy"][-1:], cache)
        cases.append(case | {"greedy_min_gap": gap})
    inputs = [{"name": i.name, "dtype": "int64" if i.type == "tensor(int64)" else "float32", "shape": i.shape} for i in session.get_inputs()]
    past = [[f"past_key_values.{n}.{p}", f"present.{n}.{p}"] for n in range(LAYERS) for p in ("key", "value")]
    roles = {"tokens": "input_ids", "mask": "attention_mask", "positions": "position_ids", "past": past, "logits": "logits", "batch_axis": 0, "past_axis": 2}
    return {"name": name, "dtype": "fp32", "weights_id": "tiny-llama", "oracle": f"onnxruntime {onnxruntime.__version__} CPU", "atol": 1e-4,
            "io": {"inputs": inputs, "roles": roles}, "cases": cases}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for name, opset, sdpa in (("tiny-llama-sdpa", 18, True), ("tiny-llama-eager", 14, False)):
        folder = root / name
        folder.mkdir(exist_ok=True)
        (folder / "model.onnx").write_bytes(llama(opset, sdpa).SerializeToString(deterministic=True))
        expect = expectation(name, str(folder / "model.onnx"))
        (folder / "expect.json").write_text(json.dumps(expect, indent=1) + "\n")
        print(name, len(expect["cases"]), min(c["greedy_min_gap"] for c in expect["cases"]))


if __name__ == "__main__":
    main()
