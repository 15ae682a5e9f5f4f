"""The sanitizer of the CUDA simulator on shipped kernels: it says nothing about them, and finds every kind of fault that is put into them.

Faults are those of ptx_mutants.py, at places that the prompt executes. The fast set takes one place per fault of one model; LLMC_SLOW=1 many places, and all
models with five seeds.
"""
import json
import os
import re
import unittest

from common import E2E, INPUTS, SLOW, llmc
from ptx_mutants import FAULTS, mutants
from test_cuda_sim import LIBRARY, has_nvrtc

FOUND = 86
PROMPT = "3,5,7,1,2,9,4,8,6"
PLACES = 4 if SLOW else 1
VERBOSE = bool(os.environ.get("LLMC_MUTANTS_VERBOSE"))
FINDING = re.compile(r"^cudasim: ([a-z-]+): ", re.M)
FAST = {"barrier-left-out", "misaligned-vector", "half-of-the-mask", "wait-left-out"}


def spread(items, count):
    """So many of them, from all parts of the list."""
    step = max(1, len(items) // count)
    return items[::step][:count]


@unittest.skipUnless(has_nvrtc(), "no NVRTC (./dev setup fetches it)")
@unittest.skipUnless(LIBRARY.exists(), "no simulator in this build")
class Mutants(E2E):
    maxDiff = None

    def sanitized(self, art, prompt=PROMPT, count=2, **env):
        return llmc("run", art, "--tokens", prompt, "--max-tokens", count, "--temperature", "0", "--ignore-eos", "--json", "--device", "cuda-sim",
                    env={**os.environ, "LLMC_CUDASIM": str(LIBRARY), "LLMC_CUDASIM_SANITIZE": "1", **env})

    def module(self, name, *flags):
        """Artifact and PTX of a model."""
        model = INPUTS / "models" / name / "model.onnx"
        flags = (*flags, "--max-context", "64")
        return self.compile(model, *flags), self.ok("compile", model, *flags, "--emit", "ptx").stdout

    def clean(self, art, **env):
        """Lines of the PTX that were executed; nothing may be found."""
        report = self.tmp / "report.json"
        done = self.sanitized(art, LLMC_CUDASIM_REPORT=str(report), **env)
        self.assertEqual((done.returncode, done.stderr), (0, ""), env)
        return json.loads(report.read_text())["executed"]

    def kinds(self, art, text, environment):
        """Kinds of findings with another PTX in place of the artifact's."""
        file = self.tmp / "mutant.ptx"
        file.write_text(text)
        done = self.sanitized(art, LLMC_CUDASIM_PTX=str(file), **environment)
        kinds = set(FINDING.findall(done.stderr))
        self.assertEqual(done.returncode, FOUND if kinds else 0, done.stderr)
        return kinds

    def check(self, name, *flags):
        """Faults by name: how many were found of how many."""
        art, ptx = self.module(name, *flags)
        executed = {k: set(v) for k, v in self.clean(art).items()}
        text, all_mutants = mutants(ptx)
        result = {}
        for fault, (_, wanted, share, environment) in FAULTS.items():
            if not SLOW and fault not in FAST:
                continue
            places = spread([m for m in all_mutants[fault] if m.line in executed.get(m.kernel, ()) or (m.line == 0 and m.kernel in executed)], PLACES)
            found = 0
            for m in places:
                kinds = self.kinds(art, text.apply(m), environment)
                found += bool(kinds & wanted)
                if not kinds & wanted and (share == 1 or kinds):
                    self.missed.append(f"{name}: {fault} at PTX line {m.line} of {m.kernel}: expected {sorted(wanted)}, found {sorted(kinds)}")
            result[fault] = (found, len(places))
            if VERBOSE:
                print(f"{name} {fault:24} {found:3} of {len(places):3}", flush=True)
        return result

    def test_faults_are_found(self):
        total, self.missed = {}, []
        for model, *flags in [("dynamo-llama", "--int8", "--target", "sm_80")] + ([("dynamo-llama", "--target", "sm_90")] if SLOW else []):
            for fault, (found, places) in self.check(model, *flags).items():
                have = total.get(fault, (0, 0))
                total[fault] = have[0] + found, have[1] + places
        self.assertEqual(self.missed, [])
        for fault, (found, places) in total.items():
            # One place alone says nothing of a fault that may be harmless.
            if places > 2:
                self.assertGreaterEqual(found, FAULTS[fault][2] * places, f"{fault}: {found} of {places} found")
        self.assertGreaterEqual(sum(found for found, _ in total.values()), 30 if SLOW else 2)

    def test_kernels_are_clean(self):
        models = ["dynamo-llama"] if not SLOW else ["dynamo-llama", "tiny-llama-eager", "tiny-llama-sdpa", "torchscript-mistral"]
        for name in models:
            for flags in [("--int8", "--target", "sm_80")] + ([("--target", "sm_90")] if SLOW else []):
                art = self.compile(INPUTS / "models" / name / "model.onnx", *flags, "--max-context", "64")
                for seed in range(1, 6 if SLOW else 2):
                    for prompt in (PROMPT, ",".join(str(i % 7 + 1) for i in range(50))) if SLOW else (PROMPT,):
                        with self.subTest(f"{name} {flags} seed {seed}"):
                            done = self.sanitized(art, prompt, 3, LLMC_CUDASIM_SEED=str(seed))
                            self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
