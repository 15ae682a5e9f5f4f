// Statements, by recursive descent.
#include "runtime/text/jinja/Parser.h"

#include "runtime/text/jinja/Library.h"
#include "runtime/text/jinja/ParserState.h"

namespace llmc::jinja {

using K = Node::Kind;
using TK = Token::Kind;

std::string Parser::shown() const {
  switch (now().What) {
  case TK::End:
    return "the end of the template";
  case TK::PrintEnd:
    return "'}}'";
  case TK::BlockEnd:
    return "'%}'";
  case TK::Text:
    return "text";
  case TK::Int:
  case TK::Float:
    return "a number";
  case TK::String:
    return "a string";
  default:
    return "'" + now().Text + "'";
  }
}

std::nullptr_t Parser::fail(const std::string &What) {
  if (!Failed) {
    Failed = true;
    Failure = templateError(now().Line, now().Column, What);
  }
  At = Tokens.size() - 1;
  return nullptr;
}

void Parser::unknown(const std::string &What) {
  if (!Failed && Soft == 0)
    Unknown.push_back(templateError(now().Line, now().Column, What));
}

void Parser::expectOp(std::string_view Op) {
  if (!takeOp(Op))
    fail("expected '" + std::string(Op) + "', found " + shown());
}

std::string Parser::expectName() {
  if (now().What != TK::Name) {
    fail("expected a name, found " + shown());
    return "";
  }
  std::string N = now().Text;
  next();
  return N;
}

void Parser::expectBlockEnd() {
  if (now().What != TK::BlockEnd)
    fail("expected the end of the block, found " + shown());
  else
    next();
}

Result<NodePtr> Parser::run() {
  NodePtr Root = sequence({});
  if (!Failed && now().What != TK::End)
    fail("unexpected tag '" + now().Text + "'");
  if (!Failed && !Unknown.empty())
    return Unknown.front();
  if (Failed)
    return Failure;
  return Root;
}

/// Statements up to {% End …, whose name is left as the current token.
NodePtr Parser::sequence(std::initializer_list<std::string_view> Ends) {
  Nesting N(Depth);
  if (Depth > MaxDepth)
    return fail("nested deeper than " + std::to_string(MaxDepth));
  NodePtr Body = make(K::Sequence);
  while (!Failed && now().What != TK::End) {
    if (now().What == TK::Text) {
      Body->Children.push_back(make(K::Output));
      Body->Children.back()->Text = now().Text;
      next();
    } else if (now().What == TK::PrintBegin) {
      NodePtr Out = make(K::Output);
      next();
      Out->Children.push_back(tuple());
      if (now().What != TK::PrintEnd)
        return fail("expected the end of the print statement, found " +
                    shown());
      next();
      Body->Children.push_back(std::move(Out));
    } else {
      next(); // {%
      for (std::string_view End : Ends)
        if (isName(End))
          return Body;
      if (NodePtr S = statement())
        Body->Children.push_back(std::move(S));
    }
  }
  if (!Failed && Ends.size() != 0)
    return fail("missing '" + std::string(*(Ends.end() - 1)) + "'");
  return Body;
}

void Parser::endOf(std::string_view Tag) {
  if (!takeName(Tag))
    fail("expected '" + std::string(Tag) + "', found " + shown());
  expectBlockEnd();
}

NodePtr Parser::statement() {
  if (takeName("if"))
    return ifStatement();
  if (takeName("for"))
    return forStatement();
  if (takeName("set"))
    return setStatement();
  if (takeName("macro"))
    return macroStatement();
  if (takeName("call"))
    return callStatement();
  if (takeName("filter"))
    return filterStatement();
  if (takeName("with"))
    return withStatement();
  if (takeName("generation")) { // marks what a model wrote; only for training
    expectBlockEnd();
    NodePtr Body = sequence({"endgeneration"});
    endOf("endgeneration");
    return Body;
  }
  if (takeName("block"))
    return blockStatement();
  if (takeName("autoescape")) {
    NodePtr S = make(K::AutoEscape);
    S->Children.push_back(expression());
    expectBlockEnd();
    S->Children.push_back(sequence({"endautoescape"}));
    endOf("endautoescape");
    return S;
  }
  if (takeName("do")) {
    NodePtr S = make(K::Do);
    S->Children.push_back(tuple());
    expectBlockEnd();
    return S;
  }
  for (std::string_view Tag : {"include", "import", "from", "extends"})
    if (isName(Tag))
      return fail("tag '" + std::string(Tag) +
                  "' is not supported: a chat template has no other files");
  if (isName("break") || isName("continue")) {
    if (Loops == 0)
      return fail("'" + now().Text + "' outside a loop");
    NodePtr S = make(isName("break") ? K::Break : K::Continue);
    next();
    expectBlockEnd();
    return S;
  }
  return fail("unknown tag " + shown());
}

NodePtr Parser::ifStatement() {
  NodePtr S = make(K::If);
  while (!Failed) {
    ++Soft;
    S->Children.push_back(tuple(true));
    expectBlockEnd();
    S->Children.push_back(sequence({"elif", "else", "endif"}));
    --Soft;
    if (takeName("elif"))
      continue;
    if (takeName("else")) {
      expectBlockEnd();
      ++Soft;
      S->Children.push_back(sequence({"endif"}));
      --Soft;
    }
    endOf("endif");
    break;
  }
  return S;
}

NodePtr Parser::forStatement() {
  NodePtr S = make(K::For);
  S->Children.push_back(target(false));
  if (!takeName("in"))
    return fail("expected 'in', found " + shown());
  S->Children.push_back(tuple(false));
  S->Children.push_back(takeName("if") ? expression() : nullptr);
  if (takeName("recursive"))
    S->Text = "recursive";
  expectBlockEnd();
  ++Loops;
  S->Children.push_back(sequence({"else", "endfor"}));
  --Loops;
  NodePtr Else;
  if (takeName("else")) {
    expectBlockEnd();
    Else = sequence({"endfor"});
  }
  S->Children.push_back(std::move(Else));
  endOf("endfor");
  return S;
}

/// One thing that is assigned to: a name, name.field of a namespace, or
/// several in parentheses.
NodePtr Parser::targetPart(bool WithNamespace) {
  if (takeOp("(")) {
    Nesting N(Depth);
    if (Depth > MaxDepth)
      return fail("nested deeper than " + std::to_string(MaxDepth));
    NodePtr Inner = target(WithNamespace);
    expectOp(")");
    return Inner;
  }
  NodePtr T = make(K::Name);
  T->Text = expectName();
  if (!WithNamespace || !takeOp("."))
    return T;
  NodePtr Field = make(K::Attribute);
  Field->Text = expectName();
  Field->Children.push_back(std::move(T));
  return Field;
}

/// What is assigned to: one part, or several with commas.
NodePtr Parser::target(bool WithNamespace) {
  NodePtr All = make(K::Tuple);
  bool Several = false;
  while (!Failed) {
    All->Children.push_back(targetPart(WithNamespace));
    if (!takeOp(","))
      break;
    Several = true;
    if ((now().What != TK::Name || isName("in")) && !isOp("("))
      break;
  }
  if (Failed)
    return nullptr;
  return Several ? std::move(All) : std::move(All->Children[0]);
}

NodePtr Parser::setStatement() {
  NodePtr S = make(K::Set);
  S->Children.push_back(target(true));
  if (takeOp("=")) {
    S->Children.push_back(tuple());
    expectBlockEnd();
    return S;
  }
  S->What = K::SetBlock;
  NodePtr Chain;
  while (!Failed && takeOp("|"))
    Chain = filter(std::move(Chain));
  S->Children.push_back(std::move(Chain));
  expectBlockEnd();
  S->Children.push_back(sequence({"endset"}));
  endOf("endset");
  return S;
}

void Parser::parameters(Node &N) {
  expectOp("(");
  while (!Failed && !isOp(")")) {
    std::string Name = expectName();
    N.Named.emplace_back(Name, takeOp("=") ? expression() : nullptr);
    if (!takeOp(","))
      break;
  }
  expectOp(")");
}

NodePtr Parser::macroStatement() {
  NodePtr S = make(K::Macro);
  S->Text = expectName();
  parameters(*S);
  expectBlockEnd();
  unsigned Outer = std::exchange(Loops, 0);
  S->Children.push_back(sequence({"endmacro"}));
  Loops = Outer;
  endOf("endmacro");
  return S;
}

NodePtr Parser::callStatement() {
  NodePtr S = make(K::CallBlock);
  if (isOp("("))
    parameters(*S);
  NodePtr Call = expression();
  if (!Failed && Call->What != K::Call)
    return fail("expected a call");
  S->Children.push_back(std::move(Call));
  expectBlockEnd();
  unsigned Outer = std::exchange(Loops, 0);
  S->Children.push_back(sequence({"endcall"}));
  Loops = Outer;
  endOf("endcall");
  return S;
}

NodePtr Parser::filterStatement() {
  NodePtr S = make(K::FilterBlock);
  NodePtr Chain = filter(nullptr);
  while (!Failed && takeOp("|"))
    Chain = filter(std::move(Chain));
  S->Children.push_back(std::move(Chain));
  expectBlockEnd();
  S->Children.push_back(sequence({"endfilter"}));
  endOf("endfilter");
  return S;
}

NodePtr Parser::blockStatement() {
  NodePtr S = make(K::Block);
  S->Text = expectName();
  if (!Failed && !Blocks.insert(S->Text).second)
    return fail("block '" + S->Text + "' defined twice");
  S->Literal = Value::boolean(takeName("scoped"));
  if (isName("required"))
    return fail("a required block needs a template that extends this one");
  expectBlockEnd();
  unsigned Outer = std::exchange(Loops, 0);
  S->Children.push_back(sequence({"endblock"}));
  Loops = Outer;
  if (!takeName("endblock"))
    return fail("expected 'endblock', found " + shown());
  takeName(S->Text);
  expectBlockEnd();
  return S;
}

NodePtr Parser::withStatement() {
  NodePtr S = make(K::With);
  while (!Failed && now().What != TK::BlockEnd) {
    std::string Name = expectName();
    expectOp("=");
    S->Named.emplace_back(Name, expression());
    if (!takeOp(","))
      break;
  }
  expectBlockEnd();
  S->Children.push_back(sequence({"endwith"}));
  endOf("endwith");
  return S;
}

Result<NodePtr> parse(std::string_view Source) {
  LLMC_ASSIGN_OR_RETURN(std::vector<Token> Tokens, tokenize(Source));
  return Parser(std::move(Tokens)).run();
}

} // namespace llmc::jinja
