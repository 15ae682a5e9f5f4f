"""QMoE gives, bit for bit, what MoE with the dequantised weights gives, whatever the form of codes and router."""
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto

from common import E2E, ROOT, SLOW

sys.path.insert(0, str(ROOT / "test" / "support"))
from quantized_forms import pack_low_first, tensor_of  # noqa: E402
from tiny_decoder import MS, Decoder  # noqa: E402

PROMPT = [3, 17, 5, 40, 9]
FORMS = {
    "4-bit-zeros": {"bits": 4, "block": 16, "zeros": True, "inner": 48},
    "8-bit-row": {"bits": 8, "block": 0, "zeros": True, "activation_type": "silu", "swiglu_fusion": 0, "third": True},
    "3-bit": {"bits": 3, "block": 32, "swiglu_limit_after_activation": 1},
    "2-bit": {"bits": 2, "block": 32, "swiglu_fusion": 2, "k": 1},
    "sparse": {"bits": 4, "block": 32, "use_sparse_mixer": 1, "normalize_routing_weights": 0, "activation_type": "gelu", "swiglu_fusion": 0},
}


def experts(quantised, bits=4, block=32, zeros=False, third=False, inner=64, count=4, **attributes):
    """A feed-forward part of `count` experts as QMoE or as MoE with the values of the same codes."""
    how = {"k": 2, "activation_type": "swiglu", "swiglu_fusion": 1, "normalize_routing_weights": 1, "swiglu_limit": 1.5, "activation_alpha": 1.7, "activation_beta": 1.0}
    how.update(attributes)

    def part(d, x, layer):
        rng = np.random.default_rng(layer)
        router = d.op("Reshape", [d.op("MatMul", [x, d.const(d.normal(d.width, count))]), d.const(np.array([-1, count], np.int64))])
        rows = inner * (2 if how["swiglu_fusion"] else 1)
        inputs, points = [x, router], []
        for n, k in [(rows, d.width), (d.width, inner)] + ([(inner, d.width)] if third else []):
            blocks = -(-k // block) if block else 1
            codes = rng.integers(0, 1 << bits, (count * n, k))
            scales = ((rng.random((count * n, blocks)) + 0.5) / (1 << (bits - 1)) / np.sqrt(k)).astype(np.float32)
            zero = rng.integers(0, 1 << bits, (count * n, blocks)) if zeros else np.full((count * n, blocks), 1 << (bits - 1))
            bias = d.const(rng.standard_normal((count, n)).astype(np.float32) * 0.1)
            if quantised:
                inputs += [d.const(pack_low_first(codes, bits).reshape(count, n, -1)), d.const(scales.reshape((count, n, blocks) if block else (count, n))), bias]
                # One per row lies packed along the rows of an expert.
                points.append(d.const(pack_low_first(zero if block else zero.reshape(count, n), bits).reshape((count, n, -1) if block else (count, -1))) if zeros else "")
            else:
                at = np.arange(k) // (block or k)
                inputs += [d.const(((codes - zero[:, at]).astype(np.float32) * scales[:, at]).reshape(count, n, k)), bias]
        if not quantised:
            return d.op("MoE", inputs, domain=MS, **how)
        inputs += [""] * (11 - len(inputs)) + points
        while not inputs[-1]:
            inputs.pop()
        return d.op("QMoE", inputs, domain=MS, expert_weight_bits=bits, **({"block_size": block} if block else {}), **how)
    return part


# Experts in floats: name -> quant_type, and of nvfp4 weights_prepacked and whether the dims are those of the rows.
FLOATS = {
    "fp4": ("fp4", {}, False),
    "nvfp4-turned": ("nvfp4", {}, False),
    "nvfp4-rows": ("nvfp4", {"weights_prepacked": 1}, False),
    "nvfp4-named-rows": ("nvfp4", {}, True),
    "fp8": ("fp8", {}, False),
    "fp8-blocks": ("fp8", {"block_size": 32}, False),
}
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def e4m3(codes):
    """Values of bytes."""
    sign, exponent, mantissa = codes >> 7, (codes >> 3 & 15).astype(np.int64), codes & 7
    value = np.where(exponent == 0, mantissa / 8 * 2.0 ** -6, (1 + mantissa / 8) * 2.0 ** (exponent - 7))
    return np.where(sign == 1, -value, value).astype(np.float32)


def float_experts(quantised, kind, attributes, named_rows, inner=48, count=3):
    """A feed-forward part of experts in floats of 4 or 8 bits, or as MoE with their values."""
    how = {"k": 2, "activation_type": "swiglu", "swiglu_fusion": 1, "normalize_routing_weights": 1}
    block = attributes.get("block_size", 0) if kind == "fp8" else {"fp4": 32, "nvfp4": 16}[kind]
    inner = 64 if kind == "fp4" else inner  # whole blocks but for fp8, where both ends may be part of one

    def codes_of(rng, shape):
        return rng.integers(0, 16, shape) if kind != "fp8" else (rng.integers(0x20, 0x38, shape) + 128 * rng.integers(0, 2, shape)).astype(np.uint8)

    def part(d, x, layer):
        rng = np.random.default_rng(layer)

        def raw(data_type, array, dims=None):
            d.count += 1
            d.inits.append(tensor_of(f"c{d.count}", data_type, dims or array.shape, array.tobytes()))
            return f"c{d.count}"
        router = d.op("Reshape", [d.op("MatMul", [x, d.const(d.normal(d.width, count))]), d.const(np.array([-1, count], np.int64))])
        inputs, plain, globals_ = [x, router], [x, router], []
        for n, k in ((2 * inner, d.width), (d.width, inner)):
            codes, whole = codes_of(rng, (count, n, k)), ((rng.random(count) + 0.5) / 8).astype(np.float32)
            values, scales = (e4m3(codes) if kind == "fp8" else E2M1[codes]), ""
            if block:
                down, across = (-(-n // block) if kind == "fp8" else n), -(-k // block)
                bits = {"fp4": lambda s: rng.integers(123, 127, s), "nvfp4": lambda s: rng.integers(0x20, 0x38, s), "fp8": lambda s: None}[kind]((count, down, across))
                if kind == "fp8":
                    blocks = ((rng.random((count, down, across)) + 0.5) / 8).astype(np.float32)
                    scales = d.const(blocks)
                else:
                    blocks = (np.exp2(bits - 127.0) if kind == "fp4" else e4m3(bits.astype(np.uint8))).astype(np.float32)
                    scales = raw(TensorProto.FLOAT8E8M0 if kind == "fp4" else TensorProto.FLOAT8E4M3FN, bits.astype(np.uint8))
                    blocks = blocks * whole[:, None, None]
                at = (np.arange(n) // (block if kind == "fp8" else 1))[:, None], (np.arange(k) // block)[None]
                values = values * blocks[:, at[0], at[1]]
            else:
                values = values * whole[:, None, None]
            if kind == "fp8":
                weights = raw(TensorProto.FLOAT8E4M3FN, codes)
            else:
                turned = kind == "nvfp4" and not attributes and not named_rows
                packed = pack_low_first((codes.transpose(0, 2, 1) if turned else codes).reshape(count * (k if turned else n), -1), 4)
                weights = d.const(packed.reshape((count, k, n // 2) if kind == "nvfp4" and not named_rows else (count, n, k // 2)))
            bias = d.const(rng.standard_normal((count, n)).astype(np.float32) * 0.1)
            inputs += [weights, scales, bias]
            plain += [d.const(values.astype(np.float32)), bias]
            globals_.append("" if kind == "fp8" and block else d.const(whole))
        if not quantised:
            return d.op("MoE", plain, domain=MS, **how)
        inputs += [""] * (15 - len(inputs)) + globals_
        while not inputs[-1]:
            inputs.pop()
        return d.op("QMoE", inputs, domain=MS, quant_type=kind, expert_weight_bits=8 if kind == "fp8" else 4, **attributes, **how)
    return part


class QuantizedExperts(E2E):
    def logits(self, name, mlp, *flags):
        path = self.tmp / f"{name}.onnx"
        onnx.save(Decoder(mlp=mlp).model, path)
        art = self.compile(path, "--max-context", "64", *flags, out=path.with_suffix(".llmc"))
        return self.run_tokens(art, PROMPT, 1, logits="all")[1]

    def test_same_bits_as_dequantised(self):
        for name, form in FORMS.items() if SLOW else list(FORMS.items())[:1]:
            with self.subTest(name):
                want = self.logits(name + "-plain", experts(False, **form), "--f32")
                got = self.logits(name, experts(True, **form), "--activations", "f32")
                self.assertEqual(want.tobytes(), got.tobytes())

    def test_floats_as_dequantised(self):
        for name, form in FLOATS.items() if SLOW else list(FLOATS.items())[5:]:
            with self.subTest(name):
                want = self.logits(name + "-plain", float_experts(False, *form), "--f32")
                got = self.logits(name, float_experts(True, *form), "--activations", "f32")
                self.assertEqual(want.tobytes(), got.tobytes())

    def test_all_forms_are_raised(self):
        for name, form in FORMS.items():
            with self.subTest(name):
                path = self.tmp / f"{name}.onnx"
                onnx.save(Decoder(mlp=experts(True, **form)).model, path)
                self.ok("compile", path, "-o", self.tmp / "x.llmc", "--quiet", "--verify", "--stop-after", "raise")
        for name, form in FLOATS.items() if SLOW else list(FLOATS.items())[::3]:
            with self.subTest(name):
                path = self.tmp / f"{name}.onnx"
                onnx.save(Decoder(mlp=float_experts(True, *form)).model, path)
                self.ok("compile", path, "-o", self.tmp / "x.llmc", "--quiet", "--verify", "--stop-after", "raise")

    def test_dims_that_do_not_fit_are_refused(self):
        """The error says which; codes of square experts are not taken for columns where they are too few for their rows."""
        def square(d, x, layer):
            return experts(True, block=0, inner=d.width, activation_type="silu", swiglu_fusion=0)(d, x, layer)
        narrow = Decoder(mlp=square).model
        width = narrow.graph.initializer[0].dims[-1]
        for node in (n for n in narrow.graph.node if n.op_type == "QMoE"):
            node.input[4] = ""  # the bias of the first product would not fit
            next(a for a in node.attribute if a.name == "expert_weight_bits").i = 8
        for name, model, why in (("narrow", narrow, f"weights number 2 are not {width // 2} by {width} per expert"),
                                 ("many", Decoder(mlp=experts(True, k=5)).model, "k is 5 of 4 experts")):
            with self.subTest(name):
                onnx.save(model, self.tmp / f"{name}.onnx")
                self.assertIn(f"(onnx.ms_q_moe) is not supported between tokens and logits: {why}", self.refused(3, "compile", self.tmp / f"{name}.onnx", "-o", self.tmp / "no.llmc"))


if __name__ == "__main__":
    unittest.main()
