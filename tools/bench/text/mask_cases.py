#!/usr/bin/env python3
"""Writes cases for mask-bench: constraints of many kinds with texts that satisfy them, one JSON object per line:
{"category", "kind": schema|regex|grammar, "schema"|"text", "accept": [texts]}. The same seed gives the same file.

  mask_cases.py OUT.jsonl [--seed N] [--each N]
"""
import argparse
import json
import random
import string

WORDS = ("amount name title city street total status invoice customer order price quantity email phone created updated "
         "description category tag region country postcode latitude longitude weight height colour size model version").split()
PROSE = ["The quick brown fox jumps over the lazy dog.", "Größe und Gewicht: 12,5 kg – naïve façade", "東京都千代田区の天気は晴れです", "Привет, мир! Как дела?",
         "She said \"no\" and left.\nThen it rained.", "path C:\\temp\\x, 100% sure; see https://example.org/a?b=c#d", "🙂 emoji and ½ fractions", "x"]


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def word(self, low=3, high=10):
        return "".join(self.r.choice(string.ascii_lowercase) for _ in range(self.r.randint(low, high)))

    def names(self, count):
        base = self.r.sample(WORDS, min(count, len(WORDS)))
        return base + [f"{self.r.choice(WORDS)}_{self.word()}" for _ in range(count - len(base))]

    def prose(self):
        return " ".join(self.r.choice(PROSE) for _ in range(self.r.randint(1, 3)))

    def scalar(self):
        """A schema of a scalar and a value of it."""
        k = self.r.randrange(6)
        if k == 0:
            return {"type": "string"}, self.prose()
        if k == 1:
            return {"type": "integer"}, self.r.randint(-10**6, 10**9)
        if k == 2:
            return {"type": "number"}, round(self.r.uniform(-1e4, 1e4), 3)
        if k == 3:
            return {"type": "boolean"}, self.r.random() < .5
        if k == 4:
            options = [self.word() for _ in range(5)]
            return {"enum": options}, self.r.choice(options)
        return {"type": ["string", "null"], "maxLength": 80}, self.r.choice([None, self.prose()[:80]])

    def objects(self):
        names = self.names(self.r.randint(4, 12))
        fields = {n: self.scalar() for n in names}
        required = self.r.sample(names, self.r.randint(1, len(names)))
        schema = {"type": "object", "properties": {n: s for n, (s, _) in fields.items()}, "required": required, "additionalProperties": False}
        return schema, {n: v for n, (_, v) in fields.items() if n in required or self.r.random() < .7}

    def nested(self, depth=3):
        if depth == 0:
            return self.scalar()
        if self.r.random() < .5:
            schema, value = self.nested(depth - 1)
            return {"type": "array", "items": schema, "minItems": 1, "maxItems": 9}, [value] * self.r.randint(1, 3)
        fields = {n: self.nested(depth - 1) for n in self.names(3)}
        return ({"type": "object", "properties": {n: s for n, (s, _) in fields.items()}, "required": list(fields), "additionalProperties": False},
                {n: v for n, (_, v) in fields.items()})

    def enums(self):
        options = list({" ".join(self.word(2, 9) for _ in range(self.r.randint(1, 4))).title() for _ in range(self.r.choice([200, 500, 2000]))})
        return {"type": "object", "properties": {"pick": {"enum": options}, "rest": {"type": "array", "items": {"enum": options[:100]}}}, "required": ["pick", "rest"]}, {
            "pick": self.r.choice(options), "rest": self.r.sample(options[:100], 3)}

    def strings(self):
        low, high = self.r.choice([(0, 10), (1, 30), (5, 60), (0, 200), (20, 4000)])
        text = (self.prose() * 3)[:self.r.randint(max(low, 1), min(high, 100))]
        return {"type": "object", "properties": {"s": {"type": "string", "minLength": low, "maxLength": high}, "t": {"type": "string", "minLength": 1}}, "required": ["s", "t"]}, {
            "s": text, "t": self.prose()}

    def patterns(self):
        some = [("^[a-z]+$", lambda: self.word()), ("^[A-Z][a-z]{2,20}$", lambda: self.word(3, 9).title()), ("^[A-Z]{2}-[0-9]{4,8}$", lambda: f"AB-{self.r.randint(1000, 10**7)}"),
                ("foo|bar", lambda: f"{self.prose()} foo {self.prose()}"), ("^[^0-9]{3,40}$", lambda: "no digits: " + self.word()), ("^\\S+( \\S+){0,9}$", lambda: "some words are here"),
                ("^[\\p{L} '-]{2,60}$", lambda: "Jean-Luc Müller O'Brien"), ("^#([0-9a-f]{3}|[0-9a-f]{6})$", lambda: f"#{self.r.randrange(16**6):06x}"),
                ("^(https?|ftp)://[^\\s/$.?#].[^\\s]*$", lambda: f"https://{self.word()}.org/{self.word()}?q=1"), ("^.{3,100}$", lambda: "any text of some length"),
                ("^v?[0-9]+\\.[0-9]+(\\.[0-9]+)?(-[0-9A-Za-z.-]+)?$", lambda: "v1.22.333-rc.1"), ("[0-9]", lambda: f"room {self.r.randrange(999)} left"), ("\\.(png|jpe?g|gif)$", lambda: f"photo of {self.word()}.jpg")]
        picked = self.r.sample(some, 3)
        names = self.names(3)
        return ({"type": "object", "properties": {n: {"type": "string", "pattern": p} for n, (p, _) in zip(names, picked)}, "required": names, "additionalProperties": False},
                {n: make() for n, (_, make) in zip(names, picked)})

    def formats(self):
        some = [("date", "2024-02-29"), ("time", "23:59:59Z"), ("date-time", "2025-01-02T03:04:05.678+09:00"), ("email", f"{self.word()}.x+y@{self.word()}.example.com"), ("ipv4", "192.168.13.254"),
                ("ipv6", "2001:db8::ff00:42:8329"), ("uuid", "123e4567-e89b-12d3-a456-426614174000"), ("uri", f"https://user@{self.word()}.org:8080/a/b?c=d#e"), ("hostname", f"{self.word()}.{self.word()}.net"),
                ("duration", "P3Y6M4DT12H30M5S"), ("iri", f"http://ü{self.word()}.de/straße"), ("json-pointer", "/a/b~1c/0"), ("uri-reference", f"../{self.word()}/x?y")]
        picked = self.r.sample(some, 4)
        return {"type": "object", "properties": {f: {"type": "string", "format": f} for f, _ in picked}, "required": [f for f, _ in picked], "additionalProperties": False}, dict(picked)

    def refs(self):
        name = self.r.choice(WORDS)
        schema = {"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {
            name: {"type": "string"}, "kind": {"$ref": "#/$defs/kind"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}, "next": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/node"}]}},
            "required": [name, "children"], "additionalProperties": False}, "kind": {"enum": [self.word() for _ in range(9)]}}}
        kinds = schema["$defs"]["kind"]["enum"]

        def tree(depth):
            out = {name: self.prose(), "kind": self.r.choice(kinds), "children": [tree(depth - 1) for _ in range(2 if depth > 0 else 0)]}
            if depth > 0 and self.r.random() < .5:
                out["next"] = tree(0)
            return out
        return schema, tree(2)

    def combined(self):
        parts = []
        for i in range(self.r.randint(2, 5)):
            schema, value = self.objects()
            tag = f"{self.word()}{i}"
            schema = dict(schema, properties={"type": {"const": tag}, **schema["properties"]}, required=["type"] + schema["required"])
            parts.append((schema, {"type": tag, **value}))
        _, value = self.r.choice(parts)
        return {"oneOf": [s for s, _ in parts]}, value

    def free(self):
        """What says nothing of members."""
        return self.r.choice([
            ({}, {"a": [1, "two", {"three": None}], "b": self.prose()}),
            ({"type": "object"}, {self.word(): self.prose(), self.word(): [1.5, True]}),
            ({"type": "array"}, [self.prose(), 12, {"k": self.word()}]),
            ({"type": "object", "properties": {"known": {"type": "integer"}}}, {"known": 3, "other_" + self.word(): self.prose(), "more": [1]})])

    def maps(self):
        names = [self.word() for _ in range(6)]
        return self.r.choice([
            ({"type": "object", "additionalProperties": {"type": "number"}}, {n: self.r.random() for n in names}),
            ({"type": "object", "patternProperties": {"^x-": {"type": "string"}, "^[0-9]+$": {"type": "integer"}}, "additionalProperties": False}, {"x-" + names[0]: self.prose(), "123": 4}),
            ({"type": "object", "propertyNames": {"pattern": "^[a-z]{2,12}$"}, "minProperties": 2, "maxProperties": 9}, {n: n for n in names}),
            ({"type": "object", "properties": {n: {"type": "string"} for n in self.names(40)}, "additionalProperties": {"type": "string"}}, {n: self.prose() for n in names})])

    def numbers(self):
        low = self.r.randint(-5000, 100)
        high = low + self.r.randint(10, 10**6)
        return {"type": "object", "properties": {"i": {"type": "integer", "minimum": low, "maximum": high}, "m": {"type": "integer", "multipleOf": 7}, "f": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
                                                 "a": {"type": "array", "items": {"type": "number"}}, "u": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}},
                "required": ["i", "m", "f", "a", "u"]}, {"i": self.r.randint(low, high), "m": 7 * self.r.randint(1, 99999), "f": 0.25, "a": [1.5, -2e10, 0], "u": [1, 22, 333]}

    def regexes(self):
        return self.r.choice([
            ("\\d{4}-\\d{2}-\\d{2}", "2026-11-30"), ("(?i)(yes|no|maybe)[.!]?", "Maybe!"), ("[\\p{L}\\p{M}\\p{N} ,.]+", "Größe 12, 東京 и мир."), ("(.|\\n){0,500}", PROSE[4]), (".*", PROSE[1]),
            ("[^<]*<b>[^<]{1,80}</b>[^<]*", "some <b>bold text</b> here"), ("(\\w+ ){2,30}\\w+", "these are some words in a row"), ("\\p{Lu}\\p{Ll}+( \\p{Lu}\\p{Ll}+)*", "Anna Österberg Иванова"),
            ("(([a-z]+|[0-9]+)-)*[a-z0-9]+", "abc-123-def-4"), ("\\s*(\"[^\"]*\"|[^,\"]*)(,(\"[^\"]*\"|[^,\"]*))*", "a,b c,\"d, e\",f"), ("[\\p{Han}\\p{Hiragana}\\p{Katakana}、。]{1,200}", "東京の天気は晴れ。"),
            ("|".join(sorted({self.word(4, 12) for _ in range(800)})) + "|zebra", "zebra")])

    def grammars(self):
        return self.r.choice([
            ('start: expr\nexpr: term (("+"|"-") term)*\nterm: atom (("*"|"/") atom)*\natom: NUMBER | NAME | "(" expr ")"\nNAME: /[a-z_][a-z0-9_]*/\nNUMBER: /[0-9]+(\\.[0-9]+)?/\n%ignore / +/\n', "alpha + 3 * (beta_2 - 4.5)"),
            ('start: stmt+\nstmt: NAME "=" value ";"\nvalue: STRING | NAME | INT\nNAME: /[A-Za-z_]\\w*/\nINT: /-?[0-9]+/\nSTRING: /"[^"\\n]*"/\n%ignore /[ \\n]+/\n', 'x = "some text, here"; y = 42; z = other_name;'),
            ('root ::= item+\nitem ::= "- " [^\\n]+ "\\n"\n', "- buy milk\n- call Zoë\n"),
            ('root ::= "<" tag ">" text "</" tag ">"\ntag ::= [a-z]+\ntext ::= [^<>]*\n', "<title>All about masks</title>"),
            ('start: "SELECT " cols " FROM " NAME (" WHERE " cond)?\ncols: "*" | NAME (", " NAME)*\ncond: NAME OP VALUE (" AND " NAME OP VALUE)*\nOP: "=" | "<" | ">" | " LIKE "\nNAME: /[a-zA-Z_]+/\nVALUE: /[0-9]+/ | /\'[^\']*\'/\n',
             "SELECT name, city_id FROM customers WHERE name='Müller & Co' AND size>12")])


KINDS = ["objects", "nested", "enums", "strings", "patterns", "formats", "refs", "combined", "free", "maps", "numbers", "regexes", "grammars"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--each", type=int, default=12)
    a = p.parse_args()
    maker = Maker(a.seed)
    with open(a.out, "w", encoding="utf-8") as f:
        for category in KINDS:
            for _ in range(a.each):
                first, second = getattr(maker, category)()
                kind = {"regexes": "regex", "grammars": "grammar"}.get(category, "schema")
                text = second if kind != "schema" else json.dumps(second, ensure_ascii=False, separators=(",", ":"))
                case = {"category": category, "kind": kind, "schema" if kind == "schema" else "text": first, "accept": [text]}
                f.write(json.dumps(case, ensure_ascii=False) + "\n")


main()
