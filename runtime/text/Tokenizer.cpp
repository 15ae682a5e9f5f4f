// The stages in order: added tokens, normalisation, added tokens that are
// looked for in normalised text, pieces, model, template.
#include "runtime/text/Tokenizer.h"

#include "runtime/text/AddedTokens.h"
#include "runtime/text/Bpe.h"
#include "runtime/text/Decoder.h"
#include "runtime/text/Detokenizer.h"
#include "runtime/text/Normalizer.h"
#include "runtime/text/PreTokenizer.h"
#include "runtime/text/TokenizerImage.h"
#include "runtime/text/Unigram.h"
#include "runtime/text/Utf8.h"
#include "runtime/text/WordModels.h"

#include <cstring>
#include <mutex>

namespace llmc {

namespace {

/// Everything that one encoding call writes to; used again by later calls, so
/// that the word cache stays warm.
struct Scratch {
  PreTokenizer::Scratch Pre;
  Bpe::Scratch Merges;
  Unigram::Scratch Path;
  std::vector<PreTokenizer::Piece> Pieces;
};

Status checkText(std::string_view Text) {
  if (size_t Bad = findBadUtf8(Text); Bad != std::string_view::npos)
    return malformedError("text is not UTF-8 at byte " + std::to_string(Bad) +
                          " of " + std::to_string(Text.size()));
  if (Text.size() > INT32_MAX)
    return doesNotFitError("text of " + std::to_string(Text.size()) +
                           " bytes, at most " + std::to_string(INT32_MAX));
  return Status::success();
}

} // namespace

struct Tokenizer::Impl {
  Impl(std::shared_ptr<const void> Owner, TokenizerData Data, Normalizer N,
       PreTokenizer P, Decoder Dec)
      : Owner(std::move(Owner)), D(std::move(Data)), Norm(std::move(N)),
        Pre(std::move(P)), Dec(std::move(Dec)), Merger(D), Lattice(D),
        Words(D) {}

  std::unique_ptr<Scratch> takeScratch();
  void giveBack(std::unique_ptr<Scratch> S);
  Status encodeText(std::string Text, size_t Zero, Scratch &S,
                    std::vector<int32_t> &Out) const;
  Status encodeAll(std::string_view Text, bool SpecialAsText, Scratch &S,
                   std::vector<int32_t> &Out) const;
  Result<std::vector<int32_t>> encodeOne(std::string_view Text,
                                         bool SpecialAsText);
  Status addAddedTokens();

  std::shared_ptr<const void> Owner; ///< of the image, if one is needed
  TokenizerData D;
  Normalizer Norm;
  PreTokenizer Pre;
  Decoder Dec;
  Bpe Merger;
  Unigram Lattice;
  WordModels Words;
  AddedTokenFinder InText, InNormalized;
  bool NeedsStart = false; ///< a step asks whether a piece is the first
  std::mutex Lock;
  std::vector<std::unique_ptr<Scratch>> Free;
};

Tokenizer::Tokenizer(std::unique_ptr<Impl> I) : P(std::move(I)) {}
Tokenizer::Tokenizer(Tokenizer &&) noexcept = default;
Tokenizer &Tokenizer::operator=(Tokenizer &&) noexcept = default;
Tokenizer::~Tokenizer() = default;

/// Those that are normalised are looked for in their normalised form. Without
/// a normaliser both kinds see the same text, but the others come first.
Status Tokenizer::Impl::addAddedTokens() {
  SplitRegex::Scratch S;
  bool Spm = !D.Config.Normalizers.empty() &&
             D.Config.Normalizers[0].What == NormalStep::SentencePiece;
  for (const AddedToken &A : D.Config.AddedTokens) {
    AddedToken N = A;
    // SentencePiece's own are given as they look in normalised text.
    if (A.Normalized && !Spm)
      LLMC_RETURN_IF_ERROR(Norm.run(N.Content, S));
    if (!A.Content.empty())
      (A.Normalized ? InNormalized : InText).add(N);
  }
  InText.finish();
  InNormalized.finish();
  return Status::success();
}

Result<Tokenizer> Tokenizer::load(std::span<const uint8_t> Bytes) {
  auto Copy = std::make_shared<std::vector<uint64_t>>((Bytes.size() + 7) / 8);
  if (!Bytes.empty())
    std::memcpy(Copy->data(), Bytes.data(), Bytes.size());
  const uint8_t *Begin = reinterpret_cast<const uint8_t *>(Copy->data());
  return borrow({Begin, Bytes.size()}, std::move(Copy));
}

Result<Tokenizer> Tokenizer::borrow(std::span<const uint8_t> Bytes,
                                    std::shared_ptr<const void> Owner) {
  if (reinterpret_cast<uintptr_t>(Bytes.data()) % alignof(uint64_t) != 0)
    return load(Bytes);
  LLMC_ASSIGN_OR_RETURN(TokenizerData D, readTokenizerImage(Bytes));
  LLMC_ASSIGN_OR_RETURN(Normalizer N, Normalizer::create(D.Config.Normalizers));
  LLMC_ASSIGN_OR_RETURN(
      PreTokenizer Pre,
      PreTokenizer::create(D.Config.PreSteps, !D.Config.ByteMode));
  LLMC_ASSIGN_OR_RETURN(Decoder Dec, Decoder::create(D.Config.Decoders));
  std::unique_ptr<Impl> I =
      std::make_unique<Impl>(std::move(Owner), std::move(D), std::move(N),
                             std::move(Pre), std::move(Dec));
  LLMC_RETURN_IF_ERROR(I->addAddedTokens());
  for (const PreStep &S : I->D.Config.PreSteps)
    I->NeedsStart |= S.What == PreStep::Metaspace && S.Number == 1;
  return Tokenizer(std::move(I));
}

std::unique_ptr<Scratch> Tokenizer::Impl::takeScratch() {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Free.empty())
    return std::make_unique<Scratch>();
  std::unique_ptr<Scratch> S = std::move(Free.back());
  Free.pop_back();
  return S;
}

void Tokenizer::Impl::giveBack(std::unique_ptr<Scratch> S) {
  std::lock_guard<std::mutex> Guard(Lock);
  Free.push_back(std::move(S));
}

Status Tokenizer::Impl::encodeText(std::string Text, size_t Zero, Scratch &S,
                                   std::vector<int32_t> &Out) const {
  LLMC_RETURN_IF_ERROR(Pre.run(Text, Zero, S.Pieces, S.Pre));
  for (PreTokenizer::Piece Q : S.Pieces) {
    std::string_view Piece =
        std::string_view(Text).substr(Q.Begin, Q.End - Q.Begin);
    switch (D.Config.Model) {
    case ModelKind::Bpe:
      Merger.encode(Piece, Out, S.Merges);
      break;
    case ModelKind::Unigram:
      LLMC_RETURN_IF_ERROR(Lattice.encode(Piece, Out, S.Path));
      break;
    case ModelKind::WordPiece:
      LLMC_RETURN_IF_ERROR(Words.wordPiece(Piece, Out));
      break;
    case ModelKind::WordLevel:
      LLMC_RETURN_IF_ERROR(Words.wordLevel(Piece, Out));
      break;
    }
  }
  return Status::success();
}

Status Tokenizer::Impl::encodeAll(std::string_view Text, bool SpecialAsText,
                                  Scratch &S, std::vector<int32_t> &Out) const {
  std::vector<AddedTokenFinder::Range> Ranges, Inner;
  InText.split(Text, SpecialAsText, Ranges);
  for (const AddedTokenFinder::Range &R : Ranges) {
    if (R.Id >= 0) {
      Out.push_back(R.Id);
      continue;
    }
    std::string Normal(Text.substr(R.Begin, R.End - R.Begin));
    size_t Zero = 0; // matters to one kind of step only
    if (R.Begin == 0 && NeedsStart) {
      LLMC_ASSIGN_OR_RETURN(Zero, Norm.firstLength(Normal, S.Pre.Regex));
    }
    LLMC_RETURN_IF_ERROR(Norm.run(Normal, S.Pre.Regex));
    Inner.clear();
    InNormalized.split(Normal, SpecialAsText, Inner);
    for (const AddedTokenFinder::Range &Q : Inner) {
      if (Q.Id >= 0) {
        Out.push_back(Q.Id);
        continue;
      }
      size_t Here = Q.Begin < Zero ? Zero - Q.Begin : 0;
      if (Q.End - Q.Begin == Normal.size())
        LLMC_RETURN_IF_ERROR(encodeText(std::move(Normal), Here, S, Out));
      else
        LLMC_RETURN_IF_ERROR(
            encodeText(Normal.substr(Q.Begin, Q.End - Q.Begin), Here, S, Out));
    }
  }
  return Status::success();
}

Result<std::vector<int32_t>> Tokenizer::Impl::encodeOne(std::string_view Text,
                                                        bool SpecialAsText) {
  LLMC_RETURN_IF_ERROR(checkText(Text));
  std::vector<int32_t> Out;
  std::unique_ptr<Scratch> S = takeScratch();
  Status Done = encodeAll(Text, SpecialAsText, *S, Out);
  giveBack(std::move(S));
  LLMC_RETURN_IF_ERROR(std::move(Done));
  return Out;
}

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view Text,
                                               const EncodeOptions &O) const {
  LLMC_ASSIGN_OR_RETURN(std::vector<int32_t> Ids,
                        P->encodeOne(Text, O.SpecialAsText));
  const std::vector<OutputPart> &Parts = P->D.Config.Single[O.AddSpecial];
  if (Parts.size() == 1 && Parts[0].What == OutputPart::First)
    return Ids;
  std::vector<int32_t> Out;
  for (const OutputPart &Part : Parts) {
    if (Part.What == OutputPart::Token)
      Out.push_back(Part.Id);
    else if (Part.What == OutputPart::First)
      Out.insert(Out.end(), Ids.begin(), Ids.end());
  }
  return Out;
}

Result<PairEncoding> Tokenizer::encodePair(std::string_view First,
                                           std::string_view Second,
                                           const EncodeOptions &O) const {
  LLMC_ASSIGN_OR_RETURN(std::vector<int32_t> A,
                        P->encodeOne(First, O.SpecialAsText));
  LLMC_ASSIGN_OR_RETURN(std::vector<int32_t> B,
                        P->encodeOne(Second, O.SpecialAsText));
  PairEncoding Out;
  for (const OutputPart &Part : P->D.Config.Pair[O.AddSpecial]) {
    if (Part.What == OutputPart::Token) {
      Out.Ids.push_back(Part.Id);
    } else {
      const std::vector<int32_t> &Ids = Part.What == OutputPart::First ? A : B;
      Out.Ids.insert(Out.Ids.end(), Ids.begin(), Ids.end());
    }
    Out.TypeIds.resize(Out.Ids.size(), Part.Type);
  }
  return Out;
}

std::string Tokenizer::decode(std::span<const int32_t> Ids,
                              bool SkipSpecial) const {
  const std::vector<DecodeStep> &Steps = P->Dec.steps();
  bool BytesOnly = Steps.size() == 1 && Steps[0].What == DecodeStep::ByteLevel;
  std::vector<std::string> Spellings;
  Utf8Stream Stream;
  std::string Text;
  for (int32_t Id : Ids) {
    if (!isToken(Id) || (SkipSpecial && isSpecial(Id)))
      continue;
    if (BytesOnly)
      Stream.push(bytesOf(Id), Text);
    else
      Spellings.push_back(spellingOf(Id));
  }
  if (!BytesOnly) {
    Result<std::string> All = P->Dec.decode(Spellings);
    if (All.ok())
      return All.take();
    // A pattern of the file gave up: the text without it.
    for (const std::string &S : Spellings)
      Text += S;
    return Text;
  }
  Stream.finish(Text);
  return Text;
}

size_t Tokenizer::vocabSize() const { return P->D.vocab(); }

bool Tokenizer::isToken(int32_t Id) const {
  return Id >= 0 && static_cast<size_t>(Id) < P->D.vocab() &&
         (P->D.Flags[Id] & KnownToken) != 0;
}

std::string_view Tokenizer::bytesOf(int32_t Id) const {
  return isToken(Id) ? P->D.bytesOf(Id) : std::string_view();
}

bool Tokenizer::isSpecial(int32_t Id) const {
  return isToken(Id) && (P->D.Flags[Id] & SpecialToken) != 0;
}

std::string Tokenizer::spellingOf(int32_t Id) const {
  return isToken(Id) ? std::string(P->D.spellingOf(Id)) : std::string();
}

int32_t Tokenizer::addedToken(std::string_view Content) const {
  for (const AddedToken &A : P->D.Config.AddedTokens)
    if (A.Content == Content)
      return A.Id;
  return -1;
}

const Decoder &Tokenizer::decoder() const { return P->Dec; }

} // namespace llmc
