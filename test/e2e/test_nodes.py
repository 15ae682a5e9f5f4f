"""The node tests of the onnx package through importer, import passes and evaluator: a slice, and all of them with LLMC_SLOW.

Each case runs with shapes as declared, with all dims unknown and with its inputs as constants. test/compiler/nodes/skipped.txt
says what is left out and why."""
import hashlib
import os
import subprocess
import sys
import tempfile
import unittest
from importlib.metadata import version
from pathlib import Path

from common import BIN

ROOT = Path(__file__).resolve().parents[2]
SUITE = BIN.parent / "test" / "tools" / "NodeSuite"
SLOW = bool(os.environ.get("LLMC_SLOW"))


class Nodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """The cases stay in the build folder, under what they are made of: to write them takes longer than to run them."""
        every = "1" if SLOW else "25"
        makers = [(ROOT / "tools/dev" / name).read_bytes() for name in ("node_cases.py", "node_extra.py", "node_known.py")]
        key = hashlib.sha256(repr([makers, version("onnx"), every]).encode()).hexdigest()[:16]
        cls.cases = SUITE.parent / f"node-cases-{key}"
        if not cls.cases.exists():
            with tempfile.TemporaryDirectory(dir=SUITE.parent) as tmp:
                subprocess.run([sys.executable, str(ROOT / "tools/dev/node_cases.py"), f"{tmp}/cases", "--every", every], check=True)
                try:
                    (Path(tmp) / "cases").rename(cls.cases)
                except OSError:  # another process made them, too
                    pass

    def run_form(self, form):
        argv = [str(SUITE), str(self.cases), str(ROOT / "test/compiler/nodes/skipped.txt"), form]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])
        passed = int(done.stdout.splitlines()[-1].split()[1])
        self.assertGreaterEqual(passed, 1000 if SLOW else 36, done.stdout)

    def test_static(self):
        self.run_form("static")

    def test_dynamic(self):
        self.run_form("dynamic")

    def test_constant(self):
        self.run_form("constant")


if __name__ == "__main__":
    unittest.main()
