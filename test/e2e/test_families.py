"""What families of models add (test/tools/families.py): every file compiles and gives the logits that onnx.reference computes of it."""
import sys
import unittest

import numpy as np

from common import ROOT, E2E, rel_diff, some

sys.path.insert(0, str(ROOT / "test" / "tools"))
try:
    import onnx
    import onnx.reference
    import families
except ImportError:  # files are written with the onnx package of the development environment
    families = None

TOLERANCE = 1e-5
TOKENS = [(7 * i + 3) % 96 for i in range(13)]


@unittest.skipUnless(families, "needs the Python package onnx")
class Families(E2E):
    def test_logits_are_those_of_the_file(self):
        for name, make in some(families.FAMILIES.items(), 16):
            with self.subTest(name):
                model = make()
                path = self.tmp / f"{name}.onnx"
                onnx.save(model, path)
                want = onnx.reference.ReferenceEvaluator(model).run(None, {"input_ids": np.array([TOKENS])})[0][0]
                art = self.compile(path, "--f32", "--target", "x86-64-v3", "--kv-cache", "f32", "--max-context", "64", out=self.tmp / f"{name}.llmc")
                _, got = self.run_tokens(art, TOKENS, 1, logits="all")
                self.assertLess(rel_diff(got, want), TOLERANCE)

    def test_gathers_of_different_choices_are_no_experts(self):
        path = self.tmp / "alien.onnx"
        onnx.save(families.decoder(lambda g, x: families.gathered_moe(g, x, alien=True)), path)
        text = self.refused(3, "compile", path, "--f32", "-o", self.tmp / "alien.llmc")
        self.assertIn("is not supported between tokens and logits", text)

    def test_gathers_of_other_biases_are_no_experts(self):
        """Only for the last of them the bias is another's; with three experts, the order of a token's choices is another."""
        def last(g, ids):
            return g.op("Where", g.op("Equal", ids, np.array(families.EXPERTS - 1)), np.array(0), ids)

        def turned(g, ids):
            return g.op("Reshape", g.op("Gather", g.op("Reshape", ids, np.array([-1, 2])), np.array([1, 0]), axis=1), np.array([-1]))
        for biased, experts in ((last, families.EXPERTS), (turned, 3)):
            path = self.tmp / "biased.onnx"
            onnx.save(families.decoder(lambda g, x: families.gathered_moe(g, x, biased=biased, experts=experts)), path)
            text = self.refused(3, "compile", path, "--f32", "-o", self.tmp / "biased.llmc")
            self.assertIn("is not supported between tokens and logits", text)

    def reference(self, model, inputs):
        return onnx.reference.ReferenceEvaluator(model).run(None, inputs)[0][0]

    def test_embedding_of_its_own(self):
        model = families.decoder(rows_in=True)
        table = np.random.default_rng(3).normal(0, 1, (96, families.HIDDEN)).astype(np.float32)
        path = self.tmp / "rows.onnx"
        onnx.save(model, path)
        for kind in some((np.float16, np.float32), 2):
            with self.subTest(kind.__name__):
                np.save(self.tmp / "table.npy", table.astype(kind))
                want = self.reference(model, {"inputs_embeds": table.astype(kind).astype(np.float32)[TOKENS][None]})
                art = self.compile(path, "--f32", "--target", "x86-64-v3", "--kv-cache", "f32", "--max-context", "64", "--embedding", self.tmp / "table.npy", out=self.tmp / "rows.llmc")
                _, got = self.run_tokens(art, TOKENS, 1, logits="all")
                self.assertLess(rel_diff(got, want), TOLERANCE)
        np.save(self.tmp / "table.npy", table[:, :-1])
        self.assertIn("has rows of 31 values, the graph takes 32", self.refused(4, "compile", path, "--f32", "--embedding", self.tmp / "table.npy", "-o", self.tmp / "rows.llmc"))
        (self.tmp / "table.npy").write_bytes(b"no table at all")
        self.assertIn("its magic is missing", self.refused(4, "compile", path, "--f32", "--embedding", self.tmp / "table.npy", "-o", self.tmp / "rows.llmc"))

    def test_graph_without_head_gives_hidden_rows(self):
        model = families.decoder(head=False)
        path = self.tmp / "hidden.onnx"
        onnx.save(model, path)
        art = self.compile(path, "--f32", "--target", "x86-64-v3", "--kv-cache", "f32", "--max-context", "64", out=self.tmp / "hidden.llmc")
        _, got = self.run_tokens(art, TOKENS, 1, logits="all")
        want = self.reference(model, {"input_ids": np.array([TOKENS])})
        self.assertEqual(got.shape, want.shape)
        self.assertLess(rel_diff(got, want), TOLERANCE)


if __name__ == "__main__":
    unittest.main()
