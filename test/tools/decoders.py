"""Writes one small random decoder in many spellings, and computes its logits with numpy.

A spelling is a Form: how q, k and v are projected, how the cache is laid out, how
KV heads are repeated, how the mask, the scale and the rotation are written, and
which fused op (of ai.onnx or com.microsoft) stands for the attention, if any.
All forms of one Shape have the same weights, so all must give the same logits.
Needs onnx and numpy; used by test/e2e/test_dialects.py. Long because all spellings
of one model stand side by side.
"""
import dataclasses

import numpy as np
from onnx import TensorProto, helper, numpy_helper

END = 2**63 - 1
LOW = np.float32(-3.4028234663852886e38)
CACHE_STEP = 0.05  # of int8 caches
HIDDEN, LAYERS, FFN, VOCAB, POSITIONS = 32, 2, 48, 96, 64
MS = "com.microsoft"


@dataclasses.dataclass(frozen=True)
class Shape:
    """What the model computes."""
    heads: int = 4
    kv: int = 2
    dim: int = 16
    window: int = 0
    chunk: int = 0
    alibi: bool = False
    sinks: bool = False
    softcap: float = 0.0
    scale: float = 0.25
    interleaved: bool = False
    qk_norm: bool = False
    warm: int = 0  # scores of a query grow with every so many positions


@dataclasses.dataclass(frozen=True)
class Form:
    """How a file says it."""
    name: str
    shape: Shape = Shape()
    op: str = "primitives"     # attention23 | attention24 | gqa | gqa_packed | sparse | mha | mha_packed | mha_kv | ms_attention
    qkv: str = "separate"      # split | per_head | grouped
    cache: str = "pairs"       # none | keys_transposed | batch_heads | stacked | fused | scatter | tensor_scatter | shared_buffer | int8
    repeat: str = "expand"     # gather | broadcast | concat | grouped_q
    mask: str = "compare"      # trilu | padding | buffer | input4d | causal_op | where | gather_nd | scatter_rows
    scaling: str = "mul"       # div | both | keys | fused
    warmth: str = "query"      # table | scores: what is multiplied with the factor of a position
    rope: str = "table"        # compute | op | ms | gemma | sections | sections_mixed | sections_split | inside
    ids: int = TensorProto.INT64
    positions: bool = True     # an input; else past + index
    dims: tuple = ("batch", "seq")
    crossed: bool = False      # names of caches say nothing


def weights(shape, seed=7):
    rng = np.random.default_rng(seed)

    def w(*size):
        return (rng.normal(0, 1, size) / np.sqrt(size[0])).astype(np.float32)
    out = {"embed": rng.normal(0, 1, (VOCAB, HIDDEN)).astype(np.float32), "norm": 1 + 0.1 * w(HIDDEN), "head": w(HIDDEN, VOCAB)}
    for n in range(LAYERS):
        out |= {f"{n}.q": w(HIDDEN, shape.heads * shape.dim), f"{n}.k": w(HIDDEN, shape.kv * shape.dim), f"{n}.v": w(HIDDEN, shape.kv * shape.dim),
                f"{n}.o": w(shape.heads * shape.dim, HIDDEN), f"{n}.gate": w(HIDDEN, FFN), f"{n}.up": w(HIDDEN, FFN), f"{n}.down": w(FFN, HIDDEN),
                f"{n}.norm1": 1 + 0.1 * w(HIDDEN), f"{n}.norm2": 1 + 0.1 * w(HIDDEN), f"{n}.sinks": rng.normal(0, 1, shape.heads).astype(np.float32),
                f"{n}.qnorm": 1 + 0.1 * w(shape.dim), f"{n}.knorm": 1 + 0.1 * w(shape.dim)}
    half = shape.dim // 2
    out["inv_freq"] = (1000.0 ** (-np.arange(half) / half)).astype(np.float32)
    angle = np.arange(POSITIONS, dtype=np.float32)[:, None] * out["inv_freq"][None]
    out["cos"], out["sin"] = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    out["slopes"] = (2.0 ** -(np.arange(shape.heads) + 1.0)).astype(np.float32)
    return out


# --- numpy -----------------------------------------------------------------


def rms(x, gain):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * gain


def rotated(x, w, interleaved):
    """x [tokens, heads, dim]."""
    n = x.shape[0]
    c, s = w["cos"][:n, None].astype(np.float64), w["sin"][:n, None].astype(np.float64)
    half = x.shape[-1] // 2
    lo, hi = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    a, b = lo * c - hi * s, hi * c + lo * s
    return np.stack([a, b], -1).reshape(x.shape) if interleaved else np.concatenate([a, b], -1)


def visible(shape, n):
    q, k = np.arange(n)[:, None], np.arange(n)[None]
    out = k <= q
    if shape.window:
        out &= k > q - shape.window
    if shape.chunk:
        out &= k // shape.chunk == q // shape.chunk
    return out


def warmth(shape, n):
    return 1 + 0.5 * np.log(np.floor((np.arange(n) + 1) / shape.warm) + 1)


def coded(x, step):
    """What a cache of int8 codes with that scale keeps; step 0: all of it."""
    return x if step == 0 else step * np.clip(np.round(x / step), -128, 127)


def logits(shape, ids, cache_step=0):
    """[tokens, vocab] in double."""
    w, n = weights(shape), len(ids)
    x = w["embed"][ids].astype(np.float64)
    for i in range(LAYERS):
        h = rms(x, w[f"{i}.norm1"])
        q, k, v = ((h @ w[f"{i}.{p}"]).reshape(n, -1, shape.dim) for p in "qkv")
        if shape.qk_norm:
            q, k = rms(q, w[f"{i}.qnorm"]), rms(k, w[f"{i}.knorm"])
        if not shape.alibi:
            q, k = rotated(q, w, shape.interleaved), rotated(k, w, shape.interleaved)
        k, v = (np.repeat(coded(x, cache_step), shape.heads // shape.kv, 1) for x in (k, v))
        s = np.einsum("qhd,khd->hqk", q, k) * shape.scale
        if shape.warm:
            s = s * warmth(shape, n)[:, None]
        if shape.softcap:
            s = shape.softcap * np.tanh(s / shape.softcap)
        if shape.alibi:
            s = s + w["slopes"][:, None, None] * (np.arange(n)[None] - np.arange(n)[:, None])
        s = np.where(visible(shape, n), s, -np.inf)
        if shape.sinks:
            s = np.concatenate([s, np.broadcast_to(w[f"{i}.sinks"][:, None, None], (shape.heads, n, 1))], -1)
        p = np.exp(s - s.max(-1, keepdims=True))
        p = (p / p.sum(-1, keepdims=True))[..., :n]
        x = x + np.einsum("hqk,khd->qhd", p, v).reshape(n, -1) @ w[f"{i}.o"]
        h = rms(x, w[f"{i}.norm2"])
        g = h @ w[f"{i}.gate"]
        x = x + (g / (1 + np.exp(-g)) * (h @ w[f"{i}.up"])) @ w[f"{i}.down"]
    return rms(x, w["norm"]) @ w["head"]


# --- onnx ------------------------------------------------------------------


class Graph:
    """Nodes with generated names; small constants inline, weights as initializers."""

    def __init__(self):
        self.nodes, self.initializers = [], {}

    def op(self, kind, *inputs, outputs=1, domain="", **attrs):
        inputs = [x if isinstance(x, str) else self.const(x) for x in inputs]
        number = len(self.nodes)
        names = [f"{kind}_{number}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=f"/{kind}_{number}", domain=domain, **attrs))
        return names[0] if outputs == 1 else names

    def const(self, value):
        if isinstance(value, (int, list)):
            value = np.array(value, dtype=np.int64)
        if isinstance(value, (float, np.floating)):
            value = np.array(value, dtype=np.float32)
        return self.op("Constant", value=numpy_helper.from_array(value))

    def weight(self, name, value):
        self.initializers.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def dim(self, x, axis):
        return self.op("Gather", self.op("Shape", x), axis, axis=0)

    def range(self, begin, end):
        return self.op("Range", begin, end, 1)

    def cast(self, x, to):
        return self.op("Cast", x, to=to)


class Decoder:
    def __init__(self, form):
        self.f, self.s, self.g, self.w = form, form.shape, Graph(), weights(form.shape)
        self.inputs, self.outputs = [], []
        self.static = form.cache in ("scatter", "tensor_scatter", "shared_buffer")
        self.presents = []

    # Inputs ---------------------------------------------------------------

    def input(self, name, kind, dims):
        self.inputs.append(helper.make_tensor_value_info(name, kind, dims))
        return name

    def lengths(self):
        """Scalars: new tokens, past, all keys; positions of the new tokens [seq]."""
        g = self.g
        self.seq = g.dim("input_ids", 1)
        if self.f.cache == "scatter":
            self.at = "cache_position"
            self.past = g.op("Squeeze", g.op("Slice", self.at, [0], [1], [0]), [0])
        elif self.f.cache == "tensor_scatter":
            self.past = g.op("Squeeze", "write_indices", [0])
        elif self.f.cache in ("none", "shared_buffer"):
            self.past = g.const(0)
        else:
            axis = {"keys_transposed": 3, "batch_heads": 2, "stacked": 3, "fused": 1}.get(self.f.cache, 2)
            self.past = g.dim(self.pasts[0], axis)
        self.total = g.op("Add", self.past, self.seq)
        if self.f.cache != "scatter":
            self.at = g.range(self.past, self.total)
        self.keys = g.const(POSITIONS) if self.static and self.f.cache != "shared_buffer" else self.total

    def caches(self):
        b, s, c = self.f.dims[0], self.s, self.f.cache
        name = (lambda n, kind: f"state_{2 * n + (kind == 'key')}") if self.f.crossed else (lambda n, kind: f"past_key_values.{n}.{kind}")
        kind = TensorProto.INT8 if c == "int8" else TensorProto.FLOAT
        k = v = [b, s.kv, "past", s.dim]
        if c == "keys_transposed":
            k = [b, s.kv, s.dim, "past"]
        if c == "batch_heads":
            k, v = [f"{b}_heads", s.dim, "past"], [f"{b}_heads", "past", s.dim]
        if self.static:
            k = v = [b, s.kv, POSITIONS, s.dim]
        self.pasts = []
        for n in range(LAYERS):
            if c == "stacked":
                self.pasts.append(self.input(f"past_{n}", kind, [2, *v]))
            elif c == "fused":
                self.pasts.append(self.input(f"past_{n}", kind, [b, "past", 2 * s.kv * s.dim]))
            elif c != "none":
                self.pasts += [self.input(name(n, "key"), kind, k), self.input(name(n, "value"), kind, v)]

    # Pieces ---------------------------------------------------------------

    def norm(self, x, name):
        g = self.g
        square = g.op("ReduceMean", g.op("Pow", x, np.float32(2)), [-1], keepdims=1)
        scaled = g.op("Mul", x, g.op("Div", np.float32(1), g.op("Sqrt", g.op("Add", square, np.float32(1e-5)))))
        return g.op("Mul", scaled, g.weight(name, self.w[name]))

    def matmul(self, x, name, value=None):
        return self.g.op("MatMul", x, self.g.weight(name, self.w[name] if value is None else value))

    def project(self, h, n):
        """q, k, v as [batch, seq, heads, dim]."""
        g, s, qkv = self.g, self.s, self.f.qkv
        q, k, v = (self.w[f"{n}.{p}"].reshape(HIDDEN, -1, s.dim) for p in "qkv")
        if qkv == "separate":
            return [g.op("Reshape", self.matmul(h, f"{n}.{p}"), [0, 0, -1, s.dim]) for p in "qkv"]
        if qkv == "split":
            rows = self.matmul(h, f"{n}.qkv", np.concatenate([q, k, v], 1).reshape(HIDDEN, -1))
            sizes = [s.heads * s.dim, s.kv * s.dim, s.kv * s.dim]
            return [g.op("Reshape", x, [0, 0, -1, s.dim]) for x in g.op("Split", rows, sizes, outputs=3, axis=-1)]
        if qkv == "per_head":
            rows = self.matmul(h, f"{n}.qkv", np.stack([q, k, v], 2).reshape(HIDDEN, -1))
            split = g.op("Reshape", rows, [0, 0, s.heads, 3 * s.dim])
            return [g.op("Slice", split, [i * s.dim], [(i + 1) * s.dim if i < 2 else END], [3]) for i in range(3)]
        group = s.heads // s.kv
        rows = np.concatenate([q.reshape(HIDDEN, s.kv, group, s.dim), k[:, :, None], v[:, :, None]], 2)
        split = g.op("Reshape", self.matmul(h, f"{n}.qkv", rows.reshape(HIDDEN, -1)), [0, 0, s.kv, group + 2, s.dim])
        q = g.op("Reshape", g.op("Slice", split, [0], [group], [3]), [0, 0, s.heads, s.dim])
        k, v = (g.op("Gather", split, group + i, axis=3) for i in range(2))
        return q, k, v

    def rotate(self, x):
        """[batch, heads, seq, dim]."""
        g, s, half = self.g, self.s, self.s.dim // 2
        tables = [g.weight(t, self.w[t]) for t in ("cos", "sin")]
        if self.f.rope == "op":
            return g.op("RotaryEmbedding", x, *tables, self.position_ids, interleaved=int(s.interleaved))
        if self.f.rope == "ms":
            return g.op("RotaryEmbedding", x, self.position_ids, *tables, domain=MS, interleaved=int(s.interleaved))
        if self.f.rope in ("sections", "sections_mixed"):
            return g.op("MRotaryEmbedding", x, self.position_ids, *tables, domain=MS, mrope_section=[2, 3, 3], mrope_layout=int(self.f.rope == "sections_mixed"))
        if self.f.rope == "gemma":
            freq = g.weight("inv_freq2", np.concatenate([self.w["inv_freq"]] * 2).reshape(1, 1, s.dim))
            angle = g.op("Mul", g.cast(g.op("Unsqueeze", self.position_ids, [2]), TensorProto.FLOAT), freq)
            turned = g.op("Concat", g.op("Neg", g.op("Slice", x, [half], [END], [3])), g.op("Slice", x, [0], [half], [3]), axis=-1)
            return g.op("GemmaRotaryEmbedding", angle, x, turned, x, turned, domain=MS, outputs=2)[0]
        if self.f.rope == "sections_split":
            parts = [[g.op("Slice", g.op("Gather", t, g.op("Gather", self.position_ids, i, axis=0)), [a], [b], [2])
                      for i, (a, b) in enumerate(((0, 2), (2, 5), (5, 8)))] for t in tables]
            cos, sin = (g.op("Concat", *p, axis=-1) for p in parts)
        elif self.f.rope == "compute":
            freq = g.weight("inv_freq", self.w["inv_freq"].reshape(1, half, 1))
            angle = g.op("Transpose", g.op("MatMul", freq, g.cast(g.op("Unsqueeze", self.position_ids, [1]), TensorProto.FLOAT)), perm=[0, 2, 1])
            cos, sin = g.op("Cos", angle), g.op("Sin", angle)
        else:
            cos, sin = (g.op("Gather", t, self.position_ids) for t in tables)
        cos, sin = g.op("Unsqueeze", cos, [1]), g.op("Unsqueeze", sin, [1])
        if s.interleaved:
            lo, hi = g.op("Slice", x, [0], [END], [3], [2]), g.op("Slice", x, [1], [END], [3], [2])
        else:
            lo, hi = g.op("Slice", x, [0], [half], [3]), g.op("Slice", x, [half], [END], [3])
        a = g.op("Sub", g.op("Mul", lo, cos), g.op("Mul", hi, sin))
        b = g.op("Add", g.op("Mul", hi, cos), g.op("Mul", lo, sin))
        if not s.interleaved:
            return g.op("Concat", a, b, axis=-1)
        pairs = g.op("Concat", g.op("Unsqueeze", a, [-1]), g.op("Unsqueeze", b, [-1]), axis=-1)
        return g.op("Reshape", pairs, [0, 0, 0, s.dim])

    def visible(self):
        """bool [seq, keys]."""
        g, s = self.g, self.s
        query, key = g.op("Unsqueeze", self.at, [1]), g.range(0, self.keys)
        if self.f.mask == "trilu":
            ones = g.op("Expand", np.float32(1), g.op("Concat", *(g.op("Unsqueeze", d, [0]) for d in (self.seq, self.keys)), axis=0))
            seen = g.cast(g.op("Trilu", ones, self.past, upper=0), TensorProto.BOOL)
        else:
            seen = g.op("LessOrEqual", key, query)
        if s.window:
            seen = g.op("And", seen, g.op("Greater", key, g.op("Sub", query, s.window)))
        if s.chunk:
            seen = g.op("And", seen, g.op("Equal", g.op("Div", key, s.chunk), g.op("Div", query, s.chunk)))
        return seen

    def masks(self):
        """What is added to the scores, [.., seq, keys], or for "where" the bools."""
        g, kind = self.g, self.f.mask
        if kind == "input4d":
            return "attention_mask"
        if kind == "buffer":  # rows of a mask that the file holds
            rows = g.op("Gather", g.weight("mask", visible(self.s, POSITIONS)), self.at)
            return g.op("Where", g.op("Slice", rows, [0], g.op("Unsqueeze", self.total, [0]), [1]), np.float32(0), LOW)
        seen = self.visible()
        if kind == "padding":
            real = g.op("Unsqueeze", g.cast("attention_mask", TensorProto.BOOL), [1, 2])
            seen = g.op("And", seen, real)
        if kind == "gather_nd":
            flat = g.op("Reshape", self.g.range(0, self.keys), [-1, 1])
            real = g.op("GatherND", g.op("Squeeze", g.cast("attention_mask", TensorProto.BOOL), [0]), flat)
            seen = g.op("And", seen, real)
        if kind == "where":
            return seen
        return g.op("Where", seen, np.float32(0), LOW)

    def scatter(self, past, new):
        """Rows of [1, kv, seq, dim] into the buffer at the positions."""
        g = self.g
        front = g.op("Transpose", past, perm=[2, 0, 1, 3])
        rows = g.op("Transpose", new, perm=[2, 0, 1, 3])
        return g.op("Transpose", g.op("ScatterND", front, g.op("Unsqueeze", self.at, [1]), rows), perm=[1, 2, 0, 3])

    def update(self, n, k, v):
        """k, v [batch, kv, seq, dim] with the past before them, and presents."""
        g, c, s = self.g, self.f.cache, self.s
        if c == "none":
            return k, v
        if c == "stacked":
            pk, pv = (g.op("Gather", self.pasts[n], i, axis=0) for i in range(2))
            k, v = g.op("Concat", pk, k, axis=2), g.op("Concat", pv, v, axis=2)
            self.presents.append(g.op("Concat", g.op("Unsqueeze", k, [0]), g.op("Unsqueeze", v, [0]), axis=0))
            return k, v
        if c == "fused":
            rows = [g.op("Reshape", g.op("Transpose", x, perm=[0, 2, 1, 3]), [0, 0, s.kv * s.dim]) for x in (k, v)]
            both = g.op("Concat", self.pasts[n], g.op("Concat", *rows, axis=-1), axis=1)
            self.presents.append(both)
            return [g.op("Transpose", g.op("Reshape", x, [0, 0, s.kv, s.dim]), perm=[0, 2, 1, 3]) for x in g.op("Split", both, outputs=2, axis=-1, num_outputs=2)]
        pk, pv = self.pasts[2 * n:2 * n + 2]
        if c == "keys_transposed":
            k = g.op("Concat", pk, g.op("Transpose", k, perm=[0, 1, 3, 2]), axis=3)
        elif c == "batch_heads":
            k = g.op("Concat", pk, g.op("Reshape", g.op("Transpose", k, perm=[0, 1, 3, 2]), g.op("Concat", [-1, s.dim], g.op("Unsqueeze", self.seq, [0]), axis=0)), axis=2)
            v = g.op("Reshape", v, g.op("Concat", [-1], g.op("Unsqueeze", self.seq, [0]), [s.dim], axis=0))
            v = g.op("Concat", pv, v, axis=1)
        elif c == "scatter":
            k, v = self.scatter(pk, k), self.scatter(pv, v)
        elif c == "tensor_scatter":
            k, v = (g.op("TensorScatter", p, x, "write_indices") for p, x in ((pk, k), (pv, v)))
        else:
            k = g.op("Concat", pk, k, axis=2)
        if c not in ("batch_heads", "scatter", "tensor_scatter"):
            v = g.op("Concat", pv, v, axis=2)
        self.presents += [k, v]
        if c == "keys_transposed":
            return g.op("Transpose", k, perm=[0, 1, 3, 2]), v
        if c == "batch_heads":
            total = g.op("Unsqueeze", self.total, [0])
            k = g.op("Transpose", g.op("Reshape", k, g.op("Concat", [-1, s.kv, s.dim], total, axis=0)), perm=[0, 1, 3, 2])
            return k, g.op("Reshape", v, g.op("Concat", [-1, s.kv], total, [s.dim], axis=0))
        return k, v

    def repeated(self, x):
        """[batch, kv, keys, dim] for each query head, or ready to broadcast."""
        g, s, kind = self.g, self.s, self.f.repeat
        group = s.heads // s.kv
        if group == 1 or kind == "broadcast" or kind == "grouped_q":
            return x
        if kind == "gather":
            return g.op("Gather", x, [h // group for h in range(s.heads)], axis=1)
        wide = g.op("Unsqueeze", x, [2])
        if kind == "concat":
            wide = g.op("Concat", *[wide] * group, axis=2)
        else:
            wide = g.op("Expand", wide, [1, 1, group, 1, 1])
        keys = g.op("Unsqueeze", self.keys, [0])
        return g.op("Reshape", wide, g.op("Concat", [-1, s.heads], keys, [s.dim], axis=0))

    def softmax(self, scores, n):
        g, s = self.g, self.s
        if not s.sinks:
            return g.op("Softmax", scores, axis=-1)
        rows = g.op("Concat", g.op("Slice", g.op("Shape", scores), [0], [3], [0]), [1], axis=0)
        column = g.op("Expand", g.op("Reshape", g.weight(f"{n}.sinks", self.w[f"{n}.sinks"]), [1, -1, 1, 1]), rows)
        wide = g.op("Concat", scores, column, axis=-1)
        wide = g.op("Sub", wide, g.op("ReduceMax", wide, [-1], keepdims=1))
        return g.op("Slice", g.op("Softmax", wide, axis=-1), [0], [-1], [3])

    def warmed(self, x):
        g, s = self.g, self.s
        if self.f.warmth == "table":
            t = g.op("Gather", g.weight("warmth", warmth(s, POSITIONS).astype(np.float32)), self.position_ids)
            return g.op("Mul", x, g.op("Unsqueeze", t, [1, 3]))
        at = g.op("Add", g.cast(g.op("Unsqueeze", self.position_ids, [1, 3]), TensorProto.FLOAT), np.float32(1))
        steps = g.op("Add", g.op("Floor", g.op("Div", at, np.float32(s.warm))), np.float32(1))
        return g.op("Mul", x, g.op("Add", g.op("Mul", g.op("Log", steps), np.float32(0.5)), np.float32(1)))

    def primitives(self, q, k, v, n):
        """[batch, heads, seq, dim]."""
        g, s, f = self.g, self.s, self.f
        q = self.warmed(q) if s.warm and f.warmth != "scores" else q
        k, v = self.repeated(k), self.repeated(v)
        group = s.heads // s.kv
        seq = g.op("Unsqueeze", self.seq, [0])
        if f.repeat == "broadcast" and group > 1:
            q = g.op("Reshape", q, g.op("Concat", [-1, s.kv, group], seq, [s.dim], axis=0))
            k, v = g.op("Unsqueeze", k, [2]), g.op("Unsqueeze", v, [2])
        if f.repeat == "grouped_q" and group > 1:  # one matrix of group * seq rows per KV head
            q = g.op("Reshape", q, [0, s.kv, -1, s.dim])
        k = g.op("Transpose", k, perm=[0, 1, 2, 4, 3] if f.repeat == "broadcast" and group > 1 else [0, 1, 3, 2])
        root = np.float32(np.sqrt(s.scale))
        if f.scaling == "fused":
            scores = g.op("FusedMatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]), domain=MS, alpha=s.scale, transB=1)
        elif f.scaling == "both":
            scores = g.op("MatMul", g.op("Mul", q, root), g.op("Mul", k, root))
        elif f.scaling == "keys":
            scores = g.op("MatMul", q, g.op("Mul", k, np.float32(s.scale)))
        elif f.scaling == "div":
            scores = g.op("Div", g.op("MatMul", q, k), np.float32(1 / s.scale))
        else:
            scores = g.op("Mul", g.op("MatMul", q, k), np.float32(s.scale))
        if s.warm and f.warmth == "scores":
            scores = self.warmed(scores)
        flat = f.repeat in ("broadcast", "grouped_q") and group > 1
        if flat:
            scores = g.op("Reshape", scores, g.op("Concat", [-1, s.heads], seq, g.op("Unsqueeze", self.keys, [0]), axis=0))
        if s.softcap:
            scores = g.op("Mul", g.op("Tanh", g.op("Div", scores, np.float32(s.softcap))), np.float32(s.softcap))
        if s.alibi:
            slopes = g.weight("slopes", self.w["slopes"].reshape(1, -1, 1, 1))
            scores = g.op("Add", scores, g.op("Mul", slopes, g.cast(g.range(0, self.keys), TensorProto.FLOAT)))
        scores = g.op("Where", self.mask, scores, LOW) if f.mask == "where" else g.op("Add", scores, self.mask)
        p = self.softmax(scores, n)
        if flat:
            middle = [-1, s.kv, group] if f.repeat == "broadcast" else [-1, s.kv]
            rows = seq if f.repeat == "broadcast" else g.op("Mul", seq, group)
            p = g.op("Reshape", p, g.op("Concat", middle, rows, g.op("Unsqueeze", self.keys, [0]), axis=0))
            return g.op("Reshape", g.op("MatMul", p, v), g.op("Concat", [-1, s.heads], seq, [s.dim], axis=0))
        return g.op("MatMul", p, v)

    # Fused ops ------------------------------------------------------------

    def rows(self, x, heads):
        """[batch, heads, seq, dim] -> [batch, seq, heads * dim]."""
        return self.g.op("Reshape", self.g.op("Transpose", x, perm=[0, 2, 1, 3]), [0, 0, heads * self.s.dim])

    def standard(self, q, k, v, n):
        """ai.onnx Attention; rows in, rows out with 3-D inputs."""
        g, s, f = self.g, self.s, self.f
        flat = f.op == "attention24"
        attrs = {"scale": s.scale, "softcap": s.softcap}
        if flat:
            q, k, v = self.rows(q, s.heads), self.rows(k, s.kv), self.rows(v, s.kv)
            attrs |= {"q_num_heads": s.heads, "kv_num_heads": s.kv}
        mask, past = "", ["", ""]
        extra = []
        if f.mask == "causal_op":
            attrs["is_causal"] = 1
            if s.window:
                attrs["left_window_size"] = s.window - 1
        else:
            mask = self.mask
        if f.cache == "tensor_scatter":
            extra = ["nonpad_kv_seqlen"]
            k, v = (g.op("TensorScatter", p, x, "write_indices") for p, x in zip(self.pasts[2 * n:2 * n + 2], (k, v)))
            self.presents += [k, v]
        elif f.cache == "pairs":
            past = self.pasts[2 * n:2 * n + 2]
        y, pk, pv = g.op("Attention", q, k, v, mask, *past, *extra, outputs=3, **attrs)
        if f.cache == "pairs":
            self.presents += [pk, pv]
        return g.op("Transpose", g.op("Reshape", y, [0, 0, s.heads, s.dim]), perm=[0, 2, 1, 3]) if flat else y

    def tables(self):  # of a rotation inside the op
        return [self.g.weight(t, self.w[t]) for t in ("cos", "sin")]

    def group_query(self, h, n):
        g, s, f = self.g, self.s, self.f
        if f.op == "gqa_packed":
            value = np.concatenate([self.w[f"{n}.{p}"] for p in "qkv"], 1)
            qkv = [self.matmul(h, f"{n}.qkv", value), "", ""]
        else:
            qkv = [self.matmul(h, f"{n}.{p}") for p in "qkv"]
        inside = f.rope == "inside"
        tables = self.tables() if inside else ["", ""]
        scales = [g.weight(f"{n}.scale", np.full(1, CACHE_STEP, np.float32))] * 2 if f.cache == "int8" else []
        sink = [g.weight(f"{n}.sinks", self.w[f"{n}.sinks"])] if s.sinks else [""]
        tail = ["", "", *sink, *scales] if s.sinks or scales else []
        if s.qk_norm:
            tail += [""] * (7 - len(tail) - 2) + [g.weight(f"{n}.{p}norm", self.w[f"{n}.{p}norm"]) for p in "qk"]
        attrs = {"num_heads": s.heads, "kv_num_heads": s.kv, "scale": s.scale, "softcap": s.softcap, "do_rotary": int(inside), "rotary_interleaved": int(s.interleaved)}
        attrs |= ({"local_window_size": s.window} if s.window else {}) | ({"qk_norm_epsilon": 1e-5} if s.qk_norm else {})
        if scales:
            attrs |= {"k_quant_type": "PER_TENSOR", "v_quant_type": "PER_TENSOR", "kv_cache_bit_width": 8}
        last = g.cast(g.op("Sub", g.op("ReduceSum", "attention_mask", [1], keepdims=0), 1), TensorProto.INT32)
        total = g.cast(g.dim("attention_mask", 1), TensorProto.INT32)
        y, pk, pv = g.op("GroupQueryAttention", *qkv, *self.pasts[2 * n:2 * n + 2], last, total, *tables, *tail, outputs=3, domain=MS, **attrs)
        self.presents += [pk, pv]
        return y

    def sparse(self, h, n):
        """SparseAttention whose lists name all blocks up to the diagonal."""
        g, s, block = self.g, self.s, 16
        blocks = POSITIONS // block
        rows = np.cumsum([0, *range(1, blocks + 1)]).astype(np.int32)
        columns = np.concatenate([np.arange(r + 1) for r in range(blocks)]).astype(np.int32)
        lists = [g.weight("block_rows", np.stack([rows] * 2)), g.weight("block_columns", np.stack([columns] * 2))]
        lengths = g.cast(g.op("ReduceSum", "attention_mask", [1], keepdims=0), TensorProto.INT32)
        total = g.cast(g.dim("attention_mask", 1), TensorProto.INT32)
        tables = [g.weight(t, self.w[t]) for t in ("cos", "sin")]
        y, pk, pv = g.op("SparseAttention", *(self.matmul(h, f"{n}.{p}") for p in "qkv"), *self.pasts[2 * n:2 * n + 2], *lists, total, lengths, *tables, outputs=3,
                         domain=MS, num_heads=s.heads, kv_num_heads=s.kv, scale=s.scale, sparse_block_size=block, do_rotary=1)
        self.presents += [pk, pv]
        return y

    def multi_head(self, q, k, v, n):
        """Heads of q and k are rotated already; rows out."""
        g, s, f = self.g, self.s, self.f
        attrs = {"num_heads": s.heads, "scale": s.scale, "unidirectional": int(f.mask == "causal_op")}
        rows = [self.rows(x, s.heads) for x in (q, k, v)]
        if f.op == "mha_packed":
            parts = [g.op("Reshape", x, [0, 0, s.heads, 1, s.dim]) for x in rows]
            rows = [g.op("Concat", *parts, axis=3), "", ""]
        if f.op == "mha_kv":
            parts = [g.op("Reshape", x, [0, 0, s.heads, 1, s.dim]) for x in rows[1:]]
            rows = [rows[0], g.op("Concat", *parts, axis=3), ""]
        bias = "" if f.mask == "causal_op" else g.op("Unsqueeze", self.mask, [0, 1]) if f.mask in ("compare", "trilu") else self.mask
        y, pk, pv = g.op("MultiHeadAttention", *rows, "", "", bias, *self.pasts[2 * n:2 * n + 2], outputs=3, domain=MS, **attrs)
        self.presents += [pk, pv]
        return y

    def ms_attention(self, h, n):
        g, s = self.g, self.s
        value = np.concatenate([self.w[f"{n}.{p}"] for p in "qkv"], 1)
        zero = g.weight("zero", np.zeros(value.shape[1], np.float32))
        y, present = g.op("Attention", h, g.weight(f"{n}.qkv", value), zero, "attention_mask", self.pasts[n], outputs=2, domain=MS, num_heads=s.heads, unidirectional=1,
                          scale=s.scale)
        self.presents.append(present)
        return y

    # The whole ------------------------------------------------------------

    def layer(self, x, n):
        g, s, f = self.g, self.s, self.f
        h = self.norm(x, f"{n}.norm1")
        if f.op.startswith("gqa"):
            y = self.group_query(h, n)
        elif f.op == "sparse":
            y = self.sparse(h, n)
        elif f.op == "ms_attention":
            y = self.ms_attention(h, n)
        else:
            q, k, v = self.project(h, n)
            if s.qk_norm:
                q, k = self.norm(q, f"{n}.qnorm"), self.norm(k, f"{n}.knorm")
            q, k, v = (g.op("Transpose", t, perm=[0, 2, 1, 3]) for t in (q, k, v))
            if not s.alibi:
                q, k = self.rotate(q), self.rotate(k)
            if f.op.startswith("mha"):
                y = self.multi_head(q, k, v, n)
            else:
                if f.op.startswith("attention"):
                    y = self.standard(q, k, v, n)
                else:
                    y = self.primitives(q, *self.update(n, k, v), n)
                y = self.rows(y, s.heads)
        x = g.op("Add", x, self.matmul(y, f"{n}.o"))
        h = self.norm(x, f"{n}.norm2")
        gate = self.matmul(h, f"{n}.gate")
        return g.op("Add", x, self.matmul(g.op("Mul", g.op("Mul", gate, g.op("Sigmoid", gate)), self.matmul(h, f"{n}.up")), f"{n}.down"))

    def build(self):
        f, g = self.f, self.g
        batch, seq = f.dims
        self.input("input_ids", f.ids, [batch, seq])
        fused = f.op.startswith("gqa") or f.op in ("ms_attention", "sparse")
        if f.mask in ("padding", "gather_nd") or fused:
            self.input("attention_mask", TensorProto.INT32 if f.op == "ms_attention" else f.ids, [batch, "total"])
        if f.mask == "input4d":
            self.input("attention_mask", TensorProto.FLOAT, [batch, 1, seq, "total"])
        if f.positions:
            self.input("position_ids", f.ids, [*([3] if f.rope.startswith("sections") else []), batch, seq])
        if f.cache == "scatter":
            self.input("cache_position", TensorProto.INT64, [seq])
        if f.cache == "tensor_scatter":
            self.input("write_indices", TensorProto.INT64, [batch])
            self.input("nonpad_kv_seqlen", TensorProto.INT64, [batch])
        self.caches()
        if not fused:
            self.lengths()
        self.position_ids = "position_ids" if f.positions else None if fused else g.op("Unsqueeze", self.at, [0])
        if not fused and f.mask != "causal_op":
            self.mask = self.masks()
        x = g.op("Gather", g.weight("embed", self.w["embed"]), "input_ids", axis=0)
        for n in range(LAYERS):
            x = self.layer(x, n)
        self.matmul(self.norm(x, "norm"), "head")
        g.nodes[-1].output[0] = "logits"
        outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [batch, seq, VOCAB])]
        kind = TensorProto.INT8 if f.cache == "int8" else TensorProto.FLOAT
        outputs += [helper.make_tensor_value_info(p, kind, None) for p in self.presents]
        graph = helper.make_graph(g.nodes, "decoder", self.inputs, outputs, list(g.initializers.values()))
        opset = 25 if f.op == "attention23" and f.shape.window else 24 if f.op in ("attention23", "attention24") or f.cache == "tensor_scatter" else 23 if f.rope == "op" else 18
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid(MS, 1)], ir_version=10)


def model(form):
    return Decoder(form).build()


GQA, MHA, MQA = Shape(), Shape(kv=4), Shape(kv=1)
FORMS = [
    Form("plain"),
    Form("no-cache", cache="none"),
    Form("no-cache-no-positions", cache="none", positions=False, mask="trilu"),
    Form("ids32", ids=TensorProto.INT32, mask="padding"),
    Form("crossed-names", crossed=True),
    Form("no-positions", positions=False, rope="compute"),
    Form("gather-nd", mask="gather_nd"),
    Form("where", mask="where", scaling="div"),
    Form("input-mask", mask="input4d"),
    Form("scale-both", scaling="both", repeat="gather"),
    Form("scale-keys", scaling="keys", repeat="concat"),
    Form("broadcast", repeat="broadcast"),
    Form("grouped-q", repeat="grouped_q"),
    Form("keys-transposed", cache="keys_transposed"),
    Form("batch-heads", cache="batch_heads"),
    Form("stacked", cache="stacked"),
    Form("fused-cache", cache="fused"),
    Form("scatter", cache="scatter"),
    Form("tensor-scatter", cache="tensor_scatter"),
    Form("split", qkv="split"),
    Form("grouped", qkv="grouped"),
    Form("per-head", shape=MHA, qkv="per_head"),
    Form("multi-query", shape=MQA, repeat="broadcast", qkv="split"),
    Form("multi-query-grouped-q", shape=MQA, repeat="grouped_q", qkv="grouped"),
    Form("rope-op", rope="op"),
    Form("rope-ms", rope="ms"),
    Form("rope-gemma", rope="gemma"),
    Form("rope-sections", rope="sections"),
    Form("rope-sections-mixed", rope="sections_mixed"),
    Form("rope-sections-split", rope="sections_split"),
    Form("scale-fused", scaling="fused"),
    Form("sparse", op="sparse", rope="inside", positions=False, cache="shared_buffer"),
    Form("interleaved", shape=Shape(interleaved=True)),
    Form("interleaved-op", shape=Shape(interleaved=True), rope="op"),
    Form("window", shape=Shape(window=5)),
    Form("window-long", shape=Shape(window=40), mask="padding"),
    Form("chunk", shape=Shape(chunk=6)),
    Form("window-buffer", shape=Shape(window=12), mask="buffer"),
    Form("warm", shape=Shape(warm=10)),
    Form("warm-table", shape=Shape(warm=10), warmth="table", positions=False),
    Form("warm-scores", shape=Shape(warm=10), warmth="scores"),
    Form("warm-no-cache", shape=Shape(warm=10), cache="none", rope="compute"),
    Form("alibi", shape=Shape(kv=4, alibi=True)),
    Form("alibi-batch-heads", shape=Shape(kv=4, alibi=True), cache="batch_heads", qkv="per_head"),
    Form("sinks", shape=Shape(sinks=True)),
    Form("softcap", shape=Shape(softcap=2.0)),
    Form("qk-norm", shape=Shape(qk_norm=True)),
    Form("attention23", op="attention23", mask="causal_op"),
    Form("attention23-mask", op="attention23", mask="compare"),
    Form("attention23-bool", op="attention23", mask="where", cache="none"),
    Form("attention24-rows", op="attention24", mask="causal_op"),
    Form("attention24-static", op="attention23", mask="causal_op", cache="tensor_scatter", rope="op"),
    Form("attention25-window", shape=Shape(window=5), op="attention23", mask="causal_op"),
    Form("attention23-softcap", shape=Shape(softcap=2.0), op="attention23", mask="causal_op"),
    Form("gqa", op="gqa", rope="inside", positions=False),
    Form("gqa-packed", op="gqa_packed", rope="inside", positions=False),
    Form("gqa-interleaved", shape=Shape(interleaved=True), op="gqa_packed", rope="inside", positions=False),
    Form("gqa-window", shape=Shape(window=5), op="gqa_packed", rope="inside", positions=False),
    Form("gqa-sinks", shape=Shape(sinks=True), op="gqa", rope="inside", positions=False),
    Form("gqa-softcap", shape=Shape(softcap=2.0), op="gqa", rope="inside", positions=False),
    Form("gqa-qk-norm", shape=Shape(qk_norm=True), op="gqa", rope="inside", positions=False),
    Form("gqa-shared-buffer", op="gqa", rope="inside", positions=False, cache="shared_buffer"),
    Form("gqa-int8-cache", op="gqa_packed", rope="inside", positions=False, cache="int8"),
    Form("mha", shape=MHA, op="mha", mask="causal_op"),
    Form("mha-bias", shape=MHA, op="mha", mask="compare"),
    Form("mha-packed", shape=MHA, op="mha_packed", mask="causal_op"),
    Form("mha-packed-kv", shape=MHA, op="mha_kv", mask="causal_op"),
]
