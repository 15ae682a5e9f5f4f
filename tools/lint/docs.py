"""Documentation of passes and ops: summary and description everywhere, an example per op and per pass."""
import re

from common import ROOT, files, finish


def entries(text, pattern):
    """(name, body) of each `def … {…}` whose head matches; the body ends at a line with `}` alone."""
    for m in re.finditer(pattern, text, re.M):
        end = text.find("\n}", m.end())
        yield m, text[m.start():end if end > 0 else len(text)]


def main():
    problems = []
    for td in files("Passes.td"):
        for m, body in entries(td.read_text(), r'^def\s+(\w+)\s*:\s*\w*Pass\w*<\s*"([\w-]+)"'):
            for need in ("summary", "description"):
                if f"let {need}" not in body:
                    problems.append(f"{td.relative_to(ROOT)}: pass {m[2]} has no {need}")
            if "```" not in body:
                problems.append(f"{td.relative_to(ROOT)}: pass {m[2]} has no before/after example")
    for td in files(".td"):
        rel = str(td.relative_to(ROOT))
        if not rel.startswith("dialects/") or td.name == "Passes.td":
            continue
        for m, body in entries(td.read_text(), r'^def\s+(\w+Op)\s*:\s*\w+<\s*"([\w.]+)"'):
            if "summary" not in body and "class" not in body.split(":")[0] and '", "' not in body.split("{")[0]:
                problems.append(f"{rel}: op {m[2]} has no summary")
            if rel.startswith(("dialects/llm", "dialects/exe")) and ("let description" not in body or "```" not in body):
                problems.append(f"{rel}: op {m[2]} has no description with an example")
    for name in ("README.md", "CHANGELOG.md", "docs/architecture.md", "docs/dependencies.md", "docs/how-to/add-an-op.md",
                 "docs/how-to/add-a-pass.md", "docs/how-to/add-a-kernel.md"):
        if not (ROOT / name).exists():
            problems.append(f"{name}: missing")
    finish(problems)


main()
