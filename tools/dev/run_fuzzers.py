#!/usr/bin/env python3
"""Runs every fuzzer of build/fuzz for some seconds, two at a time, from the seeds in test/Inputs/fuzz/NAME.

  run_fuzzers.py [SECONDS] [-k NAME]

The corpus grows in build/fuzz/corpus/NAME, so that a later run goes on where this one stopped. A finding is written to
build/fuzz/findings and its report printed. The last line is `N fuzzers, N clean, N with findings`.
"""
import argparse
import concurrent.futures
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "fuzz"


def run(program, seconds):
    """(name, whether it is clean, its report)."""
    name = program.name
    corpus, findings, seeds = BUILD / "corpus" / name, BUILD / "findings", ROOT / "test" / "Inputs" / "fuzz" / name
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    # A hang is a finding too; the limits leave room for a busy machine.
    flags = [f"-max_total_time={seconds}", "-timeout=60", "-rss_limit_mb=4096", "-print_final_stats=1", f"-artifact_prefix={findings}/{name}-"]
    folders = [corpus] + ([seeds] if seeds.is_dir() else [])
    done = subprocess.run([program, *flags, *folders], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return name, done.returncode == 0, done.stdout.decode("utf-8", "replace")


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("seconds", nargs="?", type=int, default=60)
    args.add_argument("-k", metavar="NAME", default="", help="only fuzzers whose name contains NAME")
    args = args.parse_args()
    programs = sorted(p for p in (BUILD / "test" / "fuzz").glob("*Fuzzer") if args.k in p.name)
    if not programs:
        sys.exit("run_fuzzers: error: no fuzzer in build/fuzz/test/fuzz")
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, clean, report in pool.map(lambda p: run(p, args.seconds), programs):
            executed = [line.split()[-1] for line in report.splitlines() if "number_of_executed_units" in line]
            print(f"{name}: {'clean' if clean else 'FINDING'}, {executed[0] if executed else '?'} inputs", flush=True)
            if not clean:
                bad += 1
                print("\n".join(report.splitlines()[-60:]), flush=True)
    print(f"{len(programs)} fuzzers, {len(programs) - bad} clean, {bad} with findings")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
