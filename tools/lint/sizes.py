"""File sizes: above 500 lines the file's head must say why ("Long because"), above 700 it fails. Prints the distribution."""
import statistics

from common import ROOT, files, finish

EXEMPT = ("docs/reference/", "tools/quickstart/", "test/Inputs/", "tools/bench/peers/")


def main():
    problems, lengths = [], []
    for path in files(".h", ".hpp", ".cpp", ".c", ".td", ".py", ".inc", ".cuh"):
        rel = str(path.relative_to(ROOT))
        if rel.startswith(EXEMPT):
            continue
        lines = path.read_text(errors="replace").splitlines()
        lengths.append(len(lines))
        if len(lines) > 700:
            problems.append(f"{rel}: {len(lines)} lines, split it (limit 700)")
        elif len(lines) > 500 and "Long because" not in "\n".join(lines[:30]):
            problems.append(f"{rel}: {len(lines)} lines, the head does not say why (\"Long because …\")")
        if path.suffix in (".cpp", ".h", ".td", ".c") and lines and not lines[0].startswith(("//", "/*", "#!")):
            problems.append(f"{rel}: no purpose line on top")
    lengths.sort()
    print(f"sizes: {len(lengths)} files, median {statistics.median(lengths):.0f}, p90 {lengths[len(lengths) * 9 // 10]}, max {lengths[-1]} lines")
    finish(problems)


main()
