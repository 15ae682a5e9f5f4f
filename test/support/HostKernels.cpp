// The kernel text with HostCuda.h in place of the inline PTX.
#include "test/support/HostKernels.h"

#include <cstdlib>
#include <fstream>

namespace llmc::test {

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
compileForHost(const std::vector<cuda::KernelInstance> &Kernels,
               const std::string &Folder) {
  std::string Text = cuda::moduleText(Kernels, "the host",
                                      "#include \"test/support/HostCuda.h\"\n");
  for (const cuda::KernelInstance &K : Kernels)
    Text += trampoline(K);
  std::string Source = Folder + "/kernels.cpp", Out = Folder + "/kernels.so";
  std::ofstream(Source) << Text;
  std::string Command = std::string(LLMC_HOST_CXX) +
                        " -std=c++17 -O1 -fPIC -shared -ffp-contract=off "
                        "-fno-strict-aliasing -fno-stack-protector "
                        "-mfma -mf16c -w -I" +
                        LLMC_SOURCE_DIR + " " + Source + " -o " + Out + " -lm";
  if (std::system(Command.c_str()) != 0)
    return internalError("the kernel text does not compile for the host: " +
                         Command);
  return Out;
}

} // namespace llmc::test
