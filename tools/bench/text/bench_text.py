#!/usr/bin/env python3
"""Encodes one text with llmc and with the `tokenizers` library (PyPI) in one
run, one thread each, and prints the ratio.

Usage: bench_text.py build/release/bin/text-bench TOKENIZER.json … [--text FILE]
Without --text a mixed text is made: prose, code, numbers and other scripts.
"""
import argparse
import json
import os
import random
import subprocess
import tempfile
import time


def mixed_text(megabytes=4):
    """Words drawn by Zipf's law, so that as many repeat as in real text."""
    rng = random.Random(1)
    letters = "etaoinshrdlcumwfgypbvk"
    words = ["".join(rng.choice(letters[:6 + rng.randrange(17)]) for _ in range(rng.randint(1, 9))) for _ in range(30000)]
    others = ["привет", "мир", "straße", "naïve", "你好世界", "こんにちは", "データ", "שלום", "🙂", "для", "être"]
    out, size = [], 0
    while size < megabytes * 1e6:
        kind = rng.random()
        if kind < .75:
            line = " ".join(words[min(int(rng.paretovariate(.9)) - 1, len(words) - 1)] for _ in range(12)).capitalize() + ".\n"
        elif kind < .9:
            w = words[min(int(rng.paretovariate(.9)) - 1, len(words) - 1)]
            line = f"    if {w}_{rng.randrange(99)} != {w}[{rng.randrange(1000)}]:\n        return {w}({rng.random():.4f})\n"
        else:
            line = " ".join(rng.choice(others) for _ in range(10)) + "\n"
        out.append(line)
        size += len(line.encode())
    return "".join(out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("bench")
    p.add_argument("tokenizer", nargs="+")
    p.add_argument("--text")
    p.add_argument("--runs", type=int, default=3)
    a = p.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import tokenizers
    text = open(a.text, encoding="utf-8").read() if a.text else mixed_text()
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as f:
        f.write(text)
        f.flush()
        for path in a.tokenizer:
            ours = json.loads(subprocess.run([a.bench, path, f.name, str(a.runs)], check=True, capture_output=True, text=True).stdout)
            t = tokenizers.Tokenizer.from_file(path)
            begin = time.process_time()
            ids = t.encode(text).ids
            theirs = len(text.encode()) / (time.process_time() - begin) / 1e6
            print(json.dumps({"tokenizer": path, **ours, "same_ids": len(ids) == ours["ids"], "library_mb_s": round(theirs, 2),
                              "ratio": round(ours["encode_mb_s"] / theirs, 1)}), flush=True)


main()
