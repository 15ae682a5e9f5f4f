"""Quantised files on the CUDA simulator: with exact activations the codes of a file give, bit for bit, the logits of the same model with dequantised f32 weights.

A few forms in the fast set, all of them with LLMC_SLOW.
"""
import sys
import unittest

import onnx

from common import E2E, INPUTS, ROOT, SLOW
from test_cuda_sim import LIBRARY, has_nvrtc

sys.path.insert(0, str(ROOT / "test" / "support"))
from quantized_forms import FORMS, rewrite  # noqa: E402

MODEL = INPUTS / "models" / "tiny-llama-eager" / "model.onnx"
PROMPT = [3, 17, 5, 40, 9]
FAST = ("bnb4-nf4",)


@unittest.skipUnless(has_nvrtc(), "no NVRTC (./dev setup fetches it)")
@unittest.skipUnless(LIBRARY.exists(), "no simulator in this build")
class CudaQuantized(E2E):
    def logits(self, model, name, *flags):
        path = self.tmp / f"{name}.onnx"
        onnx.save(model, path)
        art = self.compile(path, "--max-context", "64", "--target", "sm_80", "--activations", "f32", "--kv-cache", "f32", *flags, out=self.tmp / f"{name}.llmc")
        return self.run_tokens(art, PROMPT, 1, "--device", "cuda-sim", logits="all")[1]

    def test_forms_keep_their_bits(self):
        source = onnx.load(MODEL)
        for form in FORMS if SLOW else FAST:
            with self.subTest(form):
                quantised, plain, _ = rewrite(source, form)
                want = self.logits(plain, f"{form}-plain", "--f32")
                self.assertEqual(want.tobytes(), self.logits(quantised, form).tobytes())


if __name__ == "__main__":
    unittest.main()
