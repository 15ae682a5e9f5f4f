// The "post_processor" of tokenizer.json. The processors run here once, over
// placeholders instead of texts; what comes out is the output of one text and
// of a pair, with and without special tokens, as flat lists.
#include "runtime/text/JsonFields.h"
#include "runtime/text/JsonFile.h"
#include "runtime/text/TokenizerParts.h"

#include <nlohmann/json.hpp>

namespace llmc {

namespace {

using Json = nlohmann::json;
using Parts = std::vector<OutputPart>;

OutputPart token(int64_t Id, int64_t Type) {
  return {OutputPart::Token, static_cast<int32_t>(Id),
          static_cast<int32_t>(Type)};
}

/// The texts (one or two) on their way through the processors.
struct Output {
  std::vector<Parts> Texts;
  bool AddSpecial;
};

/// ["[SEP]", 3]: the id.
Status readPair(Fields<Json> &F, const char *Key, int64_t &Id) {
  const Json *P = F.need(Key, "a token and its id");
  LLMC_RETURN_IF_ERROR(F.status());
  bool Good = P->is_array() && P->size() == 2 && (*P)[1].is_number_integer();
  Id = Good ? (*P)[1].get<int64_t>() : -1;
  if (Id < 0 || Id > MaxTokenId)
    F.wrong(Key, *P, "a token and its id");
  return F.status();
}

/// BertProcessing and RobertaProcessing: CLS A SEP, then B SEP or SEP B SEP.
Status frame(Fields<Json> &F, bool Roberta, Output &O) {
  int64_t Cls = 0, Sep = 0;
  LLMC_RETURN_IF_ERROR(readPair(F, "cls", Cls));
  LLMC_RETURN_IF_ERROR(readPair(F, "sep", Sep));
  if (Roberta) // it knows one type only
    for (Parts &P : O.Texts)
      for (OutputPart &Q : P)
        Q.Type = 0;
  if (!O.AddSpecial)
    return Status::success();
  int Type = Roberta ? 0 : 1;
  for (size_t I = 0; I < O.Texts.size(); ++I) {
    Parts &P = O.Texts[I];
    if (I == 0)
      P.insert(P.begin(), token(Cls, 0));
    else if (Roberta)
      P.insert(P.begin(), token(Sep, 0));
    P.push_back(token(Sep, I == 0 ? 0 : Type));
  }
  return Status::success();
}

/// Ids of a special token of a template.
Status templateToken(const Json *Specials, const std::string &Name,
                     int64_t Type, Parts &Out) {
  const Json *Ids = nullptr;
  if (Specials != nullptr && Specials->is_object() &&
      Specials->contains(Name) && (*Specials)[Name].is_object() &&
      (*Specials)[Name].contains("ids"))
    Ids = &(*Specials)[Name]["ids"];
  if (Ids == nullptr || !Ids->is_array())
    return malformedError(
        "tokenizer.json: TemplateProcessing has no ids for '" + Name + "'");
  for (const Json &Id : *Ids) {
    bool Good = Id.is_number_integer() && Id.get<int64_t>() >= 0 &&
                Id.get<int64_t>() <= MaxTokenId;
    if (!Good)
      return malformedError("tokenizer.json: TemplateProcessing: id of '" +
                            Name + "' is " + Id.dump());
    Out.push_back(token(Id.get<int64_t>(), Type));
  }
  return Status::success();
}

/// One entry of a template; appends one text or token list.
Status templatePart(const Json &Part, const Json *Specials, Output &O,
                    std::vector<Parts> &Out) {
  const char *Key = "Sequence";
  if (Part.is_object() && Part.contains("SpecialToken"))
    Key = "SpecialToken";
  Fields<Json> Outer(Part, "TemplateProcessing: entry");
  const Json *Inner = Outer.need(Key, "Sequence or SpecialToken");
  LLMC_RETURN_IF_ERROR(Outer.status());
  Fields<Json> F(*Inner, std::string("TemplateProcessing: ") + Key);
  F.need("id", "a text");
  std::string Id = F.text("id", "");
  int64_t Type = F.number("type_id", 0, 0, INT32_MAX);
  LLMC_RETURN_IF_ERROR(F.status());
  if (std::string_view(Key) == "SpecialToken") {
    Out.emplace_back();
    Status S = templateToken(Specials, Id, Type, Out.back());
    if (!O.AddSpecial)
      Out.pop_back();
    return S;
  }
  if (Id != "A" && Id != "B")
    F.wrong("id", Json(Id), "A or B");
  LLMC_RETURN_IF_ERROR(F.status());
  size_t Index = Id == "B";
  if (Index >= O.Texts.size())
    return malformedError("tokenizer.json: TemplateProcessing names text B for "
                          "a single text");
  Out.push_back(O.Texts[Index]);
  for (OutputPart &Q : Out.back())
    Q.Type = static_cast<int32_t>(Type);
  return Status::success();
}

Status fillTemplate(Fields<Json> &F, Output &O) {
  const char *Key = O.Texts.size() == 2 ? "pair" : "single";
  const Json *List = F.get(Key);
  if (List == nullptr && O.Texts.size() == 2)
    return Status::success(); // one behind the other
  if (List == nullptr)
    List = F.need(Key, "a list");
  LLMC_RETURN_IF_ERROR(F.status());
  if (!List->is_array())
    F.wrong(Key, *List, "a list");
  LLMC_RETURN_IF_ERROR(F.status());
  std::vector<Parts> Out;
  for (const Json &Part : *List)
    LLMC_RETURN_IF_ERROR(templatePart(Part, F.get("special_tokens"), O, Out));
  O.Texts = std::move(Out);
  return Status::success();
}

Status process(const Json &J, Output &O, int Depth) {
  Fields<Json> F(J, "post_processor");
  std::string Type = F.type();
  LLMC_RETURN_IF_ERROR(F.status());
  if (Type == "ByteLevel") // moves offsets only
    return Status::success();
  if (Type == "BertProcessing" || Type == "RobertaProcessing")
    return frame(F, Type == "RobertaProcessing", O);
  // A template has places for two texts; the reference gives up, too.
  if (Type == "TemplateProcessing" && (O.Texts.empty() || O.Texts.size() > 2))
    return unsupportedError(
        "tokenizer.json: post_processor " + Type + " behind another one, of " +
        std::to_string(O.Texts.size()) + " parts, expected at most 2");
  if (Type == "TemplateProcessing")
    return fillTemplate(F, O);
  if (Type != "Sequence")
    return unsupportedError("tokenizer.json: post_processor " + Type +
                            " is not implemented");
  const Json *List = F.need("processors", "a list");
  LLMC_RETURN_IF_ERROR(F.status());
  if (!List->is_array() || Depth > 100)
    return malformedError(
        "tokenizer.json: post_processor Sequence has no list");
  for (const Json &Part : *List)
    LLMC_RETURN_IF_ERROR(process(Part, O, Depth + 1));
  return Status::success();
}

} // namespace

Status readPostProcessor(const std::string &Text, TokenizerConfig &Config) {
  Json J;
  if (!Text.empty()) {
    LLMC_ASSIGN_OR_RETURN(J, parseJsonAs<Json>(Text, "tokenizer.json"));
  }
  for (int Special = 0; Special < 2; ++Special)
    for (int Texts = 1; Texts <= 2; ++Texts) {
      Output O = {{{{OutputPart::First, 0, 0}}}, Special == 1};
      if (Texts == 2)
        O.Texts.push_back({{OutputPart::Second, 0, 1}});
      if (!Text.empty())
        LLMC_RETURN_IF_ERROR(process(J, O, 0));
      Parts &Out = (Texts == 2 ? Config.Pair : Config.Single)[Special];
      Out.clear();
      for (const Parts &P : O.Texts)
        Out.insert(Out.end(), P.begin(), P.end());
    }
  return Status::success();
}

} // namespace llmc
