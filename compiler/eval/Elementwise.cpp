// Elementwise operations of the evaluator: unary functions, broadcasting
// binary ones, comparisons, Where, Clip and Cast.
#include "compiler/eval/Ops.h"

#include <algorithm>
#include <cmath>

namespace llmc::eval {

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

static double sigmoid(double X) { return 1 / (1 + std::exp(-X)); }

static double applyActivation(Unary Kind, double X, double A, double C) {
  switch (Kind) {
  case Unary::Sigmoid:
    return sigmoid(X);
  case Unary::Softplus:
    return X > 30 ? X : std::log1p(std::exp(X));
  case Unary::Softsign:
    return X / (1 + std::fabs(X));
  case Unary::Mish:
    return X * std::tanh(X > 30 ? X : std::log1p(std::exp(X)));
  case Unary::HardSwish:
    return X * std::clamp(X / 6 + 0.5, 0.0, 1.0);
  case Unary::Gelu:
    return 0.5 * X * (1 + std::erf(X * M_SQRT1_2));
  case Unary::GeluTanh:
    return 0.5 * X *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (X + 0.044715 * X * X * X)));
  case Unary::LeakyRelu:
    return X < 0 ? A * X : X;
  case Unary::Elu:
    return X < 0 ? A * std::expm1(X) : X;
  case Unary::Selu:
    return C * (X > 0 ? X : A * std::expm1(X));
  case Unary::Celu:
    return std::max(0.0, X) + std::min(0.0, A * std::expm1(X / A));
  case Unary::HardSigmoid:
    return std::clamp(A * X + C, 0.0, 1.0);
  case Unary::Swish:
  case Unary::QuickGelu:
    return X * sigmoid(A * X);
  case Unary::ThresholdedRelu:
    return X > A ? X : 0;
  case Unary::Shrink: // A is the threshold, C the bias
    return X < -A ? X + C : X > A ? X - C : 0;
  default:
    return X;
  }
}

static double applyUnary(Unary Kind, double X, double A, double C) {
  switch (Kind) {
  case Unary::Abs:
    return std::fabs(X);
  case Unary::Neg:
    return -X;
  case Unary::Sign:
    return std::isnan(X) ? X : (X > 0) - (X < 0);
  case Unary::Floor:
    return std::floor(X);
  case Unary::Ceil:
    return std::ceil(X);
  case Unary::Round:
    return std::nearbyint(X);
  case Unary::Sqrt:
    return std::sqrt(X);
  case Unary::Reciprocal:
    return 1 / X;
  case Unary::Exp:
    return std::exp(X);
  case Unary::Log:
    return std::log(X);
  case Unary::Sin:
    return std::sin(X);
  case Unary::Cos:
    return std::cos(X);
  case Unary::Tan:
    return std::tan(X);
  case Unary::Asin:
    return std::asin(X);
  case Unary::Acos:
    return std::acos(X);
  case Unary::Atan:
    return std::atan(X);
  case Unary::Sinh:
    return std::sinh(X);
  case Unary::Cosh:
    return std::cosh(X);
  case Unary::Asinh:
    return std::asinh(X);
  case Unary::Acosh:
    return std::acosh(X);
  case Unary::Atanh:
    return std::atanh(X);
  case Unary::Tanh:
    return std::tanh(X);
  case Unary::Erf:
    return std::erf(X);
  case Unary::Relu:
    return X < 0 ? 0 : X;
  default:
    return applyActivation(Kind, X, A, C);
  }
}

static Result<Tensor> unaryInteger(Budget &B, Unary Kind, const Tensor &X) {
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  std::vector<int64_t> V = load<int64_t>(X);
  for (int64_t &E : V)
    switch (Kind) {
    case Unary::Abs:
      E = E < 0 ? static_cast<int64_t>(-uint64_t(E)) : E;
      break;
    case Unary::Neg:
      E = static_cast<int64_t>(-uint64_t(E));
      break;
    case Unary::Sign:
      E = (E > 0) - (E < 0);
      break;
    case Unary::Relu:
      E = std::max<int64_t>(E, 0);
      break;
    default:
      return malformedError("a float operation on " + describe(X));
    }
  store(Out, V);
  return Out;
}

Result<Tensor> unary(Budget &B, Unary Kind, const Tensor &X, double Alpha,
                     double Beta) {
  if (isInteger(X.Type))
    return unaryInteger(B, Kind, X);
  if (!isFloat(X.Type))
    return malformedError("a numeric operation on " + describe(X));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  std::vector<double> V = load<double>(X);
  for (double &E : V)
    E = applyUnary(Kind, E, Alpha, Beta);
  store(Out, V);
  return Out;
}

template <typename F>
static Result<Tensor> predicate(Budget &B, const Tensor &X, F Fn) {
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(DType::Bool, X.Shape));
  std::vector<double> V = load<double>(X);
  for (size_t I = 0; I < V.size(); ++I)
    Out.Bytes[I] = Fn(V[I]);
  return Out;
}

Result<Tensor> logicalNot(Budget &B, const Tensor &X) {
  return predicate(B, X, [](double V) { return V == 0; });
}
Result<Tensor> isNan(Budget &B, const Tensor &X) {
  return predicate(B, X, [](double V) { return std::isnan(V); });
}
Result<Tensor> isInf(Budget &B, const Tensor &X, bool Positive, bool Negative) {
  return predicate(B, X, [=](double V) {
    return std::isinf(V) && (V > 0 ? Positive : Negative);
  });
}

Result<Tensor> bitwiseNot(Budget &B, const Tensor &X) {
  if (!isInteger(X.Type))
    return malformedError("a bitwise operation on " + describe(X));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  std::vector<int64_t> V = load<int64_t>(X);
  for (int64_t &E : V)
    E = ~E;
  store(Out, V);
  return Out;
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

/// Applies Fn to broadcast elements of type Wide.
template <typename Wide, typename F>
static Result<Tensor> broadcast(Budget &B, DType Type, const Tensor &X,
                                const Tensor &Y, F Fn) {
  LLMC_ASSIGN_OR_RETURN(Dims Shape, broadcastShapes(X.Shape, Y.Shape));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(Type, Shape));
  std::vector<Wide> A = load<Wide>(X), C = load<Wide>(Y);
  using Value = decltype(Fn(Wide(), Wide()));
  std::vector<Value> V(static_cast<size_t>(Out.count()));
  if (X.Shape == Shape && Y.Shape == Shape) {
    for (size_t I = 0; I < V.size(); ++I)
      V[I] = Fn(A[I], C[I]);
  } else {
    forEachIndex(
        Shape,
        {broadcastStrides(X.Shape, Shape), broadcastStrides(Y.Shape, Shape)},
        [&](int64_t I, const int64_t *At) {
          V[static_cast<size_t>(I)] =
              Fn(A[static_cast<size_t>(At[0])], C[static_cast<size_t>(At[1])]);
        });
  }
  store(Out, V);
  return Out;
}

template <typename T> static T applyFloat(Binary Kind, T X, T Y) {
  switch (Kind) {
  case Binary::Add:
    return X + Y;
  case Binary::Sub:
    return X - Y;
  case Binary::Mul:
    return X * Y;
  case Binary::Div:
    return X / Y;
  case Binary::Pow:
    return std::pow(X, Y);
  case Binary::Min:
    return std::isnan(X) ? X : std::isnan(Y) ? Y : std::min(X, Y);
  case Binary::Max:
    return std::isnan(X) ? X : std::isnan(Y) ? Y : std::max(X, Y);
  case Binary::Mod: {
    // The sign of Y; an infinite Y is kept where the signs differ.
    T R = std::fmod(X, Y);
    if (R == 0)
      return std::copysign(R, Y);
    return (R < 0) != (Y < 0) ? R + Y : R;
  }
  case Binary::FMod:
    return std::fmod(X, Y);
  case Binary::PRelu:
    return X < 0 ? X * Y : X;
  }
  return X;
}

/// Wrapping; division truncates and division by zero gives 0.
static int64_t applyInt(Binary Kind, int64_t X, int64_t Y) {
  uint64_t A = static_cast<uint64_t>(X), C = static_cast<uint64_t>(Y);
  switch (Kind) {
  case Binary::Add:
    return static_cast<int64_t>(A + C);
  case Binary::Sub:
    return static_cast<int64_t>(A - C);
  case Binary::Mul:
    return static_cast<int64_t>(A * C);
  case Binary::Div:
    return Y == 0 ? 0 : Y == -1 ? static_cast<int64_t>(-A) : X / Y;
  case Binary::Pow:
    return static_cast<int64_t>(
        std::pow(static_cast<long double>(X), static_cast<long double>(Y)));
  case Binary::Min:
    return std::min(X, Y);
  case Binary::Max:
    return std::max(X, Y);
  case Binary::FMod:
    return Y == 0 || Y == -1 ? 0 : X % Y;
  case Binary::Mod: {
    if (Y == 0 || Y == -1)
      return 0;
    int64_t R = X % Y;
    return R != 0 && (R < 0) != (Y < 0) ? R + Y : R;
  }
  case Binary::PRelu:
    return X < 0 ? static_cast<int64_t>(A * C) : X;
  }
  return X;
}

Result<Tensor> binary(Budget &B, Binary Kind, const Tensor &X,
                      const Tensor &Y) {
  if (X.Type != Y.Type && Kind != Binary::Pow)
    return malformedError("operands of different types " + describe(X) +
                          " and " + describe(Y));
  if (X.Type == DType::F64 ||
      (Kind == Binary::Pow && (isFloat(X.Type) || isFloat(Y.Type))))
    return broadcast<double>(B, X.Type, X, Y, [Kind](double A, double C) {
      return applyFloat(Kind, A, C);
    });
  if (isFloat(X.Type))
    return broadcast<float>(B, X.Type, X, Y, [Kind](float A, float C) {
      return applyFloat(Kind, A, C);
    });
  if (!isInteger(X.Type))
    return malformedError("a numeric operation on " + describe(X));
  return broadcast<int64_t>(B, X.Type, X, Y, [Kind](int64_t A, int64_t C) {
    return applyInt(Kind, A, C);
  });
}

template <typename T> static bool applyCompare(Compare Kind, T X, T Y) {
  switch (Kind) {
  case Compare::Equal:
    return X == Y;
  case Compare::Less:
    return X < Y;
  case Compare::LessOrEqual:
    return X <= Y;
  case Compare::Greater:
    return X > Y;
  case Compare::GreaterOrEqual:
    return X >= Y;
  }
  return false;
}

Result<Tensor> compare(Budget &B, Compare Kind, const Tensor &X,
                       const Tensor &Y) {
  if (X.Type != Y.Type)
    return malformedError("comparison of different types " + describe(X) +
                          " and " + describe(Y));
  if (isFloat(X.Type))
    return broadcast<double>(B, DType::Bool, X, Y, [Kind](double A, double C) {
      return static_cast<int64_t>(applyCompare(Kind, A, C));
    });
  return broadcast<int64_t>(B, DType::Bool, X, Y, [Kind](int64_t A, int64_t C) {
    return static_cast<int64_t>(applyCompare(Kind, A, C));
  });
}

/// Elements of signed types come sign-extended, so that shifting right keeps
/// the sign; a shift by all bits or more, or by less than 0, leaves only it.
static int64_t applyShift(bool Left, int64_t X, int64_t Y, unsigned Bits,
                          bool Signed) {
  bool Out = Y < 0 || Y >= static_cast<int64_t>(Bits);
  uint64_t A = static_cast<uint64_t>(X);
  if (Left)
    return Out ? 0 : static_cast<int64_t>(A << Y);
  if (Signed)
    return Out ? (X < 0 ? -1 : 0) : X >> Y;
  return Out ? 0 : static_cast<int64_t>(A >> Y);
}

static int64_t applyLogical(Logical Kind, int64_t X, int64_t Y) {
  switch (Kind) {
  case Logical::And:
    return X && Y;
  case Logical::Or:
    return X || Y;
  case Logical::Xor:
    return (X != 0) != (Y != 0);
  case Logical::BitAnd:
    return X & Y;
  case Logical::BitOr:
    return X | Y;
  case Logical::BitXor:
    return X ^ Y;
  case Logical::ShiftLeft:
  case Logical::ShiftRight:
    break; // applyShift
  }
  return 0;
}

Result<Tensor> logical(Budget &B, Logical Kind, const Tensor &X,
                       const Tensor &Y) {
  if (X.Type != Y.Type || isFloat(X.Type))
    return malformedError("a logical operation on " + describe(X) + " and " +
                          describe(Y));
  if (Kind == Logical::ShiftLeft || Kind == Logical::ShiftRight) {
    bool Left = Kind == Logical::ShiftLeft, Signed = isSigned(X.Type);
    unsigned Bits = bitsOf(X.Type);
    return broadcast<int64_t>(B, X.Type, X, Y, [=](int64_t A, int64_t C) {
      return applyShift(Left, A, C, Bits, Signed);
    });
  }
  return broadcast<int64_t>(B, X.Type, X, Y, [Kind](int64_t A, int64_t C) {
    return applyLogical(Kind, A, C);
  });
}

//===----------------------------------------------------------------------===//
// Selection and conversion
//===----------------------------------------------------------------------===//

Result<Tensor> where(Budget &B, const Tensor &Condition, const Tensor &X,
                     const Tensor &Y) {
  if (X.Type != Y.Type || Condition.Type != DType::Bool)
    return malformedError("where on " + describe(Condition) + ", " +
                          describe(X) + ", " + describe(Y));
  LLMC_ASSIGN_OR_RETURN(Dims Pair, broadcastShapes(X.Shape, Y.Shape));
  LLMC_ASSIGN_OR_RETURN(Dims Shape, broadcastShapes(Pair, Condition.Shape));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, Shape));
  size_t Size = storedBytes(X.Type);
  forEachIndex(
      Shape,
      {broadcastStrides(Condition.Shape, Shape),
       broadcastStrides(X.Shape, Shape), broadcastStrides(Y.Shape, Shape)},
      [&](int64_t I, const int64_t *At) {
        bool Take = Condition.Bytes[static_cast<size_t>(At[0])];
        const Tensor &From = Take ? X : Y;
        size_t Source = static_cast<size_t>(Take ? At[1] : At[2]) * Size;
        std::memcpy(&Out.Bytes[static_cast<size_t>(I) * Size],
                    &From.Bytes[Source], Size);
      });
  return Out;
}

template <typename Wide>
static void clipAs(Tensor &Out, const Tensor &X, const Tensor &Low,
                   const Tensor &High) {
  std::vector<Wide> V = load<Wide>(X);
  if (Low.present()) {
    Wide L = load<Wide>(Low)[0];
    for (Wide &E : V)
      E = E < L ? L : E;
  }
  if (High.present()) {
    Wide H = load<Wide>(High)[0];
    for (Wide &E : V)
      E = E > H ? H : E;
  }
  store(Out, V);
}

Result<Tensor> clip(Budget &B, const Tensor &X, const Tensor &Low,
                    const Tensor &High) {
  if ((Low.present() && Low.count() != 1) ||
      (High.present() && High.count() != 1))
    return malformedError("clip needs one-element limits");
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(X.Type, X.Shape));
  if (isFloat(X.Type))
    clipAs<double>(Out, X, Low, High);
  else
    clipAs<int64_t>(Out, X, Low, High);
  return Out;
}

Result<Tensor> cast(Budget &B, const Tensor &X, DType To, bool Saturate,
                    PowerRounding Rounding) {
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(To, X.Shape));
  if (X.Type == To) {
    Out.Bytes = X.Bytes;
  } else if (isSmallFloat(To)) {
    std::vector<double> V = load<double>(X);
    for (size_t I = 0; I < V.size(); ++I)
      Out.Bytes[I] = toSmallFloat(To, V[I], Saturate, Rounding);
  } else if (isFloat(X.Type) || (X.Type == DType::U64 && isFloat(To))) {
    store(Out, load<double>(X));
  } else {
    store(Out, load<int64_t>(X));
  }
  return Out;
}

Result<Tensor> bitCast(Budget &B, const Tensor &X, DType To) {
  if (bitsOf(X.Type) != bitsOf(To))
    return malformedError("bit_cast of " + describe(X) + " to " +
                          std::string(nameOf(To)));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(To, X.Shape));
  Out.Bytes = X.Bytes;
  // Elements below one byte lie sign-extended.
  if (isInteger(To) && bitsOf(To) < 8) {
    std::vector<int64_t> V(X.Bytes.begin(), X.Bytes.end());
    store(Out, V);
  } else if (bitsOf(To) < 8) {
    for (uint8_t &E : Out.Bytes)
      E = static_cast<uint8_t>(E & ((1u << bitsOf(To)) - 1));
  }
  return Out;
}

} // namespace llmc::eval
