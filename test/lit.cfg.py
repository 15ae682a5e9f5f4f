# lit: every .mlir file below test/ is a test, but for Inputs folders.
# `--param slow=1` adds the tests that say `REQUIRES: slow`.
import os

import lit.formats

config.name = "llmc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join(
    [config.llmc_bin, config.llvm_tools, os.environ.get("PATH", "")])
config.substitutions.append(
    ("%inputs", os.path.join(config.test_source_root, "Inputs")))

if lit_config.params.get("slow"):
    config.available_features.add("slow")
for tool in ("llmc-import", "llmc-compile", "llmc-run"):
    if os.path.exists(os.path.join(config.llmc_bin, tool)):
        config.available_features.add(tool)
