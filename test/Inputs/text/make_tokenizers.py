#!/usr/bin/env python3
"""Makes small tokenizers of many kinds at random, with what the reference
libraries give for texts that are made to be awkward.

  pip install tokenizers==0.22.2 sentencepiece==0.2.1 tiktoken==0.14.0
  make_tokenizers.py --out tokenizers.jsonl                the stored cases
  make_tokenizers.py --seed 7 --count 300 --out more.jsonl   more, for tools/text/compare_tokenizers.py

One JSON object per line: name, files (text, or {"base64": …}), cases (text,
ids, ids_no_special), decode (ids, decoded, decoded_skip_special) and pairs
(text, pair, ids, type_ids).
"""
import argparse
import base64
import io
import json
import random
import tempfile

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers

CORPUS = ("The quick brown fox jumps over the lazy dog. It's 1999 or 2024, isn't it? Hello, world! "
          "naïve café Ünïcödé straße ﬁne ½ Ⅷ ①② 你好世界 こんにちは カタカナー мир Привет שלום 🙂🎉 "
          "def f(x_1, y): return x_1 + y\n\tif a != b:  pass  <s> low lower lowest new newer 1,234.50 "
          "aaaa bbbb ---- == don't we'll I'm you've they're he'd DON'T").split(" ")
PIECES = CORPUS + [" ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "\u2028", "\u0085", "\u180e", "\u200b", "\u200d", "\ufeff", "\u0301", "\u0323",
                   "e\u0301", "\u0345\u0334", "가", "\u1100\u1161", "각", "İ", "ß", "ſ", "K", "'S", "'ſ", "Σ", "ς", "Ǆ", "ª", "²", "߂", "٣", "\u0e49", "\u0900", "क्ष",
                   "\U00031350", "\U0001e4d0", "\u08c8", "\U0001faf8", "\U00011f02", "\u1acd", "\U0001d7ca", "\U000323af", "\ue000", "\U000e0001", "\uffff",
                   "_", "▁", "▁▁", "##", "</w>", "<s>", "</s>", "<unk>", "[MASK]", "<0x41>", "|", "-", "--", "…", "«", "$", "€", "^", "`", "~", "+", "ﷺ", "ﬆ", "Å",
                   "👩‍👩‍👧", "🇩🇪", "9", "00", "12345", "a", "B", "ab", "\\", "\"", "/", "//", "\0", "\x01", "\x7f", "\ufffd", "Day", "day"]


def texts(rng, n):
    out = ["", " ", "Hello world", " Hello  world ", "<s>Hello</s> x<s>", "don't  stop"]
    while len(out) < n:
        out.append("".join(rng.choice(PIECES) + rng.choice(["", "", " "]) for _ in range(rng.randint(1, 12))))
    return out


def pick_normalizer(rng):
    N = normalizers
    one = [lambda: N.NFC(), lambda: N.NFD(), lambda: N.NFKC(), lambda: N.NFKD(), lambda: N.Lowercase(), lambda: N.Strip(rng.random() < .5, rng.random() < .5),
           lambda: N.StripAccents(), lambda: N.Replace("a", "bb"), lambda: N.Replace(Regex(rng.choice([r"\s+", "[0-9]", "l*", "(?i)d"])), rng.choice([" ", "", "z"])),
           lambda: N.Prepend("▁"), lambda: N.BertNormalizer(rng.random() < .7, rng.random() < .7, rng.choice([None, True, False]), rng.random() < .5), lambda: N.Nmt()]
    k = rng.choice([0, 0, 1, 1, 2, 3])
    return None if k == 0 else rng.choice(one)() if k == 1 else N.Sequence([rng.choice(one)() for _ in range(k)])


PATTERNS = [r"\p{N}{1,3}", r"[^\s\w]+", r"[aeiou]+|\d", r"x*", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
            r"\b", r"\p{N}{1,3}+", r"[\p{L}&&[^aeiou]]+", r"[a-z[0-9]]+", r"\h+", r"^.", r".$", r"(?m:.)", r"[[:punct:]]", r"\p{Han}|\p{Hiragana}", r"\w+|[^\w\s]+", r"(?<=a)b|\p{Lu}(?=\p{Ll})",
            r"\p{Uppercase_Letter}", r"[^[:alpha:]\s]", r"\S+\s?", r"(?>a+)b|\R", r"\X"]


def pick_pre(rng, byte_level):
    P = pre_tokenizers
    behaviors = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
    one = [lambda: P.Whitespace(), lambda: P.WhitespaceSplit(), lambda: P.BertPreTokenizer(), lambda: P.Digits(rng.random() < .5), lambda: P.Punctuation(rng.choice(behaviors)),
           lambda: P.Split(Regex(rng.choice(PATTERNS)), rng.choice(behaviors), rng.random() < .3), lambda: P.Split(rng.choice(["-", " ", "a", "▁"]), rng.choice(behaviors), rng.random() < .3),
           lambda: P.Metaspace("▁", rng.choice(["always", "never", "first"]), rng.random() < .6), lambda: P.CharDelimiterSplit(rng.choice("|a ")), lambda: P.UnicodeScripts(), lambda: P.FixedLength(rng.randint(1, 6))]
    k = rng.choice([0, 1, 1, 2, 3])
    parts = [rng.choice(one)() for _ in range(k)]
    if byte_level:
        parts.append(P.ByteLevel(rng.random() < .4, use_regex=rng.random() < .5))
        if rng.random() < .15:
            parts.append(rng.choice(one)())
    return None if not parts else parts[0] if len(parts) == 1 else P.Sequence(parts)


def pick_decoder(rng, kind, byte_level):
    D = decoders
    spm = [D.Replace("▁", " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)]
    usual = {"bpe": D.Sequence(spm), "unigram": rng.choice([D.Metaspace("▁", rng.choice(["always", "never", "first"])), D.Sequence(spm[:3])]),
             "wordpiece": D.WordPiece("##", rng.random() < .5), "wordlevel": rng.choice([None, D.CTC("<pad>", "|", rng.random() < .5)])}[kind]
    if byte_level and rng.random() < .8:
        return D.ByteLevel()
    odd = [None, D.BPEDecoder("</w>"), D.Fuse(), D.Sequence([D.Fuse(), D.Strip("e", 2, 0), D.Replace("ab", "X")]), D.Sequence([D.Strip(" ", 1, 0), D.Replace(Regex("[0-9]"), "#")]),
           D.Sequence([D.Fuse(), D.Replace(Regex("o+"), "0")])]
    return usual if rng.random() < .7 else rng.choice(odd)


def pick_post(rng, ids):
    P = processors
    pair = [("<s>", ids["<s>"]), ("</s>", ids["</s>"])]
    t = lambda: P.TemplateProcessing(single=rng.choice(["<s> $A", "$A </s>", "<s> $A </s>", "$A:3 <s>:4"]), pair=rng.choice(["<s> $A $B:1", "<s> $A </s> </s>:1 $B:2 </s>:1", "$B:0 <s> $A:1"]), special_tokens=pair)
    one = [lambda: None, t, t, lambda: P.BertProcessing(pair[1], pair[0]), lambda: P.RobertaProcessing(pair[1], pair[0]), lambda: P.ByteLevel(), lambda: P.Sequence([P.ByteLevel(), t()]),
           lambda: P.Sequence([P.BertProcessing(pair[1], pair[0]), t()])]
    return rng.choice(one)()


def make(rng):
    kind = rng.choice(["bpe", "bpe", "bpe", "unigram", "wordpiece", "wordlevel"])
    byte_level = kind == "bpe" and rng.random() < .5
    special = ["<unk>", "<s>", "</s>"]
    if kind == "bpe":
        byte_fallback = not byte_level and rng.random() < .4
        suffix = "</w>" if not byte_fallback and rng.random() < .2 else None
        options = dict(unk_token=rng.choice([None, "<unk>"]) if not byte_level else None, fuse_unk=rng.random() < .5, byte_fallback=byte_fallback,
                       continuing_subword_prefix="##" if not byte_fallback and rng.random() < .2 else None, end_of_word_suffix=suffix, ignore_merges=rng.random() < .3)
        prefix = options["continuing_subword_prefix"]
        tok = tokenizers.Tokenizer(models.BPE(**{k: v for k, v in options.items() if v is not None}))
        names = special + (["<0x%02X>" % b for b in range(256)] if byte_fallback else [])
        trainer = trainers.BpeTrainer(vocab_size=rng.choice([150, 260]) + len(names) + (200 if byte_level else 0), special_tokens=names, show_progress=False, **{k: v for k, v in (("end_of_word_suffix", suffix), ("continuing_subword_prefix", prefix)) if v},
                                      initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if byte_level and rng.random() < .7 else [], limit_alphabet=400 if byte_level else 60)
    elif kind == "unigram":
        tok = tokenizers.Tokenizer(models.Unigram())
        trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=special, unk_token="<unk>", show_progress=False)
    elif kind == "wordpiece":
        tok = tokenizers.Tokenizer(models.WordPiece(unk_token="<unk>", max_input_chars_per_word=rng.choice([100, 6])))
        trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=special, show_progress=False)
    else:
        tok = tokenizers.Tokenizer(models.WordLevel(unk_token="<unk>"))
        trainer = trainers.WordLevelTrainer(vocab_size=80, special_tokens=special + ["<pad>"], show_progress=False)
    tok.normalizer = pick_normalizer(rng) or tok.normalizer
    pre = pick_pre(rng, byte_level)
    if pre is not None:
        tok.pre_tokenizer = pre
    tok.train_from_iterator([" ".join(CORPUS)] * 2 + CORPUS, trainer)
    for content in rng.sample(["<s>", "[MASK]", "Day", "<t>", " x", "ab", "don't", "a b", "é", "▁▁", "İ"], 4):
        tok.add_tokens([AddedToken(content, single_word=rng.random() < .3, lstrip=rng.random() < .3, rstrip=rng.random() < .3, normalized=rng.random() < .5, special=rng.random() < .3)])
    decoder = pick_decoder(rng, kind, byte_level)
    if decoder is not None:
        tok.decoder = decoder
    post = pick_post(rng, {s: tok.token_to_id(s) for s in special})
    if post is not None:
        tok.post_processor = post
    return kind, tokenizers.Tokenizer.from_str(tok.to_str())


def of_library(rng, name, tok, n):
    entry = {"name": name, "files": {"tokenizer.json": tok.to_str()}, "cases": [], "decode": [], "pairs": []}
    size = max(tok.get_vocab().values()) + 1
    for text in texts(rng, n):
        try:
            case = {"text": text, "ids": tok.encode(text).ids, "ids_no_special": tok.encode(text, add_special_tokens=False).ids}
            if tok.get_added_tokens_decoder() and tok.decode(case["ids"], False) is None:
                raise ValueError
            case["decoded"] = tok.decode(case["ids"], False)
            case["decoded_skip_special"] = tok.decode(case["ids"], True)
        except BaseException as e:  # the library panics on some texts
            if isinstance(e, KeyboardInterrupt):
                raise
            continue
        entry["cases"].append(case)
    for _ in range(n // 3):
        ids = [rng.randrange(size + 3) for _ in range(rng.randint(1, 9))]
        try:
            entry["decode"].append({"ids": ids, "decoded": tok.decode(ids, False), "decoded_skip_special": tok.decode(ids, True)})
        except BaseException as e:
            if isinstance(e, KeyboardInterrupt):
                raise
    for _ in range(4):
        a, b = rng.choice(PIECES), rng.choice(PIECES)
        try:
            e = tok.encode(a, b)
        except BaseException as x:
            if isinstance(x, KeyboardInterrupt):
                raise
            continue
        entry["pairs"].append({"text": a, "pair": b, "ids": e.ids, "type_ids": e.type_ids})
    return entry


def sentencepiece_entry(rng, number, n):
    import sentencepiece as spm
    kind = ["unigram", "bpe"][number % 2]
    out = io.BytesIO()
    rules = tempfile.NamedTemporaryFile("w", suffix=".tsv", encoding="utf-8")
    rules.write("".join(" ".join("%X" % ord(c) for c in k) + "\t" + " ".join("%X" % ord(c) for c in v) + "\n"
                        for k, v in {"\t": " ", "\n": " ", "\u3000": " ", "\u00a0": " ", "ﬁ": "fi", "½": "1⁄2", "…": "...", "e\u0301": "é", "가": "가", "\u200b": " ", "İ": "i\u0307", "\x7f": "", "A": "a", "KK": "k"}.items()))
    rules.flush()
    names = dict(normalization_rule_name=rng.choice(["identity", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"])) if number > 9 else dict(normalization_rule_tsv=rules.name)
    flags = dict(model_type=kind, vocab_size=rng.choice([420, 460]) if number & 2 else rng.choice([150, 190]), byte_fallback=bool(number & 2), character_coverage=.98,
                 add_dummy_prefix=rng.random() < .7, remove_extra_whitespaces=rng.random() < .5, **names,
                 user_defined_symbols=rng.choice([[], ["<t>", "▁▁", "don't", "Day"]]), treat_whitespace_as_suffix=rng.random() < .2, hard_vocab_limit=False)
    spm.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS * 3 + [" ".join(CORPUS)] * 20), model_writer=out, minloglevel=2, **flags)
    sp = spm.SentencePieceProcessor(model_proto=out.getvalue())
    bos = rng.random() < .5
    entry = {"name": f"spm-{kind}-{number}", "literal": True,
             "files": {"tokenizer.model": {"base64": base64.b64encode(out.getvalue()).decode()}, "tokenizer_config.json": json.dumps({"add_bos_token": bos})},
             "cases": [], "decode": [], "pairs": []}
    for text in texts(rng, n):
        ids = sp.encode(text)
        entry["cases"].append({"text": text, "ids_literal": ids})
        if sp.unk_id() not in ids:
            entry["decode"].append({"ids": ids, "decoded_skip_special": sp.decode(ids)})
    return entry


def tiktoken_entry(rng, number, n):
    import tiktoken
    pattern = PATTERNS[[4, 5, 6][number % 3]]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tok = tokenizers.Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(False, use_regex=False)])
    tok.train_from_iterator(CORPUS * 2, trainers.BpeTrainer(vocab_size=420, initial_alphabet=alphabet, show_progress=False))

    visible = list(range(0x21, 0x7F)) + list(range(0xA1, 0xAD)) + list(range(0xAE, 0x100))
    chars, extra = {b: chr(b) for b in visible}, 0
    for b in range(256):
        if b not in chars:
            chars[b] = chr(256 + extra)
            extra += 1
    table = {c: b for b, c in chars.items()}
    ranks = {}
    for token, _ in sorted(tok.get_vocab().items(), key=lambda kv: kv[1]):
        ranks.setdefault(bytes(table[c] for c in token), len(ranks))
    special = {"<|end|>": len(ranks), "<s>": len(ranks) + 1}
    enc = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    lines = "".join(f"{base64.b64encode(t).decode()} {r}\n" for t, r in ranks.items())
    config = {"pat_str": pattern, "added_tokens_decoder": {str(i): {"content": c, "special": True, "normalized": False} for c, i in special.items()}}
    entry = {"name": f"tiktoken-{number}", "files": {"x.tiktoken": lines, "tokenizer_config.json": json.dumps(config)}, "cases": [], "decode": [], "pairs": []}
    for text in texts(rng, n):
        entry["cases"].append({"text": text, "ids": enc.encode(text, allowed_special="all"), "ids_literal": enc.encode(text, disallowed_special=())})
    return entry


def arguments(description, count, texts):
    """The flags that all makers of entries have, with their defaults."""
    p = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=count)
    p.add_argument("--texts", type=int, default=texts)
    p.add_argument("--out", required=True)
    return p


def write_entries(a, entry, seeds, ascii_only=False):
    """a.count entries, a line each: entry(rng, number) for numbers from 1 on; those that the library refuses, or None, do not count."""
    made = number = 0
    with open(a.out, "w", encoding="utf-8") as out:
        while made < a.count:
            number += 1
            try:
                e = entry(random.Random(a.seed * seeds + number), number)
            except BaseException as x:  # refused by the library, or it panics
                if isinstance(x, KeyboardInterrupt):
                    raise
                continue
            if e is not None:
                out.write(json.dumps(e, ensure_ascii=ascii_only) + "\n")
                made += 1


def main():
    p = arguments(__doc__, 24, 20)
    p.add_argument("--only", default="", help="json: of tokenizers; other: of the other libraries")
    a = p.parse_args()
    out = open(a.out, "w", encoding="utf-8")  # the libraries write to standard output
    for number in range(a.count):
        rng = random.Random(a.seed * 1000 + number)
        if "json" in a.only or not a.only:
            kind, tok = make(rng)
            print(json.dumps(of_library(rng, f"{kind}-{number}", tok, a.texts), ensure_ascii=False), file=out)
        if number % 4 == 0 and ("other" in a.only or not a.only):
            print(json.dumps(sentencepiece_entry(rng, number // 4, a.texts), ensure_ascii=False), file=out)
            print(json.dumps(tiktoken_entry(rng, number // 4, a.texts), ensure_ascii=False), file=out)


if __name__ == "__main__":
    main()
