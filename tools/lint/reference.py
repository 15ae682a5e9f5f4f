"""docs/reference is what the .td files say: generates it anew into a temporary folder and compares.

Needs mlir-tblgen and cmake, but no build; without them it says that it was left out.
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from common import ROOT, finish

REFERENCE = ROOT / "docs/reference"


def folders():
    """Where LLVM's tools may lie: as configured, as Debian installs them, on the path."""
    for cache in sorted(ROOT.glob("build/*/CMakeCache.txt")):
        if m := re.search(r"^MLIR_DIR:\w+=(.+)/lib/cmake/mlir$", cache.read_text(), re.M):
            yield Path(m[1]) / "bin"
    yield Path("/usr/lib/llvm-22/bin")
    if found := shutil.which("mlir-tblgen"):
        yield Path(found).resolve().parent


def generate(tools, scratch):
    out = scratch / "reference"
    made = subprocess.run(
        ["cmake", f"-DTBLGEN={tools / 'mlir-tblgen'}", f"-DMLIR_INCLUDE={tools.parent / 'include'}", f"-DSOURCE={ROOT}",
         f"-DBUILD={scratch / 'td'}", f"-DOUT={out}", "-P", str(ROOT / "docs/Reference.cmake")], capture_output=True, text=True)
    if made.returncode != 0:
        finish([f"docs/Reference.cmake: exit {made.returncode}: {made.stderr.strip()}"])
    return out


def first_difference(have, want):
    for n, (a, b) in enumerate(zip(have, want), 1):
        if a != b:
            return n
    return min(len(have), len(want)) + 1


def main():
    tools = next((t for t in folders() if (t / "mlir-tblgen").exists() and (t.parent / "include/mlir").is_dir()), None)
    if not tools or not shutil.which("cmake"):
        print("reference: left out, no mlir-tblgen or no cmake")
        sys.exit(0)
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        made = generate(tools, Path(scratch))
        for name in sorted({p.name for folder in (made, REFERENCE) for p in folder.glob("*.md")}):
            if not (made / name).exists():
                problems.append(f"docs/reference/{name}: nothing generates it")
            elif not (REFERENCE / name).exists():
                problems.append(f"docs/reference/{name}: missing; run ./dev docs")
            else:
                have, want = ((f / name).read_text().splitlines() for f in (REFERENCE, made))
                if have != want:
                    problems.append(f"docs/reference/{name}:{first_difference(have, want)}: stale; run ./dev docs")
    finish(problems)


main()
