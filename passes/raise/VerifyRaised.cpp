// Raises a module and checks that the step function computes what the graph
// did: both are evaluated on the same tokens, the graph in one piece, the step
// function in two, so that its caches are exercised, too.
#include "passes/raise/VerifyRaised.h"

#include "compiler/eval/Evaluator.h"
#include "passes/raise/LlmInterpreter.h"
#include "passes/raise/Match.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Probe.h"

#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <map>

namespace llmc::raise {
#define GEN_PASS_DEF_VERIFYRAISED
#include "passes/raise/Passes.h.inc"
} // namespace llmc::raise

using namespace mlir;

namespace llmc::raise {
namespace {

/// Reads sources of the llm dialect through the reader of the onnx dialect.
SourceReader sourcesOf(ModuleOp Before, const eval::WeightReader &Reader) {
  std::map<std::pair<int64_t, int64_t>, onnx::WeightDataOp> ByPlace;
  for (auto Data : Before.getOps<onnx::WeightDataOp>())
    ByPlace[{int64_t(Data.getFile()), int64_t(Data.getOffset())}] = Data;
  return [ByPlace, Reader](llm::SourceOp Source,
                           std::vector<uint8_t> &Out) -> Status {
    // The tensor that holds the source: itself, or one it is a part of.
    int64_t Offset = int64_t(*Source.getOffset());
    auto It = ByPlace.upper_bound({int64_t(*Source.getFile()), Offset});
    if (It == ByPlace.begin() || !Reader)
      return internalError(
          ("source '" + Source.getSymName() + "' is not in the graph").str());
    onnx::WeightDataOp Whole = std::prev(It)->second;
    LLMC_RETURN_IF_ERROR(Reader(Whole, Out));
    size_t Begin = size_t(Offset - int64_t(Whole.getOffset())),
           Length = size_t(*Source.getLength());
    if (int64_t(Whole.getFile()) != int64_t(*Source.getFile()) ||
        Begin + Length > Out.size())
      return internalError(
          ("source '" + Source.getSymName() + "' is not in the graph").str());
    Out.erase(Out.begin(), Out.begin() + int64_t(Begin));
    Out.resize(Length);
    return Status::success();
  };
}

} // namespace

Result<eval::Tensor> graphLogits(func::FuncOp Main,
                                 const eval::WeightReader &Reader,
                                 const std::vector<int64_t> &Ids,
                                 int64_t Features) {
  Roles R(Main);
  int64_t N = int64_t(Ids.size());
  // As much as the machine takes: what is not needed any more is given up.
  constexpr int64_t Elements = int64_t(1) << 42, Operations = int64_t(1) << 50;
  Probe P(Main, R, Reader, Sample{0, N, {}, 0},
          eval::Budget(Elements, Operations));
  BlockArgument Arg = R.find(Role::Tokens);
  eval::Dims Shape;
  if (!Arg || !P.shapeOf(Arg, Shape) || eval::countOf(Shape) != N)
    return unsupportedError("the graph takes no " + std::to_string(N) +
                            " tokens");
  bool Wide =
      cast<RankedTensorType>(Arg.getType()).getElementType().isInteger(64);
  P.bind(Arg, eval::Tensor::ofInts(Wide ? DType::I64 : DType::I32, Shape, Ids));
  for (BlockArgument Cache : Main.getArguments())
    if (R.of(Cache) == Role::Past && !P.bindCache(Cache))
      return unsupportedError("the shape of cache input " +
                              std::to_string(Cache.getArgNumber()) +
                              " is not known");
  Operation *Return = Main.getBody().front().getTerminator();
  Value Logits;
  for (OpOperand &Out : Return->getOpOperands())
    if (!Main.getResultAttr(Out.getOperandNumber(), CacheAttr) &&
        featuresOf(Out.get()) == Features && !Logits)
      Logits = Out.get();
  if (!Logits)
    return unsupportedError("no output has " + std::to_string(Features) +
                            " features");
  return P.evaluateOnce(Logits);
}

Status compareLogits(const eval::Tensor &Want, const Matrix &Have) {
  int64_t Rows = Have.Cols > 0 ? Want.count() / Have.Cols : 0;
  if (Rows < 1 || Rows > Have.Rows || Rows * Have.Cols != Want.count())
    return verificationError("the graph gives logits " + eval::describe(Want) +
                             ", the step function " +
                             std::to_string(Have.Rows) + " rows of " +
                             std::to_string(Have.Cols));
  double Largest = 0, Worst = 0;
  int64_t Row = 0;
  for (int64_t I = 0; I < Want.count(); ++I) {
    int64_t R = Have.Rows - Rows + I / Have.Cols;
    double W = eval::floatAt(Want, I), H = Have.row(R)[I % Have.Cols],
           D = std::abs(W - H);
    // At once: a NaN compares with nothing that comes after it.
    if (!std::isfinite(W) || !std::isfinite(H))
      return verificationError("raised and unraised logits are " +
                               std::to_string(H) + " and " + std::to_string(W) +
                               " at token " + std::to_string(R) +
                               ", expected finite numbers");
    Largest = std::max(Largest, std::abs(W));
    if (D > Worst) {
      Worst = D;
      Row = R;
    }
  }
  if (Worst <= 1e-4 * Largest)
    return Status::success();
  return verificationError("raised and unraised logits differ by " +
                           std::to_string(Worst) + " at token " +
                           std::to_string(Row) + ", largest logit " +
                           std::to_string(Largest));
}

Status verifyRaised(ModuleOp Before, ModuleOp After,
                    const eval::WeightReader &Reader, int64_t Tokens) {
  const int64_t Prompt = (Tokens + 1) * 7 / 12;
  func::FuncOp Main = graphOf(Before);
  auto Model = After->getAttrOfType<DictionaryAttr>("llm.model");
  if (!Main || !Model)
    return usageError("nothing to compare: no graph or no raised model");
  int64_t Vocab = Model.getAs<IntegerAttr>("vocab").getInt(), Width = Vocab;
  if (auto Outputs = Model.getAs<IntegerAttr>("outputs"))
    Width = Outputs.getInt();
  std::vector<int64_t> Ids, Positions;
  for (int64_t I = 0; I < Tokens; ++I) {
    Ids.push_back((I * 37 + 5) % Vocab);
    Positions.push_back(I);
  }
  LLMC_ASSIGN_OR_RETURN(eval::Tensor Want,
                        graphLogits(Main, Reader, Ids, Width));
  LlmInterpreter Interpreter(After, sourcesOf(Before, Reader));
  Interpreter.setLength(Tokens);
  auto Part = [&](const std::vector<int64_t> &All, int64_t From, int64_t To) {
    return std::vector<int64_t>(All.begin() + From, All.begin() + To);
  };
  LLMC_ASSIGN_OR_RETURN(
      Matrix Have,
      Interpreter.step(Part(Ids, 0, Prompt), Part(Positions, 0, Prompt)));
  LLMC_ASSIGN_OR_RETURN(Matrix Rest,
                        Interpreter.step(Part(Ids, Prompt, Tokens),
                                         Part(Positions, Prompt, Tokens)));
  Have.Rows += Rest.Rows;
  Have.Data.insert(Have.Data.end(), Rest.Data.begin(), Rest.Data.end());
  return compareLogits(Want, Have);
}

namespace {
struct VerifyRaised : impl::VerifyRaisedBase<VerifyRaised> {
  using VerifyRaisedBase::VerifyRaisedBase;

  void getDependentDialects(DialectRegistry &Registry) const override {
    Registry.insert<llm::LlmDialect, onnx::OnnxDialect>();
  }

  void runOnOperation() override {
    ModuleOp Module = getOperation();
    if (!graphOf(Module))
      return;
    RaiseOptions Options;
    if (failed(openReader(Module, Model, Options.Reader)))
      return signalPassFailure();
    OpPassManager Pairs(ModuleOp::getOperationName()),
        Rest(ModuleOp::getOperationName());
    // With caches paired, so that they are not taken for logits.
    Pairs.addPass(createRaiseKvCache());
    buildRaisePipeline(Rest, Options);
    if (failed(runPipeline(Pairs, Module)))
      return signalPassFailure();
    OwningOpRef<ModuleOp> Before = Module.clone();
    if (failed(runPipeline(Rest, Module)))
      return signalPassFailure();
    if (Status S = verifyRaised(*Before, Module, Options.Reader, Tokens);
        !S.ok()) {
      Module.emitError() << S.message();
      signalPassFailure();
    }
  }
};
} // namespace
} // namespace llmc::raise
