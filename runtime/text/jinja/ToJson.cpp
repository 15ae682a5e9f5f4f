// Values as JSON text with the spacing of Python's json module, which is what
// models were trained on.
#include "runtime/text/jinja/Library.h"

#include "runtime/text/Utf8.h"

#include <algorithm>

namespace llmc::jinja {

namespace {

class JsonText {
public:
  JsonText(Context &C, const JsonStyle &S) : C(C), Style(S) {}
  void write(const Value &V, int Level);
  std::string Out;

private:
  void text(const std::string &S);
  void unicode(uint32_t Unit);
  void newLine(int Level);
  void sequence(const Value &V, int Level);
  void object(const Value &V, int Level);
  Context &C;
  const JsonStyle &Style;
};

void JsonText::unicode(uint32_t Unit) {
  constexpr char Hex[] = "0123456789abcdef";
  Out += "\\u";
  for (int Shift = 12; Shift >= 0; Shift -= 4)
    Out += Hex[Unit >> Shift & 15];
}

void JsonText::text(const std::string &S) {
  Out += '"';
  for (size_t I = 0; I < S.size();) {
    size_t Begin = I;
    uint32_t P = nextCodePoint(S, I);
    switch (P) {
    case '"':
      Out += "\\\"";
      break;
    case '\\':
      Out += "\\\\";
      break;
    case '\n':
      Out += "\\n";
      break;
    case '\r':
      Out += "\\r";
      break;
    case '\t':
      Out += "\\t";
      break;
    case '\b':
      Out += "\\b";
      break;
    case '\f':
      Out += "\\f";
      break;
    default:
      if (P < 0x20 || (Style.Ascii && P >= 0x7F && P < 0x10000)) {
        unicode(P);
      } else if (Style.Ascii && P >= 0x10000) {
        unicode(0xD800 + ((P - 0x10000) >> 10));
        unicode(0xDC00 + ((P - 0x10000) & 0x3FF));
      } else {
        Out.append(S, Begin, I - Begin);
      }
    }
  }
  Out += '"';
}

void JsonText::newLine(int Level) {
  if (!Style.Lines)
    return;
  Out += '\n';
  for (int I = 0; I < Level; ++I)
    Out += Style.Indent;
}

void JsonText::sequence(const Value &V, int Level) {
  if (V.items().empty()) {
    Out += "[]";
    return;
  }
  Out += '[';
  bool First = true;
  for (const Value &I : V.items()) {
    if (!First)
      Out += Style.Comma;
    First = false;
    newLine(Level + 1);
    write(I, Level + 1);
  }
  newLine(Level);
  Out += ']';
}

void JsonText::object(const Value &V, int Level) {
  if (V.members().empty()) {
    Out += "{}";
    return;
  }
  Value::Members M = V.members();
  if (Style.SortKeys)
    std::stable_sort(M.begin(), M.end(), [&](const auto &A, const auto &B) {
      return C.less(A.first, B.first);
    });
  Out += '{';
  bool First = true;
  for (const auto &[Key, Member] : M) {
    if (!First)
      Out += Style.Comma;
    First = false;
    newLine(Level + 1);
    if (Key.isString()) {
      text(Key.asString());
    } else if (Key.kind() == Value::Kind::Tuple) {
      C.fail("keys must be str, int, float, bool or None, not tuple");
    } else {
      Out += '"';
      write(Key, 0);
      Out += '"';
    }
    Out += Style.Colon;
    write(Member, Level + 1);
  }
  newLine(Level);
  Out += '}';
}

void JsonText::write(const Value &V, int Level) {
  if (C.failed() || !C.charge(1 + Out.size() / MaxValueWeight))
    return;
  switch (V.kind()) {
  case Value::Kind::None:
    Out += "null";
    break;
  case Value::Kind::Bool:
    Out += V.asInteger() ? "true" : "false";
    break;
  case Value::Kind::Int:
    Out += std::to_string(V.asInteger());
    break;
  case Value::Kind::Float: {
    std::string S = realText(V.asReal());
    Out += S == "nan"    ? "NaN"
           : S == "inf"  ? "Infinity"
           : S == "-inf" ? "-Infinity"
                         : S;
    break;
  }
  case Value::Kind::String:
    text(V.asString());
    break;
  case Value::Kind::List:
  case Value::Kind::Tuple:
    sequence(V, Level);
    break;
  case Value::Kind::Dict:
    object(V, Level);
    break;
  default:
    C.fail("object of type " + std::string(V.typeName()) +
           " is not JSON serializable");
  }
  if (Out.size() > Context::MaxText)
    (void)C.room(Out.size());
}

} // namespace

Value toJson(Context &C, const Value &V, const JsonStyle &Style) {
  if (!C.charge(V.weight()))
    return Value();
  JsonText T(C, Style);
  T.write(V, 0);
  return C.failed() ? Value() : Value::string(std::move(T.Out));
}

} // namespace llmc::jinja
