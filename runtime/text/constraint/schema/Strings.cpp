// Characters in JSON strings, and the set arithmetic.
#include "runtime/text/constraint/schema/Strings.h"

#include "runtime/base/Quote.h"

#include <algorithm>

namespace llmc::constraint {

namespace {

TermId hexDigits(Terms &T, std::string_view Allowed) {
  ByteSet S;
  for (char C : Allowed)
    S.add(static_cast<uint8_t>(C));
  return T.bytes(S);
}

/// One character in any spelling: itself, a short escape, \uXXXX, two halves.
TermId freeChar(Terms &T) {
  CharSet Raw(0x20, MaxCodePoint);
  CharSet Special('"', '"');
  Special.add('\\', '\\');
  TermId Hex = hexDigits(T, "0123456789abcdefABCDEF");
  TermId D = hexDigits(T, "dD"), U = T.literal("\\u");
  TermId Single =
      T.alt(T.seq(hexDigits(T, "0123456789abcefABCEF"), T.repeat(Hex, 3, 3)),
            T.seq(D, T.seq(hexDigits(T, "01234567"), T.repeat(Hex, 2, 2))));
  TermId High = T.seq(D, T.seq(hexDigits(T, "89abAB"), T.repeat(Hex, 2, 2)));
  TermId Low = T.seq(D, T.seq(hexDigits(T, "cdefCDEF"), T.repeat(Hex, 2, 2)));
  TermId Pair = T.seq(High, T.seq(U, Low));
  TermId Escapes[] = {
      utf8Term(T, Raw.minus(Special)),
      T.seq(T.byte('\\'), hexDigits(T, "\"\\/bfnrt")),
      T.seq(U, T.alt(Single, Pair)),
  };
  return T.alt(Escapes);
}

/// The escape of a character that needs one; empty when it needs none.
std::string escapeOf(uint32_t C) {
  static constexpr std::string_view Chars = "\"\\\b\f\n\r\t";
  static constexpr std::string_view Names = "\"\\bfnrt";
  if (C < 0x80)
    if (size_t At = Chars.find(static_cast<char>(C));
        At != std::string_view::npos)
      return std::string("\\") + Names[At];
  if (C >= 0x20)
    return "";
  static constexpr char Hex[] = "0123456789abcdef";
  return std::string("\\u00") + Hex[C >> 4] + Hex[C & 15];
}

} // namespace

Strings::Strings(Terms &Pool) : T(Pool) {
  AnyChar = chars(CharSet::all());
  Any = T.repeat(AnyChar, 0, Unbounded);
  FreeChar = freeChar(T);
}

TermId Strings::chars(const CharSet &S) {
  std::vector<uint32_t> Key;
  for (const CharSet::Range &R : S.ranges())
    Key.insert(Key.end(), {R.Low, R.High});
  auto It = Known.find(Key);
  if (It != Known.end())
    return It->second;
  CharSet Raw = S;
  std::vector<TermId> List;
  std::vector<std::string> Escapes;
  CharSet Escaped(0, 0x1F);
  Escaped.add('"', '"');
  Escaped.add('\\', '\\');
  const CharSet Special = S.intersect(Escaped);
  for (const CharSet::Range &R : Special.ranges())
    for (uint32_t C = R.Low; C <= R.High; ++C)
      Escapes.push_back(escapeOf(C));
  std::vector<std::string_view> Views(Escapes.begin(), Escapes.end());
  if (!Views.empty())
    List.push_back(T.oneOf(std::move(Views)));
  List.push_back(utf8Term(T, Raw.minus(Escaped)));
  TermId Out = T.alt(List);
  Known.emplace(std::move(Key), Out);
  return Out;
}

std::string Strings::spelling(std::string_view Text) {
  std::string Out;
  for (char C : Text) {
    std::string E = static_cast<unsigned char>(C) < 0x80
                        ? escapeOf(static_cast<unsigned char>(C))
                        : std::string();
    Out += E.empty() ? std::string(1, C) : E;
  }
  return Out;
}

StringSet Strings::only(std::string_view Text) {
  return {T.literal(spelling(Text)), 0, Unbounded};
}

StringSet Strings::oneOf(const std::vector<std::string> &Texts) {
  std::vector<std::string> Spelled;
  for (const std::string &Text : Texts)
    Spelled.push_back(spelling(Text));
  std::vector<std::string_view> Views(Spelled.begin(), Spelled.end());
  if (Views.empty())
    return {};
  return {T.oneOf(std::move(Views)), 0, Unbounded};
}

Result<StringSet> Strings::matching(const std::string &Pattern) {
  LLMC_ASSIGN_OR_RETURN(Regex R, parseRegex(Pattern));
  CharTerm Chars = [this](const CharSet &S) { return chars(S); };
  return StringSet{searchMatch(T, R, Chars), 0, Unbounded};
}

Result<TermId> Strings::whole(std::string_view Pattern) {
  LLMC_ASSIGN_OR_RETURN(Regex R, parseRegex(Pattern));
  CharTerm Chars = [this](const CharSet &S) { return chars(S); };
  return fullMatch(T, R, Chars);
}

Result<StringSet> Strings::format(const std::string &Name) {
  if (isNoteFormat(Name))
    return all();
  std::string Pattern = formatPattern(Name);
  if (Pattern.empty())
    return unsupportedError("format " + quoted(Name) + " is not supported");
  LLMC_ASSIGN_OR_RETURN(TermId Content, whole(Pattern));
  StringSet S{Content, 0, Unbounded};
  if (Name == "hostname")
    S.Min = 1, S.Max = 253;
  return S;
}

TermId Strings::content(const StringSet &A) {
  if (A.Min > A.Max)
    return Nothing;
  if (A.Min == 0 && A.Max == Unbounded)
    return A.Content;
  TermId Length = T.repeat(AnyChar, A.Min, A.Max);
  return A.Content == Any ? Length : T.both(A.Content, Length);
}

StringSet Strings::both(const StringSet &A, const StringSet &B) {
  TermId Content = A.Content == Any   ? B.Content
                   : B.Content == Any ? A.Content
                                      : T.both(A.Content, B.Content);
  return {Content, std::max(A.Min, B.Min), std::min(A.Max, B.Max)};
}

StringSet Strings::either(const StringSet &A, const StringSet &B) {
  if (A.Content == Nothing)
    return B;
  if (B.Content == Nothing)
    return A;
  if (A.Content == B.Content && A.Min <= B.Min && A.Max >= B.Max)
    return A;
  if (A.Content == B.Content && B.Min <= A.Min && B.Max >= A.Max)
    return B;
  return {T.alt(content(A), content(B)), 0, Unbounded};
}

StringSet Strings::without(const StringSet &A) {
  TermId C = content(A);
  if (C == Nothing)
    return all();
  return {C == Any ? Nothing : T.except(Any, C), 0, Unbounded};
}

bool Strings::empty(const StringSet &A) { return !T.live(content(A)); }

TermId Strings::written(const StringSet &A) {
  if (A.Content != Any)
    return writtenOnce(A);
  if (A.Min > A.Max)
    return Nothing;
  return T.seq(T.byte('"'),
               T.seq(T.repeat(FreeChar, A.Min, A.Max), T.byte('"')));
}

TermId Strings::writtenOnce(const StringSet &A) {
  TermId C = content(A);
  if (!T.live(C))
    return Nothing;
  return T.seq(T.byte('"'), T.seq(C, T.byte('"')));
}

} // namespace llmc::constraint
