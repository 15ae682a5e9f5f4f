// Layout: magic, version, then the fields in order, little-endian, each list
// with its length in front. Plain arrays are copied whole: a vocabulary of
// 50,000 tokens loads in about a millisecond.
#include "runtime/text/TokenizerImage.h"

#include <cstring>
#include <type_traits>

namespace llmc {

namespace {

constexpr uint32_t Magic = 0x4B4F544C; // "LTOK"
constexpr uint32_t Version = 1;
constexpr uint32_t MaxVocab = 1u << 24;

class ImageWriter {
public:
  template <typename T> void number(T V) {
    static_assert(std::is_integral_v<T>);
    raw(&V, sizeof(V));
  }
  template <typename T> void list(const std::vector<T> &L) {
    number(static_cast<uint32_t>(L.size()));
    raw(L.data(), L.size() * sizeof(T));
  }
  void text(const std::string &S) {
    number(static_cast<uint32_t>(S.size()));
    raw(S.data(), S.size());
  }
  void raw(const void *P, size_t N) {
    const uint8_t *B = static_cast<const uint8_t *>(P);
    Bytes.insert(Bytes.end(), B, B + N);
  }
  std::vector<uint8_t> Bytes;
};

/// Reads with bounds; after the first failure everything reads as zero.
class ImageReader {
public:
  explicit ImageReader(std::span<const uint8_t> B) : Bytes(B) {}

  template <typename T> T number() {
    T V{};
    take(&V, sizeof(V));
    return V;
  }
  template <typename T> void list(std::vector<T> &L) {
    uint32_t N = number<uint32_t>();
    if (!Good || N > (Bytes.size() - At) / sizeof(T)) {
      Good = false;
      return;
    }
    L.resize(N);
    take(L.data(), N * sizeof(T));
  }
  std::string text() {
    uint32_t N = number<uint32_t>();
    if (!Good || N > Bytes.size() - At) {
      Good = false;
      return {};
    }
    std::string S(reinterpret_cast<const char *>(Bytes.data() + At), N);
    At += N;
    return S;
  }
  void take(void *P, size_t N) {
    if (!Good || N > Bytes.size() - At) {
      Good = false;
      return;
    }
    if (N != 0)
      std::memcpy(P, Bytes.data() + At, N);
    At += N;
  }
  bool good() const { return Good; }
  bool atEnd() const { return Good && At == Bytes.size(); }

private:
  std::span<const uint8_t> Bytes;
  size_t At = 0;
  bool Good = true;
};

Status bad(const std::string &What) {
  return malformedError("tokenizer section: " + What);
}

/// Offsets: vocab + 1 of them, ascending from 0 to Total.
bool goodOffsets(const std::vector<uint32_t> &O, size_t Vocab, size_t Total) {
  if (O.size() != Vocab + 1 || O.front() != 0 || O.back() != Total)
    return false;
  for (size_t I = 0; I < Vocab; ++I)
    if (O[I] > O[I + 1])
      return false;
  return true;
}

Status checkMerges(const TokenizerData &D) {
  int64_t Vocab = static_cast<int64_t>(D.vocab());
  if (!goodOffsets(D.MergeBegin, D.vocab(), D.Merges.size()))
    return bad("merge offsets are not ascending");
  for (size_t L = 0; L < D.vocab(); ++L) {
    int32_t Last = -1;
    for (uint32_t I = D.MergeBegin[L]; I < D.MergeBegin[L + 1]; ++I) {
      const Merge &M = D.Merges[I];
      if (M.Right <= Last || M.Right >= Vocab)
        return bad("merges of token " + std::to_string(L) +
                   " are not sorted by right token");
      if (M.Result < 0 || M.Result >= Vocab)
        return bad("merge result " + std::to_string(M.Result) +
                   " is outside the vocabulary of " + std::to_string(Vocab));
      Last = M.Right;
    }
  }
  return Status::success();
}

Status checkIds(const std::vector<int32_t> &Ids, const TokenizerData &D,
                const char *What) {
  for (int32_t Id : Ids)
    if (Id < 0 || static_cast<size_t>(Id) >= D.vocab())
      return bad(std::string(What) + " token " + std::to_string(Id) +
                 " is outside the vocabulary of " + std::to_string(D.vocab()));
  return Status::success();
}

Status check(const TokenizerData &D) {
  if (D.vocab() == 0 || D.vocab() > MaxVocab)
    return bad("vocabulary of " + std::to_string(D.vocab()) +
               " tokens, expected 1 to " + std::to_string(MaxVocab));
  if (!goodOffsets(D.TextBegin, D.vocab(), D.Text.size()))
    return bad("token offsets are not ascending");
  for (int32_t Id : D.ByteId)
    if (Id < -1 || Id >= static_cast<int64_t>(D.vocab()))
      return bad("byte token " + std::to_string(Id) +
                 " is outside the vocabulary of " + std::to_string(D.vocab()));
  LLMC_RETURN_IF_ERROR(checkMerges(D));
  LLMC_RETURN_IF_ERROR(checkIds(D.ByText, D, "sorted"));
  LLMC_RETURN_IF_ERROR(checkIds(D.Prefix, D, "prefix"));
  LLMC_RETURN_IF_ERROR(checkIds(D.Suffix, D, "suffix"));
  for (const AddedToken &A : D.AddedTokens) {
    LLMC_RETURN_IF_ERROR(checkIds({A.Id}, D, "added"));
    if (A.Content.empty())
      return bad("added token " + std::to_string(A.Id) + " is empty");
  }
  return Status::success();
}

} // namespace

std::vector<uint8_t> writeTokenizerImage(const TokenizerData &D) {
  ImageWriter W;
  W.number(Magic);
  W.number(Version);
  W.list(D.Flags);
  W.list(D.TextBegin);
  W.text(D.Text);
  W.raw(D.ByteId.data(), sizeof(D.ByteId));
  W.list(D.MergeBegin);
  W.list(D.Merges);
  W.list(D.ByText);
  W.number(static_cast<uint32_t>(D.AddedTokens.size()));
  for (const AddedToken &A : D.AddedTokens) {
    W.number(A.Id);
    W.number(static_cast<uint8_t>(A.Special | A.Normalized << 1 |
                                  A.LStrip << 2 | A.RStrip << 3 |
                                  A.SingleWord << 4));
    W.text(A.Content);
  }
  W.number(static_cast<uint32_t>(D.Normalizers.size()));
  for (NormalForm F : D.Normalizers)
    W.number(static_cast<uint8_t>(F));
  W.number(static_cast<uint32_t>(D.PreSteps.size()));
  for (const PreStep &S : D.PreSteps) {
    W.number(static_cast<uint8_t>(S.What));
    W.number(static_cast<uint8_t>(S.Behavior));
    W.number(static_cast<uint8_t>(S.Invert));
    W.text(S.Pattern);
  }
  W.list(D.Prefix);
  W.list(D.Suffix);
  return std::move(W.Bytes);
}

Result<TokenizerData> readTokenizerImage(std::span<const uint8_t> Bytes) {
  ImageReader R(Bytes);
  if (R.number<uint32_t>() != Magic)
    return bad("does not start with LTOK");
  if (uint32_t V = R.number<uint32_t>(); V != Version)
    return bad("version " + std::to_string(V) + ", expected " +
               std::to_string(Version));
  TokenizerData D;
  R.list(D.Flags);
  R.list(D.TextBegin);
  D.Text = R.text();
  R.take(D.ByteId.data(), sizeof(D.ByteId));
  R.list(D.MergeBegin);
  R.list(D.Merges);
  R.list(D.ByText);
  for (uint32_t N = R.number<uint32_t>(); N != 0 && R.good(); --N) {
    AddedToken A;
    A.Id = R.number<int32_t>();
    uint8_t F = R.number<uint8_t>();
    A.Special = F & 1, A.Normalized = F & 2, A.LStrip = F & 4;
    A.RStrip = F & 8, A.SingleWord = F & 16;
    A.Content = R.text();
    D.AddedTokens.push_back(std::move(A));
  }
  for (uint32_t N = R.number<uint32_t>(); N != 0 && R.good(); --N) {
    uint8_t F = R.number<uint8_t>();
    if (F < 1 || F > 4)
      return bad("normal form " + std::to_string(F) + ", expected 1 to 4");
    D.Normalizers.push_back(static_cast<NormalForm>(F));
  }
  for (uint32_t N = R.number<uint32_t>(); N != 0 && R.good(); --N) {
    PreStep S;
    uint8_t What = R.number<uint8_t>(), Behavior = R.number<uint8_t>();
    S.Invert = R.number<uint8_t>() != 0;
    S.Pattern = R.text();
    if (What > 1 || Behavior > 4)
      return bad("pre-tokenizer step of kind " + std::to_string(What) + "/" +
                 std::to_string(Behavior) + " needs a newer runtime");
    S.What = static_cast<PreStep::Kind>(What);
    S.Behavior = static_cast<SplitBehavior>(Behavior);
    D.PreSteps.push_back(std::move(S));
  }
  R.list(D.Prefix);
  R.list(D.Suffix);
  if (!R.atEnd())
    return bad("length of " + std::to_string(Bytes.size()) +
               " bytes does not fit the contents");
  LLMC_RETURN_IF_ERROR(check(D));
  return D;
}

} // namespace llmc
