"""The command line contract: exit codes, error style, help with an example, output only on success."""
import json
import os
import subprocess
import unittest

from common import BIN, E2E, INPUTS, llmc

MODEL = INPUTS / "models" / "tiny-llama-sdpa" / "model.onnx"
SUBCOMMANDS = ("compile", "check", "plan", "run", "chat", "bench", "eval", "verify", "inspect", "tokenize", "render")


class CommandLine(E2E):
    def test_help_has_an_example(self):
        for name in SUBCOMMANDS:
            with self.subTest(name):
                done = llmc(name, "--help")
                self.assertEqual(done.returncode, 0)
                self.assertIn("example", done.stdout.lower())

    def test_usage_errors_exit_2(self):
        self.refused(2, "compile")
        self.refused(2, "compile", MODEL, "--no-such-flag")
        self.refused(2, "compile", MODEL, "--target", "sm_12345")
        self.refused(2, "no-such-command")

    def test_missing_model_exits_4(self):
        self.assertIn("nowhere.onnx", self.refused(4, "compile", self.tmp / "nowhere.onnx"))
        self.assertIn("nowhere.llmc", self.refused(4, "run", self.tmp / "nowhere.llmc", "Hello"))

    def test_budget_that_does_not_fit_exits_5(self):
        out = self.tmp / "m.llmc"
        self.refused(5, "compile", MODEL, "--f32", "-o", out, "--memory-budget", "10KB", "--quiet")
        self.assertFalse(out.exists())

    def test_no_gpu_is_said(self):
        art = self.compile(MODEL, "--target", "sm_80", "--max-context", "64")
        nothing = dict(os.environ, CUDA_VISIBLE_DEVICES="")  # hides the GPU of a machine that has one
        said = self.refused(5, "run", art, "--tokens", "1", "--max-tokens", "1", "--device", "cuda", env=nothing)
        self.assertIn("cuda", said.lower())

    def test_output_that_cannot_be_written_is_an_error(self):
        art = self.compile(MODEL, "--f32", "--max-context", "64")
        with open("/dev/full", "w") as full:
            done = subprocess.run([str(BIN / "llmc"), "inspect", str(art)], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("standard output", done.stderr)

    def test_more_cache_than_memory_exits_5(self):
        art = self.compile(MODEL, "--f32", "--max-context", "16777216", "--max-batch", "4096")
        self.assertIn("--max-context", self.refused(5, "run", art, "--tokens", "1", "--max-tokens", "1", "--device", "cpu"))

    def test_logits_do_not_replace_the_artifact(self):
        art = self.compile(MODEL, "--f32", "--max-context", "64")
        self.refused(2, "run", art, "--tokens", "1", "--max-tokens", "1", "--logits", "last", "--logits-out", art)

    def test_output_folder_is_checked_before_the_work(self):
        self.assertIn("nowhere", self.refused(4, "compile", MODEL, "--f32", "-o", self.tmp / "nowhere" / "m.llmc"))
        self.assertIn("nofolder", self.refused(4, "compile", MODEL, "--f32", "--tokenizer", self.tmp / "nofolder", "-o", self.tmp / "m.llmc"))

    def test_damaged_generation_defaults_are_left_out_with_a_warning(self):
        model = self.tmp / "model.onnx"
        model.write_bytes(MODEL.read_bytes())
        (self.tmp / "generation_config.json").write_text('{"temperature": -1, "do_sample": true}')
        done = self.ok("compile", model, "--f32", "--max-context", "64", "-o", self.tmp / "m.llmc")
        self.assertIn("temperature", done.stderr)
        self.run_tokens(self.tmp / "m.llmc", [1, 2], 2)
        self.assertEqual(self.ok("compile", model, "--f32", "--max-context", "64", "-o", self.tmp / "m.llmc", "--quiet").stderr, "")

    def test_plan_is_what_the_artifact_says(self):
        art = self.compile(MODEL, "--f32", "--max-context", "64")
        before = json.loads(self.ok("plan", MODEL, "--f32", "--max-context", "64", "--json").stdout)
        after = json.loads(self.ok("plan", art, "--json").stdout)
        self.assertEqual(before["targets"][0]["weight_bytes"], after["targets"][0]["weight_bytes"])
        self.assertEqual(before["targets"][0]["arena_bytes"], after["targets"][0]["arena_bytes"])

    def test_verbose_tells_fusions_with_node_names(self):
        done = self.ok("compile", MODEL, "--f32", "--max-context", "64", "--stop-after", "plan", "-v")
        self.assertIn("llmc: remark:", done.stderr)
        self.assertRegex(done.stderr, r"fuse-qkv.*/MatMul_")

    def test_check_summarises_a_good_model(self):
        done = json.loads(self.ok("check", MODEL, "--json").stdout)
        parts = done["architecture"]
        self.assertEqual(sum(k["count"] for k in parts["attention"]), parts["layers"])
        self.assertGreater(parts["layers"], 0)
        self.assertIn("KV heads of", parts["attention"][0]["kind"])
        self.assertTrue(parts["norms"] and parts["rotary"] and parts["weights"])
        self.assertTrue(done["supported"])


if __name__ == "__main__":
    unittest.main()
