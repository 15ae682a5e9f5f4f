"""One decoder in many spellings (test/tools/decoders.py): all compile, and all give the logits that numpy computes."""
import dataclasses
import sys
import unittest

import numpy as np

from common import ROOT, E2E, rel_diff

sys.path.insert(0, str(ROOT / "test" / "tools"))
try:
    import onnx
    import decoders
except ImportError:  # the file is written with the onnx package of the development environment
    decoders = None

TOLERANCE = 1e-5
TOKENS = [(7 * i + 3) % 96 for i in range(13)]


FLAGS = ("--f32", "--target", "x86-64-v3", "--kv-cache", "f32", "--max-context", "64")
# Forms that no recogniser knows yet, and what is said of them.
REFUSED = {"tensor-scatter": "the queries: the shape of its rows is not known"}


@unittest.skipUnless(decoders, "needs the Python package onnx")
class Dialects(E2E):
    def write(self, form):
        model = self.tmp / f"{form.name}.onnx"
        onnx.save(decoders.model(form), model)
        return model

    def test_every_form_gives_the_same_logits(self):
        wanted = {}
        for form in decoders.FORMS:
            if form.name in REFUSED:
                continue
            with self.subTest(form.name):
                want = wanted.setdefault(form.shape, decoders.logits(form.shape, TOKENS))
                art = self.compile(self.write(form), *FLAGS, out=self.tmp / f"{form.name}.llmc")
                _, got = self.run_tokens(art, TOKENS, 1, logits="all")
                self.assertLess(rel_diff(got, want), TOLERANCE)

    def test_forms_refused_today(self):
        forms = {form.name: form for form in decoders.FORMS}
        for name, why in REFUSED.items():
            with self.subTest(name):
                self.assertIn(why, self.refused(3, "compile", self.write(forms[name]), "--quiet", *FLAGS, "-o", self.tmp / "no.llmc"))


if __name__ == "__main__":
    unittest.main()
