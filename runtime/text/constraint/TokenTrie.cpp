// Builds the tries from the sorted tokens in one pass each.
#include "runtime/text/constraint/TokenTrie.h"

#include <algorithm>

namespace llmc::constraint {

namespace {

constexpr uint32_t TierBytes[] = {8, 24, UINT16_MAX - 1};

} // namespace

TokenTrie::TokenTrie(size_t Vocab, const BytesOf &BytesOfToken) {
  Begin.push_back(0);
  std::vector<int32_t> Order;
  for (size_t I = 0; I < Vocab; ++I) {
    int32_t Id = static_cast<int32_t>(I);
    std::string_view B = BytesOfToken(Id);
    if (!B.empty() && B.size() < UINT16_MAX) {
      Text += B;
      Order.push_back(Id);
    }
    Begin.push_back(static_cast<uint32_t>(Text.size()));
  }
  std::stable_sort(Order.begin(), Order.end(),
                   [&](int32_t A, int32_t B) { return bytes(A) < bytes(B); });
  // Of tokens with the same bytes the first stands in the trie.
  for (size_t I = 1; I < Order.size(); ++I)
    if (bytes(Order[I]) == bytes(Order[I - 1])) {
      if (Same.empty())
        Same.assign(Vocab, -1);
      Same[Order[I - 1]] = Order[I];
    }
  for (uint32_t Low = 0; uint32_t Max : TierBytes) {
    Tier New{0, {}};
    std::vector<uint32_t> Path; // nodes from the root
    std::string_view Last;
    for (size_t I = 0; I < Order.size(); ++I) {
      std::string_view B = bytes(Order[I]);
      if (B.size() <= Low || B.size() > Max ||
          (I > 0 && B == bytes(Order[I - 1])))
        continue;
      size_t Common = 0;
      while (Common < std::min(B.size(), Last.size()) &&
             B[Common] == Last[Common])
        ++Common;
      while (Path.size() > Common) {
        New.Nodes[Path.back()].End = static_cast<uint32_t>(New.Nodes.size());
        Path.pop_back();
      }
      while (Path.size() < B.size()) {
        Path.push_back(static_cast<uint32_t>(New.Nodes.size()));
        New.Nodes.push_back({0, -1, static_cast<uint16_t>(Path.size()),
                             static_cast<uint8_t>(B[Path.size() - 1])});
      }
      New.Nodes.back().Token = Order[I];
      New.MaxBytes = std::max(New.MaxBytes, static_cast<uint32_t>(B.size()));
      Last = B;
    }
    for (uint32_t N : Path)
      New.Nodes[N].End = static_cast<uint32_t>(New.Nodes.size());
    if (!New.Nodes.empty())
      Tiers.push_back(std::move(New));
    Low = Max;
  }
}

std::shared_ptr<const TokenTrie> TokenTrie::of(const Tokenizer &T) {
  auto Trie = std::make_shared<TokenTrie>(T.vocabSize(), [&](int32_t Id) {
    return T.isSpecial(Id) ? std::string_view() : T.bytesOf(Id);
  });
  for (size_t I = 0; I < T.vocabSize(); ++I) {
    std::string_view B = Trie->bytes(static_cast<int32_t>(I));
    if (B.size() < 2 || B[0] != ' ' || (B[1] & 0x80) != 0 || B[1] == ' ')
      continue;
    int32_t Id = static_cast<int32_t>(I);
    Trie->DropsSpace = T.decode({&Id, 1}) == B.substr(1);
    break;
  }
  return Trie;
}

} // namespace llmc::constraint
