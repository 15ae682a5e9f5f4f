#!/usr/bin/env python3
"""Greedy tokens of a model on a CUDA device or the simulator, against the same weights on the CPU and against f32.

    tools/bench/gpu/parity.py build/smollm2/model.onnx --prompts tools/quickstart/expect.json

Three artifacts of the model: for CUDA, for the CPU with the same codes and exact activations, and in f32. CUDA rounds activations to f16 once where they enter a
product; everything else of the two quantised ones is f32, so their tokens must be equal. f32 may choose differently only where its two best logits are close.
One line per prompt; the exit code is 1 if any differs. Tokens per second are of processor time, since a test machine is never idle.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[3]


class Failed(Exception):
    """A program failed; its last line says why."""


def call(command, env=None):
    """Standard output and processor seconds of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=env, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command[:3]))}: {(done.stderr.strip() or f'exit code {done.returncode}').splitlines()[-1]}")
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Parity:
    def __init__(self, args, work):
        self.args, self.work, self.llmc = args, work, args.bin / "llmc"
        self.cuda = self.compile("cuda", f"--{args.precision}", "--target", args.target)
        self.cpu = self.compile("cpu", f"--{args.precision}", "--activations", "f32")
        self.f32 = self.compile("f32", "--f32")
        self.env = {**os.environ, "LLMC_CUDASIM": str(args.bin / "libllmc-cudasim.so")}

    def compile(self, name, *flags):
        path = self.work / f"{name}.llmc"
        call([self.llmc, "compile", self.args.model, *flags, "-o", path, "--quiet"])
        return path

    def tokens(self, art, prompt, device, env=None, more=()):
        out, seconds = call([self.llmc, "run", art, "--tokens", ",".join(map(str, prompt)), "--max-tokens", self.args.tokens, "--temperature", 0,
                             "--ignore-eos", "--json", "--device", device, *more], env)
        return json.loads(out)["tokens"], seconds

    def gap(self, prompt):
        """Distance of the two best logits behind a prompt in f32."""
        file = self.work / "logits.npy"
        call([self.llmc, "run", self.f32, "--tokens", ",".join(map(str, prompt)), "--max-tokens", 1, "--device", "cpu", "--logits", "last", "--logits-out", file])
        best = np.sort(np.load(file).ravel())[-2:]
        return float(best[1] - best[0])

    def case(self, case):
        """The line of a prompt."""
        prompt = case["prompt_ids"]
        found, seconds = self.tokens(self.cuda, prompt, self.args.device, self.env)
        line = {"name": case["name"], "prompt": len(prompt), "tokens": found, "seconds": seconds, "cpu": self.tokens(self.cpu, prompt, "cpu")[0]}
        at = first_difference(found, self.tokens(self.f32, prompt, "cpu")[0])
        line["f32_equal"], line["f32_gap"] = at, None if at == len(found) else self.gap(prompt + found[:at])
        line["ok"] = found == line["cpu"] and (line["f32_gap"] is None or line["f32_gap"] < self.args.gap)
        return line


def first_difference(a, b):
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), len(a))


def row(line):
    count = len(line["tokens"])
    equal = first_difference(line["tokens"], line["cpu"])
    gap = "     -" if line["f32_gap"] is None else f"{line['f32_gap']:6.3f}"
    rate = (line["prompt"] + count - 1) / line["seconds"]
    return f"{'ok  ' if line['ok'] else 'FAIL'} {line['name']:16} {line['prompt']:6} {count:6} {equal:4} {line['f32_equal']:4} {gap} {line['seconds']:8.1f} {rate:6.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--prompts", type=Path, required=True, help='file with {"cases": [{"name": …, "prompt_ids": […]}]}')
    parser.add_argument("--cases", help="names of some, with commas")
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--device", default="cuda-sim")
    parser.add_argument("--gap", type=float, default=0.25, help="of the best logits in f32 where it may choose another token")
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--json", type=Path, help="file for the results")
    args = parser.parse_args()
    cases = json.loads(args.prompts.read_text())["cases"]
    if args.cases:
        cases = [c for c in cases if c["name"] in args.cases.split(",")]
    lines = []
    with tempfile.TemporaryDirectory() as work:
        parity = Parity(args, Path(work))
        print("     name             prompt tokens  equal to: cpu f32, gap there; seconds, tokens/s of processor time", flush=True)
        for case in cases:
            lines.append(parity.case(case))
            print(row(lines[-1]), flush=True)
    if args.json:
        args.json.write_text(json.dumps(lines, indent=1) + "\n")
    return 0 if lines and all(line["ok"] for line in lines) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as why:
        print(f"parity: error: {why}", file=sys.stderr)
        sys.exit(1)
