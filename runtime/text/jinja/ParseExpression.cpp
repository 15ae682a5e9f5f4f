// Expressions, by recursive descent with Jinja's precedences: or, and, not,
// comparison, + -, ~, * / // %, unary, **, postfix, filters and tests.
#include "runtime/text/jinja/Library.h"
#include "runtime/text/jinja/ParserState.h"

namespace llmc::jinja {

using K = Node::Kind;
using TK = Token::Kind;

/// One expression, or several with commas between them as a tuple.
NodePtr Parser::tuple(bool WithConditional) {
  NodePtr First = WithConditional ? expression() : orExpression();
  if (!isOp(","))
    return First;
  NodePtr T = make(K::Tuple);
  T->Children.push_back(std::move(First));
  while (!Failed && takeOp(",")) {
    if (now().What == TK::PrintEnd || now().What == TK::BlockEnd || isOp(")"))
      break;
    T->Children.push_back(WithConditional ? expression() : orExpression());
  }
  return T;
}

NodePtr Parser::expression() {
  Nesting N(Depth);
  if (Depth > MaxDepth)
    return fail("nested deeper than " + std::to_string(MaxDepth));
  const size_t Known = Unknown.size();
  NodePtr V = orExpression();
  while (!Failed && isName("if")) {
    NodePtr C = make(K::Conditional);
    next();
    C->Children.push_back(std::move(V));
    C->Children.push_back(orExpression());
    C->Children.push_back(takeName("else") ? expression() : nullptr);
    Unknown.resize(std::min(Known, Unknown.size()));
    V = std::move(C);
  }
  return V;
}

NodePtr Parser::binary(NodePtr L, std::string Op, NodePtr R) {
  if (Failed)
    return nullptr;
  NodePtr B = make(K::Binary);
  B->Line = L->Line, B->Column = L->Column;
  B->Text = std::move(Op);
  B->Children.push_back(std::move(L));
  B->Children.push_back(std::move(R));
  return B;
}

NodePtr Parser::orExpression() {
  NodePtr L = andExpression();
  while (!Failed && isName("or")) {
    NodePtr N = make(K::Or);
    next();
    N->Children.push_back(std::move(L));
    N->Children.push_back(andExpression());
    L = std::move(N);
  }
  return L;
}

NodePtr Parser::andExpression() {
  NodePtr L = notExpression();
  while (!Failed && isName("and")) {
    NodePtr N = make(K::And);
    next();
    N->Children.push_back(std::move(L));
    N->Children.push_back(notExpression());
    L = std::move(N);
  }
  return L;
}

NodePtr Parser::notExpression() {
  if (!isName("not"))
    return comparison();
  Nesting Deeper(Depth);
  if (Depth > MaxDepth)
    return fail("nested deeper than " + std::to_string(MaxDepth));
  NodePtr N = make(K::Not);
  next();
  N->Children.push_back(notExpression());
  return N;
}

NodePtr Parser::comparison() {
  NodePtr L = sum();
  NodePtr C;
  while (!Failed) {
    std::string Op;
    for (const char *Known : {"==", "!=", "<", "<=", ">", ">="})
      if (isOp(Known))
        Op = Known;
    if (isName("in")) {
      Op = "in";
    } else if (isName("not") && At + 1 < Tokens.size() &&
               Tokens[At + 1].What == TK::Name && Tokens[At + 1].Text == "in") {
      Op = "not in";
      next();
    }
    if (Op.empty())
      break;
    if (!C) {
      C = make(K::Compare);
      C->Children.push_back(std::move(L));
    }
    next();
    C->Named.emplace_back(Op, sum());
  }
  return C ? std::move(C) : std::move(L);
}

NodePtr Parser::sum() {
  NodePtr L = concatenation();
  while (!Failed && (isOp("+") || isOp("-"))) {
    std::string Op = now().Text;
    next();
    NodePtr R = concatenation();
    L = binary(std::move(L), Op, std::move(R));
  }
  return L;
}

NodePtr Parser::concatenation() {
  NodePtr L = product();
  while (!Failed && takeOp("~")) {
    NodePtr R = product();
    L = binary(std::move(L), "~", std::move(R));
  }
  return L;
}

NodePtr Parser::product() {
  NodePtr L = power();
  while (!Failed && (isOp("*") || isOp("/") || isOp("//") || isOp("%"))) {
    std::string Op = now().Text;
    next();
    NodePtr R = power();
    L = binary(std::move(L), Op, std::move(R));
  }
  return L;
}

NodePtr Parser::power() {
  NodePtr L = unary();
  while (!Failed && takeOp("**")) {
    NodePtr R = unary();
    L = binary(std::move(L), "**", std::move(R));
  }
  return L;
}

NodePtr Parser::unary(bool WithFilters) {
  Nesting Deeper(Depth);
  if (Depth > MaxDepth)
    return fail("nested deeper than " + std::to_string(MaxDepth));
  NodePtr N;
  if (isOp("-") || isOp("+")) {
    N = make(isOp("-") ? K::Negative : K::Positive);
    next();
    N->Children.push_back(unary(false));
  } else {
    N = primary();
  }
  N = postfix(std::move(N));
  return WithFilters ? filters(std::move(N)) : std::move(N);
}

/// Literal list, dict or parenthesised tuple; its first bracket is taken.
NodePtr Parser::display(K Kind, std::string_view End) {
  NodePtr N = make(Kind);
  while (!Failed && !isOp(End)) {
    N->Children.push_back(expression());
    if (Kind == K::Dict) {
      expectOp(":");
      N->Children.push_back(expression());
    }
    if (!takeOp(","))
      break;
  }
  expectOp(End);
  return N;
}

NodePtr Parser::primary() {
  NodePtr N = make(K::Constant);
  switch (now().What) {
  case TK::String: {
    std::string S;
    for (; now().What == TK::String; next())
      S += now().Text;
    N->Literal = Value::string(std::move(S));
    return N;
  }
  case TK::Int:
    N->Literal = Value::integer(now().Int);
    next();
    return N;
  case TK::Float:
    N->Literal = Value::real(now().Float);
    next();
    return N;
  case TK::Name: {
    const std::string &T = now().Text;
    if (T == "true" || T == "True" || T == "false" || T == "False") {
      N->Literal = Value::boolean(T == "true" || T == "True");
    } else if (T == "none" || T == "None") {
      N->Literal = Value::none();
    } else {
      N->What = K::Name;
      N->Text = T;
    }
    next();
    return N;
  }
  default:
    break;
  }
  if (takeOp("["))
    return display(K::List, "]");
  if (takeOp("{"))
    return display(K::Dict, "}");
  if (!takeOp("("))
    return fail("expected an expression, found " + shown());
  if (takeOp(")")) {
    N->What = K::Tuple;
    return N;
  }
  N = tuple();
  expectOp(")");
  return N;
}

NodePtr Parser::postfix(NodePtr N) {
  while (!Failed) {
    if (isOp(".")) {
      next();
      NodePtr A = make(K::Attribute);
      if (now().What == TK::Int) {
        A->What = K::Item;
        A->Children.push_back(std::move(N));
        A->Children.push_back(primary());
      } else {
        A->Text = expectName();
        A->Children.push_back(std::move(N));
      }
      N = std::move(A);
    } else if (takeOp("[")) {
      N = subscript(std::move(N));
    } else if (isOp("(")) {
      NodePtr C = make(K::Call);
      C->Children.push_back(std::move(N));
      arguments(*C);
      N = std::move(C);
    } else {
      break;
    }
  }
  return N;
}

/// An index, a slice, or several indices, which are a tuple.
NodePtr Parser::subscript(NodePtr Object) {
  NodePtr S = make(K::Item);
  S->Children.push_back(std::move(Object));
  NodePtr Parts[3];
  bool Slice = false;
  for (unsigned Count = 0; Count < 3 && !Failed; ++Count) {
    if (!isOp(":") && !isOp("]") && !isOp(","))
      Parts[Count] = expression();
    if (!takeOp(":"))
      break;
    Slice = true;
  }
  if (!Slice && (isOp(",") || !Parts[0])) {
    NodePtr T = make(K::Tuple);
    if (Parts[0])
      T->Children.push_back(std::move(Parts[0]));
    while (!Failed && takeOp(","))
      T->Children.push_back(expression());
    Parts[0] = std::move(T);
  }
  expectOp("]");
  if (!Slice) {
    S->Children.push_back(std::move(Parts[0]));
    return S;
  }
  S->What = K::Slice;
  for (NodePtr &P : Parts)
    S->Children.push_back(std::move(P));
  return S;
}

void Parser::arguments(Node &N) {
  expectOp("(");
  while (!Failed && !isOp(")")) {
    if (isOp("*") || isOp("**")) {
      std::string Stars = now().Text;
      next();
      N.Named.emplace_back(Stars, expression());
      if (!takeOp(","))
        break;
      continue;
    }
    bool Keyword = now().What == TK::Name && At + 1 < Tokens.size() &&
                   Tokens[At + 1].What == TK::Operator &&
                   Tokens[At + 1].Text == "=";
    if (Keyword) {
      std::string Name = expectName();
      next();
      N.Named.emplace_back(Name, expression());
    } else {
      N.Children.push_back(expression());
    }
    if (!takeOp(","))
      break;
  }
  expectOp(")");
}

NodePtr Parser::filters(NodePtr N) {
  while (!Failed) {
    if (takeOp("|")) {
      N = filter(std::move(N));
    } else if (takeName("is")) {
      N = test(std::move(N));
    } else if (isOp("(")) {
      NodePtr C = make(K::Call);
      C->Children.push_back(std::move(N));
      arguments(*C);
      N = std::move(C);
    } else {
      break;
    }
  }
  return N;
}

NodePtr Parser::filter(NodePtr Input) {
  NodePtr F = make(K::Filter);
  F->Text = expectName();
  while (!Failed && takeOp("."))
    F->Text += "." + expectName();
  if (!hasFilter(F->Text))
    unknown("no filter named '" + F->Text + "'");
  F->Children.push_back(std::move(Input));
  if (isOp("("))
    arguments(*F);
  return F;
}

NodePtr Parser::test(NodePtr Input) {
  bool Negated = takeName("not");
  NodePtr T = make(K::Test);
  T->Text = expectName();
  if (!hasTest(T->Text))
    unknown("no test named '" + T->Text + "'");
  T->Children.push_back(std::move(Input));
  bool Operand = now().What == TK::String || now().What == TK::Int ||
                 now().What == TK::Float || isOp("[") || isOp("{") ||
                 (now().What == TK::Name && !isName("else") && !isName("or") &&
                  !isName("and") && !isName("is") && !isName("if") &&
                  !isName("in") && !isName("not"));
  if (!Failed && isName("is"))
    return fail("you cannot chain multiple tests with is");
  if (isOp("("))
    arguments(*T);
  else if (Operand)
    T->Children.push_back(postfix(primary()));
  if (!Negated || Failed)
    return T;
  NodePtr N = make(K::Not);
  N->Children.push_back(std::move(T));
  return N;
}

} // namespace llmc::jinja
