"""Runs lit, GoogleTest and the Python tests and prints one total line.

    run_tests.py [--all] [--only lit|gtest|python] [-k TEXT] [--times [N]]

Called by `./dev test` after a build. Ends with `N passed, N failed, N skipped`; exits 1 if something failed or nothing ran.
lit has its own workers. Then one process per core takes from one list of jobs, longest first, so that no core waits at the end: a job is a
test program, a Python file, or a share of one that was long the last time (build/release/test-times.json holds the processor time of each).
--times prints the N tests that took longest.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
LIT = "/usr/lib/llvm-22/bin/lit"
TIMES = BUILD / "test-times.json"
CORES = len(os.sched_getaffinity(0))
SHARE = 6.0  # least seconds of processor time that a share of a job is to take


@dataclass
class Row:
    """One test: its outcome (pass, fail or skip) and its seconds of wall time."""
    name: str
    outcome: str
    detail: str = ""
    seconds: float = 0


@dataclass
class Job:
    """Share `index` of `shares` of a test program or a Python file."""
    kind: str
    file: Path
    index: int = 0
    shares: int = 1

    def filter(self, text):
        """The text that names of tests must contain; none if the name of the file does."""
        return [] if not text or text in self.file.name else [text]

    @property
    def name(self):
        return str(self.file.relative_to(BUILD / "test" if self.kind == "gtest" else ROOT))


def finished(argv, env=None):
    """Runs a command to its end: exit code, output, seconds of processor time with those of the processes it waited for."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return child.returncode, out.read().decode(errors="replace"), used.ru_utime + used.ru_stime


def run_lit(args):
    """lit over build/release/test; its JSON gives one code per test."""
    suite = BUILD / "test"
    if not (suite / "lit.site.cfg.py").exists():
        return [Row("lit", "fail", f"no {suite}/lit.site.cfg.py: lit suite not configured")], 0
    outcomes = {"PASS": "pass", "XFAIL": "pass", "FLAKYPASS": "pass", "UNSUPPORTED": "skip", "SKIPPED": "skip", "EXCLUDED": "skip"}
    with tempfile.TemporaryDirectory() as tmp:
        out = Path(tmp) / "lit.json"
        argv = [LIT, "-q", "-j", str(CORES), "-o", str(out), str(suite)]
        argv += ["--param", "slow=1"] if args.all else []
        argv += ["--filter", args.k] if args.k else []
        _, _, used = finished(argv)
        tests = json.loads(out.read_text())["tests"] if out.exists() else []
    return [Row(t["name"], outcomes.get(t["code"], "fail"), t.get("output", "")[-2000:], t.get("elapsed", 0)) for t in tests], used


def run_gtest(job, args):
    """The rows of a program (a crash counts as one failure) and its processor time."""
    with tempfile.TemporaryDirectory() as tmp:
        out = Path(tmp) / "gtest.json"
        env = dict(os.environ, PATH=f"{BUILD}/bin:{os.environ['PATH']}", GTEST_TOTAL_SHARDS=str(job.shares), GTEST_SHARD_INDEX=str(job.index), TMPDIR=tmp, TEST_TMPDIR=tmp)
        if args.all:
            env["LLMC_SLOW"] = "1"
        argv = [str(job.file), f"--gtest_output=json:{out}", "--gtest_brief=1"]
        argv += [f"--gtest_filter=*{text}*" for text in job.filter(args.k)]
        code, said, used = finished(argv, env)
        if not out.exists():
            return [Row(job.name, "fail", f"exit {code}\n" + said[-2000:])], used
        suites = json.loads(out.read_text()).get("testsuites", [])
    rows = []
    for test in (t for s in suites for t in s["testsuite"]):
        name, seconds = f"{job.file.name}: {test['classname']}.{test['name']}", float(test["time"].rstrip("s"))
        if test.get("failures"):
            rows.append(Row(name, "fail", test["failures"][0]["failure"], seconds))
        elif test.get("result") == "SKIPPED":
            rows.append(Row(name, "skip"))
        elif test.get("status") == "RUN":
            rows.append(Row(name, "pass", "", seconds))
    if code and not any(r.outcome == "fail" for r in rows):
        rows.append(Row(job.name, "fail", f"exit {code}\n" + said[-2000:]))
    return rows, used


def run_python(job, args):
    """The rows of a unittest file, run in a process of its own, and its processor time."""
    with tempfile.TemporaryDirectory() as tmp:
        out = Path(tmp) / "py.json"
        env = dict(os.environ, LLMC_SLOW="1" if args.all else "", LLMC_BIN=str(BUILD / "bin"), TMPDIR=tmp)
        argv = [sys.executable, str(ROOT / "tools/dev/unittest_json.py"), str(job.file), str(out), f"{job.index}/{job.shares}", *job.filter(args.k)]
        code, said, used = finished(argv, env)
        if not out.exists():
            return [Row(job.name, "fail", f"exit {code}\n" + said[-2000:])], used
        return [Row(f"{job.name}: {test}", *rest) for test, *rest in json.loads(out.read_text())], used


RUN = {"gtest": run_gtest, "python": run_python}


def files_of(kind):
    if kind == "gtest":
        return [p for p in (BUILD / "test" / "unit").glob("*") if p.is_file() and os.access(p, os.X_OK)]
    return (ROOT / "test").rglob("test_*.py")


def jobs_of(kinds, before, args):
    """All jobs, longest first; what was not measured before comes first. None is longer than a quarter of a core's time."""
    timed, most = [], max(SHARE, sum(before.values()) / CORES / 4)
    for job in (Job(kind, file) for kind in kinds for file in files_of(kind)):
        seconds = before.get(job.name)
        shares = math.ceil(seconds / most) if seconds and not args.k else 1
        timed += [(seconds / shares if seconds else math.inf, Job(job.kind, job.file, i, shares)) for i in range(shares)]
    return [job for _, job in sorted(timed, key=lambda t: (-t[0], t[1].name, t[1].index))]


def run_all(args):
    """Rows of all tests, and prints what each kind took. Updates the times when all tests ran."""
    kinds = [k for k in ("lit", "gtest", "python") if args.only in (None, k)]
    table = json.loads(TIMES.read_text()) if TIMES.exists() else {}
    rows, used, start = {k: [] for k in kinds}, dict.fromkeys(kinds, 0.0), time.monotonic()
    if "lit" in kinds:
        rows["lit"], used["lit"] = run_lit(args)
    before = table.get("all" if args.all else "fast", {})
    jobs = jobs_of([k for k in kinds if k != "lit"], before, args)
    taken = {}
    with ThreadPoolExecutor(CORES) as pool:
        for job, (some, seconds) in zip(jobs, pool.map(lambda j: RUN[j.kind](j, args), jobs)):
            rows[job.kind] += some
            used[job.kind] += seconds
            taken[job.name] = taken.get(job.name, 0) + seconds
    for kind in kinds:
        print(f"{kind}: {sum(r.outcome == 'pass' for r in rows[kind])} passed, {used[kind]:.0f} s of processor time", flush=True)
    print(f"{time.monotonic() - start:.1f} s on {CORES} cores", flush=True)
    if not args.k:
        TIMES.write_text(json.dumps({**table, "all" if args.all else "fast": {**before, **taken}}, indent=1))
    return [r for kind in kinds for r in rows[kind]]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--all", action="store_true", help="the slow tests too")
    p.add_argument("--only", choices=["lit", "gtest", "python"])
    p.add_argument("-k", metavar="TEXT", help="only tests whose name, or whose file's name, contains TEXT")
    p.add_argument("--times", metavar="N", type=int, nargs="?", const=20, default=0, help="print the N tests that took longest")
    args = p.parse_args()
    wheel = BUILD / "lib" / "nvrtc"  # beside the compiler, but not beside the test programs
    if wheel.exists():
        os.environ.setdefault("LLMC_NVRTC", str(wheel))
    simulator = BUILD / "bin" / "libllmc-cudasim.so"
    if simulator.exists():
        os.environ.setdefault("LLMC_CUDASIM", str(simulator))
    with tempfile.TemporaryDirectory() as kept:
        os.environ["LLMC_TEST_CACHE"] = kept  # artifacts that several Python tests take
        rows = run_all(args)
    for row in sorted(rows, key=lambda r: -r.seconds)[:args.times]:
        print(f"{row.seconds:7.2f} s  {row.name}")
    failed = [r for r in rows if r.outcome == "fail"]
    for row in failed:
        print(f"FAILED {row.name}\n    " + row.detail.strip().replace("\n", "\n    "), flush=True)
    passed, skipped = (sum(r.outcome == o for r in rows) for o in ("pass", "skip"))
    print(f"{passed} passed, {len(failed)} failed, {skipped} skipped")
    sys.exit(1 if failed or not passed else 0)


main()
