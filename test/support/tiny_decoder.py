"""A small decoder with GroupQueryAttention whose products and feed-forward parts the caller chooses.

`Decoder(linear=f, mlp=g).model`: f(decoder, x, W [K, N], name) and g(decoder, x, layer) add nodes and return the name of their result.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

MS = "com.microsoft"


class Decoder:
    def __init__(self, linear=None, mlp=None, width=64, inner=96, heads=4, kv_heads=2, dim=16, vocab=96, layers=1, opset=21, seed=0):
        self.rng, self.width, self.inner = np.random.default_rng(seed), width, inner
        self.nodes, self.inits, self.count = [], [], 0
        self.linear = linear or Decoder.plain
        mlp = mlp or Decoder.gated
        x = self.op("Gather", [self.const(self.normal(vocab, width, scale=1)), "input_ids"])
        one, axis = self.const(np.array(1, np.int64)), self.const(np.array([1], np.int64))
        lengths = self.op("Cast", [self.op("Sub", [self.op("ReduceSum", ["attention_mask", axis], keepdims=0), one])], to=TensorProto.INT32)
        total = self.op("Cast", [self.op("Gather", [self.op("Shape", ["attention_mask"]), one])], to=TensorProto.INT32)
        angles = np.arange(64)[:, None] / 10000 ** (np.arange(dim // 2) / (dim // 2))[None]
        cos, sin = self.const(np.cos(angles).astype(np.float32)), self.const(np.sin(angles).astype(np.float32))
        self.inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, ["b", d]) for n, d in (("input_ids", "s"), ("attention_mask", "t"))]
        self.outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", "s", vocab])]
        for layer in range(layers):
            h = self.norm(x)
            rows = [self.linear(self, h, self.normal(width, n * dim), f"l{layer}.{p}") for p, n in (("q", heads), ("k", kv_heads), ("v", kv_heads))]
            past, present = [f"past_key_values.{layer}.{p}" for p in ("key", "value")], [f"present.{layer}.{p}" for p in ("key", "value")]
            self.inputs += [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["b", kv_heads, "p", dim]) for n in past]
            self.outputs += [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["b", kv_heads, "t", dim]) for n in present]
            self.nodes.append(helper.make_node("GroupQueryAttention", rows + past + [lengths, total, cos, sin], [f"attention{layer}"] + present, f"gqa{layer}",
                                               domain=MS, num_heads=heads, kv_num_heads=kv_heads, do_rotary=1))
            x = self.op("Add", [x, self.linear(self, f"attention{layer}", self.normal(heads * dim, width), f"l{layer}.o")])
            x = self.op("Add", [x, mlp(self, self.norm(x), layer)])
        self.nodes.append(helper.make_node("Identity", [self.linear(self, self.norm(x), self.normal(width, vocab, scale=1), "head")], ["logits"]))
        graph = helper.make_graph(self.nodes, "decoder", self.inputs, self.outputs, self.inits)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid(MS, 1)], ir_version=10)

    def normal(self, *shape, scale=None):
        return (self.rng.standard_normal(shape) * (scale or 1 / np.sqrt(shape[0]))).astype(np.float32)

    def const(self, array):
        self.count += 1
        self.inits.append(numpy_helper.from_array(np.ascontiguousarray(array), f"c{self.count}"))
        return f"c{self.count}"

    def op(self, kind, inputs, domain="", **attributes):
        self.count += 1
        self.nodes.append(helper.make_node(kind, inputs, [f"v{self.count}"], f"{kind}{self.count}", domain=domain, **attributes))
        return f"v{self.count}"

    def norm(self, x):
        return self.op("SimplifiedLayerNormalization", [x, self.const(1 + self.normal(self.width, scale=0.1))], epsilon=1e-5, axis=-1)

    def plain(self, x, w, name):
        return self.op("MatMul", [x, self.const(w)])

    def gated(self, x, layer):
        gate, up = (self.linear(self, x, self.normal(self.width, self.inner), f"l{layer}.{p}") for p in ("gate", "up"))
        act = self.op("Mul", [gate, self.op("Sigmoid", [gate])])
        return self.linear(self, self.op("Mul", [act, up]), self.normal(self.inner, self.width), f"l{layer}.down")
