"""Writes small decoders with random weights, each with one thing that some family of models adds. The file itself is the reference: onnx.reference computes its logits.

A decoder takes input_ids only (no cache): embedding, two layers of attention and a feed-forward part, head. What varies is one function of this file.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HIDDEN, LAYERS, HEADS, KV, DIM, FFN, VOCAB, EXPERTS = 32, 2, 4, 2, 8, 48, 96, 6
END = 2**63 - 1


class Graph:
    """Nodes with generated names; constants are Constant nodes, weights initializers."""

    def __init__(self, seed, opset=20):
        self.rng, self.opset = np.random.default_rng(seed), opset
        self.nodes, self.initializers, self.functions = [], [], []

    def op(self, kind, *inputs, outputs=1, domain="", **attrs):
        inputs = [x if isinstance(x, str) else self.const(x) for x in inputs]
        names = [f"{kind}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=f"/{kind}_{len(self.nodes)}", domain=domain, **attrs))
        return names[0] if outputs == 1 else names

    def const(self, value):
        if isinstance(value, float):
            value = np.array(value, np.float32)
        return self.op("Constant", value=numpy_helper.from_array(np.asarray(value)))

    def weight(self, *shape, scale=None, offset=0.0):
        scale = 1 / np.sqrt(shape[-2] if len(shape) > 1 else 1) if scale is None else scale
        data = (offset + self.rng.normal(0, scale, shape)).astype(np.float32)
        name = f"w{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(data, name))
        return name

    def linear(self, x, n, k, bias=False):
        y = self.op("MatMul", x, self.weight(k, n))
        return self.op("Add", y, self.weight(n, scale=0.1)) if bias else y

    def rms(self, x, n=HIDDEN, gain=True, one_plus=False, eps=1e-5):
        mean = self.op("ReduceMean", self.op("Mul", x, x), np.array([-1]))
        y = self.op("Div", x, self.op("Sqrt", self.op("Add", mean, eps)))
        if one_plus:
            return self.op("Mul", y, self.op("Add", self.weight(n, scale=0.1), 1.0))
        return self.op("Mul", y, self.weight(n, scale=0.1, offset=1.0)) if gain else y

    def layer_norm(self, x, one_plus=False):
        d = self.op("Sub", x, self.op("ReduceMean", x, np.array([-1])))
        var = self.op("ReduceMean", self.op("Mul", d, d), np.array([-1]))
        y = self.op("Div", d, self.op("Sqrt", self.op("Add", var, 1e-5)))
        gain = self.weight(HIDDEN, scale=0.1)
        gain = self.op("Add", gain, 1.0)
        return self.op("Add", self.op("Mul", y, gain), self.weight(HIDDEN, scale=0.1))

    def layer_norm_plain(self, x):
        d = self.op("Sub", x, self.op("ReduceMean", x, np.array([-1])))
        return self.op("Div", d, self.op("Sqrt", self.op("Add", self.op("ReduceMean", self.op("Mul", d, d), np.array([-1])), 1e-5)))

    def silu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", x))

    def l2(self, x):
        return self.op("Div", x, self.op("Max", self.op("ReduceL2", x, np.array([-1])), 1e-6))


def heads(g, x, n):
    return g.op("Transpose", g.op("Reshape", x, np.array([0, 0, n, DIM])), perm=[0, 2, 1, 3])


def rope_tables(g, ids, base=10000.0):
    seq = g.op("Squeeze", g.op("Slice", g.op("Shape", ids), np.array([1]), np.array([2])), np.array([0]))
    pos = g.op("Range", np.array(0), seq, np.array(1))
    freq = (base ** (-np.arange(0, DIM, 2) / DIM)).astype(np.float32)
    angles = g.op("MatMul", g.op("Unsqueeze", g.op("Cast", pos, to=TensorProto.FLOAT), np.array([1])), freq[None])
    angles = g.op("Concat", angles, angles, axis=-1)
    return g.op("Cos", angles), g.op("Sin", angles)


def rotate(g, x, cos, sin):
    lo = g.op("Slice", x, np.array([0]), np.array([DIM // 2]), np.array([3]))
    hi = g.op("Slice", x, np.array([DIM // 2]), np.array([END]), np.array([3]))
    turned = g.op("Concat", g.op("Neg", hi), lo, axis=-1)
    return g.op("Add", g.op("Mul", x, cos), g.op("Mul", turned, sin))


def attention(g, x, tables, touch=lambda g, q, k: (q, k), after=lambda g, q, k: (q, k), rows=lambda g, t: t, gated=False, mixed_heads=lambda g, x, t: t):
    """rows: of every projection; touch, after: of the heads of q and k before and after their rotation; gated: by a half of q's projection;
    mixed_heads: of the heads that attention gives, [batch, heads, seq, dim]."""
    gate = None
    if gated:
        both = g.op("Reshape", g.linear(x, HEADS * 2 * DIM, HIDDEN), np.array([0, 0, HEADS, 2 * DIM]))
        q, gate = g.op("Split", both, outputs=2, axis=-1, num_outputs=2)
        q, gate = g.op("Transpose", q, perm=[0, 2, 1, 3]), g.op("Reshape", gate, np.array([0, 0, HEADS * DIM]))
        k, v = (heads(g, rows(g, g.linear(x, KV * DIM, HIDDEN)), KV) for _ in range(2))
    else:
        q, k, v = (heads(g, rows(g, g.linear(x, n * DIM, HIDDEN)), n) for n in (HEADS, KV, KV))
    q, k = touch(g, q, k)
    q, k = after(g, rotate(g, q, *tables), rotate(g, k, *tables))
    shape = g.op("Shape", q)
    seq = g.op("Slice", shape, np.array([2]), np.array([3]))

    def repeat(t):
        t = g.op("Unsqueeze", t, np.array([2]))
        t = g.op("Expand", t, np.array([1, 1, HEADS // KV, 1, 1]))
        return g.op("Reshape", t, g.op("Concat", np.array([0, HEADS]), seq, np.array([DIM]), axis=0), allowzero=0)
    scores = g.op("Mul", g.op("MatMul", q, g.op("Transpose", repeat(k), perm=[0, 1, 3, 2])), DIM ** -0.5)
    ones = g.op("ConstantOfShape", g.op("Concat", seq, seq, axis=0), value=numpy_helper.from_array(np.array([1.0], np.float32)))
    mask = g.op("Trilu", ones, upper=0)
    scores = g.op("Where", g.op("Cast", mask, to=TensorProto.BOOL), scores, -1e9)
    mixed = g.op("MatMul", g.op("Softmax", scores, axis=-1), repeat(v))
    mixed = mixed_heads(g, x, mixed)
    flat = g.op("Reshape", g.op("Transpose", mixed, perm=[0, 2, 1, 3]), np.array([0, 0, HEADS * DIM]))
    if gated:
        flat = g.op("Mul", flat, g.op("Sigmoid", gate))
    return g.linear(flat, HIDDEN, HEADS * DIM)


# --- feed-forward parts ---------------------------------------------------------------------------------------------------

def swiglu(g, x, inner=FFN):
    return g.linear(g.op("Mul", g.silu(g.linear(x, inner, HIDDEN)), g.linear(x, inner, HIDDEN)), HIDDEN, inner)


def plain(act):
    def ffn(g, x):
        return g.linear(act(g, g.linear(x, FFN, HIDDEN, bias=True)), HIDDEN, FFN, bias=True)
    return ffn


def relu2(g, x):
    r = g.op("Relu", x)
    return g.op("Mul", r, r)


def xielu(g, x):
    """xIELU: a quadratic above 0, an integral of the ELU below; two learned numbers."""
    ap, an = (g.op("Log", g.op("Add", g.op("Exp", g.weight(1, scale=0.3)), 1.0)) for _ in range(2))
    an = g.op("Add", an, 0.5)
    pos = g.op("Add", g.op("Mul", g.op("Mul", ap, x), x), g.op("Mul", x, 0.5))
    low = g.op("Sub", g.op("Exp", g.op("Min", x, -1e-6)), 1.0)
    neg = g.op("Add", g.op("Mul", g.op("Sub", low, x), an), g.op("Mul", x, 0.5))
    return g.op("Where", g.op("Greater", x, 0.0), pos, neg)


def clamped_swiglu(g, x):
    """Gate and up alternate in one product; both clamped."""
    both = g.linear(x, 2 * FFN, HIDDEN, bias=True)
    gate = g.op("Slice", both, np.array([0]), np.array([END]), np.array([-1]), np.array([2]))
    up = g.op("Slice", both, np.array([1]), np.array([END]), np.array([-1]), np.array([2]))
    gate, up = g.op("Clip", gate, "", 0.7), g.op("Clip", up, -0.7, 0.7)
    act = g.op("Mul", gate, g.op("Sigmoid", g.op("Mul", gate, 1.702)))
    return g.linear(g.op("Mul", g.op("Add", up, 1.0), act), HIDDEN, FFN)


def normed_gate(g, x):
    """A gate of a row is a softmax over its heads, a norm without weights follows."""
    y = g.op("Reshape", g.linear(x, FFN, HIDDEN), np.array([0, 0, 6, 8]))
    gate = g.op("Softmax", g.op("Reshape", g.linear(x, FFN, HIDDEN), np.array([0, 0, 6, 8])), axis=2)
    y = g.op("Transpose", g.op("Mul", y, gate), perm=[0, 1, 3, 2])
    y = g.op("Reshape", y, np.array([0, 0, FFN]))
    return g.linear(g.rms(y, gain=False), HIDDEN, FFN)


def shared_expert(g, x):
    return g.op("Add", softmax_moe(g, x), g.op("Mul", swiglu(g, x, 24), g.op("Sigmoid", g.linear(x, 1, HIDDEN))))


def experts_sum(g, x, choice, share, count=EXPERTS, inner=24):
    """All experts on all tokens, each with its weight (0 for most)."""
    total = None
    for e in range(count):
        hit = g.op("Cast", g.op("Equal", choice, np.array(e)), to=TensorProto.FLOAT)
        w = g.op("ReduceSum", g.op("Mul", share, hit), np.array([-1]), keepdims=1)
        y = g.op("Mul", swiglu(g, x, inner), w)
        total = y if total is None else g.op("Add", total, y)
    return total


def softmax_moe(g, x, renorm=True):
    share, choice = g.op("TopK", g.op("Softmax", g.linear(x, EXPERTS, HIDDEN), axis=-1), np.array([2]), outputs=2)
    if renorm:
        share = g.op("Div", share, g.op("ReduceSum", share, np.array([-1])))
    return experts_sum(g, x, choice, share)


def topk_softmax_moe(g, x):
    best, choice = g.op("TopK", g.linear(x, EXPERTS, HIDDEN, bias=True), np.array([3]), outputs=2)
    return experts_sum(g, x, choice, g.op("Softmax", best, axis=-1))


def grouped_sigmoid_moe(g, x):
    """Sigmoid scores with a correction for the choice only; the best 2 of 3 groups, then the best 2 experts of those."""
    scores = g.op("Sigmoid", g.linear(x, EXPERTS, HIDDEN))
    biased = g.op("Add", scores, g.weight(EXPERTS, scale=0.3))
    groups = g.op("Reshape", biased, np.array([0, 0, 3, 2]))
    best = g.op("ReduceSum", g.op("TopK", groups, np.array([2]), outputs=2)[0], np.array([-1]), keepdims=0)
    _, chosen = g.op("TopK", best, np.array([2]), outputs=2)
    zeros = g.op("Mul", best, 0.0)
    mask = g.op("ScatterElements", zeros, chosen, g.op("Add", g.op("Mul", g.op("Cast", chosen, to=TensorProto.FLOAT), 0.0), 1.0), axis=2)
    wide = g.op("Reshape", g.op("Expand", g.op("Unsqueeze", mask, np.array([-1])), np.array([1, 1, 1, 2])), np.array([0, 0, EXPERTS]))
    masked = g.op("Where", g.op("Cast", wide, to=TensorProto.BOOL), biased, float("-inf"))
    _, choice = g.op("TopK", masked, np.array([2]), outputs=2)
    share = g.op("GatherElements", scores, choice, axis=2)
    share = g.op("Mul", g.op("Div", share, g.op("Add", g.op("ReduceSum", share, np.array([-1])), 1e-20)), 2.5)
    return experts_sum(g, x, choice, share)


def loop_moe(g, x):
    """Tokens of each expert are gathered and scattered, as the unrolled loop of a traced model does."""
    flat = g.op("Reshape", x, np.array([-1, HIDDEN]))
    share, choice = g.op("TopK", g.op("Softmax", g.linear(flat, EXPERTS, HIDDEN), axis=-1), np.array([2]), outputs=2)
    hot = g.op("Transpose", g.op("OneHot", choice, np.array(EXPERTS), np.array([0, 1])), perm=[2, 1, 0])
    total = g.op("ConstantOfShape", g.op("Shape", flat), value=numpy_helper.from_array(np.array([0.0], np.float32)))
    for e in range(EXPERTS):
        where = g.op("NonZero", g.op("Gather", hot, np.array(e), axis=0))
        slot, token = (g.op("Squeeze", t, np.array([0])) for t in g.op("Split", where, outputs=2, axis=0, num_outputs=2))
        rows = g.op("Gather", flat, token, axis=0)
        index = g.op("Concat", g.op("Unsqueeze", token, np.array([1])), g.op("Unsqueeze", slot, np.array([1])), axis=1)
        w = g.op("Unsqueeze", g.op("GatherND", share, index), np.array([1]))
        y = g.op("Mul", swiglu(g, rows, 24), w)
        total = g.op("ScatterND", total, g.op("Unsqueeze", token, np.array([1])), y, reduction="add")
    return g.op("Reshape", total, g.op("Shape", x))


def batched_moe(g, x):
    """One tensor of all experts, every token by every expert."""
    flat = g.op("Reshape", x, np.array([-1, HIDDEN]))
    logits = g.linear(flat, EXPERTS, HIDDEN)
    best, choice = g.op("TopK", logits, np.array([2]), outputs=2)
    zeros = g.op("Mul", logits, 0.0)
    route = g.op("ScatterElements", zeros, choice, g.op("Softmax", best, axis=-1), axis=1)
    rows = g.op("Expand", g.op("Unsqueeze", flat, np.array([0])), np.array([EXPERTS, 1, 1]))
    both = g.op("Add", g.op("MatMul", rows, g.weight(EXPERTS, HIDDEN, 48)), g.weight(EXPERTS, 1, 48, scale=0.1))
    gate, up = g.op("Split", both, outputs=2, axis=-1, num_outputs=2)
    y = g.op("Add", g.op("MatMul", g.op("Mul", g.silu(gate), up), g.weight(EXPERTS, 24, HIDDEN)), g.weight(EXPERTS, 1, HIDDEN, scale=0.1))
    w = g.op("Unsqueeze", g.op("Transpose", route, perm=[1, 0]), np.array([2]))
    total = g.op("ReduceSum", g.op("Mul", y, w), np.array([0]), keepdims=0)
    return g.op("Reshape", total, g.op("Shape", x))


def gathered_moe(g, x, alien=False, biased=lambda g, ids: ids, experts=EXPERTS):
    """Matrices of the chosen experts, gathered for every token. With `alien` the last product takes another choice, and where `biased` gives
    other ids, biases do: both are no layer of experts."""
    flat = g.op("Reshape", x, np.array([-1, HIDDEN]))
    logits = g.linear(flat, experts, HIDDEN)
    best, choice = g.op("TopK", logits, np.array([2]), outputs=2)
    ids = g.op("Reshape", choice, np.array([-1]))
    copies = g.op("Reshape", g.op("Expand", g.op("Unsqueeze", flat, np.array([1])), np.array([1, 2, 1])), np.array([-1, HIDDEN]))
    up = g.op("MatMul", g.op("GatherND", g.weight(experts, 48, HIDDEN), g.op("Unsqueeze", ids, np.array([-1]))), g.op("Unsqueeze", copies, np.array([-1])))
    up = g.op("Add", g.op("Squeeze", up, np.array([-1])), g.op("Gather", g.weight(experts, 48, scale=0.1), biased(g, ids)))
    gate, other = (g.op("Slice", up, np.array([i]), np.array([48]), np.array([1]), np.array([2])) for i in (0, 1))
    last = g.op("Reshape", g.op("TopK", g.op("Neg", logits), np.array([2]), outputs=2)[1], np.array([-1])) if alien else ids
    down = g.op("MatMul", g.op("Unsqueeze", g.op("Mul", g.silu(gate), other), np.array([1])), g.op("Gather", g.weight(experts, 24, HIDDEN), last))
    down = g.op("Add", g.op("Squeeze", down, np.array([1])), g.op("Gather", g.weight(experts, HIDDEN, scale=0.1), biased(g, last)))
    w = g.op("Unsqueeze", g.op("Reshape", g.op("Softmax", best, axis=-1), np.array([-1])), np.array([-1]))
    total = g.op("ReduceSum", g.op("Reshape", g.op("Mul", down, w), np.array([-1, 2, HIDDEN])), np.array([1]), keepdims=0)
    return g.op("Reshape", total, g.op("Shape", x))


# --- other parts ----------------------------------------------------------------------------------------------------------

def head_l2(g, q, k):
    """L2 norm of every head with a learned temperature."""
    return g.op("Mul", g.l2(q), g.weight(HEADS, 1, 1, scale=0.1, offset=3.0)), g.l2(k)


def head_rms(g, q, k):
    return g.rms(q, DIM), g.rms(k, DIM, one_plus=True)


def gains_per_head(g, q, k):
    return g.op("Mul", g.rms(q, gain=False), g.weight(HEADS, 1, DIM, scale=0.1, offset=1.0)), g.op("Mul", g.layer_norm_plain(k), g.weight(KV, 1, DIM, scale=0.1, offset=1.0))


def gate_per_head(g, x, mixed):
    gate = g.op("Transpose", g.op("Sigmoid", g.linear(x, HEADS, HIDDEN)), perm=[0, 2, 1])
    return g.op("Mul", mixed, g.op("Unsqueeze", gate, np.array([-1])))


def differences(g, x, mixed):
    """What the second half of the heads sees is taken from the first; a norm follows."""
    a, b = g.op("Split", mixed, outputs=2, axis=1, num_outputs=2)
    d = g.rms(g.op("Sub", a, g.op("Mul", b, 0.4)), DIM)
    return g.op("Concat", d, g.op("Mul", b, 0.5), axis=1)


def short_conv(g, x, taps=3):
    """Gated short convolution in place of attention."""
    b, c, v = (g.op("Transpose", g.linear(x, HIDDEN, HIDDEN), perm=[0, 2, 1]) for _ in range(3))
    conv = g.op("Conv", g.op("Mul", b, v), g.weight(HIDDEN, 1, taps, scale=0.5), group=HIDDEN, pads=[taps - 1, taps - 1], kernel_shape=[taps])
    conv = g.op("Slice", conv, np.array([0]), g.op("Slice", g.op("Shape", x), np.array([1]), np.array([2])), np.array([2]))
    return g.linear(g.op("Transpose", g.op("Mul", c, conv), perm=[0, 2, 1]), HIDDEN, HIDDEN)


def unit_heads(g, x, heads):
    """Each head by its length."""
    return g.op("Reshape", g.op("LpNormalization", g.op("Reshape", x, np.array([0, 0, heads, DIM])), axis=-1, p=2), np.array([0, 0, heads * DIM]))


def linear_attention(rule, per_feature=False, unit=False):
    """Attention by a matrix per head (opset 27), with the gates that the rule has."""
    def mix(g, x):
        q, k, v = g.linear(x, HEADS * DIM, HIDDEN), g.linear(x, KV * DIM, HIDDEN), g.linear(x, KV * 2 * DIM, HIDDEN)
        if unit:
            q, k = unit_heads(g, q, HEADS), unit_heads(g, k, KV)
        k = g.op("Mul", k, 0.3)
        decay = g.op("Neg", g.op("Softplus", g.linear(x, KV * (DIM if per_feature else 1), HIDDEN))) if "gated" in rule else ""
        beta = g.op("Sigmoid", g.linear(x, KV, HIDDEN)) if "delta" in rule else ""
        y, _ = g.op("LinearAttention", q, k, v, "", decay, beta, outputs=2, q_num_heads=HEADS, kv_num_heads=KV, update_rule=rule)
        return g.linear(y, HIDDEN, HEADS * 2 * DIM)
    return mix


MS = "com.microsoft"


def linear_attention_function(queries, values):
    """com.microsoft's LinearAttention without a past, where there are fewer heads of queries and keys than of values: as the standard op on repeated ones."""
    def node(kind, inputs, outputs, **attrs):
        return helper.make_node(kind, inputs, outputs, **attrs)

    def ints(name, values):
        return node("Constant", [], [name], value=numpy_helper.from_array(np.array(values, np.int64)))

    body = [ints("apart", [0, 0, queries, 1, -1]), ints("copies", [1, 1, 1, values // queries, 1]), ints("flat", [0, 0, -1])]
    for name in ("query", "key"):
        body += [node("Reshape", [name, "apart"], [name + "_1"]), node("Expand", [name + "_1", "copies"], [name + "_2"]), node("Reshape", [name + "_2", "flat"], [name + "_3"])]
    body.append(node("LinearAttention", ["query_3", "key_3", "value", "", "decay", "beta"], ["output", "present"], q_num_heads=values, kv_num_heads=values, update_rule="gated_delta"))
    return helper.make_function(MS, "LinearAttention", ["query", "key", "value", "past", "decay", "beta"], ["output", "present"], body,
                                [helper.make_opsetid("", 27)], attributes=["q_num_heads", "kv_num_heads", "update_rule"])


def few_queries(g, x):
    """Attention by a matrix per head of values, two of which share a head of queries and keys; norms and gates count the heads with the tokens."""
    q, k, v = g.linear(x, KV * DIM, HIDDEN), g.linear(x, KV * DIM, HIDDEN), g.linear(x, HEADS * DIM, HIDDEN)
    decay, beta = g.op("Neg", g.op("Softplus", g.linear(x, HEADS, HIDDEN))), g.op("Sigmoid", g.linear(x, HEADS, HIDDEN))
    g.functions = [linear_attention_function(KV, HEADS)]
    y, _ = g.op("LinearAttention", q, g.op("Mul", k, 0.3), v, "", decay, beta, outputs=2, domain=MS, q_num_heads=KV, kv_num_heads=HEADS, update_rule="gated_delta")
    y, z = (g.op("Reshape", t, np.array([-1, DIM])) for t in (y, g.linear(x, HEADS * DIM, HIDDEN)))
    y = g.op("Mul", g.rms(y, DIM), g.op("Mul", z, g.op("Sigmoid", z)))
    shape = g.op("Concat", g.op("Shape", x, start=0, end=2), np.array([HEADS * DIM]), axis=0)
    return g.linear(g.op("Reshape", y, shape), HIDDEN, HEADS * DIM)


def decoder(ffn=swiglu, norm=None, parallel=False, sandwich=False, first=None, every=False, scale=1.0, seed=1, rows_in=False, head=True, opset=20, check=True, **attention_parts):
    g = Graph(seed, opset)
    norm = norm or (lambda g, x: g.rms(x))
    x = "inputs_embeds" if rows_in else g.op("Gather", g.weight(VOCAB, HIDDEN, scale=1.0), "input_ids", axis=0)
    if scale != 1.0:
        x = g.op("Mul", x, scale)
    tables = rope_tables(g, x if rows_in else "input_ids")
    for layer in range(LAYERS):
        n = norm(g, x)
        mix = first(g, n) if first and (layer == 0 or every) else attention(g, n, tables, **attention_parts)
        mix = norm(g, mix) if sandwich else mix
        if parallel:
            x = g.op("Add", x, g.op("Add", mix, ffn(g, n)))
            continue
        x = g.op("Add", x, mix)
        y = ffn(g, norm(g, x))
        x = g.op("Add", x, norm(g, y) if sandwich else y)
    end = "logits" if head else "hidden_states"
    y = norm(g, x)
    if head == "pieces":
        g.nodes.append(helper.make_node("Concat", [g.linear(y, VOCAB // 4, HIDDEN) for _ in range(4)], [end], name="/head", axis=-1))
    else:
        g.nodes.append(helper.make_node("MatMul", [y, g.weight(HIDDEN, VOCAB)], [end], name="/head") if head else
                       helper.make_node("Identity", [y], [end], name="/end"))
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "sequence"])
    if rows_in:
        ids = helper.make_tensor_value_info("inputs_embeds", TensorProto.FLOAT, ["batch", "sequence", HIDDEN])
    logits = helper.make_tensor_value_info(end, TensorProto.FLOAT, ["batch", "sequence", VOCAB if head else HIDDEN])
    model = helper.make_model(helper.make_graph(g.nodes, "decoder", [ids], [logits], g.initializers), ir_version=9,
                              opset_imports=[helper.make_opsetid("", g.opset)] + [helper.make_opsetid(MS, 1)] * bool(g.functions), functions=g.functions)
    if check:
        onnx.checker.check_model(model)
    return model


FAMILIES = {
    "swiglu": lambda: decoder(),
    "relu2": lambda: decoder(plain(relu2)),
    "xielu": lambda: decoder(plain(xielu)),
    "mish": lambda: decoder(plain(lambda g, x: g.op("Mish", x))),
    "softplus": lambda: decoder(plain(lambda g, x: g.op("Softplus", x))),
    "quick-gelu": lambda: decoder(plain(lambda g, x: g.op("Mul", x, g.op("Sigmoid", g.op("Mul", x, 1.702))))),
    "clamped-swiglu": lambda: decoder(clamped_swiglu),
    "normed-gate": lambda: decoder(normed_gate),
    "moe-softmax-topk-renorm": lambda: decoder(softmax_moe),
    "moe-softmax-topk": lambda: decoder(lambda g, x: softmax_moe(g, x, renorm=False)),
    "moe-topk-softmax": lambda: decoder(topk_softmax_moe),
    "moe-grouped-sigmoid": lambda: decoder(grouped_sigmoid_moe),
    "moe-loop": lambda: decoder(loop_moe),
    "moe-batched": lambda: decoder(batched_moe),
    "moe-gathered": lambda: decoder(gathered_moe),
    "moe-shared-expert": lambda: decoder(shared_expert),
    "head-l2": lambda: decoder(touch=head_l2),
    "head-rms": lambda: decoder(touch=head_rms),
    "head-gains": lambda: decoder(touch=gains_per_head),
    "head-gates": lambda: decoder(mixed_heads=gate_per_head),
    "head-differences": lambda: decoder(mixed_heads=differences),
    "head-in-pieces": lambda: decoder(head="pieces"),
    "head-rms-after-rotation": lambda: decoder(after=lambda g, q, k: (g.rms(q, DIM), g.rms(k, DIM))),
    "head-l2-after-rotation": lambda: decoder(after=head_l2),
    "clamped-projections": lambda: decoder(rows=lambda g, t: g.op("Clip", t, -0.8, 0.8)),
    "gated-attention": lambda: decoder(gated=True),
    "norm-without-weight": lambda: decoder(norm=lambda g, x: g.rms(x, gain=False)),
    "norm-one-plus": lambda: decoder(norm=lambda g, x: g.rms(x, one_plus=True)),
    "layer-norm-1p": lambda: decoder(norm=lambda g, x: g.layer_norm(x)),
    "sandwich": lambda: decoder(sandwich=True, scale=5.65),
    "parallel": lambda: decoder(parallel=True),
    "short-conv": lambda: decoder(first=short_conv),
    "linear-attention": lambda: decoder(first=linear_attention("linear"), opset=27),
    "linear-attention-delta": lambda: decoder(first=linear_attention("delta"), opset=27),
    "linear-attention-gated": lambda: decoder(first=linear_attention("gated", per_feature=True), opset=27),
    "linear-attention-gated-delta": lambda: decoder(first=linear_attention("gated_delta"), opset=27),
    "linear-attention-unit": lambda: decoder(first=linear_attention("delta", unit=True), opset=27),
    "linear-attention-alone": lambda: decoder(first=linear_attention("gated"), every=True, opset=27),
    "linear-attention-few-queries": lambda: decoder(first=few_queries, opset=27),
}
