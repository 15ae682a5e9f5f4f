#!/usr/bin/env python3
"""Makes folders of tokenizer.json with settings beside it (tokenizer_class,
add_bos_token, tokens with a role, added_tokens_decoder …) at random, with what
AutoTokenizer of transformers gives. Format: make_tokenizers.py.

  pip install transformers==4.57.6 tokenizers==0.22.2
  make_configured.py --out tokenizers-configured.jsonl       the stored cases
  make_configured.py --seed 7 --count 200 --out more.jsonl   more, for tools/text/compare_tokenizers.py
"""
import json
import os
import tempfile

import make_tokenizers
import tokenizers

CLASSES = ["LlamaTokenizer", "CodeLlamaTokenizer", "GemmaTokenizer", "CohereTokenizer", "GPTNeoXTokenizer", "PreTrainedTokenizer", "GPT2Tokenizer", "Qwen2Tokenizer", "BloomTokenizer",
           "BertTokenizer", "DistilBertTokenizer", "T5Tokenizer"]


def flags(rng):
    return {k: rng.random() < .3 for k in ("single_word", "lstrip", "rstrip", "normalized", "special")}


def settings(rng, tok, j):
    name = rng.choice(CLASSES)
    words = [w for w in tok.get_vocab() if w.isprintable() and " " not in w and not w.startswith("<0x")]
    token = lambda: rng.choice([rng.choice(["<s>", "</s>", "<unk>"]), rng.choice(words)])
    c = {"tokenizer_class": name + rng.choice(["Fast", "Fast", ""]) if name != "PreTrainedTokenizer" else name + "Fast"}
    for key in ("bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token"):
        if rng.random() < .6 or key in ("bos_token", "eos_token"):
            t = token()
            c[key] = t if rng.random() < .7 else {"__type": "AddedToken", "content": t, **flags(rng)}
    for key in ("add_bos_token", "add_eos_token", "do_lower_case", "tokenize_chinese_chars", "strip_accents"):
        if rng.random() < .5:
            c[key] = rng.random() < .5
    if rng.random() < .4 and name not in ("LlamaTokenizer", "T5Tokenizer"):
        c["add_prefix_space"] = rng.random() < .5
    if rng.random() < .4:
        c["additional_special_tokens"] = [token() for _ in range(rng.randint(1, 3))]
    if rng.random() < .6:
        table = {str(a["id"]): {k: v for k, v in a.items() if k != "id"} for a in j["added_tokens"] if not a["content"].startswith("<0x")}
        for a in table.values():
            if rng.random() < .3:
                a.update(flags(rng))
        c["added_tokens_decoder"] = table
    return c


def older(rng, tok):
    return {"eos_token": rng.choice(["</s>", {"content": "<s>", "lstrip": True, "normalized": False, "rstrip": False, "single_word": False}])}


def entry(rng, number, n):
    from transformers import AutoTokenizer
    kind, tok = make_tokenizers.make(rng)
    if rng.random() < .3:
        tok.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(rng.random() < .5)
    if rng.random() < .2:
        tok.normalizer = tokenizers.normalizers.BertNormalizer(True, rng.random() < .5, rng.choice([None, True, False]), rng.random() < .5)
    j = json.loads(tok.to_str())
    inside = j["model"]["vocab"] if isinstance(j["model"]["vocab"], dict) else {w for w, _ in j["model"]["vocab"]}
    j["added_tokens"] = [a for a in j["added_tokens"] if a["content"] not in inside or rng.random() < .8]
    config = settings(rng, tok, j)
    files = {"tokenizer.json": json.dumps(j), "tokenizer_config.json": json.dumps(config)}
    if rng.random() < .3:
        files["special_tokens_map.json"] = json.dumps(older(rng, tok))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        auto = AutoTokenizer.from_pretrained(folder)
    out = {"name": f"{kind}-{config['tokenizer_class']}-{number}", "files": files, "cases": [], "decode": [], "pairs": []}
    if len(auto) > len(tok.get_vocab()):
        return None  # adds tokens that the vocabulary lacks
    for text in make_tokenizers.texts(rng, n):
        try:
            case = {"text": text, "ids": auto(text)["input_ids"], "ids_no_special": auto(text, add_special_tokens=False)["input_ids"]}
            case["decoded"] = auto.decode(case["ids"], clean_up_tokenization_spaces=False)
            case["decoded_skip_special"] = auto.decode(case["ids"], skip_special_tokens=True, clean_up_tokenization_spaces=False)
        except BaseException as e:  # the library panics on some texts
            if isinstance(e, KeyboardInterrupt):
                raise
            continue
        out["cases"].append(case)
    return out


def main():
    a = make_tokenizers.arguments(__doc__, 12, 9).parse_args()
    make_tokenizers.write_entries(a, lambda rng, number: entry(rng, number, a.texts), 1000)


if __name__ == "__main__":
    main()
