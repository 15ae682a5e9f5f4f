"""Small exporters' models, compiled to f32: logits within 1e-4 and greedy tokens equal to the stored ONNX Runtime values; int8 beside them."""
import ctypes as C
import json
import unittest

import numpy as np

from common import BIN, E2E, INPUTS, rel_diff, some

CASES = sorted(p.parent for p in (INPUTS / "models").glob("*/expect.json"))
TOLERANCE = 1e-4
PROMPT, GENERATED = 0, 1
SIZES = ("--max-context", "64", "--max-batch", "8")


class ModelOptions(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("device", C.c_char_p), ("threads", C.c_uint32), ("kv_tokens", C.c_uint32)]


class ModelInfo(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("vocab", C.c_uint32)]


class Row(C.Structure):
    _fields_ = [("sequence", C.c_void_p), ("token", C.c_int32), ("token_class", C.c_int), ("want_logits", C.c_bool)]


def chunk_logits(art, tokens, chunk, threads, token_class):
    """Logits of all tokens, fed through llmc.h in steps of at most `chunk`."""
    return engine_logits(art, [tokens], chunk, threads, token_class)[0]


def engine_logits(art, prompts, chunk, threads, token_class):
    """The same of several prompts, one after another in one engine, each a sequence of its own."""
    lib = C.CDLL(str(next(BIN.parent.glob("**/libllmc.so"))))

    def call(name, *args):
        getattr(lib, name).restype = C.c_void_p
        if getattr(lib, name)(*args):
            raise RuntimeError(f"{name} failed")
    model, engine = C.c_void_p(), C.c_void_p()
    options = ModelOptions(C.sizeof(ModelOptions), b"cpu", threads, 0)
    call("llmc_model_load", str(art).encode(), C.byref(options), C.byref(model))
    info = ModelInfo(C.sizeof(ModelInfo))
    lib.llmc_model_get_info(model, C.byref(info))
    call("llmc_engine_create", model, None, C.byref(engine))
    outs = []
    for tokens in prompts:
        sequence, out = C.c_void_p(), np.full((len(tokens), info.vocab), np.nan, np.float32)
        call("llmc_sequence_create", engine, C.byref(sequence))
        for at in range(0, len(tokens), chunk):
            part = tokens[at:at + chunk]
            rows = (Row * len(part))(*[Row(sequence, t, token_class, True) for t in part])
            to, given = out[at:at + len(part)], bytes(rows)
            call("llmc_engine_forward", engine, rows, C.c_size_t(len(part)), to.ctypes.data_as(C.c_void_p), C.c_size_t(to.size))
            assert bytes(rows) == given  # the caller's
        lib.llmc_sequence_destroy(sequence)
        outs.append(out)
    lib.llmc_engine_destroy(engine)
    lib.llmc_model_destroy(model)
    return outs


class Models(E2E):
    def each(self):
        self.assertTrue(CASES, "no cases in test/Inputs/models")
        for folder in some(CASES, 4):
            with self.subTest(folder.name):
                yield folder, json.loads((folder / "expect.json").read_text())

    def test_f32_logits_and_tokens(self):
        for folder, case in self.each():
            art = self.compile(folder / "model.onnx", "--f32", *SIZES, "--verify")
            for one in case["cases"]:
                tokens, last = self.run_tokens(art, one["prompt"], len(one["greedy"]), logits="last")
                self.assertLess(rel_diff(last, one["last_logits"]), TOLERANCE)
                if one.get("greedy_min_gap", 0) > 2 * TOLERANCE * max(abs(x) for x in one["last_logits"]):
                    self.assertEqual(tokens, one["greedy"])

    def test_prefill_equals_steps(self):
        """All rows of a prompt in one piece are bit for bit those of a prompt fed in other chunks and thread counts."""
        for folder, case in self.each():
            art = self.compile(folder / "model.onnx", "--f32", *SIZES)
            prompt = max((c["prompt"] for c in case["cases"]), key=len)
            _, one = self.run_tokens(art, prompt, 1, "--threads", "1", logits="all")
            _, two = self.run_tokens(art, prompt, 1, "--threads", "2", logits="all")
            self.assertEqual(one.tobytes(), two.tobytes())
            int8 = self.compile(folder / "model.onnx", "--int8", *SIZES, out=self.tmp / "int8.llmc")
            _, whole = self.run_tokens(int8, prompt, 1, logits="all")
            for chunk in (1, 3, 7, len(prompt)):
                for threads in (1, 2):
                    # f32 has one set of numerics, so generated tokens are in it, too.
                    for file, token_class, want in ((art, PROMPT, one), (art, GENERATED, one), (int8, PROMPT, whole)):
                        got = chunk_logits(file, prompt, chunk, threads, token_class)
                        self.assertEqual(got.tobytes(), want.tobytes(), f"{file.name}, chunks of {chunk}, {threads} threads, class {token_class}")

    def test_batch_equals_alone(self):
        for folder, case in self.each():
            prompts = (case.get("batch") or {}).get("prompts") or [c["prompt"] for c in case["cases"]]
            for precision in ("--f32", "--int8"):
                art = self.compile(folder / "model.onnx", precision, *SIZES)
                requests, out = self.tmp / "batch.jsonl", self.tmp / "rows"
                out.mkdir(exist_ok=True)
                requests.write_text("".join(json.dumps({"tokens": p, "max_tokens": 1, "temperature": 0}) + "\n" for p in prompts))
                self.ok("run", art, "--batch", requests, "--logits", "last", "--logits-out", out, "--device", "cpu")
                for i, prompt in enumerate(prompts):
                    self.run_tokens(art, prompt, 1, logits="last")
                    self.assertEqual((out / f"{i}.npy").read_bytes(), (self.tmp / "logits.npy").read_bytes(), f"row {i} {precision}")


if __name__ == "__main__":
    unittest.main()
