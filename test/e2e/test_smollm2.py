"""SmolLM2-135M from build/smollm2 (made by `./dev test`): exact f32 text, int8 quality, reproducible bytes, bounded memory, thin runtime."""
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from common import BIN, E2E, ROOT, SLOW, SMOLLM2, rel_diff

MODEL = SMOLLM2 / "model.onnx"
QUICKSTART = ROOT / "tools" / "quickstart"
EXPECT = json.loads((QUICKSTART / "expect.json").read_text())
RSS_LIMIT_MB = 300 + 2 * 49152 * 576 * 4 / 2**20  # P4: 300 MB + 2 x the largest tensor


def has_nvrtc():
    return any(any(folder.glob("libnvrtc.so*")) for folder in (BIN.parent / "lib" / "nvrtc", Path("/usr/local/cuda/lib64")))


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@unittest.skipUnless(SLOW, "LLMC_SLOW is not set")
@unittest.skipUnless(MODEL.exists(), "no build/smollm2 (./dev demo makes it)")
class SmolLM2(E2E):
    def test_f32_exact(self):
        art = self.compile(MODEL, "--f32")
        for case in EXPECT["cases"]:
            with self.subTest(case["name"]):
                npy = self.tmp / "l.npy"
                done = self.ok("run", art, "--tokens", ",".join(map(str, case["prompt_ids"])), "--max-tokens", 48, "--temperature", "0", "--json",
                               "--device", "cpu", "--logits", "last", "--logits-out", npy)
                got = json.loads(done.stdout)
                tokens = got["tokens"] + ([2] if case["stopped_by"] == "eos" and got["tokens"][-1:] != [2] else [])
                self.assertEqual(tokens, case["greedy_ids"])
                self.assertEqual(got["text"], case["greedy_text"].replace("<|im_end|>", ""))
                import numpy as np
                self.assertLess(rel_diff(np.load(npy)[case["top20_ids"]], case["top20_logits"]), 1e-4)
                ids = json.loads(self.ok("tokenize", art, case["text"], "--json").stdout)["ids"]
                self.assertEqual(ids, case["prompt_ids"])

    def test_int8_bytes_and_memory(self):
        """P4 and P5: bounded peak RSS; the same bytes from another folder and with one job."""
        a, b = self.tmp / "a.llmc", self.tmp / "b.llmc"
        done = subprocess.run(["python3", "-c", "import resource,subprocess,sys;r=subprocess.run(sys.argv[1:]).returncode;"
                               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss/1024);sys.exit(r)",
                               str(BIN / "llmc"), "compile", str(MODEL), "--int8", "-o", str(a), "--quiet"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(float(done.stdout), RSS_LIMIT_MB)
        other = self.tmp / "elsewhere"
        other.mkdir()
        for f in SMOLLM2.iterdir():
            if f.suffix != ".llmc":
                os.link(f, other / f.name) if f.name != "model.onnx_data" else shutil.copyfile(f, other / f.name)
        self.ok("compile", "model.onnx", "--int8", "-o", b, "--quiet", "-j", "1", cwd=other)
        self.assertEqual(sha(a), sha(b))

    @unittest.skipUnless(has_nvrtc(), "no NVRTC (./dev setup fetches it)")
    def test_two_targets_same_bytes(self):
        """P5 for an artifact of two targets: the same bytes from one job as from many."""
        a, b = self.tmp / "a.llmc", self.tmp / "b.llmc"
        for out, jobs in ((a, "4"), (b, "1")):
            self.ok("compile", MODEL, "--int8", "--target", "native,sm_80", "-o", out, "--quiet", "-j", jobs)
        self.assertEqual(sha(a), sha(b))

    def test_int8_quality(self):
        f32, int8 = self.compile(MODEL, "--f32", out=self.tmp / "f32.llmc"), self.compile(MODEL, "--int8", out=self.tmp / "int8.llmc")
        q = json.loads(self.ok("eval", int8, "--text", QUICKSTART / "eval.txt", "--reference", f32, "--json", timeout=1800).stdout)
        self.assertLessEqual(q["kl_mean"], 0.0025)
        self.assertGreaterEqual(q["same_top"], 0.97)
        self.assertLessEqual(q["kl_mean_prompt"], 0.0045)

    def test_damage_is_noticed(self):
        art = self.compile(MODEL, "--int8")
        blob = bytearray(art.read_bytes())
        for where in (9, len(blob) - 4096):
            blob[where] ^= 1
            art.write_bytes(blob)
            self.assertIn(self.llmc_rc("verify", art), (4, 6))
            blob[where] ^= 1
        art.write_bytes(blob[:len(blob) // 2])
        self.assertEqual(self.llmc_rc("run", art, "--tokens", "1", "--max-tokens", "1"), 4)

    def llmc_rc(self, *args):
        from common import llmc
        return llmc(*args).returncode


class ThinRuntime(unittest.TestCase):
    def test_links_nothing_heavy(self):
        libs = subprocess.run(["ldd", str(BIN / "llmc-run")], capture_output=True, text=True).stdout.lower()
        for word in ("llvm", "mlir", "protobuf", "nvrtc", "python"):
            self.assertNotIn(word, libs)

    def test_no_compiler_code_and_small(self):
        import tempfile
        with tempfile.NamedTemporaryFile() as slim:
            subprocess.run(["strip", "-o", slim.name, str(BIN / "llmc-run")], check=True)
            blob = open(slim.name, "rb").read()
        for word in (b"TargetMachine", b"_ZN4llvm", b"_ZN4mlir", b"google8protobuf"):
            self.assertNotIn(word, blob)
        self.assertLess(len(blob), 10_000_000)


@unittest.skipUnless(SLOW, "LLMC_SLOW is not set")
@unittest.skipUnless(MODEL.exists(), "no build/smollm2 (./dev demo makes it)")
@unittest.skipUnless(has_nvrtc() and (BIN / "libllmc-cudasim.so").exists(), "no NVRTC or no simulator")
class SmolLM2OnTheSimulator(E2E):
    def test_greedy_tokens(self):
        """16 tokens of some prompts are those of the same codes on the CPU, and of f32 where its choice is clear."""
        done = subprocess.run([sys.executable, str(ROOT / "tools" / "bench" / "gpu" / "parity.py"), str(MODEL), "--bin", str(BIN), "--prompts",
                               str(QUICKSTART / "expect.json"), "--cases", "compiler-raw,fibonacci-chat,rain-raw,sum-chat"],
                              capture_output=True, text=True, env={**os.environ, "TMPDIR": str(self.tmp)})
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_kernels_are_clean(self):
        """The sanitizer on two launches of each kernel, in the order of the calls and in a random one."""
        for target in ("sm_80", "sm_90"):
            art = self.compile(MODEL, "--int8", "--target", target)
            texts = set()
            for seed in ("", "1"):
                done = self.ok("run", art, "Hello, my name is", "--raw", "--max-tokens", 2, "--temperature", "0", "--device", "cuda-sim",
                               env={**os.environ, "LLMC_CUDASIM_SANITIZE": "first", "LLMC_CUDASIM_SEED": seed})
                self.assertEqual(done.stderr, "")
                texts.add(done.stdout)
            self.assertEqual(len(texts), 1, texts)


if __name__ == "__main__":
    unittest.main()
