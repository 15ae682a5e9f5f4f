// Mapping the image of a trie. Its bytes are not trusted: all numbers by which
// a walk finds its way are checked once, in one pass over each part.
#include "runtime/text/constraint/TokenTrieImage.h"

#include <cstring>

namespace llmc::constraint {

namespace {

template <typename T>
std::span<const T> part(std::span<const uint8_t> Image, uint64_t At, size_t N) {
  return {reinterpret_cast<const T *>(Image.data() + At), N};
}

Status damaged(const std::string &Why) {
  return malformedError("token trie: " + Why);
}

} // namespace

ImageParts::ImageParts(const ImageHeader &H,
                       std::span<const ImageTier> TierTable) {
  uint64_t At = sizeof(ImageHeader) + TierTable.size_bytes();
  auto Place = [&At](uint64_t Size) {
    uint64_t From = At;
    At += (Size + 7) / 8 * 8;
    return From;
  };
  Begin = Place(4 * (uint64_t{H.Vocab} + 1));
  Order = Place(4 * uint64_t{H.OrderCount});
  Chars = Place(H.OrderCount);
  for (const ImageTier &T : TierTable) {
    Nodes.push_back(
        Place(sizeof(TokenTrie::Node) * (uint64_t{T.NodeCount} + 1)));
    Below.push_back(Place(8 * uint64_t{T.NodeCount}));
  }
  Text = Place(H.TextBytes);
  Bytes = At;
}

void TokenTrie::attach(std::span<const uint8_t> Bytes) {
  Image = Bytes;
  const ImageHeader H = part<ImageHeader>(Bytes, 0, 1)[0];
  std::span<const ImageTier> Table =
      part<ImageTier>(Bytes, sizeof(ImageHeader), H.TierCount);
  ImageParts At(H, Table);
  DropsSpace = H.DropsSpace != 0;
  Begin = part<uint32_t>(Bytes, At.Begin, size_t{H.Vocab} + 1);
  Order = part<int32_t>(Bytes, At.Order, H.OrderCount);
  Chars = part<uint8_t>(Bytes, At.Chars, H.OrderCount);
  Text = {reinterpret_cast<const char *>(Bytes.data() + At.Text), H.TextBytes};
  Tiers.clear();
  for (size_t I = 0; I < Table.size(); ++I)
    Tiers.push_back({Table[I].MaxBytes,
                     part<Node>(Bytes, At.Nodes[I], Table[I].NodeCount),
                     part<uint64_t>(Bytes, At.Below[I], Table[I].NodeCount),
                     {}});
}

void TokenTrie::index() {
  for (Tier &T : Tiers) {
    T.All.assign((vocab() + 63) / 64, 0);
    auto [First, Last] = ranksOf(T);
    for (uint32_t R = First; R < Last; ++R)
      T.All[static_cast<uint32_t>(Order[R]) / 64] |= uint64_t{1}
                                                     << (Order[R] % 64);
  }
}

/// Depths, ends and heights agree with one another; every leaf has a token,
/// whose length is its depth.
std::string TokenTrie::faultOf(const Tier &T) const {
  size_t Count = T.Nodes.size();
  const Node *Nodes = T.Nodes.data();
  std::vector<uint32_t> Open; // nodes whose end is not yet there, by depth
  for (size_t I = 0; I <= Count; ++I) {
    size_t Depth = I < Count ? Nodes[I].Depth : 1;
    if (Depth == 0 || Depth > Open.size() + 1 || Depth > T.MaxBytes)
      return "node " + std::to_string(I) + " has depth " +
             std::to_string(Depth) + " behind depth " +
             std::to_string(Open.size());
    for (; Open.size() >= Depth; Open.pop_back())
      if (Nodes[Open.back()].End != I)
        return "node " + std::to_string(Open.back()) + " ends at " +
               std::to_string(Nodes[Open.back()].End) + ", expected " +
               std::to_string(I);
    if (Nodes[I].Rank > Order.size() ||
        (I > 0 && Nodes[I].Rank < Nodes[I - 1].Rank))
      return "node " + std::to_string(I) + " has rank " +
             std::to_string(Nodes[I].Rank) + " of " +
             std::to_string(Order.size());
    if (I == Count)
      break;
    uint32_t Until = Nodes[I + 1].Rank;
    bool Leaf = Nodes[I].End == I + 1;
    if (Until < Nodes[I].Rank || Until > Order.size() ||
        (Leaf && Until == Nodes[I].Rank))
      return "leaf " + std::to_string(I) + " has no token";
    for (uint32_t R = Nodes[I].Rank; R < Until; ++R)
      if (bytes(Order[R]).size() != Depth)
        return "token " + std::to_string(Order[R]) + " has " +
               std::to_string(bytes(Order[R]).size()) +
               " bytes, expected its depth " + std::to_string(Depth);
    Open.push_back(static_cast<uint32_t>(I));
  }
  return "";
}

std::string TokenTrie::fault() const {
  for (size_t I = 0; I + 1 < Begin.size(); ++I)
    if (Begin[I] > Begin[I + 1])
      return "token " + std::to_string(I) + " ends before it begins";
  if (Begin[0] != 0 || Begin.back() != Text.size())
    return "the tokens have " + std::to_string(Begin.back()) +
           " bytes, expected " + std::to_string(Text.size());
  for (int32_t Id : Order)
    if (Id < 0 || static_cast<size_t>(Id) >= vocab())
      return "token " + std::to_string(Id) + " of " + std::to_string(vocab());
  uint32_t Longest = 0;
  for (const Tier &T : Tiers) {
    if (T.Nodes.empty() || T.MaxBytes <= Longest || T.MaxBytes >= UINT16_MAX)
      return "a tier has " + std::to_string(T.Nodes.size()) +
             " nodes and tokens of " + std::to_string(T.MaxBytes) + " bytes";
    Longest = T.MaxBytes;
    if (std::string Why = faultOf(T); !Why.empty())
      return Why;
  }
  return "";
}

Result<std::shared_ptr<const TokenTrie>>
TokenTrie::map(std::span<const uint8_t> Bytes, std::shared_ptr<const void> O) {
  ImageHeader H{};
  if (Bytes.size() < sizeof(H))
    return damaged(std::to_string(Bytes.size()) + " bytes, expected at least " +
                   std::to_string(sizeof(H)));
  std::memcpy(&H, Bytes.data(), sizeof(H));
  if (H.Magic != TrieImageMagic)
    return unsupportedError("token trie: is of another version");
  if (H.TierCount > MaxTiers ||
      Bytes.size() < sizeof(H) + H.TierCount * sizeof(ImageTier))
    return damaged(std::to_string(H.TierCount) + " tiers, expected at most " +
                   std::to_string(MaxTiers));
  std::vector<ImageTier> Table(H.TierCount);
  if (!Table.empty())
    std::memcpy(Table.data(), Bytes.data() + sizeof(H),
                Table.size() * sizeof(ImageTier));
  if (uint64_t Need = ImageParts(H, Table).Bytes; Need != Bytes.size())
    return damaged(std::to_string(Bytes.size()) + " bytes, expected " +
                   std::to_string(Need));
  if (reinterpret_cast<uintptr_t>(Bytes.data()) % 8 != 0) {
    auto Copy = std::make_shared<std::vector<uint64_t>>(Bytes.size() / 8);
    std::memcpy(Copy->data(), Bytes.data(), Bytes.size());
    Bytes = {reinterpret_cast<const uint8_t *>(Copy->data()), Bytes.size()};
    O = Copy;
  }
  std::shared_ptr<TokenTrie> T(new TokenTrie);
  T->Owner = std::move(O);
  T->attach(Bytes);
  if (std::string Why = T->fault(); !Why.empty())
    return damaged(Why);
  T->index();
  return std::shared_ptr<const TokenTrie>(std::move(T));
}

} // namespace llmc::constraint
