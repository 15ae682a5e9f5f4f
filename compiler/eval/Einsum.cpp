// Einsum: reading the equation and the plain sum over all labels.
#include "compiler/eval/Einsum.h"
#include "compiler/eval/Ops.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace llmc::eval {

namespace {
/// Dims of the ellipsis are labels from here on, the last dim first.
constexpr int EllipsisBase = 1000;
constexpr size_t MaxRank = 32;

struct Term {
  std::vector<int> Before, After; ///< labels around the ellipsis
  bool Ellipsis = false;
};
} // namespace

static Result<Term> parseTerm(std::string_view Text) {
  Term T;
  for (size_t I = 0; I < Text.size(); ++I) {
    unsigned char C = static_cast<unsigned char>(Text[I]);
    if (std::isalpha(C)) {
      (T.Ellipsis ? T.After : T.Before).push_back(C);
    } else if (Text.substr(I, 3) == "..." && !T.Ellipsis) {
      T.Ellipsis = true;
      I += 2;
    } else if (C != ' ') {
      return malformedError("einsum: '" + std::string(Text) +
                            "' is no list of letters");
    }
  }
  return T;
}

/// The labels of a term whose ellipsis stands for Count dims.
static std::vector<int> labelsOf(const Term &T, size_t Count) {
  std::vector<int> Out = T.Before;
  for (size_t I = Count; T.Ellipsis && I-- > 0;)
    Out.push_back(EllipsisBase + static_cast<int>(I));
  Out.insert(Out.end(), T.After.begin(), T.After.end());
  return Out;
}

static std::vector<int> implicitOutput(const EinsumLabels &L, size_t Dims) {
  std::map<int, int> Seen;
  for (const std::vector<int> &In : L.Inputs)
    for (int Label : In)
      ++Seen[Label];
  std::vector<int> Out;
  for (size_t I = Dims; I-- > 0;)
    Out.push_back(EllipsisBase + static_cast<int>(I));
  for (auto [Label, Times] : Seen)
    if (Times == 1 && Label < EllipsisBase)
      Out.push_back(Label);
  return Out;
}

Result<EinsumLabels> parseEinsum(std::string_view Equation,
                                 const std::vector<int64_t> &Ranks) {
  size_t Arrow = Equation.find("->");
  std::string_view Left = Equation.substr(0, Arrow);
  EinsumLabels L;
  size_t Ellipsis = 0;
  for (size_t I = 0; I < Ranks.size(); ++I) {
    size_t Comma = Left.find(',');
    if ((Comma == std::string_view::npos) != (I + 1 == Ranks.size()))
      return malformedError("einsum: the equation does not have " +
                            std::to_string(Ranks.size()) + " operands");
    LLMC_ASSIGN_OR_RETURN(Term T, parseTerm(Left.substr(0, Comma)));
    Left.remove_prefix(Comma == std::string_view::npos ? Left.size()
                                                       : Comma + 1);
    size_t Named = T.Before.size() + T.After.size();
    size_t Rank = static_cast<size_t>(Ranks[I]);
    if (Rank > MaxRank || Named > Rank || (!T.Ellipsis && Named != Rank))
      return malformedError("einsum: operand " + std::to_string(I) + " has " +
                            std::to_string(Rank) + " dims, the equation " +
                            std::to_string(Named));
    if (T.Ellipsis)
      Ellipsis = std::max(Ellipsis, Rank - Named);
    L.Inputs.push_back(labelsOf(T, Rank - Named));
  }
  if (Arrow == std::string_view::npos) {
    L.Output = implicitOutput(L, Ellipsis);
    return L;
  }
  LLMC_ASSIGN_OR_RETURN(Term T, parseTerm(Equation.substr(Arrow + 2)));
  L.Output = labelsOf(T, Ellipsis);
  for (size_t I = 0; I < L.Output.size(); ++I) {
    int Label = L.Output[I];
    bool Known = false;
    for (const std::vector<int> &In : L.Inputs)
      Known |= std::find(In.begin(), In.end(), Label) != In.end();
    if (!Known || std::count(L.Output.begin(), L.Output.end(), Label) > 1)
      return malformedError("einsum: the output has a label twice or one that "
                            "no operand has");
  }
  return L;
}

namespace {
/// Every label once, those of the output first.
struct LabelSpace {
  std::vector<int> Labels;
  Dims Sizes;
};
} // namespace

static Result<LabelSpace>
labelSpace(const EinsumLabels &L, const std::vector<const Tensor *> &Inputs) {
  LabelSpace S{L.Output, {}};
  for (const std::vector<int> &In : L.Inputs)
    for (int Label : In)
      if (std::find(S.Labels.begin(), S.Labels.end(), Label) == S.Labels.end())
        S.Labels.push_back(Label);
  for (int Label : S.Labels) {
    int64_t Size = 1;
    for (size_t I = 0; I < Inputs.size(); ++I)
      for (size_t A = 0; A < L.Inputs[I].size(); ++A) {
        int64_t Dim = Inputs[I]->Shape[A];
        if (L.Inputs[I][A] != Label || Dim == 1)
          continue;
        if (Size != 1 && Size != Dim)
          return malformedError("einsum: a label is " + std::to_string(Size) +
                                " and " + std::to_string(Dim));
        Size = Dim;
      }
    S.Sizes.push_back(Size);
  }
  return S;
}

/// How far each label moves in an operand; a repeated label takes diagonals.
static Dims labelStrides(const LabelSpace &S, const std::vector<int> &Labels,
                         const Dims &Shape) {
  Dims Own = stridesOf(Shape), Out(S.Labels.size(), 0);
  for (size_t A = 0; A < Labels.size(); ++A)
    for (size_t I = 0; I < S.Labels.size(); ++I)
      if (S.Labels[I] == Labels[A] && Shape[A] != 1)
        Out[I] += Own[A];
  return Out;
}

template <typename Wide>
static void sumProducts(Tensor &Out, const LabelSpace &S,
                        const std::vector<const Tensor *> &Inputs,
                        const std::vector<Dims> &Strides) {
  std::vector<std::vector<Wide>> V;
  for (const Tensor *T : Inputs)
    V.push_back(load<Wide>(*T));
  std::vector<Wide> Sums(static_cast<size_t>(Out.count()), Wide(0));
  size_t Last = Inputs.size();
  forEachIndex(S.Sizes, Strides, [&](int64_t, const int64_t *At) {
    Wide P = 1;
    for (size_t I = 0; I < V.size(); ++I)
      P *= V[I][static_cast<size_t>(At[I])];
    Sums[static_cast<size_t>(At[Last])] += P;
  });
  store(Out, Sums);
}

Result<Tensor> einsum(Budget &B, std::string_view Equation,
                      const std::vector<const Tensor *> &Inputs) {
  std::vector<int64_t> Ranks;
  for (const Tensor *T : Inputs) {
    if (T->Type != Inputs[0]->Type ||
        (!isFloat(T->Type) && !isInteger(T->Type)))
      return malformedError("einsum of " + describe(*T));
    Ranks.push_back(T->rank());
  }
  LLMC_ASSIGN_OR_RETURN(EinsumLabels L, parseEinsum(Equation, Ranks));
  LLMC_ASSIGN_OR_RETURN(LabelSpace S, labelSpace(L, Inputs));
  Dims Shape(S.Sizes.begin(),
             S.Sizes.begin() + static_cast<int64_t>(L.Output.size()));
  LLMC_RETURN_IF_ERROR(B.work(countOf(S.Sizes)));
  LLMC_ASSIGN_OR_RETURN(Tensor Out, B.allocate(Inputs[0]->Type, Shape));
  std::vector<Dims> Strides;
  for (size_t I = 0; I < Inputs.size(); ++I)
    Strides.push_back(labelStrides(S, L.Inputs[I], Inputs[I]->Shape));
  Strides.push_back(labelStrides(S, L.Output, Shape));
  if (isFloat(Out.Type))
    sumProducts<double>(Out, S, Inputs, Strides);
  else
    sumProducts<int64_t>(Out, S, Inputs, Strides);
  return Out;
}

} // namespace llmc::eval
