"""Small exporters' models, compiled to f32: logits within 1e-4 and greedy tokens equal to the stored ONNX Runtime values; int8 beside them."""
import json
import unittest

from common import E2E, INPUTS, rel_diff

CASES = sorted(p.parent for p in (INPUTS / "models").glob("*/expect.json"))
TOLERANCE = 1e-4


class Models(E2E):
    def each(self):
        self.assertTrue(CASES, "no cases in test/Inputs/models")
        for folder in CASES:
            with self.subTest(folder.name):
                yield folder, json.loads((folder / "expect.json").read_text())

    def test_f32_logits_and_tokens(self):
        for folder, case in self.each():
            art = self.compile(folder / "model.onnx", "--f32", "--max-context", "64", "--max-batch", "8", "--verify")
            for one in case["cases"]:
                tokens, last = self.run_tokens(art, one["prompt"], len(one["greedy"]), logits="last")
                self.assertLess(rel_diff(last, one["last_logits"]), TOLERANCE)
                if one.get("greedy_min_gap", 0) > 2 * TOLERANCE * max(abs(x) for x in one["last_logits"]):
                    self.assertEqual(tokens, one["greedy"])

    def test_prefill_equals_steps(self):
        """All rows of a prompt in one piece are bit for bit those of a prompt fed in other chunks and thread counts."""
        for folder, case in self.each():
            art = self.compile(folder / "model.onnx", "--f32", "--max-context", "64")
            prompt = max((c["prompt"] for c in case["cases"]), key=len)
            _, one = self.run_tokens(art, prompt, 1, "--threads", "1", logits="all")
            _, two = self.run_tokens(art, prompt, 1, "--threads", "2", logits="all")
            self.assertEqual(one.tobytes(), two.tobytes())

    def test_batch_equals_alone(self):
        for folder, case in self.each():
            prompts = (case.get("batch") or {}).get("prompts") or [c["prompt"] for c in case["cases"]]
            for precision in ("--f32", "--int8"):
                art = self.compile(folder / "model.onnx", precision, "--max-context", "64", "--max-batch", "8")
                requests, out = self.tmp / "batch.jsonl", self.tmp / "rows"
                out.mkdir(exist_ok=True)
                requests.write_text("".join(json.dumps({"tokens": p, "max_tokens": 1, "temperature": 0}) + "\n" for p in prompts))
                self.ok("run", art, "--batch", requests, "--logits", "last", "--logits-out", out, "--device", "cpu")
                for i, prompt in enumerate(prompts):
                    self.run_tokens(art, prompt, 1, logits="last")
                    self.assertEqual((out / f"{i}.npy").read_bytes(), (self.tmp / "logits.npy").read_bytes(), f"row {i} {precision}")


if __name__ == "__main__":
    unittest.main()
