"""Flags of `llmc compile`, `check` and `inspect`: each does what it says, or is refused by its name."""
import hashlib
import importlib.util
import json
import unittest

from common import E2E, INPUTS, SLOW, llmc

MODEL = INPUTS / "models" / "tiny-llama-sdpa" / "model.onnx"
SMALL = ("--max-context", "64", "--quiet")


class CompileFlags(E2E):
    def inspect(self, art, *flags):
        return json.loads(self.ok("inspect", art, "--json", *flags).stdout)

    def test_flags_for_later_are_refused_by_name(self):
        for flags in (["--quant", "int4:g64"], ["--activations", "bf16"], ["--calibrate", "t.txt"],
                      ["--min-agreement", "0.99"]):
            for command in ("compile", "plan"):
                with self.subTest(command=command, flags=flags):
                    said = self.refused(3, command, MODEL, *flags)
                    self.assertIn(f"{flags[0]}", said)
                    self.assertIn("is not implemented yet; ", said)
        self.refused(2, "compile", MODEL, "--int4", "--f32")

    def test_dry_run_writes_the_plan_as_report(self):
        report, out = self.tmp / "r.json", self.tmp / "m.llmc"
        said = self.ok("compile", MODEL, "--f32", *SMALL, "--dry-run", "--report", report, "-o", out).stdout
        self.assertIn("weights", said)
        plan = json.loads(self.ok("plan", MODEL, "--f32", "--max-context", "64", "--json").stdout)
        self.assertEqual(json.loads(report.read_text()), plan)
        self.assertFalse(out.exists())

    def test_report_of_a_compilation(self):
        report = self.tmp / "r.json"
        art = self.compile(MODEL, "--f32", *SMALL, "--report", report)
        got = json.loads(report.read_text())
        self.assertEqual(got["artifact_bytes"], art.stat().st_size)
        self.assertEqual(len(got["targets"]), 1)

    def test_a_report_that_cannot_be_written_leaves_no_artifact(self):
        out = self.tmp / "m.llmc"
        for more in ([], ["--dry-run"]):
            self.refused(4, "compile", MODEL, *SMALL, "-o", out, "--report", self.tmp / "none" / "r.json", *more)
        self.assertFalse(out.exists())

    def test_dumps(self):
        phases, kernels = self.tmp / "a" / "phases", self.tmp / "kernels"
        self.compile(MODEL, "--f32", *SMALL, "--target", "x86-64-v3", "--dump-phases", phases, "--dump-kernels", kernels)
        names = sorted(p.name for p in phases.iterdir())
        self.assertEqual(names, ["0-import.mlir", "1-raise.mlir", *(f"{i}-{n}-x86-64-v3.mlir" for i, n in
                                                                     enumerate(("fuse", "quantize", "lower", "plan"), 2))])
        self.assertIn("exe.program", (phases / names[-1]).read_text())
        self.assertIn("define", (kernels / "x86-64-v3.ll").read_text())
        self.assertIn(".text", (kernels / "x86-64-v3.s").read_text())

    def test_dumps_into_a_folder_that_cannot_be(self):
        (self.tmp / "file").write_text("")
        out, folder = self.tmp / "m.llmc", self.tmp / "file" / "x"
        for flag in ("--dump-phases", "--dump-kernels"):
            with self.subTest(flag):
                said = self.refused(4, "compile", MODEL, "--f32", *SMALL, "-o", out, flag, folder)
                self.assertIn(f"{flag}: cannot write into folder '{folder}'", said)
                self.assertFalse(out.exists())

    def test_stop_after_each_phase(self):
        for phase, holds in (("import", "onnx.mat_mul"), ("raise", "llm.linear"), ("fuse", "llm.qkv"), ("quantize", "llm.layout"),
                             ("lower", "exe.phase"), ("plan", "arena_bytes"), ("codegen", "exe.program")):
            with self.subTest(phase):
                self.assertIn(holds, self.ok("compile", MODEL, "--f32", *SMALL, "--stop-after", phase).stdout)

    def test_emit_each_form(self):
        for form, target, holds in (("onnx", "native", "onnx.mat_mul"), ("llm", "native", "llm.linear"), ("exe", "native", "exe.program"),
                                    ("llvm", "x86-64-v3", "target triple"), ("asm", "x86-64-v3", ".text"), ("cuda", "sm_80", "__global__")):
            with self.subTest(form):
                self.assertIn(holds, self.ok("compile", MODEL, *SMALL, "--target", target, "--emit", form).stdout)

    def test_emit_against_stop_after(self):
        for form, phase in (("onnx", "raise"), ("llm", "import"), ("exe", "fuse"), ("llvm", "plan")):
            self.assertIn(f"--emit {form} contradicts --stop-after {phase}", self.refused(2, "compile", MODEL, "--emit", form, "--stop-after", phase))
        self.ok("compile", MODEL, *SMALL, "--emit", "llm", "--stop-after", "fuse")
        self.refused(2, "compile", MODEL, "--emit", "exe", "--dry-run")
        self.refused(2, "compile", MODEL, "--emit", "ptx", "--target", "x86-64-v3")

    def test_wrong_nvrtc(self):
        nowhere = self.tmp / "libnvrtc-nowhere.so"
        said = self.refused(5, "compile", MODEL, *SMALL, "--target", "sm_80", "-o", self.tmp / "m.llmc", "--nvrtc", nowhere)
        self.assertIn(str(nowhere), said)

    def test_activations_and_cache_are_recorded_and_count(self):
        exe = lambda *flags: self.ok("compile", MODEL, *SMALL, "--stop-after", "plan", *flags).stdout
        self.assertIn("llm.kv_cache = f16", exe("--f32", "--kv-cache", "f16"))
        self.assertIn("llm.kv_cache = f32", exe("--int8", "--kv-cache", "f32"))
        self.assertNotEqual(exe("--int8", "--activations", "f32"), exe("--int8", "--activations", "int8"))
        self.refused(2, "compile", MODEL, "--f32", "--activations", "int8", "-o", self.tmp / "m.llmc")
        self.refused(2, "compile", MODEL, "--target", "x86-64-v3", "--kv-cache", "int8", "-o", self.tmp / "m.llmc")
        flags = self.inspect(self.compile(MODEL, "--int8", *SMALL, "--activations", "int8", "--kv-cache", "f32"), "--provenance")["provenance"]["flags"]
        self.assertEqual((flags["activations"], flags["kv_cache"], flags["precision"]), ("int8", "f32", "int8"))

    def test_tokenizer_of_another_folder(self):
        folder = self.tmp / "text"
        folder.mkdir()
        bare = self.ok("compile", MODEL, "--f32", "--max-context", "64", "--tokenizer", folder, "-o", self.tmp / "bare.llmc")
        self.assertIn(f"no tokenizer in '{folder}'", bare.stderr)
        (folder / "tokenizer.json").write_bytes((INPUTS / "text" / "smollm2-trimmed.json").read_bytes())
        art = self.compile(MODEL, "--f32", *SMALL, "--tokenizer", folder)
        ids = json.loads(self.ok("tokenize", art, "the", "--json").stdout)["ids"]
        self.assertEqual(json.loads(self.ok("tokenize", folder, "the", "--json").stdout)["ids"], ids)
        self.assertIn("tokenizer.json", [f["name"] for f in self.inspect(art, "--provenance")["provenance"]["inputs"]])

    def test_provenance_says_what_was_chosen_and_from_what(self):
        art = self.compile(MODEL, *SMALL, "--target", "x86-64-v3,x86-64-avx512vnni")
        got = self.inspect(art, "--provenance")["provenance"]
        self.assertEqual(got["flags"]["precision"], "f32")
        self.assertIn("precision   f32,", self.ok("inspect", art).stdout)
        self.assertEqual(sorted(got["cpu_features"]), ["x86-64-avx512vnni", "x86-64-v3"])
        self.assertIn("avx512vnni", got["cpu_features"]["x86-64-avx512vnni"])
        self.assertNotIn("avx512vnni", got["cpu_features"]["x86-64-v3"])
        files = {f["name"]: f for f in got["inputs"]}
        self.assertEqual(files["model.onnx"]["sha256"], hashlib.sha256(MODEL.read_bytes()).hexdigest())
        self.assertNotIn(str(MODEL.parent), json.dumps(got))

    def test_check_tells_what_lowering_refuses(self):
        spec = importlib.util.spec_from_file_location("make_models", INPUTS / "models" / "make_models.py")
        make = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(make)
        except ImportError as missing:
            self.skipTest(str(missing))
        make.DIM = 648  # lanes of one head; kernels take 640
        make.WEIGHTS = make.weights()
        make.INV_FREQ = make.INV_FREQ[:1].repeat(make.DIM // 2)
        wide = self.tmp / "wide.onnx"
        wide.write_bytes(make.llama(18, True).SerializeToString())
        done = llmc("check", wide, "--json")
        self.assertEqual(done.returncode, 3, done.stderr)
        got = json.loads(done.stdout)
        self.assertFalse(got["supported"])
        self.assertIn("648", got["error"])
        self.assertIn("648", self.refused(3, "compile", wide, "--f32", *SMALL, "-o", self.tmp / "m.llmc"))

    @unittest.skipUnless(SLOW, "B79 of test_known_failures.py is the same in f32")
    def test_equal_bytes_from_another_folder(self):
        folder = self.tmp / "copy"
        folder.mkdir()
        (folder / "model.onnx").write_bytes(MODEL.read_bytes())
        here = self.compile(MODEL, "--int8", *SMALL, "-j", "1")
        there = self.compile(folder / "model.onnx", "--int8", *SMALL, "-j", "2", out=self.tmp / "other.llmc")
        self.assertEqual(here.read_bytes(), there.read_bytes())

    def test_inspect_each_part(self):
        art = self.compile(MODEL, "--f32", *SMALL)
        whole = set(self.inspect(art))
        self.assertTrue(whole)
        for part in ("kernels", "launches", "quality", "provenance", "weights", "plan"):
            with self.subTest(part):
                self.assertIsInstance(self.inspect(art, f"--{part}"), dict)
                self.ok("inspect", art, f"--{part}")


if __name__ == "__main__":
    unittest.main()
