#!/usr/bin/env python3
"""Masks of llmc and of llguidance on the same schemas, texts and vocabulary, in one run; prints both and their ratio.
Times are those of the thread, so that a busy machine does not count.

  mask_bench.py TOKENIZER_FOLDER CASES.jsonl [--bench build/release/bin/mask-bench]

Needs `pip install llguidance tokenizers numpy`. A case is {"schema", "accept": [texts]}.
"""
import argparse
import json
import subprocess
import time
from pathlib import Path


def summary(times):
    times = sorted(times)
    at = lambda share: times[min(len(times) - 1, int(share * len(times)))]
    return dict(count=len(times), mean=sum(times) / len(times), p50=at(0.5), p90=at(0.9), p99=at(0.99), max=times[-1])


def llguidance_times(folder, cases):
    import llguidance
    import llguidance.numpy
    from tokenizers import Tokenizer

    text = (Path(folder) / "tokenizer.json").read_text()
    tokenizer, reader = llguidance.LLTokenizer(text), Tokenizer.from_str(text)
    masks, compiles, refused = [], [], 0
    bits = llguidance.numpy.allocate_token_bitmask(1, tokenizer.vocab_size)
    for case in cases:
        start = time.thread_time()
        schema = case["schema"] if isinstance(case["schema"], dict) else ({} if case["schema"] else {"not": {}})
        grammar = llguidance.LLMatcher.grammar_from_json_schema(schema, overrides={"whitespace_flexible": False})
        first = llguidance.LLMatcher(tokenizer, grammar)
        compiles.append((time.thread_time() - start) * 1e6)
        if first.get_error():
            refused += 1
            continue
        for accepted in case["accept"]:
            matcher = first.deep_copy()
            for token in reader.encode(accepted, add_special_tokens=False).ids:
                start = time.thread_time()
                llguidance.numpy.fill_next_token_bitmask(matcher, bits, 0)
                masks.append((time.thread_time() - start) * 1e6)
                if not matcher.consume_token(token):
                    break
    return dict(compile_us=summary(compiles), mask_us=summary(masks), refused=refused)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("cases")
    p.add_argument("--bench", default="build/release/bin/mask-bench")
    args = p.parse_args()
    cases = [json.loads(line) for line in open(args.cases)]
    cases = [c for c in cases if "must_refuse" not in c]
    ours = json.loads(subprocess.run([args.bench, args.folder, args.cases], check=True, capture_output=True, text=True).stdout)
    theirs = llguidance_times(args.folder, cases)
    print("llmc      ", json.dumps(ours))
    print("llguidance", json.dumps(theirs))
    for what in ("compile_us", "mask_us"):
        print(what, "llmc / llguidance:", {k: round(ours[what][k] / theirs[what][k], 3) for k in ("mean", "p50", "p99")})


main()
