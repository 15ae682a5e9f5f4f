"""Runs one unittest file, or share i of n of its tests, and writes [name, outcome, detail, seconds] per test as JSON:
unittest_json.py FILE OUT I/N [TEXT]. Seconds are of processor time, those of the programs that a test waited for included."""
import importlib.util
import json
import resource
import sys
import unittest
from pathlib import Path


def processor_time():
    """Seconds of this process and of the children it waited for."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


class Collect(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.rows = []
        self.began = processor_time()

    def add(self, test, outcome, detail=""):
        now = processor_time()
        self.rows.append((test.id(), outcome, detail, now - self.began))
        self.began = now

    def addSuccess(self, test):
        self.add(test, "pass")

    def addSkip(self, test, reason):
        self.add(test, "skip", reason)

    def addError(self, test, err):
        self.add(test, "fail", self._exc_info_to_string(err, test))

    def addFailure(self, test, err):
        self.addError(test, err)

    def addSubTest(self, test, subtest, err):
        if err:
            self.addError(subtest, err)


def tests_of(suite, module, text):
    """The tests of a suite whose id contains text; not those of classes that the module imports."""
    for s in suite:
        if isinstance(s, unittest.TestSuite):
            yield from tests_of(s, module, text)
        elif text in s.id() and type(s).__module__ in (module, "unittest.loader"):
            yield s


def main():
    file, out = Path(sys.argv[1]), Path(sys.argv[2])
    index, shares = map(int, sys.argv[3].split("/"))
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = Collect()
    tests = list(tests_of(unittest.defaultTestLoader.loadTestsFromModule(module), file.stem, sys.argv[4] if len(sys.argv) > 4 else ""))
    unittest.TestSuite(tests[index::shares]).run(result)
    out.write_text(json.dumps(result.rows))


main()
