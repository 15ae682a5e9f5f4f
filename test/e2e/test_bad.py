"""Files that must be refused (test/Inputs/bad): exit 3 or 4, the words of the case in the message, no output file; check agrees."""
import json
import unittest

from common import E2E, INPUTS, llmc

CASES = sorted(p.parent for p in (INPUTS / "bad").glob("*/expect.json"))


class Bad(E2E):
    def test_refused_with_the_right_words(self):
        self.assertTrue(CASES, "no cases in test/Inputs/bad")
        for folder in CASES:
            case = json.loads((folder / "expect.json").read_text())
            with self.subTest(case["name"]):
                model, out = folder / case.get("model_file", "model.onnx"), self.tmp / "m.llmc"
                done = llmc("compile", model, "-o", out, "--f32", "--quiet", timeout=30)
                self.assertIn(done.returncode, (3, 4), done.stderr)
                self.assertTrue(done.stderr.startswith("llmc: error: "), done.stderr)
                low = done.stderr.lower()
                for word in case["must_mention"]:
                    self.assertTrue(any(w.lower() in low for w in word.split("|")), f"{word!r} not in: {done.stderr}")
                self.assertEqual(list(self.tmp.iterdir()), [])
                self.assertIn(llmc("check", model, timeout=30).returncode, (3, 4))


if __name__ == "__main__":
    unittest.main()
