// Tensor-core instructions: mma.sync, ldmatrix, stmatrix, movmatrix.
#include "tools/cudasim/program/LowerTools.h"

namespace llmc::cudasim {
namespace {

/// The multiplicand types of mma; kinds beyond Type's are numbers of bits with
/// a Meaning of their own: tf32 is 19 bits, e4m3 and e5m2 are 8-bit floats.
Type multiplicand(Modifiers &Mod) {
  std::string N = Mod.next();
  if (N == "tf32")
    return {Meaning::Float, 19, 1};
  if (N == "e4m3")
    return {Meaning::Float, 8, 1};
  if (N == "e5m2")
    return {Meaning::BFloat, 8, 1};
  if (N == "s4" || N == "u4")
    return {N[0] == 's' ? Meaning::Signed : Meaning::Unsigned, 4, 1};
  Type T = typeNamed(N);
  bool Good = (T.Bits == 16 && T.isFloat()) || (T.Bits == 8 && !T.isFloat()) ||
              (T.Bits == 64 && T.isFloat());
  if (!Good || T.Count != 1)
    Mod.fail("multiplicands of type '." + N + "' are not supported");
  return T;
}

unsigned bitsInRegister(Type T) { return T.Bits == 19 ? 32 : T.Bits; }

void mma(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  if (Mod.take("sp") || Mod.take("sp::ordered_metadata"))
    Mod.fail("sparse products are not supported");
  Mod.take("sync");
  Mod.take("aligned");
  std::string Shape = Mod.next();
  if (!Mod.take("row") || !Mod.take("col"))
    Mod.fail("the layouts must be .row.col");
  bool Finite = Mod.take("satfinite");
  Type D = Mod.type(), A = multiplicand(Mod), B = multiplicand(Mod),
       C = Mod.type();
  Mod.finish();
  unsigned Rows = 0, Columns = 0, Depth = 0;
  if (std::sscanf(Shape.c_str(), "m%un%uk%u", &Rows, &Columns, &Depth) != 3 ||
      Rows != 16 || Columns != 8 || A.Bits == 64)
    Mod.fail("shape '." + Shape + "' is not supported");
  unsigned Bits = bitsInRegister(A);
  unsigned Least = A.Bits == 19 ? 4 : 128 / Bits, Most = 256 / Bits;
  bool FloatSum = D.isFloat();
  if (bitsInRegister(B) != Bits || D != C || Depth < Least || Depth > Most ||
      (Depth & (Depth - 1)) || A.isFloat() != B.isFloat() ||
      A.isFloat() != FloatSum ||
      (FloatSum ? D.Bits != 32 && D.Bits != 16
                : D != Type{Meaning::Signed, 32}))
    Mod.fail("no such combination of shape and types");
  // Registers: A has 16 * Depth elements for 32 lanes, B half as many.
  size_t PerA = Depth * Bits / 64, PerB = PerA / 2;
  size_t PerC = FloatSum && D.Bits == 16 ? 2 : 4;
  size_t Wanted[] = {PerC, PerA, PerB, PerC};
  std::vector<Value> Results, Sources;
  for (size_t N = 0; N != 4; ++N) {
    const Operand &O = S.Operands.at(N);
    std::vector<Operand> Items =
        O.What == Operand::Vector ? O.Items : std::vector<Operand>{O};
    if (Items.size() != Wanted[N])
      Mod.fail("operand " + std::to_string(N) + " has " +
               std::to_string(Items.size()) + " registers, expected " +
               std::to_string(Wanted[N]));
    for (const Operand &R : Items)
      (N == 0 ? Results : Sources)
          .push_back(N == 0 ? L.result(R, 32) : L.source(R, 32));
  }
  Inst &I = L.emit(Op::Mma, NoValue);
  I.Of = A;
  I.With = B;
  I.Imm = Depth;
  I.Elements = FloatSum && D.Bits == 16; // sums in halves
  I.Sub = Finite;
  L.list(Results, Sources);
  L.synchronise();
}

unsigned matrices(Modifiers &Mod) {
  for (unsigned N : {1u, 2u, 4u})
    if (Mod.take("x" + std::to_string(N)))
      return N;
  Mod.fail("the number of matrices is missing");
}

void matrixAccess(Lowering &L, const Statement &S) {
  bool Load = S.Opcode[0] == "ldmatrix";
  Modifiers Mod(S);
  Mod.take("sync");
  Mod.take("aligned");
  if (!Mod.take("m8n8"))
    Mod.fail("only shape .m8n8 is supported");
  unsigned N = matrices(Mod);
  bool Transposed = Mod.take("trans");
  Space Where = Space::Generic;
  if (Mod.take("shared") || Mod.take("shared::cta"))
    Where = Space::Shared;
  if (!Mod.take("b16"))
    Mod.fail("only type .b16 is supported");
  Mod.finish();
  Lowering::Address At = L.address(S.Operands.at(Load ? 1 : 0), Where);
  const Operand &List = S.Operands.at(Load ? 0 : 1);
  std::vector<Operand> Items =
      List.What == Operand::Vector ? List.Items : std::vector<Operand>{List};
  if (Items.size() != N)
    Mod.fail(std::to_string(N) + " registers expected, found " +
             std::to_string(Items.size()));
  std::vector<Value> Regs;
  for (const Operand &O : Items)
    Regs.push_back(Load ? L.result(O, 32) : L.source(O, 32));
  Inst &I = L.emit(Load ? Op::LoadMatrix : Op::StoreMatrix, NoValue, At.Base);
  I.Imm = At.Added;
  I.Flags |= At.Narrow ? Narrow : 0;
  I.Where = Where;
  I.Bytes = 16;
  I.Elements = static_cast<uint8_t>(N);
  I.Sub = Transposed;
  if (Load)
    L.list(Regs, {});
  else
    L.list({}, Regs);
  L.synchronise();
}

void moveMatrix(Lowering &L, const Statement &S) {
  Modifiers Mod(S);
  for (const char *Name : {"sync", "aligned", "m8n8", "trans", "b16"})
    if (!Mod.take(Name))
      Mod.fail(std::string("modifier '.") + Name + "' is missing");
  Mod.finish();
  Value A = L.source(S.Operands.at(1), 32);
  L.emit(Op::MoveMatrix, L.result(S.Operands.at(0), 32), A);
  L.synchronise();
}
} // namespace

void addMatrixLowerings(LowerTable &T) {
  T["mma"] = mma;
  T["ldmatrix"] = T["stmatrix"] = matrixAccess;
  T["movmatrix"] = moveMatrix;
}

} // namespace llmc::cudasim
