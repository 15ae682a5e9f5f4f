"""What families of models add (test/tools/families.py), on the CUDA simulator: the logits that onnx.reference computes of the file.

A few files in the fast set, all of them with LLMC_SLOW.
"""
import os
import sys
import unittest

import numpy as np

from common import ROOT, E2E, rel_diff
from test_cuda_sim import LIBRARY, has_nvrtc

sys.path.insert(0, str(ROOT / "test" / "tools"))
try:
    import onnx
    import onnx.reference
    import families
except ImportError:  # files are written with the onnx package of the development environment
    families = None

TOLERANCE = 2e-5
TOKENS = [(7 * i + 3) % 96 for i in range(13)]
FAST = ("moe-loop",)


@unittest.skipUnless(families, "needs the Python package onnx")
@unittest.skipUnless(has_nvrtc(), "no NVRTC (./dev setup fetches it)")
@unittest.skipUnless(LIBRARY.exists(), "no simulator in this build")
class CudaFamilies(E2E):
    def art(self, name, model):
        path = self.tmp / f"{name}.onnx"
        onnx.save(model, path)
        return self.compile(path, "--f32", "--activations", "f32", "--kv-cache", "f32", "--target", "sm_80", "--max-context", "64", "--max-batch", "4", out=self.tmp / f"{name}.llmc")

    def logits(self, art, tokens):
        return self.run_tokens(art, tokens, 1, "--device", "cuda-sim", logits="all")[1]

    def test_logits_are_those_of_the_file(self):
        for name, make in families.FAMILIES.items():
            if not os.environ.get("LLMC_SLOW") and name not in FAST:
                continue
            with self.subTest(name):
                model = make()
                want = onnx.reference.ReferenceEvaluator(model).run(None, {"input_ids": np.array([TOKENS])})[0][0]
                got = self.logits(self.art(name, model), TOKENS)
                self.assertLess(rel_diff(got, want), TOLERANCE)

    def test_graph_without_head_gives_hidden_rows(self):
        model = families.decoder(head=False)
        got = self.logits(self.art("hidden", model), TOKENS)
        want = onnx.reference.ReferenceEvaluator(model).run(None, {"input_ids": np.array([TOKENS])})[0][0]
        self.assertEqual(got.shape, want.shape)
        self.assertLess(rel_diff(got, want), TOLERANCE)


if __name__ == "__main__":
    unittest.main()
