// Work on texts: stripping, cutting, replacing, joining, slices.
#include "runtime/text/jinja/Library.h"

#include "runtime/text/Utf8.h"

#include <algorithm>

namespace llmc::jinja {

namespace {

bool isSpaceCharacter(std::string_view One) {
  size_t I = 0;
  return isSpace(nextCodePoint(One, I));
}

bool contains(const std::vector<std::string> &Set, std::string_view One) {
  return std::find(Set.begin(), Set.end(), One) != Set.end();
}

} // namespace

std::string escaped(std::string_view S) {
  std::string Out;
  for (char C : S)
    switch (C) {
    case '&':
      Out += "&amp;";
      break;
    case '<':
      Out += "&lt;";
      break;
    case '>':
      Out += "&gt;";
      break;
    case '\'':
      Out += "&#39;";
      break;
    case '"':
      Out += "&#34;";
      break;
    default:
      Out += C;
    }
  return Out;
}
Value escapedValue(const Value &V) {
  return V.isMarkup() ? V : Value::markup(escaped(display(V)));
}

std::vector<std::string> linesOf(std::string_view S, bool KeepEnds) {
  std::vector<std::string> Out;
  for (size_t I = 0, Begin = 0; I < S.size();) {
    size_t End = I;
    uint32_t C = nextCodePoint(S, I);
    if (!isLineEnd(C)) {
      if (I == S.size())
        Out.emplace_back(S.substr(Begin));
      continue;
    }
    if (C == '\r' && I < S.size() && S[I] == '\n')
      ++I;
    Out.emplace_back(S.substr(Begin, (KeepEnds ? I : End) - Begin));
    Begin = I;
  }
  return Out;
}

std::vector<std::string> wordsOf(std::string_view S) {
  std::vector<std::string> Out;
  bool Inside = false;
  for (size_t I = 0; I < S.size();) {
    size_t Begin = I;
    bool Space = isSpace(nextCodePoint(S, I));
    if (!Space && !Inside)
      Out.emplace_back();
    if (!Space)
      Out.back() += S.substr(Begin, I - Begin);
    Inside = !Space;
  }
  return Out;
}

std::string strip(std::string_view S, const std::string *Characters, Side At) {
  std::vector<std::string> Set;
  if (Characters != nullptr) {
    std::vector<size_t> Starts = characterStarts(*Characters);
    for (size_t I = 0; I + 1 < Starts.size(); ++I)
      Set.push_back(Characters->substr(Starts[I], Starts[I + 1] - Starts[I]));
  }
  auto Goes = [&](std::string_view One) {
    return Characters ? contains(Set, One) : isSpaceCharacter(One);
  };
  std::vector<size_t> Starts = characterStarts(S);
  size_t First = 0, Last = Starts.size() - 1;
  auto One = [&](size_t I) {
    return S.substr(Starts[I], Starts[I + 1] - Starts[I]);
  };
  if (At != Side::Right)
    while (First < Last && Goes(One(First)))
      ++First;
  if (At != Side::Left)
    while (Last > First && Goes(One(Last - 1)))
      --Last;
  return std::string(S.substr(Starts[First], Starts[Last] - Starts[First]));
}

Value replaceText(Context &C, const std::string &S, const std::string &Old,
                  const std::string &New, int64_t Count) {
  std::string Out;
  size_t At = 0;
  if (Old.empty()) { // before every character and at the end
    std::vector<size_t> Starts = characterStarts(S);
    if (!C.room(S.size() + Starts.size() * New.size()))
      return Value();
    for (size_t I = 0; I < Starts.size(); ++I) {
      if (Count < 0 || static_cast<int64_t>(I) < Count)
        Out += New;
      if (I + 1 < Starts.size())
        Out += S.substr(Starts[I], Starts[I + 1] - Starts[I]);
    }
    return Value::string(std::move(Out));
  }
  for (size_t Hit; Count != 0 && (Hit = S.find(Old, At)) != std::string::npos;
       At = Hit + Old.size(), --Count) {
    Out.append(S, At, Hit - At);
    Out += New;
    if (Out.size() > Context::MaxText || !C.charge(1 + New.size() / 16)) {
      (void)C.room(Out.size());
      return Value();
    }
  }
  Out.append(S, At);
  (void)C.room(Out.size());
  return Value::string(std::move(Out));
}

Value joinTexts(Context &C, const Value::Items &Items,
                const std::string &Separator) {
  uint64_t Bytes = Separator.size() * Items.size(), Weight = Items.size();
  for (const Value &V : Items)
    Weight += V.weight();
  if (!C.charge(Weight) || !C.room(Bytes))
    return Value();
  std::string Out;
  for (size_t I = 0; I < Items.size(); ++I) {
    if (I != 0)
      Out += Separator;
    Out += display(Items[I]);
    if (!C.room(Out.size() > Context::MaxText ? Out.size() : 0))
      return Value();
  }
  return Value::string(std::move(Out));
}

Value sliceOf(Context &C, const Value &V, const Value *Begin, const Value *End,
              const Value *Step) {
  auto Given = [](const Value *P) {
    return P != nullptr && !P->isNone() ? P : nullptr;
  };
  Begin = Given(Begin), End = Given(End), Step = Given(Step);
  for (const Value *P : {Begin, End, Step})
    if (P && !P->isInteger())
      return C.fail("slice indices must be integers or None");
  Object *O = V.asObject();
  bool Range = O && O->What == Object::Type::Range;
  if (!V.isString() && !V.isSequence() && !Range)
    return C.fail(V.isUndefined() ? V.why()
                                  : "'" + std::string(V.typeName()) +
                                        "' object cannot be sliced");
  Value::Items All = C.iterate(V);
  int64_t N = static_cast<int64_t>(All.size());
  int64_t By = Step ? Step->asInteger() : 1;
  if (By == 0)
    return C.fail("slice step cannot be zero");
  auto Clamp = [&](const Value *P, int64_t Default) {
    if (!P)
      return Default;
    int64_t I = P->asInteger();
    I = I < 0 ? std::max<int64_t>(I, -N - 1) + N : std::min(I, N);
    return By > 0 ? std::clamp<int64_t>(I, 0, N)
                  : std::clamp<int64_t>(I, -1, N - 1);
  };
  int64_t From = Clamp(Begin, By > 0 ? 0 : N - 1);
  int64_t To = Clamp(End, By > 0 ? N : -1);
  By = std::clamp<int64_t>(By, -N - 1, N + 1);
  Value::Items Out;
  for (int64_t I = From; By > 0 ? I < To : I > To; I += By)
    Out.push_back(All[static_cast<size_t>(I)]);
  if (!V.isString())
    return Value::list(std::move(Out), Range ? Value::Kind::List : V.kind());
  Value Text = joinTexts(C, Out, "");
  return V.isMarkup() ? Value::markup(Text.asString()) : Text;
}

} // namespace llmc::jinja
