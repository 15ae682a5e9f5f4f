"""Include arrows between rooms (docs/architecture.md): lists every #include that goes against them.

Also: third-party headers only in the rooms that own them, no `using namespace` in headers.
"""
import re

from common import ROOT, files, finish

BASE, ARTIFACT, TEXT, DEVICE = "runtime/base", "runtime/artifact", "runtime/text", "runtime/device"
DIALECTS = ["dialects/onnx", "dialects/llm", "dialects/exe", "dialects/support"]
# Room -> rooms that it may include (its own is always allowed).
ARROWS = {
    BASE: [],
    ARTIFACT: [BASE],
    TEXT: [BASE],
    DEVICE: [BASE, ARTIFACT],
    "runtime/model": [BASE, ARTIFACT, DEVICE],
    "runtime/engine": [BASE, ARTIFACT, TEXT, DEVICE, "runtime/model"],
    "runtime/api": [BASE, ARTIFACT, TEXT, DEVICE, "runtime/model", "runtime/engine", "runtime/include"],
    "runtime/include": [],
    "runtime/server": ["runtime/include"],
    "compiler/kernels": [BASE, "runtime/device/StepAbi.h"],
    "dialects/onnx": ["dialects/support"],
    "dialects/llm": ["dialects/support"],
    "dialects/exe": ["dialects/support", "compiler/kernels/Catalogue.h"],
    "compiler/weights": [BASE, "compiler/kernels/WeightFormat.h", "compiler/kernels/FragmentFormat.h", "compiler/kernels/Constants.h"],
    "compiler/eval": DIALECTS + [BASE, "compiler/weights", "passes/util"],
    "compiler/frontend": DIALECTS + [BASE, "compiler/weights"],
    "passes": DIALECTS + [BASE, "compiler/eval", "compiler/weights", "compiler/kernels", "runtime/device/StepAbi.h"],
    "compiler/pipeline": DIALECTS + [BASE, "passes", "compiler/kernels", "compiler/eval", "compiler/weights"],
    "compiler/target": DIALECTS + [BASE, ARTIFACT, "compiler/kernels", "compiler/weights", "passes/memory",
                                    "runtime/device/StepAbi.h"],
    "compiler/driver": DIALECTS + [BASE, ARTIFACT, TEXT, "passes", "compiler", "runtime/device/StepAbi.h"],
}
# Third-party header prefix -> rooms that may use it; None: sources only, any room.
OWNERS = {
    r"(llvm|mlir)/": ["dialects", "passes", "compiler/eval", "compiler/frontend", "compiler/pipeline", "compiler/target", "compiler/driver", "tools", "test"],
    r"(lld|llvm/Target|llvm/MC)/": ["compiler/target/cpu"],
    r"google/protobuf|onnx-ml\.pb\.h": ["compiler/frontend/onnx"],
    r"nvrtc\.h|cuda\.h|cuda_runtime": [],
}
SOURCES_ONLY = r"nlohmann/|CLI/|pcre2|utf8proc|google/protobuf|onnx-ml\.pb\.h"
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')


def room_of(path):
    return max((r for r in ARROWS if path == r or path.startswith(r + "/")), key=len, default=None)


def allowed(room, target):
    own = room_of(target)
    if own is None or own == room:
        return True
    return any(target == a or target.startswith(a + "/") for a in ARROWS[room])


def check(path):
    rel = str(path.relative_to(ROOT))
    room, problems = room_of(rel), []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if rel.endswith((".h", ".hpp")) and re.match(r"\s*using namespace", line):
            problems.append(f"{rel}:{number}: using namespace in a header")
        m = INCLUDE.match(line)
        if not m:
            continue
        target = m[2]
        if m[1] == '"' and room and not allowed(room, target):
            problems.append(f"{rel}:{number}: {room} may not include {target}")
        for pattern, owners in OWNERS.items():
            if re.match(pattern, target) and not rel.startswith(tuple(owners) or ("-",)):
                problems.append(f"{rel}:{number}: {target} belongs to {', '.join(owners) or 'nobody'}")
        if rel.endswith((".h", ".hpp")) and re.match(SOURCES_ONLY, target):
            problems.append(f"{rel}:{number}: third-party {target} in a header")
    return problems


finish([p for f in files(".h", ".hpp", ".cpp", ".c", ".cuh") if not str(f.relative_to(ROOT)).startswith("tools/lint") for p in check(f)])
