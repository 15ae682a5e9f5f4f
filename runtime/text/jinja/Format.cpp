// Python's two ways to format: 'a %5.2f b' % x and 'a {x:>5.2f} b'.format(x).
// Both end in one description of a field, which is then laid out.
#include "runtime/text/Utf8.h"
#include "runtime/text/jinja/FormatField.h"
#include "runtime/text/jinja/Library.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace llmc::jinja {

namespace {

Value textField(Context &C, std::string S, const Field &F) {
  if (F.Precision >= 0) {
    std::vector<size_t> Starts = characterStarts(S);
    if (static_cast<size_t>(F.Precision) + 1 < Starts.size())
      S.resize(Starts[static_cast<size_t>(F.Precision)]);
  }
  return Value::string(padTo(std::move(S), F, F.Align ? F.Align : '<'));
}

bool digits(std::string_view S, size_t &I, int64_t &Out) {
  const char *Begin = S.data() + I, *End = S.data() + S.size();
  std::from_chars_result R = std::from_chars(Begin, End, Out);
  I += static_cast<size_t>(R.ptr - Begin);
  return R.ec == std::errc();
}

bool isAlign(std::string_view S, size_t I) {
  return I < S.size() &&
         std::string_view("<>=^").find(S[I]) != std::string_view::npos;
}

/// The part of {…} behind the colon.
bool parseField(Context &C, std::string_view S, Field &F) {
  size_t I = 0, Behind = 0;
  bool Filled = false;
  if (!S.empty())
    nextCodePoint(S, Behind);
  if (!S.empty() && isAlign(S, Behind)) {
    F.Fill = S.substr(0, Behind);
    F.Align = S[Behind];
    Filled = true;
    I = Behind + 1;
  } else if (isAlign(S, 0)) {
    F.Align = S[0];
    I = 1;
  }
  if (I < S.size() && (S[I] == '+' || S[I] == '-' || S[I] == ' '))
    F.Sign = S[I++], F.Signed = true;
  if (I < S.size() && S[I] == '#')
    F.Alternate = true, ++I;
  if (I < S.size() && S[I] == '0') {
    F.Fill = Filled ? F.Fill : "0";
    F.Align = F.Align == 0 ? '=' : F.Align;
    F.Zero = !Filled;
    ++I;
  }
  if (I < S.size() && std::isdigit(static_cast<unsigned char>(S[I])))
    if (!digits(S, I, F.Width) || F.Width > MaxWidth)
      return C.fail("format width is larger than " + std::to_string(MaxWidth)),
             false;
  if (I < S.size() && (S[I] == ',' || S[I] == '_'))
    F.Grouping = S[I++];
  if (I < S.size() && S[I] == '.') {
    ++I;
    if (!digits(S, I, F.Precision) || F.Precision < 0)
      return C.fail("format specifier missing precision"), false;
  }
  if (I < S.size())
    F.Type = S[I++];
  if (I != S.size())
    return C.fail("invalid format specifier '" + std::string(S) + "'"), false;
  return true;
}

Value unknownType(Context &C, const Field &F, const Value &V) {
  return C.fail(std::string("unknown format code '") + F.Type +
                "' for object of type '" + std::string(V.typeName()) + "'");
}

/// format(V, spec).
Value formatted(Context &C, const Value &V, std::string_view Spec) {
  if (Spec.empty())
    return Value::string(display(V));
  Field F;
  if (!parseField(C, Spec, F))
    return Value();
  std::string_view Type(&F.Type, F.Type ? 1 : 0);
  if (V.isNumber() && (F.Type != 0 || V.kind() != Value::Kind::Bool)) {
    bool Whole = V.isInteger() &&
                 (Type.empty() || std::string_view("bcdoxXn").find(F.Type) !=
                                      std::string_view::npos);
    if (Whole && F.Precision >= 0)
      return C.fail("precision not allowed in integer format specifier");
    if (F.Grouping != 0 &&
        (F.Type == 'n' || F.Type == 'c' ||
         (F.Grouping == ',' && Whole && !Type.empty() && F.Type != 'd')))
      return C.fail(std::string("cannot specify '") + F.Grouping + "' with '" +
                    F.Type + "'");
    if (Whole && F.Type == 'c') {
      int64_t P = V.asInteger();
      if (P < 0 || P > 0x10FFFF || (P >= 0xD800 && P < 0xE000))
        return C.fail("%c arg not in range(0x110000)");
      std::string S;
      appendUtf8(S, static_cast<uint32_t>(P));
      return Value::string(padTo(std::move(S), F, F.Align ? F.Align : '<'));
    }
    if (Whole)
      return Value::string(wholeText(V.asInteger(), F));
    if (!Type.empty() &&
        std::string_view("eEfFgGn%").find(F.Type) == std::string_view::npos)
      return unknownType(C, F, V);
    if (F.Precision > MaxPrecision)
      return C.fail("format precision is larger than " +
                    std::to_string(MaxPrecision));
    return Value::string(realField(V.asReal(), F));
  }
  if (!V.isString() && V.kind() != Value::Kind::Bool)
    return C.fail("unsupported format string passed to " +
                  std::string(V.typeName()) + ".__format__");
  if (F.Type != 0 && F.Type != 's')
    return unknownType(C, F, V);
  if (V.kind() == Value::Kind::Bool && F.Precision >= 0)
    return C.fail("precision not allowed in integer format specifier");
  if (V.kind() == Value::Kind::Bool)
    return Value::string(wholeText(V.asInteger(), F));
  bool Zeros = F.Align == '=' && F.Zero && Spec.find('=') == Spec.npos;
  if (F.Signed || F.Alternate || F.Grouping || (F.Align == '=' && !Zeros))
    return C.fail("format specifier '" + std::string(Spec) +
                  "' is not allowed for texts");
  if (Zeros)
    F.Align = '<'; // '05' pads a text with zeros on its right
  return textField(C, V.asString(), F);
}

/// ascii(): repr with everything beyond ASCII escaped.
std::string asciiText(const Value &V) {
  std::string In = represent(V), Out;
  for (size_t I = 0; I < In.size();) {
    uint32_t P = nextCodePoint(In, I);
    if (P < 0x80)
      Out += static_cast<char>(P);
    else
      appendEscaped(Out, P);
  }
  return Out;
}

/// The run of one '{}'.format(…).
class Braces {
public:
  Braces(Context &C, const Arguments &A, bool Html) : C(C), A(A), Html(Html) {}
  std::string run(std::string_view F, unsigned Depth);

private:
  std::string field(std::string_view Inside, unsigned Depth);
  Value named(std::string_view Name);
  Value start(std::string_view First);
  Context &C;
  const Arguments &A;
  bool Html;
  size_t Next = 0;
  bool Counted = false, Numbered = false;
};

Value Braces::start(std::string_view First) {
  bool Number = std::all_of(First.begin(), First.end(),
                            [](char D) { return D >= '0' && D <= '9'; });
  const Value *V = nullptr;
  if (Number && First.size() < 6) {
    (First.empty() ? Counted : Numbered) = true;
    if (Counted && Numbered)
      return C.fail("cannot switch between manual field specification and "
                    "automatic field numbering");
    size_t I = First.empty() ? Next++ : std::stoul(std::string(First));
    V = I < A.Positional.size() ? &A.Positional[I] : nullptr;
  } else {
    V = A.get(SIZE_MAX, First);
  }
  return V ? *V
           : C.fail("format field '{" + std::string(First) + "}' has no value");
}

/// "0.name[key]" looked up.
Value Braces::named(std::string_view Name) {
  size_t I = std::min(Name.find_first_of(".["), Name.size());
  Value V = start(Name.substr(0, I));
  while (I < Name.size() && !C.failed()) {
    bool Item = Name[I++] == '[';
    size_t End = Item ? Name.find(']', I) : Name.find_first_of(".[", I);
    if (Item && End == std::string_view::npos)
      return C.fail("missing ']' in format string");
    End = std::min(End, Name.size());
    std::string Part(Name.substr(I, End - I));
    int64_t Index = 0;
    size_t At = 0;
    if (Part.empty())
      return C.fail("empty attribute in format string");
    if (!Item)
      V = C.attribute(V, Part);
    else if (digits(Part, At, Index) && At == Part.size() && Index >= 0)
      V = C.item(V, Value::integer(Index));
    else
      V = C.item(V, Value::string(Part));
    I = Item ? End + 1 : End;
    if (Item && I < Name.size() && Name[I] != '.' && Name[I] != '[')
      return C.fail("only '.' or '[' may follow ']' in format field specifier");
  }
  return V;
}

std::string Braces::field(std::string_view Inside, unsigned Depth) {
  size_t Bracket = 0;
  size_t End = 0; // of the name: the first ! or : outside of brackets
  for (; End < Inside.size(); ++End) {
    Bracket += Inside[End] == '[';
    Bracket -= Inside[End] == ']' && Bracket > 0;
    if (Bracket == 0 && (Inside[End] == '!' || Inside[End] == ':'))
      break;
  }
  Value V = named(Inside.substr(0, End));
  char Conversion = 0;
  if (End < Inside.size() && Inside[End] == '!') {
    Conversion = End + 1 < Inside.size() ? Inside[End + 1] : '\0';
    End += 2;
    if (End < Inside.size() && Inside[End] != ':')
      return C.fail("expected ':' after conversion specifier"), "";
  }
  if (Conversion == 'r')
    V = Value::string(represent(V));
  else if (Conversion == 'a')
    V = Value::string(asciiText(V));
  else if (Conversion == 's')
    V = Value::string(display(V));
  else if (Conversion != 0 || End > Inside.size())
    return C.fail("unknown conversion specifier"), "";
  std::string Spec;
  if (End < Inside.size())
    Spec = run(Inside.substr(End + 1), Depth + 1);
  if (C.failed())
    return "";
  Value Text = formatted(C, V, Spec);
  return Html && !V.isMarkup() ? escaped(display(Text)) : display(Text);
}

std::string Braces::run(std::string_view F, unsigned Depth) {
  if (Depth > 2)
    return C.fail("max string recursion exceeded"), "";
  std::string Out;
  for (size_t I = 0; I < F.size() && !C.failed(); ++I) {
    if (F[I] != '{' && F[I] != '}') {
      Out.push_back(F[I]);
      continue;
    }
    if (I + 1 < F.size() && F[I + 1] == F[I]) {
      Out.push_back(F[I++]);
      continue;
    }
    size_t Open = 1, End = I + 1;
    for (; F[I] == '{' && End < F.size(); ++End) {
      Open += F[End] == '{';
      if (F[End] == '}' && --Open == 0)
        break;
    }
    if (F[I] == '}' || End >= F.size())
      return C.fail("single '{' or '}' in format string"), "";
    Out += field(F.substr(I + 1, End - I - 1), Depth);
    I = End;
    (void)C.room(Out.size());
  }
  return Out;
}

/// The run of one '%' operator.
class Percent {
public:
  Percent(Context &C, const Value &F, const Value &V)
      : C(C), F(F.asString()), Html(F.isMarkup()), All(V) {
    if (V.kind() == Value::Kind::Tuple)
      Left = V.items();
    else
      Left = {V};
    // Whatever has an index may go unused.
    Mapping = V.isDict() || V.kind() == Value::Kind::List || V.isUndefined() ||
              (V.isObject() && V.asObject()->What == Object::Type::Range);
  }
  Value run();

private:
  bool key(size_t &I);
  bool number(size_t &I, int64_t &Out);
  const Value *next();
  std::string conversion(size_t &I);
  std::string convert(const Value &V, Field Spec);
  Context &C;
  const std::string &F;
  bool Html, Mapping = false;
  const Value &All;
  Value::Items Left;
  size_t Next = 0;
};

const Value *Percent::next() {
  if (Next < Left.size())
    return &Left[Next++];
  C.fail("not enough arguments for format string");
  return nullptr;
}

/// Width or precision: digits, or * for the next value.
bool Percent::number(size_t &I, int64_t &Out) {
  if (I < F.size() && F[I] == '*') {
    ++I;
    const Value *V = next();
    if (V && !V->isInteger())
      C.fail("* wants int");
    Out = V && V->isInteger() ? V->asInteger() : 0;
    return true;
  }
  if (I < F.size() && std::isdigit(static_cast<unsigned char>(F[I])))
    return digits(F, I, Out) || (Out = MaxWidth + 1);
  return false;
}

/// %(name): the value is a member of a dict.
bool Percent::key(size_t &I) {
  if (I >= F.size() || F[I] != '(')
    return true;
  size_t Open = 1, End = I + 1;
  for (; End < F.size(); ++End) {
    Open += F[End] == '(';
    if (F[End] == ')' && --Open == 0)
      break;
  }
  if (End == F.size())
    return C.fail("incomplete format key"), false;
  if (!All.isDict())
    return C.fail("format requires a mapping"), false;
  const Value *V = All.find(F.substr(I + 1, End - I - 1));
  if (V == nullptr)
    return C.fail("no member '" + F.substr(I + 1, End - I - 1) + "'"), false;
  Left = {*V};
  Next = 0;
  I = End + 1;
  return true;
}

std::string Percent::convert(const Value &V, Field S) {
  char T = S.Type;
  if (T == 's' || T == 'r' || T == 'a') {
    std::string Text = T == 's'   ? display(V)
                       : T == 'r' ? represent(V)
                                  : asciiText(V);
    if (Html && !(T == 's' && V.isMarkup()))
      Text = escaped(Text);
    S.Fill = " ";
    S.Align = S.Align == '<' ? '<' : '>';
    return textField(C, std::move(Text), S).asString();
  }
  if (T == 'c') {
    std::string One;
    if (V.isString() && characterCount(V.asString()) == 1)
      One = V.asString();
    else if (V.isInteger() && V.asInteger() >= 0 && V.asInteger() < 0xD800)
      appendUtf8(One, static_cast<uint32_t>(V.asInteger()));
    else
      return C.fail("%c requires int or char"), "";
    S.Fill = " ";
    return padTo(std::move(One), S, S.Align == '<' ? '<' : '>');
  }
  if (!V.isNumber())
    return C.fail(std::string("%") + T + " format: a number is required, not " +
                  std::string(V.typeName())),
           "";
  bool Real = std::string_view("eEfFgG").find(T) != std::string_view::npos;
  if (Real)
    return realField(V.asReal(), S);
  if (T == 'i' || T == 'u')
    S.Type = 'd';
  if (!V.isInteger() && S.Type != 'd')
    return C.fail(std::string("%") + T +
                  " format: an integer is required, not "
                  "float"),
           "";
  if (!V.isInteger() && !(std::fabs(V.asReal()) < 9e18))
    return C.fail("integer does not fit in 64 bits"), "";
  int64_t I = V.isInteger() ? V.asInteger() : static_cast<int64_t>(V.asReal());
  // A precision is the least number of digits.
  Field Digits = S;
  Digits.Width = 0;
  std::string Text = wholeText(I, Digits);
  size_t Prefix = Text.find_first_not_of("+- ");
  if (S.Alternate && S.Type != 'd')
    Prefix += 2;
  while (static_cast<int64_t>(Text.size() - Prefix) < S.Precision)
    Text.insert(Prefix, 1, '0');
  return padTo(std::move(Text), S, S.Align ? S.Align : '>');
}

/// I stands behind the %.
std::string Percent::conversion(size_t &I) {
  Field S;
  if (!key(I))
    return "";
  bool Left = false, Zero = false;
  for (; I < F.size(); ++I) {
    if (F[I] == '-')
      Left = true;
    else if (F[I] == '0')
      Zero = true;
    else if (F[I] == '+' || (F[I] == ' ' && S.Sign != '+'))
      S.Sign = F[I];
    else if (F[I] == '#')
      S.Alternate = true;
    else if (F[I] != ' ')
      break;
  }
  number(I, S.Width);
  if (S.Width < 0)
    Left = true, S.Width = -S.Width;
  if (I < F.size() && F[I] == '.') {
    ++I;
    S.Precision = 0;
    number(I, S.Precision);
  }
  if (S.Width > MaxWidth || S.Width < 0 || S.Precision > MaxPrecision)
    return C.fail("format width or precision is too large"), "";
  while (I < F.size() && (F[I] == 'h' || F[I] == 'l' || F[I] == 'L'))
    ++I;
  if (I == F.size())
    return C.fail("incomplete format"), "";
  S.Type = F[I];
  if (S.Type == '%')
    return "%";
  if (std::string_view("srdiuoxXeEfFgGca").find(S.Type) ==
      std::string_view::npos)
    return C.fail("unsupported format character at index " + std::to_string(I)),
           "";
  S.Align = Left ? '<' : Zero ? '=' : 0;
  if (Zero && !Left)
    S.Fill = "0";
  const Value *V = next();
  return V ? convert(*V, S) : "";
}

Value Percent::run() {
  std::string Out;
  for (size_t I = 0; I < F.size() && !C.failed(); ++I) {
    if (F[I] != '%') {
      Out.push_back(F[I]);
      continue;
    }
    Out += conversion(++I);
    (void)C.room(Out.size());
  }
  if (Next < Left.size() && !Mapping)
    return C.fail("not all arguments converted during string formatting");
  return Html ? Value::markup(std::move(Out)) : Value::string(std::move(Out));
}

} // namespace

Value formatPercent(Context &C, const Value &Format, const Value &Values) {
  return Percent(C, Format, Values).run();
}

Value formatBraces(Context &C, const Value &Format, const Arguments &A) {
  std::string S = Braces(C, A, Format.isMarkup()).run(Format.asString(), 1);
  return Format.isMarkup() ? Value::markup(std::move(S))
                           : Value::string(std::move(S));
}

} // namespace llmc::jinja
