"""Rewrites the products of an f32 model into a quantised form and into their dequantised values: two files of one model.

`rewrite(model, form)` returns (quantised, plain, products): the first holds codes as an exporter of that form writes them, the second is the
same graph with the f32 values `(code - zero) * scale` that they stand for. Used by test_quantized.py, which wants the same bits from both.
"""
import copy

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, version_converter

MS = "com.microsoft"
NF4 = np.array([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
                0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
                0.7229568362236023, 1.0], np.float32)


def pack_low_first(codes, bits):
    """Rows of codes as bytes, lowest bits first, each row from a byte on."""
    if 8 % bits:
        stream = (codes.astype(np.uint8)[:, :, None] >> np.arange(bits) & 1).reshape(codes.shape[0], -1)
        return np.packbits(stream, axis=1, bitorder="little")
    per = 8 // bits
    padded = np.pad(codes, [(0, 0), (0, -codes.shape[1] % per)]).astype(np.uint8)
    parts = padded.reshape(codes.shape[0], -1, per)
    return sum(parts[:, :, i] << (bits * i) for i in range(per)).astype(np.uint8)


def tensor_of(name, data_type, dims, raw):
    return helper.make_tensor(name, data_type, dims, raw, raw=True)


class Product:
    """One MatMul by an initializer [K, N], to be replaced."""

    def __init__(self, node, weight, rng):
        self.node, self.name, self.w, self.rng = node, node.input[1], weight.astype(np.float32), rng
        self.k, self.n = weight.shape
        self.inits, self.nodes = [], []
        self.kept = None  # codes from 0 on [N, K], scales and zero points [N, blocks] as the artifact should have them

    def init(self, suffix, array):
        self.inits.append(numpy_helper.from_array(array, self.name + suffix))
        return self.name + suffix

    def raw(self, suffix, data_type, dims, data):
        self.inits.append(tensor_of(self.name + suffix, data_type, dims, data))
        return self.name + suffix

    def blocks(self, bits, block, symmetric, scale_type=np.float32):
        """Codes [N, K], scales and zero points [N, blocks]; the values are those of the codes."""
        w, count = self.w.T, -(-self.k // block)
        codes, scales, zeros = np.zeros((self.n, self.k), np.int64), np.zeros((self.n, count), np.float32), np.zeros((self.n, count), np.int64)
        top = (1 << bits) - 1
        for b in range(count):
            part = w[:, b * block:(b + 1) * block]
            low, high = np.minimum(part.min(1), 0), np.maximum(part.max(1), 0)
            scale = (np.abs(part).max(1) / (1 << (bits - 1)) if symmetric else (high - low) / top).astype(scale_type).astype(np.float32)
            zero = np.full(self.n, 1 << (bits - 1)) if symmetric else np.clip(np.rint(-low / scale), 0, top).astype(np.int64)
            codes[:, b * block:(b + 1) * block] = np.clip(np.rint(part / scale[:, None]) + zero[:, None], 0, top)
            scales[:, b], zeros[:, b] = scale, zero
        at = np.arange(self.k) // block
        self.values = ((codes.astype(np.float32) - zeros[:, at].astype(np.float32)) * scales[:, at]).T
        return codes, scales.astype(scale_type), zeros

    def replace(self, op, inputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, list(self.node.output), self.node.name, **attributes))


def nbits(p, bits, block, zero, scale_type=np.float32):
    codes, scales, zeros = p.blocks(bits, block, zero is None, scale_type)
    if zero == "float":
        zeros = zeros + 0.5
        at = np.arange(p.k) // block
        p.values = ((codes.astype(np.float32) - zeros[:, at].astype(np.float32)) * scales.astype(np.float32)[:, at]).T
    p.kept = codes, scales, zeros
    count = scales.shape[1]
    packed = pack_low_first(np.pad(codes, [(0, 0), (0, count * block - p.k)]), bits).reshape(p.n, count, -1)
    inputs = [p.node.input[0], p.init("_Q", packed), p.init("_scales", scales)]
    if zero == "packed":
        inputs.append(p.init("_zp", pack_low_first(zeros, bits)))
    elif zero == "float":
        inputs.append(p.init("_zp", zeros.astype(scale_type)))
    p.replace("MatMulNBits", inputs, domain=MS, K=p.k, N=p.n, bits=bits, block_size=block)


def bnb4(p, block):
    flat = p.w.T.reshape(-1)
    absmax = np.array([np.abs(flat[i:i + block]).max() for i in range(0, flat.size, block)], np.float32)
    scale = absmax[np.arange(flat.size) // block]
    codes = np.abs(flat[:, None] / scale[:, None] - NF4).argmin(1).astype(np.uint8)
    p.values = (NF4[codes] * scale).reshape(p.n, p.k).T
    codes = np.pad(codes, (0, codes.size % 2))
    packed = (codes[0::2] << 4 | codes[1::2]).astype(np.uint8)
    p.replace("MatMulBnb4", [p.node.input[0], p.init("_Q", packed), p.init("_absmax", absmax)], domain=MS, K=p.k, N=p.n, block_size=block, quant_type=1)


def qdq(p, data_type, bits, block, axis, symmetric, cube=False):
    """DequantizeLinear of [K, N] (axis 0) or of [N, K] and a Transpose (axis 1); of a cube of one matrix."""
    signed = data_type in (TensorProto.INT4, TensorProto.INT8)
    codes, scales, zeros = p.blocks(bits, block or p.k, symmetric)
    p.kept = codes, scales, zeros
    shift = 1 << (bits - 1) if signed else 0
    codes, zeros = codes - shift, zeros - shift
    if axis == 0:
        codes, scales, zeros = codes.T, scales.T, zeros.T
    if not block:
        scales, zeros = scales.reshape(-1), zeros.reshape(-1)

    def ints(suffix, array):
        flat = (array.reshape(1, -1) & ((1 << bits) - 1)).astype(np.uint8)
        return p.raw(suffix, data_type, array.shape, pack_low_first(flat, bits).tobytes())
    inputs = [ints("_Q", codes), p.init("_scale", np.ascontiguousarray(scales))]
    if not symmetric or not signed:
        inputs.append(ints("_zp", zeros))
    at = {"axis": (1 if axis == 0 else 0) if not block else axis}
    if cube:
        at["axis"] += 1
        for tensor in p.inits:
            if block or tensor.name.endswith("_Q"):
                tensor.dims.insert(0, 1)
    if block:
        at["block_size"] = block
    p.nodes.append(helper.make_node("DequantizeLinear", inputs, [p.name + "_DQ"], p.name + "_DequantizeLinear", **at))
    weight = p.name + "_DQ"
    if axis == 1:
        p.nodes.append(helper.make_node("Transpose", [weight], [p.name + "_T"], p.name + "_Transpose", perm=[0, 2, 1] if cube else [1, 0]))
        weight = p.name + "_T"
    p.replace("MatMul", [p.node.input[0], weight])


def dynamic(p, unsigned, per_channel, one_by_one=False):
    """DynamicQuantizeLinear and MatMulInteger; computed with exact activations. The scales are multiplied first or one after the other."""
    w = p.w
    largest = np.abs(w).max(0 if per_channel else None)
    scale = (largest / 127).astype(np.float32).reshape(-1 if per_channel else ())
    zero = 128 if unsigned else 0
    codes = np.rint(w / scale) + zero
    p.values = (codes.astype(np.float32) - zero) * scale
    p.kept = (codes.T - zero + 128, np.broadcast_to(scale.reshape(-1, 1), (p.n, 1)), np.full((p.n, 1), 128))
    dtype = np.uint8 if unsigned else np.int8
    x, n = p.node.input[0], p.name
    weight_scale = p.init("_scale", scale)
    zeros = p.init("_zero_point", np.full(scale.shape, zero, dtype))
    p.nodes += [helper.make_node("DynamicQuantizeLinear", [x], [n + "_xq", n + "_xs", n + "_xz"], n + "_DQL"),
                helper.make_node("MatMulInteger", [n + "_xq", p.init("_quantized", codes.astype(dtype)), n + "_xz", zeros], [n + "_int"], n + "_int"),
                helper.make_node("Cast", [n + "_int"], [n + "_cast"], n + "_cast", to=TensorProto.FLOAT),
                helper.make_node("Mul", [n + "_cast" if one_by_one else n + "_xs", weight_scale], [n + "_scales_mul"], n + "_scales_mul")]
    p.replace("Mul", [n + "_xs" if one_by_one else n + "_cast", n + "_scales_mul"])


FORMS = {
    "nbits4-sym": lambda p: nbits(p, 4, 32, None),
    "nbits4-packed-b16": lambda p: nbits(p, 4, 16, "packed"),
    "nbits4-float": lambda p: nbits(p, 4, 32, "float"),
    "nbits4-b128": lambda p: nbits(p, 4, 128, "packed"),
    "nbits8-packed": lambda p: nbits(p, 8, 32, "packed"),
    "nbits2-packed": lambda p: nbits(p, 2, 16, "packed"),
    "nbits3": lambda p: nbits(p, 3, 16, None),
    "nbits5-packed": lambda p: nbits(p, 5, 32, "packed"),
    "nbits6-float": lambda p: nbits(p, 6, 32, "float"),
    "bnb4-nf4": lambda p: bnb4(p, 64),
    "qdq-int4-axis0": lambda p: qdq(p, TensorProto.INT4, 4, 32, 0, True),
    "qdq-uint4-axis1": lambda p: qdq(p, TensorProto.UINT4, 4, 16, 1, False),
    "qdq-int8-channel": lambda p: qdq(p, TensorProto.INT8, 8, 0, 0, True),
    "qdq-uint8-channel": lambda p: qdq(p, TensorProto.UINT8, 8, 0, 0, False),
    "qdq-int8-cube": lambda p: qdq(p, TensorProto.INT8, 8, 0, 0, True, cube=True),
    "qdq-uint4-cube": lambda p: qdq(p, TensorProto.UINT4, 4, 16, 1, False, cube=True),
    "dynamic-int8": lambda p: dynamic(p, False, False),
    "dynamic-int8-one-by-one": lambda p: dynamic(p, False, True, one_by_one=True),
    "dynamic-uint8-channel": lambda p: dynamic(p, True, True),
}


def rewrite(model, form):
    """(quantised, plain) models and the products; every MatMul by an initializer is of the form."""
    rng = np.random.default_rng(1)
    if form.startswith("qdq"):
        model = version_converter.convert_version(model, 21)  # block_size
    quantised, plain = copy.deepcopy(model), copy.deepcopy(model)
    weights = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    constants = {n.output[0]: numpy_helper.to_array(n.attribute[0].t) for n in model.graph.node if n.op_type == "Constant" and n.attribute[0].name == "value"}
    transposes = {n.output[0]: n.input[0] for n in model.graph.node if n.op_type == "Transpose"}
    users = {}
    for n in model.graph.node:
        for i in n.input:
            users[i] = users.get(i, 0) + 1
    nodes, values, done = [], {}, set()
    for node in model.graph.node:
        weight = weights.get(node.input[1]) if node.op_type == "MatMul" else None
        if weight is None and node.op_type == "MatMul":
            weight = constants.get(node.input[1])
        if weight is None and node.op_type == "MatMul" and transposes.get(node.input[1]) in weights:
            weight = weights[transposes[node.input[1]]].T  # a tied head
        if weight is None or weight.ndim != 2 or node.input[1] in done:
            nodes.append(node)
            continue
        done.add(node.input[1])
        p = Product(node, weight, rng)
        FORMS[form](p)
        nodes += p.nodes
        quantised.graph.initializer.extend(p.inits)
        values[node.output[0]] = p
    del quantised.graph.node[:]
    quantised.graph.node.extend(nodes)
    for node in plain.graph.node:
        p = values.get(node.output[0])
        if p:
            plain.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(p.values.astype(np.float32)), p.name + "_values"))
            node.input[1] = p.name + "_values"
    for m in (quantised, plain):
        m.opset_import.append(helper.make_opsetid(MS, 1))
    return quantised, plain, list(values.values())
