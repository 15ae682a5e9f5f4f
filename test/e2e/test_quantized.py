"""Quantised files keep their codes, scales and zero points; with exact activations they give, bit for bit, the logits of the same model with dequantised f32 weights."""
import collections
import json
import sys
import unittest

import numpy as np
import onnx

from common import E2E, INPUTS, ROOT, SLOW, rel_diff

sys.path.insert(0, str(ROOT / "test" / "support"))
from packed_rows import key, rows_of  # noqa: E402
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

    def rows_in(self, art):
        """How often the packed weights of an artifact hold which row of codes, scales and zero points."""
        offset = next(s["offset"] for s in json.loads(self.ok("inspect", art, "--json").stdout)["sections"] if s["kind"] == "weights")
        data, out = art.read_bytes(), collections.Counter()
        for w in json.loads(self.ok("inspect", art, "--weights", "--json").stdout)["weights"]:
            at = offset + w["offset"]
            for row in rows_of(data[at:at + w["bytes"]], w["layout"], w["rows"], w["cols"]) or []:
                out[key(*row)] += 1
        return out

    def rows_given(self, products):
        """The same of the file."""
        out = collections.Counter()
        for p in products:
            codes, scales, zeros = p.kept
            for i in range(p.n):
                out[key(codes[i], scales[i], zeros[i])] += 1
        return out

    def test_forms_keep_their_bits(self):
        source = onnx.load(MODEL)
        for form in FORMS if SLOW else ("nbits4-packed-b16", "qdq-int4-axis0"):
            with self.subTest(form):
                quantised, plain, products = rewrite(source, form)
                self.assertGreater(len(products), 10)
                _, want = self.logits(self.save(plain, f"{form}-plain.onnx"), "--f32")
                art, got = self.logits(self.save(quantised, f"{form}.onnx"), "--activations", "f32")
                self.assertEqual(want.tobytes(), got.tobytes())
                if form != "bnb4-nf4":  # its blocks run over the ends of rows
                    self.assertEqual(self.rows_in(art), self.rows_given(products))
                # The integer kernels of `auto` are another matter, but near.
                if form.startswith("nbits4"):
                    _, auto = self.logits(self.save(quantised, f"{form}-auto.onnx"))
                    self.assertLess(rel_diff(auto, want), 2e-2)


if __name__ == "__main__":
    unittest.main()
