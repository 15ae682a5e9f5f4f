// The limits of the CPU kernels, checked before code is made for them.
#include "compiler/kernels/Catalogue.h"
#include "compiler/kernels/WeightFormat.h"
#include "compiler/kernels/cpu/Scratch.h"
#include "compiler/target/cpu/StepBuilder.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace llmc::cpu {
namespace {
/// Constants of a phase by name; 0 for those the kernel does not have.
class Constants {
public:
  explicit Constants(exe::PhaseOp P) : Phase(P) {}
  bool has(llvm::StringRef Name) {
    return static_cast<bool>(Phase.getConsts().getAs<mlir::IntegerAttr>(Name));
  }
  int64_t operator[](llvm::StringRef Name) {
    auto A = Phase.getConsts().getAs<mlir::IntegerAttr>(Name);
    return A ? A.getInt() : 0;
  }
  Status fail(llvm::StringRef What, int64_t Expected, int64_t Found) {
    return unsupportedError("kernel '" + Phase.getKernel().str() +
                            "' on the cpu: expected " + What.str() + " " +
                            std::to_string(Expected) + ", found " +
                            std::to_string(Found));
  }

private:
  exe::PhaseOp Phase;
};

/// The slot of the phase's buffer of that name; null when it has none.
exe::SlotOp slotOf(exe::PhaseOp Phase, std::string_view Buffer) {
  const kernels::KernelInfo *Info = kernels::findKernel(Phase.getKernel());
  exe::ProgramOp Program = Phase->getParentOfType<exe::ProgramOp>();
  if (!Info || Info->Buffers.size() != Phase.getBuffers().size())
    return {};
  for (auto [Name, Attr] : llvm::zip_equal(Info->Buffers, Phase.getBuffers())) {
    auto Buf = mlir::cast<exe::BufferAttr>(Attr);
    if (Name == Buffer && Buf.getKind() == exe::BufferKind::slot)
      return mlir::dyn_cast_or_null<exe::SlotOp>(
          mlir::SymbolTable::lookupSymbolIn(Program, Buf.getSym()));
  }
  return {};
}

/// Slots hold what the kernel writes into them beyond its output.
Status checkScratch(exe::PhaseOp Phase, Constants &C) {
  if (exe::SlotOp Xq = slotOf(Phase, "xq")) {
    int64_t Needed = kernels::xqBytesPerToken(C["k"], C["xpolicy"]);
    if (Phase.getKernel() == "experts" && C["combine"])
      Needed *= C["slots"];
    if (Phase.getKernel() == "rowwise")
      Needed = 4 * C["scratch"];
    if (Xq.getPerToken() < Needed)
      return C.fail("xq bytes per token", Needed, Xq.getPerToken());
  }
  if (exe::SlotOp Partial = slotOf(Phase, "partial")) {
    exe::ProgramOp Program = Phase->getParentOfType<exe::ProgramOp>();
    int64_t Needed = kernels::attentionPartialBytes(C["heads"], C["v_head_dim"],
                                                    Program.getMaxContext());
    if (Partial.getFixed() < Needed)
      return C.fail("fixed partial bytes", Needed, Partial.getFixed());
  }
  return Status::success();
}
} // namespace

Status checkPhase(exe::PhaseOp Phase) {
  Constants C(Phase);
  if (C.has("wtype")) {
    int64_t Type = C["wtype"];
    if (Type < kernels::WF32)
      return C.fail("wtype at least", kernels::WF32, Type);
    if (!kernels::isQuantized(Type) && Type > kernels::WBF16)
      return C.fail("wtype at most", kernels::WBF16, Type);
    if (kernels::isQuantized(Type) &&
        kernels::numberOf(kernels::formatOf(Type)) != Type)
      return C.fail("wtype of a packed format",
                    kernels::numberOf(kernels::formatOf(Type)), Type);
    if (C["xpolicy"] != kernels::XF32 && !kernels::hasIntegerDot(Type))
      return C.fail("for its wtype xpolicy", kernels::XF32, C["xpolicy"]);
  }
  if (C.has("kvtype") && C["kvtype"] != kernels::KvF32 &&
      C["kvtype"] != kernels::KvF16)
    return C.fail("kvtype 0 (f32) or", kernels::KvF16, C["kvtype"]);
  for (llvm::StringRef Dim : {"head_dim", "v_head_dim"})
    if (C[Dim] > kernels::MaxHeadDim)
      return C.fail((Dim + " at most").str(), kernels::MaxHeadDim, C[Dim]);
  if (C.has("kv_heads") && C.has("heads") &&
      (C["kv_heads"] <= 0 || C["heads"] % C["kv_heads"] != 0))
    return C.fail("heads to be a multiple of", C["kv_heads"], C["heads"]);
  if (C["rotary_half"] * 2 > C["head_dim"] && C.has("head_dim"))
    return C.fail("2 * rotary_half at most", C["head_dim"],
                  2 * C["rotary_half"]);
  if (Phase.getKernel() == "linear" && C["glu"] != 0 && C["n"] % 32 != 0)
    return C.fail("for a glu n to be a multiple of", 32, C["n"]);
  return checkScratch(Phase, C);
}

} // namespace llmc::cpu
