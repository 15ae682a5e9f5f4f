// For each phrase and each number of matched bytes there is one set of banned
// ids, computed when it is first needed: the ids whose bytes complete the
// phrase from that state of its Knuth-Morris-Pratt automaton. Most steps are in
// state 0, whose set holds the ids that contain the whole phrase.
#include "runtime/engine/PhraseBan.h"

#include <string_view>

namespace llmc {

namespace {

constexpr size_t MostPhrases = 64, MostBytes = 1024;

struct Phrase {
  std::string Text;
  std::vector<uint32_t> Fallback; ///< longest border of each prefix
  /// By matched bytes: the banned ids; null until needed.
  std::vector<std::unique_ptr<std::vector<int32_t>>> Banned;

  explicit Phrase(std::string S)
      : Text(std::move(S)), Fallback(Text.size() + 1, 0), Banned(Text.size()) {
    for (uint32_t I = 1, K = 0; I < Text.size(); ++I) {
      K = step(K, Text[I]);
      Fallback[I + 1] = K;
    }
  }
  uint32_t step(uint32_t State, char C) const {
    while (State > 0 && Text[State] != C)
      State = Fallback[State];
    return State + (Text[State] == C ? 1 : 0);
  }
  /// State after some bytes; the size of the text when it was completed.
  uint32_t after(uint32_t State, std::string_view Bytes) const {
    for (char C : Bytes) {
      State = step(State, C);
      if (State == Text.size())
        return State;
    }
    return State;
  }
};

} // namespace

class PhraseTable {
public:
  PhraseTable(const std::vector<std::string> &Texts, const Tokenizer &T)
      : T(T) {
    for (const std::string &S : Texts)
      Phrases.emplace_back(S);
  }

  const std::vector<int32_t> &banned(size_t P, uint32_t State) {
    Phrase &One = Phrases[P];
    std::unique_ptr<std::vector<int32_t>> &Set = One.Banned[State];
    if (Set == nullptr) {
      Set = std::make_unique<std::vector<int32_t>>();
      for (size_t Id = 0; Id < T.vocabSize(); ++Id)
        if (One.after(State, bytesOf(static_cast<int32_t>(Id))) ==
            One.Text.size())
          Set->push_back(static_cast<int32_t>(Id));
    }
    return *Set;
  }
  /// Bytes that a token shows; special tokens show nothing.
  std::string_view bytesOf(int32_t Id) const {
    return T.isSpecial(Id) ? std::string_view() : T.bytesOf(Id);
  }

  std::vector<Phrase> Phrases;

private:
  const Tokenizer &T;
};

PhraseBan::PhraseBan(std::shared_ptr<PhraseTable> T)
    : Table(std::move(T)), Matched(Table->Phrases.size(), 0) {}

Result<std::unique_ptr<TokenFilter>>
PhraseBan::create(const std::vector<std::string> &Phrases, const Tokenizer &T) {
  if (Phrases.size() > MostPhrases)
    return usageError(std::to_string(Phrases.size()) +
                      " banned texts, at most " + std::to_string(MostPhrases));
  for (const std::string &S : Phrases)
    if (S.empty() || S.size() > MostBytes)
      return usageError("banned text of " + std::to_string(S.size()) +
                        " bytes, expected 1 to " + std::to_string(MostBytes));
  return std::unique_ptr<TokenFilter>(
      new PhraseBan(std::make_shared<PhraseTable>(Phrases, T)));
}

std::unique_ptr<TokenFilter> PhraseBan::clone() const {
  return std::unique_ptr<TokenFilter>(new PhraseBan(*this));
}

void PhraseBan::narrow(TokenBits Allowed) {
  for (size_t P = 0; P < Matched.size(); ++P)
    for (int32_t Id : Table->banned(P, Matched[P]))
      if (static_cast<size_t>(Id) / 64 < Allowed.size())
        Allowed[Id / 64] &= ~(uint64_t{1} << (Id % 64));
}

void PhraseBan::accept(int32_t Token) {
  std::string_view Bytes = Table->bytesOf(Token);
  for (size_t P = 0; P < Matched.size(); ++P) {
    const Phrase &One = Table->Phrases[P];
    uint32_t S = One.after(Matched[P], Bytes);
    // A caller may force a token that was banned.
    Matched[P] = S == One.Text.size() ? One.Fallback[S] : S;
  }
}

} // namespace llmc
