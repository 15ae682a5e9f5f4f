// The layout of Python's pprint: one line when it fits into 80 columns, else
// one line per element, long texts cut at spaces; members of dicts in order of
// their keys.
#include "runtime/text/Utf8.h"
#include "runtime/text/jinja/Library.h"

#include <algorithm>

namespace llmc::jinja {

namespace {

constexpr int64_t Columns = 80;

int64_t sizeOf(std::string_view S) {
  return static_cast<int64_t>(characterCount(S));
}

class Pretty {
public:
  explicit Pretty(Context &C) : C(C) {}
  void write(const Value &V, int64_t Indent, int64_t Allowance, int Level);
  std::string Out;

private:
  Value::Members sorted(const Value &V);
  std::string plain(const Value &V);
  void items(const Value &V, int64_t Indent, int64_t Allowance, int Level);
  void members(const Value &V, int64_t Indent, int64_t Allowance, int Level);
  void text(const Value &V, int64_t Indent, int64_t Allowance, int Level);
  std::vector<std::string> pieces(const std::string &S, int64_t Width,
                                  int64_t Allowance);
  void newLine(int64_t Indent) {
    Out += '\n';
    Out.append(static_cast<size_t>(Indent), ' ');
  }
  Context &C;
};

/// Members by key; keys of several kinds by the name of the kind.
Value::Members Pretty::sorted(const Value &V) {
  Value::Members M = V.members();
  std::stable_sort(M.begin(), M.end(), [&](const auto &A, const auto &B) {
    const Value &X = A.first, &Y = B.first;
    bool Numbers = X.isNumber() && Y.isNumber();
    if (Numbers || X.kind() == Y.kind())
      return !X.isNone() && !X.isUndefined() && C.less(X, Y);
    return X.typeName() < Y.typeName();
  });
  return M;
}

/// repr with sorted members.
std::string Pretty::plain(const Value &V) {
  if (V.isDict()) {
    std::string S = "{";
    for (const auto &[Key, M] : sorted(V))
      S += (S.size() > 1 ? ", " : "") + plain(Key) + ": " + plain(M);
    return S + "}";
  }
  if (!V.isSequence())
    return represent(V);
  bool Tuple = V.kind() == Value::Kind::Tuple;
  std::string S = Tuple ? "(" : "[";
  for (const Value &I : V.items())
    S += (S.size() > 1 ? ", " : "") + plain(I);
  return S + (!Tuple ? "]" : V.items().size() == 1 ? ",)" : ")");
}

void Pretty::items(const Value &V, int64_t Indent, int64_t Allowance,
                   int Level) {
  bool Tuple = V.kind() == Value::Kind::Tuple;
  std::string_view End = !Tuple ? "]" : V.items().size() == 1 ? ",)" : ")";
  Out += Tuple ? '(' : '[';
  for (size_t I = 0; I < V.items().size(); ++I) {
    bool Last = I + 1 == V.items().size();
    write(V.items()[I], Indent + 1,
          Last ? Allowance + static_cast<int64_t>(End.size()) : 1, Level);
    if (Last)
      break;
    Out += ',';
    newLine(Indent + 1);
  }
  Out += End;
}

void Pretty::members(const Value &V, int64_t Indent, int64_t Allowance,
                     int Level) {
  Value::Members M = sorted(V);
  Out += '{';
  for (size_t I = 0; I < M.size(); ++I) {
    bool Last = I + 1 == M.size();
    std::string Key = plain(M[I].first);
    Out += Key + ": ";
    write(M[I].second, Indent + 1 + sizeOf(Key) + 2, Last ? Allowance + 1 : 1,
          Level);
    if (Last)
      break;
    Out += ',';
    newLine(Indent + 1);
  }
  Out += '}';
}

/// The text as repr of pieces that fit: whole lines, or parts of one cut
/// behind white space.
std::vector<std::string> Pretty::pieces(const std::string &S, int64_t Width,
                                        int64_t Allowance) {
  std::vector<std::string> Out, Lines = linesOf(S, true);
  for (size_t I = 0; I < Lines.size(); ++I) {
    bool LastLine = I + 1 == Lines.size();
    std::string Whole = quoted(Lines[I]);
    if (sizeOf(Whole) <= Width - (LastLine ? Allowance : 0)) {
      Out.push_back(std::move(Whole));
      continue;
    }
    std::vector<std::string> Parts;
    bool Space = true;
    for (size_t At = 0; At < Lines[I].size();) {
      size_t Begin = At;
      bool Blank = isSpace(nextCodePoint(Lines[I], At));
      if (Parts.empty() || (Space && !Blank))
        Parts.emplace_back();
      Parts.back() += Lines[I].substr(Begin, At - Begin);
      Space = Blank;
    }
    std::string Now;
    for (size_t J = 0; J < Parts.size(); ++J) {
      bool LastPart = LastLine && J + 1 == Parts.size();
      if (!C.charge(1 + Now.size() / 8))
        return Out;
      if (sizeOf(quoted(Now + Parts[J])) <=
          Width - (LastPart ? Allowance : 0)) {
        Now += Parts[J];
        continue;
      }
      if (!Now.empty())
        Out.push_back(quoted(Now));
      Now = Parts[J];
    }
    if (!Now.empty())
      Out.push_back(quoted(Now));
  }
  return Out;
}

void Pretty::text(const Value &V, int64_t Indent, int64_t Allowance,
                  int Level) {
  bool Outermost = Level == 1;
  if (Outermost)
    ++Indent, ++Allowance;
  std::vector<std::string> Parts =
      pieces(V.asString(), Columns - Indent, Allowance);
  if (Parts.size() < 2) {
    Out += quoted(V.asString());
    return;
  }
  Out += Outermost ? "(" : "";
  for (size_t I = 0; I < Parts.size(); ++I) {
    if (I != 0)
      newLine(Indent);
    Out += Parts[I];
  }
  Out += Outermost ? ")" : "";
}

void Pretty::write(const Value &V, int64_t Indent, int64_t Allowance,
                   int Level) {
  if (C.failed() || !C.charge(1 + V.weight()) ||
      !C.room(Out.size() > Context::MaxText ? Out.size() : 0))
    return;
  std::string S = plain(V);
  if (sizeOf(S) <= Columns - Indent - Allowance ||
      !(V.isString() || V.isDict() || V.isSequence()) || V.isMarkup() ||
      V.isGroup()) {
    Out += S;
    return;
  }
  if (V.isString())
    text(V, Indent, Allowance, Level + 1);
  else if (V.isDict())
    members(V, Indent, Allowance, Level + 1);
  else
    items(V, Indent, Allowance, Level + 1);
}

} // namespace

std::string pretty(Context &C, const Value &V) {
  Pretty P(C);
  P.write(V, 0, 0, 0);
  return std::move(P.Out);
}

} // namespace llmc::jinja
