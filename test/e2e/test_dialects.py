"""One decoder in many spellings (test/tools/decoders.py): all compile to the same weights, bit for bit, and all give the logits that numpy computes.

Latent heads (test/tools/latent.py) are compared with what onnx.reference computes of their files.
"""
import hashlib
import json
import sys
import unittest

import numpy as np

from common import ROOT, E2E, rel_diff, some

sys.path.insert(0, str(ROOT / "test" / "tools"))
try:
    import onnx
    import onnx.reference
    import decoders
    import latent
except ImportError:  # the file is written with the onnx package of the development environment
    decoders = None

TOLERANCE = 1e-5
TOKENS = [(7 * i + 3) % 96 for i in range(13)]


# Forms whose weights differ: what is rounded between products is not fused.
OTHER_WEIGHTS = ("gqa-int8-cache",)
FLAGS = ("--f32", "--target", "x86-64-v3", "--kv-cache", "f32", "--max-context", "64")


def packed_tensors(inspected, art):
    """[(layout, rows, columns, hash of the bytes)] of all packed tensors but the tables by position, whose form and length are the file's."""
    data, sections = art.read_bytes(), inspected["sections"]
    out = []
    for t in inspected["weights"]:
        if not t["name"].startswith(("rope.", "positions")):
            at = sections[t["section"]]["offset"] + t["offset"]
            out.append((t["layout"], t["rows"], t["cols"], hashlib.sha256(data[at:at + t["bytes"]]).hexdigest()))
    return sorted(out)


@unittest.skipUnless(decoders, "needs the Python package onnx")
class Dialects(E2E):
    def write(self, form):
        model = self.tmp / f"{form.name}.onnx"
        onnx.save(decoders.model(form), model)
        return model

    def tensors(self, art):
        whole, weights = (json.loads(self.ok("inspect", art, "--json", *flag).stdout) for flag in ((), ("--weights",)))
        return packed_tensors({"sections": whole["sections"], "weights": weights["weights"]}, art)

    def test_every_form_gives_the_same_weights_and_logits(self):
        wanted, packed = {}, {}
        for form in some(decoders.FORMS, 31):
            with self.subTest(form.name):
                of = (form.shape, decoders.CACHE_STEP if form.cache == "int8" else 0)
                want = wanted[of] = wanted[of] if of in wanted else decoders.logits(of[0], TOKENS, of[1])
                art = self.compile(self.write(form), *FLAGS, out=self.tmp / f"{form.name}.llmc")
                _, got = self.run_tokens(art, TOKENS, 1, logits="all")
                self.assertLess(rel_diff(got, want), TOLERANCE)
                if form.name not in OTHER_WEIGHTS:
                    tensors = self.tensors(art)
                    self.assertEqual(packed.setdefault(form.shape, tensors), tensors)

    def test_latent_heads(self):
        for form in some(latent.FORMS, 7):
            with self.subTest(form.name):
                model, path = latent.model(form), self.tmp / f"{form.name}.onnx"
                onnx.save(model, path)
                want = onnx.reference.ReferenceEvaluator(model).run(["logits"], latent.inputs(model, TOKENS))[0][0]
                art = self.compile(path, *FLAGS, "--verify", out=self.tmp / f"{form.name}.llmc")
                _, got = self.run_tokens(art, TOKENS, 1, logits="all")
                self.assertLess(rel_diff(got, want), TOLERANCE)


if __name__ == "__main__":
    unittest.main()
