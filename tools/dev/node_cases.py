"""Writes the node test cases of the installed onnx package, and our own of node_extra.py and node_known.py, as small
models.

    node_cases.py OUT [--every N] [--match TEXT]

Per case a folder OUT/NAME: `static.onnx` as it is, `dynamic.onnx` with all dims of the inputs unknown, `constant.onnx` with the
inputs as initializers, and `data.onnx`, whose outputs are the inputs and then the expected outputs. OUT/cases.txt lists
`NAME rtol inputs` per line; a case whose values are no numbers (strings, sequences, optionals) has `-` for its inputs and no files.
"""
import argparse
import itertools
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

warnings.filterwarnings("ignore")  # the cases divide by zero on purpose
import node_extra  # noqa: E402
import node_known  # noqa: E402
from onnx.backend.test import loader  # noqa: E402


def tensor(value, name, is_tensor):
    """A TensorProto; nothing for what is none or holds no numbers."""
    if isinstance(value, TensorProto):
        out = TensorProto()
        out.CopyFrom(value)
        out.name = name
        return out
    if isinstance(value, (list, dict)) or value is None or not is_tensor:
        return None
    array = np.asarray(value)
    if array.dtype.kind in "OUS":
        return None
    return numpy_helper.from_array(array, name)


def data_model(tensors):
    nodes = [helper.make_node("Identity", [t.name], [t.name + "_out"]) for t in tensors]
    outputs = [helper.make_tensor_value_info(t.name + "_out", t.data_type, list(t.dims)) for t in tensors]
    graph = helper.make_graph(nodes, "data", [], outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)])


def dynamic(model):
    out = onnx.ModelProto()
    out.CopyFrom(model)
    for info in out.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            dim.Clear()
    del out.graph.value_info[:]
    return out


def constant(model, inputs):
    out = onnx.ModelProto()
    out.CopyFrom(model)
    del out.graph.input[:]
    for t in inputs:
        out.graph.initializer.add().CopyFrom(t)
    return out


def write(model, data, out):
    initial = {t.name for t in model.graph.initializer}
    infos = [i for i in model.graph.input if i.name not in initial]
    if len(data[0]) != len(infos) or len(data[1]) != len(model.graph.output):
        return None
    inputs = [tensor(v, i.name, i.type.HasField("tensor_type")) for v, i in zip(data[0], infos)]
    # Our own cases declare no types of outputs.
    outputs = [tensor(v, f"expected_{n}", i.type.WhichOneof("value") in (None, "tensor_type")) for n, (v, i) in enumerate(zip(data[1], model.graph.output))]
    if any(t is None for t in inputs + outputs):
        return None
    out.mkdir(parents=True)
    onnx.save(model, out / "static.onnx")
    onnx.save(dynamic(model), out / "dynamic.onnx")
    onnx.save(constant(model, inputs), out / "constant.onnx")
    onnx.save(data_model(inputs + outputs), out / "data.onnx")
    return len(inputs)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out", type=Path)
    p.add_argument("--every", type=int, default=1, help="only every N-th case")
    p.add_argument("--match", default="", help="only cases whose name contains TEXT")
    args = p.parse_args()
    args.out.mkdir(parents=True)
    # Ours are few and always all of them.
    cases = sorted((c for c in loader.load_model_tests(kind="node") if args.match in c.name), key=lambda c: c.name)
    lines = []
    for case in cases[:: args.every]:
        inputs = write(case.model, case.data_sets[0], args.out / case.name) if case.model is not None and case.data_sets else None
        lines.append(f"{case.name} {case.rtol} {'-' if inputs is None else inputs}\n")
    for name, model, inputs, outputs in itertools.chain(node_extra.cases(), node_known.cases()):
        if args.match in name:
            lines.append(f"{name} 1e-4 {write(model, (inputs, outputs), args.out / name)}\n")
    (args.out / "cases.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
