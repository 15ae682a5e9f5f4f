// libFuzzer target of the importer: bytes in, module or refusal out.
//
//   cmake -S . -B build/fuzz -G Ninja -DCMAKE_PREFIX_PATH=/usr/lib/llvm-22 \
//         -DCMAKE_CXX_COMPILER=clang++-22 -DLLMC_FUZZ=ON
//   ninja -C build/fuzz ImportFuzzer
//   build/fuzz/test/fuzz/ImportFuzzer -max_len=8192 CORPUS test/Inputs/import
#include "compiler/frontend/onnx/Import.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

using namespace llmc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  int Fd = ::memfd_create("model.onnx", 0);
  if (Fd < 0 || ::write(Fd, Data, Size) != static_cast<ssize_t>(Size))
    std::abort();
  {
    mlir::MLIRContext Context(mlir::MLIRContext::Threading::DISABLED);
    WeightStore Store;
    Result<mlir::OwningOpRef<mlir::ModuleOp>> R =
        importOnnx(Context, "/proc/self/fd/" + std::to_string(Fd), {}, Store);
    // A bug of ours is a finding, too.
    if (!R.ok() && R.status().code() == StatusCode::Internal)
      std::abort();
  }
  ::close(Fd);
  return 0;
}
