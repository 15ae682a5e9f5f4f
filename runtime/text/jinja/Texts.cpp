// Work on texts: case, stripping, replacing, formatting, slices.
#include "runtime/text/jinja/Library.h"

#include "runtime/text/Utf8.h"

#include <algorithm>
#include <cstdio>
#include <utf8proc.h>

namespace llmc::jinja {

namespace {

using Mapping = utf8proc_int32_t (*)(utf8proc_int32_t);

std::string mapped(std::string_view S, Mapping M) {
  std::string Out;
  for (size_t I = 0; I < S.size();)
    appendUtf8(Out, static_cast<uint32_t>(
                        M(static_cast<int32_t>(nextCodePoint(S, I)))));
  return Out;
}

bool isLetter(uint32_t C) {
  utf8proc_category_t K = utf8proc_category(static_cast<int32_t>(C));
  return K >= UTF8PROC_CATEGORY_LU && K <= UTF8PROC_CATEGORY_LO;
}

bool isSpaceCharacter(std::string_view One) {
  size_t I = 0;
  uint32_t C = nextCodePoint(One, I);
  if (C < 0x80)
    return C == ' ' || (C >= 9 && C <= 13) || (C >= 0x1C && C <= 0x1F);
  utf8proc_category_t K = utf8proc_category(static_cast<int32_t>(C));
  return C == 0x85 || K == UTF8PROC_CATEGORY_ZS || K == UTF8PROC_CATEGORY_ZL ||
         K == UTF8PROC_CATEGORY_ZP;
}

bool contains(const std::vector<std::string> &Set, std::string_view One) {
  return std::find(Set.begin(), Set.end(), One) != Set.end();
}

} // namespace

/// Characters whose large form is several characters (Unicode SpecialCasing,
/// those without a condition that texts hold at all often).
static const char *largeOf(uint32_t C) {
  switch (C) {
  case 0xDF:
    return "SS";
  case 0x149:
    return "\xCA\xBCN";
  case 0x1F0:
    return "J\xCC\x8C";
  case 0xFB00:
    return "FF";
  case 0xFB01:
    return "FI";
  case 0xFB02:
    return "FL";
  case 0xFB03:
    return "FFI";
  case 0xFB04:
    return "FFL";
  case 0xFB05:
  case 0xFB06:
    return "ST";
  default:
    return nullptr;
  }
}

std::string upperCase(std::string_view S) {
  std::string Out;
  for (size_t I = 0; I < S.size();) {
    uint32_t C = nextCodePoint(S, I);
    if (const char *Several = largeOf(C))
      Out += Several;
    else
      appendUtf8(Out, static_cast<uint32_t>(
                          utf8proc_toupper(static_cast<int32_t>(C))));
  }
  return Out;
}
std::string lowerCase(std::string_view S) {
  return mapped(S, utf8proc_tolower);
}
std::string capitalized(std::string_view S) {
  std::vector<size_t> Starts = characterStarts(S);
  if (Starts.size() < 2)
    return std::string(S);
  return upperCase(S.substr(0, Starts[1])) + lowerCase(S.substr(Starts[1]));
}
std::string titleCase(std::string_view S) {
  std::string Out;
  bool Inside = false;
  for (size_t I = 0; I < S.size();) {
    uint32_t C = nextCodePoint(S, I);
    int32_t D = static_cast<int32_t>(C);
    appendUtf8(Out, static_cast<uint32_t>(Inside ? utf8proc_tolower(D)
                                                 : utf8proc_totitle(D)));
    Inside = isLetter(C);
  }
  return Out;
}
std::string titleWords(std::string_view S) {
  std::string Out;
  bool Inside = false;
  for (size_t I = 0; I < S.size();) {
    size_t Begin = I;
    uint32_t C = nextCodePoint(S, I);
    std::string_view One = S.substr(Begin, I - Begin);
    if (isSpaceCharacter(One) ||
        std::string_view("-({[<").find(One) != std::string_view::npos) {
      Out += One;
      Inside = false;
      continue;
    }
    int32_t D = static_cast<int32_t>(C);
    appendUtf8(Out, static_cast<uint32_t>(Inside ? utf8proc_tolower(D)
                                                 : utf8proc_toupper(D)));
    Inside = true;
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

Value formatPercent(Context &C, const std::string &F,
                    const Value::Items &Values) {
  std::string Out;
  size_t Next = 0;
  for (size_t I = 0; I < F.size(); ++I) {
    if (F[I] != '%') {
      Out.push_back(F[I]);
      continue;
    }
    size_t Begin = ++I;
    while (I < F.size() && std::string_view("0123456789.+- ").find(F[I]) !=
                               std::string_view::npos)
      ++I;
    if (I == F.size() || I - Begin > 8)
      return C.fail("incomplete format");
    if (F[I] == '%') {
      Out.push_back('%');
      continue;
    }
    if (Next == Values.size())
      return C.fail("not enough arguments for format string");
    const Value &V = Values[Next++];
    std::string Spec = "%" + F.substr(Begin, I - Begin);
    char Buffer[512] = {};
    int Length = 0;
    if (F[I] == 's' && I == Begin) {
      Out += display(V);
    } else if (F[I] == 'd' && V.isNumber()) {
      int64_t N =
          V.isInteger() ? V.asInteger() : static_cast<int64_t>(V.asReal());
      Length = std::snprintf(Buffer, sizeof(Buffer), (Spec + "ld").c_str(),
                             static_cast<long>(N));
    } else if ((F[I] == 'f' || F[I] == 'e' || F[I] == 'g') && V.isNumber()) {
      Length = std::snprintf(Buffer, sizeof(Buffer), (Spec + F[I]).c_str(),
                             V.asReal());
    } else {
      return C.fail(std::string("format '%") + F[I] + "' of a value of type " +
                    std::string(V.typeName()) + " is not implemented");
    }
    if (Length < 0 || Length >= static_cast<int>(sizeof(Buffer)))
      return C.fail("format gives more than 511 characters");
    Out += Buffer;
    if (!C.room(Out.size()))
      return Value();
  }
  if (Next != Values.size())
    return C.fail("not all arguments converted during string formatting");
  return Value::string(std::move(Out));
}

Value formatBraces(Context &C, const std::string &F, const Arguments &A) {
  std::string Out;
  size_t Next = 0;
  for (size_t I = 0; I < F.size(); ++I) {
    if (F[I] != '{' && F[I] != '}') {
      Out.push_back(F[I]);
      continue;
    }
    if (I + 1 < F.size() && F[I + 1] == F[I]) {
      Out.push_back(F[I++]);
      continue;
    }
    size_t End = F.find('}', I);
    if (F[I] == '}' || End == std::string::npos)
      return C.fail("single '{' or '}' in format string");
    std::string Name = F.substr(I + 1, End - I - 1);
    bool Number = std::all_of(Name.begin(), Name.end(),
                              [](char D) { return D >= '0' && D <= '9'; });
    const Value *V = nullptr;
    if (Number && Name.size() < 6)
      V = A.get(Name.empty() ? Next++ : std::stoul(Name), "");
    else
      V = A.get(SIZE_MAX, Name);
    if (V == nullptr)
      return C.fail("format field '{" + Name + "}' has no value");
    Out += display(*V);
    I = End;
    if (!C.room(Out.size()))
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
  if (!V.isString() && !V.isSequence())
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
    return Value::list(std::move(Out), V.kind());
  return joinTexts(C, Out, "");
}

} // namespace llmc::jinja
