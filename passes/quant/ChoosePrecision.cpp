// choose-precision: decides, for one target, how every weight is stored, how
// every product treats its activations and what the cache holds. Decisions are
// annotations, so that they can be read and changed between passes; llm-to-exe
// turns them into layouts and constants.
#include "passes/quant/Passes.h"
#include "passes/quant/TargetDesc.h"

#include "compiler/kernels/Constants.h"
#include "dialects/llm/LlmDialect.h"
#include "passes/util/WeightForm.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace mlir;

namespace llmc {
#define GEN_PASS_DEF_CHOOSEPRECISION
#include "passes/quant/Passes.h.inc"

namespace {
struct Choice {
  std::string Matrix;    ///< layout id; empty: as the file holds each weight
  std::string Ends;      ///< of embedding and head, when it is another one
  int64_t Bits = 0;      ///< codes of the file of at most that width stay
  StringRef Activations; ///< "f32", "int8" or "auto" (int8 where there is one)
  bool Cpu = true;
};

/// Whether kernels multiply weights of that layout with int8 activations.
bool hasIntegerDot(StringAttr LayoutId) {
  std::optional<Layout> L =
      LayoutId ? layoutOf(LayoutId.getValue().str()) : std::nullopt;
  if (!L)
    return false;
  return kernels::hasIntegerDot(
      *L == Layout::P16W8B32 ? kernels::WI8B32 : static_cast<int64_t>(*L));
}

/// "f32", "f16", "int4": what a user calls a matrix of that layout.
std::string labelOf(Layout L) {
  switch (L) {
  case Layout::P16F16:
  case Layout::NF16:
    return "f16";
  case Layout::P16BF16:
    return "bf16";
  case Layout::P16W8B32:
  case Layout::NW8B32:
    return "int8";
  default:
    break;
  }
  if (!isQuantized(L))
    return "f32";
  kernels::WeightFormat F = formatOf(L);
  if (F.Kind == kernels::CodeKind::Integer)
    return "int" + std::to_string(F.Bits);
  return F.Kind == kernels::CodeKind::Table ? "fp4" : "fp8";
}

class ChoosePrecision : public impl::ChoosePrecisionBase<ChoosePrecision> {
public:
  using ChoosePrecisionBase::ChoosePrecisionBase;

  void runOnOperation() override {
    std::optional<TargetDesc> Desc = describeTarget(target);
    if (!Desc) {
      getOperation().emitError("unknown target '") << target << "'";
      return signalPassFailure();
    }
    Choice C;
    Type KvCache;
    Matrices.clear();
    if (failed(choose(*Desc, C)) || failed(annotateWeights(C)) ||
        failed(annotateOps(C)) || failed(chooseCache(KvCache)))
      return signalPassFailure();
    OpBuilder B(&getContext());
    getOperation()->setAttr("llm.target", B.getStringAttr(target));
    getOperation()->setAttr("llm.precision", B.getStringAttr(label()));
    getOperation()->setAttr("llm.kv_cache", TypeAttr::get(KvCache));
  }

private:
  LogicalResult choose(const TargetDesc &Desc, Choice &C);
  LogicalResult chooseCache(Type &Cache);
  LogicalResult annotateWeights(const Choice &C);
  LogicalResult setLayout(StringRef Weight, StringRef Layout);
  LogicalResult annotateOps(const Choice &C);
  std::string layoutOfMatrix(Operation *Op, llm::WeightOp W, const Choice &C,
                             const SymbolTable &Symbols);
  std::string label();

  llvm::SetVector<StringRef> Matrices; ///< layouts in use
};

LogicalResult ChoosePrecision::choose(const TargetDesc &Desc, Choice &C) {
  C.Cpu = Desc.Kind == TargetKind::Cpu;
  StringRef P = precision, A = activations;
  if (P == "int8") {
    C.Matrix = C.Cpu ? "p16.w8b32" : "n.w8b32";
    C.Bits = C.Cpu ? 8 : 0;
  } else if (P == "int4" && C.Cpu) {
    // Tables lose most by 4 bits and are read once per token.
    C.Matrix = nameOf(layoutOf(kernels::Int4Format));
    C.Ends = "p16.w8b32";
    C.Bits = 4;
  } else if (P == "f32" && C.Cpu)
    C.Matrix = "p16.f32";
  else if (P == "f16")
    C.Matrix = C.Cpu ? "p16.f16" : "n.f16";
  else if (P == "bf16" && C.Cpu)
    C.Matrix = "p16.bf16";
  else if (P != "file")
    return getOperation().emitError("target ")
           << target << " has no precision '" << P << "', expected "
           << (C.Cpu ? "file, f32, f16, bf16, int8 or int4"
                     : "file, f16 or int8");

  if (A != "auto" && A != "f32" && A != "int8")
    return getOperation().emitError("unknown precision of activations '")
           << A << "', expected auto, f32 or int8";
  if (A == "int8" && (!C.Cpu || (P != "int8" && P != "int4" && P != "file")))
    return getOperation().emitError("int8 activations need int8 weights on a "
                                    "CPU target, found ")
           << P << " weights on " << target;
  C.Activations = C.Cpu ? A : "f32";
  return success();
}

LogicalResult ChoosePrecision::chooseCache(Type &Cache) {
  OpBuilder B(&getContext());
  StringRef Kv = kvCache;
  // Exact activations are for checking: the cache is not to show either.
  bool Exact =
      label() == "f32" ||
      (activations == "f32" && describeTarget(target)->Kind == TargetKind::Cpu);
  if (Kv == "f32" || (Kv == "auto" && Exact))
    Cache = B.getF32Type();
  else if (Kv == "f16" || Kv == "auto")
    Cache = B.getF16Type();
  else
    return getOperation().emitError("unknown type of the cache '")
           << Kv << "', expected auto, f16 or f32";
  return success();
}

/// The asked precision, or what the matrices have.
std::string ChoosePrecision::label() {
  if (precision != "file")
    return precision;
  std::set<std::string> Names;
  for (StringRef Id : Matrices)
    Names.insert(labelOf(*layoutOf(Id.str())));
  return Names.empty() ? "f32" : llvm::join(Names, "+");
}

std::string ChoosePrecision::layoutOfMatrix(Operation *Op, llm::WeightOp W,
                                            const Choice &C,
                                            const SymbolTable &Symbols) {
  // What the file quantised already is repacked, never rounded again.
  Layout File = fileLayoutOf(W, Symbols);
  if (C.Bits > 0 && isQuantized(File) && formatOf(File).Bits <= C.Bits)
    return nameOf(File);
  if (!C.Ends.empty() && isa<llm::EmbedOp, llm::LogitsOp>(Op))
    return C.Ends;
  if (!C.Matrix.empty())
    return C.Matrix;
  return C.Cpu ? nameOf(File) : "n.f16";
}

LogicalResult ChoosePrecision::setLayout(StringRef Weight, StringRef Layout) {
  llm::WeightOp Op = getOperation().lookupSymbol<llm::WeightOp>(Weight);
  StringAttr Old = Op->getAttrOfType<StringAttr>("llm.layout");
  if (Old && Old.getValue() != Layout)
    return Op.emitError("weight '") << Weight << "' is used as "
                                    << Old.getValue() << " and as " << Layout;
  StringAttr Id = StringAttr::get(&getContext(), Layout);
  Op->setAttr("llm.layout", Id);
  if (Layout != "vec.f32")
    Matrices.insert(Id.getValue());
  return success();
}

/// True for the op's attributes that name a matrix; all others name a vector.
bool isMatrix(Operation *Op, StringRef Attr) {
  return Attr == "weight" && isa<llm::EmbedOp, llm::LinearOp, llm::QkvOp,
                                 llm::ExpertsOp, llm::LogitsOp>(Op);
}

LogicalResult ChoosePrecision::annotateWeights(const Choice &C) {
  for (llm::WeightOp Op : getOperation().getOps<llm::WeightOp>())
    Op->removeAttr("llm.layout");
  SymbolTable Symbols(getOperation());
  WalkResult Result = getOperation().walk([&](Operation *Op) {
    if (isa<llm::WeightOp>(Op) || Op == getOperation())
      return WalkResult::advance();
    for (NamedAttribute Attr : Op->getAttrs()) {
      FlatSymbolRefAttr Ref = dyn_cast<FlatSymbolRefAttr>(Attr.getValue());
      llm::WeightOp W =
          Ref ? Symbols.lookup<llm::WeightOp>(Ref.getValue()) : nullptr;
      if (!W)
        continue;
      bool Matrix = isMatrix(Op, Attr.getName());
      std::string Layout =
          Matrix ? layoutOfMatrix(Op, W, C, Symbols) : std::string("vec.f32");
      if (failed(setLayout(Ref.getValue(), Layout)))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(Result.wasInterrupted());
}

/// int8 activations where they are wanted and the weights have such kernels.
LogicalResult ChoosePrecision::annotateOps(const Choice &C) {
  bool Any = false;
  getOperation().walk([&](Operation *Op) {
    if (!isa<llm::LinearOp, llm::QkvOp, llm::ExpertsOp, llm::LogitsOp>(Op))
      return;
    FlatSymbolRefAttr Ref = Op->getAttrOfType<FlatSymbolRefAttr>("weight");
    llm::WeightOp W =
        getOperation().lookupSymbol<llm::WeightOp>(Ref.getValue());
    bool Int8 = C.Activations != "f32" &&
                hasIntegerDot(W->getAttrOfType<StringAttr>("llm.layout"));
    Any |= Int8;
    Op->setAttr("llm.activations",
                StringAttr::get(&getContext(), Int8 ? "int8" : "f32"));
  });
  if (C.Activations == "int8" && !Any)
    return getOperation().emitError("int8 activations need integer weights, "
                                    "found ")
           << label();
  return success();
}
} // namespace
} // namespace llmc
