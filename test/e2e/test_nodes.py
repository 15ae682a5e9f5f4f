"""The node tests of the onnx package through importer, import passes and evaluator: a slice, and all of them with LLMC_SLOW.

Each case runs with shapes as declared, with all dims unknown and with its inputs as constants. test/compiler/nodes/skipped.txt
says what is left out and why."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from common import BIN

ROOT = Path(__file__).resolve().parents[2]
SUITE = BIN.parent / "test" / "tools" / "NodeSuite"
SLOW = bool(os.environ.get("LLMC_SLOW"))


class Nodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tmp = tempfile.TemporaryDirectory()
        cls.cases = Path(cls.tmp.name) / "cases"
        every = "1" if SLOW else "15"
        subprocess.run([sys.executable, str(ROOT / "tools/dev/node_cases.py"), str(cls.cases), "--every", every], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.tmp.cleanup()

    def run_form(self, form):
        argv = [str(SUITE), str(self.cases), str(ROOT / "test/compiler/nodes/skipped.txt"), form]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])
        passed = int(done.stdout.splitlines()[-1].split()[1])
        self.assertGreaterEqual(passed, 1000 if SLOW else 60, done.stdout)

    def test_static(self):
        self.run_form("static")

    def test_dynamic(self):
        self.run_form("dynamic")

    def test_constant(self):
        self.run_form("constant")


if __name__ == "__main__":
    unittest.main()
