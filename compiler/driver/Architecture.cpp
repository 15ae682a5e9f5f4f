// Counts the ops of the llm dialect by what their attributes say. Attributes
// are read by name: an op that has one more is still described.
#include "compiler/driver/Architecture.h"

#include "dialects/llm/LlmDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace llmc {
using namespace mlir;
using Json = nlohmann::ordered_json;

namespace {
std::string number(int64_t N) { return std::to_string(N); }

std::optional<int64_t> integer(Operation *Op, StringRef Name) {
  IntegerAttr A = Op->getAttrOfType<IntegerAttr>(Name);
  return A ? std::optional<int64_t>(A.getInt()) : std::nullopt;
}

/// "3", "0.125", "yes".
std::string valueText(Attribute A) {
  if (FloatAttr F = dyn_cast<FloatAttr>(A)) {
    char Text[32];
    std::snprintf(Text, sizeof(Text), "%.6g", F.getValueAsDouble());
    return Text;
  }
  if (BoolAttr B = dyn_cast<BoolAttr>(A))
    return B.getValue() ? "yes" : "no";
  IntegerAttr I = dyn_cast<IntegerAttr>(A);
  return I ? number(I.getInt()) : "";
}

std::string normKind(Operation *Op) {
  std::optional<llm::NormKind> K = llm::symbolizeNormKind(
      static_cast<uint64_t>(integer(Op, "kind").value_or(0)));
  return K ? llm::stringifyNormKind(*K).str() : "norm";
}

std::string activationKind(Operation *Op) {
  std::optional<llm::ActivationKind> K = llm::symbolizeActivationKind(
      static_cast<uint64_t>(integer(Op, "kind").value_or(0)));
  return K ? llm::stringifyActivationKind(*K).str() : "unknown";
}

class Reader {
public:
  explicit Reader(ModuleOp M) : M(M) {}

  Architecture run() {
    for (llm::StateOp S : M.getOps<llm::StateOp>()) {
      std::string Text = S.getKind().str() + ", " + number(S.getKvHeads()) +
                         " heads of " + number(S.getHeadDim());
      if (S.getVHeadDim() != S.getHeadDim())
        Text += " and " + number(S.getVHeadDim());
      count(Out.States, Text);
    }
    for (llm::SourceOp S : M.getOps<llm::SourceOp>())
      addWeight(cast<RankedTensorType>(S.getType()), S->getAttr("length"));
    if (DictionaryAttr Model = M->getAttrOfType<DictionaryAttr>("llm.model")) {
      Out.Vocab = entry(Model, "vocab");
      Out.Hidden = entry(Model, "hidden");
      Out.Positions = entry(Model, "max_positions");
    }
    for (func::FuncOp F : M.getOps<func::FuncOp>())
      F.walk([&](Operation *Op) { visit(Op); });
    return std::move(Out);
  }

private:
  static int64_t entry(DictionaryAttr D, StringRef Name) {
    IntegerAttr A = D.getAs<IntegerAttr>(Name);
    return A ? A.getInt() : 0;
  }

  static void count(Architecture::Kinds &Kinds, const std::string &Text) {
    for (std::pair<std::string, unsigned> &K : Kinds)
      if (K.first == Text) {
        ++K.second;
        return;
      }
    Kinds.push_back({Text, 1});
  }

  void addWeight(RankedTensorType T, Attribute Length) {
    std::string Name;
    llvm::raw_string_ostream(Name) << T.getElementType();
    std::pair<unsigned, uint64_t> &Entry = Out.Weights[Name];
    ++Entry.first;
    if (IntegerAttr Bytes = dyn_cast_or_null<IntegerAttr>(Length))
      Entry.second += static_cast<uint64_t>(Bytes.getInt());
  }

  void visit(Operation *Op) {
    StringRef Name = Op->getName().getStringRef();
    if (!Name.consume_front("llm."))
      return;
    if (Name == "attention")
      attention(Op);
    else if (Name == "rope")
      rotary(Op);
    else if (Name == "norm")
      norm(Op);
    else if (Name == "activation" || Name == "glu")
      count(Out.Activations, Name.str() + " " + activationKind(Op));
    else if (!llvm::is_contained({"embed", "linear", "add", "scale", "logits",
                                  "kv_write", "rope_table"},
                                 Name))
      count(Out.Others, Name.str());
  }

  void attention(Operation *Op) {
    ++Out.Layers;
    std::string Text = number(integer(Op, "heads").value_or(0)) + " heads";
    FlatSymbolRefAttr State = Op->getAttrOfType<FlatSymbolRefAttr>("state");
    llm::StateOp S =
        State ? M.lookupSymbol<llm::StateOp>(State.getValue()) : llm::StateOp();
    if (S)
      Text += " on " + number(S.getKvHeads()) + " KV heads of " +
              number(S.getHeadDim());
    for (NamedAttribute A : Op->getAttrs()) {
      StringRef Name = A.getName();
      bool Off =
          Name == "heads" || Name == "state" || Name == "operandSegmentSizes";
      if (IntegerAttr I = dyn_cast<IntegerAttr>(A.getValue()))
        Off |= I.getInt() == 0;
      if (FloatAttr F = dyn_cast<FloatAttr>(A.getValue()))
        Off |= F.getValueAsDouble() == 0;
      if (Off)
        continue;
      Text += ", " + Name.str();
      // Tables of slopes and sinks are said to be there, not listed.
      if (isa<IntegerAttr, FloatAttr>(A.getValue()))
        Text += " " + valueText(A.getValue());
    }
    count(Out.Attention, Text);
  }

  void rotary(Operation *Op) {
    bool Pairs = false;
    if (BoolAttr B = Op->getAttrOfType<BoolAttr>("interleaved"))
      Pairs = B.getValue();
    std::string Text = Pairs ? "pairs" : "halves";
    int64_t Half = integer(Op, "rotary_half").value_or(0),
            Size = integer(Op, "head_dim").value_or(0);
    Text += ", " + number(2 * Half) + " of " + number(Size);
    Operation *Table =
        Op->getNumOperands() > 1 ? Op->getOperand(1).getDefiningOp() : nullptr;
    if (Table)
      Text += Table->getAttr("freq") ? ", from frequencies" : ", from tables";
    // Queries and keys rotate alike: one line per layer.
    if (Text == LastRotary && ++Repeated == 1)
      return;
    Repeated = 0;
    LastRotary = Text;
    count(Out.Rotary, Text);
  }

  void norm(Operation *Op) {
    std::string Text = normKind(Op);
    if (integer(Op, "heads").value_or(1) > 1)
      Text += " per head";
    if (!Op->getAttr("gain"))
      Text += " without weight";
    if (Op->getAttr("bias"))
      Text += " with bias";
    count(Out.Norms, Text);
  }

  ModuleOp M;
  Architecture Out;
  std::string LastRotary;
  unsigned Repeated = 0;
};

void addLines(std::string &Out, const char *Title,
              const Architecture::Kinds &Kinds) {
  for (const auto &[Text, Count] : Kinds)
    Out += llvm::formatv("  {0,-9}{1} x {2}\n", Title, Count, Text).str();
}

Json kindsJson(const Architecture::Kinds &Kinds) {
  Json Out = Json::array();
  for (const auto &[Text, Count] : Kinds)
    Out.push_back({{"kind", Text}, {"count", Count}});
  return Out;
}
} // namespace

Architecture architectureOf(ModuleOp Module) { return Reader(Module).run(); }

std::string architectureText(const Architecture &A) {
  if (!A.known())
    return "";
  std::string Out = "  model    " + number(A.Layers) + " layers, hidden " +
                    number(A.Hidden) + ", vocabulary " + number(A.Vocab);
  if (A.Positions)
    Out += ", " + number(A.Positions) + " positions";
  Out += "\n";
  addLines(Out, "layers", A.Attention);
  addLines(Out, "rotary", A.Rotary);
  addLines(Out, "norm", A.Norms);
  addLines(Out, "activate", A.Activations);
  addLines(Out, "cache", A.States);
  addLines(Out, "other", A.Others);
  for (const auto &[Type, Size] : A.Weights)
    Out += llvm::formatv("  weight   {0} x {1}, {2} bytes\n", Size.first, Type,
                         Size.second)
               .str();
  return Out;
}

std::string architectureJson(const Architecture &A) {
  Json Weights = Json::array();
  for (const auto &[Type, Size] : A.Weights)
    Weights.push_back(
        {{"type", Type}, {"tensors", Size.first}, {"bytes", Size.second}});
  Json Out = {{"layers", A.Layers},
              {"hidden", A.Hidden},
              {"vocab", A.Vocab},
              {"positions", A.Positions},
              {"attention", kindsJson(A.Attention)},
              {"rotary", kindsJson(A.Rotary)},
              {"norms", kindsJson(A.Norms)},
              {"activations", kindsJson(A.Activations)},
              {"states", kindsJson(A.States)},
              {"other", kindsJson(A.Others)},
              {"weights", Weights}};
  return Out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace llmc
