// 32-bit little endian words: header, automata, terms, loops, rules. A term
// refers to terms before it, so reading builds them one by one with the same
// functions that front ends use, and hostile bytes can make a strange grammar
// at worst.
#include "runtime/text/constraint/GrammarImage.h"

namespace llmc::constraint {

namespace {

constexpr uint32_t Magic = 0x31474C43; // "CLG1"
constexpr uint32_t MaxNodes = 1u << 19;

class Writer {
public:
  explicit Writer(const Grammar &G) : G(G), T(G.terms()) {}

  std::vector<uint8_t> write() {
    for (TermId Known : {Nothing, Epsilon, Everything})
      Number[Known] = Known; // the reader's arena begins with them
    Next = Everything + 1;
    std::vector<uint32_t> Tail;
    auto Use = [&](TermId Id) { Tail.push_back(place(Id)); };
    Tail.push_back(G.specCount());
    for (uint32_t S = 0; S < G.specCount(); ++S) {
      const LoopSpec &Spec = G.spec(S);
      Tail.push_back(static_cast<uint32_t>(Spec.Entries.size()));
      Use(Spec.Separator);
      for (const LoopSpec::Entry &E : Spec.Entries)
        Use(E.Key), Use(E.Value);
    }
    Tail.push_back(static_cast<uint32_t>(G.rules().size()));
    for (const Rule &R : G.rules())
      Use(R.Body);
    Use(G.start());
    std::vector<uint32_t> Head{Magic, static_cast<uint32_t>(T.tables().size())};
    for (const DfaTable &D : T.tables()) {
      Head.push_back(D.Classes);
      Head.push_back(static_cast<uint32_t>(D.Accept.size()));
      Head.insert(Head.end(), D.Class.begin(), D.Class.end());
      Head.insert(Head.end(), D.Accept.begin(), D.Accept.end());
      Head.insert(Head.end(), D.Next.begin(), D.Next.end());
    }
    Head.push_back(Next - Everything - 1);
    std::vector<uint8_t> Out;
    for (const std::vector<uint32_t> *Part : {&Head, &Terms, &Tail})
      for (uint32_t W : *Part)
        for (int Shift = 0; Shift < 32; Shift += 8)
          Out.push_back(static_cast<uint8_t>(W >> Shift));
    return Out;
  }

private:
  std::vector<TermId> below(TermId Id) const {
    const TermNode &N = T[Id];
    switch (N.Kind) {
    case TermKind::Seq:
      return {N.A, N.B};
    case TermKind::Alt:
    case TermKind::And:
      return {T.kids(Id).begin(), T.kids(Id).end()};
    case TermKind::Not:
    case TermKind::Repeat:
    case TermKind::Lex:
      return {N.A};
    default:
      return {};
    }
  }

  /// Number of a term in the image; writes it and what is below first.
  uint32_t place(TermId Root) {
    std::vector<std::pair<TermId, bool>> Stack{{Root, false}};
    while (!Stack.empty()) {
      auto [Id, Ready] = Stack.back();
      Stack.pop_back();
      if (Number.count(Id) != 0)
        continue;
      if (Ready) {
        record(Id);
        continue;
      }
      Stack.emplace_back(Id, true);
      for (TermId Kid : below(Id))
        Stack.emplace_back(Kid, false);
    }
    return Number.at(Root);
  }

  void record(TermId Id) {
    const TermNode &N = T[Id];
    Terms.push_back(static_cast<uint32_t>(N.Kind));
    std::vector<TermId> Kids = below(Id);
    if (N.Kind == TermKind::Alt || N.Kind == TermKind::And)
      Terms.push_back(static_cast<uint32_t>(Kids.size()));
    for (TermId Kid : Kids)
      Terms.push_back(Number.at(Kid));
    if (N.Kind == TermKind::Bytes) {
      for (uint64_t W : T.byteSet(Id).Bits) {
        Terms.push_back(static_cast<uint32_t>(W));
        Terms.push_back(static_cast<uint32_t>(W >> 32));
      }
    } else if (N.Kind == TermKind::Repeat) {
      Terms.insert(Terms.end(), {N.Min, N.Max});
    } else if (N.Kind == TermKind::Dfa) {
      Terms.insert(Terms.end(), {N.A, N.B});
    } else if (N.Kind == TermKind::Ref) {
      Terms.push_back(N.A);
    } else if (N.Kind == TermKind::Loop) {
      const LoopState &S = G.loopState(N.B);
      Terms.insert(Terms.end(),
                   {N.A, S.Min, S.Max, static_cast<uint32_t>(S.At)});
    }
    Number[Id] = Next++;
  }

  const Grammar &G;
  const constraint::Terms &T;
  std::unordered_map<TermId, uint32_t> Number;
  uint32_t Next = 0;
  std::vector<uint32_t> Terms;
};

class Reader {
public:
  explicit Reader(std::span<const uint8_t> Bytes)
      : Bytes(Bytes), G(std::make_unique<Grammar>()), T(G->terms()) {}

  Result<std::unique_ptr<Grammar>> read() {
    if (word() != Magic)
      Good = false;
    readTables();
    readTerms();
    TermId Start = readTail();
    if (!Good || At != Bytes.size())
      return malformedError("constraint: damaged at byte " +
                            std::to_string(At) + " of " +
                            std::to_string(Bytes.size()));
    LLMC_RETURN_IF_ERROR(G->finish(Start));
    return std::move(G);
  }

private:
  uint32_t word() {
    if (Bytes.size() - At < 4) {
      Good = false;
      return 0;
    }
    uint32_t W = 0;
    for (int I = 0; I < 4; ++I)
      W |= uint32_t{Bytes[At++]} << (8 * I);
    return W;
  }
  /// A number of things of at least one word each.
  uint32_t count(uint64_t Most) {
    uint32_t N = word();
    Good = Good && N <= Most && N <= (Bytes.size() - At) / 4;
    return Good ? N : 0;
  }
  uint32_t below(uint64_t End) {
    uint32_t W = word();
    Good = Good && W < End;
    return Good ? W : 0;
  }
  TermId term() {
    uint32_t W = below(Ids.size());
    return Ids[W];
  }
  TermId atomicTerm() {
    TermId Id = term();
    Good = Good && T.atomic(Id);
    return Good ? Id : Nothing;
  }

  void readTables() {
    for (uint32_t N = count(1 << 16); Good && N > 0; --N) {
      DfaTable D;
      D.Classes = word();
      uint32_t States = count(1 << 24);
      Good = Good && D.Classes >= 1 && D.Classes <= 256 &&
             uint64_t{States} * D.Classes <= Bytes.size() / 4;
      for (size_t I = 0; Good && I < 256; ++I)
        D.Class[I] = static_cast<uint8_t>(below(D.Classes));
      for (uint32_t S = 0; Good && S < States; ++S)
        D.Accept.push_back(static_cast<uint8_t>(below(2)));
      for (uint64_t E = 0; Good && E < uint64_t{States} * D.Classes; ++E) {
        uint32_t To = word();
        Good = Good && (To < States || To == DfaTable::Dead);
        D.Next.push_back(To);
      }
      Tables.push_back(std::move(D));
    }
  }

  void readTerms() {
    Ids = {Nothing, Epsilon, Everything};
    for (uint32_t N = count(MaxNodes); Good && N > 0; --N)
      Ids.push_back(readTerm());
    Good = Good && !T.overflowed();
  }

  TermId readTerm() {
    switch (static_cast<TermKind>(word())) {
    case TermKind::Bytes: {
      ByteSet S;
      for (uint64_t &W : S.Bits) {
        W = word();
        W |= uint64_t{word()} << 32;
      }
      return T.bytes(S);
    }
    case TermKind::Seq: {
      TermId A = term(), B = term();
      return T.seq(A, B);
    }
    case TermKind::Alt:
    case TermKind::And:
      return readList();
    case TermKind::Not:
      return T.except(Everything, atomicTerm());
    case TermKind::Repeat: {
      TermId A = term();
      uint32_t Min = word(), Max = word();
      Good = Good && Min <= Max;
      return Good ? T.repeat(A, Min, Max) : Nothing;
    }
    case TermKind::Dfa: {
      uint32_t Table = below(Tables.size());
      uint32_t State = Good ? below(Tables[Table].Accept.size()) : 0;
      return Good ? T.dfa(Tables[Table], State) : Nothing;
    }
    case TermKind::Lex:
      return T.lex(atomicTerm());
    case TermKind::Ref: {
      Refs.push_back(word());
      return T.ref(Refs.back());
    }
    case TermKind::Loop: {
      Loops.push_back(word());
      LoopState S;
      S.Min = word(), S.Max = word();
      S.At = static_cast<LoopState::Place>(below(2));
      Good = Good && S.Min <= S.Max;
      return T.loop(Loops.back(), G->loopState(S));
    }
    default:
      Good = false;
      return Nothing;
    }
  }

  TermId readList() {
    size_t KindAt = At - 4;
    bool And = Bytes[KindAt] == static_cast<uint8_t>(TermKind::And);
    std::vector<TermId> List;
    for (uint32_t N = count(MaxNodes); Good && N > 0; --N)
      List.push_back(And ? atomicTerm() : term());
    return And ? T.both(List) : T.alt(List);
  }

  TermId readTail() {
    uint32_t Specs = count(MaxNodes);
    for (uint32_t S = 0; Good && S < Specs; ++S) {
      LoopSpec Spec;
      uint32_t Entries = count(MaxNodes);
      Spec.Separator = atomicTerm();
      for (uint32_t E = 0; Good && E < Entries; ++E) {
        TermId Key = atomicTerm(), Value = term();
        Good = Good && !T.nullable(Key);
        Spec.Entries.push_back({Key, Value, false});
      }
      if (Good)
        G->addSpec(std::move(Spec));
    }
    uint32_t Rules = count(MaxNodes);
    for (uint32_t R = 0; Good && R < Rules; ++R)
      G->setBody(G->addRule("rule"), term());
    for (uint32_t R : Refs)
      Good = Good && R < Rules;
    for (uint32_t L : Loops)
      Good = Good && L < Specs;
    return Good ? term() : Nothing;
  }

  std::span<const uint8_t> Bytes;
  size_t At = 0;
  bool Good = true;
  std::unique_ptr<Grammar> G;
  Terms &T;
  std::vector<DfaTable> Tables;
  std::vector<TermId> Ids;
  std::vector<uint32_t> Refs, Loops;
};

} // namespace

std::vector<uint8_t> writeGrammarImage(const Grammar &G) {
  return Writer(G).write();
}

Result<std::unique_ptr<Grammar>>
readGrammarImage(std::span<const uint8_t> Bytes) {
  return Reader(Bytes).read();
}

} // namespace llmc::constraint
