"""Faults that users reported against similar importers, each reduced to a small decoder with a known right answer.

The rows on single ops (B04, B05, B25, B26, B38 to B42, B45 to B47) are tools/dev/graph_cases.py, run by test_import_numbers.py, and
tools/dev/node_known.py, run by test_nodes.py; those on damaged files (B44) are test_bad.py; B43 and B81 are test/compiler/weights/PackTest.cpp; B79 and
B67 are here, as compiling is their subject. What is computed is test_known_failures_numbers.py and test_known_failures_fusion.py.
"""
import itertools
import json
import sys
import unittest

import numpy as np

from common import INPUTS, ROOT, SLOW, E2E, rel_diff, some

sys.path.insert(0, str(ROOT / "test" / "tools"))
try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    import decoders
    from decoders import Form
except ImportError:  # files are written with the onnx package of the development environment
    decoders = None

FLAGS = ("--f32", "--target", "x86-64-v3", "--kv-cache", "f32", "--max-context", "64")
TOKENS = [5, 90, 33, 2, 71]
TOLERANCE = 1e-5


@unittest.skipUnless(decoders, "needs the Python package onnx")
class KnownFailures(E2E):
    of_plain = None

    def setUp(self):
        super().setUp()
        self.count = 0

    def save(self, model):
        self.count += 1
        path = self.tmp / f"m{self.count}.onnx"
        onnx.save(model, path)
        return path

    def tokens_of(self, model, count=12):
        art = self.compile(self.save(model), *FLAGS, out=self.tmp / f"m{self.count}.llmc")
        return self.run_tokens(art, TOKENS, count)[0]

    def plain(self):
        """The tokens of the model that the others are forms of."""
        if KnownFailures.of_plain is None:
            KnownFailures.of_plain = self.tokens_of(decoders.model(Form("plain")))
        return KnownFailures.of_plain

    def expect_plain(self, model):
        """The tokens of the plain model; in the fast set only that raising keeps the logits of the graph, for a tenth of the time."""
        if SLOW:
            self.assertEqual(self.tokens_of(model), self.plain())
        else:
            self.ok("compile", self.save(model), "--f32", "--verify", "--stop-after", "raise", "--emit", "llm")

    def test_B06_inputs_that_differ(self):
        for form in (Form("b", mask="padding", positions=False), Form("a", mask="padding"), Form("c", positions=False)):
            with self.subTest(mask=form.mask, positions=form.positions):
                self.expect_plain(decoders.model(form))

    def test_B06_an_input_that_nothing_explains(self):
        model = decoders.model(Form("plain"))
        head = model.graph.node[-1]
        model.graph.node.insert(len(model.graph.node) - 1, helper.make_node("Add", [head.input[0], "style_vector"], ["styled"], name="/style"))
        head.input[0] = "styled"
        model.graph.input.append(helper.make_tensor_value_info("style_vector", TensorProto.FLOAT, [decoders.HIDDEN]))
        self.assertIn("style_vector", self.refused(3, "compile", self.save(model), *FLAGS, "-o", self.tmp / "no.llmc"))

    def test_B25_ids_outside_of_the_table(self):
        folder = INPUTS / "models" / "tiny-llama-sdpa"
        art = self.compile(folder / "model.onnx", "--f32", "--max-context", "64")  # that of other files, too
        vocabulary = len(json.loads((folder / "expect.json").read_text())["cases"][0]["last_logits"])
        self.run_tokens(art, [vocabulary - 1], 1)
        for ids in (f"1,{vocabulary}", "1,-1"):
            self.assertIn("vocabulary", self.refused(2, "run", art, f"--tokens={ids}", "--max-tokens", "1"))

    def test_B48_dims_without_names(self):
        model = decoders.model(Form("plain", mask="padding"))
        for value in (*model.graph.input, *model.graph.output):
            for dim in value.type.tensor_type.shape.dim:
                if dim.dim_param:
                    dim.Clear()
        self.expect_plain(model)

    def test_B62_local_functions_in_two_levels(self):
        model = decoders.model(Form("plain"))
        opset = [helper.make_opsetid("", 18), helper.make_opsetid("a.b", 1)]
        mean = helper.make_function("a.b", "Mean", ["x", "unused"], ["m"], [
            helper.make_node("Constant", [], ["axes"], value_ints=[-1]),
            helper.make_node("Mul", ["x", "x"], ["s"]), helper.make_node("ReduceMean", ["s", "axes"], ["m"], keepdims=1)], opset)
        eps = helper.make_node("Constant", [], ["e"])
        eps.attribute.append(onnx.AttributeProto(name="value_float", ref_attr_name="eps", type=onnx.AttributeProto.FLOAT))
        norm = helper.make_function("a.b", "Norm", ["x", "g"], ["y"], [
            helper.make_node("Mean", ["x", ""], ["m"], domain="a.b"), eps, helper.make_node("Add", ["m", "e"], ["v"]),
            helper.make_node("Sqrt", ["v"], ["r"]), helper.make_node("Div", ["x", "r"], ["n"]), helper.make_node("Mul", ["n", "g"], ["y"])],
            opset, attribute_protos=[helper.make_attribute("eps", 1e-5)])
        model.functions.extend([mean, norm])
        model.opset_import.append(helper.make_opsetid("a.b", 1))
        self.replace_norms(model, lambda x, gain, out: [helper.make_node("Norm", [x, gain], [out], domain="a.b", name="/norm")])
        self.expect_plain(model)

    def replace_norms(self, model, make):
        """The seven nodes of each norm of the generator, behind their constants, by others."""
        nodes = {n.output[0]: n for n in model.graph.node}
        kept = []
        for node in model.graph.node:
            scaled = nodes.get(node.input[0]) if node.op_type == "Mul" and node.input and "norm" in node.input[-1] else None
            kept += make(scaled.input[0], node.input[1], node.output[0]) if scaled else [node]
        del model.graph.node[:]
        model.graph.node.extend(kept)

    def test_B63_types_of_ids_and_masks(self):
        masks = (TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT)
        for mask, ids in some(itertools.product(masks, (TensorProto.INT32, TensorProto.INT64)), 5):
            with self.subTest(ids=ids, mask=mask):
                model = decoders.model(Form("m", mask="padding", ids=ids))
                for value in model.graph.input:
                    if value.name == "attention_mask":
                        value.type.tensor_type.elem_type = mask
                self.expect_plain(model)

    def test_B67_what_is_printed_does_not_grow_with_weights(self):
        small = self.ok("compile", self.save(decoders.model(Form("plain"))), "--stop-after", "raise", "--emit", "llm").stdout
        model = decoders.model(Form("plain"))
        for tensor in model.graph.initializer:
            if tensor.name == "embed":
                tensor.CopyFrom(numpy_helper.from_array(np.repeat(numpy_helper.to_array(tensor), 64, 0), "embed"))
        large = self.ok("compile", self.save(model), "--stop-after", "raise", "--emit", "llm").stdout
        self.assertLess(len(large), len(small) + 2000)

    def test_B76_tied_head_is_stored_once(self):
        sizes, logits = [], []  # logits of the compiled ones: the slow set
        for form in ("shared", "copied", "untied"):
            model = decoders.model(Form("plain"))
            tensors = {t.name: t for t in model.graph.initializer}
            table = numpy_helper.to_array(tensors["embed"])
            if form == "copied":
                tensors["head"].CopyFrom(numpy_helper.from_array(np.ascontiguousarray(table.T), "head"))
            if form == "shared":
                model.graph.initializer.remove(tensors["head"])
                model.graph.node.insert(0, helper.make_node("Transpose", ["embed"], ["head"], perm=[1, 0], name="/tie"))
            path = self.save(model)
            sizes.append(json.loads(self.ok("plan", path, *FLAGS, "--json").stdout)["targets"][0]["weight_bytes"])
            if SLOW:
                art = self.compile(path, *FLAGS, out=self.tmp / f"{form}.llmc")
                logits.append(self.run_tokens(art, TOKENS, 1, logits="all")[1])
        self.assertLess(sizes[0], sizes[2] - 8000)
        if SLOW:
            np.testing.assert_array_equal(logits[0], logits[1])

    def test_B77_present_without_past(self):
        model = decoders.model(Form("no-past", op="attention23", mask="causal_op", cache="none"))
        for node in model.graph.node:
            if node.op_type == "Attention":
                self.assertEqual(node.input[4:6], ["", ""])
        art = self.compile(self.save(model), *FLAGS)
        _, got = self.run_tokens(art, TOKENS, 1, logits="all")
        self.assertLess(rel_diff(got, decoders.logits(decoders.GQA, TOKENS)), TOLERANCE)

    def test_B79_two_compiles_are_equal(self):
        model = self.save(decoders.model(Form("plain")))
        arts = []
        for name, threads in (("a", "1"), ("b", "2")):
            folder = self.tmp / name
            folder.mkdir()
            self.ok("compile", model, "-o", folder / "m.llmc", "--quiet", *FLAGS, "-j", threads, cwd=folder)
            arts.append((folder / "m.llmc").read_bytes())
        self.assertEqual(*arts)


if __name__ == "__main__":
    unittest.main()
