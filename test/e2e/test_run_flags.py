"""Flags of `llmc run` and `render` on small models: sampling, stopping, templates, weights that are checked."""
import json
import unittest

from common import E2E, INPUTS, llmc

MODEL = INPUTS / "models" / "tiny-llama-sdpa" / "model.onnx"
TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"


class RunFlags(E2E):
    def setUp(self):
        super().setUp()
        self.art = self.compile(MODEL, "--f32", "--max-context", "64")

    def tokens(self, *flags):
        done = self.ok("run", self.art, "--tokens", "5,17,3", "--max-tokens", "16", "--ignore-eos", "--json", "--device", "cpu", *flags)
        return json.loads(done.stdout)["tokens"]

    def test_seed_decides(self):
        hot = ("--temperature", "5")
        runs = [self.tokens(*hot, "--seed", seed) for seed in ("1", "1", "2")]
        self.assertEqual(len(runs[0]), 16)
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0], runs[2])

    def test_filters_down_to_one_token_are_greedy(self):
        greedy = self.tokens("--temperature", "0")
        hot = ("--temperature", "5", "--seed", "3")
        self.assertNotEqual(self.tokens(*hot), greedy)
        for only_one in (("--top-k", "1"), ("--top-p", "0.000001"), ("--min-p", "1")):
            with self.subTest(only_one[0]):
                self.assertEqual(self.tokens(*hot, *only_one), greedy)

    def test_repetition_penalty(self):
        plain = self.tokens("--temperature", "0")
        strong = self.tokens("--temperature", "0", "--repetition-penalty", "50")
        self.assertGreater(len(set(strong)), len(set(plain)))

    def test_check_weights(self):
        self.ok("run", self.art, "--tokens", "1", "--max-tokens", "1", "--check-weights")
        damaged = bytearray(self.art.read_bytes())
        damaged[-3000] ^= 1  # weights are last
        self.art.write_bytes(damaged)
        self.ok("run", self.art, "--tokens", "1", "--max-tokens", "1")
        done = llmc("run", self.art, "--tokens", "1", "--max-tokens", "1", "--check-weights")
        self.assertEqual(done.returncode, 6, done.stderr)

    def result(self, *flags):
        done = self.ok("run", self.art, "--tokens", "5,17,3", "--max-tokens", "16", "--ignore-eos", "--json", "--device", "cpu", *flags)
        return json.loads(done.stdout)

    def test_beams_find_at_least_what_greedy_finds(self):
        greedy = self.result("--temperature", "0", "--logprobs", "0")
        score = sum(p["logprob"] for p in greedy["logprobs"]) / 16
        beams = self.result("--beams", "3", "-n", "2")
        self.assertEqual(len(beams["choices"]), 2)
        self.assertEqual(beams["choices"][0]["tokens"], beams["tokens"])
        self.assertGreaterEqual(beams["choices"][0]["score"], beams["choices"][1]["score"])
        self.assertGreaterEqual(beams["score"], score - 1e-5)

    def test_first_of_several_choices_is_as_if_alone(self):
        hot = ("--temperature", "5", "--seed", "9")
        several = self.result(*hot, "-n", "3")
        self.assertEqual(several["tokens"], self.tokens(*hot))
        self.assertEqual(len({tuple(c["tokens"]) for c in several["choices"]}), 3)
        self.assertEqual(several["usage"]["completion_tokens"], 48)

    def test_guesses_change_no_token(self):
        for sampling in (("--temperature", "0"), ("--temperature", "2", "--seed", "4")):
            with self.subTest(sampling):
                self.assertEqual(self.tokens(*sampling, "--speculate", "ngram"), self.tokens(*sampling))

    def test_contradictions_are_one_line(self):
        deep = self.tmp / "deep.jsonl"
        deep.write_text('{"messages":' + "[" * 100_000 + "]" * 100_000 + "}")
        empty = self.tmp / "empty"
        empty.write_text("")
        lines = {
            ("--batch", deep): (4, "nested 100001 deep"),
            ("--tokens", "5", "--logit-bias", "99999=1"): (2, "token 99999 of logit_bias is outside"),
            ("--tokens", "5", "--logit-bias", "4=nan"): (2, "logit_bias of token 4 is nan"),
            ("--tokens", "5", "--allowed-token-ids", ""): (2, "is empty"),
            ("--tokens", "5", "--allowed-token-ids", "99999"): (2, "token 99999 of allowed_token_ids"),
            ("--tokens", "5", "--allowed-token-ids", "4", "--logit-bias", "4=-inf"): (2, "leave no token to follow"),
            ("--tokens", "5", "--grammar", empty): (4, "grammar: is empty"),
            ("--tokens", "5", "--json-schema", empty): (4, "JSON schema: is empty"),
            ("--tokens", "5", "--regex", ""): (4, "regex: is empty"),
            ("--tokens", "5", "-n", "0"): (2, "not in range"),
        }
        for flags, (code, text) in lines.items():
            with self.subTest(flags[-3:]):
                done = llmc("run", self.art, *flags, "--temperature", "0")
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(text, done.stderr)
                self.assertEqual(len([x for x in done.stderr.splitlines() if "note:" not in x]), 1)

    def test_bias_bans_and_allowed_tokens(self):
        greedy = self.tokens("--temperature", "0")
        self.assertEqual(self.tokens("--temperature", "0", "--logit-bias", "7=1000"), [7] * 16)
        self.assertNotIn(greedy[0], self.tokens("--temperature", "0", "--logit-bias", f"{greedy[0]}=-1000"))
        self.assertLessEqual(set(self.tokens("--temperature", "3", "--allowed-token-ids", "4,6,9")), {4, 6, 9})
        twice = self.tokens("--temperature", "0", "--no-repeat-ngram-size", "1")
        self.assertEqual(len(set(twice) | {5, 17, 3}), 19)

    def test_logprobs(self):
        got = self.result("--temperature", "0", "--logprobs", "3", "--prompt-logprobs", "1")
        self.assertEqual([p["token"] for p in got["logprobs"]], got["tokens"])
        for p in got["logprobs"]:
            self.assertEqual(p["rank"], 0)
            self.assertEqual(len(p["top"]), 3)
            self.assertEqual(p["top"][0], {"token": p["token"], "logprob": p["logprob"]})
        self.assertIsNone(got["prompt_logprobs"][0])
        self.assertEqual([p["token"] for p in got["prompt_logprobs"][1:]], [17, 3])

    def test_batch_lines_take_the_same_parameters(self):
        lines = [
            {"tokens": [5, 17, 3], "temperature": 0, "logit_bias": {"7": 1000}},
            {"tokens": [5, 17, 3], "beams": 2, "n": 2},
            {"tokens": [5, 17, 3], "temperature": 5, "n": 2, "seed": 9, "logprobs": 1},
            {"tokens": [5, 17, 3], "temperature": 0, "allowed_token_ids": [4], "min_tokens": 3, "speculate": "ngram"},
        ]
        file = self.tmp / "b.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        art = self.compile(MODEL, "--f32", "--max-context", "64", "--max-batch", "3")
        done = self.ok("run", art, "--batch", file, "--max-tokens", "8", "--ignore-eos", "--device", "cpu")
        bias, beams, choices, only = (json.loads(line) for line in done.stdout.splitlines())
        self.assertEqual(bias["tokens"], [7] * 8)
        self.assertEqual(len(beams["choices"]), 2)
        self.assertEqual(choices["tokens"], self.tokens("--temperature", "5", "--seed", "9")[:8])
        self.assertEqual(len(choices["choices"][1]["logprobs"]), 8)
        self.assertEqual(only["tokens"], [4] * 8)


    def test_batch_waits_for_all_choices(self):
        # No pair of three tokens twice: choices end early, after different numbers of tokens.
        file = self.tmp / "b.jsonl"
        line = {"tokens": [5, 17, 3], "temperature": 1000, "n": 4, "allowed_token_ids": [4, 6, 9], "no_repeat_ngram_size": 2}
        file.write_text("".join(json.dumps(line | {"seed": seed}) + "\n" for seed in range(8)))
        art = self.compile(MODEL, "--f32", "--max-context", "64", "--max-batch", "4")
        done = llmc("run", art, "--batch", file, "--max-tokens", "40", "--device", "cpu")
        self.assertEqual(done.returncode, 2, done.stderr)
        choices = [c for text in done.stdout.splitlines() for c in json.loads(text)["choices"]]
        self.assertEqual(len(choices), 32)
        self.assertEqual({c["finish_reason"] for c in choices}, {"cancelled"})
        self.assertGreater(len({len(c["tokens"]) for c in choices}), 1)


class WithText(E2E):
    def setUp(self):
        super().setUp()
        self.folder = self.tmp / "text"
        self.folder.mkdir()
        (self.folder / "tokenizer.json").write_bytes((INPUTS / "text" / "smollm2-trimmed.json").read_bytes())
        (self.folder / "chat_template.jinja").write_text(TEMPLATE)

    def test_messages_of_a_file(self):
        messages = self.tmp / "m.json"
        messages.write_text(json.dumps([{"role": "system", "content": "short"}, {"role": "user", "content": "why"}]))
        render = lambda *flags: self.ok("render", self.folder, "--messages", messages, *flags).stdout.rstrip("\n")
        self.assertEqual(render(), "<system>short<user>why<assistant>")
        self.assertEqual(render("--no-generation-prompt"), "<system>short<user>why")

    def test_system_needs_a_template(self):
        art = self.compile(MODEL, "--f32", "--max-context", "64")
        done = llmc("run", art, "--tokens", "1", "--system", "short")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--system", done.stderr)


if __name__ == "__main__":
    unittest.main()
