"""clang-format-22 --dry-run over all C and C++ files."""
import subprocess

from common import ROOT, files, finish

SKIP = ("tools/bench/peers/",)
paths = [str(f.relative_to(ROOT)) for f in files(".h", ".hpp", ".cpp", ".c") if not str(f.relative_to(ROOT)).startswith(SKIP)]
done = subprocess.run(["clang-format-22", "--dry-run", "--Werror", *paths], cwd=ROOT, capture_output=True, text=True)
bad = sorted({line.split(":")[0] for line in done.stderr.splitlines() if "clang-format-violations" in line})
finish([f"{b}: not formatted (./dev format)" for b in bad])
