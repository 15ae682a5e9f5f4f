#!/usr/bin/env python3
"""Writes runtime/text/UnicodeTables.def: the character properties by which
the `tokenizers` library cuts and rewrites text, asked from the library itself
(pip install tokenizers==0.22.2), and where PCRE2 and utf8proc of this machine
differ from it. The library mixes several Unicode versions (its regular
expressions, its normal forms and Rust's own), which is why one table of one
version does not do.

Usage: make_unicode_tables.py > runtime/text/UnicodeTables.def
"""
import ctypes
import ctypes.util
import sys

from tokenizers import Regex, normalizers, pre_tokenizers

CATEGORIES = ("Cn Cc Cf Co Cs Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No "
              "Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp").split()
POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
EVERY = "".join(map(chr, POINTS))


def matched(pre_tokenizer):
    """Code points that are in a piece that the pre-tokenizer keeps."""
    out = set()
    for _, (begin, end) in pre_tokenizer.pre_tokenize_str(EVERY):
        out.update(POINTS[begin:end])
    return out


def by_regex(pattern):
    return matched(pre_tokenizers.Split(Regex(pattern), "removed", invert=True))


class Pcre:
    def __init__(self):
        self.lib = ctypes.CDLL("libpcre2-8.so.0")
        for name, result in (("pcre2_compile_8", ctypes.c_void_p), ("pcre2_match_data_create_8", ctypes.c_void_p),
                             ("pcre2_get_ovector_pointer_8", ctypes.POINTER(ctypes.c_size_t)), ("pcre2_match_8", ctypes.c_int)):
            getattr(self.lib, name).restype = result
        self.bytes = EVERY.encode()
        self.begin = {}
        at = 0
        for c in POINTS:
            self.begin[at] = c
            at += 1 if c < 0x80 else 2 if c < 0x800 else 3 if c < 0x10000 else 4

    def matched(self, pattern):
        number, where = ctypes.c_int(), ctypes.c_size_t()
        p = pattern.encode()
        code = self.lib.pcre2_compile_8(p, ctypes.c_size_t(len(p)), 0x00080000 | 0x00020000, ctypes.byref(number), ctypes.byref(where), None)
        assert code, pattern
        data = self.lib.pcre2_match_data_create_8(10, None)
        vector = self.lib.pcre2_get_ovector_pointer_8(ctypes.c_void_p(data))
        out, at = set(), 0
        while self.lib.pcre2_match_8(ctypes.c_void_p(code), self.bytes, ctypes.c_size_t(len(self.bytes)), ctypes.c_size_t(at), 0x40000000,
                                     ctypes.c_void_p(data), None) > 0:
            begin, at = vector[0], vector[1]
            out.update(self.begin[b] for b in range(begin, at) if b in self.begin)
        return out


class Utf8proc:
    FORMS = {"NFC": 1 << 1 | 1 << 3, "NFD": 1 << 1 | 1 << 4, "NFKC": 1 << 1 | 1 << 3 | 1 << 2, "NFKD": 1 << 1 | 1 << 4 | 1 << 2}

    def __init__(self):
        self.lib = ctypes.CDLL("libutf8proc.so.2")
        self.lib.utf8proc_map.restype = ctypes.c_ssize_t

    def form(self, name, text):
        raw = text.encode()
        out = ctypes.c_char_p()
        n = self.lib.utf8proc_map(raw, ctypes.c_ssize_t(len(raw)), ctypes.byref(out), self.FORMS[name])
        return ctypes.string_at(out, n).decode()


def unknown_to_normal_forms():
    """Points that utf8proc treats in another way than the library."""
    u = Utf8proc()
    n = {"NFC": normalizers.NFC(), "NFD": normalizers.NFD(), "NFKC": normalizers.NFKC(), "NFKD": normalizers.NFKD()}
    out = set()
    for c in POINTS:
        if c < 0x80:
            continue
        x = chr(c)
        same = all(n[f].normalize_str(x) == u.form(f, x) for f in n)
        if same:
            for probe in ("a" + x + "\u0334", "a\u0345" + x, "a\u0301" + x + "\u0323"):
                same = same and n["NFD"].normalize_str(probe) == u.form("NFD", probe)
        if same:
            continue
        alone = n["NFKD"].normalize_str(x)
        if alone != x or n["NFD"].normalize_str("a" + x + "\u0334") != "a" + x + "\u0334":
            sys.exit(f"U+{c:04X} is not simply unknown to the library")
        out.add(c)
        out.update(map(ord, u.form("NFD", x)))
    return out


def scripts():
    """A small number per code point: equal numbers are never cut apart."""
    cut = pre_tokenizers.UnicodeScripts()
    alone = [c for c in POINTS if not cut.pre_tokenize_str(chr(c))]
    silent = set(alone)
    rest = [c for c in POINTS if c not in silent]
    pieces = [piece[0] for piece, _ in cut.pre_tokenize_str("".join(map(chr, rest)))]
    assert sum(1 for _ in pieces)
    number, classes = {}, []
    text = "".join(map(chr, rest))
    for _, (begin, end) in cut.pre_tokenize_str(text):
        first = text[begin]
        for k, other in enumerate(classes):
            if len(cut.pre_tokenize_str(other + first)) == 1:
                break
        else:
            k = len(classes)
            classes.append(first)
        for c in text[begin:end]:
            number[ord(c)] = k + 1
    return number


def two_stages(name, values, out):
    blocks, index = [], []
    seen = {}
    for at in range(0, 0x110000, 256):
        block = tuple(values[at:at + 256])
        if block not in seen:
            seen[block] = len(blocks)
            blocks.append(block)
        index.append(seen[block])
    kind = "uint8_t" if len(blocks) <= 256 else "uint16_t"
    out.append(f"constexpr {kind} {name}Index[4352] = {{")
    out.append(wrap(index) + "};")
    out.append(f"constexpr uint8_t {name}Block[{len(blocks)}][256] = {{")
    out.append(",\n".join("{" + wrap(b) + "}" for b in blocks) + "};")


def wrap(numbers):
    lines, line = [], ""
    for n in numbers:
        word = f"{n},"
        if len(line) + len(word) > 79:
            lines.append(line)
            line = ""
        line += word
    lines.append(line)
    return "\n".join(lines)


def main():
    category = [0] * 0x110000
    for k, name in enumerate(CATEGORIES):
        if name not in ("Cn", "Cs"):
            for c in by_regex(r"\p{%s}+" % name):
                category[c] = k
    for c in range(0xD800, 0xE000):
        category[c] = CATEGORIES.index("Cs")
    space = by_regex(r"\s+")
    pcre = Pcre()
    theirs = [0] * 0x110000
    for k, name in enumerate(CATEGORIES):
        if name not in ("Cn", "Cs"):
            for c in pcre.matched(r"\p{%s}+" % name):
                theirs[c] = k
    their_space = pcre.matched(r"\s+")
    length = lambda c: 1 if c < 0x80 else 2 if c < 0x800 else 3 if c < 0x10000 else 4
    agree = [c for c in POINTS if category[c] == theirs[c] and (c in space) == (c in their_space)]
    stand_in = {}
    for c in agree:
        if c > 0x300 and c not in space:
            stand_in.setdefault((category[c], length(c)), c)
    differ = [c for c in POINTS if category[c] != theirs[c] or (c in space) != (c in their_space)]
    ranges = []  # of neighbours with the same stand-in
    for c in differ:
        other = stand_in[category[c], length(c)]
        if ranges and ranges[-1][1] == c - 1 and ranges[-1][2] == other:
            ranges[-1][1] = c
        else:
            ranges.append([c, c, other])
    first = [category[c] | (32 if c in space else 0) for c in range(0x110000)]
    for c in differ:
        first[c] |= 64
    for c in unknown_to_normal_forms():
        first[c] |= 128

    white = set(POINTS) - matched(pre_tokenizers.WhitespaceSplit())
    word_or_rest = pre_tokenizers.Whitespace()
    word = {c for c in POINTS if c not in white and len(word_or_rest.pre_tokenize_str("a" + chr(c))) == 1}
    numeric = {c for c in POINTS if len(pre_tokenizers.Digits(True).pre_tokenize_str(chr(c) * 2)) == 2}
    punctuation = {c for c in POINTS if len(pre_tokenizers.Punctuation("isolated").pre_tokenize_str(chr(c) * 2)) == 2}
    clean = normalizers.BertNormalizer(True, False, False, False)
    other = {c for c in POINTS if not clean.normalize_str(chr(c)) and c not in (0, 0xFFFD)}
    strip = normalizers.StripAccents()
    mark = {c for c in POINTS if not strip.normalize_str(chr(c))}
    bert = normalizers.BertNormalizer(False, False, True, False)
    nonspacing = {c for c in POINTS if not bert.normalize_str(chr(c))}
    second = [0] * 0x110000
    for bit, group in enumerate((white, numeric, punctuation, other, nonspacing, mark, word)):
        for c in group:
            second[c] |= 1 << bit

    lower = normalizers.Lowercase()
    lowered = [(c, lower.normalize_str(chr(c))) for c in POINTS]
    lowered = [(c, s) for c, s in lowered if s != chr(c)]
    simple = [(c, ord(s)) for c, s in lowered if len(s) == 1]
    longer = [(c, s) for c, s in lowered if len(s) != 1]
    assert [(c, [ord(x) for x in s]) for c, s in longer] == [(0x130, [0x69, 0x307])], longer

    script = scripts()
    out = ["// Written by tools/text/make_unicode_tables.py; see Unicode.h for the bits.", "// clang-format off"]
    two_stages("Class", first, out)
    two_stages("Trait", second, out)
    two_stages("Script", [script.get(c, 0) for c in range(0x110000)], out)
    out.append(f"constexpr uint32_t LowerPairs[{len(simple)}][2] = {{")
    out.append(wrap(["{%d,%d}" % p for p in simple]) + "};")
    out.append(f"constexpr uint32_t StandIns[{len(ranges)}][3] = {{")
    out.append(wrap(["{%d,%d,%d}" % tuple(r) for r in ranges]) + "};")
    out.append("// clang-format on")
    print("\n".join(out))
    print(len(differ), "stand-ins;", sum(1 for c in first if c & 128), "unknown to normal forms;",
          len(simple), "lower;", max(script.values()), "scripts", file=sys.stderr)


main()
