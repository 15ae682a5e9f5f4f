"""`llmc verify --against`: an artifact beside the graph it was made from, and beside another one."""
import json
import shutil
import unittest

import onnx
from common import E2E, INPUTS, llmc
from onnx import numpy_helper

MODELS = INPUTS / "models"


class VerifyAgainst(E2E):
    def check(self, art, model, *flags):
        return llmc("verify", art, "--against", model, "--json", "--device", "cpu", *flags)

    def test_graph_and_others(self):
        source = MODELS / "tiny-llama-eager"
        art = self.compile(source / "model.onnx", "--f32", "--max-context", "64")
        done = self.check(art, source / "model.onnx")
        self.assertEqual(done.returncode, 0, done.stderr)
        against = json.loads(done.stdout)["against"]
        self.assertTrue(against["agrees"])
        self.assertEqual(against["rows"], against["tokens"])
        self.assertLess(against["relative_error"], 1e-4)

        other = self.tmp / "other"
        shutil.copytree(source, other)
        m = onnx.load(other / "model.onnx")
        changed = max(m.graph.initializer, key=lambda t: len(t.raw_data))
        changed.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(changed)[::-1].copy(), changed.name))
        onnx.save(m, other / "model.onnx")
        done = self.check(art, other / "model.onnx")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertRegex(done.stderr, r"^llmc: error: .* differ: relative error [\d.e+-]+, expected at most [\d.e+-]+\n")
        self.assertFalse(json.loads(done.stdout)["against"]["agrees"])

        done = self.check(art, self.tmp / "missing.onnx")
        self.assertEqual(done.returncode, 4)
        self.assertIn("missing.onnx", done.stderr)

    def test_codes(self):
        model = MODELS / "torchscript-mistral" / "model.onnx"
        done = self.check(self.compile(model, "--int8", "--max-context", "64"), model)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads(done.stdout)["against"]["relative_error"], 1e-4)


if __name__ == "__main__":
    unittest.main()
