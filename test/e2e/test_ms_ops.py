"""The ops of com.microsoft through importer, import passes and evaluator against what ONNX Runtime computes, in three forms:
shapes as declared, all dims unknown, inputs as constants."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from common import BIN

ROOT = Path(__file__).resolve().parents[2]
SUITE = BIN.parent / "test" / "tools" / "NodeSuite"


class MicrosoftOps(unittest.TestCase):
    def test_all(self):
        with tempfile.TemporaryDirectory() as tmp:
            cases, skipped = Path(tmp) / "cases", Path(tmp) / "skipped"
            skipped.write_text("")
            subprocess.run([sys.executable, str(ROOT / "tools/dev/ms_cases.py"), str(cases)], check=True)
            done = subprocess.run([str(SUITE), str(cases), str(skipped)], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-2000:])
            for line in done.stdout.splitlines()[-3:]:
                self.assertGreaterEqual(int(line.split()[1]), 100, line)


if __name__ == "__main__":
    unittest.main()
