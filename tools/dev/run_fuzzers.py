#!/usr/bin/env python3
"""Runs every fuzzer of build/fuzz for some seconds, two at a time.

  run_fuzzers.py [SECONDS] [--seed N] [-k NAME]

Seeds are made from the stored inputs of the tests (templates, tokenizers, texts, test/Inputs/fuzz/constraints.jsonl)
and the inputs of former findings in test/Inputs/fuzz/NAME; words come from test/Inputs/fuzz/NAME.dict. The corpus grows
in build/fuzz/corpus/NAME, so that a later run goes on where this one stopped. A finding is written to build/fuzz/findings
and its report printed. With --seed the corpus is left alone and the inputs come in the same order each time, so that a
run that was clean stays clean: CI looks for what a change broke, a run without a seed for what nobody has seen yet. A
fuzzer that ran nothing, or took too long to end, has failed too. The last line is `N fuzzers, N clean, N with findings`.
"""
import argparse
import concurrent.futures
import hashlib
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "fuzz"
TEXT = ROOT / "test" / "Inputs" / "text"
FUZZ = ROOT / "test" / "Inputs" / "fuzz"


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def template_seeds():
    for path in sorted(TEXT.glob("template*.jsonl")):
        for case in lines(path):
            if "template" in case:
                yield case["template"].encode()


def text_seeds():
    for path in [*sorted(TEXT.glob("*-cases.jsonl")), TEXT / "tokenizers.jsonl"]:
        for case in lines(path):
            for text in [case] if "text" in case else case.get("cases", []):
                yield text["text"].encode("utf-8", "replace")


def constraint_seeds(name):
    for case in lines(FUZZ / "constraints.jsonl"):
        if case["fuzzer"] == name:
            yield b"\0" + case["source"].encode() + b"\0" + case["text"].encode()


def make_seeds(program):
    """The folder of the fuzzer's seeds. Two of them write their own."""
    name, folder = program.name, BUILD / "seeds" / program.name
    folder.mkdir(parents=True, exist_ok=True)
    if name == "ReaderFuzzer":
        subprocess.run([program, "--seed", folder / "tiny.llmc"], check=True)
    elif name == "TokenizerFuzzer":
        subprocess.run([program, "--seed", folder, *sorted(TEXT.glob("*.jsonl"))], check=True)
    else:
        makers = {"TemplateFuzzer": template_seeds, "EncodeFuzzer": text_seeds}
        for seed in makers.get(name, lambda: constraint_seeds(name))():
            (folder / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    return folder


def run(program, seconds, chance):
    """(name, whether it is clean, inputs, its report). `chance` is libFuzzer's seed or None."""
    name = program.name
    corpus, findings = BUILD / "corpus" / name, BUILD / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    # A hang and a full memory are findings too; the limits leave room for a busy machine.
    flags = [f"-max_total_time={seconds}", "-timeout=30", "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={findings}/{name}-"]
    if chance is not None:
        flags.append(f"-seed={chance}")
    if (FUZZ / f"{name}.dict").exists():
        flags.append(f"-dict={FUZZ / name}.dict")
    former = FUZZ / name
    folders = [make_seeds(program), *([former] if former.is_dir() else [])]
    if chance is None:
        folders.insert(0, corpus)
    try:
        done = subprocess.run([program, *flags, *folders], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds * 2 + 180)
        code, report = done.returncode, done.stdout.decode("utf-8", "replace")
    except subprocess.TimeoutExpired as late:
        code, report = 1, (late.stdout or b"").decode("utf-8", "replace") + f"\n{name} did not end within {seconds * 2 + 180} s"
    ran = [int(line.split()[-1]) for line in report.splitlines() if "number_of_executed_units" in line]
    if code == 0 and not sum(ran):
        code, report = 1, report + f"\n{name} ran no input"
    return name, code == 0, sum(ran), report


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("seconds", nargs="?", type=int, default=60)
    args.add_argument("--seed", type=int, metavar="N", help="libFuzzer's seed, from 1 on")
    args.add_argument("-k", metavar="NAME", default="", help="only fuzzers whose name contains NAME")
    args = args.parse_args()
    programs = sorted(p for p in (BUILD / "test" / "fuzz").glob("*Fuzzer") if args.k in p.name)
    if not programs:
        sys.exit("run_fuzzers: error: no fuzzer in build/fuzz/test/fuzz")
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, clean, ran, report in pool.map(lambda p: run(p, args.seconds, args.seed), programs):
            print(f"{name}: {'clean' if clean else 'FINDING'}, {ran} inputs", flush=True)
            if not clean:
                bad += 1
                print("\n".join(report.splitlines()[-60:]), flush=True)
    print(f"{len(programs)} fuzzers, {len(programs) - bad} clean, {bad} with findings")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
