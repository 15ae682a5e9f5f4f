// Builds the tries from the sorted tokens in one pass each, and writes them
// into one image.
#include "runtime/text/constraint/TokenTrie.h"

#include "runtime/text/constraint/TokenTrieImage.h"

#include <algorithm>
#include <cstring>

namespace llmc::constraint {

namespace {

constexpr uint32_t TierBytes[] = {8, 24, UINT16_MAX - 1};

using Node = TokenTrie::Node;

struct Texts {
  std::string All;
  std::vector<uint32_t> Begin{0};
  std::string_view of(int32_t Id) const {
    return std::string_view(All).substr(Begin[Id], Begin[Id + 1] - Begin[Id]);
  }
};

struct BuiltTier {
  uint32_t MaxBytes = 0;
  std::vector<Node> Nodes; ///< with the one behind them
  std::vector<uint64_t> Below;
};

/// Adds tokens in the order of their bytes.
class TierBuilder {
public:
  TierBuilder(BuiltTier &Out, std::vector<int32_t> &Order)
      : Out(Out), Order(Order) {}

  void add(std::string_view B, int32_t Id) {
    size_t Common = 0;
    while (Common < std::min(B.size(), Last.size()) &&
           B[Common] == Last[Common])
      ++Common;
    close(Common);
    while (Path.size() < B.size()) {
      Path.push_back(static_cast<uint32_t>(Out.Nodes.size()));
      Out.Nodes.push_back({0, static_cast<uint32_t>(Order.size()),
                           static_cast<uint16_t>(Path.size()),
                           static_cast<uint8_t>(B[Path.size() - 1]), 0});
    }
    Order.push_back(Id);
    Out.MaxBytes = std::max(Out.MaxBytes, static_cast<uint32_t>(B.size()));
    Last = B;
  }
  void finish() {
    close(0);
    Out.Nodes.push_back({0, static_cast<uint32_t>(Order.size()), 0, 0, 0});
    Out.Below.resize(Out.Nodes.size() - 1);
    for (size_t I = Out.Below.size(); I-- > 0;)
      Out.Below[I] = groupsOfNode(static_cast<uint32_t>(I));
  }

private:
  void close(size_t Depth) {
    for (; Path.size() > Depth; Path.pop_back()) {
      Node &N = Out.Nodes[Path.back()];
      N.End = static_cast<uint32_t>(Out.Nodes.size());
      if (Path.size() > 1) {
        uint8_t &Above = Out.Nodes[Path[Path.size() - 2]].Height;
        Above = static_cast<uint8_t>(
            std::max<unsigned>(Above, std::min(N.Height + 1u, 255u)));
      }
    }
  }
  uint64_t groupsOfNode(uint32_t At) const {
    uint8_t B = Out.Nodes[At].Byte;
    if (B < 0x80)
      return groupsBehind(At);
    Utf8Rest Rest = Utf8Rest::after(B);
    return Rest.Left == 0 ? NotUtf8 | groupsBehind(At)
                          : groupsWithin(At, Rest, Tree.lead(B));
  }
  /// Of what is below a node at the end of a character. Later nodes know
  /// theirs.
  uint64_t groupsBehind(uint32_t At) const {
    uint64_t Groups = 0;
    for (uint32_t I = At + 1; I < Out.Nodes[At].End; I = Out.Nodes[I].End) {
      uint8_t B = Out.Nodes[I].Byte;
      Groups |= Out.Below[I] | (B < 0x80 ? asciiGroup(B) : 0);
    }
    return Groups;
  }
  /// Of characters that reach a node Rest before their end, or have it there.
  uint64_t groupsWithin(uint32_t At, Utf8Rest Rest, uint32_t Char) const {
    if (Rest.Left == 0)
      return Tree.groups(Char) | groupsBehind(At);
    bool Token = Out.Nodes[At].Rank != Out.Nodes[At + 1].Rank;
    uint64_t Groups = Token ? Tree.groups(Char) : 0;
    for (uint32_t I = At + 1; I < Out.Nodes[At].End; I = Out.Nodes[I].End) {
      uint8_t B = Out.Nodes[I].Byte;
      Groups |= Rest.takes(B) ? groupsWithin(I, Rest.next(), Tree.next(Char, B))
                              : NotUtf8;
    }
    return Groups;
  }

  BuiltTier &Out;
  std::vector<int32_t> &Order;
  const CharTree &Tree = CharTree::get();
  std::vector<uint32_t> Path; ///< nodes from the root
  std::string_view Last;
};

/// Ids of those with bytes, sorted by them.
std::vector<int32_t> sorted(const Texts &T) {
  std::vector<int32_t> Order;
  for (size_t I = 0; I + 1 < T.Begin.size(); ++I)
    if (T.Begin[I] != T.Begin[I + 1])
      Order.push_back(static_cast<int32_t>(I));
  std::stable_sort(Order.begin(), Order.end(),
                   [&](int32_t A, int32_t B) { return T.of(A) < T.of(B); });
  return Order;
}

template <typename V>
void put(uint8_t *To, uint64_t At, const std::vector<V> &Values) {
  if (!Values.empty())
    std::memcpy(To + At, Values.data(), Values.size() * sizeof(V));
}

} // namespace

size_t TokenTrie::charCount(std::string_view Text) {
  return static_cast<size_t>(
      std::count_if(Text.begin(), Text.end(), [](char C) {
        return (static_cast<uint8_t>(C) & 0xC0) != 0x80;
      }));
}

TokenTrie::TokenTrie(size_t Vocab, const BytesOf &BytesOfToken, bool Drops) {
  Texts T;
  for (size_t I = 0; I < Vocab; ++I) {
    std::string_view B = BytesOfToken(static_cast<int32_t>(I));
    if (B.size() < UINT16_MAX)
      T.All += B;
    T.Begin.push_back(static_cast<uint32_t>(T.All.size()));
  }
  std::vector<int32_t> Sorted = sorted(T), Ranked;
  std::vector<BuiltTier> Built;
  std::vector<ImageTier> Table;
  for (uint32_t Low = 0; uint32_t Max : TierBytes) {
    BuiltTier One;
    TierBuilder Builder(One, Ranked);
    for (int32_t Id : Sorted)
      if (std::string_view B = T.of(Id); B.size() > Low && B.size() <= Max)
        Builder.add(B, Id);
    Builder.finish();
    if (!One.Below.empty()) {
      Table.push_back({One.MaxBytes, static_cast<uint32_t>(One.Below.size())});
      Built.push_back(std::move(One));
    }
    Low = Max;
  }
  ImageHeader H{TrieImageMagic,
                static_cast<uint32_t>(Vocab),
                Drops,
                static_cast<uint32_t>(T.All.size()),
                static_cast<uint32_t>(Ranked.size()),
                static_cast<uint32_t>(Table.size())};
  ImageParts At(H, Table);
  auto Words = std::make_shared<std::vector<uint64_t>>(At.Bytes / 8);
  uint8_t *To = reinterpret_cast<uint8_t *>(Words->data());
  std::memcpy(To, &H, sizeof(H));
  put(To, sizeof(H), Table);
  put(To, At.Begin, T.Begin);
  put(To, At.Order, Ranked);
  for (size_t I = 0; I < Ranked.size(); ++I)
    To[At.Chars + I] =
        static_cast<uint8_t>(std::min<size_t>(charCount(T.of(Ranked[I])), 255));
  for (size_t I = 0; I < Built.size(); ++I) {
    put(To, At.Nodes[I], Built[I].Nodes);
    put(To, At.Below[I], Built[I].Below);
  }
  std::memcpy(To + At.Text, T.All.data(), T.All.size());
  Owner = Words;
  attach({To, At.Bytes});
  index();
}

std::shared_ptr<const TokenTrie> TokenTrie::of(const Tokenizer &T) {
  auto Bytes = [&](int32_t Id) {
    return T.isSpecial(Id) ? std::string_view() : T.bytesOf(Id);
  };
  bool Drops = false;
  for (size_t I = 0; I < T.vocabSize(); ++I) {
    int32_t Id = static_cast<int32_t>(I);
    std::string_view B = Bytes(Id);
    if (B.size() < 2 || B[0] != ' ' || (B[1] & 0x80) != 0 || B[1] == ' ')
      continue;
    Drops = T.decode({&Id, 1}) == B.substr(1);
    break;
  }
  return std::make_shared<TokenTrie>(T.vocabSize(), Bytes, Drops);
}

} // namespace llmc::constraint
