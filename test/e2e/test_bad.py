"""Files that must be refused (test/Inputs/bad): exit 3 or 4, one `llmc: error:` line first, no output file, within 10 s of CPU time and 1 GB; check agrees."""
import os
import resource
import subprocess
import tempfile
import unittest
from types import SimpleNamespace

from common import BIN, E2E, INPUTS

CASES = sorted((INPUTS / "bad").glob("*.onnx"))
# Words that the message must have, for the cases whose fix depends on them.
WORDS = {
    "ext-dotdot": ["../"], "ext-missing": ["weights.bin|no such|not found|missing"], "ext-symlink": ["--allow-symlinks"],
    "cycle": ["cycle|cyclic"], "no-opset": ["opset"], "truncated": ["truncated|ends|end of file"], "empty": ["empty|no graph|0 bytes"],
    "recursive-function": ["recurs|itself|cycle"],
}


CPU_SECONDS, RSS_MB = 10, 1000
WALL_SECONDS = 300  # far above: machines are shared, CPU time is the bound


def limited(*args):
    """One command: exit code, stderr, CPU seconds, peak RSS in MB. The kernel ends it at twice the CPU time."""
    def lower():
        resource.setrlimit(resource.RLIMIT_CPU, (2 * CPU_SECONDS, 2 * CPU_SECONDS))
    with tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(["timeout", str(WALL_SECONDS), str(BIN / "llmc"), *map(str, args)], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=err, preexec_fn=lower)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        return SimpleNamespace(returncode=child.returncode, stderr=err.read(), cpu=used.ru_utime + used.ru_stime, rss=used.ru_maxrss / 1024)


class Bad(E2E):
    def bounded(self, *args):
        done = limited(*args)
        self.assertLess(done.cpu, CPU_SECONDS)
        self.assertLess(done.rss, RSS_MB)
        return done

    def test_refused(self):
        self.assertTrue(CASES, "no cases in test/Inputs/bad")
        for model in CASES:
            with self.subTest(model.stem):
                done = self.bounded("compile", model, "-o", self.tmp / "m.llmc", "--f32", "--quiet")
                self.assertIn(done.returncode, (3, 4), done.stderr)
                self.assertTrue(done.stderr.startswith("llmc: error: "), done.stderr)
                low = done.stderr.lower()
                for word in WORDS.get(model.stem, []):
                    self.assertTrue(any(w in low for w in word.split("|")), f"{word!r} not in: {done.stderr}")
                self.assertEqual(list(self.tmp.iterdir()), [])
                self.assertIn(self.bounded("check", model).returncode, (3, 4))


if __name__ == "__main__":
    unittest.main()
