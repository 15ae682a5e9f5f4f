"""tools/bench/gpu/run to its end on the simulator, with a tiny model (LLMC_SLOW=1)."""
import json
import os
import subprocess
import sys
import unittest

from common import BIN, ROOT, SLOW
from test_cuda_sim import LIBRARY, has_nvrtc


@unittest.skipUnless(SLOW, "LLMC_SLOW is not set")
@unittest.skipUnless(has_nvrtc(), "no NVRTC (./dev setup fetches it)")
@unittest.skipUnless(LIBRARY.exists() and (BIN / "bench-gpu").exists(), "no simulator or bench-gpu in this build")
class BenchGpu(unittest.TestCase):
    def test_every_part_of_it(self):
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "results.json")
            done = subprocess.run([ROOT / "tools" / "bench" / "gpu" / "run", "--device", "cuda-sim", "--tiny", "--bin", BIN, "--json", out],
                                  capture_output=True, text=True, env={**os.environ, "PYTHON": sys.executable}, timeout=1200, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(out, encoding="utf-8") as file:
                result = json.load(file)
        self.assertEqual(result["skipped"], [])
        self.assertTrue(result["parity"]["ok"])
        self.assertEqual(result["soak"]["different"], 0)
        speed = result["models"]["tiny"]["speed"]
        self.assertEqual([s["batch"] for s in speed], [1, 2])
        for s in speed:
            self.assertGreater(s["decode_ms"], 0)
            self.assertTrue(all(k["predicted_us"] > 0 for k in s["kernels"]))


if __name__ == "__main__":
    unittest.main()
