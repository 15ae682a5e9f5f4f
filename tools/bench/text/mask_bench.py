#!/usr/bin/env python3
"""Masks of llmc beside those of llguidance and, with --xgrammar, of xgrammar on the same constraints, texts and
vocabulary: rounds in turn, each engine's best round counts for each figure (xgrammar has one round: it compiles long).
Every text starts with a constraint that no mask was asked of. Times are those of the thread, so that a busy machine
counts less. Prints a table in Markdown.

  mask_bench.py TOKENIZER_FOLDER CASES.jsonl [--bench build/release/bin/mask-bench] [--rounds 3] [--xgrammar]

Cases are those of mask_cases.py. Needs `pip install llguidance tokenizers numpy`; for xgrammar
`pip install apache-tvm-ffi pydantic typing_extensions && pip install --no-deps xgrammar`: what it imports of torch and
transformers are names of types, which are put in their place here.
"""
import argparse
import json
import subprocess
import time
from collections import defaultdict
from pathlib import Path


def summary(times):
    times = sorted(times)
    at = lambda share: times[min(len(times) - 1, int(share * len(times)))]
    return dict(count=len(times), mean=sum(times) / len(times), p50=at(0.5), p90=at(0.9), p99=at(0.99), max=times[-1]) if times else {}


def micros(call):
    start = time.thread_time()
    out = call()
    return out, (time.thread_time() - start) * 1e6


class Collected:
    def __init__(self):
        self.mask, self.compile, self.refused = defaultdict(list), defaultdict(list), 0
        self.stopped = 0  # texts that satisfy the constraint and were not taken to their end

    def add(self, category, compile_time, masks):
        for name in (category, "all"):
            self.compile[name].append(compile_time)
            self.mask[name] += masks

    def result(self):
        return {name: dict(mask_us=summary(self.mask[name]), compile_us=summary(self.compile[name])) for name in self.mask}


class LlGuidance:
    name = "llguidance"

    def __init__(self, folder):
        import llguidance
        import llguidance.numpy
        from tokenizers import Tokenizer
        text = (Path(folder) / "tokenizer.json").read_text()
        self.lib, self.tokenizer, self.reader = llguidance, llguidance.LLTokenizer(text), Tokenizer.from_str(text)
        self.bits = llguidance.numpy.allocate_token_bitmask(1, self.tokenizer.vocab_size)

    def grammar(self, case):
        make = self.lib.LLMatcher
        if case["kind"] == "schema":
            return make.grammar_from_json_schema(case["schema"], overrides={"whitespace_flexible": False})
        if case["kind"] == "regex":
            return make.grammar_from_regex(case["text"])
        return None if "::=" in case["text"] else make.grammar_from_lark(case["text"])

    def run(self, cases):
        out = Collected()
        for case in cases:
            for text in case["accept"]:
                try:
                    matcher, took = micros(lambda: self.lib.LLMatcher(self.tokenizer, self.grammar(case)))
                except (TypeError, ValueError):
                    matcher = None
                if matcher is None or matcher.get_error():
                    out.refused += 1
                    continue
                masks = []
                for token in self.reader.encode(text, add_special_tokens=False).ids:
                    masks.append(micros(lambda: self.lib.numpy.fill_next_token_bitmask(matcher, self.bits, 0))[1])
                    if not matcher.consume_token(token):
                        out.stopped += 1
                        break
                out.add(case["category"], took, masks)
        return out


def pose_as(name, **names):
    import sys
    import types
    module = types.ModuleType(name)
    module.__dict__.update(names)
    sys.modules[name] = module


class XGrammar:
    name = "xgrammar"

    def __init__(self, folder):
        import numpy
        import tvm_ffi  # noqa: F401  before there is something called torch
        from tokenizers import Tokenizer
        kind = type("Kind", (), {})
        pose_as("torch", int32="int32", int64="int64", Tensor=kind, LongTensor=kind, FloatTensor=kind, tensor=lambda v, dtype=None: v)
        pose_as("transformers", PreTrainedTokenizerBase=kind, PreTrainedTokenizerFast=kind, LogitsProcessor=kind)
        import xgrammar
        text = (Path(folder) / "tokenizer.json").read_text()
        self.lib, self.reader = xgrammar, Tokenizer.from_str(text)
        vocabulary = self.reader.get_vocab(with_added_tokens=True)
        listed = [""] * (max(vocabulary.values()) + 1)
        for token, at in vocabulary.items():
            listed[at] = token
        special = [t["id"] for t in json.loads(text)["added_tokens"] if t["special"]]
        info = xgrammar.TokenizerInfo(listed, vocab_type=xgrammar.VocabType.BYTE_LEVEL, stop_token_ids=special[:1])
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self.bits = numpy.full((1, (len(listed) + 31) // 32), -1, numpy.int32)

    def compiled(self, case):
        if case["kind"] == "schema":
            return self.compiler.compile_json_schema(json.dumps(case["schema"]), any_whitespace=False, separators=(",", ":"), strict_mode=False)
        if case["kind"] == "regex":
            return self.compiler.compile_regex(case["text"])
        return self.compiler.compile_grammar(case["text"]) if "::=" in case["text"] else self.compiler.compile_lark(case["text"])

    def run(self, cases):
        out = Collected()
        for case in cases:
            for text in case["accept"]:
                try:
                    grammar, took = micros(lambda: self.compiled(case))
                except Exception:  # whatever it says about what it cannot do
                    out.refused += 1
                    continue
                matcher = self.lib.GrammarMatcher(grammar)
                masks = []
                for token in self.reader.encode(text, add_special_tokens=False).ids:
                    masks.append(micros(lambda: matcher.fill_next_token_bitmask(self.bits, 0))[1])
                    if not matcher.accept_token(token):
                        out.stopped += 1
                        break
                out.add(case["category"], took, masks)
        return out


class Llmc:
    name = "llmc"

    def __init__(self, bench, folder, path):
        self.command = [bench, folder, path]

    def run(self, _):
        got = json.loads(subprocess.run(self.command, check=True, capture_output=True, text=True).stdout)
        self.trie, self.vocabulary = got["trie_us"], got["vocabulary"]
        return got["categories"]


def best(rounds):
    """For each category and figure the least of the rounds."""
    out = rounds[0]
    for other in rounds[1:]:
        for category, figures in other.items():
            for what, values in figures.items():
                for k in values:
                    out[category][what][k] = min(out[category][what][k], values[k])
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder")
    p.add_argument("cases")
    p.add_argument("--bench", default="build/release/bin/mask-bench")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--xgrammar", action="store_true")
    args = p.parse_args()
    cases = [json.loads(line) for line in open(args.cases, encoding="utf-8")]
    ours, others = Llmc(args.bench, args.folder, args.cases), [LlGuidance(args.folder)]
    rounds, got = {e.name: [] for e in [ours, *others]}, {}
    for _ in range(args.rounds):
        rounds[ours.name].append(ours.run(cases))
        for engine in others:
            got[engine.name] = engine.run(cases)
            rounds[engine.name].append(got[engine.name].result())
    if args.xgrammar:
        others.append(XGrammar(args.folder))
        got["xgrammar"] = others[-1].run(cases)
        rounds["xgrammar"] = [got["xgrammar"].result()]
    figures = [best(rounds[e.name]) for e in [ours, *others]]
    print(f"{Path(args.folder).name}, {ours.vocabulary} tokens, {figures[0]['all']['mask_us']['count']} masks; microseconds, {' / '.join(e.name for e in [ours, *others])}.")
    for e in others:
        print(f"{e.name} refused the constraints of {got[e.name].refused} texts of {sum(len(c['accept']) for c in cases)} and did not take {got[e.name].stopped} that satisfy them.")
    print("\n| constraints | mask mean | p50 | p99 | max | compile p50 |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for category in sorted(figures[0], key=lambda c: (c == "all", c)):
        row = lambda what, k: " / ".join(f"{f[category][what][k]:.0f}" if f.get(category, {}).get(what) else "-" for f in figures)
        print(f"| {category} | {row('mask_us', 'mean')} | {row('mask_us', 'p50')} | {row('mask_us', 'p99')} | {row('mask_us', 'max')} | {row('compile_us', 'p50')} |")


main()
