// The llm ops in plain loops; see LlmInterpreter.h. Sums are in double. Fused
// forms of linear and logits are covered; llm.qkv is not.
#include "passes/raise/LlmInterpreter.h"

#include "compiler/eval/Convert.h"
#include "compiler/eval/QuantizedValue.h"
#include "passes/raise/RowProgram.h"

#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace llmc::raise {

LlmInterpreter::LlmInterpreter(ModuleOp M, SourceReader R)
    : Module(M), Symbols(M), Reader(std::move(R)) {}

static double activate(llm::ActivationKind Kind, double X) {
  switch (Kind) {
  case llm::ActivationKind::silu:
    return X / (1 + std::exp(-X));
  case llm::ActivationKind::gelu:
    return 0.5 * X * (1 + std::erf(X * M_SQRT1_2));
  case llm::ActivationKind::gelu_tanh:
    return 0.5 * X *
           (1 + std::tanh(0.7978845608028654 * (X + 0.044715 * X * X * X)));
  case llm::ActivationKind::relu:
    return X > 0 ? X : 0;
  case llm::ActivationKind::sigmoid:
    return 1 / (1 + std::exp(-X));
  case llm::ActivationKind::tanh:
    return std::tanh(X);
  case llm::ActivationKind::relu2:
    return X > 0 ? X * X : 0;
  case llm::ActivationKind::none:
    break;
  }
  return X;
}

Status LlmInterpreter::readSource(llm::SourceOp Source,
                                  std::vector<float> &Out) {
  auto Type = cast<RankedTensorType>(Source.getType());
  eval::Budget Limit(Type.getNumElements() + 1, 2 * Type.getNumElements() + 1);
  eval::Tensor T;
  if (Source.getData()) {
    LLMC_ASSIGN_OR_RETURN(T, eval::fromAttribute(Limit, *Source.getData()));
  } else {
    std::vector<uint8_t> Bytes;
    if (!Reader)
      return unsupportedError("weights cannot be read here");
    LLMC_RETURN_IF_ERROR(Reader(Source, Bytes));
    LLMC_ASSIGN_OR_RETURN(T, eval::fromFileBytes(Limit, Type, Bytes));
  }
  Out = eval::load<float>(T);
  return Status::success();
}

Result<const Matrix *> LlmInterpreter::weight(Ref Name) {
  auto [It, New] = Weights.try_emplace(Name.getValue());
  Matrix &W = It->second;
  if (!New)
    return &W;
  auto Op = Symbols.lookup<llm::WeightOp>(Name.getValue());
  ArrayRef<int64_t> Shape = cast<RankedTensorType>(Op.getType()).getShape();
  W.Rows = Shape[0];
  W.Cols = Shape.size() == 2 ? Shape[1] : 1;
  for (auto P : Op.getPieces().getAsRange<llm::PieceAttr>()) {
    StringRef From = P.getSource().getValue();
    std::vector<float> Data;
    ArrayRef<int64_t> S;
    if (auto Codes = Symbols.lookup<llm::QuantizedOp>(From)) {
      if (!Reader)
        return unsupportedError("weights cannot be read here");
      LLMC_ASSIGN_OR_RETURN(Data, eval::dequantized(Codes, Reader));
      S = cast<RankedTensorType>(Codes.getType()).getShape();
    } else {
      auto Source = Symbols.lookup<llm::SourceOp>(From);
      LLMC_RETURN_IF_ERROR(readSource(Source, Data));
      S = cast<RankedTensorType>(Source.getType()).getShape();
    }
    int64_t Stride = S.size() == 2 ? S[1] : 1;
    for (int64_t R = P.getBegin(); R < P.getBegin() + P.getCount(); ++R)
      for (int64_t C = 0; C < W.Cols; ++C)
        W.Data.push_back(
            Data[size_t(P.getTransposed() ? C * Stride + R : R * Stride + C)]);
  }
  return &W;
}

Result<Matrix> LlmInterpreter::embed(llm::EmbedOp Op) {
  LLMC_ASSIGN_OR_RETURN(const Matrix *W, weight(Op.getWeightAttr()));
  bool Learned = cast<BlockArgument>(Op.getIds()).getArgNumber() == 1;
  Matrix Out{int64_t(Ids.size()), W->Cols, {}};
  for (int64_t Id : Learned ? Positions : Ids) {
    if (Id < 0 || Id >= W->Rows)
      return usageError(std::string(Learned ? "position " : "token ") +
                        std::to_string(Id) + " of " + std::to_string(W->Rows));
    for (int64_t C = 0; C < W->Cols; ++C)
      Out.Data.push_back(W->row(Id)[C] * Op.getScale().convertToFloat());
  }
  return Out;
}

Result<Matrix> LlmInterpreter::ropeTable(llm::RopeTableOp Op) {
  bool Given = Op.getCos().has_value();
  LLMC_ASSIGN_OR_RETURN(const Matrix *Cos,
                        weight(Given ? Op.getCosAttr() : Op.getFreqAttr()));
  const Matrix *Sin = Cos;
  if (Given) {
    LLMC_ASSIGN_OR_RETURN(Sin, weight(Op.getSinAttr()));
  }
  int64_t Half = Given ? Cos->Cols : Cos->Rows;
  double Scaling = Op.getScaling().convertToFloat();
  Matrix Out{int64_t(Positions.size()), 2 * Half, {}};
  for (int64_t P : Positions) {
    if (Given && (P < 0 || P >= Cos->Rows))
      return usageError("position " + std::to_string(P) + " of " +
                        std::to_string(Cos->Rows));
    for (int64_t I = 0; I < 2 * Half; ++I) {
      const Matrix *W = I < Half ? Cos : Sin;
      float Angle = Given ? 0 : float(P) * Cos->Data[size_t(I % Half)];
      double V = Given      ? W->row(P)[I % Half]
                 : I < Half ? std::cos(Angle)
                            : std::sin(Angle);
      Out.Data.push_back(float(V * Scaling));
    }
  }
  return Out;
}

Result<Matrix> LlmInterpreter::norm(const Matrix &X, llm::NormKind Kind,
                                    Ref Gain, Ref Bias, double Eps,
                                    int64_t Heads) {
  if (Kind == llm::NormKind::none)
    return X;
  const Matrix *G = nullptr, *B = nullptr;
  if (Gain) {
    LLMC_ASSIGN_OR_RETURN(G, weight(Gain));
  }
  if (Bias) {
    LLMC_ASSIGN_OR_RETURN(B, weight(Bias));
  }
  Matrix Out = X;
  int64_t N = X.Cols / Heads;
  for (int64_t R = 0; R < X.Rows * Heads; ++R) {
    float *Row = Out.Data.data() + R * N;
    double Mean = 0, Square = 0;
    if (Kind == llm::NormKind::layer)
      for (int64_t I = 0; I < N; ++I)
        Mean += Row[I] / double(N);
    for (int64_t I = 0; I < N; ++I)
      Square += (Row[I] - Mean) * (Row[I] - Mean) / double(N);
    double Scale = 1 / std::sqrt(Square + Eps);
    for (int64_t I = 0; I < N; ++I)
      Row[I] = float((Row[I] - Mean) * Scale * (G ? G->Data[size_t(I)] : 1) +
                     (B ? B->Data[size_t(I)] : 0));
  }
  return Out;
}

Result<Matrix> LlmInterpreter::product(const Matrix &X, Ref Weight, Ref Bias) {
  LLMC_ASSIGN_OR_RETURN(const Matrix *W, weight(Weight));
  const Matrix *B = nullptr;
  if (Bias) {
    LLMC_ASSIGN_OR_RETURN(B, weight(Bias));
  }
  Matrix Out{X.Rows, W->Rows, {}};
  Out.Data.resize(size_t(X.Rows * W->Rows));
  for (int64_t N = 0; N < W->Rows; ++N)
    for (int64_t R = 0; R < X.Rows; ++R) {
      double Sum = 0;
      for (int64_t K = 0; K < W->Cols; ++K)
        Sum += double(X.row(R)[K]) * W->row(N)[K];
      Out.row(R)[N] = float(Sum + (B ? B->Data[size_t(N)] : 0));
    }
  return Out;
}

Result<Matrix> LlmInterpreter::linear(llm::LinearOp Op) {
  LLMC_ASSIGN_OR_RETURN(Matrix X, norm(in(Op.getX()), Op.getNorm(),
                                       Op.getGainAttr(), Op.getNormBiasAttr(),
                                       Op.getEps().convertToFloat(), 1));
  LLMC_ASSIGN_OR_RETURN(Matrix Y,
                        product(X, Op.getWeightAttr(), Op.getBiasAttr()));
  if (Op.getGlu() != llm::ActivationKind::none) {
    Matrix Half{Y.Rows, Y.Cols / 2, {}};
    for (int64_t R = 0; R < Y.Rows; ++R)
      for (int64_t I = 0; I < Half.Cols; ++I) {
        int64_t Gate = I / 16 * 32 + I % 16;
        Half.Data.push_back(
            float(activate(Op.getGlu(), Y.row(R)[Gate]) * Y.row(R)[Gate + 16]));
      }
    Y = std::move(Half);
  }
  for (size_t I = 0; I < Y.Data.size(); ++I) {
    Y.Data[I] = float(activate(Op.getActivation(), Y.Data[I]));
    if (Op.getResidual())
      Y.Data[I] += in(Op.getResidual()).Data[I];
  }
  return Y;
}

Result<Matrix> LlmInterpreter::rope(llm::RopeOp Op) {
  Matrix Out = in(Op.getX());
  const Matrix &Table = in(Op.getTable());
  int64_t Half = Op.getRotaryHalf(), Dim = Op.getHeadDim();
  for (int64_t R = 0; R < Out.Rows; ++R)
    for (int64_t H = 0; H < int64_t(Op.getHeads()); ++H)
      for (int64_t I = 0; I < Half; ++I) {
        float *Head = Out.row(R) + H * Dim;
        float &Lo = Head[Op.getInterleaved() ? 2 * I : I];
        float &Hi = Head[Op.getInterleaved() ? 2 * I + 1 : I + Half];
        double C = Table.row(R)[I], S = Table.row(R)[I + Half];
        double A = Lo * C - Hi * S, B = Hi * C + Lo * S;
        Lo = float(A);
        Hi = float(B);
      }
  return Out;
}

Status LlmInterpreter::write(llm::KvWriteOp Op) {
  Cache &C = Caches[Op.getState()];
  auto Append = [](Matrix &To, const Matrix &From) {
    To.Rows += From.Rows;
    To.Cols = From.Cols;
    To.Data.insert(To.Data.end(), From.Data.begin(), From.Data.end());
  };
  Append(C.K, in(Op.getK()));
  Append(C.V, in(Op.getV()));
  C.Positions.insert(C.Positions.end(), Positions.begin(), Positions.end());
  return Status::success();
}

/// Without the roundings that StaticRounding notes: they are no ops of the
/// graph that the result is compared with.
Result<Matrix> LlmInterpreter::attention(llm::AttentionOp Op) {
  auto State = Symbols.lookup<llm::StateOp>(Op.getState());
  const Cache &C = Caches[Op.getState()];
  const Matrix &Q = in(Op.getQ());
  int64_t Heads = Op.getHeads(), Dim = State.getHeadDim();
  int64_t VDim = State.getVHeadDim(), Window = Op.getWindow();
  int64_t Chunk = Op.getChunk();
  int64_t Group = Heads / int64_t(State.getKvHeads());
  double Scale = Op.getScale().convertToFloat();
  double Cap = Op.getSoftcap().convertToFloat();
  const Matrix *Slopes = nullptr, *Sinks = nullptr;
  if (Op.getSlopes()) {
    LLMC_ASSIGN_OR_RETURN(Slopes, weight(Op.getSlopesAttr()));
  }
  if (Op.getSinks()) {
    LLMC_ASSIGN_OR_RETURN(Sinks, weight(Op.getSinksAttr()));
  }
  Matrix Out{Q.Rows, Heads * VDim, {}};
  Out.Data.resize(size_t(Q.Rows * Out.Cols));
  for (int64_t T = 0; T < Q.Rows; ++T)
    for (int64_t H = 0; H < Heads; ++H) {
      std::vector<double> P(static_cast<size_t>(C.K.Rows));
      double Max = -INFINITY, Sum = 0;
      int64_t Here = Positions[size_t(T)];
      auto Visible = [&](int64_t J) {
        int64_t At = C.Positions[size_t(J)];
        return At <= Here && (Window == 0 || At > Here - Window) &&
               (Chunk == 0 || At / Chunk == Here / Chunk);
      };
      for (int64_t J = 0; J < C.K.Rows; ++J) {
        double S = 0;
        for (int64_t D = 0; D < Dim; ++D)
          S += double(Q.row(T)[H * Dim + D]) * C.K.row(J)[H / Group * Dim + D];
        S *= Scale;
        P[size_t(J)] = Cap > 0 ? Cap * std::tanh(S / Cap) : S;
        if (Slopes)
          P[size_t(J)] +=
              Slopes->Data[size_t(H)] * double(C.Positions[size_t(J)] - Here);
        if (Visible(J))
          Max = std::max(Max, P[size_t(J)]);
      }
      for (int64_t J = 0; J < C.K.Rows; ++J)
        Sum += P[size_t(J)] = Visible(J) ? std::exp(P[size_t(J)] - Max) : 0;
      if (Sinks)
        Sum += std::exp(Sinks->Data[size_t(H)] - Max);
      for (int64_t D = 0; D < VDim; ++D) {
        double O = 0;
        for (int64_t J = 0; J < C.K.Rows; ++J)
          O += P[size_t(J)] * C.V.row(J)[H / Group * VDim + D];
        Out.row(T)[H * VDim + D] = float(O / Sum);
      }
    }
  return Out;
}

Result<Matrix> LlmInterpreter::logits(llm::LogitsOp Op) {
  LLMC_ASSIGN_OR_RETURN(Matrix X, norm(in(Op.getX()), Op.getNorm(),
                                       Op.getGainAttr(), Op.getNormBiasAttr(),
                                       Op.getEps().convertToFloat(), 1));
  LLMC_ASSIGN_OR_RETURN(Matrix Y,
                        product(X, Op.getWeightAttr(), Op.getBiasAttr()));
  double Cap = Op.getSoftcap().convertToFloat();
  for (float &V : Y.Data) {
    V *= Op.getMultiplier().convertToFloat();
    if (Cap > 0)
      V = float(Cap * std::tanh(V / Cap));
  }
  return Y;
}

Result<Matrix> LlmInterpreter::rowwise(llm::RowwiseOp Op) {
  LLMC_ASSIGN_OR_RETURN(const Matrix *Code, weight(Op.getProgramAttr()));
  RowProgram P;
  P.Count = Op.getCount();
  P.Scratch = Op.getScratch();
  P.Width = cast<RankedTensorType>(Op.getType()).getShape().back();
  P.Table = Code->Data;
  std::vector<std::vector<float>> Inputs;
  for (Value V : Op.getInputs()) {
    P.Widths.push_back(in(V).Cols);
    Inputs.push_back(in(V).Data);
  }
  int64_t Rows = in(Op.getInputs().front()).Rows;
  return Matrix{Rows, P.Width, runRowProgram(P, Inputs, Rows)};
}

Result<Matrix> LlmInterpreter::experts(llm::ExpertsOp Op) {
  LLMC_ASSIGN_OR_RETURN(const Matrix *W, weight(Op.getWeightAttr()));
  const Matrix *B = nullptr;
  if (Op.getBias()) {
    LLMC_ASSIGN_OR_RETURN(B, weight(Op.getBiasAttr()));
  }
  const Matrix &X = in(Op.getX()), &Route = in(Op.getRoute());
  int64_t Slots = Op.getSlots(), N = W->Rows / Route.Cols;
  bool Combine = Op.getCombine();
  Matrix Out{X.Rows, Combine ? N : Slots * N, {}};
  Out.Data.resize(size_t(Out.Rows * Out.Cols));
  for (int64_t R = 0; R < X.Rows; ++R)
    for (int64_t E = 0, Slot = 0; E < Route.Cols && Slot < Slots; ++E) {
      double Share = Route.row(R)[E];
      if (Share == 0)
        continue;
      const float *Row = X.row(R) + (Combine ? Slot * W->Cols : 0);
      for (int64_t I = 0; I < N; ++I) {
        double Sum = B ? B->Data[size_t(E * N + I)] : 0;
        for (int64_t K = 0; K < W->Cols; ++K)
          Sum += double(Row[K]) * W->row(E * N + I)[K];
        if (Combine)
          Out.row(R)[I] += float(Share * Sum);
        else
          Out.row(R)[Slot * N + I] = float(Sum);
      }
      ++Slot;
    }
  return Out;
}

Result<Matrix> LlmInterpreter::elementwise(Operation &Op) {
  Matrix Out = in(Op.getOperand(0));
  for (size_t I = 0; I < Out.Data.size(); ++I) {
    float &V = Out.Data[I];
    if (auto Act = dyn_cast<llm::ActivationOp>(Op))
      V = float(activate(Act.getKind(), V));
    else if (auto Glu = dyn_cast<llm::GluOp>(Op))
      V = float(activate(Glu.getKind(), V) * in(Glu.getUp()).Data[I]);
    else if (auto Add = dyn_cast<llm::AddOp>(Op))
      V += in(Add.getB()).Data[I];
    else if (auto Scale = dyn_cast<llm::ScaleOp>(Op))
      V *= Scale.getFactor().convertToFloat();
  }
  return Out;
}

Status LlmInterpreter::run(Operation &Op) {
  if (auto Write = dyn_cast<llm::KvWriteOp>(Op))
    return write(Write);
  Result<Matrix> Out =
      TypeSwitch<Operation *, Result<Matrix>>(&Op)
          .Case([&](llm::EmbedOp O) { return embed(O); })
          .Case([&](llm::RopeTableOp O) { return ropeTable(O); })
          .Case([&](llm::NormOp O) {
            return norm(in(O.getX()), O.getKind(), O.getGainAttr(),
                        O.getBiasAttr(), O.getEps().convertToFloat(),
                        O.getHeads());
          })
          .Case([&](llm::LinearOp O) { return linear(O); })
          .Case([&](llm::RopeOp O) { return rope(O); })
          .Case([&](llm::AttentionOp O) { return attention(O); })
          .Case([&](llm::LogitsOp O) { return logits(O); })
          .Case([&](llm::SelectByLengthOp O) {
            return in(Length > int64_t(O.getThreshold()) ? O.getB() : O.getA());
          })
          .Case([&](llm::RowwiseOp O) { return rowwise(O); })
          .Case([&](llm::ExpertsOp O) { return experts(O); })
          .Case([&](llm::TakeRowsOp O) {
            return norm(in(O.getX()), O.getNorm(), O.getGainAttr(),
                        O.getNormBiasAttr(), O.getEps().convertToFloat(), 1);
          })
          .Case<llm::ActivationOp, llm::GluOp, llm::AddOp, llm::ScaleOp>(
              [&](Operation *O) { return elementwise(*O); })
          .Default([](Operation *O) -> Result<Matrix> {
            return unsupportedError("the interpreter does not know " +
                                    O->getName().getStringRef().str());
          });
  if (!Out)
    return Out.takeStatus();
  Values[Op.getResult(0)] = Out.take();
  return Status::success();
}

Result<Matrix> LlmInterpreter::step(const std::vector<int64_t> &TheIds,
                                    const std::vector<int64_t> &ThePositions) {
  auto Step = Symbols.lookup<func::FuncOp>("step");
  if (!Step)
    return unsupportedError("the module has no step function");
  Ids = TheIds;
  Length = std::max<int64_t>(Length, ThePositions.back() + 1);
  Positions = ThePositions;
  Values.clear();
  Block &Body = Step.getBody().front();
  for (Operation &Op : Body.without_terminator())
    LLMC_RETURN_IF_ERROR(run(Op));
  return Values[Body.getTerminator()->getOperand(0)];
}
} // namespace llmc::raise
