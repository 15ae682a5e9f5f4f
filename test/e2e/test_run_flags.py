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

    def test_beams_are_refused(self):
        done = llmc("run", self.art, "--tokens", "1", "--beams", "2")
        self.assertEqual(done.returncode, 3)
        self.assertIn("--beams 2", done.stderr)


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
