// The stages in order: added tokens, normalisation, added tokens that are
// looked for in normalised text, pieces, merges, template.
#include "runtime/text/Tokenizer.h"

#include "runtime/text/AddedTokens.h"
#include "runtime/text/Bpe.h"
#include "runtime/text/ByteLevel.h"
#include "runtime/text/Detokenizer.h"
#include "runtime/text/Normalizer.h"
#include "runtime/text/PreTokenizer.h"
#include "runtime/text/TokenizerImage.h"
#include "runtime/text/Utf8.h"

namespace llmc {

struct Tokenizer::Impl {
  Impl(TokenizerData Data, PreTokenizer P)
      : D(std::move(Data)), Pre(std::move(P)), Merger(D) {}

  Status encodeText(std::string Text, PreTokenizer::Scratch &S,
                    std::vector<int32_t> &Out) const;

  TokenizerData D;
  PreTokenizer Pre;
  Bpe Merger;
  AddedTokenFinder InText, InNormalized;
};

Tokenizer::Tokenizer(std::unique_ptr<Impl> I) : P(std::move(I)) {}
Tokenizer::Tokenizer(Tokenizer &&) noexcept = default;
Tokenizer &Tokenizer::operator=(Tokenizer &&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::load(std::span<const uint8_t> Bytes) {
  LLMC_ASSIGN_OR_RETURN(TokenizerData D, readTokenizerImage(Bytes));
  LLMC_ASSIGN_OR_RETURN(PreTokenizer Pre, PreTokenizer::create(D.PreSteps));
  std::unique_ptr<Impl> I =
      std::make_unique<Impl>(std::move(D), std::move(Pre));
  for (const AddedToken &A : I->D.AddedTokens) {
    if (!A.Normalized || I->D.Normalizers.empty()) {
      // Without a normaliser both kinds see the same text, but those that
      // are not normalised still come first.
      (A.Normalized ? I->InNormalized : I->InText).add(A);
      continue;
    }
    AddedToken N = A;
    LLMC_ASSIGN_OR_RETURN(N.Content, normalize(A.Content, I->D.Normalizers));
    I->InNormalized.add(N);
  }
  I->InText.finish();
  I->InNormalized.finish();
  return Tokenizer(std::move(I));
}

Status Tokenizer::Impl::encodeText(std::string Text, PreTokenizer::Scratch &S,
                                   std::vector<int32_t> &Out) const {
  std::vector<PreTokenizer::Piece> Pieces;
  LLMC_RETURN_IF_ERROR(Pre.run(Text, Pieces, S));
  for (PreTokenizer::Piece Q : Pieces)
    Merger.encode(std::string_view(Text).substr(Q.Begin, Q.End - Q.Begin), Out);
  return Status::success();
}

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view Text,
                                               const EncodeOptions &O) const {
  if (size_t Bad = findBadUtf8(Text); Bad != std::string_view::npos)
    return malformedError("text is not UTF-8 at byte " + std::to_string(Bad) +
                          " of " + std::to_string(Text.size()));
  if (Text.size() > INT32_MAX)
    return doesNotFitError("text of " + std::to_string(Text.size()) +
                           " bytes, at most " + std::to_string(INT32_MAX));
  std::vector<int32_t> Out;
  if (O.AddSpecial)
    Out = P->D.Prefix;
  PreTokenizer::Scratch S = P->Pre.makeScratch();
  std::vector<AddedTokenFinder::Range> Ranges, Inner;
  P->InText.split(Text, O.SpecialAsText, Ranges);
  for (const AddedTokenFinder::Range &R : Ranges) {
    if (R.Id >= 0) {
      Out.push_back(R.Id);
      continue;
    }
    LLMC_ASSIGN_OR_RETURN(
        std::string Normal,
        normalize(Text.substr(R.Begin, R.End - R.Begin), P->D.Normalizers));
    Inner.clear();
    P->InNormalized.split(Normal, O.SpecialAsText, Inner);
    for (const AddedTokenFinder::Range &Q : Inner) {
      if (Q.Id >= 0)
        Out.push_back(Q.Id);
      else
        LLMC_RETURN_IF_ERROR(
            P->encodeText(Normal.substr(Q.Begin, Q.End - Q.Begin), S, Out));
    }
  }
  if (O.AddSpecial)
    Out.insert(Out.end(), P->D.Suffix.begin(), P->D.Suffix.end());
  return Out;
}

std::string Tokenizer::decode(std::span<const int32_t> Ids,
                              bool SkipSpecial) const {
  Detokenizer D(*this, SkipSpecial);
  std::string Out;
  for (int32_t Id : Ids)
    Out += D.push(Id);
  return Out + D.finish();
}

size_t Tokenizer::vocabSize() const { return P->D.vocab(); }

std::string_view Tokenizer::bytesOf(int32_t Id) const {
  if (Id < 0 || static_cast<size_t>(Id) >= P->D.vocab())
    return {};
  return P->D.bytesOf(Id);
}

bool Tokenizer::isSpecial(int32_t Id) const {
  return Id >= 0 && static_cast<size_t>(Id) < P->D.vocab() &&
         (P->D.Flags[Id] & TokenizerData::Special) != 0;
}

std::string Tokenizer::spellingOf(int32_t Id) const {
  if (Id < 0 || static_cast<size_t>(Id) >= P->D.vocab())
    return {};
  uint8_t F = P->D.Flags[Id];
  if (F & TokenizerData::Added)
    for (const AddedToken &A : P->D.AddedTokens)
      if (A.Id == Id)
        return A.Content;
  std::string_view Bytes = P->D.bytesOf(Id);
  return F & TokenizerData::Plain ? std::string(Bytes)
                                  : bytesToByteLevel(Bytes);
}

int32_t Tokenizer::addedToken(std::string_view Content) const {
  for (const AddedToken &A : P->D.AddedTokens)
    if (A.Content == Content)
      return A.Id;
  return -1;
}

} // namespace llmc
