"""libllmc.so from C: it loads, reports errors with a message, exports llmc_* only, and needs none of the compiler's libraries."""
import ctypes
import subprocess
import unittest

from common import BIN, E2E, INPUTS

LIBRARY = BIN.parent / "lib" / "libllmc.so"
MODEL = INPUTS / "models" / "tiny-llama-sdpa" / "model.onnx"


class Library(E2E):
    def load(self):
        lib = ctypes.CDLL(str(LIBRARY))
        lib.llmc_model_load.restype = ctypes.c_void_p
        lib.llmc_error_message.restype = ctypes.c_char_p
        return lib

    def test_model_loads_and_errors_have_a_message(self):
        lib, model = self.load(), ctypes.c_void_p()
        art = self.compile(MODEL, "--f32", "--max-context", "64")
        self.assertIsNone(lib.llmc_model_load(str(art).encode(), None, ctypes.byref(model)))
        lib.llmc_model_destroy(model)
        error = lib.llmc_model_load(b"nowhere.llmc", None, ctypes.byref(model))
        self.assertIn(b"nowhere.llmc", lib.llmc_error_message(ctypes.c_void_p(error)))
        lib.llmc_error_destroy(ctypes.c_void_p(error))

    def test_null_is_an_error_not_a_crash(self):
        lib, out = self.load(), ctypes.c_void_p()
        lib.llmc_tokenizer_load.restype = ctypes.c_void_p
        for call in (lib.llmc_model_load(None, None, ctypes.byref(out)), lib.llmc_model_load(b"x.llmc", None, None),
                     lib.llmc_tokenizer_load(None, ctypes.byref(out))):
            self.assertIn(b"null", lib.llmc_error_message(ctypes.c_void_p(call)))
            lib.llmc_error_destroy(ctypes.c_void_p(call))

    def test_exports_only_the_api(self):
        names = subprocess.run(["nm", "-D", "--defined-only", str(LIBRARY)], capture_output=True, text=True).stdout.split()[2::3]
        self.assertTrue(names)
        self.assertEqual([n for n in names if not n.startswith("llmc_")], [])


if __name__ == "__main__":
    unittest.main()
