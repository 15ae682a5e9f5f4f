// lld as a library: one object becomes a shared object without imports.
#include "compiler/target/cpu/Codegen.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace llmc::cpu {
namespace {
Status failed(const llvm::Twine &What, std::error_code EC) {
  return internalError((What + ": " + EC.message()).str());
}
} // namespace

Result<std::vector<uint8_t>> linkImage(llvm::ArrayRef<char> Object) {
  // lld wants real paths; nothing of them reaches the output.
  llvm::SmallString<128> In, Out;
  int Fd = -1;
  if (std::error_code EC =
          llvm::sys::fs::createTemporaryFile("llmc", "o", Fd, In))
    return failed("temporary object file", EC);
  llvm::scope_exit DropIn([&] { llvm::sys::fs::remove(In); });
  {
    llvm::raw_fd_ostream OS(Fd, /*shouldClose=*/true);
    OS.write(Object.data(), Object.size());
    OS.close();
    if (OS.has_error()) {
      std::error_code EC = OS.error();
      OS.clear_error();
      return failed("writing the temporary object file", EC);
    }
  }
  if (std::error_code EC =
          llvm::sys::fs::createTemporaryFile("llmc", "so", Out))
    return failed("temporary image file", EC);
  llvm::scope_exit DropOut([&] { llvm::sys::fs::remove(Out); });

  std::string Messages;
  llvm::raw_string_ostream Err(Messages);
  const char *Args[] = {"ld.lld",
                        "-shared",
                        "-z",
                        "defs",
                        "-z",
                        "now",
                        "-z",
                        "noexecstack",
                        "-z",
                        "max-page-size=4096",
                        "--build-id=none",
                        "--strip-all",
                        "--gc-sections",
                        "--hash-style=gnu",
                        "--threads=1",
                        "-o",
                        Out.c_str(),
                        In.c_str()};
  lld::Result R =
      lld::lldMain(Args, llvm::nulls(), Err, {{lld::Gnu, &lld::elf::link}});
  if (R.retCode != 0)
    return internalError("linking the CPU image failed: " +
                         Messages.substr(0, Messages.find('\n')));
  if (!R.canRunAgain)
    return internalError("the linker cannot run again in this process");

  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> File =
      llvm::MemoryBuffer::getFile(Out, false, false);
  if (!File)
    return failed("reading the temporary image file", File.getError());
  return std::vector<uint8_t>((*File)->getBufferStart(),
                              (*File)->getBufferEnd());
}

} // namespace llmc::cpu
