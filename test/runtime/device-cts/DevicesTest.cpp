// The conformance suite on every device: the CPU; CUDA and the simulator where
// they are; and the CUDA runtime over the stand-in driver, with the kernel text
// compiled for the host ("cuda-host"), which is everywhere. The fast set
// (LLMC_SLOW unset) runs cuda-host only where there is no simulator, with int8
// weights.
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/target/cuda/EmitCuda.h"
#include "compiler/target/cuda/Nvrtc.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "runtime/artifact/Program_generated.h"
#include "runtime/device/StepAbi.h"
#include "runtime/device/cts/Conformance.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "test/support/HostKernels.h"
#include "test/support/TinyModel.h"

#include <cstring>

using namespace llmc;
using namespace llmc::cts;
using llmc::test::TinyKind;
using llmc::test::TinyModel;
using llmc::test::TinyOptions;

namespace {

/// What a program borrows.
struct Bytes {
  explicit Bytes(const TinyOptions &O) : Model(O) {
    // The weights at an aligned address, as in a mapped artifact.
    Aligned.reset(static_cast<uint8_t *>(std::aligned_alloc(
        4096, (Model.weights().size() + 4095) / 4096 * 4096)));
    std::memcpy(Aligned.get(), Model.weights().data(), Model.weights().size());
    Context.loadDialect<exe::ExeDialect>();
    Module = mlir::parseSourceString<mlir::ModuleOp>(Model.mlir(), &Context);
  }
  exe::ProgramOp program() { return *Module->getOps<exe::ProgramOp>().begin(); }

  struct Free {
    void operator()(uint8_t *P) const { std::free(P); }
  };
  TinyModel Model;
  std::unique_ptr<uint8_t[], Free> Aligned;
  mlir::MLIRContext Context;
  mlir::OwningOpRef<mlir::ModuleOp> Module;
  std::vector<uint8_t> Program, Code;
  std::string Ptx;
};

TestProgram finish(std::shared_ptr<Bytes> B, double Tolerance) {
  TestProgram P;
  P.View.Target = B->Model.options().Target;
  P.View.Program = B->Program;
  P.View.Code = B->Code;
  P.View.Ptx = {reinterpret_cast<const uint8_t *>(B->Ptx.data()),
                B->Ptx.size()};
  P.View.Weights = {B->Aligned.get(), B->Model.weights().size()};
  P.Reference = [B](const std::vector<int32_t> &Tokens) {
    return B->Model.reference(Tokens);
  };
  P.Tolerance = Tolerance;
  P.Owner = std::move(B);
  return P;
}

/// The sizes of a CPU program; its code is all in the image.
std::vector<uint8_t> cpuProgram(exe::ProgramOp P, const TinyModel &M) {
  flatbuffers::FlatBufferBuilder B;
  const TinyOptions &O = M.options();
  std::vector<uint32_t> Buckets(P.getBuckets().begin(), P.getBuckets().end());
  std::vector<uint64_t> Arena(P.getArenaBytes().begin(),
                              P.getArenaBytes().end());
  uint64_t PageBytes =
      static_cast<uint64_t>(O.Layers * O.KvHeads * 2 * O.HeadDim *
                            M.pageTokens() * (O.KvF32 ? 4 : 2));
  std::vector<flatbuffers::Offset<fb::KvState>> States = {
      fb::CreateKvStateDirect(
          B, "kv", static_cast<uint32_t>(O.Layers),
          static_cast<uint32_t>(O.KvHeads), static_cast<uint32_t>(O.HeadDim),
          static_cast<uint32_t>(O.HeadDim),
          static_cast<uint8_t>(O.KvF32 ? DType::F32 : DType::F16))};
  B.Finish(fb::CreateProgramDirect(
               B, O.Target.c_str(), "x86", LLMC_STEP_ABI, &Buckets, &Arena,
               Buckets.back(), static_cast<uint32_t>(O.MaxSequences),
               static_cast<uint32_t>(O.MaxContext),
               static_cast<uint32_t>(O.Vocab), static_cast<uint32_t>(O.Hidden),
               M.weights().size(), static_cast<uint32_t>(M.pageTokens()),
               PageBytes, static_cast<uint32_t>(M.pages()), &States),
           fb::ProgramIdentifier());
  return {B.GetBufferPointer(), B.GetBufferPointer() + B.GetSize()};
}

Result<TestProgram> makeCpu() {
  TinyOptions O;
  O.Kind = TinyKind::CpuF32;
  O.Target = "x86-64-v3";
  std::shared_ptr<Bytes> B = std::make_shared<Bytes>(O);
  LLMC_ASSIGN_OR_RETURN(B->Code, cpu::emitCpuImage(B->program()));
  B->Program = cpuProgram(B->program(), B->Model);
  return finish(std::move(B), 2e-4);
}

Result<TestProgram> makeCuda(TinyKind Kind) {
  TinyOptions O;
  O.Kind = Kind;
  std::shared_ptr<Bytes> B = std::make_shared<Bytes>(O);
  LLMC_ASSIGN_OR_RETURN(cuda::CudaProgram P, cuda::emitCuda(B->program(), {}));
  B->Program = P.programBytes();
  B->Code = std::move(P.Cubin);
  B->Ptx = std::move(P.Ptx);
  return finish(std::move(B), 2e-4);
}

Result<TestProgram> makeCudaHost(TinyKind Kind) {
  const char *Slow = std::getenv("LLMC_SLOW");
  if ((!Slow || !*Slow) &&
      (Kind != TinyKind::CudaI8 ||
       (openDevice("cuda-sim").ok() && cuda::Nvrtc::open("").ok())))
    return doesNotFitError("kernels on the host are in the slow set");
  TinyOptions O;
  O.Kind = Kind;
  std::shared_ptr<Bytes> B = std::make_shared<Bytes>(O);
  LLMC_ASSIGN_OR_RETURN(cuda::ExportedLaunches E,
                        cuda::exportLaunches(B->program()));
  LLMC_ASSIGN_OR_RETURN(std::string Library, test::compileForHost(E.Kernels));
  std::string Code = "HOST:" + Library;
  B->Code.assign(Code.c_str(), Code.c_str() + Code.size() + 1);
  B->Program = cuda::toFlatBuffer(E.Program);
  return finish(std::move(B), 2e-4);
}

/// Makes a program once for all tests of a device, whose number is Slot.
/// (gtest evaluates the list of cases anew for every test.)
template <int Slot, typename Fn>
std::function<Result<TestProgram>()> once(Fn Make) {
  return [Make] {
    static Result<TestProgram> Made = Make();
    return Made;
  };
}

Result<std::unique_ptr<Device>> openHost() {
  return cuda::CudaDevice::open("cuda-host", LLMC_FAKE_CUDA, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Devices, DeviceConformance,
    testing::Values(
        DeviceCase{"cpu", [] { return openDevice("cpu"); }, once<1>(makeCpu)},
        DeviceCase{"cuda", [] { return openDevice("cuda"); },
                   once<2>([] { return makeCuda(TinyKind::CudaF16); })},
        DeviceCase{"cuda_int8", [] { return openDevice("cuda"); },
                   once<3>([] { return makeCuda(TinyKind::CudaI8); })},
        DeviceCase{"cuda_sim", [] { return openDevice("cuda-sim"); },
                   once<4>([] { return makeCuda(TinyKind::CudaF16); })},
        DeviceCase{"cuda_sim_int8", [] { return openDevice("cuda-sim"); },
                   once<5>([] { return makeCuda(TinyKind::CudaI8); })},
        DeviceCase{"cuda_host", openHost,
                   once<6>([] { return makeCudaHost(TinyKind::CudaF16); })},
        DeviceCase{"cuda_host_int8", openHost,
                   once<7>([] { return makeCudaHost(TinyKind::CudaI8); })}),
    [](const testing::TestParamInfo<DeviceCase> &I) { return I.param.Name; });

} // namespace
