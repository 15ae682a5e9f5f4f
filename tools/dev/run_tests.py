"""Runs lit, GoogleTest and the Python tests and prints one total line.

    run_tests.py [--all] [--only lit|gtest|python] [-k TEXT]

Called by `./dev test` after a build. Ends with `N passed, N failed, N skipped`; exits 1 if something failed or nothing ran.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
LIT = "/usr/lib/llvm-22/bin/lit"


class Totals:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = []

    def add(self, name, outcome, detail=""):
        if outcome == "pass":
            self.passed += 1
        elif outcome == "skip":
            self.skipped += 1
        else:
            self.failed += 1
            self.failures.append((name, detail))


def run_lit(totals, args):
    """lit over build/release/test; its JSON gives one code per test."""
    suite = BUILD / "test"
    if not (suite / "lit.site.cfg.py").exists():
        totals.add("lit", "fail", f"no {suite}/lit.site.cfg.py: lit suite not configured")
        return
    with tempfile.TemporaryDirectory() as tmp:
        out = Path(tmp) / "lit.json"
        argv = [LIT, "-q", "-j", str(os.cpu_count()), "-o", str(out), str(suite)]
        argv += ["--param", "slow=1"] if args.all else []
        argv += ["--filter", args.k] if args.k else []
        subprocess.run(argv, check=False)
        tests = json.loads(out.read_text())["tests"] if out.exists() else []
    for t in tests:
        code = t["code"]
        outcome = "pass" if code in ("PASS", "XFAIL", "FLAKYPASS") else "skip" if code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED") else "fail"
        totals.add(t["name"], outcome, t.get("output", "")[-2000:])


def one_gtest(program, args):
    """(name, outcome, detail) of every test of one program; a crash counts as one failure."""
    with tempfile.TemporaryDirectory() as tmp:
        out = Path(tmp) / "gtest.json"
        env = dict(os.environ, PATH=f"{BUILD}/bin:{os.environ['PATH']}")
        if args.all:
            env["LLMC_SLOW"] = "1"
        argv = [str(program), f"--gtest_output=json:{out}", "--gtest_brief=1"]
        argv += [f"--gtest_filter=*{args.k}*"] if args.k else []
        done = subprocess.run(argv, check=False, capture_output=True, text=True, env=env)
        if not out.exists():
            return [(program.name, "fail", f"exit {done.returncode}\n" + (done.stdout + done.stderr)[-2000:])]
        suites = json.loads(out.read_text()).get("testsuites", [])
    rows = []
    for test in (t for s in suites for t in s["testsuite"]):
        name = f"{program.name}: {test['classname']}.{test['name']}"
        if test.get("failures"):
            rows.append((name, "fail", test["failures"][0]["failure"]))
        elif test.get("result") == "SKIPPED":
            rows.append((name, "skip", ""))
        elif test.get("status") == "RUN":
            rows.append((name, "pass", ""))
    if done.returncode and not any(r[1] == "fail" for r in rows):
        rows.append((program.name, "fail", f"exit {done.returncode}\n" + done.stderr[-2000:]))
    return rows


def run_gtest(totals, args):
    """Every program in build/release/test/unit, as many at once as there are cores."""
    programs = [p for p in sorted((BUILD / "test" / "unit").glob("*")) if p.is_file() and os.access(p, os.X_OK)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for rows in pool.map(lambda p: one_gtest(p, args), programs):
            for row in rows:
                totals.add(*row)


def one_python(file, args):
    """(name, outcome, detail) of every test of one unittest file, run in a process of its own."""
    runner, name = ROOT / "tools" / "dev" / "unittest_json.py", str(file.relative_to(ROOT))
    with tempfile.TemporaryDirectory() as tmp:
        out = Path(tmp) / "py.json"
        env = dict(os.environ, LLMC_SLOW="1" if args.all else "", LLMC_BIN=str(BUILD / "bin"))
        argv = [sys.executable, str(runner), str(file), str(out)] + ([args.k] if args.k else [])
        done = subprocess.run(argv, check=False, capture_output=True, text=True, env=env)
        if not out.exists():
            return [(name, "fail", (done.stdout + done.stderr)[-2000:])]
        return [(f"{name}: {test}", outcome, detail) for test, outcome, detail in json.loads(out.read_text())]


def run_python(totals, args):
    """unittest files test/**/test_*.py."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for rows in pool.map(lambda f: one_python(f, args), sorted((ROOT / "test").rglob("test_*.py"))):
            for row in rows:
                totals.add(*row)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--all", action="store_true", help="the slow tests too")
    p.add_argument("--only", choices=["lit", "gtest", "python"])
    p.add_argument("-k", metavar="TEXT", help="only tests whose name contains TEXT")
    args = p.parse_args()
    wheel = BUILD / "lib" / "nvrtc"  # beside the compiler, but not beside the test programs
    if wheel.exists():
        os.environ.setdefault("LLMC_NVRTC", str(wheel))
    simulator = BUILD / "bin" / "libllmc-cudasim.so"
    if simulator.exists():
        os.environ.setdefault("LLMC_CUDASIM", str(simulator))
    totals = Totals()
    for name, run in (("lit", run_lit), ("gtest", run_gtest), ("python", run_python)):
        if args.only in (None, name):
            start, before = time.monotonic(), totals.passed
            run(totals, args)
            print(f"{name}: {totals.passed - before} passed in {time.monotonic() - start:.1f} s", flush=True)
    for name, detail in totals.failures:
        print(f"FAILED {name}\n    " + detail.strip().replace("\n", "\n    "), flush=True)
    print(f"{totals.passed} passed, {totals.failed} failed, {totals.skipped} skipped")
    sys.exit(1 if totals.failed or not totals.passed else 0)


main()
