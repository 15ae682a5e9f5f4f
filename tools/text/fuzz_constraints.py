#!/usr/bin/env python3
"""Sets constraints against independent implementations on random cases: JSON Schema against `jsonschema`, regular
expressions against `re`, grammars against `lark` (Earley). Every text that a random walk along the masks ends with must
validate; every text made for the case must be taken, whichever way it is cut into tokens, exactly when it validates;
masks, forced tokens and cuts must agree with one another (constraint-probe tells). Prints what disagrees; exit code 1.

  fuzz_constraints.py TOKENIZER_FOLDER [--probe build/release/bin/constraint-probe] [--seed N] [--count N]

Needs `pip install jsonschema lark`.
"""
import argparse
import json
import random
import re
import subprocess
import sys
import tempfile

ALPHABET = "ab1é 東\"\\\n"


class Schemas:
    """A random schema with a value that was made to satisfy it (mostly)."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def text(self, low=0, high=6):
        return "".join(self.r.choice(ALPHABET) for _ in range(self.r.randint(low, high)))

    def string(self):
        k = self.r.randrange(6)
        if k == 0:
            low = self.r.randint(0, 4)
            return {"type": "string", "minLength": low, "maxLength": low + self.r.randint(0, 5)}, self.text(low, low)
        if k == 1:
            p, make = self.r.choice([("^a+b?$", lambda: "aab"), ("b", lambda: "ab1"), ("^[^a]*$", lambda: "bé"), ("^(ab|1)*$", lambda: "ab1ab"), ("1$", lambda: "é1"), ("^\\S{1,3}$", lambda: "é1"),
                                     ("^.{2,4}$", lambda: "ab東"), ("^[a-f]|é", lambda: "b東")])
            return {"type": "string", "pattern": p}, make()
        if k == 2:
            return {"type": "string", "pattern": "a", "maxLength": 5, "minLength": 2}, "ba"
        if k == 3:
            options = [self.text() for _ in range(self.r.randint(1, 6))]
            return {"enum": options}, self.r.choice(options)
        if k == 4:
            f, v = self.r.choice([("date", "2024-02-29"), ("ipv4", "1.2.3.255"), ("uuid", "123e4567-e89b-12d3-a456-426614174000"), ("time", "10:11:12Z"), ("ipv6", "::1")])
            return {"type": "string", "format": f}, v
        return {"type": "string"}, self.text()

    def number(self):
        low = self.r.randint(-30, 30)
        k = self.r.randrange(7)
        if k == 5:  # bounds and steps as exponents write them
            low = self.r.choice([1e-3, -2.5e2, 1.5e3, -1e-2, 0.125, 3e4])
            schema = {"type": "number", self.r.choice(["minimum", "exclusiveMinimum"]): low}
            if self.r.random() < .5:
                schema[self.r.choice(["maximum", "exclusiveMaximum"])] = low + self.r.choice([1e-3, 0.5, 1e2])
            return schema, low + 1e-3
        if k == 6:
            low, step = self.r.choice([(-100, 0.5), (0, 1.25e-1), (3, 2.5), (-7, 7)])
            return {"type": self.r.choice(["number", ["integer", "number"], "integer"]), "multipleOf": step, "exclusiveMinimum": low, "maximum": low + 40 * step}, low + step
        if k == 0:
            return {"type": "integer", "minimum": low, "maximum": low + self.r.randint(0, 300)}, low
        if k == 1:
            m = self.r.randint(1, 12)
            return {"type": "integer", "multipleOf": m}, m * self.r.randint(-9, 9)
        if k == 2:
            return {"type": "number", "exclusiveMinimum": low, "maximum": low + 2.5}, low + 1.5
        if k == 3:
            return {"type": "number", "multipleOf": 0.25, "minimum": low}, low + 0.75
        return {"type": self.r.choice(["number", "integer"])}, low

    def scalar(self):
        k = self.r.randrange(5)
        if k < 2:
            return self.string()
        if k < 4:
            return self.number()
        return self.r.choice([({"type": "boolean"}, True), ({"type": "null"}, None), ({"const": 3}, 3), ({"type": ["null", "boolean"]}, None), ({"enum": [1, "1", None, True]}, "1")])

    def array(self, depth):
        item, value = self.any(depth - 1)
        k = self.r.randrange(6)
        if k == 4:  # items with an order of their own, then others
            second, other = self.any(depth - 1)
            schema = {"type": "array", "prefixItems": [item], "items": second, "minItems": self.r.randint(0, 2)}
            return schema, [value] + [other] * self.r.randint(1, 2)
        if k == 5:
            low = self.r.randint(0, 2)
            schema = {"type": "array", "items": {"type": ["integer", "string"]}, "contains": {"type": "string", "minLength": 1}, "minContains": low, "maxContains": low + self.r.randint(0, 2), "maxItems": 5}
            return schema, [1] + ["a"] * low
        if k == 0:
            low = self.r.randint(0, 2)
            return {"type": "array", "items": item, "minItems": low, "maxItems": low + 2}, [value] * max(low, 1)
        if k == 1:
            second, other = self.scalar()
            return {"type": "array", "prefixItems": [item, second], "items": self.r.choice([False, {"type": "null"}])}, [value, other]
        if k == 2:
            item, value = self.scalar()
            return {"type": "array", "items": item, "uniqueItems": True}, [value]
        item, value = self.scalar()
        return {"type": "array", "items": {"type": ["integer", "string", "null"]}, "contains": {"const": 7}, "maxItems": 3}, [1, 7]

    def object(self, depth):
        names = self.r.sample(["a", "b", "aa", "é", "1", "x-1", "b\"c"], self.r.randint(0, 4))
        made = {n: self.any(depth - 1) for n in names}
        schema = {"type": "object", "properties": {n: s for n, (s, _) in made.items()}, "required": self.r.sample(names, self.r.randint(0, len(names)))}
        k = self.r.randrange(6)
        if k == 0:
            schema["additionalProperties"] = False
        elif k == 1:
            schema["additionalProperties"] = {"type": "integer"}
        elif k == 2:
            schema["patternProperties"] = {"^x-": {"type": "integer"}}
            schema["additionalProperties"] = False
        elif k == 3:
            schema["maxProperties"] = len(names) + 1
        elif k == 4:
            schema["propertyNames"] = {"maxLength": 3}
        value = {n: v for n, (_, v) in made.items()}
        k = self.r.randrange(10)
        if k == 0:  # patterns that meet properties, and one another
            schema["patternProperties"] = {"^[ab]": {"type": ["integer", "string", "null"]}, "a$": {"not": {"type": "null"}}}
        elif k == 1:
            schema["minProperties"] = self.r.randint(0, 3)
            schema["propertyNames"] = {"pattern": "^[a-bé1]*$"}
        elif k == 2 and len(names) > 1:
            schema["dependentRequired"] = {names[0]: [names[1]]}
        elif k == 3 and names:
            schema["dependentSchemas"] = {names[0]: {"required": ["d"], "properties": {"d": {"type": "boolean"}}}}
            value["d"] = True
        return schema, value

    def choice(self, depth):
        """Alternatives that overlap, conditions, things said twice."""
        k = self.r.randrange(7)
        if k == 0:
            low = self.r.randint(-5, 5)
            return {"oneOf": [{"type": "integer", "maximum": low + 3}, {"type": "integer", "minimum": low}, {"type": "string"}]}, low - 1
        if k == 1:
            return {"oneOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "b$"}]}, "ba"[::-1][:1]
        if k == 2:
            return {"anyOf": [{"minLength": 2}, {"pattern": "^1"}], "type": "string", "maxLength": 4}, "1"
        if k == 3:
            inner, value = self.scalar()
            return {"type": "object", "properties": {"kind": {"enum": ["x", "y"]}, "v": True}, "required": ["kind", "v"], "additionalProperties": False,
                    "if": {"properties": {"kind": {"const": "x"}}}, "then": {"properties": {"v": inner}}, "else": {"properties": {"v": {"type": "null"}}}}, {"kind": "x", "v": value}
        if k == 4:
            first, value = self.scalar()
            second, other = self.scalar()
            return {"allOf": [{"type": "object", "properties": {"a": first}, "required": ["a"]}, {"properties": {"b": second}, "required": ["b"]}]}, {"a": value, "b": other}
        if k == 5:
            first, value = self.object(depth - 1) if depth > 1 else self.scalar()
            return {"oneOf": [{"type": "object", "properties": {"t": {"const": 1}, "p": first}, "required": ["t", "p"], "additionalProperties": False},
                              {"type": "object", "properties": {"t": {"const": 2}}, "required": ["t"], "additionalProperties": False}]}, {"t": 1, "p": value}
        inner, value = self.scalar()
        return {"not": {"enum": [None, "a", 3, 1.5]}, "anyOf": [inner, {"type": "boolean"}]}, value

    def any(self, depth):
        if depth <= 0 or self.r.random() < .3:
            return self.scalar()
        if self.r.random() < .2:
            return self.choice(depth)
        k = self.r.randrange(7)
        if k < 2:
            return self.array(depth)
        if k < 4:
            return self.object(depth)
        first, value = self.any(depth - 1)
        second, other = self.any(depth - 1)
        if k == 4:
            return {"anyOf": [first, second]}, self.r.choice([value, other])
        if k == 5:
            return {"allOf": [first, {"type": ["string", "integer", "object", "array"]}]}, value
        return self.r.choice([({"oneOf": [first, second]}, value), ({"if": second, "then": True, "else": first}, value), ({"not": second}, value)])

    def case(self):
        schema, value = self.any(3)
        if self.r.random() < .15:
            schema = {"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "properties": {"v": schema, "n": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}}, "required": ["v"], "additionalProperties": False}}}
            value = {"v": value, "n": {"v": value, "n": None}}
        elif self.r.random() < .15:  # one that calls another and itself, by name and by pointer
            schema = {"$defs": {"tree": {"$anchor": "tree", "type": "object", "properties": {"v": schema, "kids": {"type": "array", "items": {"$ref": "#tree"}, "maxItems": 2}, "leaf": {"$ref": "#/$defs/leaf"}}, "required": ["v"], "additionalProperties": False},
                                "leaf": {"anyOf": [{"type": "null"}, {"type": "array", "prefixItems": [{"$ref": "#/$defs/tree"}], "items": False, "minItems": 1}]}},
                      "$ref": "#/$defs/tree", "minProperties": 1}
            value = {"v": value, "kids": [{"v": value}], "leaf": self.r.choice([None, [{"v": value}]])}
        texts = [compact(value)]
        for _ in range(4):
            texts.append(compact(self.changed(value)))
        return {"kind": "schema", "schema": schema, "texts": texts}

    def changed(self, v):
        k = self.r.randrange(4)
        if isinstance(v, dict) and v and k:
            n = self.r.choice(list(v))
            out = dict(v)
            if k == 1:
                del out[n]
            else:
                out[n] = self.changed(v[n])
            return out
        if isinstance(v, list) and v and k:
            return v + v[:1] if k == 1 else [self.changed(v[0])] + v[1:]
        if isinstance(v, str):
            return v + self.r.choice(ALPHABET) if k % 2 else v[1:]
        if isinstance(v, int) and not isinstance(v, bool):
            return v + self.r.choice([-1, 1, 100, 0.5])
        return self.r.choice([None, True, 1, "a", [], {}])


def compact(v):
    return json.dumps(v, ensure_ascii=False, separators=(",", ":"))


class Regexes:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def node(self, depth):
        k = self.r.randrange(9 if depth > 0 else 4)
        if k < 2:
            return self.r.choice(["a", "b", "1", "é", "東", " ", "ab", "\\\"", "-"])
        if k == 2 and self.r.random() < .3:
            return self.r.choice(["[\\d\\-]", "[^\\d\\w]", "[\\w.-]", "[a\\]b]", "[\\u00e9]", "\\x61", "\\u6771", "\\S", "\\W", "\\D", "[\\D]", "[\\S1]", "\\.", "\\/", "\\t", "^", "$"])
        if k == 2:
            return self.r.choice(["[ab]", "[^a]", "\\d", "[a-c1]", "[^\\s]", ".", "[é-東]", "[^\"\\\\]"])
        if k == 3:
            return self.r.choice(["a", "\\w", "\\s"])
        if k == 4:
            return "(" + self.node(depth - 1) + "|" + self.node(depth - 1) + ")"
        if k == 5:
            return "(" + self.node(depth - 1) + ")" + self.r.choice(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "+?", "??", "{1,2}?", "{0}"])
        return self.node(depth - 1) + self.node(depth - 1)

    def case(self):
        pattern = self.node(4)
        texts = ["".join(self.r.choice("ab1é東 \"-") for _ in range(self.r.randint(0, 6))) for _ in range(8)]
        return {"kind": "regex", "text": pattern, "texts": texts}


class Grammars:
    """Rules over a few letters; the same text is Lark for both."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def atom(self, rules):
        return self.r.choice(['"a"', '"b"', '"ab"', '"é"', '" "', "A", "B"] + rules)

    def body(self, rules, depth=2):
        k = self.r.randrange(5 if depth else 1)
        if k == 0:
            return self.atom(rules)
        if k == 1:
            return f"({self.body(rules, depth - 1)} | {self.body(rules, depth - 1)})"
        if k == 2:
            return f"({self.body(rules, depth - 1)}){self.r.choice('*+?')}"
        return f"{self.body(rules, depth - 1)} {self.body(rules, depth - 1)}"

    def case(self):
        rules = ["r0", "r1", "r2"]
        lines = ["start: " + self.body(rules)]
        for name in rules:
            lines.append(f'{name}: {self.body(rules)} | {self.r.choice(["A", chr(34) + "b" + chr(34)])}')
        lines += ["A: /a+1/", "B: /[b1]/"]
        texts = ["".join(self.r.choice(["a", "b", "1", "ab", "a1", "é", " "]) for _ in range(self.r.randint(0, 6))) for _ in range(10)]
        return {"kind": "grammar", "text": "\n".join(lines) + "\n", "texts": texts}


def has_repeated_key(text):
    class Repeated(Exception):
        pass

    def pairs(items):
        if len({k for k, _ in items}) != len(items):
            raise Repeated
        return dict(items)
    try:
        json.loads(text, object_pairs_hook=pairs)
    except Repeated:
        return True
    return False


SPACE = "\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": SPACE, "D": "\0-/:-\U0010ffff", "W": "\0-/:-@\\[-\\^`{-\U0010ffff",
           "S": "\0-\x08\x0e-\x1f!-\x9f\xa1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2fff\u3001-\ufefe\uff00-\U0010ffff"}


def plain(pattern):
    """In Python, what the dialect of regular expressions means: digits and words of ASCII, white space of ECMAScript,
    an end that is the end."""
    out, inside, at = [], False, 0
    while at < len(pattern):
        c = pattern[at]
        at += 1
        if c == "\\":
            c = pattern[at]
            at += 1
            set_ = CLASSES.get(c)
            out.append("\\" + c if set_ is None else set_ if inside else f"[{set_}]")
            continue
        if c == "[" and not inside:
            inside = True
        elif c == "]":
            inside = False
        out.append("\\Z" if c == "$" and not inside else c)
    return "".join(out)


def plain_patterns(schema):
    if isinstance(schema, list):
        return [plain_patterns(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {k: plain_patterns(v) for k, v in schema.items()}
    if isinstance(out.get("pattern"), str):
        out["pattern"] = plain(out["pattern"])
    return out


def schema_oracle(case):
    import jsonschema
    kind = jsonschema.Draft202012Validator
    v = kind(plain_patterns(case["schema"]), format_checker=kind.FORMAT_CHECKER)

    def valid(text):
        if has_repeated_key(text):
            return False
        long = []  # numbers that floats cannot tell from others are not judged
        value = json.loads(text, parse_float=lambda t: long.append(len(t)) or float(t))
        if '"time"' in json.dumps(case["schema"]) and "time" not in kind.FORMAT_CHECKER.checkers:
            return None  # needs rfc3339-validator
        return None if max(long, default=0) > 15 else v.is_valid(value)
    return valid


def regex_oracle(case):
    compiled = re.compile(plain(case["text"]))
    return lambda text: compiled.fullmatch(text) is not None


def grammar_oracle(case):
    import lark
    parser = lark.Lark(case["text"], parser="earley", lexer="dynamic_complete", ambiguity="resolve")

    def accepts(text):
        try:
            parser.parse(text)
            return True
        except lark.exceptions.LarkError:
            return False
    return accepts


def check(case, got, oracle, problems):
    for fault in got["faults"]:
        problems.append(("fault", fault, case))
    if got["refused"] is not None:
        return
    for text, accepted in zip(case["texts"], got["accepts"]):
        valid = oracle(text)
        if valid is None:
            continue
        if accepted and not valid:
            problems.append(("accepts what is not valid", text, case))
        elif valid and not accepted:
            problems.append(("does not take", text, case))
    for text in got["samples"]:
        try:
            if oracle(text) is False:
                problems.append(("made what is not valid", text, case))
        except ValueError:
            problems.append(("made what is no JSON", text, case))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tokenizer")
    p.add_argument("--probe", default="build/release/bin/constraint-probe")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=300)
    p.add_argument("--only", choices=["schema", "regex", "grammar"])
    a = p.parse_args()
    makers = {"schema": (Schemas, schema_oracle), "regex": (Regexes, regex_oracle), "grammar": (Grammars, grammar_oracle)}
    bad = 0
    for kind, (maker, oracle) in makers.items():
        if a.only not in (None, kind):
            continue
        made = maker(a.seed)
        cases = [made.case() for _ in range(a.count)]
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as f:
            f.writelines(json.dumps(c, ensure_ascii=False) + "\n" for c in cases)
            f.flush()
            out = subprocess.run([a.probe, a.tokenizer, f.name, "4", str(a.seed)], check=True, capture_output=True, text=True).stdout
        results = [json.loads(line) for line in out.splitlines()]
        problems, refusals = [], {}
        for case, got in zip(cases, results):
            if got["refused"] is not None:
                refusals[got["refused"][:70]] = refusals.get(got["refused"][:70], 0) + 1
            check(case, got, oracle(case), problems)
        print(f"{kind}: {len(cases)} cases, {sum(refusals.values())} refused, {sum(len(g['samples']) for g in results)} samples, {len(problems)} problems")
        for why, n in sorted(refusals.items(), key=lambda x: -x[1])[:6]:
            print(f"    refused {n}: {why}")
        for what, text, case in problems[:12]:
            print(f"  {what}: {text!r}\n    {case.get('schema', case.get('text'))!r}")
        bad += len(problems)
    sys.exit(1 if bad else 0)


main()
