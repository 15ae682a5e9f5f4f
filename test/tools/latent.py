"""Writes small decoders with multi-head latent attention in several spellings. The file itself is the reference: onnx.reference computes its logits.

Keys have a part that is made of a latent row and a part with positions that all heads share; values are made of the latent row alone.
"""
import dataclasses

import numpy as np
from onnx import TensorProto, helper

from families import END, HIDDEN, LAYERS, VOCAB, Graph, swiglu

HEADS, PLAIN, TURNED, VALUE, RANK, QUERY_RANK = 2, 8, 4, 6, 12, 10


@dataclasses.dataclass(frozen=True)
class Form:
    name: str
    low_rank_query: bool = True
    pairs: bool = True         # the file turns pairs (2i, 2i + 1), brought to halves by a transpose; else halves
    cache: str = "expanded"    # none | latent | joined (one row of both): what the cache keeps
    absorbed: str = ""         # matmul | einsum: products of heads with the latent rows, whose up-projections are on the side of queries and results
    scaled: str = "scores"     # operands: queries and transposed keys have a root of the scale each
    joined: str = "concat"     # slices: the heads' parts are written by ScatterND-free Pad and Add | sum: two products of scores
    single: bool = False       # latent rows are those of one head


class Decoder:
    def __init__(self, form):
        self.f, self.g = form, Graph(5)
        self.inputs, self.outputs = [], []

    def input(self, name, kind, dims):
        self.inputs.append(helper.make_tensor_value_info(name, kind, dims))
        return name

    def output(self, value, name):
        self.g.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))

    def heads(self, x, n, dim):
        g = self.g
        return g.op("Transpose", g.op("Reshape", x, np.array([0, 0, n, dim])), perm=[0, 2, 1, 3])

    def tables(self):
        g = self.g
        freq = (1000.0 ** (-np.arange(0, TURNED, 2) / TURNED)).astype(np.float32).reshape(1, -1, 1)
        at = g.op("Cast", g.op("Unsqueeze", "position_ids", np.array([1])), to=TensorProto.FLOAT)
        angles = g.op("Transpose", g.op("MatMul", freq, at), perm=[0, 2, 1])
        angles = g.op("Concat", angles, angles, axis=-1)
        self.cos, self.sin = (g.op("Unsqueeze", g.op(k, angles), np.array([1])) for k in ("Cos", "Sin"))

    def turn(self, x, n):
        g = self.g
        if self.f.pairs:
            x = g.op("Reshape", x, np.array([0, n, -1, TURNED // 2, 2]))
            x = g.op("Reshape", g.op("Transpose", x, perm=[0, 1, 2, 4, 3]), np.array([0, n, -1, TURNED]))
        lo = g.op("Slice", x, np.array([0]), np.array([TURNED // 2]), np.array([3]))
        hi = g.op("Slice", x, np.array([TURNED // 2]), np.array([END]), np.array([3]))
        return g.op("Add", g.op("Mul", x, self.cos), g.op("Mul", g.op("Concat", g.op("Neg", hi), lo, axis=-1), self.sin))

    def past(self, n, what, dims):
        return self.input(f"past_key_values.{n}.{what}", TensorProto.FLOAT, ["batch", *dims])

    def per_head(self, x, rows, columns):
        """[batch, heads, seq, rows] times a matrix [rows, columns] of each head."""
        g = self.g
        w = g.weight(HEADS, rows, columns, scale=rows ** -0.5)
        return g.op("Einsum", x, w, equation="bhsr,hrc->bhsc") if self.f.absorbed == "einsum" else g.op("MatMul", x, w)

    def over_latent(self, n, q, q_turned, latent, k_turned):
        """Scores and what they mix, [batch, heads, seq, VALUE]; one head of latent rows for all of queries."""
        g, f = self.g, self.f
        q = self.per_head(q, PLAIN, RANK)
        if f.cache == "joined":  # one row [latent, turned] per token
            rows = g.op("Concat", latent, g.op("Squeeze", k_turned, np.array([1])), axis=-1)
            rows = g.op("Concat", self.past(n, "latent", ["past", RANK + TURNED]), rows, axis=1)
            self.output(rows, f"present.{n}.latent")
            k = g.op("Unsqueeze", rows, np.array([1]))
            v = g.op("Slice", k, np.array([0]), np.array([RANK]), np.array([3]))
            scores = g.op("MatMul", g.op("Concat", q, q_turned, axis=-1), g.op("Transpose", k, perm=[0, 1, 3, 2]))
        else:
            v = g.op("Unsqueeze", latent, np.array([1]))
            if f.joined == "sum":
                scores = g.op("Add", g.op("MatMul", q, g.op("Transpose", v, perm=[0, 1, 3, 2])), g.op("MatMul", q_turned, g.op("Transpose", k_turned, perm=[0, 1, 3, 2])))
            else:
                k = g.op("Concat", v, k_turned, axis=-1)
                scores = g.op("MatMul", g.op("Concat", q, q_turned, axis=-1), g.op("Transpose", k, perm=[0, 1, 3, 2]))
        p = g.op("Softmax", g.op("Add", g.op("Mul", scores, (PLAIN + TURNED) ** -0.5), self.mask), axis=-1)
        return self.per_head(g.op("MatMul", p, v), RANK, VALUE)

    def attention(self, x, n):
        g, f = self.g, self.f
        if f.low_rank_query:
            q = g.linear(g.rms(g.linear(x, QUERY_RANK, HIDDEN), QUERY_RANK), HEADS * (PLAIN + TURNED), QUERY_RANK)
        else:
            q = g.linear(x, HEADS * (PLAIN + TURNED), HIDDEN)
        q, q_turned = g.op("Split", self.heads(q, HEADS, PLAIN + TURNED), np.array([PLAIN, TURNED]), outputs=2, axis=-1)
        latent, k_turned = g.op("Split", g.linear(x, RANK + TURNED, HIDDEN), np.array([RANK, TURNED]), outputs=2, axis=-1)
        q_turned = self.turn(q_turned, HEADS)
        k_turned = self.turn(self.heads(k_turned, 1, TURNED), 1)
        latent = g.rms(latent, RANK)
        if f.single:
            latent = g.op("Reshape", latent, np.array([0, 1, -1, RANK]))
        if f.cache == "latent":
            latent = g.op("Concat", self.past(n, "latent", [1, "past", RANK] if f.single else ["past", RANK]), latent, axis=-2)
            k_turned = g.op("Concat", self.past(n, "turned", [1, "past", TURNED]), k_turned, axis=2)
            self.output(latent, f"present.{n}.latent")
            self.output(k_turned, f"present.{n}.turned")
        if f.absorbed:
            mixed = self.over_latent(n, q, q_turned, latent, k_turned)
            flat = g.op("Reshape", g.op("Transpose", mixed, perm=[0, 2, 1, 3]), np.array([0, 0, HEADS * VALUE]))
            return g.linear(flat, HIDDEN, HEADS * VALUE)
        both = g.linear(latent, HEADS * (PLAIN + VALUE), RANK)
        both = self.heads(g.op("Squeeze", both, np.array([1])) if f.single else both, HEADS, PLAIN + VALUE)
        k, v = g.op("Split", both, np.array([PLAIN, VALUE]), outputs=2, axis=-1)
        shape = g.op("Concat", g.op("Slice", g.op("Shape", k), np.array([0]), np.array([3])), np.array([TURNED]), axis=0)
        wide = g.op("Expand", k_turned, shape)
        if f.joined == "concat" or f.cache == "expanded":
            q, k = g.op("Concat", q, q_turned, axis=-1), g.op("Concat", k, wide, axis=-1)
        if f.cache == "expanded":
            k = g.op("Concat", self.past(n, "key", [HEADS, "past", PLAIN + TURNED]), k, axis=2)
            v = g.op("Concat", self.past(n, "value", [HEADS, "past", VALUE]), v, axis=2)
            self.output(k, f"present.{n}.key")
            self.output(v, f"present.{n}.value")
        scale, k = (PLAIN + TURNED) ** -0.5, g.op("Transpose", k, perm=[0, 1, 3, 2])
        if f.scaled == "operands":
            q, k = g.op("Mul", q, scale ** 0.5), g.op("Mul", k, scale ** 0.5)
        scores = g.op("MatMul", q, k)
        if f.joined == "sum" and f.cache != "expanded":
            scores = g.op("Add", scores, g.op("MatMul", q_turned, g.op("Transpose", k_turned, perm=[0, 1, 3, 2])))
        if f.scaled == "scores":
            scores = g.op("Mul", scores, scale)
        scores = g.op("Add", scores, self.mask)
        mixed = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
        flat = g.op("Reshape", g.op("Transpose", mixed, perm=[0, 2, 1, 3]), np.array([0, 0, HEADS * VALUE]))
        return g.linear(flat, HIDDEN, HEADS * VALUE)

    def masks(self):
        g = self.g
        total = g.op("Squeeze", g.op("Slice", g.op("Shape", "attention_mask"), np.array([1]), np.array([2])), np.array([0]))
        keys = g.op("Range", np.array(0), total, np.array(1))
        seen = g.op("LessOrEqual", keys, g.op("Unsqueeze", "position_ids", np.array([2])))
        self.mask = g.op("Unsqueeze", g.op("Where", seen, 0.0, -1e9), np.array([1]))

    def build(self):
        g = self.g
        for name in ("input_ids", "position_ids"):
            self.input(name, TensorProto.INT64, ["batch", "seq"])
        self.input("attention_mask", TensorProto.INT64, ["batch", "total"])
        self.tables()
        self.masks()
        x = g.op("Gather", g.weight(VOCAB, HIDDEN, scale=1.0), "input_ids", axis=0)
        for n in range(LAYERS):
            x = g.op("Add", x, self.attention(g.rms(x), n))
            x = g.op("Add", x, swiglu(g, g.rms(x)))
        g.nodes.append(helper.make_node("MatMul", [g.rms(x), g.weight(HIDDEN, VOCAB)], ["logits"], name="/head"))
        outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "seq", VOCAB]), *self.outputs]
        graph = helper.make_graph(g.nodes, "decoder", self.inputs, outputs, g.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def model(form):
    return Decoder(form).build()


def inputs(model, tokens):
    """What the file takes for a prompt without a past."""
    out = {"input_ids": np.array([tokens]), "position_ids": np.arange(len(tokens))[None], "attention_mask": np.ones((1, len(tokens)), np.int64)}
    for value in model.graph.input:
        if value.name.startswith("past"):
            dims = [d.dim_value or (1 if d.dim_param == "batch" else 0) for d in value.type.tensor_type.shape.dim]
            out[value.name] = np.zeros(dims, np.float32)
    return out


FORMS = [
    Form("latent-expanded"),
    Form("latent-expanded-halves", pairs=False, low_rank_query=False),
    Form("latent-no-cache", cache="none"),
    Form("latent-scaled-operands", scaled="operands"),
    Form("latent-scaled-operands-no-cache", cache="none", scaled="operands"),
    Form("latent-kept", cache="latent"),
    Form("latent-kept-halves", cache="latent", pairs=False),
    Form("latent-single", cache="none", scaled="operands", single=True),
    Form("latent-kept-single", cache="latent", scaled="operands", single=True),
    Form("latent-sum", cache="none", pairs=False, joined="sum"),
    Form("latent-kept-sum", cache="latent", joined="sum"),
    Form("absorbed", cache="latent", absorbed="matmul"),
    Form("absorbed-sum", cache="latent", absorbed="matmul", joined="sum", pairs=False),
    Form("absorbed-einsum", cache="latent", absorbed="einsum", low_rank_query=False),
    Form("absorbed-joined", cache="joined", absorbed="matmul"),
    Form("absorbed-no-cache", cache="none", absorbed="einsum", joined="sum"),
]
