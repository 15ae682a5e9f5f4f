#!/usr/bin/env python3
"""Run every engine, variant and thread count; print the table and write the JSON.

Each measurement is a process of its own, with the limits of the machine (probe.c) taken
right before and right after it. Set PEERS_LOCK to a file to hold its lock meanwhile.
"""
import argparse
import fcntl
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import engines

HERE = Path(__file__).resolve().parent
LIMIT_SECONDS, HOLD_SECONDS = 420, 100
UNREAD_MB = {"ort-int8-untied": 113.2}  # its separate fp32 embedding, of which one row per token is read
TRIES, OTHERS_ALLOWED = 2, 0.06  # repeat while other processes use more than this share of the CPU time


class Lock:
    """An optional file lock, kept over several measurements but for about HOLD_SECONDS only."""

    def __init__(self, path):
        self.path, self.file = path, None

    def take(self):
        if self.path and not self.file:
            self.file, self.since = open(self.path, "w"), None
            fcntl.flock(self.file, fcntl.LOCK_EX)
            self.since = time.time()

    def release_if_old(self):
        if self.file and time.time() - self.since > HOLD_SECONDS:
            self.file.close()
            self.file = None


def probe(binary):
    return json.loads(subprocess.run([binary, "2", "0.25"], check=True, capture_output=True, text=True).stdout)


lock = Lock(os.environ.get("PEERS_LOCK"))


def busy_seconds():
    """CPU time used by the whole machine, and by our own children that have ended."""
    user, nice, system = (int(x) for x in open("/proc/stat").readline().split()[1:4])
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (user + nice + system) / os.sysconf("SC_CLK_TCK"), children.ru_utime + children.ru_stime


def measure(args, name, variant, threads):
    """The quietest of up to TRIES measurements."""
    best = None
    for _ in range(TRIES):
        result = measure_once(args, name, variant, threads)
        if best is None or result["others_share"] < best["others_share"]:
            best = result
        if best["others_share"] < OTHERS_ALLOWED:
            break
    return best


def measure_once(args, name, variant, threads):
    python = args.home / engines.ENGINES[name][1] / "bin" / "python"
    lock.take()
    before = probe(args.home / "probe")
    all_before, own_before, begin = *busy_seconds(), time.time()
    env = {**os.environ, "PEERS_T0": str(time.time()), "HF_HUB_OFFLINE": "1"}
    try:
        done = subprocess.run([python, HERE / "worker.py", name, variant, str(threads), args.home / "models",
                               HERE / "ids.json"], env=env, capture_output=True, text=True, timeout=LIMIT_SECONDS)
        output, errors = done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        output, errors = (late.stdout or b"").decode(), "time limit"
    all_after, own_after = busy_seconds()
    others = (all_after - all_before - (own_after - own_before)) / ((time.time() - begin) * os.cpu_count())
    after = probe(args.home / "probe")
    lock.release_if_old()
    result = {"engine": name, "variant": variant, "threads": threads, "others_share": others}
    for line in output.splitlines():
        if line.startswith("{"):
            result.update(json.loads(line))
    result["probe"] = {key: (before[key] + after[key]) / 2 for key in before}
    result["probe_spread"] = max(abs(after[k] / before[k] - 1) for k in before)
    if "decode" not in result:
        result["error"] = errors.strip().splitlines()[-1:] or ["no output"]
    return result


def middle(values):
    return statistics.median(values) if values else float("nan")


def table(results, expected):
    lines = ["| engine | variant | t | decode tok/s (min-max) | prefill 512 tok/s | batch-8 decode | % of read limit | first token s "
             "| peak RSS MB | anon MB | disk MB | ids |", "|" + " --- |" * 12]
    for r in results:
        if "decode" not in r:
            lines.append(f"| {r['engine']} | {r['variant']} | {r['threads']} | failed: {r.get('error')} |" + " |" * 8)
            continue
        read_mb = r["disk_mb"] - UNREAD_MB.get(r["variant"], 0)
        limit = middle(r["decode"]) * read_mb / 1e3 / r["probe"][f"read_gbs_{r['threads']}"]
        same = next((i for i, (a, b) in enumerate(zip(r["tokens"], expected)) if a != b), min(len(r["tokens"]), len(expected)))
        lines.append(
            f"| {r['engine']} | {r['variant']} | {r['threads']} | {middle(r['decode']):.1f} ({min(r['decode']):.1f}-"
            f"{max(r['decode']):.1f}) | {middle(r['prefill']):.0f} | {middle(r.get('decode8', [])):.0f} | {100 * limit:.0f} | "
            f"{r['first_token_s']:.2f} | {r['peak_rss_mb']:.0f} | {r['anon_mb']:.0f} | {r['disk_mb']:.0f} | {same} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path, help="folder with the virtual environments, the probe and models/")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="+", default=[], help="engine or engine:variant")
    parser.add_argument("--out", type=Path, default=None, help="JSON file; entries of other engines in it are kept")
    args = parser.parse_args()
    args.home, out = args.home.resolve(), args.out or args.home / "results.json"
    cases = json.loads((HERE.parent.parent / "quickstart" / "expect.json").read_text())["cases"]
    expected = next(c for c in cases if c["name"] == "compiler-chat")["greedy_ids"]
    results = {(r["engine"], r["variant"], r["threads"]): r for r in (json.loads(out.read_text()) if out.exists() else [])}
    chosen = [(name, variant) for name, (_, _, variants) in engines.ENGINES.items() for variant in variants]
    if args.only:
        chosen = [pair for only in args.only for pair in chosen if only in (pair[0], ":".join(pair))]
    for threads in args.threads:
        for name, variant in chosen:
            r, old = measure(args, name, variant, threads), results.get((name, variant, threads), {})
            if "decode" in old:
                r["earlier_decode"] = old.get("earlier_decode", []) + [middle(old["decode"])]
            results[name, variant, threads] = r
            print(table([r], expected).splitlines()[-1], f"others {r['others_share']:.3f}", r["probe"], file=sys.stderr, flush=True)
            out.write_text(json.dumps(list(results.values()), indent=1))
    print(table(results.values(), expected))


main()
