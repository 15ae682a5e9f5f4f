// What the tests of constraints share: running texts, random numbers, all
// texts over a small alphabet.
#ifndef LLMC_TEST_RUNTIME_TEXT_CONSTRAINT_SUPPORT_H
#define LLMC_TEST_RUNTIME_TEXT_CONSTRAINT_SUPPORT_H

#include "runtime/text/constraint/Automaton.h"
#include "runtime/text/constraint/Compile.h"

#include <gtest/gtest.h>
#include <random>

namespace llmc::constraint {

/// A compiled constraint and its automaton; why it was refused otherwise.
struct Compiled {
  Compiled(Dialect D, std::string_view Text, const CompileOptions &O = {}) {
    Result<std::unique_ptr<Grammar>> R = compileConstraint(D, Text, O);
    if (!R.ok()) {
      Refused = R.status().message();
      return;
    }
    G = R.take();
    A = std::make_unique<Automaton>(*G);
  }
  bool ok() const { return A != nullptr; }
  bool accepts(std::string_view Text) {
    SetId S = A->walk(Automaton::Start, Text);
    return S != Automaton::Dead && A->accepts(S);
  }
  bool live(std::string_view Text) {
    return A->walk(Automaton::Start, Text) != Automaton::Dead;
  }
  /// Whether some text of at most Steps more bytes of the alphabet ends it, as
  /// far as a bounded search tells.
  bool completes(std::string_view Text, std::string_view Alphabet,
                 size_t Steps) {
    std::vector<SetId> Now{A->walk(Automaton::Start, Text)};
    for (size_t I = 0; I <= Steps; ++I) {
      std::vector<SetId> Next;
      for (SetId S : Now) {
        if (S != Automaton::Dead && A->accepts(S))
          return true;
        for (char C : Alphabet)
          if (SetId To = A->step(S, static_cast<uint8_t>(C));
              To != Automaton::Dead)
            Next.push_back(To);
      }
      std::sort(Next.begin(), Next.end());
      Next.erase(std::unique(Next.begin(), Next.end()), Next.end());
      if (Next.size() > 2000)
        return true; // not known
      Now = std::move(Next);
    }
    return false;
  }

  std::string Refused;
  std::unique_ptr<Grammar> G;
  std::unique_ptr<Automaton> A;
};

struct Random {
  explicit Random(unsigned Seed) : Engine(Seed) {}
  unsigned below(unsigned N) { return static_cast<unsigned>(Engine() % N); }
  std::mt19937 Engine;
};

/// All texts of at most Longest bytes.
inline std::vector<std::string> allTexts(std::string_view Alphabet,
                                         size_t Longest) {
  std::vector<std::string> All{""};
  for (size_t From = 0, L = 0; L < Longest; ++L) {
    size_t End = All.size();
    for (; From < End; ++From)
      for (char C : Alphabet)
        All.push_back(All[From] + C);
  }
  return All;
}

} // namespace llmc::constraint

#endif // LLMC_TEST_RUNTIME_TEXT_CONSTRAINT_SUPPORT_H
