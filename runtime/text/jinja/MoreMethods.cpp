// Methods of texts that templates use rarely: padding, kinds of characters,
// and those that take a range.
#include "runtime/text/Utf8.h"
#include "runtime/text/jinja/Library.h"

#include <algorithm>

namespace llmc::jinja {

namespace {

/// Text between two numbers of characters; negative ones count from the end.
std::string_view rangeOf(std::string_view S, const Arguments &A, size_t &Skip) {
  std::vector<size_t> Starts = characterStarts(S);
  int64_t N = static_cast<int64_t>(Starts.size()) - 1;
  auto Clamped = [&](size_t I, int64_t Default) {
    const Value *V = A.get(I, "");
    int64_t At = V != nullptr && V->isInteger() ? V->asInteger() : Default;
    return std::clamp<int64_t>(At < 0 ? At + N : At, 0, N);
  };
  int64_t From = Clamped(1, 0), To = std::max(From, Clamped(2, N));
  Skip = static_cast<size_t>(From);
  return S.substr(Starts[From], Starts[To] - Starts[From]);
}

bool startsBehindEnd(std::string_view S, const Arguments &A) {
  const Value *V = A.get(1, "");
  return V != nullptr && V->isInteger() &&
         V->asInteger() > static_cast<int64_t>(characterCount(S));
}

Value padded(Context &C, const std::string &S, const std::string &M,
             const Arguments &A) {
  const Value *Width = A.get(0, "width"), *Fill = A.get(1, "fillchar");
  if (Width == nullptr || !Width->isInteger())
    return C.fail(M + "() needs an integer width");
  std::string With = Fill != nullptr && Fill->isString()
                         ? Fill->asString()
                         : (M == "zfill" ? "0" : " ");
  if (characterCount(With) != 1)
    return C.fail("the fill character must be exactly one character long");
  int64_t Size = static_cast<int64_t>(characterCount(S));
  int64_t Missing = Width->asInteger() - Size;
  if (Missing <= 0)
    return Value::string(S);
  if (!C.room(S.size() + static_cast<uint64_t>(Missing) * With.size()))
    return Value();
  // Python puts the odd one to the left when the width is odd.
  int64_t Left = M == "ljust" ? 0 : Missing;
  if (M == "center")
    Left = Missing / 2 + (Missing & Width->asInteger() & 1);
  std::string Out;
  size_t Sign = M == "zfill" && (S.starts_with('+') || S.starts_with('-'));
  Out += S.substr(0, Sign);
  for (int64_t I = 0; I < Left; ++I)
    Out += With;
  Out += S.substr(Sign);
  for (int64_t I = Left; I < Missing; ++I)
    Out += With;
  return Value::string(std::move(Out));
}

/// Whether all characters, one at least, are letters or numbers.
bool isAlphanumeric(std::string_view S) {
  for (size_t I = 0; I < S.size();) {
    uint32_t C = nextCodePoint(S, I);
    if (!isLetter(C) && !isNumeric(C))
      return false;
  }
  return !S.empty();
}

/// Large characters only at the begin of runs of cased ones.
bool isTitled(std::string_view S) {
  bool Any = false, Inside = false;
  for (size_t I = 0; I < S.size();) {
    uint32_t C = nextCodePoint(S, I);
    bool Large = isUpper(C) || isTitle(C);
    if ((Large && Inside) || (isLower(C) && !Inside))
      return false;
    Inside = isCased(C);
    Any |= Inside;
  }
  return Any;
}

bool isIdentifier(std::string_view S) {
  for (size_t I = 0; I < S.size();) {
    bool First = I == 0;
    uint32_t C = nextCodePoint(S, I);
    if (!(C == '_' || isLetter(C) || (!First && isDecimal(C))))
      return false;
  }
  return !S.empty();
}

bool allPrintable(std::string_view S) {
  for (size_t I = 0; I < S.size();)
    if (!isPrintable(nextCodePoint(S, I)))
      return false;
  return true;
}

/// Tabs to the next multiple of Size characters of the line.
Value expandTabs(Context &C, std::string_view S, int64_t Size) {
  std::string Out;
  int64_t Column = 0;
  for (size_t I = 0; I < S.size() && !C.failed();) {
    size_t Begin = I;
    uint32_t P = nextCodePoint(S, I);
    if (P == '\t') {
      int64_t By = Size > 0 ? Size - Column % Size : 0;
      if (!C.room(Out.size() + static_cast<uint64_t>(By)))
        return Value();
      Out.append(static_cast<size_t>(By), ' ');
      Column += By;
      continue;
    }
    Out += S.substr(Begin, I - Begin);
    Column = P == '\n' || P == '\r' ? 0 : Column + 1;
  }
  return Value::string(std::move(Out));
}

/// The table of str.translate: code point to code point, text or none.
Value translate(Context &C, const std::string &S, const Value &Table) {
  std::string Out;
  if (!Table.isDict())
    return C.fail("translate() needs a dict, not " +
                  std::string(Table.typeName()));
  for (size_t I = 0; I < S.size() && !C.failed();) {
    size_t Begin = I;
    uint32_t P = nextCodePoint(S, I);
    const Value *To = Table.find(Value::integer(P));
    if (To == nullptr)
      Out.append(S, Begin, I - Begin);
    else if (To->isString())
      Out += To->asString();
    else if (To->isInteger() && To->asInteger() >= 0 &&
             To->asInteger() < 0x110000 && To->asInteger() >> 11 != 27)
      appendUtf8(Out, static_cast<uint32_t>(To->asInteger()));
    else if (!To->isNone())
      return C.fail("character mapping must be in range(0x110000)");
    (void)C.room(Out.size() > Context::MaxText ? Out.size() : 0);
  }
  return Value::string(std::move(Out));
}

/// Of two texts of equal length (and one to drop), or of a dict.
Value makeTable(Context &C, const Arguments &A) {
  Value::Members M;
  auto CodeOf = [](const std::string &S) {
    size_t I = 0;
    return Value::integer(nextCodePoint(S, I));
  };
  if (A.Positional.size() == 1 && A.Positional[0].isDict()) {
    for (const auto &[Key, V] : A.Positional[0].members()) {
      if (Key.isString() && characterCount(Key.asString()) != 1)
        return C.fail("string keys in translate table must be of length 1");
      M.emplace_back(Key.isString() ? CodeOf(Key.asString()) : Key, V);
    }
    return Value::dict(std::move(M));
  }
  for (const Value &V : A.Positional)
    if (!V.isString())
      return C.fail("maketrans arguments must be texts or one dict");
  if (A.Positional.size() < 2 || A.Positional.size() > 3)
    return C.fail("maketrans takes 1 to 3 arguments");
  Value::Items From = C.iterate(A.Positional[0]),
               To = C.iterate(A.Positional[1]);
  if (From.size() != To.size())
    return C.fail("the first two maketrans arguments must have equal length");
  for (size_t I = 0; I < From.size(); ++I)
    M.emplace_back(CodeOf(From[I].asString()), CodeOf(To[I].asString()));
  if (A.Positional.size() == 3)
    for (const Value &V : C.iterate(A.Positional[2]))
      M.emplace_back(CodeOf(V.asString()), Value::none());
  return Value::dict(std::move(M));
}

Value splitLines(const std::string &S, bool KeepEnds) {
  Value::Items Out;
  for (std::string &L : linesOf(S, KeepEnds))
    Out.push_back(Value::string(std::move(L)));
  return Value::list(std::move(Out));
}

/// find, rfind, index, rindex, count, startswith, endswith of a part.
Value inRange(Context &C, const std::string &S, const std::string &M,
              const Arguments &A) {
  size_t Skip = 0;
  std::string Part(rangeOf(S, A, Skip));
  Arguments First;
  First.Positional.push_back(A.Positional.front());
  bool Behind = startsBehindEnd(S, A);
  if (Behind && (M == "startswith" || M == "endswith"))
    return Value::boolean(false);
  Value V = callMethod(C, Value::string(Part), M, First);
  if (Behind && M == "count")
    return Value::integer(0);
  bool Place = M.ends_with("find") || M.ends_with("index");
  if (!Place || V.kind() != Value::Kind::Int || V.asInteger() < 0)
    return V;
  return Value::integer(V.asInteger() + static_cast<int64_t>(Skip));
}

} // namespace

bool isMoreMethod(std::string_view M, const Arguments *A) {
  for (std::string_view N :
       {"center", "ljust", "rjust", "zfill", "swapcase", "isalnum", "isascii",
        "splitlines", "istitle", "isidentifier", "isprintable", "expandtabs",
        "translate", "maketrans", "format_map"})
    if (M == N)
      return true;
  if (A == nullptr || A->Positional.size() < 2)
    return false;
  for (std::string_view N :
       {"find", "rfind", "index", "rindex", "count", "startswith", "endswith"})
    if (M == N)
      return true;
  return false;
}

Value moreMethod(Context &C, const std::string &S, const std::string &M,
                 const Arguments &A) {
  if (M == "swapcase")
    return Value::string(swappedCase(S));
  if (M == "istitle")
    return Value::boolean(isTitled(S));
  if (M == "isidentifier")
    return Value::boolean(isIdentifier(S));
  if (M == "isprintable")
    return Value::boolean(allPrintable(S));
  if (M == "expandtabs") {
    const Value *Size = A.get(0, "tabsize");
    return expandTabs(C, S, Size && Size->isInteger() ? Size->asInteger() : 8);
  }
  if (M == "maketrans")
    return makeTable(C, A);
  if (M == "translate" || M == "format_map") {
    if (A.Positional.size() != 1)
      return C.fail(M + "() takes exactly one argument (" +
                    std::to_string(A.Positional.size()) + " given)");
    if (M == "translate")
      return translate(C, S, A.Positional[0]);
    Arguments Named;
    for (const auto &[Key, V] : A.Positional[0].members())
      Named.Named.emplace_back(display(Key), V);
    return formatBraces(C, Value::string(S), Named);
  }
  if (M == "isalnum")
    return Value::boolean(isAlphanumeric(S));
  if (M == "isascii")
    return Value::boolean(
        std::all_of(S.begin(), S.end(), [](char Ch) { return Ch >= 0; }));
  if (M == "splitlines") {
    const Value *Keep = A.get(0, "keepends");
    return splitLines(S, Keep != nullptr && Keep->truthy());
  }
  if (M == "center" || M == "ljust" || M == "rjust" || M == "zfill")
    return padded(C, S, M, A);
  return inRange(C, S, M, A);
}

} // namespace llmc::jinja
