"""Odd but legal ways to write parts of test/tools/decoders.py: masks, rotations, attention bodies, caches, and what depends on positions far from the start.

A spelling overrides a method of decoders.Decoder. SPELLINGS must be raised and give the graph's own logits; REFUSED must end in an error with that text, never in other logits.
Used by test/e2e/test_spellings.py. Long because every spelling of every part stands side by side.
"""
import dataclasses

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import decoders
from decoders import END, LAYERS, LOW, POSITIONS, Decoder, Form, Shape

F, I = TensorProto.FLOAT, TensorProto.INT64
HALF = Shape.dim // 2


def front(g, v, axes=(0,)):
    return g.op("Unsqueeze", v, list(axes))


def added(g, seen, low=LOW):
    return g.op("Where", seen, np.float32(0), np.float32(low))


def places(d):
    """Positions of queries [seq, 1] and of keys [keys]."""
    return front(d.g, d.at, [1]), d.g.range(0, d.keys)


# Masks -------------------------------------------------------------------------


def mask_cumsum(d):
    g = d.g
    keys = g.op("Sub", g.op("CumSum", g.op("Expand", np.float32(1), front(g, d.keys)), 0), np.float32(1))
    seen = g.op("GreaterOrEqual", g.cast(front(g, d.at, [1]), F), keys)
    return g.op("Mul", g.op("Sub", np.float32(1), g.cast(seen, F)), LOW)


def mask_triangle_of_all(d):
    g = d.g
    low = helper.make_tensor("low", F, [1], [-65504.0])
    full = g.op("ConstantOfShape", g.op("Concat", front(g, d.keys), front(g, d.keys), axis=0), value=low)
    return g.op("Slice", g.op("Trilu", full, 1, upper=1), front(g, d.past), front(g, d.keys), [0])


def mask_two_triangles(d):
    g = d.g
    ones = g.op("Expand", np.float32(1), g.op("Concat", front(g, d.seq), front(g, d.keys), axis=0))
    seen = g.op("Sub", g.op("Trilu", ones, d.past, upper=0), g.op("Trilu", ones, g.op("Sub", d.past, d.s.window), upper=0))
    return g.op("Mul", g.op("Sub", np.float32(1), seen), np.float32(-1e9))


def mask_xor(d):
    g, (q, k) = d.g, places(d)
    return added(g, g.op("Xor", g.op("LessOrEqual", k, q), g.op("LessOrEqual", k, g.op("Sub", q, d.s.window))))


def mask_window_from_floats(d):
    g, (q, k) = d.g, places(d)
    window = g.cast(g.op("Mul", np.float32(d.s.window / 2), np.float32(2)), I)
    return added(g, g.op("And", g.op("LessOrEqual", k, q), g.op("Greater", k, g.op("Sub", q, window))))


def mask_chunk_of_floats(d):
    g, (q, k) = d.g, places(d)
    q2, k2 = (g.op("Floor", g.op("Div", g.cast(v, F), np.float32(d.s.chunk))) for v in (q, k))
    return added(g, g.op("And", g.op("LessOrEqual", k, q), g.op("Equal", q2, k2)))


def mask_chunk_of_remainders(d):
    g, (q, k) = d.g, places(d)
    return added(g, g.op("And", g.op("LessOrEqual", k, q), g.op("GreaterOrEqual", k, g.op("Sub", q, g.op("Mod", q, d.s.chunk)))))


def mask_table(d):
    """A table of floats with the window in it."""
    g = d.g
    rows = g.op("Gather", g.weight("mask", np.where(decoders.visible(d.s, POSITIONS), 0, -1e9).astype(np.float32)), d.at)
    return g.op("Slice", rows, [0], front(g, d.total), [1])


def mask_prefix(d):
    g, (q, k) = d.g, places(d)
    return added(g, g.op("Or", g.op("LessOrEqual", k, q), g.op("And", g.op("Less", k, 20), g.op("Less", q, 20))))


def mask_first_and_near(d):
    g, (q, k) = d.g, places(d)
    near = g.op("Or", g.op("Less", k, 4), g.op("Greater", k, g.op("Sub", q, 10)))
    return added(g, g.op("And", g.op("LessOrEqual", k, q), near))


def mask_every_second(d):
    g, (q, k) = d.g, places(d)
    far = g.op("Sub", q, k)
    some = g.op("Or", g.op("Less", far, 16), g.op("Equal", g.op("Mod", far, 2), 0))
    return added(g, g.op("And", g.op("LessOrEqual", k, q), some))


def mask_blocks(d):
    g, (q, k) = d.g, places(d)
    return added(g, g.op("LessOrEqual", g.op("Div", k, 8), g.op("Div", q, 8)))


def mask_bent_bias(d):
    g, (q, k) = d.g, places(d)
    far = g.cast(g.op("Sub", q, k), F)
    return g.op("Add", g.op("Neg", g.op("Relu", g.op("Sub", far, np.float32(20)))), added(g, g.op("LessOrEqual", k, q)))


def mask_of_types(d):
    """Tokens of type 1 see each other."""
    g = d.g
    d.input("token_type_ids", I, ["batch", "seq"])
    one = g.op("Equal", "token_type_ids", 1)
    both = g.op("And", front(g, one, [1]), front(g, one, [2]))
    return front(g, added(g, g.op("Or", d.visible(), both)), [1])


# Rotations ----------------------------------------------------------------------


def turned(d, x, cos, sin):
    g = d.g
    lo, hi = g.op("Slice", x, [0], [HALF], [3]), g.op("Slice", x, [HALF], [END], [3])
    a = g.op("Sub", g.op("Mul", lo, cos), g.op("Mul", hi, sin))
    return g.op("Concat", a, g.op("Add", g.op("Mul", hi, cos), g.op("Mul", lo, sin)), axis=-1)


def by_angles(d, x, at):
    g = d.g
    angle = g.op("Mul", g.cast(front(g, at, [2]), F), g.weight("inv_freq", d.w["inv_freq"].reshape(1, 1, HALF)))
    return turned(d, x, front(g, g.op("Cos", angle), [1]), front(g, g.op("Sin", angle), [1]))


def tables(d):
    return [front(d.g, d.g.op("Gather", d.g.weight(t, d.w[t]), d.position_ids), [1]) for t in ("cos", "sin")]


def rope_by_matrix(d, x):
    g, (c, s) = d.g, tables(d)
    turn = np.zeros((2 * HALF, 2 * HALF), np.float32)
    turn[range(HALF, 2 * HALF), range(HALF)], turn[range(HALF), range(HALF, 2 * HALF)] = -1, 1
    wide = [g.op("Concat", t, t, axis=-1) for t in (c, s)]
    return g.op("Add", g.op("Mul", x, wide[0]), g.op("Mul", g.op("MatMul", x, g.weight("turn", turn)), wide[1]))


def rope_of_last_half(d, x):
    g, (c, s) = d.g, tables(d)
    c, s = (g.op("Slice", t, [0], [4], [3]) for t in (c, s))
    keep, lo, hi = g.op("Split", x, [8, 4, 4], outputs=3, axis=-1)
    a = g.op("Sub", g.op("Mul", lo, c), g.op("Mul", hi, s))
    return g.op("Concat", keep, a, g.op("Add", g.op("Mul", hi, c), g.op("Mul", lo, s)), axis=-1)


def rope_grouped(d, x):
    return by_angles(d, x, d.g.op("Div", d.position_ids, 3))


def rope_clipped(d, x):
    return by_angles(d, x, d.g.op("Min", d.position_ids, 20))


def rope_offset(d, x):
    return by_angles(d, x, d.g.op("Add", d.position_ids, 5))


def shifted_rows(d, x):
    """One table holds the rows for short sequences and, behind them, those for long ones."""
    g = d.g
    far = g.op("GreaterOrEqual", g.op("ReduceMax", d.position_ids, keepdims=0), 16)
    rows = g.op("Add", g.op("Mul", g.cast(far, I), 16), d.position_ids)
    both = [np.concatenate([d.w[t][:16], np.float32(1.25) * d.w[t]]) for t in ("cos", "sin")]
    return turned(d, x, *(front(g, g.op("Gather", g.weight(f"both_{t}", w), rows), [1]) for t, w in zip(("cos", "sin"), both)))


def rope_xpos(d, x):
    g = d.g
    d.count = getattr(d, "count", 0) + 1
    power = g.op("Div", g.cast(front(g, d.position_ids, [1, 3]), F), np.float32(64 if d.count % 2 else -64))
    zeta = g.weight("zeta", np.tile(np.linspace(0.4, 0.9, HALF), 2).astype(np.float32))
    return g.op("Mul", by_angles(d, x, d.position_ids), g.op("Pow", zeta, power))


def rope_dynamic(d, x):
    """Dynamic NTK: frequencies by the length of the sequence."""
    g = d.g
    length = g.op("Max", g.op("Add", g.cast(g.op("ReduceMax", d.position_ids, keepdims=0), F), np.float32(1)), np.float32(16))
    grown = g.op("Sub", g.op("Div", g.op("Mul", length, np.float32(2)), np.float32(16)), np.float32(1))
    base = g.op("Mul", np.float32(1000), g.op("Pow", grown, np.float32(16 / 14)))
    freq = g.op("Reciprocal", g.op("Pow", base, g.weight("powers", (np.arange(0, 16, 2) / 16).astype(np.float32))))
    angle = g.op("Mul", g.cast(front(g, d.position_ids, [2]), F), freq)
    return turned(d, x, front(g, g.op("Cos", angle), [1]), front(g, g.op("Sin", angle), [1]))


# Softmax and products -----------------------------------------------------------


def softmax_by_hand(d, scores, n):
    g = d.g
    e = g.op("Exp", g.op("Sub", scores, g.op("ReduceMax", scores, [-1], keepdims=1)))
    return g.op("Div", e, g.op("ReduceSum", e, [-1], keepdims=1))


def softmax_of_logarithms(d, scores, n):
    return d.g.op("Exp", d.g.op("LogSoftmax", scores, axis=-1))


def softmax_of_columns(d, scores, n):
    g = d.g
    return g.op("Transpose", g.op("Softmax", g.op("Transpose", scores, perm=[0, 1, 3, 2]), axis=2), perm=[0, 1, 3, 2])


def softmax_by_length(d, scores, n):
    g = d.g
    factor = g.op("Max", g.op("Div", g.op("Log", g.cast(d.total, F)), np.float32(np.log(16))), np.float32(1))
    return g.op("Softmax", g.op("Mul", scores, factor), axis=-1)


def scores_of(d, q, k):
    g = d.g
    return g.op("Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), np.float32(d.s.scale))


def mixed(d, scores, v):
    return d.g.op("MatMul", d.g.op("Softmax", d.g.op("Add", scores, d.mask), axis=-1), v)


def body_einsum(d, q, k, v, n):
    g = d.g
    q, k, v = (g.op("Transpose", t, perm=[0, 2, 1, 3]) for t in (q, d.repeated(k), d.repeated(v)))
    scores = g.op("Mul", g.op("Einsum", q, k, equation="bqhd,bkhd->bhqk"), np.float32(d.s.scale))
    out = g.op("Einsum", g.op("Softmax", g.op("Add", scores, d.mask), axis=-1), v, equation="bhqk,bkhd->bqhd")
    return g.op("Transpose", out, perm=[0, 2, 1, 3])


def body_einsum_grouped(d, q, k, v, n):
    g, s = d.g, d.s
    q = g.op("Reshape", q, g.op("Concat", [0, s.kv, s.heads // s.kv], front(g, d.seq), [s.dim], axis=0))
    scores = g.op("Mul", g.op("Einsum", q, k, equation="bkgqd,bktd->bkgqt"), np.float32(s.scale))
    out = g.op("Einsum", g.op("Softmax", g.op("Add", scores, d.mask), axis=-1), v, equation="bkgqt,bktd->bkgqd")
    return g.op("Reshape", out, g.op("Concat", [0, s.heads], front(g, d.seq), [s.dim], axis=0))


def body_keys_first(d, q, k, v, n):
    g = d.g
    k, v = d.repeated(k), d.repeated(v)
    scores = g.op("Transpose", g.op("MatMul", k, g.op("Transpose", q, perm=[0, 1, 3, 2])), perm=[0, 1, 3, 2])
    return mixed(d, g.op("Mul", scores, np.float32(d.s.scale)), v)


def body_values_first(d, q, k, v, n):
    g = d.g
    k, v = d.repeated(k), d.repeated(v)
    p = g.op("Softmax", g.op("Add", scores_of(d, q, k), d.mask), axis=-1)
    turned_out = g.op("MatMul", g.op("Transpose", v, perm=[0, 1, 3, 2]), g.op("Transpose", p, perm=[0, 1, 3, 2]))
    return g.op("Transpose", turned_out, perm=[0, 1, 3, 2])


def body_head_by_head(d, q, k, v, n):
    g = d.g
    k, v = d.repeated(k), d.repeated(v)
    outs = []
    for h in range(d.s.heads):
        a, b, c = (g.op("Gather", t, h, axis=1) for t in (q, k, v))
        scores = g.op("Mul", g.op("MatMul", a, g.op("Transpose", b, perm=[0, 2, 1])), np.float32(d.s.scale))
        outs.append(front(g, g.op("MatMul", g.op("Softmax", g.op("Add", scores, d.mask), axis=-1), c), [1]))
    return g.op("Concat", *outs, axis=1)


def body_head_temperatures(d, q, k, v, n):
    g = d.g
    k, v = d.repeated(k), d.repeated(v)
    tau = g.weight(f"{n}.tau", np.linspace(0.1, 0.4, d.s.heads).astype(np.float32).reshape(1, -1, 1, 1))
    return mixed(d, g.op("Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), tau), v)


def body_clipped(d, q, k, v, n):
    k, v = d.repeated(k), d.repeated(v)
    return mixed(d, d.g.op("Clip", scores_of(d, q, k), np.float32(-30), np.float32(30)), v)


def body_from_below(d, q, k, v, n):
    k, v = d.repeated(k), d.repeated(v)
    return mixed(d, d.g.op("Max", scores_of(d, q, k), np.float32(-2.5)), v)


# Caches and inputs ----------------------------------------------------------------


class PastFirst(Decoder):
    """[past, batch, kv, dim]."""

    def caches(self):
        self.pasts = [self.input(f"past_key_values.{n}.{k}", F, ["past", "batch", self.s.kv, self.s.dim]) for n in range(LAYERS) for k in ("key", "value")]

    def lengths(self):
        g = self.g
        self.seq, self.past = g.dim("input_ids", 1), g.dim(self.pasts[0], 0)
        self.total = self.keys = g.op("Add", self.past, self.seq)
        self.at = g.range(self.past, self.total)

    def update(self, n, k, v):
        g = self.g
        both = [g.op("Concat", p, g.op("Transpose", x, perm=[2, 0, 1, 3]), axis=0) for p, x in zip(self.pasts[2 * n:2 * n + 2], (k, v))]
        self.presents += both
        return [g.op("Transpose", x, perm=[1, 2, 0, 3]) for x in both]


class NewRows(Decoder):
    """Outputs are the new rows alone."""

    def update(self, n, k, v):
        g = self.g
        self.presents += [g.op("Identity", k), g.op("Identity", v)]
        return [g.op("Concat", p, x, axis=2) for p, x in zip(self.pasts[2 * n:2 * n + 2], (k, v))]


class AllLayers(Decoder):
    """One cache [layers, 2, batch, kv, past, dim]."""

    def caches(self):
        self.pasts = [self.input("past_key_values", F, [LAYERS, 2, "batch", self.s.kv, "past", self.s.dim])]
        self.parts = []

    def lengths(self):
        g = self.g
        self.seq, self.past = g.dim("input_ids", 1), g.dim(self.pasts[0], 4)
        self.total = self.keys = g.op("Add", self.past, self.seq)
        self.at = g.range(self.past, self.total)

    def update(self, n, k, v):
        g = self.g
        layer = g.op("Gather", self.pasts[0], n, axis=0)
        k, v = (g.op("Concat", g.op("Gather", layer, i, axis=0), x, axis=2) for i, x in enumerate((k, v)))
        self.parts.append(front(g, g.op("Concat", front(g, k), front(g, v), axis=0)))
        if n == LAYERS - 1:
            self.presents.append(g.op("Concat", *self.parts, axis=0))
        return k, v


class FirstLayer(Decoder):
    """Something is added to the rows of the tokens."""

    def layer(self, x, n):
        return super().layer(self.g.op("Add", x, self.term()) if n == 0 else x, n)


class Sinusoids(FirstLayer):
    def term(self):
        g = self.g
        freq = g.weight("sinusoids", (100.0 ** (-np.arange(16) / 16)).astype(np.float32))
        angle = g.op("Mul", g.cast(front(g, self.position_ids, [2]), F), freq)
        return g.op("Concat", g.op("Sin", angle), g.op("Cos", angle), axis=-1)


class Types(FirstLayer):
    def term(self):
        self.input("token_type_ids", I, ["batch", "seq"])
        rows = np.random.default_rng(5).normal(0, 1, (2, decoders.HIDDEN)).astype(np.float32)
        return self.g.op("Gather", self.g.weight("types", rows), "token_type_ids")


class TypesOfTokens(FirstLayer):
    """GPT-2: types index the table of the tokens."""

    def term(self):
        self.input("token_type_ids", I, ["batch", "seq"])
        return self.g.op("Gather", self.g.weight("embed", self.w["embed"]), "token_type_ids", axis=0)


class TablesByLength(Decoder):
    """An If takes the tables; those of short sequences end where these do."""
    short, low = 16, 16

    def branch(self, name, rows, scale):
        cos, sin = (numpy_helper.from_array((self.w[t][:rows] * np.float32(scale)).astype(np.float32)) for t in ("cos", "sin"))
        nodes = [helper.make_node("Constant", [], [f"{name}_{t}"], value=v) for t, v in (("cos", cos), ("sin", sin))]
        return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(f"{name}_{t}", F, None) for t in ("cos", "sin")])

    def tables(self):
        if not hasattr(self, "chosen"):
            g = self.g
            self.chosen = g.op("If", g.op("Greater", g.dim("attention_mask", 1), self.low), outputs=2,
                               then_branch=self.branch("long", POSITIONS, 1.25), else_branch=self.branch("short", self.short, 1.0))
        return self.chosen


class ShortTablesEnd(TablesByLength):
    """Sequences take a table beyond its last row."""
    short = 12


class SharedCache(Decoder):
    """The last layer has no keys and values: it reads the cache of the first, with the rows of this step."""

    def caches(self):
        super().caches()
        del self.pasts[-2:], self.inputs[-2:]

    def group_query(self, h, n):
        if n < LAYERS - 1:
            return super().group_query(h, n)
        g, s = self.g, self.s
        none = g.op("ConstantOfShape", g.op("Concat", g.op("Shape", h, start=0, end=1), [0, s.kv * s.dim], axis=0), value=helper.make_tensor("zero", F, [1], [0.0]))
        last = g.cast(g.op("Sub", g.op("ReduceSum", "attention_mask", [1], keepdims=0), 1), TensorProto.INT32)
        total = g.cast(g.dim("attention_mask", 1), TensorProto.INT32)
        return g.op("GroupQueryAttention", self.matmul(h, f"{n}.q"), none, none, *self.presents[:2], last, total, *self.tables(), outputs=3, domain=decoders.MS,
                    num_heads=s.heads, kv_num_heads=s.kv, scale=s.scale, local_window_size=s.window or -1, do_rotary=1)[0]


@dataclasses.dataclass(frozen=True)
class Spelling:
    name: str
    base: type = Decoder
    form: Form = Form("plain")
    tokens: int = 24
    refused: str = ""  # part of the error
    overrides: tuple = ()  # (method, function)

    def model(self):
        return type("Spelled", (self.base,), dict(self.overrides))(self.form).build()


def spellings():
    window, chunk = Shape(window=20), Shape(chunk=16)
    kinds = {"masks": "mask_", "rotate": "rope_", "softmax": "softmax_", "primitives": "body_"}
    shapes = {"two_triangles": window, "xor": window, "window_from_floats": window, "table": window, "chunk_of_floats": chunk, "chunk_of_remainders": chunk}
    refused = {"mask_prefix": "not a causal decoder", "mask_first_and_near": "no range that ends at the query", "mask_every_second": "no range that ends at the query",
               "mask_blocks": "not a causal decoder", "mask_bent_bias": "a bias is added to the scores", "rope_dynamic": "frequencies change with every length",
               "softmax_by_length": "the scores are multiplied by", "body_clipped": "not by a tanh", "body_from_below": "the scores are bent"}
    for method, prefix in kinds.items():
        for name, function in list(globals().items()):
            if name.startswith(prefix):
                shape = shapes.get(name.removeprefix("mask_"), Shape())
                one = ("pairs",) if name in refused else ("none",) if name == "mask_of_types" else None
                for cache in one or ("pairs", "none"):
                    yield Spelling(f"{name}-{cache}", form=Form("x", shape=shape, cache=cache), tokens=40, refused=refused.get(name, ""), overrides=((method, function),))
    for base in (PastFirst, NewRows, AllLayers, Sinusoids, Types, TypesOfTokens):
        yield Spelling(base.__name__, base)
    inside = Form("x", op="gqa_packed", rope="inside", positions=False)
    for tokens in (12, 40):
        yield Spelling(f"tables-by-length-{tokens}", TablesByLength, inside, tokens)
        yield Spelling(f"tables-of-shifted-rows-{tokens}", tokens=tokens, overrides=(("rotate", shifted_rows),))
    for window in (0, 6):
        yield Spelling(f"shared-cache-{window}", SharedCache, Form("x", Shape(window=window), op="gqa", rope="inside", positions=False))
    yield Spelling("short-tables-end", ShortTablesEnd, inside, 12, refused="its table has 12 positions, sequences that take it up to 16")


ALL = list(spellings())
