"""Models on the CUDA simulator: the PTX that NVRTC makes, executed on the CPU, gives the expected tokens."""
import json
import os
import unittest
from pathlib import Path

from common import BIN, E2E, INPUTS, rel_diff

LIBRARY = BIN / "libllmc-cudasim.so"


def has_nvrtc():
    folders = (BIN.parent / "lib" / "nvrtc", Path("/usr/local/cuda/lib64"), Path(os.environ.get("LLMC_NVRTC", "/nowhere")))
    return any(any(folder.glob("libnvrtc.so*")) for folder in folders)


@unittest.skipUnless(has_nvrtc(), "no NVRTC (./dev setup fetches it)")
@unittest.skipUnless(LIBRARY.exists(), "no simulator in this build")
class CudaSimulator(E2E):
    def generate(self, art, prompt, count, **env):
        done = self.ok("run", art, "--tokens", ",".join(map(str, prompt)), "--max-tokens", count, "--temperature", "0", "--ignore-eos", "--json",
                       "--device", "cuda-sim", env={**os.environ, "LLMC_CUDASIM": str(LIBRARY), **env})
        return json.loads(done.stdout)["tokens"]

    def test_tokens(self):
        for name, target in (("tiny-llama-sdpa", "sm_80"), ("torchscript-mistral", "sm_90")):
            folder = INPUTS / "models" / name
            art = self.compile(folder / "model.onnx", "--target", target, "--max-context", "64")
            for case in json.loads((folder / "expect.json").read_text())["cases"][:2]:
                with self.subTest(f"{name} {target} {len(case['prompt'])} tokens"):
                    self.assertEqual(self.generate(art, case["prompt"], 6), case["greedy"][:6])

    def test_cache_of_codes(self):
        """Fewer bytes; a prompt in one piece is the same as token by token."""
        folder = INPUTS / "models" / "tiny-llama-sdpa"
        prompt = json.loads((folder / "expect.json").read_text())["cases"][0]["prompt"]
        bytes_of = {}
        for kv, flags in (("f16", ()), ("int8", ("--kv-cache", "int8"))):
            art = self.compile(folder / "model.onnx", "--target", "sm_80", "--max-context", "64", *flags, out=self.tmp / f"{kv}.llmc")
            bytes_of[kv] = json.loads(self.ok("plan", art, "--json").stdout)["targets"][0]["kv_bytes_per_token"]
            tokens = self.generate(art, prompt, 4)
            self.assertEqual(self.generate(art, prompt + tokens[:3], 1), tokens[3:])
        self.assertLess(bytes_of["int8"], 0.8 * bytes_of["f16"])

    def test_any_order_gives_the_same(self):
        """Lanes, warps, blocks and streams in random order, copies as late as possible."""
        folder = INPUTS / "models" / "dynamo-llama"
        art = self.compile(folder / "model.onnx", "--int8", "--target", "sm_80", "--max-context", "64")
        prompt = json.loads((folder / "expect.json").read_text())["cases"][0]["prompt"]
        want = self.generate(art, prompt, 4)
        for seed in ("1", "2"):
            self.assertEqual(self.generate(art, prompt, 4, LLMC_CUDASIM_SEED=seed), want)
        # Approximate instructions anywhere within their bounds: other bits, hardly other numbers.
        exact, moved = (self.run_tokens(art, [3, 5, 7, 1, 2, 9, 4, 8, 6], 1, "--device", "cuda-sim", logits="last", env={**os.environ, "LLMC_CUDASIM": str(LIBRARY), **more})[1]
                        for more in ({}, {"LLMC_CUDASIM_APPROX": "fuzz"}))
        self.assertTrue(0 < rel_diff(moved, exact) < 1e-3)


if __name__ == "__main__":
    unittest.main()
