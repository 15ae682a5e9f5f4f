"""Shared by the checks: the files of the tree (tracked and new ones) and reporting."""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def files(*suffixes):
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / f for f in out.splitlines() if f.endswith(suffixes) and (ROOT / f).is_file()]


def finish(problems):
    for p in problems:
        print(p)
    sys.exit(1 if problems else 0)
