#!/usr/bin/env python3
"""Writes a decoder of a Llama's shape with random weights, as the builder of onnxruntime-genai spells it, in half precision.

usage: make_model.py SHAPE FOLDER [--layers N] [--sparse]

All tensors lie in one pool of random bytes, each at an offset of its own, so that a model of 16 GB takes little more than its largest tensor on disk and
none of its tensors equals another one. --sparse leaves the pool empty (zeros), which is enough where only shapes matter.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

# hidden, layers, heads, kv heads, head size, inner size, vocabulary, rope base
SHAPES = {
    "tiny": (128, 2, 4, 2, 32, 256, 512, 10000.0),
    "1b": (2048, 16, 32, 8, 64, 8192, 128256, 500000.0),
    "3b": (3072, 28, 24, 8, 128, 8192, 128256, 500000.0),
    "7b": (4096, 32, 32, 32, 128, 11008, 32000, 10000.0),
    "8b": (4096, 32, 32, 8, 128, 14336, 128256, 500000.0),
}
STEP = 4096  # bytes from one tensor's place in the pool to the next
MAX_POSITIONS = 8192
BLOCK = 1 << 24


class Pool:
    """Tensors as places in a file."""

    def __init__(self, file):
        self.file, self.bytes, self.count = file, 0, 0

    def tensor(self, name, *shape):
        length, offset = 2 * int(np.prod(shape)), self.count * STEP
        self.count += 1
        self.bytes = max(self.bytes, offset + length)
        t = TensorProto(name=name, data_type=TensorProto.FLOAT16, dims=shape, data_location=TensorProto.EXTERNAL)
        for key, value in (("location", self.file.name), ("offset", offset), ("length", length)):
            t.external_data.add(key=key, value=str(value))
        return t

    def write(self, sparse):
        """Halves of about 0.02 * a normal number, from one block that is repeated with a shift."""
        with open(self.file, "wb") as f:
            if sparse:
                f.truncate(self.bytes)
                return
            block = (np.random.default_rng(7).standard_normal(BLOCK // 2, dtype=np.float32) * 0.02).astype(np.float16)
            for at in range(0, self.bytes, BLOCK):
                f.write(np.roll(block, at // BLOCK * 977)[:(min(BLOCK, self.bytes - at) + 1) // 2].tobytes())


def graph(shape, layers, pool):
    hidden, _, heads, kv, size, inner, vocab, base = shape
    nodes, weights = [], []

    def op(kind, inputs, outputs, domain="", **attributes):
        nodes.append(helper.make_node(kind, inputs, outputs, name="/" + outputs[0], domain=domain, **attributes))
        return outputs[0]

    def weight(name, *dims):
        weights.append(pool.tensor(name, *dims))
        return name

    def constant(name, array):
        weights.append(numpy_helper.from_array(array, name))
        return name

    def linear(x, name, rows, columns):
        return op("MatMul", [x, weight(name, rows, columns)], [name + ".out"])

    angles = np.arange(MAX_POSITIONS)[:, None] * base ** (-np.arange(0, size, 2) / size)[None]
    constant("cos_cache", np.cos(angles).astype(np.float16))
    constant("sin_cache", np.sin(angles).astype(np.float16))
    gain = constant("gain", np.ones(hidden, np.float16))
    one = constant("one", np.array([1], np.int64))
    op("ReduceSum", ["attention_mask", one], ["mask_sum"], keepdims=0)
    op("Cast", [op("Sub", ["mask_sum", one], ["mask_less"])], ["seqlens_k"], to=TensorProto.INT32)
    op("Shape", ["attention_mask"], ["mask_shape"])
    op("Cast", [op("Gather", ["mask_shape", constant("axis", np.array(1, np.int64))], ["mask_length"], axis=0)], ["total_length"], to=TensorProto.INT32)
    x = op("Gather", [weight("embed", vocab, hidden), "input_ids"], ["x"], axis=0)
    for n in range(layers):
        p = f"layers.{n}."
        y = op("SimplifiedLayerNormalization", [x, gain], [p + "norm1"], axis=-1, epsilon=1e-5, stash_type=1)
        q, k, v = (linear(y, p + name, hidden, count * size) for name, count in (("q", heads), ("k", kv), ("v", kv)))
        past = [f"past_key_values.{n}.{which}" for which in ("key", "value")]
        y = op("GroupQueryAttention", [q, k, v, *past, "seqlens_k", "total_length", "cos_cache", "sin_cache"],
               [p + "attention", f"present.{n}.key", f"present.{n}.value"], "com.microsoft", num_heads=heads, kv_num_heads=kv, do_rotary=1,
               rotary_interleaved=0, scale=size ** -0.5)
        x = op("Add", [x, linear(y, p + "o", heads * size, hidden)], [p + "x1"])
        y = op("SimplifiedLayerNormalization", [x, gain], [p + "norm2"], axis=-1, epsilon=1e-5, stash_type=1)
        gate, up = linear(y, p + "gate", hidden, inner), linear(y, p + "up", hidden, inner)
        silu = op("Mul", [gate, op("Sigmoid", [gate], [p + "sigmoid"])], [p + "silu"])
        x = op("Add", [x, linear(op("Mul", [silu, up], [p + "glu"]), p + "down", inner, hidden)], [p + "x2"])
    y = op("SimplifiedLayerNormalization", [x, gain], ["norm"], axis=-1, epsilon=1e-5, stash_type=1)
    op("MatMul", [y, weight("head", hidden, vocab)], ["logits"])

    def value(name, kind, *dims):
        return helper.make_tensor_value_info(name, kind, dims)
    caches = [(f"{n}.{which}") for n in range(layers) for which in ("key", "value")]
    inputs = [value("input_ids", TensorProto.INT64, "batch", "sequence"), value("attention_mask", TensorProto.INT64, "batch", "total")]
    inputs += [value(f"past_key_values.{c}", TensorProto.FLOAT16, "batch", kv, "past", size) for c in caches]
    outputs = [value("logits", TensorProto.FLOAT16, "batch", "sequence", vocab)]
    outputs += [value(f"present.{c}", TensorProto.FLOAT16, "batch", kv, "total", size) for c in caches]
    return helper.make_graph(nodes, "main", inputs, outputs, weights)


def make(name, folder, layers=None, sparse=False):
    """The path of the model; nothing is done if it is there already."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.onnx"
    if path.exists():
        return path
    pool = Pool(folder / "model.onnx_data")
    model = helper.make_model(graph(SHAPES[name], layers or SHAPES[name][1], pool), ir_version=10,
                              opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)])
    pool.write(sparse)
    onnx.save(model, path)
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("folder")
    parser.add_argument("--layers", type=int)
    parser.add_argument("--sparse", action="store_true")
    args = parser.parse_args()
    print(make(args.shape, args.folder, args.layers, args.sparse))
    sys.exit(0)
