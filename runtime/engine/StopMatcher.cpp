// One automaton per stop string, fed byte by byte. The state of each is the
// length of the tail that is a beginning of its string, so the longest state
// is what must be held back.
#include "runtime/engine/StopMatcher.h"

#include <algorithm>
#include <utility>

namespace llmc {

StopMatcher::StopMatcher(const std::vector<std::string> &Texts) {
  for (const std::string &T : Texts) {
    if (T.empty())
      continue;
    Pattern P;
    P.Text = T;
    P.Fallback.assign(T.size() + 1, 0);
    for (size_t I = 1, K = 0; I < T.size(); ++I) {
      while (K > 0 && T[I] != T[K])
        K = P.Fallback[K];
      K += T[I] == T[K];
      P.Fallback[I + 1] = K;
    }
    Stops.push_back(std::move(P));
  }
}

std::string StopMatcher::push(std::string_view Piece) {
  if (stopped())
    return "";
  if (Stops.empty())
    return std::string(Piece);
  for (char C : Piece) {
    Held.push_back(C);
    for (size_t I = 0; I < Stops.size(); ++I) {
      Pattern &P = Stops[I];
      while (P.Matched > 0 && P.Text[P.Matched] != C)
        P.Matched = P.Fallback[P.Matched];
      P.Matched += P.Text[P.Matched] == C;
      bool Longer = Found < 0 || P.Text.size() > Stops[Found].Text.size();
      if (P.Matched == P.Text.size() && Longer)
        Found = static_cast<int>(I);
    }
    if (stopped()) {
      Held.resize(Held.size() - stop().size());
      return std::move(Held);
    }
  }
  size_t Keep = 0;
  for (const Pattern &P : Stops)
    Keep = std::max(Keep, P.Matched);
  std::string Out = Held.substr(0, Held.size() - Keep);
  Held.erase(0, Held.size() - Keep);
  return Out;
}

std::string StopMatcher::finish() {
  return stopped() ? std::string() : std::exchange(Held, "");
}

} // namespace llmc
