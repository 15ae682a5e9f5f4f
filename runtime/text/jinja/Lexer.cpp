// One pass over the source. Text between tags is trimmed as the tags on its
// two sides ask for ("-" strips, "+" keeps, a block alone on its line leaves
// nothing behind).
#include "runtime/text/jinja/Lexer.h"

#include "runtime/text/Utf8.h"

#include <charconv>
#include <cstdlib>

namespace llmc::jinja {

Status templateError(uint32_t Line, uint32_t Column, const std::string &What) {
  return malformedError("chat template, line " + std::to_string(Line) +
                        ", column " + std::to_string(Column) + ": " + What);
}

namespace {

bool isSpace(char C) { return C == ' ' || (C >= '\t' && C <= '\r'); }
bool isDigit(char C) { return C >= '0' && C <= '9'; }
bool isNameStart(char C) {
  return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') || C == '_' ||
         (C & 0x80);
}

class Lexer {
public:
  explicit Lexer(std::string_view Source);
  Result<std::vector<Token>> run();

private:
  void addText(size_t Begin, size_t End, bool TagIsBlock, char Sign);
  Status comment();
  Status raw(size_t BodyBegin);
  Status inside(bool Block);
  bool atEndOfTag(bool Block, int Depth) const;
  void closeTag(bool Block);
  Status lexString();
  Status lexNumber();
  Status lexOperator(int &Depth);
  Token &add(Token::Kind K, size_t At);
  Status error(size_t At, const std::string &What) const;
  void place(size_t At, uint32_t &Line, uint32_t &Column) const;
  bool starts(std::string_view S) const {
    return std::string_view(Text).substr(At, S.size()) == S;
  }

  std::string Text;
  size_t At = 0;
  bool LineStart = true;      ///< the text from At on begins a line
  mutable size_t PlaceAt = 0; ///< cache of place(): it only moves forward
  mutable uint32_t PlaceLine = 1;
  mutable size_t PlaceLineBegin = 0;
  std::vector<Token> Out;
};

/// All line ends become \n, and one at the very end goes.
Lexer::Lexer(std::string_view Source) {
  Text.reserve(Source.size());
  for (size_t I = 0; I < Source.size(); ++I) {
    if (Source[I] != '\r') {
      Text.push_back(Source[I]);
      continue;
    }
    Text.push_back('\n');
    if (I + 1 < Source.size() && Source[I + 1] == '\n')
      ++I;
  }
  if (!Text.empty() && Text.back() == '\n')
    Text.pop_back();
}

void Lexer::place(size_t Where, uint32_t &Line, uint32_t &Column) const {
  if (Where < PlaceAt)
    PlaceAt = 0, PlaceLine = 1, PlaceLineBegin = 0;
  for (; PlaceAt < Where; ++PlaceAt)
    if (Text[PlaceAt] == '\n')
      ++PlaceLine, PlaceLineBegin = PlaceAt + 1;
  Line = PlaceLine;
  Column = static_cast<uint32_t>(Where - PlaceLineBegin + 1);
}

Status Lexer::error(size_t Where, const std::string &What) const {
  uint32_t Line = 1, Column = 1;
  place(Where, Line, Column);
  return templateError(Line, Column, What);
}

Token &Lexer::add(Token::Kind K, size_t Where) {
  Token T;
  T.What = K;
  place(Where, T.Line, T.Column);
  Out.push_back(std::move(T));
  return Out.back();
}

/// Text before a tag whose sign ('-', '+' or 0) is known.
void Lexer::addText(size_t Begin, size_t End, bool TagIsBlock, char Sign) {
  std::string_view Part = std::string_view(Text).substr(Begin, End - Begin);
  if (Sign == '-') {
    while (!Part.empty() && isSpace(Part.back()))
      Part.remove_suffix(1);
  } else if (Sign != '+' && TagIsBlock) {
    size_t Line = Part.rfind('\n');
    size_t From = Line == std::string_view::npos ? 0 : Line + 1;
    bool Blank = Line != std::string_view::npos || LineStart;
    for (size_t I = From; I < Part.size() && Blank; ++I)
      Blank = isSpace(Part[I]);
    if (Blank)
      Part = Part.substr(0, From);
  }
  if (!Part.empty())
    add(Token::Kind::Text, Begin).Text = Part;
}

Status Lexer::comment() {
  size_t Begin = At, End = Text.find("#}", At + 2);
  if (End == std::string::npos)
    return error(Begin, "missing end of comment tag");
  char Sign = End > Begin + 2 ? Text[End - 1] : 0;
  At = End + 2;
  if (Sign == '-')
    while (At < Text.size() && isSpace(Text[At]))
      ++At;
  else if (Sign != '+' && At < Text.size() && Text[At] == '\n')
    ++At;
  LineStart = Text[At - 1] == '\n';
  return Status::success();
}

/// At stands behind "{% raw %}".
Status Lexer::raw(size_t Open) {
  for (size_t Search = At;;) {
    size_t Tag = Text.find("{%", Search);
    if (Tag == std::string::npos)
      return error(Open, "missing end of raw directive");
    size_t I = Tag + 2;
    char Sign = I < Text.size() && (Text[I] == '-' || Text[I] == '+')
                    ? Text[I++]
                    : '\0';
    while (I < Text.size() && isSpace(Text[I]))
      ++I;
    Search = Tag + 2;
    if (Text.compare(I, 6, "endraw") != 0)
      continue;
    I += 6;
    while (I < Text.size() && isSpace(Text[I]))
      ++I;
    size_t Body = At;
    addText(Body, Tag, true, Sign);
    At = I;
    if (!atEndOfTag(true, 0))
      return error(I, "expected the end of the endraw tag");
    closeTag(true);
    return Status::success();
  }
}

bool Lexer::atEndOfTag(bool Block, int Depth) const {
  if (Depth != 0)
    return false;
  if (Block)
    return starts("%}") || starts("-%}") || starts("+%}");
  return starts("}}") || starts("-}}");
}

void Lexer::closeTag(bool Block) {
  char Sign = Text[At] == '-' || Text[At] == '+' ? Text[At++] : '\0';
  At += 2;
  if (Sign == '-')
    while (At < Text.size() && isSpace(Text[At]))
      ++At;
  else if (Block && Sign != '+' && At < Text.size() && Text[At] == '\n')
    ++At;
  LineStart = Text[At - 1] == '\n';
}

uint32_t hexOf(std::string_view S) {
  uint32_t V = 0;
  std::from_chars(S.data(), S.data() + S.size(), V, 16);
  return V;
}

Status Lexer::lexString() {
  size_t Begin = At;
  char Quote = Text[At++];
  std::string S;
  while (At < Text.size() && Text[At] != Quote) {
    char C = Text[At++];
    if (C != '\\' || At == Text.size()) {
      S.push_back(C);
      continue;
    }
    char E = Text[At++];
    size_t Digits = E == 'x' ? 2 : E == 'u' ? 4 : E == 'U' ? 8 : 0;
    switch (E) {
    case 'n':
      S.push_back('\n');
      break;
    case 't':
      S.push_back('\t');
      break;
    case 'r':
      S.push_back('\r');
      break;
    case 'b':
      S.push_back('\b');
      break;
    case 'f':
      S.push_back('\f');
      break;
    case 'v':
      S.push_back('\v');
      break;
    case 'a':
      S.push_back('\a');
      break;
    case '0':
      S.push_back('\0');
      break;
    case '\n':
      break;
    case 'x':
    case 'u':
    case 'U': {
      uint32_t C32 = hexOf(std::string_view(Text).substr(At, Digits));
      if (C32 > 0x10FFFF || (C32 >= 0xD800 && C32 < 0xE000))
        return error(At, "escape is not a character");
      appendUtf8(S, C32);
      At = std::min(At + Digits, Text.size());
      break;
    }
    default:
      if (E != '\\' && E != '\'' && E != '"')
        S.push_back('\\');
      S.push_back(E);
    }
  }
  if (At == Text.size())
    return error(Begin, "string without an end");
  ++At;
  add(Token::Kind::String, Begin).Text = std::move(S);
  return Status::success();
}

Status Lexer::lexNumber() {
  size_t Begin = At;
  std::string Digits;
  int Base = 10;
  if (Text[At] == '0' && At + 1 < Text.size()) {
    char B = static_cast<char>(Text[At + 1] | 0x20);
    Base = B == 'x' ? 16 : B == 'o' ? 8 : B == 'b' ? 2 : 10;
    if (Base != 10)
      At += 2;
  }
  bool Real = false;
  for (; At < Text.size(); ++At) {
    char C = Text[At];
    bool Next = At + 1 < Text.size() && isDigit(Text[At + 1]);
    if (C == '_')
      continue;
    if (Base == 10 && C == '.' && Next && !Real)
      Real = true;
    else if (Base == 10 && (C == 'e' || C == 'E') &&
             (Next || (At + 2 < Text.size() && isDigit(Text[At + 2]) &&
                       (Text[At + 1] == '-' || Text[At + 1] == '+')))) {
      Real = true;
      Digits.push_back(C);
      C = Text[++At];
    } else if (!isDigit(C) &&
               !(Base == 16 && std::isxdigit(static_cast<unsigned char>(C))))
      break;
    Digits.push_back(C);
  }
  Token &T = add(Real ? Token::Kind::Float : Token::Kind::Int, Begin);
  T.Float = std::strtod(Digits.c_str(), nullptr);
  std::from_chars_result R = std::from_chars(
      Digits.data(), Digits.data() + Digits.size(), T.Int, Base);
  if (!Real && R.ec == std::errc::result_out_of_range)
    return error(Begin, "integer does not fit in 64 bits");
  return Status::success();
}

Status Lexer::lexOperator(int &Depth) {
  static constexpr std::string_view Two[] = {
      "==", "!=", "<=", ">=", "//", "**"};
  std::string_view Found;
  for (std::string_view Op : Two)
    if (starts(Op))
      Found = Op;
  if (Found.empty()) {
    static constexpr std::string_view One = "+-*/%~<>=.:|,()[]{}";
    size_t I = One.find(Text[At]);
    if (I == std::string_view::npos) {
      uint8_t C = static_cast<uint8_t>(Text[At]);
      return error(At, C < 0x20 || C >= 0x7F
                           ? "unexpected character"
                           : std::string("unexpected character '") + Text[At] +
                                 "'");
    }
    Found = One.substr(I, 1);
  }
  if (Found == "(" || Found == "[" || Found == "{")
    ++Depth;
  if (Found == ")" || Found == "]" || Found == "}")
    if (--Depth < 0)
      return error(At, "unexpected '" + std::string(Found) + "'");
  add(Token::Kind::Operator, At).Text = Found;
  At += Found.size();
  return Status::success();
}

/// Tokens up to and with the end of the tag.
Status Lexer::inside(bool Block) {
  size_t Begin = At - 2;
  for (int Depth = 0;;) {
    while (At < Text.size() && isSpace(Text[At]))
      ++At;
    if (At == Text.size())
      return error(Begin, std::string("unexpected end of template, expected "
                                      "the end of the ") +
                              (Block ? "block" : "print statement"));
    if (atEndOfTag(Block, Depth)) {
      add(Block ? Token::Kind::BlockEnd : Token::Kind::PrintEnd, At);
      closeTag(Block);
      return Status::success();
    }
    char C = Text[At];
    if (C == '\'' || C == '"') {
      LLMC_RETURN_IF_ERROR(lexString());
    } else if (isDigit(C)) {
      LLMC_RETURN_IF_ERROR(lexNumber());
    } else if (isNameStart(C)) {
      size_t NameBegin = At;
      while (At < Text.size() && (isNameStart(Text[At]) || isDigit(Text[At])))
        ++At;
      add(Token::Kind::Name, NameBegin).Text =
          Text.substr(NameBegin, At - NameBegin);
    } else {
      LLMC_RETURN_IF_ERROR(lexOperator(Depth));
    }
  }
}

Result<std::vector<Token>> Lexer::run() {
  while (At < Text.size()) {
    size_t Tag = At;
    while (Tag < Text.size() &&
           !(Text[Tag] == '{' && Tag + 1 < Text.size() &&
             (Text[Tag + 1] == '{' || Text[Tag + 1] == '%' ||
              Text[Tag + 1] == '#')))
      ++Tag;
    if (Tag == Text.size()) {
      add(Token::Kind::Text, At).Text = Text.substr(At);
      break;
    }
    char Type = Text[Tag + 1];
    size_t Behind = Tag + 2;
    char Sign =
        Behind < Text.size() && (Text[Behind] == '-' || Text[Behind] == '+')
            ? Text[Behind]
            : '\0';
    addText(At, Tag, Type != '{', Sign);
    At = Tag;
    if (Type == '#') {
      LLMC_RETURN_IF_ERROR(comment());
      continue;
    }
    At = Behind + (Sign != '\0');
    bool Block = Type == '%';
    size_t I = At;
    while (I < Text.size() && isSpace(Text[I]))
      ++I;
    if (Block && Text.compare(I, 3, "raw") == 0) {
      size_t Old = At;
      for (At = I + 3; At < Text.size() && isSpace(Text[At]);)
        ++At;
      if (atEndOfTag(true, 0) && Text[At] != '+') {
        // The newline behind "{% raw %}" belongs to the text.
        bool Strip = Text[At] == '-';
        At += Text[At] == '%' ? 2 : 3;
        while (Strip && At < Text.size() && isSpace(Text[At]))
          ++At;
        LineStart = false;
        LLMC_RETURN_IF_ERROR(raw(Tag));
        continue;
      }
      At = Old;
    }
    add(Block ? Token::Kind::BlockBegin : Token::Kind::PrintBegin, Tag);
    LLMC_RETURN_IF_ERROR(inside(Block));
  }
  add(Token::Kind::End, Text.size());
  return std::move(Out);
}

} // namespace

Result<std::vector<Token>> tokenize(std::string_view Source) {
  if (size_t Bad = findBadUtf8(Source); Bad != std::string_view::npos)
    return malformedError("chat template is not UTF-8 at byte " +
                          std::to_string(Bad) + " of " +
                          std::to_string(Source.size()));
  return Lexer(Source).run();
}

} // namespace llmc::jinja
