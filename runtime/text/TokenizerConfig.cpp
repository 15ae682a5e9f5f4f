// Numbers are little-endian and packed, texts and lists have their length in
// front. Writer and Reader have the same members, so that each structure is
// described once.
#include "runtime/text/TokenizerConfig.h"

#include <cstring>
#include <type_traits>

namespace llmc {

namespace {

class Writer {
public:
  explicit Writer(std::vector<uint8_t> &Out) : Out(Out) {}
  template <typename T> void number(T &V) {
    const uint8_t *P = reinterpret_cast<const uint8_t *>(&V);
    Out.insert(Out.end(), P, P + sizeof(T));
  }
  void text(std::string &S) {
    uint32_t N = static_cast<uint32_t>(S.size());
    number(N);
    Out.insert(Out.end(), S.begin(), S.end());
  }
  template <typename T> uint32_t length(std::vector<T> &L) {
    uint32_t N = static_cast<uint32_t>(L.size());
    number(N);
    return N;
  }

private:
  std::vector<uint8_t> &Out;
};

/// Reads with bounds; after the first failure everything reads as zero.
class Reader {
public:
  explicit Reader(std::span<const uint8_t> B) : Bytes(B) {}
  template <typename T> void number(T &V) {
    V = T{};
    if (!Good || Bytes.size() - At < sizeof(T)) {
      Good = false;
      return;
    }
    std::memcpy(&V, Bytes.data() + At, sizeof(T));
    At += sizeof(T);
  }
  void text(std::string &S) {
    uint32_t N = 0;
    number(N);
    Good &= N <= Bytes.size() - At;
    if (!Good)
      return;
    S.assign(reinterpret_cast<const char *>(Bytes.data()) + At, N);
    At += N;
  }
  template <typename T> uint32_t length(std::vector<T> &L) {
    uint32_t N = 0;
    number(N);
    // Each element takes a byte at least, so a false length ends here.
    Good &= N <= Bytes.size() - At;
    L.resize(Good ? N : 0);
    return Good ? N : 0;
  }
  bool whole() const { return Good && At == Bytes.size(); }

private:
  std::span<const uint8_t> Bytes;
  size_t At = 0;
  bool Good = true;
};

template <typename A> void flag(A &Archive, bool &B) {
  uint8_t Byte = B;
  Archive.number(Byte);
  B = Byte != 0;
}

/// Enumerations pass as bytes; a number without a name is caught by checks.
template <typename A, typename E> void kind(A &Archive, E &Value) {
  uint8_t Byte = static_cast<uint8_t>(Value);
  Archive.number(Byte);
  Value = static_cast<E>(Byte);
}

template <typename A> void fields(A &X, NormalStep &S) {
  kind(X, S.What);
  X.number(S.Flags);
  X.text(S.Pattern);
  X.text(S.Content);
}

template <typename A> void fields(A &X, PreStep &S) {
  kind(X, S.What);
  kind(X, S.Behavior);
  flag(X, S.Invert);
  X.number(S.Number);
  X.text(S.Pattern);
}

template <typename A> void fields(A &X, DecodeStep &S) {
  kind(X, S.What);
  X.number(S.Start);
  X.number(S.Stop);
  X.text(S.Pattern);
  X.text(S.Content);
}

template <typename A> void fields(A &X, AddedToken &T) {
  X.number(T.Id);
  flag(X, T.Special);
  flag(X, T.Normalized);
  flag(X, T.LStrip);
  flag(X, T.RStrip);
  flag(X, T.SingleWord);
  X.text(T.Content);
}

template <typename A> void fields(A &X, OutputPart &P) {
  kind(X, P.What);
  X.number(P.Id);
  X.number(P.Type);
}

template <typename A, typename T> void list(A &X, std::vector<T> &L) {
  for (uint32_t I = 0, N = X.length(L); I < N; ++I)
    fields(X, L[I]);
}

template <typename A> void fields(A &X, TokenizerConfig &C) {
  kind(X, C.Model);
  flag(X, C.ByteMode);
  flag(X, C.ByteFallback);
  flag(X, C.FuseUnk);
  flag(X, C.IgnoreMerges);
  flag(X, C.FloatScores);
  flag(X, C.CutMarks);
  X.number(C.UnkId);
  X.number(C.MaxChars);
  X.number(C.UnkScore);
  X.text(C.Prefix);
  X.text(C.Suffix);
  X.number(C.ByteId);
  list(X, C.AddedTokens);
  list(X, C.Normalizers);
  list(X, C.PreSteps);
  list(X, C.Decoders);
  for (size_t I = 0; I < 2; ++I) {
    list(X, C.Single[I]);
    list(X, C.Pair[I]);
  }
}

Status bad(const std::string &What) {
  return malformedError("tokenizer section: " + What);
}

/// Each step has a kind that this runtime knows.
template <typename T>
Status checkKinds(const std::vector<T> &Steps, const char *What, int First) {
  for (const T &S : Steps)
    if (S.What < First || S.What > T::Last)
      return bad(std::string(What) + " of kind " + std::to_string(S.What) +
                 ", known are " + std::to_string(First) + " to " +
                 std::to_string(T::Last));
  return Status::success();
}

Status checkIds(const TokenizerConfig &C, int64_t Vocab) {
  auto Bad = [Vocab](int64_t Id, int64_t Least) {
    return Id < Least || Id >= Vocab;
  };
  auto Outside = [Vocab](const char *What, int64_t Id) {
    return bad(std::string(What) + " " + std::to_string(Id) +
               " is outside the vocabulary of " + std::to_string(Vocab));
  };
  if (Bad(C.UnkId, -1))
    return Outside("unknown token", C.UnkId);
  for (int32_t Id : C.ByteId)
    if (Bad(Id, -1))
      return Outside("byte token", Id);
  for (const AddedToken &A : C.AddedTokens) {
    if (Bad(A.Id, 0))
      return Outside("added token", A.Id);
    if (A.Content.empty())
      return bad("added token " + std::to_string(A.Id) + " is empty");
  }
  for (const std::vector<OutputPart> *L :
       {&C.Single[0], &C.Single[1], &C.Pair[0], &C.Pair[1]})
    for (const OutputPart &P : *L) {
      if (P.What > OutputPart::Token)
        return bad("output part of kind " + std::to_string(P.What));
      if (P.What == OutputPart::Token && Bad(P.Id, 0))
        return Outside("template token", P.Id);
    }
  return Status::success();
}

} // namespace

void writeConfig(const TokenizerConfig &C, std::vector<uint8_t> &Out) {
  Writer W(Out);
  TokenizerConfig Copy = C;
  fields(W, Copy);
}

Result<TokenizerConfig> readConfig(std::span<const uint8_t> Bytes,
                                   size_t Vocab) {
  TokenizerConfig C;
  Reader R(Bytes);
  fields(R, C);
  if (!R.whole())
    return bad("length of " + std::to_string(Bytes.size()) +
               " bytes does not fit the configuration");
  if (C.Model > ModelKind::WordLevel)
    return bad("model of kind " + std::to_string(static_cast<int>(C.Model)));
  LLMC_RETURN_IF_ERROR(checkKinds(C.Normalizers, "normalizer", 1));
  LLMC_RETURN_IF_ERROR(checkKinds(C.PreSteps, "pre-tokenizer", 0));
  LLMC_RETURN_IF_ERROR(checkKinds(C.Decoders, "decoder", 0));
  for (const PreStep &S : C.PreSteps)
    if (S.Behavior > SplitBehavior::Contiguous)
      return bad("split behavior " +
                 std::to_string(static_cast<int>(S.Behavior)));
  LLMC_RETURN_IF_ERROR(checkIds(C, static_cast<int64_t>(Vocab)));
  return C;
}

} // namespace llmc
