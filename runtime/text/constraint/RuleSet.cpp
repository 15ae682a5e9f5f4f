// From syntax trees to terms: finds the rules that call themselves, directly
// or not; these become rules of the grammar, all others are written out.
#include "runtime/text/constraint/RuleSet.h"

#include "runtime/base/Quote.h"
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace llmc::constraint {

namespace {

constexpr size_t MaxRules = 20000;

/// Whether a rule is worth a unit of its own: regular, and runs of many kinds
/// of characters in it, so that most of a vocabulary must be looked at.
bool isFreeText(const Terms &T, TermId Id) {
  if (!T.atomic(Id))
    return false;
  for (; T[Id].Kind == TermKind::Seq; Id = T[Id].B)
    if (isFreeText(T, T[Id].A))
      return true;
  const TermNode N = T[Id];
  if (N.Kind == TermKind::Alt) {
    for (TermId Kid : T.kids(Id))
      if (isFreeText(T, Kid))
        return true;
  }
  if (N.Kind != TermKind::Repeat)
    return false;
  if (N.Max < 8)
    return isFreeText(T, N.A);
  std::vector<TermId> Kids{N.A};
  if (T[N.A].Kind == TermKind::Alt)
    Kids.assign(T.kids(N.A).begin(), T.kids(N.A).end());
  for (TermId Kid : Kids)
    if (T[Kid].Kind == TermKind::Bytes && T.byteSet(Kid).count() >= 32)
      return true;
  return isFreeText(T, N.A);
}

uint64_t demanded(const Node &N) {
  uint64_t Sum = 0;
  switch (N.What) {
  case Node::Text:
    return N.Value.size();
  case Node::Chars:
    return 1;
  case Node::Repeat:
    return std::min<uint64_t>(demanded(N.Kids[0]) * N.Min, uint64_t{1} << 31);
  case Node::Alt:
    for (size_t I = 0; I < N.Kids.size(); ++I)
      Sum = I == 0 ? demanded(N.Kids[I]) : std::min(Sum, demanded(N.Kids[I]));
    return Sum;
  default:
    for (const Node &Kid : N.Kids)
      Sum += demanded(Kid);
    return Sum;
  }
}

Status checkDemand(const Node &Body, const std::string &What) {
  uint64_t Least = demanded(Body);
  if (Least <= MaxDemandedChars)
    return Status::success();
  return unsupportedError(
      "grammar: " + What + " demands texts of " + std::to_string(Least) +
      " characters and more, at most " + std::to_string(MaxDemandedChars));
}

} // namespace

Status RuleSet::ignore(Node What) {
  LLMC_RETURN_IF_ERROR(checkDemand(What, "%ignore"));
  Ignored.push_back(std::move(What));
  return Status::success();
}

Status RuleSet::add(const std::string &Name, Node Body) {
  if (Index.count(Name) != 0)
    return malformedError("grammar: rule " + quoted(Name) + " is there twice");
  if (Rules.size() >= MaxRules)
    return unsupportedError("grammar: more than " + std::to_string(MaxRules) +
                            " rules");
  LLMC_RETURN_IF_ERROR(checkDemand(Body, "rule " + quoted(Name)));
  Index.emplace(Name, static_cast<uint32_t>(Rules.size()));
  Rules.push_back({Name, std::move(Body)});
  return Status::success();
}

bool RuleSet::isTerminal(const std::string &Name) const {
  return std::find(Terminals.begin(), Terminals.end(), Name) != Terminals.end();
}

Status RuleSet::checkCalls(const Node &N, const std::string &In,
                           bool OfTerminals) const {
  if (N.What == Node::Call && !has(N.Value))
    return malformedError("grammar: " + In + " calls " + quoted(N.Value) +
                          ", which is not there");
  if (N.What == Node::Call && OfTerminals && !isTerminal(N.Value))
    return malformedError("grammar: " + In + " calls rule " + quoted(N.Value) +
                          ", expected a terminal");
  for (const Node &Kid : N.Kids)
    LLMC_RETURN_IF_ERROR(checkCalls(Kid, In, OfTerminals));
  return Status::success();
}

void RuleSet::callsOf(const Node &N, std::vector<uint32_t> &Out) const {
  if (N.What == Node::Call)
    Out.push_back(Index.at(N.Value));
  for (const Node &Kid : N.Kids)
    callsOf(Kid, Out);
}

/// Marks the rules of circles: Tarjan's components ("Depth-first search and
/// linear graph algorithms", 1972), without recursion.
void RuleSet::findRecursive() {
  size_t N = Rules.size();
  std::vector<std::vector<uint32_t>> Calls(N);
  for (size_t R = 0; R < N; ++R)
    callsOf(Rules[R].Body, Calls[R]);
  Recursive.assign(N, 0);
  std::vector<uint32_t> Number(N, 0), Low(N, 0), Stack;
  std::vector<uint8_t> OnStack(N, 0);
  uint32_t Count = 0;
  struct Frame {
    uint32_t R;
    size_t Next;
  };
  for (uint32_t Root = 0; Root < N; ++Root) {
    if (Number[Root] != 0)
      continue;
    std::vector<Frame> Path{{Root, 0}};
    while (!Path.empty()) {
      uint32_t R = Path.back().R;
      if (Path.back().Next == 0) {
        Number[R] = Low[R] = ++Count;
        Stack.push_back(R);
        OnStack[R] = 1;
      }
      if (Path.back().Next < Calls[R].size()) {
        uint32_t To = Calls[R][Path.back().Next++];
        Recursive[R] |= To == R;
        if (Number[To] == 0)
          Path.push_back({To, 0});
        else if (OnStack[To])
          Low[R] = std::min(Low[R], Number[To]);
        continue;
      }
      Path.pop_back();
      if (!Path.empty())
        Low[Path.back().R] = std::min(Low[Path.back().R], Low[R]);
      if (Low[R] != Number[R])
        continue;
      bool Circle = Stack.back() != R;
      for (uint32_t Member = UINT32_MAX; Member != R;) {
        Member = Stack.back();
        Stack.pop_back();
        OnStack[Member] = 0;
        Recursive[Member] |= Circle;
        Order.push_back(Member);
      }
    }
  }
}

/// An atomic term as a unit, with what is ignored behind it.
TermId RuleSet::unit(Grammar &G, TermId T, bool InTerminal) {
  Terms &P = G.terms();
  if (InTerminal)
    return T;
  TermId Unit = P.atomic(T) ? P.lex(T) : T;
  return Skip == Epsilon ? Unit : P.seq(Unit, P.lex(Skip));
}

TermId RuleSet::ruleTerm(Grammar &G, uint32_t R, bool InTerminal) {
  if (Recursive[R])
    return G.terms().ref(R);
  bool Unit = InTerminal || isTerminal(Rules[R].Name);
  TermId &Known = Inlined[2 * R + Unit];
  if (Known == UINT32_MAX)
    Known = termOf(G, Rules[R].Body, Unit);
  if (!Unit && isFreeText(G.terms(), Known))
    return G.terms().lex(Known);
  return Unit && !InTerminal ? unit(G, Known, false) : Known;
}

TermId RuleSet::termOf(Grammar &G, const Node &N, bool InTerminal) {
  Terms &T = G.terms();
  CharTerm Chars = [&T](const CharSet &S) { return utf8Term(T, S); };
  switch (N.What) {
  case Node::Seq:
  case Node::Alt: {
    std::vector<TermId> Parts;
    for (const Node &Kid : N.Kids)
      Parts.push_back(termOf(G, Kid, InTerminal));
    return N.What == Node::Seq ? T.seq(Parts) : T.alt(Parts);
  }
  case Node::Repeat:
    return T.repeat(termOf(G, N.Kids[0], InTerminal), N.Min, N.Max);
  case Node::Text: {
    std::vector<TermId> Parts;
    for (size_t Pos = 0; N.IgnoreCase && Pos < N.Value.size();) {
      uint32_t C = nextCodePoint(N.Value, Pos);
      Parts.push_back(utf8Term(T, foldCase(CharSet(C, C))));
    }
    return unit(G, N.IgnoreCase ? T.seq(Parts) : T.literal(N.Value),
                InTerminal || Skip == Epsilon);
  }
  case Node::Chars:
    return unit(G, utf8Term(T, N.Set), InTerminal || Skip == Epsilon);
  case Node::Pattern:
    return unit(G, fullMatch(T, *N.Match, Chars), InTerminal);
  case Node::Call:
    return ruleTerm(G, Index.at(N.Value), InTerminal);
  }
  return Nothing;
}

Result<std::unique_ptr<Grammar>> RuleSet::compile(const std::string &Start) {
  if (!has(Start))
    return malformedError("grammar: no rule " + quoted(Start) +
                          " to start with");
  for (const Named &R : Rules) {
    bool Terminal = isTerminal(R.Name);
    LLMC_RETURN_IF_ERROR(checkCalls(
        R.Body, (Terminal ? "terminal " : "rule ") + quoted(R.Name), Terminal));
  }
  for (const Node &N : Ignored) // between units: of terminals alone
    LLMC_RETURN_IF_ERROR(checkCalls(N, "%ignore", true));
  findRecursive();
  for (size_t R = 0; R < Rules.size(); ++R)
    if (Recursive[R] && isTerminal(Rules[R].Name))
      return malformedError("grammar: terminal " + quoted(Rules[R].Name) +
                            " calls itself");
  std::unique_ptr<Grammar> G = std::make_unique<Grammar>();
  Terms &T = G->terms();
  for (const Named &R : Rules)
    G->addRule(R.Name);
  Inlined.assign(2 * Rules.size(), UINT32_MAX);
  // Terminals first: what is ignored is one.
  for (uint32_t R : Order)
    if (isTerminal(Rules[R].Name))
      ruleTerm(*G, R, true);
  std::vector<TermId> List;
  for (const Node &I : Ignored)
    List.push_back(termOf(*G, I, true));
  if (!List.empty())
    Skip = T.repeat(T.alt(List), 0, Unbounded);
  for (uint32_t R : Order) // so that nothing recurses through many rules
    if (!Recursive[R])
      ruleTerm(*G, R, isTerminal(Rules[R].Name));
  for (uint32_t R = 0; R < Rules.size(); ++R)
    if (Recursive[R])
      G->setBody(R, termOf(*G, Rules[R].Body, false));
  TermId First = ruleTerm(*G, Index.at(Start), false);
  if (Skip != Epsilon)
    First = T.seq(T.lex(Skip), First);
  LLMC_RETURN_IF_ERROR(G->finish(First));
  return G;
}

} // namespace llmc::constraint
