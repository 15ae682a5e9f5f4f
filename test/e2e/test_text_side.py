"""llmc tokenize and render as users try them: pipes, odd bytes, flags that exclude each other."""
import json
import os
import subprocess
import unittest

from common import BIN, E2E, INPUTS

LLMC = BIN / "llmc"


def run(*args, stdin=b""):
    return subprocess.run([LLMC, *args], input=stdin, capture_output=True, timeout=60)


class TextSide(E2E):
    def setUp(self):
        super().setUp()
        (self.tmp / "tokenizer.json").write_bytes((INPUTS / "text" / "llama3-small.json").read_bytes())
        template = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
        (self.tmp / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))

    def error(self, done, code):
        self.assertEqual(done.returncode, code)
        self.assertEqual(done.stdout, b"")
        self.assertRegex(done.stderr.decode(), r"\Allmc: error: [^\n]+\n")
        return done.stderr.decode()

    def test_any_text_comes_back(self):
        text = b"a\0b \xe2\x80\xa8\tc"
        ids = run("tokenize", self.tmp, "--no-special", stdin=text).stdout.strip()
        self.assertEqual(run("tokenize", self.tmp, "--decode", ids).stdout, text + b"\n")

    def test_bad_input_is_one_line(self):
        self.assertIn("UTF-8", self.error(run("tokenize", self.tmp, stdin=b"\xff"), 4))
        self.assertIn("exclude", self.error(run("tokenize", self.tmp, "x", "--decode", "1"), 2))
        self.assertIn("1,,2", self.error(run("tokenize", self.tmp, "--decode", "1,,2"), 2))
        folder = os.open(self.tmp, os.O_RDONLY)
        done = subprocess.run([LLMC, "tokenize", self.tmp], stdin=folder, capture_output=True, timeout=60)
        os.close(folder)
        self.assertIn("standard input", self.error(done, 4))

    def test_what_belongs_elsewhere_is_named(self):
        self.assertIn("not the text itself", self.error(run("render", self.tmp, "--messages", '[{"role":"user"}]'), 2))
        (self.tmp / "m.json").write_text('{"messages":[]}')
        self.assertIn("are an object, expected a list", self.error(run("render", self.tmp, "--messages", self.tmp / "m.json"), 4))
        (self.tmp / "m.onnx").write_bytes(b"")
        self.assertIn("llmc compile", self.error(run("tokenize", self.tmp / "m.onnx", "x"), 4))
        self.assertIn("is a folder", self.error(run("run", self.tmp, "x"), 4))
        done = run("tokenize", self.tmp, "--decode", "99999999")
        self.assertEqual((done.returncode, done.stdout), (0, b"\n"))
        self.assertIn("99999999", done.stderr.decode())

    def test_debug_takes_folders(self):
        (self.tmp / "cases").write_text('{"vars":{"messages":[{"role":"user","content":"x"}]}}')
        self.assertEqual(json.loads(run("debug", "render", self.tmp, self.tmp / "cases").stdout), {"text": "user: x\n"})

    def test_messages_from_a_pipe(self):
        read, write = os.pipe()
        os.write(write, b'[{"role":"user","content":"hi"}]')
        os.close(write)
        done = subprocess.run([LLMC, "render", self.tmp, "--messages", f"/dev/fd/{read}"], pass_fds=[read], capture_output=True, timeout=60)
        os.close(read)
        self.assertEqual(done.stdout, b"user: hi\n")
        done = run("render", self.tmp, "--messages", "-", stdin=b'[{"role":"user","content":"half \\ud83d pair"}]')
        self.assertEqual(done.stdout.decode(), "user: half \ufffd pair\n")


if __name__ == "__main__":
    unittest.main()
