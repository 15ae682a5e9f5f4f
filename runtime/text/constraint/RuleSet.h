// Rules as the grammar notations give them, before they are terms.
#ifndef LLMC_RUNTIME_TEXT_CONSTRAINT_RULESET_H
#define LLMC_RUNTIME_TEXT_CONSTRAINT_RULESET_H

#include "runtime/text/constraint/CharSet.h"
#include "runtime/text/constraint/Grammar.h"
#include "runtime/text/constraint/Regex.h"

namespace llmc::constraint {

/// A syntax tree of a rule.
struct Node {
  enum Kind : uint8_t { Seq, Alt, Repeat, Text, Chars, Pattern, Call };
  Kind What = Seq;
  uint32_t Min = 0, Max = 0;
  bool IgnoreCase = false; ///< of Text
  std::string Value;       ///< of Text; name of Call
  CharSet Set;
  std::shared_ptr<const Regex> Match; ///< of Pattern
  std::vector<Node> Kids;

  static Node list(Kind K) {
    Node N;
    N.What = K;
    return N;
  }
  static Node text(std::string V) {
    Node N = list(Text);
    N.Value = std::move(V);
    return N;
  }
  static Node chars(CharSet S) {
    Node N = list(Chars);
    N.Set = std::move(S);
    return N;
  }
  static Node call(std::string Name) {
    Node N = list(Call);
    N.Value = std::move(Name);
    return N;
  }
  static Node repeat(Node Of, uint32_t Min, uint32_t Max) {
    Node N = list(Repeat);
    N.Min = Min, N.Max = Max;
    N.Kids.push_back(std::move(Of));
    return N;
  }
};

class RuleSet {
public:
  /// Malformed when the name is taken, or there are too many.
  Status add(const std::string &Name, Node Body);
  /// The rule is a terminal of Lark: a unit, may not be recursive.
  void setTerminal(const std::string &Name) { Terminals.push_back(Name); }
  bool has(const std::string &Name) const { return Index.count(Name) != 0; }
  /// Text that may stand behind each terminal and before the first (Lark's
  /// %ignore); it may call terminals only, also ones that come later.
  Status ignore(Node What);

  Result<std::unique_ptr<Grammar>> compile(const std::string &Start);

private:
  struct Named {
    std::string Name;
    Node Body;
  };
  /// What N calls is there. In: whose body it is, for errors.
  Status checkCalls(const Node &N, const std::string &In,
                    bool OfTerminals) const;
  void findRecursive();
  void callsOf(const Node &N, std::vector<uint32_t> &Out) const;
  TermId termOf(Grammar &G, const Node &N, bool InTerminal);
  TermId ruleTerm(Grammar &G, uint32_t R, bool InTerminal);
  TermId unit(Grammar &G, TermId T, bool InTerminal);
  bool isTerminal(const std::string &Name) const;

  std::vector<Named> Rules;
  std::map<std::string, uint32_t> Index;
  std::vector<std::string> Terminals;
  std::vector<Node> Ignored;
  std::vector<uint8_t> Recursive;
  std::vector<uint32_t> Order; ///< what is called comes before its callers
  std::vector<TermId> Inlined; ///< by rule and whether inside a terminal
  TermId Skip = Epsilon;       ///< what is ignored
};

} // namespace llmc::constraint

#endif // LLMC_RUNTIME_TEXT_CONSTRAINT_RULESET_H
