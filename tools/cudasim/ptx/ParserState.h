// The parser's state, shared by its two halves: declarations and statements.
#ifndef LLMC_TOOLS_CUDASIM_PTX_PARSERSTATE_H
#define LLMC_TOOLS_CUDASIM_PTX_PARSERSTATE_H

#include "tools/cudasim/ptx/Lexer.h"

#include <map>

namespace llmc::cudasim {

/// Names of registers in one pair of braces; inline PTX uses the same names
/// again and again.
struct RegisterScope {
  struct Range {
    std::string Prefix;
    uint32_t First, Count;
  };
  std::map<std::string, uint32_t, std::less<>> Names;
  std::vector<Range> Ranges;
  std::map<std::string, std::string, std::less<>> Labels; ///< own -> unique
};

class Parser {
public:
  explicit Parser(std::string_view Text) : Lex(Text) { advance(); }
  PtxModule parse();

private:
  // Tokens.
  void advance() { Now = Lex.next(); }
  bool accept(std::string_view T);
  void expect(std::string_view T);
  std::string word(const char *What);
  uint64_t integer(const char *What);
  [[noreturn]] void fail(const std::string &Text) const;

  // Declarations (Parser.cpp).
  void moduleStatement();
  void version();
  void target();
  void function(bool Entry);
  std::vector<Variable> parameters();
  Variable variable(Space S, bool Extern);
  void initializer(Variable &V, Type T);
  void initialValue(Variable &V, Type T, uint64_t &At);
  bool functionDirective();

  // Statements (Statements.cpp).
  void body();
  void statement();
  void bodyDirective();
  void declareRegisters();
  void instruction(Statement S);
  Operand operand();
  Operand bracketed();
  Operand named(const std::string &Name);
  Operand numeric(bool Negative);
  uint32_t registerNumber(const std::string &Name, bool Must, bool &Found);
  void location();
  void branchTargets();

  Lexer Lex;
  Token Now;
  PtxModule M;
  Function *F = nullptr;
  std::vector<RegisterScope> Scopes;
  std::map<std::string, std::vector<std::string>> TargetLists;
  std::string LastLabel;
  unsigned SourceLine = 0, ScopeCount = 0, OperandDepth = 0;
};

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_PTX_PARSERSTATE_H
