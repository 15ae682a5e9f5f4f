#!/usr/bin/env python3
"""Cuts a byte-level BPE tokenizer.json down to what some texts need.

  make_trimmed.py tokenizer.json OUT.json CASES.jsonl…

Each line of the cases is an object with "text" and "ids". Kept are all single
bytes, the added tokens and the merges that build the tokens of the cases; ids
stay as they are, so the expected ids of the whole tokenizer hold for the cut
one: a merge that never happens in a text can be left out without a change.
"""
import json
import sys


def derivation(token, ranks):
    """Merges that build a token out of its characters."""
    parts, used = list(token), []
    while len(parts) > 1:
        best = min(range(len(parts) - 1), key=lambda i: ranks.get((parts[i], parts[i + 1]), 1 << 30))
        pair = (parts[best], parts[best + 1])
        if pair not in ranks:
            return []  # an added token
        used.append(pair)
        parts[best:best + 2] = ["".join(pair)]
    return used


def main():
    whole = json.load(open(sys.argv[1], encoding="utf-8"))
    model = whole["model"]
    merges = [tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in model["merges"]]
    ranks = {m: i for i, m in enumerate(merges)}
    by_id = {i: t for t, i in model["vocab"].items()}
    tokens = {t for t in model["vocab"] if len(t) == 1}
    tokens |= {a["content"] for a in whole["added_tokens"]} & set(model["vocab"])
    used = set()
    for path in sys.argv[3:]:
        for line in open(path, encoding="utf-8"):
            case = json.loads(line)
            for i in case["ids"] + case.get("ids_literal", []):
                if i in by_id:
                    tokens.add(by_id[i])
                    used.update(derivation(by_id[i], ranks))
    tokens |= {part for m in used for part in (*m, "".join(m))}
    model["vocab"] = {t: i for t, i in model["vocab"].items() if t in tokens}
    spell = (lambda m: " ".join(m)) if isinstance(model["merges"][0], str) else list
    model["merges"] = [spell(m) for m in merges if m in used]
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        json.dump(whole, f, ensure_ascii=False, separators=(",", ":"))
        f.write("\n")


main()
