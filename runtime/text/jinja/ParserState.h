// The parser's state, shared by its two files: statements in Parser.cpp,
// expressions in ParseExpression.cpp. Errors are kept in the parser: after the
// first one every function returns at once.
#ifndef LLMC_RUNTIME_TEXT_JINJA_PARSERSTATE_H
#define LLMC_RUNTIME_TEXT_JINJA_PARSERSTATE_H

#include "runtime/text/jinja/Ast.h"
#include "runtime/text/jinja/Lexer.h"

#include <initializer_list>
#include <set>

namespace llmc::jinja {

class Parser {
public:
  explicit Parser(std::vector<Token> T) : Tokens(std::move(T)) {}
  Result<NodePtr> run();

private:
  // Tokens
  const Token &now() const { return Tokens[At]; }
  bool isOp(std::string_view Op) const {
    return now().What == Token::Kind::Operator && now().Text == Op;
  }
  bool isName(std::string_view N) const {
    return now().What == Token::Kind::Name && now().Text == N;
  }
  bool takeOp(std::string_view Op) { return isOp(Op) && (next(), true); }
  bool takeName(std::string_view N) { return isName(N) && (next(), true); }
  void next() {
    if (At + 1 < Tokens.size())
      ++At;
  }
  NodePtr make(Node::Kind Kind) {
    if (++Nodes > MaxNodes)
      fail("more than " + std::to_string(MaxNodes) + " parts");
    return std::make_unique<Node>(Kind, now().Line, now().Column);
  }
  std::nullptr_t fail(const std::string &What);
  void unknown(const std::string &What);
  std::string shown() const;
  void expectOp(std::string_view Op);
  std::string expectName();
  void expectBlockEnd();

  // Statements
  NodePtr sequence(std::initializer_list<std::string_view> Ends);
  NodePtr statement();
  NodePtr ifStatement();
  NodePtr forStatement();
  NodePtr setStatement();
  NodePtr macroStatement();
  NodePtr callStatement();
  NodePtr filterStatement();
  NodePtr withStatement();
  NodePtr blockStatement();
  void parameters(Node &N);
  NodePtr target(bool WithNamespace);
  NodePtr targetPart(bool WithNamespace);
  void endOf(std::string_view Tag);

  // Expressions
  NodePtr tuple(bool WithConditional = true);
  NodePtr expression();
  NodePtr orExpression();
  NodePtr andExpression();
  NodePtr notExpression();
  NodePtr comparison();
  NodePtr sum();
  NodePtr concatenation();
  NodePtr product();
  NodePtr power();
  NodePtr unary(bool WithFilters = true);
  NodePtr primary();
  NodePtr postfix(NodePtr N);
  NodePtr subscript(NodePtr Object);
  NodePtr filters(NodePtr N);
  NodePtr filter(NodePtr Input);
  NodePtr test(NodePtr Input);
  void arguments(Node &N);
  NodePtr binary(NodePtr L, std::string Op, NodePtr R);
  NodePtr display(Node::Kind Kind, std::string_view End);

  std::vector<Token> Tokens;
  size_t At = 0;
  bool Failed = false;
  Status Failure;
  unsigned Depth = 0;
  unsigned Loops = 0;
  unsigned Soft = 0; ///< in conditions, where a filter may be unknown
  unsigned Nodes = 0;
  std::set<std::string> Blocks; ///< names so far
  /// Errors of filters and tests that are not known: they count unless the
  /// expression around them turns out to be conditional.
  std::vector<Status> Unknown;

  static constexpr unsigned MaxDepth = 150;
  /// A chain of operators or filters is a tree as deep as it is long, which
  /// is taken down by recursion.
  static constexpr unsigned MaxNodes = 20000;
  /// Counts nesting for as long as it lives.
  struct Nesting {
    explicit Nesting(unsigned &D) : D(D) { ++D; }
    ~Nesting() { --D; }
    unsigned &D;
  };
};

} // namespace llmc::jinja

#endif // LLMC_RUNTIME_TEXT_JINJA_PARSERSTATE_H
