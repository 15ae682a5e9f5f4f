// Bodies of PTX functions: scopes, registers, labels, instructions, operands.
#include "tools/cudasim/ptx/ParserState.h"

#include <algorithm>
#include <charconv>

namespace llmc::cudasim {

constexpr uint32_t MostRegisters = 1 << 20; ///< of a function

void Parser::body() {
  Scopes.assign(1, {});
  TargetLists.clear();
  SourceLine = 0;
  while (!Scopes.empty()) {
    if (Now.What == Token::End)
      fail("the body of " + F->Name + " does not end");
    statement();
  }
  // Jump tables may be declared behind their use.
  for (Statement &S : F->Body)
    if (!S.Opcode.empty() && S.Opcode[0] == "brx")
      for (const Operand &O : S.Operands)
        if (O.What == Operand::Symbol)
          S.Targets = TargetLists[O.Name];
}

void Parser::statement() {
  if (accept("{")) {
    ++ScopeCount;
    return Scopes.emplace_back(), void();
  }
  if (accept("}"))
    return Scopes.pop_back();
  if (accept(";"))
    return;
  Statement S;
  S.Line = Now.Line;
  S.SourceLine = SourceLine;
  if (accept("@")) {
    S.Guarded = true;
    S.GuardNot = accept("!");
    bool Found = false;
    S.Guard = registerNumber(word("a predicate"), true, Found);
    if (F->Registers[S.Guard].Kind != Meaning::Pred)
      fail("the guard is no predicate");
  }
  if (Now.What != Token::Word)
    fail("expected an instruction, found '" + std::string(Now.Text) + "'");
  if (!S.Guarded && Now.Text.starts_with("."))
    return bodyDirective();
  Token Name = Now;
  advance();
  if (!S.Guarded && Now.is(":")) {
    advance();
    LastLabel = Name.Text;
    S.Label = Name.Text;
    if (Scopes.size() > 1) { // inline PTX: the same label in every copy
      S.Label += "#" + std::to_string(ScopeCount);
      Scopes.back().Labels[std::string(Name.Text)] = S.Label;
    }
    F->Body.push_back(std::move(S));
    return;
  }
  std::string_view Rest = Name.Text;
  while (true) {
    size_t Dot = Rest.find('.');
    S.Opcode.emplace_back(Rest.substr(0, Dot));
    if (Dot == std::string_view::npos)
      break;
    Rest.remove_prefix(Dot + 1);
  }
  instruction(std::move(S));
}

void Parser::bodyDirective() {
  if (accept(".reg"))
    return declareRegisters();
  if (accept(".loc"))
    return location();
  if (accept(".branchtargets") || accept(".calltargets"))
    return branchTargets();
  if (accept(".shared"))
    return F->Variables.push_back(variable(Space::Shared, false));
  if (accept(".local"))
    return F->Variables.push_back(variable(Space::Local, false));
  if (accept(".global"))
    return M.Variables.push_back(variable(Space::Global, false));
  if (accept(".const"))
    return M.Variables.push_back(variable(Space::Const, false));
  if (accept(".param")) {
    Variable V = variable(Space::Param, false);
    expect(";");
    // The two sides of a call use the same names in every call.
    auto Same =
        std::find_if(F->Variables.begin(), F->Variables.end(),
                     [&](const Variable &O) { return O.Name == V.Name; });
    if (Same == F->Variables.end())
      F->Variables.push_back(std::move(V));
    else
      Same->Bytes = std::max(Same->Bytes, V.Bytes);
    return;
  }
  if (accept(".pragma") || accept(".callprototype")) {
    while (!Now.is(";") && Now.What != Token::End)
      advance();
    return expect(";");
  }
  fail("unknown directive '" + std::string(Now.Text) + "'");
}

/// .loc file line column[, function_name …, inlined_at …]
void Parser::location() {
  integer("a file number");
  SourceLine = static_cast<unsigned>(integer("a line"));
  integer("a column");
  while (accept(",")) {
    advance(); // function_name, inlined_at
    while (Now.What == Token::Integer || Now.is("+") ||
           (Now.What == Token::Word && Now.Text.starts_with("$L__info")))
      advance();
  }
}

void Parser::branchTargets() {
  std::vector<std::string> &To = TargetLists[LastLabel];
  do
    To.push_back(word("a label"));
  while (accept(","));
  expect(";");
}

void Parser::declareRegisters() {
  Type T;
  while (Now.What == Token::Word && Now.Text.starts_with(".")) {
    T = typeNamed(Now.Text.substr(1));
    if (T.Bits == 0)
      fail("unknown type '" + std::string(Now.Text) + "'");
    advance();
  }
  if (T.Bits == 0)
    fail("registers have no type");
  RegisterScope &S = Scopes.back();
  do {
    std::string Name = word("a register");
    uint32_t First = static_cast<uint32_t>(F->Registers.size());
    uint64_t Count = 1;
    if (accept("<")) {
      Count = integer("a number of registers");
      expect(">");
      if (Count > MostRegisters)
        fail("too many registers: " + std::to_string(Count));
      S.Ranges.push_back({Name, First, static_cast<uint32_t>(Count)});
    } else if (!S.Names.emplace(Name, First).second) {
      fail("register " + Name + " is declared twice");
    }
    if (First + Count > MostRegisters)
      fail("too many registers: " + std::to_string(First + Count));
    for (uint64_t I = 0; I != Count; ++I) {
      F->Registers.push_back(T);
      F->RegisterNames.push_back(Count == 1 ? Name : Name + std::to_string(I));
    }
  } while (accept(","));
  expect(";");
}

uint32_t Parser::registerNumber(const std::string &Name, bool Must,
                                bool &Found) {
  size_t Digits = Name.size();
  while (Digits > 0 && Name[Digits - 1] >= '0' && Name[Digits - 1] <= '9')
    --Digits;
  uint32_t Number = 0;
  bool Numbered =
      Digits != Name.size() &&
      std::from_chars(Name.data() + Digits, Name.data() + Name.size(), Number)
              .ec == std::errc();
  Found = true;
  for (size_t I = Scopes.size(); I-- != 0;) {
    auto It = Scopes[I].Names.find(Name);
    if (It != Scopes[I].Names.end())
      return It->second;
    for (const RegisterScope::Range &R : Scopes[I].Ranges)
      if (Numbered && Number < R.Count &&
          std::string_view(Name).substr(0, Digits) == R.Prefix)
        return R.First + Number;
  }
  Found = false;
  if (Must)
    fail("unknown register " + Name);
  return 0;
}

void Parser::instruction(Statement S) {
  while (!Now.is(";")) {
    if (!S.Operands.empty())
      expect(",");
    S.Operands.push_back(operand());
    if (Now.What == Token::End)
      fail("an instruction does not end");
  }
  advance();
  F->Body.push_back(std::move(S));
}

Operand Parser::numeric(bool Negative) {
  Operand O;
  uint64_t V = Now.Value;
  if (Now.What == Token::Integer) {
    O.What = Operand::Integer;
    O.Value = static_cast<int64_t>(Negative ? uint64_t{0} - V : V);
  } else if (Now.What == Token::Float || Now.What == Token::Double) {
    O.What = Operand::Real;
    O.Wide = Now.What == Token::Double;
    if (Negative)
      V ^= uint64_t{1} << (O.Wide ? 63 : 31);
    O.Value = static_cast<int64_t>(V);
  } else {
    fail("expected an operand, found '" + std::string(Now.Text) + "'");
  }
  advance();
  return O;
}

Operand Parser::named(const std::string &Name) {
  Operand O;
  bool Found = false;
  O.Number = registerNumber(Name, false, Found);
  O.Name = Name;
  if (Name == "_") {
    O.What = Operand::Sink;
  } else if (Found) {
    O.What = Operand::Register;
  } else if (Name[0] == '%') {
    O.What = Operand::Special;
  } else {
    O.What = Operand::Symbol;
    for (size_t I = Scopes.size(); I-- != 0;)
      if (auto It = Scopes[I].Labels.find(Name); It != Scopes[I].Labels.end())
        O.Name = It->second;
  }
  return O;
}

/// [register], [register+4], [symbol+-4], [64], [register, {x, y}]
Operand Parser::bracketed() {
  Operand O;
  O.What = Operand::Memory;
  O.Items.push_back(operand());
  while (Now.is("+") || Now.is("-")) {
    bool Negative = accept("-");
    if (!Negative)
      advance();
    Negative ^= accept("-");
    int64_t By = static_cast<int64_t>(integer("an offset"));
    O.Value += Negative ? -By : By;
  }
  while (accept(","))
    O.Items.push_back(operand());
  expect("]");
  return O;
}

Operand Parser::operand() {
  struct Nested { // bad text must not exhaust the stack
    unsigned &Depth;
    ~Nested() { --Depth; }
  } Level{++OperandDepth};
  if (OperandDepth > 8)
    fail("operands are nested too deeply");
  auto ListUntil = [&](const char *Close, Operand::Kind What) {
    Operand O;
    O.What = What;
    while (!accept(Close)) {
      if (!O.Items.empty())
        expect(",");
      if (O.Items.size() > 256)
        fail("a list of operands is too long");
      O.Items.push_back(operand());
    }
    return O;
  };
  if (accept("{"))
    return ListUntil("}", Operand::Vector);
  if (accept("("))
    return ListUntil(")", Operand::List);
  if (accept("["))
    return bracketed();
  if (accept("!")) {
    Operand O = named(word("a predicate"));
    O.Negated = true;
    return O;
  }
  bool Negative = accept("-");
  if (Now.What != Token::Word || Negative)
    return numeric(Negative);
  Operand O = named(word("an operand"));
  if (O.What == Operand::Symbol && accept("+")) {
    bool Below = accept("-");
    int64_t By = static_cast<int64_t>(integer("an offset"));
    O.Value = Below ? -By : By;
  }
  if (accept("|")) {
    Operand Both;
    Both.What = Operand::Pair;
    Both.Items.push_back(std::move(O));
    Both.Items.push_back(named(word("a register")));
    return Both;
  }
  return O;
}

} // namespace llmc::cudasim
