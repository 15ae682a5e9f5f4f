#!/usr/bin/env python3
"""Compares llmc with the cases that test/Inputs/text/make_tokenizers.py wrote.

Usage: compare_tokenizers.py PATH/llmc CASES.jsonl [-v]
"""
import json
import base64
import os
import subprocess
import sys
import tempfile


def run(llmc, kind, folder, rows):
    path = os.path.join(folder, f"{kind}.cases")
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(json.dumps(r) + "\n" for r in rows)
    p = subprocess.run([llmc, "debug", kind, folder, path], capture_output=True, text=True, timeout=60)
    if p.returncode:
        return p.stderr.strip()
    return [json.loads(line) for line in p.stdout.splitlines()]


def check(llmc, entry, verbose):
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for name, content in entry["files"].items():
            data = base64.b64decode(content["base64"]) if isinstance(content, dict) else content.encode()
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data)
        for kind, key in (("tokenize", "cases"), ("decode", "decode"), ("tokenize", "pairs")):
            wants = entry[key]
            if not wants:
                continue
            gots = run(llmc, kind, folder, [{k: w[k] for k in (["ids"] if kind == "decode" else ["text", "pair"]) if k in w} for w in wants])
            if isinstance(gots, str):
                return [(key, gots)]
            for want, got in zip(wants, gots):
                bad += [(key, f, want.get("text", want.get("ids")), want[f], got.get(f)) for f in want if f not in ("text", "pair") and not (f == "ids" and kind == "decode") and want[f] != got.get(f)]
                if "decoded" in got and key == "cases" and "".join(got["stream"]) != got["decoded"]:
                    bad.append((key, "stream", want["text"], got["decoded"], got["stream"]))
    return bad


def main():
    failed = total = 0
    for line in open(sys.argv[2], encoding="utf-8"):
        if not line.strip():
            continue
        entry = json.loads(line)
        bad = check(sys.argv[1], entry, "-v" in sys.argv)
        total += 1
        if bad:
            failed += 1
            kinds = {k: json.loads(entry["files"]["tokenizer.json"]).get(k) for k in ("normalizer", "pre_tokenizer", "post_processor", "decoder")} if "tokenizer.json" in entry["files"] else entry["files"].get("tokenizer_config.json")
            print(entry["name"], len(bad), "differ; first:", *[repr(x)[:300] for x in bad[0]], "\n   ", str(kinds)[:1500])
    print(f"{total - failed} of {total} agree")
    sys.exit(failed != 0)


main()
