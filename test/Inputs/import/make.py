#!/usr/bin/env python3
"""Writes the small models of the import tests (this folder and ../bad).

  make.py            needs onnx and onnxruntime (tools/setup/requirements.txt); output is the same every time
"""
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

HERE = Path(__file__).parent
BAD = HERE.parent / "bad"


def vi(name, dims=("n", 4), elem=T.FLOAT):
    return h.make_tensor_value_info(name, elem, dims)


def model(nodes, inputs=None, outputs=("y",), inits=(), opset=18, ir=8, functions=(), domains=()):
    graph = h.make_graph(nodes, "g", [vi("x")] if inputs is None else inputs,
                         [o if not isinstance(o, str) else vi(o) for o in outputs], list(inits))
    imports = [h.make_opsetid("", opset)] + [h.make_opsetid(d, 1) for d in domains]
    m = h.make_model(graph, opset_imports=imports, functions=list(functions), producer_name="")
    m.ir_version = ir
    return m


def save(m, name, folder=HERE):
    data = m if isinstance(m, bytes) else m.SerializeToString(deterministic=True)
    (folder / (name + ".onnx")).write_bytes(data)


def n(op, ins, outs, name="", **attrs):
    return h.make_node(op, ins.split(",") if ins else [], outs.split(","), name=name, **attrs)


def external(name, dims, elem=T.FLOAT, **keys):
    t = T()
    t.name, t.data_type, t.data_location = name, elem, T.EXTERNAL
    t.dims.extend(dims)
    for key, value in keys.items():
        e = t.external_data.add()
        e.key, e.value = key, str(value)
    return t


def f32(name, values, dims=None):
    a = np.array(values, np.float32)
    return nh.from_array(a.reshape(dims) if dims is not None else a, name)


def upgrades():
    save(model([n("Unsqueeze", "x", "a", "unsqueeze", axes=[0]), n("Squeeze", "a", "b", "squeeze", axes=[0]),
                n("Squeeze", "b", "b2", "squeeze_all"),
                n("ReduceSum", "b2", "c", "sum", axes=[-1], keepdims=0), n("ReduceMean", "b", "d", "mean", axes=[1]),
                n("ReduceMax", "d", "e", "max"), n("Split", "b", "f,g", "split", axis=1, split=[1, 3]),
                n("Split", "b", "i,j", "halves", axis=1), n("Dropout", "f", "k", "dropout", ratio=0.25),
                n("Clip", "k,,hi", "l", "clip"), n("Concat", "l,g,i,j", "m", "concat", axis=1),
                n("Add", "m,e", "o", "add"), n("ReduceSum", "c", "c2", "sum_all", keepdims=0), n("Add", "o,c2", "y", "add2")],
               inits=[f32("hi", 6)], opset=11), "upgrade11")
    save(model([n("Slice", "x", "a", "slice", starts=[0], ends=[2], axes=[1]),
                n("Slice", "a", "b", "slice_no_axes", starts=[0], ends=[1]),
                n("Clip", "b", "c", "clip", min=0.5, max=6.0), n("Clip", "c", "c2", "clip_max", max=5.0),
                n("Pad", "c2", "d", "pad", pads=[0, 0, 0, 1], value=2.0, mode="constant"),
                n("TopK", "d", "y,unused", "topk", k=2)], opset=9), "upgrade9")
    save(model([n("Softmax", "x", "a", "last", axis=2), n("Neg", "a", "b", "neg"),
                n("Softmax", "b", "c", "minus_one", axis=-1), n("Softmax", "c", "d", "flattened", axis=1),
                n("LogSoftmax", "d", "y", "default")], inputs=[vi("x", (2, "n", 4))], opset=12), "softmax12")
    save(model([n("Softmax", "x", "y", "softmax")], opset=13), "softmax13")
    save(model([n("Hardmax", "x", "a", "flattened"), n("Hardmax", "x", "b", "last", axis=1), n("Add", "a,b", "y", "add")],
               inputs=[vi("x", (2, 3, 4))], opset=12), "hardmax12")
    axes = [n(op, "x", f"r{i}", f"reduce_{i}", axes=[1], keepdims=1) for i, op in
            enumerate(["ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"])]
    save(model(axes + [n("Sum", ",".join(f"r{i}" for i in range(len(axes))), "s", "sum"),
                       n("ReduceLogSum", "positive", "t", "log_sum", axes=[0]), n("Add", "s,t", "y", "add")],
               inits=[nh.from_array(np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.float32), "positive")], opset=12), "reduce12")
    row = nh.from_array(np.array([[2, 0, 1, 3]], np.int64), "row")
    bn = [nh.from_array(np.array(v, np.float32), f"bn{i}") for i, v in enumerate([[1, 2, 3, 4], [0.5, 0, -1, 2], [0, 0.25, 0.5, 1], [1, 2, 0.5, 4]])]
    save(model([n("BatchNormalization", "x,bn0,bn1,bn2,bn3", "a", "bn", spatial=1, epsilon=1e-3), n("Dropout", "a", "b", "drop", ratio=0.5),
                n("Flatten", "b", "c", "flatten"), n("Neg", "c", "y", "neg")], inits=bn, opset=8), "upgrade8")
    save(model([n("Scatter", "x,row,row_f", "y", "scatter", axis=1)],
               inits=[row, nh.from_array(np.array([[10, 20, 30, 40]], np.float32), "row_f")], opset=9), "scatter9")
    sizes = nh.from_array(np.array([3, 1], np.int64), "sizes")
    save(model([n("Split", "x", "a,b", "half", axis=1), n("Sub", "a,b", "y", "sub")], opset=13), "split13")
    save(model([n("Split", "x", "a,b", "parts", axis=1, num_outputs=2), n("Split", "x,sizes", "d,e", "sizes", axis=1), n("Sum", "a,b,e", "f", "sum"),
                n("Concat", "f,d", "y", "concat", axis=1)], inits=[sizes], inputs=[vi("x", ("n", 4))]), "split18")


ELEMENTS = [("f32", T.FLOAT, [1.5, -2, 0]), ("f64", T.DOUBLE, [1.5, -2, 0]), ("i8", T.INT8, [1, -2, 127]), ("u8", T.UINT8, [1, 2, 255]),
            ("i16", T.INT16, [1, -2, 3]), ("u16", T.UINT16, [1, 2, 65535]), ("i32", T.INT32, [1, -2, 3]), ("u32", T.UINT32, [1, 2, 4294967295]),
            ("i64", T.INT64, [1, -2, 1 << 40]), ("u64", T.UINT64, [1, 2, (1 << 64) - 1]), ("bool", T.BOOL, [True, False, True]),
            ("f16", T.FLOAT16, [1.5, -2, 0]), ("bf16", T.BFLOAT16, [1.5, -2, 0]), ("f8e4m3", T.FLOAT8E4M3FN, [1.5, -2, 0]),
            ("f8e5m2", T.FLOAT8E5M2, [1.5, -2, 0]), ("f8e4m3fnuz", T.FLOAT8E4M3FNUZ, [1.5, -2, 0]), ("f8e5m2fnuz", T.FLOAT8E5M2FNUZ, [1.5, -2, 0]),
            ("f8e8m0", T.FLOAT8E8M0, [1, 0.25, 16]), ("f4e2m1", T.FLOAT4E2M1, [1.5, -2, 0]), ("i4", T.INT4, [1, -2, 7]), ("u4", T.UINT4, [1, 2, 15]), ("i2", T.INT2, [1, -2, 0]), ("u2", T.UINT2, [1, 2, 3])]


def all_types(raw):
    """Identity of each element type; [3, 1] so that floats become weights when their bytes lie in the file."""
    nodes, inits, outs = [], [], []
    for name, elem, values in ELEMENTS:
        t = h.make_tensor(name, elem, [3], values)
        if raw:
            t = nh.from_array(nh.to_array(t), name)
        inits.append(t)
        nodes.append(n("Identity", name, "y_" + name, "id_" + name))
        outs.append(vi("y_" + name, (3,), elem))
    return model(nodes, outputs=outs, inits=inits, ir=14, opset=25)


def containers():
    save(all_types(False), "typed")
    save(all_types(True), "raw")
    save(model([n("Add", "x,big", "y", "add")], inits=[h.make_tensor("big", T.FLOAT16, [10, 8], [1.0] * 80)]), "typed-large")
    unpacked = model([n("Add", "x,w", "y", "add")])
    t = T()
    t.name, t.data_type = "w", T.FLOAT
    t.dims.append(2)
    body = t.SerializeToString() + b"\x25" + np.float32(1.5).tobytes() + b"\x25" + np.float32(-2).tobytes()
    graph = unpacked.graph.SerializeToString(deterministic=True) + b"\x2a" + bytes([len(body)]) + body
    unpacked.ClearField("graph")
    save(unpacked.SerializeToString(deterministic=True) + b"\x3a" + bytes([len(graph) & 0x7f | 0x80, len(graph) >> 7]) + graph, "unpacked")

    consts = [n("Constant", "", "a", "f", value_float=0.5), n("Constant", "", "b", "i", value_int=-3), n("Constant", "", "c", "fs", value_floats=[1.0, 2.0]),
              n("Constant", "", "d", "is", value_ints=[4, 5]), n("Constant", "", "e", "t", value=nh.from_array(np.array([[1, 2]], np.int32))),
              n("Constant", "", "z", "empty", value=nh.from_array(np.zeros((0, 2), np.float32))),
              n("Constant", "", "w", "weight", value=f32("", [1, 2, 3, 4])), n("Constant", "", "l", "long", value_ints=list(range(70)))]
    save(model(consts, outputs=[vi(o, None) for o in "abcdezwl"]), "constants")
    save(model([n("Neg", "b", "y", "last"), n("Abs", "a", "b", "middle"), n("Neg", "x", "a", "first"), n("Exp", "x", "dead", "dead"),
                n("Log", "dead", "dead2", "dead2")]), "unsorted")
    save(model([n("Add", "x,w", "a"), n("Add", "a,w", "b"), n("Add", "b,w", "y", "named")],
               inputs=[vi("x"), vi("w", (4,)), vi("unused")], inits=[f32("w", [1, 2, 3, 4]), f32("nobody", [1, 2])], ir=3), "ir3")
    save(model([n("Neg", "x", "y", "same"), n("Abs", "x", "z", "same")], outputs=("y", "z"), ir=99), "newer-ir")
    save(model([n("Identity", "x,", "y")], inputs=[vi("x", ("b + a", "a+a", "weird name!", "2x", 7, None, ""))]), "dims")
    data = np.arange(8, dtype=np.float32).tobytes() + np.arange(2, dtype=np.int64).tobytes()
    (HERE / "data").mkdir(exist_ok=True)
    (HERE / "data" / "w.bin").write_bytes(data)
    save(model([n("Add", "x,w", "a"), n("Add", "a,tied", "b"), n("Mul", "b,tail", "c"), n("Reshape", "c,shape", "y")],
               inits=[external("w", [4], location="data/w.bin", length=16), external("tied", [4], location="./data/w.bin", offset=0, length=16),
                      external("tail", [4], location="data/w.bin", offset=16), external("shape", [2], T.INT64, location="data/w.bin", offset=32, length=16)]), "external")
    save(model([n("Neg", "x", "y")], outputs=("y", "x", "w"), inits=[f32("w", [1, 2])]), "outputs")


def twins():
    save(model([n("SimplifiedLayerNormalization", "x,w", "a", "plain", axis=-1, epsilon=1e-6), n("Gelu", "a", "b", "gelu", domain="com.microsoft"),
                n("SimplifiedLayerNormalization", "b,w", "y", "again")], inits=[f32("w", [1, 2, 3, 4])], domains=["com.microsoft"]), "twins")


def functions():
    inner = h.make_function("local", "Scale", ["v", "s"], ["r"], [n("Mul", "v,s", "t", "mul"), n("Identity", "t", "r", "id")], [h.make_opsetid("", 18)])
    cast = n("Softmax", "b", "c", "soft")
    attr = cast.attribute.add()
    attr.name, attr.ref_attr_name, attr.type = "axis", "dim", onnx.AttributeProto.INT
    outer = h.make_function("local", "Block", ["v", "bias"], ["c", "v"], [n("Scale", "v,v", "a", "call", domain="local"), n("Add", "a,bias", "b", "add"), cast],
                            [h.make_opsetid("", 18), h.make_opsetid("local", 1)], ["dim"])
    save(model([n("Block", "x,x", "p,q", "same", domain="local", dim=-1), n("Block", "p,q", "r", "same", domain="local"), n("Relu", "r", "y", "relu")],
               functions=[inner, outer, h.make_function("", "Relu", ["v"], ["r"], [n("Neg", "v", "r")], [h.make_opsetid("", 18)])], domains=["local"]), "functions")


def branches():
    """If three deep: captures from every level, an initializer that only the innermost reads, the same names in both branches."""
    def graph(nodes, out, inits=()):
        return h.make_graph(nodes, "b", [], [vi(out)], list(inits))
    inner = graph([n("Mul", "t,only_inside", "u", "scale")], "u")
    other = graph([n("Sub", "t,k", "u", "shift")], "u")
    middle = graph([n("Add", "x,k", "t", "add"), n("If", "c2", "u", "inner", then_branch=inner, else_branch=other)], "u", [f32("k", [1])])
    last = graph([n("Add", "x,k", "t", "add")], "t", [f32("k", [2])])
    cond = [vi("x"), vi("c1", (), T.BOOL), vi("c2", (), T.BOOL)]
    save(model([n("If", "c1", "y", "outer", then_branch=middle, else_branch=last)], cond, inits=[f32("only_inside", [3])]), "branches")
    # A loop of ONNX Runtime around a decoder: its weight lies outside.
    decoder = h.make_graph([n("Gather", "table,input_ids", "logits", "embed")], "decoder", [vi("input_ids", ("b", "s"), T.INT32)],
                           [vi("logits", ("b", "s", 4))])
    loop = n("GreedySearch", "input_ids,max_length", "sequences", "search", domain="com.microsoft", decoder=decoder, eos_token_id=1, pad_token_id=1)
    save(model([loop], [vi("input_ids", ("b", "s"), T.INT32), vi("max_length", (1,), T.INT32)], [vi("sequences", ("b", "m"), T.INT32)],
               [f32("table", range(40), (10, 4))], domains=["com.microsoft"]), "greedy")


def numbers():
    """x and y of models that ONNX Runtime runs, for UpgradeNumericsTest."""
    import json
    import onnxruntime as ort
    ort.set_default_logger_severity(3)

    def block(v, bias):
        e = np.exp(v * v + bias - (v * v + bias).max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    out = {}
    for name, shape in (("upgrade11", (3, 4)), ("upgrade9", (3, 4)), ("softmax12", (2, 3, 4)), ("softmax13", (3, 4)), ("hardmax12", (2, 3, 4)), ("reduce12", (3, 4)), ("upgrade8", (3, 4)), ("scatter9", (3, 4)), ("split13", (3, 4)), ("split18", (3, 4)),
                        ("functions", (3, 4)), ("unsorted", (3, 4)), ("twins", (3, 4))):
        x = np.round(np.sin(np.arange(np.prod(shape)) * 1.7) * 3, 3).astype(np.float32).reshape(shape)
        if name == "functions":  # neither ONNX Runtime nor onnx's inliner takes a function that hands an input on
            y = block(block(x, x), x)
        else:
            y = ort.InferenceSession(str(HERE / (name + ".onnx"))).run(["y"], {"x": x})[0]
        out[name] = {"x": {"shape": x.shape, "data": [float(v) for v in x.flat]}, "y": {"shape": y.shape, "data": [round(float(v), 6) for v in y.flat]}}
    (HERE / "numbers.json").write_text(json.dumps(out, indent=1) + "\n")


def bad():
    add = n("Add", "x,w", "y", "add")
    w = f32("w", [1, 2, 3, 4])
    good = model([add], inits=[w])
    data = good.SerializeToString(deterministic=True)
    save(b"", "empty", BAD)
    save(b"# A model that is not one\n", "text-file", BAD)
    save(b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "lfs", BAD)
    save(b"GGUF\3\0\0\0", "gguf", BAD)
    save(data[:-20], "truncated", BAD)
    save(model([n("Add", "x,b", "a", "first"), n("Neg", "a", "b", "second"), n("Neg", "b", "y", "third")]), "cycle", BAD)
    save(model([n("Neg", "x", "a", "one"), n("Abs", "x", "a", "two"), n("Neg", "a", "y")]), "duplicate-output", BAD)
    save(model([n("Neg", "x", "w", "one"), n("Neg", "w", "y")], inits=[w]), "output-is-initializer", BAD)
    save(model([add], inits=[w, w]), "duplicate-initializer", BAD)
    save(model([n("Neg", "nowhere", "y", "lonely")]), "undefined-input", BAD)
    save(model([n("Neg", "x", "a")]), "undefined-output", BAD)
    save(model([], outputs=("x",)), "zero-nodes", BAD)
    save(model([n("Neg", "x", "y")], outputs=()), "no-outputs", BAD)
    m = model([add], inits=[w])
    m.ClearField("opset_import")
    save(m, "no-opset", BAD)
    save(model([add], inits=[w], opset=99), "new-opset", BAD)
    save(model([add], inits=[w], opset=6), "old-opset", BAD)
    save(model([add], inits=[w], ir=2), "old-ir", BAD)
    m = model([add], inits=[w])
    m.ClearField("graph")
    save(m, "no-graph", BAD)
    save(model([n("Magic", "x", "a", "m1", domain="org.example"), n("Magic", "a", "b", "m2", domain="org.example"), n("ReduceMeen", "b", "c", "typo"),
                n("Neg", "c", "d", "attr", speed=3), n("Det", "d", "e", "det"), n("BatchNormalization", "e,x,x,x,x", "f,mean", "norm"),
                n("Add", "f,mean", "g", "add"), n("WordConvEmbedding", "g", "h", "fast", domain="com.microsoft"), n("EPContext", "h", "y", "ctx", domain="com.microsoft", source="QNN"),
                n("Dead", "x", "dead", "dead", domain="org.example")]), "unsupported", BAD)
    save(model([n("Det", "x", "y", "det")], inputs=[vi("x"), vi("input_ids", ("b", "s"), T.INT64)]), "unsupported-tokens", BAD)
    body = h.make_graph([n("Identity", "c", "d"), n("Neg", "x", "t")], "b", [vi("i", (), T.INT64), vi("c", (), T.BOOL)], [vi("d", (), T.BOOL), vi("t")])
    save(model([n("Loop", ",,", "y", "loop", body=body)]), "subgraph", BAD)
    branch = h.make_graph([n("Neg", "x", "t")], "b", [], [vi("t")])
    flag = [vi("x"), vi("c", (), T.BOOL)]
    save(model([n("If", "c", "y", "if", then_branch=branch)], inputs=flag), "no-else", BAD)
    save(model([n("If", "c", "y,z", "if", then_branch=branch, else_branch=branch)], inputs=flag), "branch-outputs", BAD)
    other = h.make_graph([n("Cast", "x", "t", to=T.INT64)], "b", [], [vi("t", elem=T.INT64)])
    save(model([n("If", "c", "y", "if", then_branch=branch, else_branch=other)], inputs=flag), "branch-types", BAD)

    def tensor(t, name):
        save(model([add], inits=[t]), name, BAD)
    t = f32("w", [1, 2, 3, 4])
    t.dims[0] = 5
    tensor(t, "raw-size")
    t = f32("w", [1, 2, 3, 4])
    t.dims[:] = [1 << 20, 1 << 20]
    tensor(t, "huge-dims")
    t.dims[:] = [1 << 40, 1 << 40]
    tensor(t, "overflowing-dims")
    t.dims[:] = [-4]
    tensor(t, "negative-dim")
    t.dims[:] = [1] * 40
    tensor(t, "rank")
    t = f32("w", [1, 2, 3, 4])
    t.float_data.extend([1, 2, 3, 4])
    tensor(t, "two-fields")
    t = h.make_tensor("w", T.FLOAT, [4], [1, 2, 3, 4])
    t.dims[0] = 6
    tensor(t, "typed-short")
    t = h.make_tensor("w", T.INT64, [4], [1, 2, 3, 4])
    t.dims[0] = 3
    tensor(t, "typed-long")
    t.dims[0] = 1 << 40
    tensor(t, "typed-huge")
    t = h.make_tensor("w", T.INT32, [4], [1, 2, 3, 4])
    t.data_type = T.INT64
    tensor(t, "typed-field")
    tensor(h.make_tensor("w", T.STRING, [1], [b"s"]), "string-tensor")
    (BAD / "data.bin").write_bytes(bytes(32))
    ext = dict(location="data.bin")
    tensor(external("w", [4], location="../data.bin"), "ext-dotdot")
    tensor(external("w", [4], location="/data.bin"), "ext-absolute")
    tensor(external("w", [4], location="none.bin"), "ext-missing")
    tensor(external("w", [4]), "ext-no-location")
    tensor(external("w", [4], **ext, length=20), "ext-length-differs")
    tensor(external("w", [9], **ext), "ext-short")
    tensor(external("w", [4], **ext, offset=-4), "ext-negative-offset")
    tensor(external("w", [4], **ext, offset=(1 << 63) - 1), "ext-huge-offset")
    tensor(external("w", [4], **ext, offset="12 "), "ext-bad-number")
    tensor(external("w", [4], location="link.bin"), "ext-symlink")
    if not (BAD / "link.bin").is_symlink():
        (BAD / "link.bin").symlink_to("data.bin")

    rec = h.make_function("local", "Block", ["v"], ["r"], [n("Other", "v", "r", domain="local")], [h.make_opsetid("local", 1)])
    other = h.make_function("local", "Other", ["v"], ["r"], [n("Block", "v", "r", domain="local")], [h.make_opsetid("local", 1)])
    save(model([n("Block", "x", "y", domain="local")], functions=[rec, other], domains=["local"]), "recursive-function", BAD)
    chain = [h.make_function("local", "F0", ["v"], ["r"], [n("Neg", "v", "r")], [h.make_opsetid("", 18)])]
    for i in range(1, 40):
        body = [n(f"F{i - 1}", "v", "t", domain="local"), n(f"F{i - 1}", "t", "r", domain="local")]
        chain.append(h.make_function("local", f"F{i}", ["v"], ["r"], body, [h.make_opsetid("local", 1)]))
    save(model([n("F39", "x", "y", domain="local")], functions=chain, domains=["local"]), "exploding-functions", BAD)

    m = model([n("Neg", "x", "y", "many")])
    for i in range(300):
        m.graph.node[0].attribute.add().name = str(i)
    save(m, "many-attributes", BAD)
    save(model([n("Gather", "x,w", "y", "g", axis=1.5)], inits=[w]), "attr-type", BAD)
    save(model([n("Cast", "x", "y", "c")]), "attr-missing", BAD)
    save(model([n("Cast", "x", "y", "c", to=T.STRING)]), "cast-string", BAD)
    save(model([n("Gather", "x", "y", "g")]), "few-inputs", BAD)
    save(model([n("Neg", "x,x", "y", "n")]), "many-inputs", BAD)
    save(model([n("Softmax", "x", "y", "s", axis=7)]), "axis", BAD)
    save(model([n("Squeeze", "x,w", "y", "s", axes=[0])], inits=[w], opset=11), "axes-twice", BAD)
    m = model([n("Gather", "x,w", "y", "g", axis=1)], inits=[w])
    m.graph.node[0].attribute.add().CopyFrom(m.graph.node[0].attribute[0])
    save(m, "attr-twice", BAD)
    save(model([n("Neg", "s", "y", "n")], inputs=[h.make_tensor_sequence_value_info("s", T.FLOAT, None)]), "sequence-input", BAD)
    deep = h.make_graph([n("Neg", "x", "y")], "g", [vi("x")], [vi("y")])
    for _ in range(30):
        deep = h.make_graph([n("If", "x", "y", "if", then_branch=deep)], "g", [vi("x")], [vi("y")])
    m = model([n("Neg", "x", "y")])
    m.graph.CopyFrom(deep)
    save(m, "deep", BAD)


upgrades()
containers()
twins()
functions()
branches()
bad()
numbers()
