"""Shipped kernels with one barrier removed: the simulator's sanitizer finds the race; unchanged kernels are clean.

Not every barrier that is reached is needed: the one in front of a chunk that is the only one, and the last one of a loop, guard nothing here.
"""
import os
import unittest

from common import INPUTS, SLOW
from test_cuda_sim import CudaSimulator, LIBRARY, has_nvrtc

FOUND = 86
PROMPT = "3,5,7,1,2,9,4,8,6"


@unittest.skipUnless(has_nvrtc(), "no NVRTC (./dev setup fetches it)")
@unittest.skipUnless(LIBRARY.exists(), "no simulator in this build")
class Mutants(CudaSimulator):
    test_tokens = test_any_order_gives_the_same = None

    def sanitized(self, art, **env):
        from common import llmc
        return llmc("run", art, "--tokens", PROMPT, "--max-tokens", "2", "--temperature", "0", "--ignore-eos", "--json", "--device", "cuda-sim",
                    env={**os.environ, "LLMC_CUDASIM": str(LIBRARY), **env})

    def test_kernels_are_clean_and_their_mutants_are_not(self):
        folder = INPUTS / "models" / "dynamo-llama"
        art = self.compile(folder / "model.onnx", "--int8", "--target", "sm_80", "--max-context", "64")
        lines = self.ok("compile", folder / "model.onnx", "--int8", "--target", "sm_80", "--max-context", "64", "--emit", "ptx").stdout.split("\n")
        for seed in range(1, 6 if SLOW else 3):
            done = self.sanitized(art, LLMC_CUDASIM_SANITIZE="1", LLMC_CUDASIM_SEED=str(seed))
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"seed {seed}")
        barriers = [i for i, line in enumerate(lines) if "bar.sync" in line]
        self.assertGreater(len(barriers), 10)
        reached = found = 0
        for i in barriers if SLOW else barriers[::9]:
            file = self.tmp / "mutant.ptx"

            def run_with(text, **env):
                file.write_text("\n".join(lines[:i] + [text] + lines[i + 1:]))
                return self.sanitized(art, LLMC_CUDASIM_PTX=str(file), **env)
            if run_with("trap;").returncode == 0:
                continue  # not reached by this prompt
            reached += 1
            done = run_with("", LLMC_CUDASIM_SANITIZE="1")
            self.assertIn(done.returncode, (0, FOUND), done.stderr)
            found += done.returncode == FOUND and "race" in done.stderr
        self.assertGreater(reached, 0)
        self.assertGreaterEqual(found, 0.6 * reached, f"{found} of {reached} missing barriers found")


if __name__ == "__main__":
    unittest.main()
