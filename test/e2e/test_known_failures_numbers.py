"""Rows of known failures about numbers, on small decoders whose logits numpy or onnx.reference computes.

Single ops with the values of the rows are tools/dev/node_known.py, blocks of 4 bits (B31) also ms_cases.py, kernels test/kernels/KnownFailuresTest.cpp.
"""
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

from common import ROOT, SLOW, E2E, rel_diff, some
from test_models import chunk_logits, engine_logits

sys.path[:0] = [str(ROOT / "test" / "tools"), str(ROOT / "test" / "support")]
try:
    import onnx
    import onnx.reference
    from onnx import TensorProto, helper
    import decoders
    import families
    from decoders import Form, Shape
    from quantized_forms import rewrite
except ImportError:  # files are written with the onnx package of the development environment
    decoders = None

FLAGS = ("--f32", "--target", "x86-64-v3", "--kv-cache", "f32")
TOKENS = [5, 90, 33, 2, 71, 14, 8, 63, 40, 27, 91, 12]
TOLERANCE = 1e-5
HALF = TensorProto.FLOAT16


def llama3(theta=5e5, dim=128, factor=8.0, low=1.0, high=4.0, context=8192):
    """Frequencies whose long waves are slowed down, as the file of such a model holds them."""
    freq = theta ** (-np.arange(0, dim, 2) / dim)
    wave = 2 * np.pi / freq
    smooth = (context / wave - low) / (high - low)
    between = (1 - smooth) * freq / factor + smooth * freq
    return np.where(wave < context / high, freq, np.where(wave > context / low, freq / factor, between))


def with_frequencies(freq):
    """decoders.weights for models that rotate by these."""
    plain = decoders.weights

    def weights(shape, seed=7):
        out = plain(shape, seed)
        out["inv_freq"] = freq.astype(np.float32)
        angle = np.arange(decoders.POSITIONS, dtype=np.float32)[:, None] * out["inv_freq"]
        return out | {"cos": np.cos(angle).astype(np.float32), "sin": np.sin(angle).astype(np.float32)}
    return mock.patch.object(decoders, "weights", weights)


class HalfSliding:
    """Every second layer sees a window."""

    def layer(self, x, n):
        self.mask = self.all_masks[n % 2]
        return super().layer(x, n)

    def masks(self):
        whole, self.s = self.s, Shape(window=3)
        near = super().masks()
        self.s = whole
        self.all_masks = [super().masks(), near]
        return self.all_masks[0]


def halves(g, x, kind):
    """A layer norm that an exporter wrote out in that type, of rows one value of which is far above their mean."""
    far = np.zeros(families.HIDDEN, np.float32)
    far[5] = 800
    x = g.op("Cast", g.op("Add", x, far), to=kind)
    numpy_kind = helper.tensor_dtype_to_np_dtype(kind)
    d = g.op("Sub", x, g.op("ReduceMean", x, np.array([-1])))
    variance = g.op("ReduceMean", g.op("Pow", d, np.array(2, numpy_kind)), np.array([-1]))
    y = g.op("Div", d, g.op("Sqrt", g.op("Add", variance, np.array(1e-3, numpy_kind))))
    return g.op("Mul", g.op("Cast", y, to=TensorProto.FLOAT), g.weight(families.HIDDEN, scale=0.1, offset=1.0))


def large_residual(g, x, kind):
    """Two addends of 40000 in one feature, whose sum is no half; it comes back into range behind them."""
    large = np.zeros(families.HIDDEN, helper.tensor_dtype_to_np_dtype(kind))
    large[5] = 40000
    x = g.op("Add", g.op("Add", g.op("Cast", x, to=kind), large), large)
    return g.rms(g.op("Mul", g.op("Cast", x, to=TensorProto.FLOAT), 1e-4), families.HIDDEN)


@unittest.skipUnless(decoders, "needs the Python package onnx")
class Numbers(E2E):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.shared.cleanup)

    def plain(self):
        """The artifact of a plain decoder, compiled once; the file has a second output that nothing reads."""
        path = Path(self.shared.name) / "plain.llmc"
        if not path.exists():
            model = decoders.model(Form("plain", mask="padding"))
            model.graph.output.append(helper.make_tensor_value_info(model.graph.node[-2].output[0], TensorProto.FLOAT, None))
            self.artifact(model).replace(path)
        return path

    def artifact(self, model, name="m", *flags, context=64):
        path = self.tmp / f"{name}.onnx"
        onnx.save(model, path)
        return self.compile(path, *(flags or FLAGS), "--max-context", context, "--max-batch", "4", out=self.tmp / f"{name}.llmc")

    def logits(self, art, tokens=TOKENS):
        return self.run_tokens(art, tokens, 1, logits="all")[1]

    def reference(self, model, tokens=TOKENS):
        return onnx.reference.ReferenceEvaluator(model).run(None, {"input_ids": np.array([tokens])})[0][0]

    def expect(self, model, want, name="m", tokens=TOKENS, tolerance=TOLERANCE):
        self.assertLess(rel_diff(self.logits(self.artifact(model, name), tokens), want), tolerance)

    def batch(self, art, prompts, count, *flags):
        file = self.tmp / "batch.jsonl"
        file.write_text("".join(json.dumps({"tokens": p}) + "\n" for p in prompts))
        done = self.ok("run", art, "--batch", file, "--max-tokens", count, "--temperature", "0", "--ignore-eos", "--device", "cpu", *flags)
        return [json.loads(line)["tokens"] for line in done.stdout.splitlines()]

    def test_B02_prompts_of_different_lengths(self):
        art = self.plain()
        prompts = [TOKENS[:3], TOKENS[:7], TOKENS[1:12]]
        self.assertEqual(self.batch(art, prompts, 16), [self.run_tokens(art, p, 16)[0] for p in prompts])

    @unittest.skipUnless(SLOW, "single ops and kernels have the same")
    def test_B03_masks_of_any_low_value(self):
        cases = [(low, mask, dim) for dim in (16, 64, 80) for mask in ("where", "padding", "compare") for low in (-65504.0, -3.4e38, -1e9, -np.inf)]
        for low, mask, dim in cases:
            with self.subTest(low=low, mask=mask, dim=dim), mock.patch.object(decoders, "LOW", np.float32(low)):
                shape = Shape(dim=dim)
                self.expect(decoders.model(Form("x", shape=shape, mask=mask)), decoders.logits(shape, TOKENS))

    @unittest.skipUnless(SLOW, "single ops and kernels have the same")
    def test_B18_heads_of_a_group(self):
        for heads, kv in ((7, 1), (4, 2), (40, 2), (48, 2)):
            with self.subTest(f"{heads}/{kv}"):
                shape = Shape(heads=heads, kv=kv, dim=8)
                self.expect(decoders.model(Form("x", shape=shape)), decoders.logits(shape, TOKENS))

    def test_B20_frequencies_of_the_file(self):
        given = llama3()
        for index, value in ((28, 0.00321144599), (29, 0.00216657076), (63, 3.06892599e-07)):
            self.assertAlmostEqual(given[index] / value, 1, 8)
        forms = (Form("x", rope="compute"), Form("x"), Form("x", op="gqa", rope="inside", positions=False))
        cases = [(form, freq) for freq in (np.array([1, 0.5, 0.5, 0.001]), given) for form in forms]
        tokens = [(7 * i + 3) % 96 for i in range(300)]
        for form, freq in some(cases, 6):
            with self.subTest(f"{form.rope} {len(freq)}"), with_frequencies(freq), mock.patch.object(decoders, "POSITIONS", 320):
                shape = Shape(dim=2 * len(freq))
                form = decoders.dataclasses.replace(form, shape=shape)
                art = self.artifact(decoders.model(form), context=320)
                self.assertLess(rel_diff(self.logits(art, tokens), decoders.logits(shape, tokens)), TOLERANCE)

    def test_B20_positions_behind_the_table(self):
        onnx.save(decoders.model(Form("plain")), self.tmp / "m.onnx")
        done = self.ok("compile", self.tmp / "m.onnx", *FLAGS, "--max-context", "128", "--stop-after", "plan", "--emit", "exe")
        self.assertIn("max-context is 128, the model has 64 positions: compiled for 64", done.stderr)
        self.assertIn("prompt of 65 tokens, the context holds 64", self.refused(5, "run", self.plain(), "--tokens", ",".join(["5"] * 65)))

    def test_B21_layers_with_and_without_window(self):
        model = type("Mixed", (HalfSliding, decoders.Decoder), {})(Form("x", cache="none", positions=False)).build()
        art = self.artifact(model)
        tokens = list(TOKENS)
        got, first = self.run_tokens(art, tokens, 12, logits="all")
        self.assertLess(rel_diff(first[:len(tokens)], self.reference(model)), TOLERANCE)
        for token in got:
            self.assertEqual(token, int(self.reference(model, tokens)[-1].argmax()))
            tokens.append(token)

    def test_B31_blocks_that_end_short(self):
        with mock.patch.object(decoders, "HIDDEN", 40):
            source = decoders.model(Form("plain"))
        for form in some(("nbits4-packed-b16", "nbits4-sym"), 2):
            quantised, plain, products = rewrite(source, form)
            self.assertIn(40, {p.k for p in products})
            art = self.artifact(quantised, "q", "--target", "x86-64-v3", "--kv-cache", "f32", "--activations", "f32")
            want = self.logits(self.artifact(plain, "plain"))
            self.assertEqual(self.logits(art).tobytes(), want.tobytes())
            for chunk in (1, 5):
                self.assertEqual(chunk_logits(art, TOKENS, chunk, 2, 0).tobytes(), want.tobytes())

    def test_B35_layer_norm_in_half_precision(self):
        self.widened(halves)

    def test_B36_residual_above_the_range_of_halves(self):
        self.widened(large_residual)

    def widened(self, norm):
        with mock.patch.object(families, "HIDDEN", 64):
            half, whole = (families.decoder(norm=lambda g, x: norm(g, x, kind), check=False) for kind in (HALF, TensorProto.FLOAT))
        want = self.reference(whole)
        self.assertTrue(np.isfinite(want).all())
        self.expect(half, want, tolerance=1e-2)

    @unittest.skipUnless(SLOW, "single ops and kernels have the same")
    def test_B37_heads_of_512(self):
        shape = Shape(heads=2, kv=1, dim=512, scale=512 ** -0.5)
        plain = decoders.weights

        def large(shape, seed=7):
            out = plain(shape, seed)
            return out | {name: 12 * value for name, value in out.items() if name.endswith((".q", ".k"))}
        with mock.patch.object(decoders, "weights", large):
            self.expect(decoders.model(Form("x", shape=shape)), decoders.logits(shape, TOKENS), tolerance=1e-4)

    def test_B49_batch_and_length_are_both_free(self):
        art = self.plain()
        for batch, length in some(((1, 16), (2, 16), (3, 1), (2, 7)), 2):
            with self.subTest(f"{batch} x {length}"):
                prompts = [[(11 * i + 17 * row + 5) % 96 for i in range(length)] for row in range(batch)]
                for prompt, tokens in zip(prompts, self.batch(art, prompts, 4)):
                    got, logits = self.run_tokens(art, prompt, 4, logits="all")
                    self.assertLess(rel_diff(logits[:length], decoders.logits(Shape(), prompt)), TOLERANCE)
                    self.assertEqual(tokens, got)
        if SLOW:
            one = self.artifact(decoders.model(Form("one", mask="padding", dims=(1, "seq"))))
            self.assertEqual(self.logits(one).tobytes(), self.logits(art).tobytes())
        for cache in some(("none", "pairs"), 2):
            onnx.save(decoders.model(Form("fixed", dims=(2, 16), cache=cache)), self.tmp / "fixed.onnx")
            self.assertIn("graph input 'input_ids' takes exactly 16 tokens", self.refused(3, "compile", self.tmp / "fixed.onnx", "-o", self.tmp / "no.llmc"))

    def test_B51_lengths_one_after_another(self):
        art = self.plain()
        prompts = [[(7 * i + 3 * n) % 96 for i in range(n)] for n in (32, 1, 32, 7)]
        fresh = [chunk_logits(art, p, len(p), 2, 0) for p in prompts]
        for threads in (1, 2):
            self.assertEqual([x.tobytes() for x in engine_logits(art, prompts, 64, threads, 0)], [x.tobytes() for x in fresh])


if __name__ == "__main__":
    unittest.main()
