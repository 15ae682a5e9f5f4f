"""Shared by the end-to-end tests: calling the programs, compiling small models, reading results."""
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("LLMC_BIN", ROOT / "build" / "release" / "bin"))
INPUTS = ROOT / "test" / "Inputs"
SMOLLM2 = ROOT / "build" / "smollm2"
SLOW = bool(os.environ.get("LLMC_SLOW"))


def llmc(*args, timeout=600, **kw):
    return subprocess.run([str(BIN / "llmc"), *map(str, args)], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL, **kw)


class E2E(unittest.TestCase):
    """A test with a temporary folder of its own."""

    def setUp(self):
        self._tmp = tempfile.TemporaryDirectory()
        self.tmp = Path(self._tmp.name)
        self.addCleanup(self._tmp.cleanup)

    def ok(self, *args, **kw):
        done = llmc(*args, **kw)
        self.assertEqual(done.returncode, 0, f"llmc {' '.join(map(str, args))}: {done.stderr[-1500:]}")
        return done

    def refused(self, code, *args, **kw):
        """What a call says that ends with that exit code."""
        done = llmc(*args, **kw)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertTrue(done.stderr.startswith("llmc: error: "), done.stderr)
        return done.stderr

    def compile(self, model, *flags, out=None):
        art = out or self.tmp / "model.llmc"
        self.ok("compile", model, "-o", art, "--quiet", *flags)
        return art

    def run_tokens(self, art, ids, count, *flags, logits=None):
        """(generated ids, logits or None)."""
        npy = self.tmp / "logits.npy"
        extra = ["--logits", logits, "--logits-out", npy] if logits else []
        done = self.ok("run", art, "--tokens", ",".join(map(str, ids)), "--max-tokens", count, "--temperature", "0", "--ignore-eos", "--json",
                       "--device", "cpu", *flags, *extra)
        return json.loads(done.stdout)["tokens"], np.load(npy) if logits else None


def rel_diff(got, want):
    want = np.asarray(want, np.float64)
    return float(np.abs(np.asarray(got, np.float64) - want).max() / np.abs(want).max())
