"""Rows of known failures whose subject is what a compile costs (B58, B80, B85), and the matrix of ops and element types (B86)."""
import json
import sys
import unittest

import numpy as np

from common import ROOT, E2E, SLOW, llmc, rel_diff, some
from test_bad import limited

sys.path.insert(0, str(ROOT / "test" / "tools"))
try:
    import onnx
    import onnx.reference
    from onnx import TensorProto, numpy_helper
    import decoders
    import families
except ImportError:  # files are written with the onnx package of the development environment
    families = None

FLAGS = ("--f32", "--target", "x86-64-v3", "--kv-cache", "f32", "--max-context", "64", "--quiet")
TOKENS = [5, 90, 33, 2, 71]
MB = 1 << 20
UNARY = ["Neg", "Abs", "Exp", "Log", "Sqrt", "Reciprocal", "Relu", "Sigmoid", "Tanh", "Erf", "Floor", "Ceil", "Round", "Sign", "Sin", "Cos", "Softplus"]
BINARY = ["Add", "Sub", "Mul", "Div", "Pow", "Max", "Min"]
REDUCE = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin"]


def chain(g, x, count):
    """Elementwise ops and reductions over the features, none of which a recogniser knows."""
    for i in range(count // 4):
        x = g.op("Sin", g.op("Add", x, 0.1 * (i % 7)))
        x = g.op("Sub", x, g.op("ReduceMean", x, np.array([-1])))
    return x


def typed(op, kind):
    """A feed-forward part that computes op on values of that type."""
    def ffn(g, x):
        h = g.op("Cast", families.swiglu(g, x), to=kind)
        y = g.op(op, h, h) if op in BINARY else g.op("Add", h, g.op(op, h, np.array([-1]))) if op in REDUCE else g.op(op, h)
        return g.op("Cast", y, to=TensorProto.FLOAT)
    return ffn


@unittest.skipUnless(families, "needs the Python package onnx")
class Cost(E2E):
    def save(self, model, name="m"):
        path = self.tmp / f"{name}.onnx"
        onnx.save(model, path)
        return path

    def bounded(self, model, most_mb, name="m"):
        done = limited("compile", model, "-o", self.tmp / f"{name}.llmc", *FLAGS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(done.rss, most_mb)
        return done.rss

    @unittest.skipUnless(SLOW, "writes 128 MB of weights")
    def test_B58_memory_grows_by_less_than_the_weights(self):
        peaks = []
        for rows in (1, 5000):
            model = decoders.model(decoders.Form("plain"))
            for t in model.graph.initializer:
                if t.name in ("embed", "head"):
                    data = numpy_helper.to_array(t)
                    t.CopyFrom(numpy_helper.from_array(np.repeat(data, rows, 0 if t.name == "embed" else 1), t.name))
            peaks.append(self.bounded(self.save(model), 1000))
        # Two tensors are all the weights here, and one that is packed is held once more.
        tensor = 96 * 32 * 4 * 5000 / MB
        self.assertLess(peaks[1] - peaks[0], 1.3 * 2 * tensor + tensor)

    def test_B58_layers_share_their_text(self):
        sizes = []
        for layers in (2, 6):
            before, decoders.LAYERS = decoders.LAYERS, layers
            try:
                model = self.save(decoders.model(decoders.Form("plain")))
            finally:
                decoders.LAYERS = before
            sizes.append(len(self.ok("compile", model, "--f16", "--target", "sm_80", "--stop-after", "codegen", "--emit", "cuda").stdout))
        self.assertLess(sizes[1], 1.2 * sizes[0])
        self.assertLess(sizes[1], 2 * MB)

    def test_B80_a_chain_of_a_thousand_ops(self):
        model = families.decoder()
        last = model.graph.node[-1].output[0]
        for i in range(1000):
            model.graph.node.add(op_type="Neg", input=[last], output=[f"n{i}"])
            last = f"n{i}"
        model.graph.output[0].name = last
        self.bounded(self.save(model), 500)

    @unittest.skipUnless(SLOW, "a vocabulary of 150,000 strings")
    def test_B80_a_vocabulary_of_many_strings(self):
        model = self.save(families.decoder())
        vocab = {f"t{i}": i for i in range(150000)}
        (self.tmp / "tokenizer.json").write_text(json.dumps({"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": None, "post_processor": None,
                                                              "decoder": None, "model": {"type": "BPE", "vocab": vocab, "merges": [], "unk_token": None}}))
        done = limited("compile", model, "-o", self.tmp / "m.llmc", *FLAGS)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        self.assertLess(done.rss, 500)

    def test_B85_a_chain_of_elementwise_ops_and_reductions(self):
        model = families.decoder(lambda g, x: chain(g, families.swiglu(g, x), 200))
        path = self.save(model)
        self.bounded(path, 1000)
        want = onnx.reference.ReferenceEvaluator(model).run(None, {"input_ids": np.array([TOKENS])})[0][0]
        _, got = self.run_tokens(self.tmp / "m.llmc", TOKENS, 1, logits="all")
        self.assertLess(rel_diff(got, want), 1e-4)

    def test_B85_a_program_that_is_too_long_is_refused(self):
        path = self.save(families.decoder(lambda g, x: chain(g, families.swiglu(g, x), 20000)))
        self.assertIn("not supported", self.refused(3, "compile", path, *FLAGS, "-o", self.tmp / "no.llmc"))

    def test_B86_ops_on_every_type(self):
        kinds = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16, "bf16": TensorProto.BFLOAT16, "i8": TensorProto.INT8, "i32": TensorProto.INT32,
                 "i64": TensorProto.INT64, "i1": TensorProto.BOOL}
        for op, (name, kind) in some([(op, k) for op in UNARY + BINARY + REDUCE for k in kinds.items()], 24):
            for target in ("x86-64-v3", "sm_80"):
                with self.subTest(f"{op} {name} {target}"):
                    model = families.decoder(typed(op, kind), check=False)
                    done = llmc("compile", self.save(model), "--f16", "--target", target, "--stop-after", "plan", "--emit", "exe", "--quiet")
                    self.assertIn(done.returncode, (0, 3, 4), done.stderr)
                    if done.returncode:
                        self.assertTrue(done.stderr.startswith("llmc: error: "), done.stderr)
                        self.assertIn("/", done.stderr)  # names a node


if __name__ == "__main__":
    unittest.main()
