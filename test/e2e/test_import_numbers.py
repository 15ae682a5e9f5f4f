"""The ops of com.microsoft and small graphs of known importer faults (B04 … in their names) through importer, import passes and
evaluator against what ONNX Runtime computes, in three forms: shapes as declared, all dims unknown, inputs as constants."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from common import BIN

ROOT = Path(__file__).resolve().parents[2]
SUITE = BIN.parent / "test" / "tools" / "NodeSuite"


class Suites(unittest.TestCase):
    def test_microsoft(self):
        self.run_suite("ms_cases.py", 100)

    def test_known_faults(self):
        self.run_suite("graph_cases.py", 50)

    def run_suite(self, tool, least):
        with tempfile.TemporaryDirectory() as tmp:
            cases, skipped = Path(tmp) / "cases", Path(tmp) / "skipped"
            skipped.write_text("")
            subprocess.run([sys.executable, str(ROOT / "tools/dev" / tool), str(cases)], check=True)
            done = subprocess.run([str(SUITE), str(cases), str(skipped)], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-2000:])
            for line in done.stdout.splitlines()[-3:]:
                self.assertGreaterEqual(int(line.split()[1]), least, line)


if __name__ == "__main__":
    unittest.main()
