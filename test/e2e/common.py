"""Shared by the end-to-end tests: calling the programs, compiling small models, reading results."""
import hashlib
import json
import os
import shutil
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


def some(items, step):
    """All of them in the slow set, every step-th in the fast one."""
    items = list(items)
    return items if SLOW else items[::step]


def llmc(*args, timeout=600, **kw):
    return subprocess.run([str(BIN / "llmc"), *map(str, args)], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL, **kw)


def fingerprint(path):
    """What a path holds; of large files only their place, size and time."""
    path = Path(path)
    parts = []
    for file in sorted(f for f in path.rglob("*") if f.is_file()) if path.is_dir() else [path]:
        stat = file.stat()
        parts.append((file.name, file.read_bytes() if stat.st_size < 1 << 20 else (str(file), stat.st_size, stat.st_mtime_ns)))
    return repr(parts)


def kept_artifact(model, flags):
    """Where the artifact of a model of this repository is kept for all tests of a run (LLMC_TEST_CACHE is its folder), or None."""
    folder = os.environ.get("LLMC_TEST_CACHE")
    paths = [f for f in flags if isinstance(f, Path)]
    if not folder or INPUTS not in Path(model).parents or not all(p.exists() for p in paths):
        return None
    parts = [str(model), fingerprint(Path(model).parent), *(fingerprint(f) if isinstance(f, Path) else str(f) for f in flags if f != "--quiet")]
    return Path(folder) / f"{hashlib.sha256(repr(parts).encode()).hexdigest()}.llmc"


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

    def refused(self, code, *args, timeout=60, **kw):
        """What a call says that ends with that exit code."""
        done = llmc(*args, timeout=timeout, **kw)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertTrue(done.stderr.startswith("llmc: error: "), done.stderr)
        return done.stderr

    def compile(self, model, *flags, out=None):
        """An artifact of its own; that of a model of this repository is compiled once per run of all tests."""
        art, kept = out or self.tmp / "model.llmc", kept_artifact(model, flags)
        if kept and kept.exists():
            shutil.copyfile(kept, art)
            return art
        self.ok("compile", model, "-o", art, "--quiet", *flags)
        if kept:
            own = kept.with_name(f"{kept.name}.{os.getpid()}")  # another test may compile the same
            shutil.copyfile(art, own)
            own.replace(kept)
        return art

    def run_tokens(self, art, ids, count, *flags, logits=None, **more):
        """(generated ids, logits or None)."""
        npy = self.tmp / "logits.npy"
        extra = ["--logits", logits, "--logits-out", npy] if logits else []
        done = self.ok("run", art, "--tokens", ",".join(map(str, ids)), "--max-tokens", count, "--temperature", "0", "--ignore-eos", "--json",
                       *([] if "--device" in flags else ["--device", "cpu"]), *flags, *extra, **more)
        return json.loads(done.stdout)["tokens"], np.load(npy) if logits else None


def rel_diff(got, want):
    want = np.asarray(want, np.float64)
    return float(np.abs(np.asarray(got, np.float64) - want).max() / np.abs(want).max())
