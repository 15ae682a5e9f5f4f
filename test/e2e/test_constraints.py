"""A constraint that `llmc compile` puts into the artifact, and one that `llmc run` gives: who wins, what is refused,
what damage is noticed. The model's weights are random, so that only the constraint can make its output valid."""
import json
import string
import unittest

from common import E2E, INPUTS, llmc

MODEL = INPUTS / "models" / "tiny-llama-sdpa" / "model.onnx"
SCHEMA = {"type": "object", "properties": {"kind": {"enum": ["cat", "dog"]}, "age": {"type": "integer", "minimum": 0, "maximum": 9}},
          "required": ["kind", "age"], "additionalProperties": False}
OTHER = {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 2}


def tokenizer():
    """Characters and a few longer tokens; fewer than the model's 96."""
    chars = [*string.ascii_letters, *string.digits, *'"{}[]:,.-_', "\u0120"]  # ByteLevel's letter for a space
    tokens = chars + ["true", "cat", '":', '{"', "at", "<end>"]
    return {"version": "1.0", "truncation": None, "padding": None, "normalizer": None, "post_processor": None,
            "added_tokens": [{"id": len(tokens) - 1, "content": "<end>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}],
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
            "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False,
                      "byte_fallback": False, "ignore_merges": True, "vocab": {t: i for i, t in enumerate(tokens)}, "merges": []}}


class Constraints(E2E):
    def setUp(self):
        super().setUp()
        self.text = self.tmp / "text"
        self.text.mkdir()
        (self.text / "tokenizer.json").write_text(json.dumps(tokenizer()))
        self.schema = self.file("schema.json", json.dumps(SCHEMA))

    def file(self, name, text):
        (self.tmp / name).write_text(text)
        return self.tmp / name

    def artifact(self, *flags):
        return self.compile(MODEL, "--f32", "--max-context", "64", "--tokenizer", self.text, *flags)

    def run_text(self, art, *flags):
        done = self.ok("run", art, "--tokens", "5,17,3", "--max-tokens", "50", "--json", "--device", "cpu", "--temperature", "3", *flags)
        return json.loads(done.stdout)

    def test_the_artifact_answers_under_its_schema(self):
        art = self.artifact("--json-schema", self.schema)
        for seed in range(4):
            got = self.run_text(art, "--seed", seed)
            value = json.loads(got["text"])
            self.assertIn(value["kind"], ("cat", "dog"))
            self.assertIn(value["age"], range(10))
            self.assertNotEqual(got["finish_reason"], "length")

    def test_a_request_replaces_or_lifts_it(self):
        art = self.artifact("--json-schema", self.schema)
        other = self.file("other.json", json.dumps(OTHER))
        self.assertEqual(len(json.loads(self.run_text(art, "--json-schema", other)["text"])), 2)
        self.assertRegex(self.run_text(art, "--regex", "[xy]{3}")["text"], "^[xy]{3}$")
        free = self.artifact()
        lifted = self.run_text(art, "--no-constraint", "--seed", "1")
        self.assertEqual(lifted["tokens"], self.run_text(free, "--seed", "1")["tokens"])
        said = self.refused(2, "run", art, "--tokens", "5", "--no-constraint", "--regex", "a")
        self.assertIn("2 of --json-schema, --regex, --grammar and --no-constraint", said)

    def test_batch_lines_follow_the_artifact_or_themselves(self):
        art = self.artifact("--json-schema", self.schema)
        lines = [{"tokens": [5, 17]}, {"tokens": [5, 17], "json_schema": OTHER}, {"tokens": [5, 17], "regex": "[ab]{4}"}]
        text = "".join(json.dumps(x | {"temperature": 2, "seed": 3}) + "\n" for x in lines)
        # A name with an escape is the same name; numbers are not rounded.
        text += r'{"tokens":[5],"json_schem\u0061":{"const":7},"seed":18446744073709551615}' + "\n"
        text += '{"tokens":[5],"json_schema":{"type":"integer","minimum":10000000000000000000001,"maximum":10000000000000000000001}}\n'
        file = self.file("b.jsonl", text)
        done = self.ok("run", art, "--batch", file, "--max-tokens", "50", "--device", "cpu")
        first, second, third, fourth, fifth = (json.loads(x)["text"] for x in done.stdout.splitlines())
        self.assertIn(json.loads(first)["kind"], ("cat", "dog"))
        self.assertEqual(len(json.loads(second)), 2)
        self.assertRegex(third, "^[ab]{4}$")
        self.assertEqual((fourth, fifth), ("7", "10000000000000000000001"))

    def test_cut_off_output_is_said_to_be(self):
        art = self.artifact("--json-schema", self.schema)
        done = self.ok("run", art, "--tokens", "5", "--max-tokens", "2", "--json", "--device", "cpu")
        self.assertEqual(json.loads(done.stdout)["finish_reason"], "length")
        self.assertIn("before the constraint was satisfied", done.stderr)

    def test_what_cannot_be_compiled_leaves_no_artifact(self):
        out = self.tmp / "m.llmc"
        common = ("compile", MODEL, "--f32", "--quiet", "--tokenizer", self.text, "-o", out, "--json-schema")
        for name, text, code, holds in (("syntax.json", '{"type":', 4, "syntax.json: "), ("never.json", '{"type":"string","minLength":3,"maxLength":2}', 4, "no value"),
                                        ("unknown.json", '{"typo":1}', 4, "typo")):
            with self.subTest(name):
                self.assertIn(holds, self.refused(code, *common, self.file(name, text)))
                self.assertFalse(out.exists())
        self.refused(4, *common, self.tmp / "missing.json")
        self.assertIn("takes a file", self.refused(2, *common, '{"type": "null"}'))
        said = self.refused(2, "compile", MODEL, "--f32", "--quiet", "-o", out, "--json-schema", self.schema)
        self.assertIn("--json-schema needs a tokenizer", said)
        bare = self.compile(MODEL, "--f32", "--max-context", "64")
        self.assertIn("constraints need a tokenizer", self.refused(2, "run", bare, "--tokens", "5", "--regex", "a"))

    def test_damage_is_noticed(self):
        art = self.artifact("--json-schema", self.schema)
        sections = json.loads(self.ok("inspect", art, "--json").stdout)["sections"]
        good = art.read_bytes()
        for kind in ("constraint", "token trie"):
            with self.subTest(kind):
                section = next(s for s in sections if s["kind"] == kind)
                bad = bytearray(good)
                bad[section["offset"] + section["bytes"] // 2] ^= 0x55
                art.write_bytes(bad)
                done = llmc("run", art, "--tokens", "5", "--max-tokens", "4", "--device", "cpu")
                self.assertNotEqual(done.returncode, 0, done.stdout)
                self.assertIn(kind, done.stderr)


if __name__ == "__main__":
    unittest.main()
