// The kernel text with HostCuda.h in place of the inline PTX.
#include "test/support/HostKernels.h"

#include "runtime/base/Hash.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace llmc::test {

static std::string text(const std::string &Path) {
  std::ostringstream Out;
  Out << std::ifstream(Path).rdbuf();
  return Out.str();
}

/// Unpacks the parameters; all are pointers.
static std::string trampoline(const cuda::KernelInstance &K) {
  std::string Types, Values;
  for (size_t I = 0; I != K.Params.size(); ++I) {
    Types += I ? ", void *" : "void *";
    Values += (I ? ", *(void **)P[" : "*(void **)P[") + std::to_string(I) + "]";
  }
  std::string Name = K.Entry;
  return "static void " + Name +
         "_body(void **P) {\n  reinterpret_cast<void (*)(" + Types + ")>(&" +
         Name + ")(" + Values + ");\n}\nextern \"C\" void " + Name +
         "_host(const llmc::test::HostGrid &G, void **P) {\n" +
         "  hostcuda::runGrid(G, " + Name + "_body, P);\n}\n";
}

Result<std::string>
compileForHost(const std::vector<cuda::KernelInstance> &Kernels) {
  std::string Text = cuda::moduleText(Kernels, "the host",
                                      "#include \"test/support/HostCuda.h\"\n");
  for (const cuda::KernelInstance &K : Kernels)
    Text += trampoline(K);
  const std::string Compiler =
      std::string(LLMC_HOST_CXX) +
      " -std=c++17 -O1 -fPIC -shared -ffp-contract=off -fno-strict-aliasing "
      "-fno-stack-protector -mfma -mf16c -w -I" LLMC_SOURCE_DIR " ";
  Sha256 Hash;
  auto Add = [&](const std::string &Part) {
    Hash.update({reinterpret_cast<const uint8_t *>(Part.data()), Part.size()});
  };
  Add(Compiler);
  Add(Text);
  for (const char *Header : {"HostCuda.h", "HostCudaAbi.h", "HostTensor.h"})
    Add(text(std::string(LLMC_SOURCE_DIR "/test/support/") + Header));
  std::filesystem::create_directories(LLMC_HOST_CACHE);
  const std::string Stem =
      std::string(LLMC_HOST_CACHE "/") + hexOf(Hash.finish());
  const std::string Out = Stem + ".so";
  if (std::filesystem::exists(Out))
    return Out;
  // Others may make the same one at the same time.
  const std::string Mine = Stem + "." + std::to_string(getpid());
  std::ofstream(Mine + ".cpp") << Text;
  const std::string Command = Compiler + Mine + ".cpp -o " + Mine + ".so -lm";
  if (std::system(Command.c_str()) != 0)
    return internalError("the kernel text does not compile for the host: " +
                         Command);
  std::filesystem::remove(Mine + ".cpp");
  std::filesystem::rename(Mine + ".so", Out);
  return Out;
}

} // namespace llmc::test
