// Records of row programs; see RowCoder.h.
#include "passes/raise/RowCoder.h"

#include <algorithm>

using namespace mlir;

namespace llmc::raise {

using kernels::RowOp;

// Far above what a row function needs; a program is read by every row.
constexpr size_t MostSteps = 4096;
constexpr size_t MostConstants = size_t(1) << 18;
constexpr int64_t MostScratch = int64_t(1) << 22;

static eval::Dims denseStrides(const eval::Dims &Shape) {
  eval::Dims Out(Shape.size(), 1);
  for (size_t I = Shape.size(); I-- > 1;)
    Out[I - 1] = Out[I] * Shape[I];
  return Out;
}

bool RowView::isDense() const {
  eval::Dims Want = denseStrides(Shape);
  for (size_t I = 0; I < Shape.size(); ++I)
    if (Shape[I] != 1 && Strides[I] != Want[I])
      return false;
  return true;
}

RowView RowCoder::input(Value V, const eval::Dims &Shape) {
  RowView Out;
  Out.Shape = Shape;
  Out.Strides = denseStrides(Shape);
  for (size_t I = 0; I < Blocks.size(); ++I)
    if (Blocks[I].Space >= kernels::RowInput &&
        Inputs[size_t(Blocks[I].Space - kernels::RowInput)] == V) {
      Out.Block = int64_t(I);
      return Out;
    }
  Out.Block = int64_t(Blocks.size());
  Blocks.push_back({kernels::RowInput + int64_t(Inputs.size()), Out.count()});
  Inputs.push_back(V);
  Widths.push_back(Out.count());
  return Out;
}

RowView RowCoder::constant(ArrayRef<float> Data, const eval::Dims &Shape) {
  RowView Out;
  Out.Shape = Shape;
  Out.Strides = denseStrides(Shape);
  for (auto &[Have, Block] : Known)
    if (ArrayRef<float>(Have).equals(Data)) {
      Out.Block = Block;
      return Out;
    }
  Out.Block = int64_t(Blocks.size());
  Blocks.push_back(
      {kernels::RowConstant, int64_t(Data.size()), int64_t(Constants.size())});
  Constants.insert(Constants.end(), Data.begin(), Data.end());
  Known.emplace_back(Data.vec(), Out.Block);
  return Out;
}

RowView RowCoder::scratch(const eval::Dims &Shape) {
  RowView Out;
  Out.Shape = Shape;
  Out.Strides = denseStrides(Shape);
  Out.Block = int64_t(Blocks.size());
  Blocks.push_back({kernels::RowScratch, Out.count()});
  return Out;
}

RowView RowCoder::dense(const RowView &V) {
  if (V.isDense())
    return V;
  RowView Out = map(kernels::RowCopy, V);
  Out.Whole = V.Whole;
  return Out;
}

RowView RowCoder::reshape(const RowView &V, const eval::Dims &Shape) {
  RowView Out = dense(V);
  Out.Shape = Shape;
  Out.Strides = denseStrides(Shape);
  return Out;
}

RowView RowCoder::broadcast(RowView V, const eval::Dims &Shape) {
  if (!V.present())
    return V;
  while (V.Shape.size() < Shape.size()) {
    V.Shape.insert(V.Shape.begin(), 1);
    V.Strides.insert(V.Strides.begin(), 0);
  }
  for (size_t I = 0; I < Shape.size(); ++I)
    if (V.Shape[I] != Shape[I]) {
      V.Shape[I] = Shape[I];
      V.Strides[I] = 0;
    }
  return V;
}

RowView RowCoder::axisLast(RowView V, int64_t Axis) {
  auto Move = [&](eval::Dims &D) {
    std::rotate(D.begin() + Axis, D.begin() + Axis + 1, D.end());
  };
  Move(V.Shape);
  Move(V.Strides);
  return V;
}

static eval::Dims commonShape(const RowView &A, const RowView &B,
                              const RowView &C) {
  eval::Dims Out;
  for (const RowView *V : {&A, &B, &C}) {
    if (!V->present())
      continue;
    while (Out.size() < V->Shape.size())
      Out.insert(Out.begin(), 1);
    size_t Skip = Out.size() - V->Shape.size();
    for (size_t I = 0; I < V->Shape.size(); ++I)
      if (V->Shape[I] != 1)
        Out[Skip + I] = V->Shape[I];
  }
  return Out;
}

RowView RowCoder::map(RowOp Op, const RowView &A, const RowView &B,
                      const RowView &C) {
  RowView Out = scratch(commonShape(A, B, C));
  mapTo(Out, Op, A, B, C);
  return Out;
}

void RowCoder::mapTo(const RowView &D, RowOp Op, const RowView &A,
                     const RowView &B, const RowView &C) {
  emit(Op, D.Shape, D, broadcast(A, D.Shape), broadcast(B, D.Shape),
       broadcast(C, D.Shape), /*Axis=*/false);
}

RowView RowCoder::reduce(RowOp Op, const RowView &A, int64_t Axis) {
  eval::Dims Shape = A.Shape;
  Shape[size_t(Axis)] = 1;
  RowView Out = scratch(Shape);
  RowView From = axisLast(A, Axis);
  RowView To = broadcast(axisLast(Out, Axis), From.Shape);
  emit(Op, From.Shape, To, From, {}, {}, /*Axis=*/true);
  return Out;
}

void RowCoder::emit(RowOp Op, const eval::Dims &Loops, const RowView &D,
                    const RowView &A, const RowView &B, const RowView &C,
                    bool Axis, int64_t Extra0, int64_t Extra1) {
  emitLoops(Op, Loops, {D, A, B, C}, Axis, Extra0, Extra1);
}

void RowCoder::emitLoops(RowOp Op, eval::Dims Loops, std::array<RowView, 4> V,
                         bool Axis, int64_t Extra0, int64_t Extra1) {
  auto Erase = [&](size_t I) {
    Loops.erase(Loops.begin() + int64_t(I));
    for (RowView &W : V)
      if (W.present())
        W.Strides.erase(W.Strides.begin() + int64_t(I));
  };
  for (int64_t N : Loops)
    if (N == 0)
      return;
  // Loops of one round go; neighbours that walk on alike become one.
  size_t Fixed = Axis ? 1 : 0;
  for (size_t I = Loops.size() - Fixed; I-- > 0;)
    if (Loops[I] == 1)
      Erase(I);
  for (size_t I = Loops.size() - Fixed; I-- > 1;) {
    bool Alike = llvm::all_of(V, [&](const RowView &W) {
      return !W.present() || W.Strides[I - 1] == W.Strides[I] * Loops[I];
    });
    if (!Alike)
      continue;
    Loops[I] *= Loops[I - 1];
    Erase(I - 1);
  }
  if (Loops.size() > 4) {
    // Written out; checked, since a nest of many odd dims would not end.
    for (int64_t I = 0; I < Loops[0] && !TooLong; ++I) {
      std::array<RowView, 4> Inner = V;
      for (RowView &W : Inner)
        if (W.present()) {
          W.Offset += I * W.Strides[0];
          W.Strides.erase(W.Strides.begin());
        }
      emitLoops(Op, eval::Dims(Loops.begin() + 1, Loops.end()), Inner, Axis,
                Extra0, Extra1);
    }
    return;
  }
  if (Steps.size() >= MostSteps) {
    TooLong = true;
    return;
  }
  Step New;
  New.S.Op = Op;
  New.S.Extra[0] = Extra0;
  New.S.Extra[1] = Extra1;
  size_t Pad = 4 - Loops.size();
  for (size_t I = 0; I < Loops.size(); ++I)
    New.S.Dim[Pad + I] = Loops[I];
  kernels::RowOperand *Operands[4] = {&New.S.D, &New.S.A, &New.S.B, &New.S.C};
  for (size_t I = 0; I < 4; ++I) {
    New.Used[I] = V[I].Block;
    if (!V[I].present())
      continue;
    Operands[I]->Offset = V[I].Offset;
    for (size_t J = 0; J < Loops.size(); ++J)
      Operands[I]->Stride[Pad + J] = V[I].Strides[J];
    Block &B = Blocks[size_t(V[I].Block)];
    if (B.First < 0)
      B.First = int64_t(Steps.size());
    B.Last = int64_t(Steps.size());
  }
  Steps.push_back(New);
}

/// First fit in order of first use, so that dead blocks are used again.
void RowCoder::placeScratch(int64_t &Total) {
  SmallVector<Block *> Order, Placed;
  for (Block &B : Blocks)
    if (B.Space == kernels::RowScratch && B.First >= 0)
      Order.push_back(&B);
  llvm::stable_sort(Order,
                    [](Block *A, Block *B) { return A->First < B->First; });
  Total = 0;
  for (Block *B : Order) {
    int64_t Size = (B->Size + 15) / 16 * 16, At = 0;
    llvm::sort(Placed,
               [](Block *X, Block *Y) { return X->Offset < Y->Offset; });
    for (Block *Other : Placed) {
      bool Together = Other->First <= B->Last && B->First <= Other->Last;
      int64_t End = Other->Offset + (Other->Size + 15) / 16 * 16;
      if (Together && Other->Offset < At + Size && At < End)
        At = End;
    }
    B->Offset = At;
    Placed.push_back(B);
    Total = std::max(Total, At + Size);
  }
}

std::string RowCoder::finish(const RowView &Root, RowProgram &Out) {
  RowView V = Root;
  Block &Own = Blocks[size_t(V.Block)];
  bool Direct = Own.Space == kernels::RowScratch && V.Offset == 0 &&
                V.isDense() && Own.Size == V.count();
  if (!Direct)
    V = map(kernels::RowCopy, V);
  Blocks[size_t(V.Block)].Space = kernels::RowResult;
  int64_t Scratch = 0;
  placeScratch(Scratch);
  if (TooLong)
    return "it has more than " + std::to_string(MostSteps) + " steps";
  if (Constants.size() > MostConstants)
    return "its constants have " + std::to_string(Constants.size()) +
           " values, at most " + std::to_string(MostConstants);
  if (Scratch > MostScratch)
    return "a row needs " + std::to_string(Scratch) +
           " values in between, at most " + std::to_string(MostScratch);
  if (Inputs.empty() || Inputs.size() > size_t(kernels::RowInputs))
    return "it takes " + std::to_string(Inputs.size()) +
           " values, expected 1 to " + std::to_string(kernels::RowInputs);
  Out.Inputs = Inputs;
  Out.Widths = Widths;
  Out.Count = int64_t(Steps.size());
  Out.Scratch = Scratch;
  Out.Width = V.count();
  for (Step &S : Steps) {
    kernels::RowOperand *Operands[4] = {&S.S.D, &S.S.A, &S.S.B, &S.S.C};
    std::vector<float> Record{float(S.S.Op)};
    for (size_t I = 0; I < 4; ++I) {
      int64_t Space = 0, Offset = 0;
      if (S.Used[I] >= 0) {
        const Block &B = Blocks[size_t(S.Used[I])];
        Space = B.Space;
        Offset = Operands[I]->Offset + B.Offset;
      }
      Record.push_back(float(Space));
      Record.push_back(float(Offset));
      for (int64_t Stride : Operands[I]->Stride)
        Record.push_back(float(Stride));
    }
    for (int64_t N : S.S.Dim)
      Record.push_back(float(N));
    for (int64_t E : S.S.Extra)
      Record.push_back(float(E));
    Record.resize(size_t(kernels::RowRecord));
    Out.Table.insert(Out.Table.end(), Record.begin(), Record.end());
  }
  Out.Table.insert(Out.Table.end(), Constants.begin(), Constants.end());
  return {};
}
} // namespace llmc::raise
