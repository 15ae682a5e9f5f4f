"""Odd spellings of a decoder (test/tools/spellings.py): the raised step function gives the graph's own logits, in samples longer than any that the recognisers look at by themselves, or the error says why not."""
import subprocess
import sys
import unittest

from common import BIN, ROOT, E2E, some

sys.path.insert(0, str(ROOT / "test" / "tools"))
try:
    import onnx
    import spellings
except ImportError:  # the file is written with the onnx package of the development environment
    spellings = None

IMPORT = ("--llmc-widen-floats", "--llmc-infer-shapes", "--llmc-resolve-control-flow", "--llmc-expand-fused", "--llmc-fold-constants", "--llmc-simplify-shapes",
          "--llmc-canonicalize-graph", "--llmc-infer-shapes")


@unittest.skipUnless(spellings, "needs the Python package onnx")
class Spellings(E2E):
    def raised(self, spelling):
        path, imported = self.tmp / "model.onnx", self.tmp / "model.mlir"
        onnx.save(spelling.model(), path)
        with imported.open("w") as out:
            subprocess.run([BIN / "llmc-import", path], stdout=out, check=True, timeout=60)
        return subprocess.run([BIN / "llmc-opt", imported, *IMPORT, f"--llmc-verify-raised=model={path} tokens={spelling.tokens}", "-o", "/dev/null"],
                              capture_output=True, text=True, timeout=300)

    def test_spellings(self):
        for spelling in some(spellings.ALL, 12):
            with self.subTest(spelling.name):
                done = self.raised(spelling)
                if spelling.refused:
                    self.assertIn(spelling.refused, done.stderr)
                self.assertEqual(done.returncode, 1 if spelling.refused else 0, done.stderr[-1000:])


if __name__ == "__main__":
    unittest.main()
