"""Files that must be refused (test/Inputs/bad): exit 3 or 4, one `llmc: error:` line first, no output file, in bounded time; check agrees."""
import unittest

from common import E2E, INPUTS, llmc

CASES = sorted((INPUTS / "bad").glob("*.onnx"))
# Words that the message must have, for the cases whose fix depends on them.
WORDS = {
    "ext-dotdot": ["../"], "ext-missing": ["weights.bin|no such|not found|missing"], "ext-symlink": ["--allow-symlinks"],
    "cycle": ["cycle|cyclic"], "no-opset": ["opset"], "truncated": ["truncated|ends|end of file"], "empty": ["empty|no graph|0 bytes"],
    "recursive-function": ["recurs|itself|cycle"],
}


class Bad(E2E):
    def test_refused(self):
        self.assertTrue(CASES, "no cases in test/Inputs/bad")
        for model in CASES:
            with self.subTest(model.stem):
                done = llmc("compile", model, "-o", self.tmp / "m.llmc", "--f32", "--quiet", timeout=60)
                self.assertIn(done.returncode, (3, 4), done.stderr)
                self.assertTrue(done.stderr.startswith("llmc: error: "), done.stderr)
                low = done.stderr.lower()
                for word in WORDS.get(model.stem, []):
                    self.assertTrue(any(w in low for w in word.split("|")), f"{word!r} not in: {done.stderr}")
                self.assertEqual(list(self.tmp.iterdir()), [])
                self.assertIn(llmc("check", model, timeout=60).returncode, (3, 4))


if __name__ == "__main__":
    unittest.main()
