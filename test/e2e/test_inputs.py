"""Inputs that exporters add or name at will: the same small decoder must give the same tokens."""
import hashlib
import sys
import unittest

import numpy as np

from common import ROOT, SLOW, E2E

sys.path.insert(0, str(ROOT / "test" / "tools"))
try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    import decoders
    from decoders import END, Form
except ImportError:  # files are written with the onnx package of the development environment
    decoders = None

FLAGS = ("--f32", "--target", "x86-64-v3", "--kv-cache", "f32", "--max-context", "64")
TOKENS = [5, 90, 33, 2, 71]


def head_of(model):
    """Index of the last product and the name of what it multiplies."""
    at = max(i for i, n in enumerate(model.graph.node) if "head" in n.input)
    return at, model.graph.node[at]


def add_input(model, name, dims, kind=TensorProto.INT64):
    model.graph.input.append(helper.make_tensor_value_info(name, kind, dims))


def kept(model, *nodes, name, dims):
    """Rows chosen by an input in front of the head."""
    at, head = head_of(model)
    before = head.input[0]
    head.input[0] = "kept_rows"
    for node in reversed(nodes):
        node.input[:] = [before if n == "rows" else n for n in node.input]
        model.graph.node.insert(at, node)
    add_input(model, name, dims)
    for tensor, value in (("c0", 0), ("c1", 1), ("cend", END)):
        model.graph.initializer.append(numpy_helper.from_array(np.array([value], np.int64), tensor))


def scalar_count(model):
    kept(model, helper.make_node("Neg", ["keep"], ["less"]), helper.make_node("Unsqueeze", ["less", "c0"], ["from"]),
         helper.make_node("Slice", ["rows", "from", "cend", "c1"], ["kept_rows"]), name="keep", dims=[])


def vector_count(model):
    kept(model, helper.make_node("Sub", ["c0", "keep"], ["from"]), helper.make_node("Slice", ["rows", "from", "cend", "c1"], ["kept_rows"]), name="keep", dims=[1])


def row_numbers(model):
    kept(model, helper.make_node("Gather", ["rows", "which"], ["kept_rows"], axis=1), name="which", dims=["kept"])


def beams(model):
    add_input(model, "beam_idx", ["batch"], TensorProto.INT32)
    for i, value in enumerate(v.name for v in list(model.graph.input) if v.name.startswith("past_key_values")):
        for node in model.graph.node:
            if node.op_type == "Concat":
                node.input[:] = [f"moved_{i}" if n == value else n for n in node.input]
        model.graph.node.insert(0, helper.make_node("Gather", [value, "beam_idx"], [f"moved_{i}"], axis=0))


def token_types(model):
    add_input(model, "token_type_ids", ["batch", "seq"])
    table = np.random.default_rng(1).normal(0, 1, (2, decoders.HIDDEN)).astype(np.float32)
    table[0] = 0
    model.graph.initializer.append(numpy_helper.from_array(table, "types"))
    at = next(i for i, n in enumerate(model.graph.node) if "embed" in n.input)
    rows = model.graph.node[at].output[0]
    model.graph.node[at].output[0] = "plain_rows"
    model.graph.node.insert(at + 1, helper.make_node("Add", ["plain_rows", "type_rows"], [rows]))
    model.graph.node.insert(at + 1, helper.make_node("Gather", ["types", "token_type_ids"], ["type_rows"]))


def renamed(model):
    """Names that say nothing, inputs and outputs in another order."""
    names = {v.name: "v" + hashlib.sha256(v.name.encode()).hexdigest()[:8] for v in [*model.graph.input, *model.graph.output]}
    for node in model.graph.node:
        node.input[:] = [names.get(n, n) for n in node.input]
        node.output[:] = [names.get(n, n) for n in node.output]
    for values in (model.graph.input, model.graph.output):
        for v in values:
            v.name = names[v.name]
        order = sorted(values, key=lambda v: v.name)
        copies = [onnx.ValueInfoProto.FromString(v.SerializeToString()) for v in order]
        del values[:]
        values.extend(copies)


@unittest.skipUnless(decoders, "needs the Python package onnx")
class Inputs(E2E):
    def tokens_of(self, model, name):
        path = self.tmp / f"{name}.onnx"
        onnx.save(model, path)
        return self.run_tokens(self.compile(path, *FLAGS, out=self.tmp / f"{name}.llmc"), TOKENS, 8)[0]

    def test_tokens_are_the_same(self):
        """Token by token in the slow set; in the fast one raising keeps the logits of the graph, for a tenth of the time."""
        want = self.tokens_of(decoders.model(Form("plain")), "plain") if SLOW else None
        cases = [(Form("plain"), change) for change in (scalar_count, token_types, vector_count, row_numbers, beams)]
        cases += [(Form("mask", mask=mask), renamed) for mask in ("input4d", "padding", "compare")]
        for form, change in cases:
            with self.subTest(f"{change.__name__} {form.mask}"):
                model = decoders.model(form)
                change(model)
                if SLOW:
                    self.assertEqual(self.tokens_of(model, change.__name__), want)
                else:
                    onnx.save(model, self.tmp / "model.onnx")
                    self.ok("compile", self.tmp / "model.onnx", "--f32", "--verify", "--stop-after", "raise", "--emit", "llm")

    def test_types_that_are_not_asked_for_are_named(self):
        model = decoders.model(Form("plain"))
        token_types(model)
        onnx.save(model, self.tmp / "types.onnx")
        done = self.ok("compile", self.tmp / "types.onnx", *FLAGS, "--stop-after", "raise", "--emit", "llm")
        self.assertEqual(done.stderr.count("warning: input 'token_type_ids' is taken as 0 for every token"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
