// Builds the document from the events of the JSON library's parser, which
// hands out floating point numbers as they are written.
#include "runtime/text/constraint/schema/Document.h"

#include "runtime/base/Quote.h"
#include "runtime/text/constraint/schema/Numbers.h"

#include <nlohmann/json.hpp>
#include <set>

namespace llmc::constraint {

namespace {

constexpr size_t MaxBytes = 4 << 20, MaxDepth = 200;

std::string escaped(const std::string &Name) {
  std::string Out;
  for (char C : Name)
    Out += C == '~' ? "~0" : C == '/' ? "~1" : std::string(1, C);
  return Out;
}

class Handler : public nlohmann::json_sax<nlohmann::json> {
public:
  JsonValue Root;
  Status Failure;

  bool null() override { return add({}); }
  bool boolean(bool V) override {
    JsonValue J;
    J.What = JsonValue::Bool;
    J.Flag = V;
    return add(std::move(J));
  }
  bool number_integer(number_integer_t V) override {
    return number(std::to_string(V));
  }
  bool number_unsigned(number_unsigned_t V) override {
    return number(std::to_string(V));
  }
  bool number_float(number_float_t, const string_t &S) override {
    return number(S);
  }
  bool string(string_t &S) override {
    JsonValue J;
    J.What = JsonValue::String;
    J.Text = std::move(S);
    return add(std::move(J));
  }
  bool binary(binary_t &) override { return false; }
  bool start_object(std::size_t) override { return open(JsonValue::Object); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(JsonValue::Array); }
  bool end_array() override { return close(); }
  bool key(string_t &Name) override {
    if (!Seen.back().insert(Name).second) {
      Failure = malformedError("schema: " + pointer() + " has the name " +
                               llmc::quoted(Name) + " twice");
      return false;
    }
    Stack.back()->Names.push_back(Name);
    return true;
  }
  bool parse_error(std::size_t At, const std::string &,
                   const nlohmann::detail::exception &) override {
    Failure = malformedError("schema: not JSON at byte " + std::to_string(At));
    return false;
  }

private:
  std::string pointer() const {
    return Stack.empty() || Stack.back()->Pointer.empty()
               ? "the root"
               : printable(Stack.back()->Pointer);
  }
  bool number(std::string S) {
    JsonValue J;
    J.What = JsonValue::Number;
    J.Text = std::move(S);
    return add(std::move(J));
  }
  JsonValue &place() {
    if (Stack.empty())
      return Root;
    JsonValue &In = *Stack.back();
    In.Items.emplace_back();
    std::string Name = In.What == JsonValue::Object
                           ? escaped(In.Names.back())
                           : std::to_string(In.Items.size() - 1);
    In.Items.back().Pointer = In.Pointer + "/" + Name;
    return In.Items.back();
  }
  bool add(JsonValue J) {
    JsonValue &To = place();
    J.Pointer = std::move(To.Pointer);
    To = std::move(J);
    return true;
  }
  bool open(JsonValue::Kind K) {
    if (Stack.size() >= MaxDepth) {
      Failure = malformedError("schema: nested deeper than " +
                               std::to_string(MaxDepth));
      return false;
    }
    JsonValue &To = place();
    To.What = K;
    Stack.push_back(&To); // stays: its siblings come when it is closed
    Seen.emplace_back();
    return true;
  }
  bool close() {
    Stack.pop_back();
    Seen.pop_back();
    return true;
  }

  std::vector<JsonValue *> Stack;
  std::vector<std::set<std::string>> Seen;
};

/// Digits and exponent of a number, without zeros at the ends.
std::pair<std::string, long> significand(const std::string &Text) {
  std::string Digits;
  long Exponent = 0;
  bool Point = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (C >= '0' && C <= '9') {
      Digits += C;
      Exponent -= Point;
    } else if (C == '.') {
      Point = true;
    } else if (C == 'e' || C == 'E') {
      Exponent += exponentAt(Text.c_str() + I + 1);
      break;
    }
  }
  while (!Digits.empty() && Digits.back() == '0') {
    Digits.pop_back();
    ++Exponent;
  }
  Digits.erase(0, std::min(Digits.find_first_not_of('0'), Digits.size()));
  if (Digits.empty())
    return {"", 0};
  return {(Text[0] == '-' ? "-" : "") + Digits, Exponent};
}

} // namespace

Result<std::unique_ptr<JsonValue>> readDocument(std::string_view Text) {
  if (Text.size() > MaxBytes)
    return malformedError("schema: " + std::to_string(Text.size()) +
                          " bytes, at most " + std::to_string(MaxBytes));
  Handler H;
  bool Parsed = nlohmann::json::sax_parse(Text.begin(), Text.end(), &H);
  if (!H.Failure.ok())
    return H.Failure;
  if (!Parsed)
    return malformedError("schema: not JSON");
  return std::make_unique<JsonValue>(std::move(H.Root));
}

bool equalValues(const JsonValue &A, const JsonValue &B) {
  if (A.What != B.What || A.Items.size() != B.Items.size())
    return false;
  switch (A.What) {
  case JsonValue::Bool:
    return A.Flag == B.Flag;
  case JsonValue::Number:
    return significand(A.Text) == significand(B.Text);
  case JsonValue::String:
    return A.Text == B.Text;
  case JsonValue::Array:
    for (size_t I = 0; I < A.Items.size(); ++I)
      if (!equalValues(A.Items[I], B.Items[I]))
        return false;
    return true;
  case JsonValue::Object:
    for (size_t I = 0; I < A.Items.size(); ++I) {
      const JsonValue *Other = B.find(A.Names[I]);
      if (Other == nullptr || !equalValues(A.Items[I], *Other))
        return false;
    }
    return true;
  default:
    return true;
  }
}

} // namespace llmc::constraint
