"""Runs one unittest file and writes [name, outcome, detail] per test as JSON: unittest_json.py FILE OUT [TEXT]."""
import importlib.util
import json
import sys
import unittest
from pathlib import Path


class Collect(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.rows = []

    def addSuccess(self, test):
        self.rows.append((test.id(), "pass", ""))

    def addSkip(self, test, reason):
        self.rows.append((test.id(), "skip", reason))

    def addError(self, test, err):
        self.rows.append((test.id(), "fail", self._exc_info_to_string(err, test)))

    def addFailure(self, test, err):
        self.addError(test, err)

    def addSubTest(self, test, subtest, err):
        if err:
            self.addError(subtest, err)


def keep(suite, text):
    """The tests of a suite whose id contains text."""
    tests = [t for s in suite for t in (keep(s, text) if isinstance(s, unittest.TestSuite) else [s]) if not text or text in t.id()]
    return unittest.TestSuite(tests)


def main():
    file, out = Path(sys.argv[1]), Path(sys.argv[2])
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = Collect()
    keep(unittest.defaultTestLoader.loadTestsFromModule(module), sys.argv[3] if len(sys.argv) > 3 else "").run(result)
    out.write_text(json.dumps(result.rows))


main()
