// Methods of texts that templates use rarely: padding, kinds of characters,
// and those that take a range.
#include "runtime/text/Utf8.h"
#include "runtime/text/jinja/Library.h"

#include <algorithm>
#include <utf8proc.h>

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

std::string swapCase(const std::string &S) {
  std::string Out;
  for (size_t I = 0; I < S.size();) {
    size_t Begin = I;
    nextCodePoint(S, I);
    std::string_view One = std::string_view(S).substr(Begin, I - Begin);
    std::string Up = upperCase(One);
    Out += Up == One ? lowerCase(One) : Up;
  }
  return Out;
}

/// Whether all characters, one at least, are letters or numbers.
bool isAlphanumeric(std::string_view S) {
  for (size_t I = 0; I < S.size();) {
    utf8proc_category_t K =
        utf8proc_category(static_cast<int32_t>(nextCodePoint(S, I)));
    bool Letter = K >= UTF8PROC_CATEGORY_LU && K <= UTF8PROC_CATEGORY_LO;
    bool Number = K >= UTF8PROC_CATEGORY_ND && K <= UTF8PROC_CATEGORY_NO;
    if (!Letter && !Number)
      return false;
  }
  return !S.empty();
}

Value splitLines(const std::string &S, bool KeepEnds) {
  Value::Items Out;
  for (size_t At = 0; At < S.size();) {
    size_t End = std::min(S.find_first_of("\n\r", At), S.size());
    size_t Next = std::min(End + 1, S.size());
    if (Next < S.size() && S[End] == '\r' && S[Next] == '\n')
      ++Next;
    Out.push_back(Value::string(S.substr(At, (KeepEnds ? Next : End) - At)));
    At = Next;
  }
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
  for (std::string_view N : {"center", "ljust", "rjust", "zfill", "swapcase",
                             "isalnum", "isascii", "splitlines"})
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
    return Value::string(swapCase(S));
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
