"""Compiles the kernel text of a real model (llmc compile --dump-kernels DIR) for the host, to run it without a GPU.

    host_kernels.py sm_80.cu OUT.so

Then LLMC_CUDASIM=build/release/test/support/llmc-fake-cuda.so LLMC_FAKE_HOST=OUT.so llmc run ART --device cuda-sim …
runs the artifact through the CUDA runtime and the stand-in driver. Slow (seconds a token), and no proof of the PTX.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def host_text(text):
    """The text with HostCuda.h in place of the inline PTX, and a HostKernel per entry."""
    end = text.index("// What every generated kernel shares")
    out = ['#include "test/support/HostCuda.h"\n', text[end:]]
    for name, params in re.findall(r'extern "C" __global__ void __launch_bounds__\([^)]*\)\s*(\w+)\(([^)]*)\)', text):
        count = params.count(",") + 1
        types = ", ".join(["void *"] * count)
        values = ", ".join(f"*(void **)P[{i}]" for i in range(count))
        out.append(f"static void {name}_body(void **P) {{ reinterpret_cast<void (*)({types})>(&{name})({values}); }}\n"
                   f'extern "C" void {name}_host(const llmc::test::HostGrid &G, void **P) {{ hostcuda::runGrid(G, {name}_body, P); }}\n')
    return "".join(out)


def main():
    source, library = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as tmp:
        file = Path(tmp) / "kernels.cpp"
        file.write_text(host_text(Path(source).read_text()))
        subprocess.run(["c++", "-std=c++17", "-O2", "-fPIC", "-shared", "-ffp-contract=off", "-fno-strict-aliasing",
                        "-fno-stack-protector", "-mfma", "-mf16c", "-mavx2", "-w", f"-I{ROOT}", str(file), "-o", library, "-lm"], check=True)


main()
