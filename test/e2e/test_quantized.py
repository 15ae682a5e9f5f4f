"""Quantised files: with exact activations they give, bit for bit, the logits of the same model with dequantised f32 weights, and stay small."""
import sys
import unittest

import numpy as np
import onnx

from common import E2E, INPUTS, ROOT, SLOW, rel_diff

sys.path.insert(0, str(ROOT / "test" / "support"))
from quantized_forms import FORMS, rewrite  # noqa: E402

MODEL = INPUTS / "models" / "tiny-llama-eager" / "model.onnx"
PROMPT = [3, 17, 5, 40, 9, 22, 8]


class Quantized(E2E):
    def save(self, model, name):
        path = self.tmp / name
        path.parent.mkdir(parents=True, exist_ok=True)
        onnx.save(model, path)
        return path

    def logits(self, model, *flags):
        art = self.compile(model, "--max-context", "64", *flags, out=model.with_suffix(".llmc"))
        return art, self.run_tokens(art, PROMPT, 1, logits="all")[1]

    def test_forms_keep_their_bits(self):
        source = onnx.load(MODEL)
        for form in FORMS if SLOW else ("nbits4-packed-b16", "nbits2-packed", "bnb4-nf4", "qdq-int4-axis0", "dynamic-uint8-channel"):
            with self.subTest(form):
                quantised, plain, count = rewrite(source, form)
                self.assertGreater(count, 10)
                _, want = self.logits(self.save(plain, f"{form}-plain.onnx"), "--f32")
                art, got = self.logits(self.save(quantised, f"{form}.onnx"), "--activations", "f32")
                self.assertEqual(want.tobytes(), got.tobytes())
                # The integer kernels of `auto` are another matter, but near.
                if form.startswith("nbits4"):
                    _, auto = self.logits(self.save(quantised, f"{form}-auto.onnx"))
                    self.assertLess(rel_diff(auto, want), 2e-2)


if __name__ == "__main__":
    unittest.main()
