"""File sizes: above 500 lines the file's head must say why ("Long because"), above 700 it fails. Function lengths of C++: above 100
lines they are listed, above 120 it fails. Prints both distributions."""
import re
import statistics

from common import ROOT, files, finish

EXEMPT = ("docs/reference/", "tools/quickstart/", "test/Inputs/", "tools/bench/peers/")

LISTED, LONGEST = 100, 120
# Comments, raw strings, strings and characters, which may hold braces.
OPAQUE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


def blanked(text):
    """The text with everything opaque as spaces; lines stay. Of preprocessor branches only the first counts."""
    text = re.sub(r"(?<=\d)'(?=\d)", "_", text)
    text = OPAQUE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    lines, skip, joined = [], [], False
    for line in text.split("\n"):
        word = re.match(r"\s*#\s*(\w+)", line)
        if word and not joined:
            if word[1] in ("if", "ifdef", "ifndef"):
                skip.append(False)
            elif word[1] in ("else", "elif") and skip:
                skip[-1] = True
            elif word[1] == "endif" and skip:
                skip.pop()
        lines.append("" if word or joined or any(skip) else line)
        joined = (bool(word) or joined) and line.endswith("\\")
    return "\n".join(lines)


def functions(text):
    """(first line, number of lines) of each outermost function body: a brace after parentheses, in no other function."""
    text, head, depth, opened, found = blanked(text), "", 0, None, []
    line, scopes = 1, []
    for c in text:
        if c == "\n":
            line += 1
        if opened is not None:
            depth += (c == "{") - (c == "}")
            if depth == 0:
                found.append((opened, line - opened + 1))
                opened, head = None, ""
        elif c == "{":
            start = head.lstrip()
            if "(" in head and not SCOPE.match(re.sub(r"^template\s*<[^{]*>\s*(?=class|struct)", "", start)):
                opened, depth = line - start.count("\n"), 1
            else:
                scopes.append(c)
                head = ""
        elif c in ";}":
            head = ""
        else:
            head += c
    return found


def check_functions(sources, problems):
    lengths = []
    for rel, text in sources:
        for line, length in functions(text):
            lengths.append(length)
            if length > LONGEST:
                problems.append(f"{rel}:{line}: a function of {length} lines, split it (limit {LONGEST})")
            elif length > LISTED:
                print(f"{rel}:{line}: a function of {length} lines")
    lengths.sort()
    print(f"sizes: {len(lengths)} functions, median {statistics.median(lengths):.0f}, p90 {lengths[len(lengths) * 9 // 10]}, max {lengths[-1]} lines")


def main():
    problems, lengths, sources = [], [], []
    for path in files(".h", ".hpp", ".cpp", ".c", ".td", ".py", ".inc", ".cuh"):
        rel = str(path.relative_to(ROOT))
        if rel.startswith(EXEMPT):
            continue
        text = path.read_text(errors="replace")
        lines = text.splitlines()
        if path.suffix in (".cpp", ".h", ".hpp", ".c"):
            sources.append((rel, text))
        lengths.append(len(lines))
        if len(lines) > 700:
            problems.append(f"{rel}: {len(lines)} lines, split it (limit 700)")
        elif len(lines) > 500 and "Long because" not in "\n".join(lines[:30]):
            problems.append(f"{rel}: {len(lines)} lines, the head does not say why (\"Long because …\")")
        if path.suffix in (".cpp", ".h", ".td", ".c") and lines and not lines[0].startswith(("//", "/*", "#!")):
            problems.append(f"{rel}: no purpose line on top")
    lengths.sort()
    print(f"sizes: {len(lengths)} files, median {statistics.median(lengths):.0f}, p90 {lengths[len(lengths) * 9 // 10]}, max {lengths[-1]} lines")
    check_functions(sources, problems)
    finish(problems)


main()
