// Declarations of a PTX module: version, target, variables, functions.
// Debug sections are skipped; what is not known is an error with its line.
#include "tools/cudasim/ptx/ParserState.h"

#include <bit>
#include <cstring>

namespace llmc::cudasim {

/// No PTX of a real kernel comes near; it bounds what bad text can allocate.
constexpr uint64_t MostVariableBytes = uint64_t{1} << 30;

Type typeNamed(std::string_view N) {
  struct Named {
    const char *Name;
    Type T;
  };
  using enum Meaning;
  static const Named Types[] = {{"b8", {Bits, 8}},
                                {"b16", {Bits, 16}},
                                {"b32", {Bits, 32}},
                                {"b64", {Bits, 64}},
                                {"b128", {Bits, 128}},
                                {"u8", {Unsigned, 8}},
                                {"u16", {Unsigned, 16}},
                                {"u32", {Unsigned, 32}},
                                {"u64", {Unsigned, 64}},
                                {"s8", {Signed, 8}},
                                {"s16", {Signed, 16}},
                                {"s32", {Signed, 32}},
                                {"s64", {Signed, 64}},
                                {"f16", {Float, 16}},
                                {"f16x2", {Float, 16, 2}},
                                {"bf16", {BFloat, 16}},
                                {"bf16x2", {BFloat, 16, 2}},
                                {"f32", {Float, 32}},
                                {"f64", {Float, 64}},
                                {"pred", {Pred, 1}},
                                {"u16x2", {Unsigned, 16, 2}},
                                {"s16x2", {Signed, 16, 2}}};
  for (const Named &T : Types)
    if (N == T.Name)
      return T.T;
  return Type{};
}

void Parser::fail(const std::string &Text) const {
  throw PtxError(Now.Line, Text);
}
bool Parser::accept(std::string_view T) {
  if (!Now.is(T))
    return false;
  advance();
  return true;
}
void Parser::expect(std::string_view T) {
  if (!accept(T))
    fail("expected '" + std::string(T) + "', found '" + std::string(Now.Text) +
         "'");
}
std::string Parser::word(const char *What) {
  if (Now.What != Token::Word)
    fail(std::string("expected ") + What + ", found '" + std::string(Now.Text) +
         "'");
  std::string W(Now.Text);
  advance();
  return W;
}
uint64_t Parser::integer(const char *What) {
  if (Now.What != Token::Integer)
    fail(std::string("expected ") + What + ", found '" + std::string(Now.Text) +
         "'");
  uint64_t V = Now.Value;
  advance();
  return V;
}

PtxModule Parser::parse() {
  if (!Now.is(".version"))
    fail("the text does not start with .version");
  while (Now.What != Token::End)
    moduleStatement();
  if (M.Target == 0)
    fail("the module has no .target");
  return std::move(M);
}

void Parser::version() {
  // "9.0" is one number to the lexer.
  std::string_view T = Now.Text;
  size_t Dot = T.find('.');
  if (Now.What != Token::Double || Dot == std::string_view::npos || Dot > 2 ||
      T.size() != Dot + 2)
    fail("bad version '" + std::string(T) + "'");
  for (char C : T)
    if (C != '.')
      M.Version = M.Version * 10 + static_cast<unsigned>(C - '0');
  advance();
}

void Parser::target() {
  std::string T = word("a target");
  if (T.rfind("sm_", 0) != 0)
    fail("unknown target '" + T + "'");
  M.Target = static_cast<unsigned>(std::strtoul(T.c_str() + 3, nullptr, 10));
  while (accept(","))
    word("a target option");
}

void Parser::moduleStatement() {
  bool Extern = false;
  while (Now.is(".visible") || Now.is(".extern") || Now.is(".weak") ||
         Now.is(".common")) {
    Extern |= Now.is(".extern");
    advance();
  }
  if (accept(".version"))
    return version();
  if (accept(".target"))
    return target();
  if (accept(".address_size")) {
    if (integer("an address size") != 64)
      fail("only 64-bit addresses are supported");
    return;
  }
  if (accept(".entry"))
    return function(true);
  if (accept(".func"))
    return function(false);
  if (accept(".global"))
    return M.Variables.push_back(variable(Space::Global, Extern));
  if (accept(".const"))
    return M.Variables.push_back(variable(Space::Const, Extern));
  if (accept(".shared"))
    return M.Variables.push_back(variable(Space::Shared, Extern));
  if (accept(".file")) {
    uint64_t N = integer("a file number");
    if (N < 4096) {
      M.Files.resize(std::max<size_t>(M.Files.size(), N + 1));
      M.Files[N] = std::string(Now.Text);
    }
    advance();
    while (accept(",")) // time stamp, size
      advance();
    return;
  }
  if (accept(".section")) {
    advance();
    expect("{");
    Lex.skipBraces();
    return advance();
  }
  if (accept(".pragma") || accept(".alias")) {
    while (!Now.is(";") && Now.What != Token::End)
      advance();
    return expect(";");
  }
  fail("unknown directive '" + std::string(Now.Text) + "'");
}

/// After the space: .align 16 .b8 name[64] = {…};  or a parameter without ';'
Variable Parser::variable(Space S, bool Extern) {
  Variable V;
  V.Where = S;
  V.Extern = Extern;
  unsigned Vector = 1;
  Type T;
  bool Aligned = false;
  while (Now.What == Token::Word && Now.Text.starts_with(".")) {
    if (accept(".align")) {
      V.Align = static_cast<uint32_t>(integer("an alignment"));
      if (!std::has_single_bit(V.Align) || V.Align > 4096)
        fail("bad alignment " + std::to_string(V.Align));
      Aligned = true;
    } else if (accept(".v2")) {
      Vector = 2;
    } else if (accept(".v4")) {
      Vector = 4;
    } else if (accept(".ptr")) { // of a pointer parameter: space, alignment
      while (accept(".global") || accept(".shared") || accept(".const") ||
             accept(".local"))
        ;
      if (accept(".align"))
        integer("an alignment");
    } else if (accept(".attribute")) {
      expect("(");
      while (!accept(")"))
        advance();
    } else {
      T = typeNamed(Now.Text.substr(1));
      if (T.Bits == 0 || T.Kind == Meaning::Pred)
        fail("unknown type '" + std::string(Now.Text) + "'");
      advance();
    }
  }
  if (T.Bits == 0)
    fail("a variable has no type");
  V.Name = word("a variable's name");
  uint64_t Elements = Vector;
  bool Sized = true;
  while (accept("[")) {
    uint64_t N = Now.is("]") ? 0 : integer("a number of elements");
    Sized &= N != 0;
    if (N > MostVariableBytes || Elements * N > MostVariableBytes)
      fail("variable " + V.Name + " is too large");
    Elements *= N;
    expect("]");
  }
  V.Bytes = Elements * T.total() / 8;
  if (!Aligned)
    V.Align = Vector * T.total() / 8;
  if (S == Space::Param)
    return V;
  if (accept("="))
    initializer(V, T);
  if (!Sized && !Extern)
    fail("variable " + V.Name + " has no size");
  expect(";");
  return V;
}

void Parser::initializer(Variable &V, Type T) {
  V.Init.resize(V.Bytes);
  uint64_t At = 0;
  if (!accept("{"))
    return initialValue(V, T, At);
  for (unsigned Depth = 1; Depth != 0;) {
    if (accept("{"))
      ++Depth;
    else if (accept("}"))
      --Depth;
    else if (!accept(","))
      initialValue(V, T, At);
  }
}

void Parser::initialValue(Variable &V, Type T, uint64_t &At) {
  unsigned Bytes = T.total() / 8;
  if (At + Bytes > V.Bytes)
    fail("too many initial values for " + V.Name);
  uint64_t Bits = 0;
  bool Negative = accept("-");
  if (Now.What == Token::Word) {
    std::string Name = word("an initial value");
    bool Generic = Name == "generic" && accept("(");
    if (Generic)
      Name = word("a variable");
    int64_t Added =
        accept("+") ? static_cast<int64_t>(integer("an offset")) : 0;
    if (Generic)
      expect(")");
    V.Addresses.push_back({At, Name, Added});
  } else if (Now.What == Token::Double && T.Bits == 32) {
    Bits = std::bit_cast<uint32_t>(
        static_cast<float>(std::bit_cast<double>(Now.Value)));
    advance();
  } else if (Now.What == Token::Integer || Now.What == Token::Float ||
             Now.What == Token::Double) {
    Bits = Negative ? uint64_t{0} - Now.Value : Now.Value;
    advance();
  } else {
    fail("bad initial value '" + std::string(Now.Text) + "'");
  }
  std::memcpy(V.Init.data() + At, &Bits, std::min(Bytes, 8u));
  At += Bytes;
}

std::vector<Variable> Parser::parameters() {
  std::vector<Variable> All;
  if (!accept("("))
    return All;
  while (!accept(")")) {
    if (!All.empty())
      expect(",");
    if (accept(".reg"))
      fail("parameters in registers are not supported");
    expect(".param");
    All.push_back(variable(Space::Param, false));
  }
  return All;
}

bool Parser::functionDirective() {
  auto Three = [&](uint32_t (&To)[3]) {
    for (unsigned I = 0; I != 3; ++I)
      To[I] = I == 0 || accept(",")
                  ? static_cast<uint32_t>(integer("a number of threads"))
                  : 1;
  };
  uint32_t Ignored[3];
  if (accept(".maxntid"))
    Three(F->MaxThreads);
  else if (accept(".reqntid"))
    Three(F->ReqThreads);
  else if (accept(".minnctapersm") || accept(".maxnreg") ||
           accept(".maxnctapersm") || accept(".maxclusterrank"))
    integer("a number");
  else if (accept(".reqnctapercluster"))
    Three(Ignored);
  else if (accept(".pragma")) {
    while (!accept(";"))
      advance();
  } else if (!accept(".noreturn") && !accept(".explicitcluster") &&
             !accept(".blocksareclusters"))
    return false;
  return true;
}

void Parser::function(bool Entry) {
  Function New;
  New.Entry = Entry;
  New.Line = Now.Line;
  if (!Entry)
    New.Results = parameters();
  New.Name = word("a function's name");
  New.Params = parameters();
  // A declaration may come before the definition.
  F = nullptr;
  for (Function &Old : M.Functions)
    if (Old.Name == New.Name) {
      if (Old.Defined)
        fail("function " + New.Name + " is defined twice");
      F = &Old;
    }
  if (!F)
    F = &M.Functions.emplace_back();
  *F = std::move(New);
  while (functionDirective())
    ;
  if (accept(";"))
    return;
  expect("{");
  F->Defined = true;
  body();
}

PtxModule parsePtx(std::string_view Text) { return Parser(Text).parse(); }

} // namespace llmc::cudasim
