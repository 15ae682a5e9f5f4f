"""Test lint: CHECK lines need FileCheck, lit files start with RUN and a sentence, every pass flag is in a RUN line."""
import re

from common import ROOT, files, finish

CHECK = re.compile(r"(//|#)\s*[A-Z0-9_]*CHECK(-[A-Z]+)?:")


def lit_problems(path):
    rel, text = path.relative_to(ROOT), path.read_text(errors="replace")
    lines, problems = text.splitlines(), []
    if CHECK.search(text) and "FileCheck" not in text:
        problems.append(f"{rel}: CHECK lines but no FileCheck in RUN")
    if not lines or "RUN:" not in lines[0]:
        problems.append(f"{rel}: first line is not a RUN line")
    if not any(re.match(r"(//|#)\s*[A-Z][a-z].{10,}", l) and "RUN" not in l and "CHECK" not in l for l in lines[:8]):
        problems.append(f"{rel}: no sentence on what is tested in the first lines")
    return problems


def pass_flags():
    for td in files("Passes.td"):
        for flag in re.findall(r'def\s+\w+\s*:\s*\w*Pass\w*<\s*"(llmc-[\w-]+)"', td.read_text()):
            yield td.relative_to(ROOT), flag


def main():
    lit = [f for f in files(".mlir", ".test") if str(f.relative_to(ROOT)).startswith("test/") and "Inputs" not in f.parts]
    problems = [p for f in lit for p in lit_problems(f)]
    runs = "\n".join(l for f in lit for l in f.read_text(errors="replace").splitlines() if "RUN" in l or "llmc-opt" in l)
    for td, flag in pass_flags():
        if not re.search(re.escape(flag) + r"(?![\w-])", runs):
            problems.append(f"{td}: pass {flag} is in no RUN line")
        name = flag.removeprefix("llmc-")
        group = td.parts[1] if len(td.parts) > 2 else ""
        if not (ROOT / "test/passes" / group / f"{name}.mlir").exists() and not (ROOT / "test/passes" / group / f"{flag}.mlir").exists():
            problems.append(f"{td}: no test/passes/{group}/{name}.mlir")
    finish(problems)


main()
