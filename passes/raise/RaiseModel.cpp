// From the padded graph to the token-major step function. The logits are
// followed back to the token ids; every op on the way must be an llm op or one
// that means nothing for single rows (reshapes, choice of rows). Batch,
// padding, masks, cache inputs and outputs are not on that way and disappear.
//
// Whatever else is met is reported, all of it, by the name of its node.
// Long because every op of the padded graph has its step form here.
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Roles.h"
#include "passes/raise/RowChoice.h"
#include "passes/raise/TokenRows.h"
#include "passes/util/Rounding.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

namespace llmc::raise {
#define GEN_PASS_DEF_RAISEMODEL
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

/// How the graph ends: logits = cap(multiplier * head(x)), or the rows X of a
/// graph without a head.
struct Ending {
  llm::LinearOp Head;
  Value X;
  double Multiplier = 1, Softcap = 0;
  SmallVector<Operation *> Tail; ///< ops between head and output
};

/// c of c * tanh(x / c) and x; nothing if Mul is not that.
std::optional<std::pair<double, Value>> softcapOf(onnx::MulOp Mul) {
  std::optional<double> C;
  Value Rest = other(Mul, [&](Value V) { return bool(C = scalar(V)); });
  auto Tanh = Rest ? producer<onnx::TanhOp>(Rest) : onnx::TanhOp();
  if (!Tanh)
    return std::nullopt;
  if (auto Div = producer<onnx::DivOp>(Tanh.getInput());
      Div && isScalar(Div.getRhs(), *C))
    return std::make_pair(*C, Div.getLhs());
  if (auto Inner = producer<onnx::MulOp>(Tanh.getInput()))
    if (Value X = other(Inner, [&](Value V) { return isScalar(V, 1 / *C); }))
      return std::make_pair(*C, X);
  return std::nullopt;
}

std::optional<Ending> endingOf(Value V) {
  Ending Out;
  for (int Steps = 0; Steps < 32; ++Steps) {
    Operation *Op = V.getDefiningOp();
    if (!Op)
      return std::nullopt;
    Out.Tail.push_back(Op);
    if (auto Linear = dyn_cast<llm::LinearOp>(Op)) {
      Out.Tail.pop_back();
      Out.Head = Linear;
      Out.X = Linear.getX();
      return Out;
    }
    if (keepsRows(Op)) {
      V = Op->getOperand(0);
      continue;
    }
    if (auto Mul = dyn_cast<onnx::MulOp>(Op)) {
      if (auto Cap = softcapOf(Mul);
          Cap && Out.Softcap == 0 && Out.Multiplier == 1) {
        std::tie(Out.Softcap, V) = *Cap;
        continue;
      }
      std::optional<double> C;
      V = other(Mul, [&](Value W) { return bool(C = scalar(W)); });
      if (!V)
        return std::nullopt;
      Out.Multiplier *= *C;
      continue;
    }
    auto Div = dyn_cast<onnx::DivOp>(Op);
    std::optional<double> C = Div ? scalar(Div.getRhs()) : std::nullopt;
    if (!C || *C == 0)
      return std::nullopt;
    Out.Multiplier /= *C;
    V = Div.getLhs();
  }
  return std::nullopt;
}

/// Whether Op looks learned positions up.
bool isPositions(llm::EmbedOp Op) {
  return isa_and_nonnull<llm::PaddedPositionsOp>(Op.getIds().getDefiningOp());
}

/// Builds @step from the padded function.
class Stepper {
public:
  Stepper(ModuleOp TheModule, func::FuncOp TheMain)
      : Module(TheModule), Main(TheMain), R(TheMain),
        Context(TheModule.getContext()), B(TheModule.getContext()) {}

  LogicalResult run();

private:
  int64_t vocabulary();
  LogicalResult findLogits();
  bool findHiddenRows();
  int64_t outputs() {
    return featuresOfRows(End.Head ? Value(End.Head) : End.X);
  }
  void warnOfDroppedOutputs();
  SmallVector<Operation *> needed();
  LogicalResult convert(Operation &Op);
  LogicalResult convertLlm(Operation &Op);
  LogicalResult unsupported(Operation *Op, const Twine &Why);
  Value rows(Value Old) const { return New.lookup(Old); }
  Type rowsType(int64_t Features) const {
    return RankedTensorType::get({ShapedType::kDynamic, Features},
                                 Float32Type::get(Context));
  }
  Value makeEnd(Value X);
  void finish();
  void renameWeights();

  ModuleOp Module;
  func::FuncOp Main, Step;
  Roles R;
  MLIRContext *Context;
  OpBuilder B;
  Ending End;
  unsigned LogitsResult = 0; ///< number of the output that End ends in
  DenseMap<Value, Value> New;
  DenseSet<Value> Selected; ///< only some rows of the sequence
  int64_t Layers = 0, Problems = 0;
  llm::EmbedOp Embed;
};

LogicalResult Stepper::unsupported(Operation *Op, const Twine &Why) {
  if (++Problems <= 20)
    Op->emitError() << "node '" << nodeName(Op) << "' ("
                    << Op->getName().getStringRef()
                    << ") is not supported between tokens and logits: " << Why;
  return failure();
}

/// Rows of the table that the token ids index; -1 without one.
int64_t Stepper::vocabulary() {
  for (Operation &Op : Main.getBody().front())
    if (auto Old = dyn_cast<llm::EmbedOp>(Op); Old && !isPositions(Old))
      if (auto Table = Module.lookupSymbol<llm::WeightOp>(Old.getWeight()))
        return cast<RankedTensorType>(Table.getType()).getDimSize(0);
  return -1;
}

LogicalResult Stepper::findLogits() {
  Operation *Return = Main.getBody().front().getTerminator();
  std::optional<Ending> Best;
  int64_t BestRank = 0, Vocab = vocabulary();
  for (OpOperand &Out : Return->getOpOperands()) {
    unsigned I = Out.getOperandNumber();
    if (Main.getResultAttr(I, CacheAttr))
      continue;
    std::optional<Ending> E = endingOf(Out.get());
    if (!E)
      continue;
    // One logit per token; by name also another number (fewer rows, or a head
    // padded to a round size).
    auto Name = Main.getResultAttrOfType<StringAttr>(I, onnx::NameAttr);
    int64_t Rank = featuresOf(E->Head) == Vocab;
    if (Name && Name.getValue().contains("logits"))
      Rank = 2;
    if (Rank > BestRank) {
      BestRank = Rank;
      Best = E;
      LogitsResult = I;
    }
  }
  if (!Best && findHiddenRows())
    return success();
  if (!Best) {
    Main.emitError() << "no logits among the " << Return->getNumOperands()
                     << " outputs: none is a product of token rows with a "
                        "matrix of "
                     << Vocab
                     << " rows, one per token of the embedding, and none is "
                        "named as hidden states (or is it an encoder?)";
    return failure();
  }
  End = *Best;
  // A sampled token is the next id.
  if (featuresOf(End.Head) > Vocab) {
    End.Head.emitError() << "vocabulary mismatch: the head '"
                         << nodeName(End.Head) << "' gives "
                         << featuresOf(End.Head)
                         << " logits, the embedding has " << Vocab << " rows";
    return failure();
  }
  return success();
}

/// A graph that was exported without its head ends in rows that its name calls
/// hidden states or embeddings: the step gives those. Rows under another name
/// are more likely logits that were forgotten.
bool Stepper::findHiddenRows() {
  int64_t Width = -1;
  for (Operation &Op : Main.getBody().front())
    if (auto Old = dyn_cast<llm::EmbedOp>(Op); Old && !isPositions(Old))
      Width = featuresOf(Old);
  TokenRows Rows(R);
  int64_t BestRank = 0;
  for (OpOperand &Out :
       Main.getBody().front().getTerminator()->getOpOperands()) {
    unsigned I = Out.getOperandNumber();
    Value V = Out.get();
    if (Main.getResultAttr(I, CacheAttr) || rankOf(V) != 3 || !Rows.has(V) ||
        !getElementTypeOrSelf(V).isF32())
      continue;
    // The last state if all of them are outputs.
    auto Name = Main.getResultAttrOfType<StringAttr>(I, onnx::NameAttr);
    std::string Text = Name ? Name.getValue().lower() : std::string();
    if (!StringRef(Text).contains("hidden") &&
        !StringRef(Text).contains("embed"))
      continue;
    int64_t Rank = 1 + (featuresOf(V) == Width) +
                   2 * StringRef(Text).contains("hidden") +
                   4 * StringRef(Text).contains("last");
    if (Rank <= BestRank)
      continue;
    BestRank = Rank;
    End = Ending();
    End.X = V;
    LogitsResult = I;
  }
  if (BestRank > 0)
    Main.emitWarning() << "the graph has no head: the step gives rows of "
                       << featuresOf(End.X) << " hidden values, no logits";
  return BestRank > 0;
}

void Stepper::warnOfDroppedOutputs() {
  constexpr size_t Most = 8;
  SmallVector<std::string> Names;
  for (unsigned I = 0; I < Main.getNumResults(); ++I) {
    if (I == LogitsResult || Main.getResultAttr(I, CacheAttr))
      continue;
    auto Name = Main.getResultAttrOfType<StringAttr>(I, onnx::NameAttr);
    Names.push_back(Name ? Name.str() : std::to_string(I));
  }
  if (Names.empty())
    return;
  std::string Text;
  for (const std::string &Name : ArrayRef(Names).take_front(Most))
    Text += (Text.empty() ? "'" : ", '") + Name + "'";
  if (Names.size() > Most)
    Text += " and " + std::to_string(Names.size() - Most) + " more";
  Main.emitWarning() << Names.size() << " of " << Main.getNumResults()
                     << " outputs are neither logits nor caches and are left "
                        "out: "
                     << Text;
}

/// Ops on the way from the ids to the head, in order.
SmallVector<Operation *> Stepper::needed() {
  llvm::SetVector<Value> Work;
  DenseSet<Operation *> Seen;
  Work.insert(End.X);
  for (size_t I = 0; I < Work.size(); ++I) {
    Operation *Op = Work[I].getDefiningOp();
    if (!Op || !Seen.insert(Op).second)
      continue;
    if (isa<llm::EmbedOp, llm::RopeTableOp>(Op))
      continue; // ids and positions become those of the step
    for (Value V : Op->getOperands())
      if (R.isData(V) ||
          isa_and_nonnull<llm::RopeTableOp, llm::EmbedOp,
                          llm::SelectByLengthOp>(V.getDefiningOp()))
        Work.insert(V);
  }
  SmallVector<Operation *> Out;
  for (Operation &Op : Main.getBody().front())
    if (Seen.contains(&Op))
      Out.push_back(&Op);
  return Out;
}

LogicalResult Stepper::convertLlm(Operation &Op) {
  Location Loc = Op.getLoc();
  auto Set = [&](Value V) {
    New[Op.getResult(0)] = V;
    return success();
  };
  return TypeSwitch<Operation *, LogicalResult>(&Op)
      .Case([&](llm::EmbedOp Old) {
        bool Learned = isPositions(Old);
        if (!Learned)
          Embed = Old;
        return Set(llm::EmbedOp::create(
            B, Loc, rowsType(featuresOf(Old)), Step.getArgument(Learned),
            Old.getWeightAttr(), Old.getScaleAttr()));
      })
      .Case([&](llm::RopeTableOp Old) {
        return Set(llm::RopeTableOp::create(
            B, Loc, rowsType(featuresOf(Old)), Step.getArgument(1),
            Old.getFreqAttr(), Old.getCosAttr(), Old.getSinAttr(),
            Old.getScalingAttr()));
      })
      .Case([&](llm::NormOp Old) {
        int64_t F = featuresOfRows(Old.getX());
        int64_t Heads = F / featuresOf(Old.getX()) * int64_t(Old.getHeads());
        return Set(llm::NormOp::create(B, Loc, rowsType(F), rows(Old.getX()),
                                       Old.getGainAttr(), Old.getBiasAttr(),
                                       Old.getKind(), Old.getEps(), Heads));
      })
      .Case([&](llm::PaddedAttentionOp Old) -> LogicalResult {
        if (Selected.contains(Old.getQ()))
          return unsupported(&Op, "it follows a choice of rows");
        ++Layers;
        llm::KvWriteOp::create(B, Loc, rows(Old.getK()), rows(Old.getV()),
                               Old.getStateAttr());
        auto New = llm::AttentionOp::create(
            B, Loc, rowsType(featuresOf(Old)), rows(Old.getQ()), Old.getState(),
            Old.getHeads(), Old.getScale(), Old.getWindow(), Old.getSoftcap(),
            Old.getChunk(), Old.getSlopesAttr(), Old.getSinksAttr());
        for (StringRef Name : {ScoreRoundingAttr, ProbRoundingAttr})
          setRounding(New, Name, roundingAt(Old, Name));
        return Set(New);
      })
      .Default([&](Operation *Old) {
        // Row by row, as it is: linear, rope, activation, glu, add, scale.
        IRMapping Map;
        for (Value V : Old->getOperands())
          Map.map(V, rows(V));
        Operation *Copy = B.clone(*Old, Map);
        Copy->getResult(0).setType(rowsType(featuresOfRows(Old->getResult(0))));
        return Set(Copy->getResult(0));
      });
}

LogicalResult Stepper::convert(Operation &Op) {
  if (isa<llm::EmbedOp, llm::RopeTableOp>(Op))
    return convertLlm(Op);
  for (Value V : Op.getOperands()) {
    if (R.isData(V) && isa<BlockArgument>(V))
      return unsupported(&Op, "it uses input '" +
                                  argName(cast<BlockArgument>(V)) +
                                  "' directly");
    if (R.isData(V) && !isa<BlockArgument>(V) && !rows(V))
      return failure(); // reported where V is made
    if (Selected.contains(V))
      for (Value Out : Op.getResults())
        Selected.insert(Out);
  }
  if (isa<llm::LlmDialect>(Op.getDialect()))
    return convertLlm(Op);
  Value Out = Op.getResult(0);
  int64_t F = featuresOfRows(Out);
  if (keepsRows(&Op)) {
    if (F != featuresOfRows(Op.getOperand(0)))
      return unsupported(&Op, "it changes the features of a row from " +
                                  Twine(featuresOfRows(Op.getOperand(0))) +
                                  " to " + Twine(F));
    New[Out] = rows(Op.getOperand(0));
    return success();
  }
  RowChoice Choice = rowChoiceOf(&Op);
  if (Choice.What == RowChoice::Kind::Other)
    return unsupported(&Op, "it chooses rows of the sequence (" + Choice.Rows +
                                "), expected the last (-1)");
  if (Choice.What != RowChoice::Kind::None &&
      F == featuresOfRows(Op.getOperand(0))) {
    New[Out] = rows(Op.getOperand(0));
    if (Choice.What == RowChoice::Kind::Last)
      Selected.insert(Out);
    return success();
  }
  if (isa<onnx::AddOp>(Op) && rows(Op.getOperand(0)) &&
      rows(Op.getOperand(1)) && F == featuresOfRows(Op.getOperand(0)) &&
      F == featuresOfRows(Op.getOperand(1))) {
    New[Out] =
        llm::AddOp::create(B, Op.getLoc(), rowsType(F), rows(Op.getOperand(0)),
                           rows(Op.getOperand(1)));
    return success();
  }
  if (isa<onnx::MulOp, onnx::DivOp>(Op)) {
    bool Mul = isa<onnx::MulOp>(Op);
    for (unsigned I : {1u, 0u}) {
      std::optional<double> C = scalar(Op.getOperand(I));
      Value X = rows(Op.getOperand(1 - I));
      if (!C || !X || (!Mul && (I == 0 || *C == 0)))
        continue;
      New[Out] = llm::ScaleOp::create(B, Op.getLoc(), rowsType(F), X,
                                      llvm::APFloat(float(Mul ? *C : 1 / *C)));
      return success();
    }
  }
  Type Element = getElementTypeOrSelf(Op.getResult(0).getType());
  if (!Element.isF32()) {
    std::string Text;
    llvm::raw_string_ostream(Text) << Element;
    return unsupported(&Op, "it gives " + Text + ", expected f32");
  }
  if (auto Why = Op.getAttrOfType<StringAttr>(WhyNot))
    return unsupported(&Op, Why.getValue());
  return unsupported(&Op, "no recogniser made an llm op of it");
}

LogicalResult Stepper::run() {
  if (!R.find(Role::Tokens)) {
    Main.emitError() << "no token input: no integer input (input_ids of a "
                        "decoder) indexes a table of the file";
    return failure();
  }
  if (failed(findLogits()))
    return failure();
  auto Ids = RankedTensorType::get({ShapedType::kDynamic}, B.getI32Type());
  B.setInsertionPoint(Main);
  Step = func::FuncOp::create(
      B, Main.getLoc(), "step",
      B.getFunctionType({Ids, Ids}, {rowsType(outputs())}));
  B.setInsertionPointToStart(Step.addEntryBlock());
  for (Operation *Op : needed())
    if (failed(convert(*Op)) && Problems > 20)
      break;
  if (Problems > 20)
    Main.emitError() << "more than 20 nodes are not supported";
  Value X = rows(End.X);
  // What a token knows of those before it is in one of these.
  bool Mixes = Layers > 0 || !Step.getOps<llm::CausalConvOp>().empty() ||
               !Step.getOps<llm::LinearAttentionOp>().empty();
  if (Problems == 0 && (!Mixes || !X)) {
    ++Problems;
    Main.emitError() << "no causal attention, convolution or state between "
                        "tokens and logits: not a decoder";
  }
  if (Problems > 0) {
    Step.erase();
    return failure();
  }
  func::ReturnOp::create(B, Main.getLoc(), makeEnd(X));
  warnOfDroppedOutputs();
  finish();
  return success();
}

Value Stepper::makeEnd(Value X) {
  llm::LinearOp Head = End.Head;
  if (!Head)
    return llm::TakeRowsOp::create(B, End.X.getLoc(), rowsType(outputs()), X,
                                   llm::NormKind::none, nullptr, nullptr,
                                   llvm::APFloat(0.0f));
  return llm::LogitsOp::create(
      B, Head.getLoc(), rowsType(featuresOf(Head)), X, Head.getWeight(),
      Head.getBiasAttr(), llm::NormKind::none, nullptr, nullptr,
      llvm::APFloat(0.0f), llvm::APFloat(float(End.Multiplier)),
      llvm::APFloat(float(End.Softcap)));
}

void Stepper::finish() {
  SymbolTable Symbols(Module);
  auto Table = Symbols.lookup<llm::WeightOp>(Embed.getWeight());
  auto Shape = cast<RankedTensorType>(Table.getType()).getShape();
  NamedAttrList Model;
  Model.set("vocab",
            B.getI64IntegerAttr(End.Head ? featuresOf(End.Head) : Shape[0]));
  if (!End.Head)
    Model.set("outputs", B.getI64IntegerAttr(outputs()));
  Model.set("hidden", B.getI64IntegerAttr(Shape[1]));
  Model.set("layers", B.getI64IntegerAttr(Layers));
  // Tables end somewhere; a sequence must not go on.
  std::optional<int64_t> Limit;
  auto Ends = [&](StringRef Name) {
    auto Table = Symbols.lookup<llm::WeightOp>(Name);
    int64_t N = cast<RankedTensorType>(Table.getType()).getDimSize(0);
    Limit = Limit ? std::min(*Limit, N) : N;
  };
  for (Operation &Op : Step.getBody().front()) {
    if (auto Rope = dyn_cast<llm::RopeTableOp>(Op); Rope && Rope.getCos())
      Ends(*Rope.getCos());
    if (auto Learned = dyn_cast<llm::EmbedOp>(Op);
        Learned && Learned.getIds() == Step.getArgument(1))
      Ends(Learned.getWeight());
  }
  if (Limit)
    Model.set("max_positions", B.getI64IntegerAttr(*Limit));
  Module->setAttr("llm.model", Model.getDictionary(Context));
  Main.erase();
  for (Operation &Op : llvm::make_early_inc_range(*Module.getBody()))
    if (isa<onnx::WeightDataOp>(Op))
      Op.erase();
  renameWeights();
}

/// Weights lose the "w." that kept them apart from onnx.weight_data; those that
/// nothing uses go.
void Stepper::renameWeights() {
  DenseMap<StringAttr, StringAttr> Names;
  DenseSet<StringAttr> Used, UsedSources;
  for (Operation &Op : Step.getBody().front())
    for (NamedAttribute A :
         Op.getPropertiesAsAttribute()
             ? cast<DictionaryAttr>(Op.getPropertiesAsAttribute()).getValue()
             : ArrayRef<NamedAttribute>())
      if (auto Ref = dyn_cast<FlatSymbolRefAttr>(A.getValue()))
        Used.insert(Ref.getAttr());
  for (Operation &Op : llvm::make_early_inc_range(*Module.getBody())) {
    auto Weight = dyn_cast<llm::WeightOp>(Op);
    if (!Weight)
      continue;
    if (!Used.contains(Weight.getSymNameAttr())) {
      Weight.erase();
      continue;
    }
    StringRef Name = Weight.getSymName();
    if (Name.consume_front("w."))
      Names[Weight.getSymNameAttr()] = B.getStringAttr(Name);
    for (auto P : Weight.getPieces().getAsRange<llm::PieceAttr>())
      UsedSources.insert(P.getSource().getAttr());
  }
  for (llm::QuantizedOp Q :
       llvm::make_early_inc_range(Module.getOps<llm::QuantizedOp>())) {
    if (!UsedSources.contains(Q.getSymNameAttr())) {
      Q.erase();
      continue;
    }
    for (FlatSymbolRefAttr Part : {Q.getCodesAttr(), Q.getScalesAttr(),
                                   Q.getZerosAttr(), Q.getGroupsAttr()})
      if (Part)
        UsedSources.insert(Part.getAttr());
  }
  for (Operation &Op : llvm::make_early_inc_range(*Module.getBody()))
    if (auto Source = dyn_cast<llm::SourceOp>(Op);
        Source && !UsedSources.contains(Source.getSymNameAttr()))
      Source.erase();
  for (auto Weight : Module.getOps<llm::WeightOp>())
    if (StringAttr To = Names.lookup(Weight.getSymNameAttr()))
      Weight.setSymNameAttr(To);
  AttrTypeReplacer Replacer;
  Replacer.addReplacement([&](FlatSymbolRefAttr Ref) -> Attribute {
    StringAttr To = Names.lookup(Ref.getAttr());
    return To ? FlatSymbolRefAttr::get(To) : Ref;
  });
  for (Operation &Op : Step.getBody().front())
    Replacer.replaceElementsIn(&Op, /*replaceAttrs=*/true);
}

struct RaiseModel : impl::RaiseModelBase<RaiseModel> {
  void runOnOperation() override {
    func::FuncOp Main = graphOf(getOperation());
    if (Main && failed(Stepper(getOperation(), Main).run()))
      signalPassFailure();
  }
};
} // namespace
} // namespace llmc::raise
