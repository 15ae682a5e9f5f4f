// Runs the tree of a template.
#ifndef LLMC_RUNTIME_TEXT_JINJA_INTERPRETER_H
#define LLMC_RUNTIME_TEXT_JINJA_INTERPRETER_H

#include "runtime/text/jinja/Ast.h"
#include "runtime/text/jinja/Context.h"

namespace llmc::jinja {

/// Variables of a block that has its own, inside those of Parent.
struct Scope {
  Scope *Parent = nullptr;
  std::vector<std::pair<std::string, Value>> Variables;
  bool Kept = false; ///< a macro remembers it
};

/// Whether the tree uses a name.
bool mentions(const Node &N, std::string_view Name);

class Interpreter : public Context {
public:
  /// Text of the template with these variables (a dict).
  Result<std::string> run(const Node &Root, const Value &Variables);

private:
  enum class Flow : uint8_t { Next, Break, Continue };
  class Inner;

  // Statements
  Flow execute(const Node &N);
  Flow executeFor(const Node &N);
  Flow runLoop(const Node &N, const Value &Over, size_t Level);
  void print(const Node &N);
  void assign(const Node &Target, const Value &V);
  std::string capture(const Node &Body);
  void defineMacro(const Node &N);
  void callBlock(const Node &N);
  void setBlock(const Node &N);
  void with(const Node &N, Flow &F);
  void autoEscape(const Node &N, Flow &F);

  // Expressions
  Value evaluate(const Node &N);
  Value evaluateKind(const Node &N);
  Value compare(const Node &N);
  Value binary(const Node &N);
  Value slice(const Node &N);
  Value filter(const Node &N, const Value *Input);
  Value call(const Node &N, const Value *Caller = nullptr);
  Arguments arguments(const Node &N);
  Value callValue(const Value &Callee, const Arguments &A);
  Value callMacro(Object &M, const Arguments &A);
  Value callRecursive(Object &L, const Arguments &A);
  Value callFunction(const std::string &Name, const Arguments &A);
  Value callLoop(Object &L, const std::string &Name, const Arguments &A);
  Value range(const Arguments &A);
  Value makeNamespace(const Arguments &A);
  Value makeDict(const Arguments &A);
  bool pairsOf(const Value &V, Value::Members &Out);

  Value attribute(const Value &Of, const std::string &Name) override;
  Value item(const Value &Of, const Value &Key) override;
  Value lookUp(const std::string &Name);
  void set(const std::string &Name, Value V);
  Value block(const std::string &Name);
  void runBlock(const Node &N);

  const Node *Root = nullptr; ///< of the template
  Scope *Globals = nullptr;   ///< the outermost scope
  Scope *Current = nullptr;
  std::vector<std::shared_ptr<Object>> Namespaces; ///< emptied at the end
  std::vector<std::unique_ptr<Scope>> KeptScopes;
  std::string Out;
  unsigned Depth = 0;
};

} // namespace llmc::jinja

#endif // LLMC_RUNTIME_TEXT_JINJA_INTERPRETER_H
