#!/usr/bin/env python3
"""Writes docs/gpu-predictions.md: what the cost model expects of large models on GPUs, with the bars that the project wants to reach.

A model of each shape is compiled with two layers and empty weights; the launches of its layers count as often as the real model has layers. Times are those
of `llmc inspect --launches --chip`, nothing is measured.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import make_model

ROOT = Path(__file__).resolve().parents[3]
CHIPS = {"a100": "sm_80", "h100": "sm_90", "h200": "sm_90", "l4": "sm_89", "rtx4090": "sm_89"}
TITLES = {"a100": "A100 80 GB", "h100": "H100", "h200": "H200", "l4": "L4", "rtx4090": "RTX 4090"}
BANDWIDTH = {"a100": 2.039, "h100": 3.35, "h200": 4.8, "l4": 0.30, "rtx4090": 1.008}  # TB/s
MODELS = {"7b": "Llama-2-7B", "8b": "Llama-3-8B"}
PRECISIONS = {"f16": "f16", "int8": "W8A16", "int4": "W4A16"}
LAYERS = 2
BARS = {("a100", "int8"): 1000 / 220, ("h100", "int8"): 3.2, ("h200", "int8"): 2.25}  # ms per token


def launches(llmc, artifact, chip):
    done = subprocess.run([llmc, "inspect", artifact, "--launches", "--json", "--chip", chip], capture_output=True, text=True, check=True)
    return [x for x in json.loads(done.stdout)["launches"] if x["target"] == CHIPS[chip]]


def step(some, layers, bucket):
    """(milliseconds, gigabytes) of a step of the whole model."""
    total = [0.0, 0.0]
    for launch in some:
        cost = launch["costs"][bucket]
        times = layers / LAYERS if launch["layer"] >= 0 else 1
        total[0] += cost["microseconds"] / 1e3 * times
        total[1] += cost["bytes"] / 1e9 * times
    return total


def rows(llmc, work, name):
    model = make_model.make(name, work / name, LAYERS, sparse=True)
    for precision in PRECISIONS:
        artifact = work / f"{name}-{precision}.llmc"
        targets = ",".join(sorted(set(CHIPS.values())))
        subprocess.run([llmc, "compile", model, f"--{precision}", "--target", targets, "--max-batch", "8", "--max-context", "2048", "--quiet", "-o", artifact],
                       check=True)
        for chip in CHIPS:
            some = launches(llmc, artifact, chip)
            layers = make_model.SHAPES[name][1]
            one, eight = step(some, layers, 0), step(some, layers, 1)
            per_layer = sum(1 for x in some if x["layer"] == 0 and any(x["grids"][0]) and 0 not in x["grids"][0])
            bar = BARS.get((chip, precision))
            floor = one[1] / BANDWIDTH[chip]
            bar_text = "" if bar is None else f"{bar:.2f} ms: {'reached' if one[0] <= bar else 'missed'}"
            yield (f"| {TITLES[chip]} | {PRECISIONS[precision]} | {one[0]:.2f} | {1000 / one[0]:.0f} | {floor:.2f} | {100 * floor / one[0]:.0f} % "
                   f"| {eight[0]:.2f} | {8000 / eight[0]:.0f} | {per_layer} | {bar_text} |")
        artifact.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--llmc", type=Path, default=ROOT / "build" / "release" / "bin" / "llmc")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "gpu-predictions.md")
    parser.add_argument("--note", default="", help="a sentence on the state of the kernels")
    args = parser.parse_args()
    text = """# Predicted decode times on GPUs

Written by `tools/bench/gpu/predict.py`. **These are predictions of a cost model, not measurements**: bytes and multiplications of every launch of the compiled program,
registers and shared memory of its kernels, the data sheets of the chips (`runtime/base/GpuModel.cpp`). Expect errors of 30 % until somebody has run `tools/bench/gpu/run` on the
chip. A step at 1024 tokens of context, f16 cache; the floor is all bytes of the step at the bandwidth of the data sheet. The bars are the project's goals for batch 1.
"""
    text += args.note and f"\n{args.note}\n"
    with tempfile.TemporaryDirectory() as folder:
        for name in args.models.split(","):
            text += f"\n## {MODELS[name]}\n\n| chip | weights | ms per token | tokens/s | floor, ms | of the floor | batch 8, ms | tokens/s | launches per layer | bar |\n"
            text += "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n"
            for row in rows(args.llmc, Path(folder), name):
                print(row, flush=True)
                text += row + "\n"
    args.out.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
