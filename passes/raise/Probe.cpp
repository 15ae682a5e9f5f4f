// Samples of the padded graph; see Probe.h.
#include "passes/raise/Probe.h"

#include "compiler/eval/Convert.h"
#include "compiler/weights/WeightStore.h"
#include "passes/import/DimExpr.h"
#include "passes/raise/Match.h"

using namespace mlir;

namespace llmc::raise {

// Enough for a mask of a window of some ten thousand positions, far below what
// a machine has.
constexpr int64_t MaxElements = int64_t(1) << 28;
constexpr int64_t LargestCache = int64_t(1) << 14;
constexpr int64_t LargestInput = int64_t(1) << 26;
constexpr int64_t MaxOperations = int64_t(1) << 34;

int64_t Sample::position(int64_t I) const {
  if (!Positions.empty())
    return Positions[size_t(I)];
  return std::max<int64_t>(Past + I - Padding, 0);
}

eval::Tensor zeroTensor(DType Type, const eval::Dims &Shape) {
  eval::Tensor T;
  T.Type = Type;
  T.Shape = Shape;
  T.Bytes.resize(size_t(eval::countOf(Shape)) * eval::storedBytes(Type));
  return T;
}

eval::Tensor randomTensor(const eval::Dims &Shape, uint64_t Seed,
                          double Scale) {
  std::vector<double> Values(size_t(eval::countOf(Shape)));
  uint64_t State = Seed * 0x9E3779B97F4A7C15ull + 0x632BE59BD9B4E019ull;
  for (double &V : Values) {
    // splitmix64
    uint64_t Z = (State += 0x9E3779B97F4A7C15ull);
    Z = (Z ^ (Z >> 30)) * 0xBF58476D1CE4E5B9ull;
    Z = (Z ^ (Z >> 27)) * 0x94D049BB133111EBull;
    Z ^= Z >> 31;
    V = Scale * (double(Z >> 11) / double(int64_t(1) << 52) - 1.0);
  }
  return eval::Tensor::ofFloats(DType::F32, Shape, Values);
}

Probe::Probe(func::FuncOp Graph, const Roles &TheRoles,
             eval::WeightReader Reader, Sample TheSample, eval::Budget Limit)
    : R(TheRoles), S(std::move(TheSample)), Eval(Limit, std::move(Reader)) {
  bindInputs(Graph);
  Eval.setShapeOracle([this](Value V, eval::Dims &Out) {
    // Only what cannot be computed: shapes of masks are computed for real,
    // because declared symbols of inputs may be wrong.
    return R.isData(V) && !Eval.lookup(V) && shapeOf(V, Out);
  });
}

eval::Budget Probe::defaultBudget() {
  return eval::Budget(MaxElements, MaxOperations);
}

Result<eval::Tensor> Probe::evaluateOnce(Value V) {
  LLMC_ASSIGN_OR_RETURN(std::vector<eval::Tensor> Out, Eval.evaluateOnce({V}));
  return std::move(Out.front());
}

/// One expression per dim; empty strings where nothing is known.
static SmallVector<StringRef> dimTexts(RankedTensorType Type) {
  SmallVector<StringRef> Out(size_t(Type.getRank()));
  if (auto Dims = dyn_cast_or_null<onnx::DimsAttr>(Type.getEncoding()))
    for (auto [Text, Attr] : llvm::zip(Out, Dims.getExprs()))
      if (Attr.getValue() != "?")
        Text = Attr.getValue();
  return Out;
}

/// Whether a cache input holds N tokens whatever the sequence is.
bool Probe::isCapacity(int64_t N) const {
  return llvm::any_of(Inputs, [&](const auto &Entry) {
    auto Arg = cast<BlockArgument>(Entry.first);
    return R.of(Arg) == Role::Past &&
           llvm::is_contained(
               cast<RankedTensorType>(Arg.getType()).getShape().drop_front(),
               N);
  });
}

/// The axis that a cache grows along; -1 when no concatenation tells it.
static int64_t growingAxis(BlockArgument Arg) {
  for (Operation *User : Arg.getUsers())
    if (auto Concat = dyn_cast<onnx::ConcatOp>(User)) {
      int64_t Axis = int64_t(Concat.getAxis());
      return Axis < 0 ? Axis + rankOf(Arg) : Axis;
    }
  return -1;
}

eval::Dims Probe::inputShape(BlockArgument Arg, Role Mine) {
  auto Type = dyn_cast<RankedTensorType>(Arg.getType());
  if (!Type)
    return {};
  SmallVector<StringRef> Texts = dimTexts(Type);
  eval::Dims Out;
  int64_t Growing = Mine == Role::Past ? growingAxis(Arg) : -1;
  for (int64_t D = 0; D < Type.getRank(); ++D) {
    // What a dim of this role is when neither a number nor a known symbol.
    int64_t Last = Type.getRank() - 1, Guess = 1;
    if (Mine == Role::Positions && Last == 0)
      Guess = S.Seq;
    else if (Mine == Role::Past && (Growing < 0 ? D > 0 : D == Growing))
      Guess = S.Past;
    else if (D == Last && Mine == Role::Mask)
      Guess = S.total();
    else if (D > 0 && D == Last - 1 && Mine == Role::Mask && D > 1)
      Guess = S.Seq;
    else if (D == Last && D > 0 && Growing < 0)
      Guess = S.Seq;
    bool Total = Mine == Role::Mask && D == Last &&
                 (Type.isDynamicDim(D) || !isCapacity(Type.getDimSize(D)));
    if (!Type.isDynamicDim(D) && !Total) {
      Out.push_back(Type.getDimSize(D));
      continue;
    }
    Dim Expr = Texts[D].empty() ? Dim() : DimExpr::parse(Texts[D]);
    bool Single = Expr && Expr->str() == DimExpr::symbol(Texts[D]).str();
    if (Single && !Total && Symbols.count(Texts[D]))
      Guess = Symbols[Texts[D]];
    else if (Single)
      Symbols.try_emplace(Texts[D], Guess);
    Out.push_back(Guess);
  }
  if (Mine == Role::Past)
    alignWithNew(Arg, Out);
  return Out;
}

/// What a cache is concatenated with tells its other dims better than names
/// of dims do: a batch may be counted times the heads.
void Probe::alignWithNew(BlockArgument Arg, eval::Dims &Shape) {
  for (Operation *User : Arg.getUsers()) {
    auto Concat = dyn_cast<onnx::ConcatOp>(User);
    if (!Concat)
      continue;
    int64_t Rank = int64_t(Shape.size()), Axis = Concat.getAxis();
    eval::Dims New;
    for (Value Operand : Concat.getInputs())
      if (Operand != Arg && typeShape(Operand, New) &&
          int64_t(New.size()) == Rank)
        for (int64_t D = 0; D < Rank; ++D)
          if (D != Axis && D != Axis + Rank)
            Shape[size_t(D)] = New[size_t(D)];
  }
}

/// Element I of a mask input: 1 for every key, or, for one that has a row per
/// query, whether it may be seen: 1 or 0, and 0 or very low where it is added.
int64_t Probe::maskAt(int64_t I, const eval::Dims &Shape, DType Type) {
  constexpr int64_t Low = -1000000000;
  int64_t Key = Shape.empty() ? 0 : I % Shape.back();
  if (Shape.size() < 3 || Shape[Shape.size() - 2] != S.Seq)
    return Key >= S.Padding;
  bool Seen = Key >= S.Padding && Key <= S.Past + I / Shape.back() % S.Seq;
  bool Added = Type == DType::F32 || Type == DType::F16 || Type == DType::BF16;
  return Added ? (Seen ? 0 : Low) : Seen;
}

bool Probe::bindCache(BlockArgument Arg) {
  constexpr int64_t Most = int64_t(1) << 26;
  auto It = Inputs.find(Arg);
  if (It == Inputs.end())
    return false;
  if (Eval.lookup(Arg))
    return true;
  int64_t Count = eval::countOf(It->second);
  if (Count < 0 || Count > Most)
    return false;
  Eval.bind(Arg, zeroTensor(eval::dtypeOf(getElementTypeOrSelf(Arg.getType())),
                            It->second));
  return true;
}

void Probe::bindInputs(func::FuncOp Graph) {
  // In this order symbols get their meaning from the ids first.
  for (Role Mine :
       {Role::Tokens, Role::Past, Role::Positions, Role::Mask, Role::PastLength,
        Role::TotalLength, Role::LastIndex, Role::Types, Role::Other})
    for (BlockArgument Arg : Graph.getArguments()) {
      if (R.of(Arg) != Mine)
        continue;
      DType Type = eval::dtypeOf(getElementTypeOrSelf(Arg.getType()));
      eval::Dims Shape = inputShape(Arg, Mine);
      Inputs[Arg] = Shape;
      int64_t Count = eval::countOf(Shape);
      if (Count < 0 ||
          Count > (Mine == Role::Past ? LargestCache : LargestInput))
        continue;
      eval::Tensor T = zeroTensor(Type, Shape);
      std::vector<int64_t> Values(size_t(T.count()));
      for (size_t I = 0; I < Values.size(); ++I) {
        if (Mine == Role::Mask)
          Values[I] = maskAt(int64_t(I), Shape, Type);
        if (Mine == Role::Positions)
          Values[I] = S.position(int64_t(I) % S.Seq);
        if (Mine == Role::PastLength)
          Values[I] = S.Past;
        if (Mine == Role::TotalLength)
          Values[I] = S.total();
        if (Mine == Role::LastIndex)
          Values[I] = S.total() - 1;
      }
      if (Mine != Role::Tokens && Mine != Role::Past && Mine != Role::Other &&
          Mine != Role::Types)
        T = eval::Tensor::ofInts(Type, Shape, Values);
      Eval.bind(Arg, std::move(T));
    }
}

bool Probe::typeShape(Value V, eval::Dims &Out) {
  if (const eval::Tensor *T = Eval.lookup(V)) {
    Out = T->Shape;
    return true;
  }
  if (auto It = Inputs.find(V); It != Inputs.end()) {
    Out = It->second;
    return true;
  }
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  if (!Type)
    return false;
  auto Symbol = [&](std::string_view Name) -> std::optional<int64_t> {
    auto It = Symbols.find(StringRef(Name.data(), Name.size()));
    return It == Symbols.end() ? std::nullopt
                               : std::optional<int64_t>(It->second);
  };
  Out.clear();
  for (auto [Size, Text] : llvm::zip(Type.getShape(), dimTexts(Type))) {
    std::optional<int64_t> N;
    if (!ShapedType::isDynamic(Size))
      N = Size;
    else if (Dim Expr = Text.empty() ? Dim() : DimExpr::parse(Text))
      N = Expr->evaluate(Symbol);
    if (!N)
      return false;
    Out.push_back(*N);
  }
  return true;
}

/// The usual shape of token rows, [1, tokens, features], for a value of which
/// no type tells more than the features: what follows proves it by evaluation.
bool Probe::guessRows(Value V, eval::Dims &Out) const {
  if (rankOf(V) != 3 || featuresOf(V) < 0 ||
      !cast<RankedTensorType>(V.getType()).isDynamicDim(1))
    return false;
  Out = {1, S.Seq, featuresOf(V)};
  return true;
}

bool Probe::shapeOf(Value V, eval::Dims &Out) {
  if (Eval.lookup(V))
    return typeShape(V, Out);
  // llm ops keep the leading dims of their first operand, whatever the types
  // say; the chain of them ends at the ids, which have no feature dim.
  int64_t Features = featuresOf(V);
  bool Chain = false, Ids = false;
  while (Operation *Op = V.getDefiningOp()) {
    if (Eval.lookup(V) || !isa<llm::LlmDialect>(Op->getDialect()) ||
        Op->getNumOperands() == 0)
      break;
    Chain = true;
    Ids = isa<llm::EmbedOp, llm::RopeTableOp>(Op);
    V = Op->getOperand(0);
    if (Ids)
      break;
  }
  if (!typeShape(V, Out) && !guessRows(V, Out))
    return false;
  if (!Chain)
    return true;
  if (Features < 0 || (!Ids && Out.empty()))
    return false;
  if (!Ids)
    Out.pop_back();
  Out.push_back(Features);
  return true;
}

Result<eval::WeightReader> readerOf(ModuleOp M, const std::string &Path) {
  if (Path.empty())
    return eval::WeightReader();
  LLMC_ASSIGN_OR_RETURN(WeightStore Opened, WeightStore::open(Path));
  auto Store = std::make_shared<WeightStore>(std::move(Opened));
  if (auto Files = M->getAttrOfType<ArrayAttr>(onnx::FilesAttr))
    for (Attribute Name : Files.getValue().drop_front())
      LLMC_RETURN_IF_ERROR(
          Store->addFile(cast<StringAttr>(Name).getValue(), "(model)")
              .takeStatus());
  return eval::WeightReader(
      [Store](onnx::WeightDataOp Data, std::vector<uint8_t> &Out) {
        Out.resize(Data.getLength());
        return Store->read(uint32_t(Data.getFile()), Data.getOffset(), Out,
                           Data.getSymName());
      });
}

LogicalResult openReader(ModuleOp M, const std::string &Path,
                         eval::WeightReader &Reader) {
  if (Reader)
    return success();
  Result<eval::WeightReader> Opened = readerOf(M, Path);
  if (!Opened)
    return M.emitError() << Opened.status().message();
  Reader = Opened.take();
  return success();
}
} // namespace llmc::raise
