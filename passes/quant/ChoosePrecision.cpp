// choose-precision: decides, for one target, how every weight is stored, how
// every product treats its activations and what the cache holds. Decisions are
// annotations, so that they can be read and changed between passes; llm-to-exe
// turns them into layouts and constants.
#include "passes/quant/Passes.h"
#include "passes/quant/TargetDesc.h"

#include "compiler/kernels/Constants.h"
#include "compiler/kernels/ProductShape.h"
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
  bool Mma = false; ///< fragment-ordered layouts, f16 or bf16 activations
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
  case Layout::M16F16:
  case Layout::NF16:
    return "f16";
  case Layout::P16BF16:
  case Layout::NBF16:
  case Layout::M16BF16:
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
    if (failed(choose(*Desc, C)))
      return signalPassFailure();
    annotateWeights(C);
    if (failed(annotateOps(C)) || failed(chooseCache(KvCache)))
      return signalPassFailure();
    OpBuilder B(&getContext());
    getOperation()->setAttr("llm.target", B.getStringAttr(target));
    getOperation()->setAttr("llm.precision", B.getStringAttr(label()));
    getOperation()->setAttr("llm.kv_cache", TypeAttr::get(KvCache));
  }

private:
  LogicalResult choose(const TargetDesc &Desc, Choice &C);
  LogicalResult chooseCache(Type &Cache);
  void annotateWeights(const Choice &C);
  llm::WeightOp withLayout(llm::WeightOp W, StringRef Layout,
                           SymbolTable &Symbols);
  LogicalResult annotateOps(const Choice &C);
  std::string layoutOfMatrix(Operation *Op, llm::WeightOp W, const Choice &C,
                             const SymbolTable &Symbols);
  std::string label();

  llvm::SetVector<StringRef> Matrices; ///< layouts in use
  llvm::SetVector<StringRef> Untiled;  ///< of experts without mma products
};

LogicalResult ChoosePrecision::choose(const TargetDesc &Desc, Choice &C) {
  C.Cpu = Desc.Kind == TargetKind::Cpu;
  StringRef P = precision, A = activations;
  C.Mma = !C.Cpu && A != "f32";
  if (P == "int8") {
    C.Matrix = C.Cpu ? "p16.w8b32" : "n.w8b32";
    C.Bits = 8;
  } else if (P == "int4") {
    // Tables lose most by 4 bits and are read once per token.
    C.Matrix = nameOf(C.Cpu ? layoutOf(kernels::Int4Format)
                            : rowsOf(kernels::Int4Format));
    C.Ends = C.Cpu ? "p16.w8b32" : "n.w8b32";
    C.Bits = 4;
  } else if (P == "f32" || P == "f16" || P == "bf16")
    C.Matrix = (C.Cpu ? "p16." : "n.") + P.str();
  else if (P != "file")
    return getOperation().emitError("target ")
           << target << " has no precision '" << P
           << "', expected file, f32, f16, bf16, int8 or int4";

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
  else if (Kv == "int8" && describeTarget(target)->Kind == TargetKind::Cuda)
    Cache = B.getIntegerType(8);
  else if (Kv == "int8")
    return getOperation().emitError("an int8 cache needs a CUDA target, found ")
           << target << ": its caches are f16 or f32";
  else
    return getOperation().emitError("unknown type of the cache '")
           << Kv << "', expected auto, f16, f32 or int8";
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

/// Floats of the file as CUDA's plain kernels read them.
static std::string exactRows(Layout File) {
  return nameOf(File == Layout::P16F16    ? Layout::NF16
                : File == Layout::P16BF16 ? Layout::NBF16
                                          : Layout::NF32);
}

/// Whether W is a table by position that the compiler computed: factors and
/// angles, which no file ever rounded.
static bool isComputed(Operation *Op, llm::WeightOp W,
                       const SymbolTable &Symbols) {
  auto Embed = dyn_cast<llm::EmbedOp>(Op);
  auto Ids = Embed ? dyn_cast<BlockArgument>(Embed.getIds()) : BlockArgument();
  if (!Ids || Ids.getArgNumber() != 1)
    return false;
  return llvm::all_of(
      W.getPieces().getAsRange<llm::PieceAttr>(), [&](llm::PieceAttr Piece) {
        auto Source =
            Symbols.lookup<llm::SourceOp>(Piece.getSource().getValue());
        return Source && Source.getData();
      });
}

std::string ChoosePrecision::layoutOfMatrix(Operation *Op, llm::WeightOp W,
                                            const Choice &C,
                                            const SymbolTable &Symbols) {
  // What the file quantised already is repacked, never rounded again.
  Layout File = fileLayoutOf(W, Symbols);
  if (isComputed(Op, W, Symbols))
    return C.Cpu ? nameOf(File) : exactRows(File);
  bool Kept = isQuantized(File) && formatOf(File).Bits <= C.Bits;
  if (!C.Cpu)
    Kept |= isQuantized(File) && C.Matrix.empty();
  std::string Plain = "n.f16";
  if (Kept)
    Plain = nameOf(C.Cpu ? File : rowsOf(formatOf(File)));
  else if (!C.Ends.empty() && isa<llm::EmbedOp, llm::LogitsOp>(Op))
    Plain = C.Ends;
  else if (!C.Matrix.empty())
    Plain = C.Matrix;
  else if (C.Cpu)
    Plain = nameOf(File);
  else if (!C.Mma) // for checking: nothing is rounded
    Plain = exactRows(File);
  else if (File == Layout::P16BF16)
    Plain = "n.bf16";
  std::optional<Layout> Fragments;
  if (C.Mma && !Untiled.contains(W.getSymName()))
    Fragments = fragmentLayoutOf(*layoutOf(Plain));
  return Fragments ? nameOf(*Fragments) : Plain;
}

/// W in Layout. One that is in use in another (angles that are rows of a table
/// here and the vectors of a rotation there) gets a copy.
llm::WeightOp ChoosePrecision::withLayout(llm::WeightOp W, StringRef Layout,
                                          SymbolTable &Symbols) {
  StringAttr Old = W->getAttrOfType<StringAttr>("llm.layout");
  if (Old && Old.getValue() != Layout) {
    std::string Name = (W.getSymName() + "." + Layout).str();
    llm::WeightOp Copy = Symbols.lookup<llm::WeightOp>(Name);
    if (!Copy) {
      Copy = cast<llm::WeightOp>(W->clone());
      Copy.setSymName(Name);
      Symbols.insert(Copy, std::next(Block::iterator(W)));
    }
    W = Copy;
  }
  StringAttr Id = StringAttr::get(&getContext(), Layout);
  W->setAttr("llm.layout", Id);
  if (Layout != "vec.f32")
    Matrices.insert(Id.getValue());
  return W;
}

/// True for the op's attributes that name a matrix; all others name a vector.
bool isMatrix(Operation *Op, StringRef Attr) {
  return Attr == "weight" && isa<llm::EmbedOp, llm::LinearOp, llm::QkvOp,
                                 llm::ExpertsOp, llm::LogitsOp>(Op);
}

void ChoosePrecision::annotateWeights(const Choice &C) {
  for (llm::WeightOp Op : getOperation().getOps<llm::WeightOp>())
    Op->removeAttr("llm.layout");
  Untiled.clear();
  SymbolTable Symbols(getOperation());
  getOperation().walk([&](llm::ExpertsOp Op) {
    int64_t N = cast<RankedTensorType>(Op.getResult().getType()).getShape()[1];
    if (!kernels::hasExpertTiles(Op.getCombine() ? N
                                                 : N / int64_t(Op.getSlots())))
      Untiled.insert(Op.getWeight());
  });
  SmallVector<Operation *> Users;
  getOperation().walk([&](Operation *Op) {
    if (!isa<llm::WeightOp>(Op) && Op != getOperation())
      Users.push_back(Op);
  });
  for (Operation *Op : Users)
    for (NamedAttribute Attr : llvm::to_vector(Op->getAttrs())) {
      FlatSymbolRefAttr Ref = dyn_cast<FlatSymbolRefAttr>(Attr.getValue());
      llm::WeightOp W =
          Ref ? Symbols.lookup<llm::WeightOp>(Ref.getValue()) : nullptr;
      if (!W)
        continue;
      bool Matrix = isMatrix(Op, Attr.getName());
      std::string Layout =
          Matrix ? layoutOfMatrix(Op, W, C, Symbols) : std::string("vec.f32");
      W = withLayout(W, Layout, Symbols);
      Op->setAttr(Attr.getName(), FlatSymbolRefAttr::get(W));
    }
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
    StringAttr Id = W->getAttrOfType<StringAttr>("llm.layout");
    std::optional<Layout> L = layoutOf(Id.getValue().str());
    bool Mma = L && isFragment(*L);
    Op->setAttr("llm.activations",
                StringAttr::get(&getContext(), Int8   ? "int8"
                                               : !Mma ? "f32"
                                               : *L == Layout::M16BF16
                                                   ? "bf16"
                                                   : "f16"));
  });
  if (C.Activations == "int8" && !Any)
    return getOperation().emitError("int8 activations need integer weights, "
                                    "found ")
           << label();
  return success();
}
} // namespace
} // namespace llmc
