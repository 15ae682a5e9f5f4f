// Text form and sizes of encodings, and the codebooks. The tables are those of
// bitsandbytes (NF4: quantiles of the normal distribution scaled to [-1, 1]);
// ONNX Runtime's MatMulBnb4 gives the same values.
#include "compiler/weights/Encoding.h"

#include <charconv>
#include <cstdio>
#include <limits>
#include <vector>

namespace llmc {
namespace {
constexpr float Nf4Values[16] = {-1.0f,
                                 -0.6961928009986877f,
                                 -0.5250730514526367f,
                                 -0.39491748809814453f,
                                 -0.28444138169288635f,
                                 -0.18477343022823334f,
                                 -0.09105003625154495f,
                                 0.0f,
                                 0.07958029955625534f,
                                 0.16093020141124725f,
                                 0.24611230194568634f,
                                 0.33791524171829224f,
                                 0.44070982933044434f,
                                 0.5626170039176941f,
                                 0.7229568362236023f,
                                 1.0f};
constexpr float Sixth = 1.0f / 6, Third = 1.0f / 3;
constexpr float BnbFp4Values[16] = {
    0.0f,  0.00520833333f,  0.66666667f,  1.0f,  Third,  0.5f,  Sixth,  0.25f,
    -0.0f, -0.00520833333f, -0.66666667f, -1.0f, -Third, -0.5f, -Sixth, -0.25f};
constexpr float E2M1Values[16] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,
                                  4.0f,  6.0f,  -0.0f, -0.5f, -1.0f, -1.5f,
                                  -2.0f, -3.0f, -4.0f, -6.0f};

std::string floatText(float F) {
  char Text[32];
  std::snprintf(Text, sizeof Text, "%.9g", static_cast<double>(F));
  return Text;
}

std::vector<std::string_view> wordsOf(std::string_view Text) {
  std::vector<std::string_view> Words;
  while (!Text.empty()) {
    size_t End = std::min(Text.find(' '), Text.size());
    if (End > 0)
      Words.push_back(Text.substr(0, End));
    Text.remove_prefix(std::min(End + 1, Text.size()));
  }
  return Words;
}

DType dtypeNamed(std::string_view Name) {
  for (unsigned I = 1; I < DTypeCount; ++I)
    if (nameOf(static_cast<DType>(I)) == Name)
      return static_cast<DType>(I);
  return DType::None;
}

/// Reads the words of a text one after another.
class Words {
public:
  explicit Words(std::string_view Text) : List(wordsOf(Text)) {}
  bool done() const { return At == List.size(); }
  std::string_view next() { return done() ? std::string_view() : List[At++]; }
  DType type() {
    DType T = dtypeNamed(next());
    Ok &= T != DType::None;
    return T;
  }
  template <typename T> T number() { return parse<T>(next()); }
  template <typename T> T parse(std::string_view Word) {
    T Value{};
    std::from_chars_result R =
        std::from_chars(Word.data(), Word.data() + Word.size(), Value);
    Ok &= R.ec == std::errc() && R.ptr == Word.data() + Word.size();
    return Value;
  }
  bool Ok = true;

private:
  std::vector<std::string_view> List;
  size_t At = 0;
};

void readBlock(Words &W, Encoding &E) {
  std::string_view Word = W.next();
  size_t Cross = Word.find('x');
  W.Ok &= Cross != std::string_view::npos;
  if (!W.Ok)
    return;
  E.BlockRows = W.parse<uint64_t>(Word.substr(0, Cross));
  E.BlockCols = W.parse<uint64_t>(Word.substr(Cross + 1));
  W.Ok &= E.BlockRows > 0 && E.BlockCols > 0;
}

/// "zero 8" or "zero u4 2".
void readZero(Words &W, Encoding &E) {
  std::string_view Word = W.next();
  E.Zero = dtypeNamed(Word);
  if (E.Zero == DType::None)
    E.ZeroValue = W.parse<float>(Word);
  else
    E.ZeroPitch = W.number<uint64_t>();
}

uint64_t ceilDiv(uint64_t A, uint64_t B) { return A / B + (A % B != 0); }

uint64_t times(uint64_t A, uint64_t B) {
  uint64_t R;
  return __builtin_mul_overflow(A, B, &R) ? std::numeric_limits<uint64_t>::max()
                                          : R;
}
} // namespace

std::string toText(const Encoding &E) {
  std::string Out(nameOf(E.Code));
  if (E.Bits)
    Out += " bits " + std::to_string(E.Bits);
  if (E.Table != CodeTable::None)
    Out += E.Table == CodeTable::Nf4 ? " nf4" : " bnbfp4";
  if (E.HighFirst)
    Out += " high";
  Out += " pitch " + std::to_string(E.Pitch);
  if (E.Flat)
    Out += " flat " + std::to_string(E.Flat);
  else
    Out += " block " + std::to_string(E.BlockRows) + "x" +
           std::to_string(E.BlockCols);
  if (E.Groups)
    Out += " groups";
  Out += " scale " + std::string(nameOf(E.Scale)) + " " +
         std::to_string(E.ScalePitch);
  if (E.Turned)
    Out += " turned";
  if (E.Times != 1)
    Out += " times " + floatText(E.Times);
  if (E.Zero != DType::None)
    Out += " zero " + std::string(nameOf(E.Zero)) + " " +
           std::to_string(E.ZeroPitch);
  else if (E.ZeroValue != 0)
    Out += " zero " + floatText(E.ZeroValue);
  return Out;
}

Result<Encoding> encodingOf(std::string_view Text) {
  Encoding E;
  Words W(Text);
  E.Code = W.type();
  while (W.Ok && !W.done()) {
    std::string_view Key = W.next();
    if (Key == "nf4")
      E.Table = CodeTable::Nf4;
    else if (Key == "bnbfp4")
      E.Table = CodeTable::BnbFp4;
    else if (Key == "bits")
      E.Bits = W.number<uint8_t>();
    else if (Key == "turned")
      E.Turned = true;
    else if (Key == "high")
      E.HighFirst = true;
    else if (Key == "pitch")
      E.Pitch = W.number<uint64_t>();
    else if (Key == "flat")
      E.Flat = W.number<uint64_t>();
    else if (Key == "block")
      readBlock(W, E);
    else if (Key == "groups")
      E.Groups = true;
    else if (Key == "scale") {
      E.Scale = W.type();
      E.ScalePitch = W.number<uint64_t>();
    } else if (Key == "times")
      E.Times = W.number<float>();
    else if (Key == "zero")
      readZero(W, E);
    else
      W.Ok = false;
  }
  if (!W.Ok || E.Pitch == 0)
    return internalError("encoding '" + std::string(Text) + "' is malformed");
  return E;
}

unsigned codeBits(const Encoding &E) {
  return E.Bits ? E.Bits : bitsOf(E.Code);
}

unsigned packedBits(const Encoding &E) {
  return E.Bits ? (E.Bits <= 4 ? 4 : 8) : bitsOf(E.Code);
}

uint64_t codeRowBits(const Encoding &E) {
  return times(E.Pitch, uint64_t{codeBits(E)});
}

static bool isZeroStream(const Encoding &E) {
  return E.Bits && E.Zero == E.Code;
}

unsigned zeroBits(const Encoding &E) {
  return isZeroStream(E) ? codeBits(E) : bitsOf(E.Zero);
}

uint64_t zeroRowBits(const Encoding &E) {
  uint64_t Row = times(E.ZeroPitch, uint64_t{zeroBits(E)});
  return isZeroStream(E) ? times(ceilDiv(Row, 8), 8) : Row;
}

uint64_t codeBytes(const Encoding &E, uint64_t Rows) {
  return ceilDiv(times(Rows, codeRowBits(E)), 8);
}

uint64_t scaleBytes(const Encoding &E, uint64_t Rows, uint64_t Cols) {
  uint64_t Count = E.Flat ? ceilDiv(times(Rows, Cols), E.Flat)
                          : times(E.Turned ? ceilDiv(Cols, E.BlockCols)
                                           : ceilDiv(Rows, E.BlockRows),
                                  E.ScalePitch);
  return ceilDiv(times(Count, bitsOf(E.Scale)), 8);
}

uint64_t zeroBytes(const Encoding &E, uint64_t Rows) {
  return ceilDiv(times(ceilDiv(Rows, E.BlockRows), zeroRowBits(E)), 8);
}

const float *codebookOf(const Encoding &E) {
  if (E.Table == CodeTable::Nf4)
    return Nf4Values;
  if (E.Table == CodeTable::BnbFp4)
    return BnbFp4Values;
  return E.Code == DType::F4E2M1 ? E2M1Values : nullptr;
}

} // namespace llmc
