// Reads NVRTC's PTX of one entry, a statement per line: which statements can be
// reached from the start without a wait, and which parameters a register may
// come from (a union over all its definitions, wherever they are). Both are
// generous, so the check may refuse a correct kernel but takes no wrong one.
#include "compiler/target/cuda/EarlyLaunch.h"

#include <cctype>
#include <map>
#include <string>

namespace llmc::cuda {
namespace {
using Sources = std::set<unsigned>;

struct Statement {
  std::string_view Opcode, Operands;
  std::string_view Target; ///< of a branch
  bool Conditional = false;
};

struct Body {
  std::vector<Statement> Statements;
  std::map<std::string, size_t, std::less<>> Labels;
};

std::string_view trim(std::string_view S) {
  size_t B = S.find_first_not_of(" \t"), E = S.find_last_not_of(" \t;");
  return B == std::string_view::npos || E == std::string_view::npos || E < B
             ? std::string_view()
             : S.substr(B, E - B + 1);
}

/// The names %r12, %rd3 … in Text, in order.
std::vector<std::string_view> registersIn(std::string_view Text) {
  std::vector<std::string_view> Out;
  for (size_t I = Text.find('%'); I != std::string_view::npos;
       I = Text.find('%', I + 1)) {
    size_t E = I + 1;
    while (
        E < Text.size() &&
        (std::isalnum(static_cast<unsigned char>(Text[E])) || Text[E] == '_'))
      ++E;
    Out.push_back(Text.substr(I, E - I));
  }
  return Out;
}

void addStatement(std::string_view Line, Body &Out) {
  Statement S;
  if (Line[0] == '@') {
    S.Conditional = true;
    Line = trim(Line.substr(std::min(Line.find(' '), Line.size())));
  }
  size_t End = Line.find_first_of(" \t");
  S.Opcode = Line.substr(0, End);
  if (End != std::string_view::npos)
    S.Operands = trim(Line.substr(End));
  if (S.Opcode.starts_with("bra"))
    S.Target = S.Operands;
  Out.Statements.push_back(S);
}

/// The statements of an entry; empty when there is no such entry.
Body bodyOf(std::string_view Ptx, std::string_view Entry) {
  Body Out;
  size_t At = Ptx.find(".entry " + std::string(Entry) + "(");
  if (At == std::string_view::npos)
    return Out;
  size_t Begin = Ptx.find("\n{", At), End = Ptx.find("\n}", At);
  std::string_view Text = Ptx.substr(Begin + 2, End - Begin - 2);
  while (!Text.empty()) {
    size_t Break = std::min(Text.find('\n'), Text.size() - 1);
    std::string_view Line = trim(Text.substr(0, Break));
    Text.remove_prefix(Break + 1);
    if (Line.empty() || Line[0] == '.' || Line.starts_with("//"))
      continue;
    if (Line[0] == '$') {
      Out.Labels[std::string(Line.substr(0, Line.find(':')))] =
          Out.Statements.size();
      continue;
    }
    if (Line != "{" && Line != "}" && !Line.starts_with("{ "))
      addStatement(Line, Out);
  }
  return Out;
}

/// Number of the parameter in [name_param_3] or [name_param_3+8].
bool parameterIn(std::string_view Operands, unsigned &Number) {
  constexpr std::string_view Mark = "_param_";
  size_t At = Operands.rfind(Mark);
  if (At == std::string_view::npos)
    return false;
  Number = 0;
  for (At += Mark.size();
       At < Operands.size() &&
       std::isdigit(static_cast<unsigned char>(Operands[At]));
       ++At)
    Number = Number * 10 + static_cast<unsigned>(Operands[At] - '0');
  return true;
}

/// Parameters that each register may come from.
std::map<std::string_view, Sources> sourcesOf(const Body &B) {
  std::map<std::string_view, Sources> From;
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (const Statement &S : B.Statements) {
      std::vector<std::string_view> Names = registersIn(S.Operands);
      // Stores and controls define nothing; loaded data is no address of ours.
      if (Names.empty() || S.Opcode.starts_with("st.") ||
          S.Opcode.starts_with("ld.global") ||
          S.Opcode.starts_with("ld.shared") || S.Opcode.starts_with("bra"))
        continue;
      Sources &To = From[Names[0]];
      size_t Before = To.size();
      unsigned Number;
      if (S.Opcode.starts_with("ld.param")) {
        if (parameterIn(S.Operands, Number))
          To.insert(Number);
      } else {
        for (size_t I = 1; I < Names.size(); ++I)
          if (auto It = From.find(Names[I]); It != From.end())
            To.insert(It->second.begin(), It->second.end());
      }
      Changed |= To.size() != Before;
    }
  }
  return From;
}

/// Statements that run before a wait; false when the end is one of them.
std::vector<bool> beforeWait(const Body &B, bool &EndsWaiting) {
  std::vector<bool> Seen(B.Statements.size());
  std::vector<size_t> Work = {0};
  EndsWaiting = true;
  while (!Work.empty()) {
    size_t I = Work.back();
    Work.pop_back();
    if (I >= B.Statements.size()) {
      EndsWaiting = false;
      continue;
    }
    if (Seen[I])
      continue;
    Seen[I] = true;
    const Statement &S = B.Statements[I];
    if (S.Opcode == "griddepcontrol.wait")
      continue;
    bool Ends = S.Opcode.starts_with("ret") || S.Opcode.starts_with("exit");
    EndsWaiting &= !Ends;
    if (!S.Target.empty()) {
      auto It = B.Labels.find(S.Target);
      Work.push_back(It == B.Labels.end() ? B.Statements.size() : It->second);
    }
    if ((!Ends && S.Target.empty()) || S.Conditional)
      Work.push_back(I + 1);
  }
  return Seen;
}

bool readsOrWrites(std::string_view Opcode) {
  for (std::string_view Kind :
       {"ld.global", "ld.volatile", "ld.relaxed", "ld.acquire", "st.", "red.",
        "atom.", "cp.async", "ld.u", "ld.f", "ld.b", "ld.v"})
    if (Opcode.starts_with(Kind) && !Opcode.starts_with("st.shared") &&
        !Opcode.starts_with("cp.async.commit") &&
        !Opcode.starts_with("cp.async.wait"))
      return true;
  return false;
}
} // namespace

Status checkEarlyLaunch(std::string_view Ptx, std::string_view Entry,
                        const std::set<unsigned> &Constant) {
  Body B = bodyOf(Ptx, Entry);
  std::string Name = "kernel " + std::string(Entry);
  if (B.Statements.empty())
    return internalError(Name + " is not in the PTX");
  bool EndsWaiting;
  std::vector<bool> Early = beforeWait(B, EndsWaiting);
  if (!EndsWaiting)
    return internalError(Name + " can end without griddepcontrol.wait");
  std::map<std::string_view, Sources> From = sourcesOf(B);
  for (size_t I = 0; I != B.Statements.size(); ++I) {
    const Statement &S = B.Statements[I];
    if (!Early[I] || !readsOrWrites(S.Opcode))
      continue;
    std::string What = std::string(S.Opcode) + " " + std::string(S.Operands);
    size_t Bracket = S.Operands.find('[');
    if (!S.Opcode.starts_with("ld.") || Bracket == std::string_view::npos)
      return internalError(Name + ": " + What +
                           " may run before griddepcontrol.wait");
    Sources All;
    for (std::string_view R : registersIn(S.Operands.substr(Bracket)))
      All.insert(From[R].begin(), From[R].end());
    bool Known = !All.empty();
    for (unsigned P : All)
      Known &= Constant.count(P) != 0;
    if (!Known)
      return internalError(Name + ": " + What +
                           " may read results of an earlier launch before "
                           "griddepcontrol.wait");
  }
  return Status::success();
}

} // namespace llmc::cuda
