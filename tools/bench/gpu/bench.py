#!/usr/bin/env python3
"""Measures a GPU with llmc: bandwidth, kernels against their predictions, decoding and prefill of three sizes, parity with the CPU, repeatability.

Models are made on the spot with random weights (make_model.py). Prints tables and writes everything as JSON. What the time does not suffice for is left out
and named. --device cuda-sim --tiny runs the same on the simulator, to see that it works: its times are modelled.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import make_model

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TARGETS = (80, 86, 89, 90, 100, 120)
BATCHES, PROMPT, DEPTH, STEPS, SOAK = "1,8,32", 1024, 1024, 64, 10000
PARITY_BOUND = 5e-2  # of the largest logit: int8 rows of prompts on the CPU, halves on the GPU


class Skipped(Exception):
    """A part that there was no time for, or that could not be done."""


class Bench:
    def __init__(self, args):
        self.args, self.begin, self.result = args, time.monotonic(), {"device": args.device, "skipped": [], "models": {}}
        self.env = dict(os.environ)
        if args.device == "cuda-sim":
            self.env.setdefault("LLMC_CUDASIM", str(args.bin / "libllmc-cudasim.so"))

    def left(self):
        return self.args.minutes * 60 - (time.monotonic() - self.begin)

    def call(self, *command, need=10):
        """Standard output of a program; Skipped when it fails or there is no time."""
        if self.left() < need:
            raise Skipped(f"{self.left():.0f} s left, {need} needed")
        try:
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=self.env, timeout=max(self.left(), 1), check=False)
        except subprocess.TimeoutExpired as error:
            raise Skipped("the time is up") from error
        if done.returncode != 0:
            raise Skipped(done.stderr.strip().split("\n")[-1] or f"exit code {done.returncode}")
        return done.stdout

    def gpu(self, *command, need=10):
        return json.loads(self.call(self.args.bin / "bench-gpu", *command, "--device", self.args.device, need=need))

    def part(self, name, function):
        try:
            function()
        except Skipped as why:
            self.result["skipped"].append({"part": name, "why": str(why)})
            say(f"{name}: left out: {why}")

    def probe(self):
        self.result["probe"] = p = self.gpu("probe", "--bytes", 1 << 22 if self.args.tiny else 1 << 30)
        say(f"{p['chip']}: reads {p['read_gbs']:.0f} GB/s, copies {p['copy_gbs']:.0f} GB/s, {p['launch_us']:.2f} us a launch")

    def target(self):
        """The newest target that the chip runs."""
        sm = self.result.get("probe", {}).get("sm", 80)
        return f"sm_{max((t for t in TARGETS if t <= sm), default=80)}" if self.args.target is None else self.args.target

    def artifact(self, name, targets):
        folder = self.args.work / name
        path = folder / f"{'-'.join(targets)}-{self.args.precision}.llmc"
        if not path.exists():
            model = make_model.make(name, folder)
            begin = time.monotonic()
            self.call(self.args.bin / "llmc", "compile", model, f"--{self.args.precision}", "--target", ",".join(targets), "--max-batch", 32,
                      "--max-context", 2048, "--quiet", "-o", path, need=20)
            self.result["models"].setdefault(name, {})["compile_s"] = time.monotonic() - begin
        return path

    def speed(self, name):
        sizes = ("1,2", 12, 8, 3) if self.args.tiny else (BATCHES, PROMPT, DEPTH, STEPS)
        path = self.artifact(name, [self.target()])
        flags = [x for pair in zip(("--batch", "--prompt", "--depth", "--steps"), sizes) for x in pair]
        result = self.gpu("speed", path, "--kernels", *flags, need=15)
        self.result["models"].setdefault(name, {}).update(result)
        read = self.result.get("probe", {}).get("read_gbs")
        for s in result["speed"]:
            rate = result["weight_bytes"] / s["decode_ms"] / 1e6
            share = f", {100 * rate / read:.0f} % of the probe" if read else ""
            say(f"{name} {self.args.precision} batch {s['batch']:2}: decode {s['decode_ms']:.3f} ms ({s['decode_tokens_per_s']:.0f} tokens/s{share}; "
                f"predicted {s['predicted_ms']:.3f} ms), prefill {s['prefill_tokens_per_s']:.0f} tokens/s")
        for k in result["speed"][0]["kernels"]:
            ratio = k["us"] / k["predicted_us"] if k["predicted_us"] else float("nan")
            say(f"  {k['launches']:3} x {k['us']:8.1f} us, {ratio:5.2f} of predicted, {k['bytes'] / max(k['us'], 1e-9) / 1e3:6.0f} GB/s  {k['name']}")
        if not self.args.keep and not self.args.tiny and name != self.args.models[0]:
            path.unlink()

    def parity(self):
        """Logits and greedy tokens of the CPU's code against the GPU's, of one artifact."""
        name = self.args.models[0]
        path = self.artifact(name, ["native", self.target()])
        prompt = ",".join(str(i * 37 % 500 + 1) for i in range(8 if self.args.tiny else 40))
        logits, tokens = {}, {}
        for device in ("cpu", self.args.device):
            out = self.args.work / f"{device.replace(':', '-')}.npy"
            done = json.loads(self.call(self.args.bin / "llmc", "run", path, "--tokens", prompt, "--max-tokens", 4 if self.args.tiny else 16, "--temperature", 0,
                                        "--ignore-eos", "--json", "--device", device, "--logits", "last", "--logits-out", out, need=20))
            logits[device], tokens[device] = np.load(out).astype(np.float64), done["tokens"]
        a, b = logits["cpu"], logits[self.args.device]
        error = float(np.abs(a - b).max() / np.abs(a).max())
        equal = next((i for i, (x, y) in enumerate(zip(tokens["cpu"], tokens[self.args.device])) if x != y), len(tokens["cpu"]))
        self.result["parity"] = {"model": name, "relative_error": error, "equal_tokens": equal, "tokens": len(tokens["cpu"]), "ok": error < PARITY_BOUND}
        say(f"parity of {name}: logits differ by {error:.1e} of the largest, {equal} of {len(tokens['cpu'])} greedy tokens equal")

    def soak(self):
        steps = 6 if self.args.tiny else SOAK
        s = self.result["soak"] = self.gpu("soak", self.artifact(self.args.models[0], [self.target()]), "--steps", steps, "--batch", 2 if self.args.tiny else 4, need=20)
        say(f"soak: {s['steps']} steps, {s['different']} with other bits")

    def run(self):
        self.part("probe", self.probe)
        self.part("parity", self.parity)
        for name in self.args.models:
            self.part(f"speed of {name}", lambda name=name: self.speed(name))
        self.part("soak", self.soak)
        self.result["seconds"] = time.monotonic() - self.begin
        if self.args.json:
            self.args.json.write_text(json.dumps(self.result, indent=1) + "\n")
        say(f"{self.result['seconds']:.0f} s" + (f", written to {self.args.json}" if self.args.json else ""))
        good = self.result.get("soak", {}).get("different", 0) == 0 and self.result.get("parity", {}).get("ok", True)
        complete = not self.result["skipped"]
        return 0 if good and (complete or not self.args.tiny) else 1


def say(text):
    print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", help="cuda, cuda:N or cuda-sim")
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "release" / "bin", help="folder of llmc and bench-gpu")
    parser.add_argument("--models", default="1b,3b,8b", help="of " + ", ".join(make_model.SHAPES))
    parser.add_argument("--precision", default="int8", choices=("f16", "int8", "int4"))
    parser.add_argument("--target", help="of the compile (default: the chip's)")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--work", type=Path, help="folder for models, which is kept (default: a temporary one)")
    parser.add_argument("--keep", action="store_true", help="keep all artifacts")
    parser.add_argument("--json", type=Path, help="file for the results")
    parser.add_argument("--tiny", action="store_true", help="a model of two small layers, few steps")
    args = parser.parse_args()
    args.models = ["tiny"] if args.tiny else args.models.split(",")
    for name in args.models:
        if name not in make_model.SHAPES:
            parser.error(f"unknown model '{name}', known are {', '.join(make_model.SHAPES)}")
    with tempfile.TemporaryDirectory() as temporary:
        args.work = args.work or Path(temporary)
        args.work.mkdir(parents=True, exist_ok=True)
        return Bench(args).run()


if __name__ == "__main__":
    sys.exit(main())
