// Filters that work on texts.
#include "runtime/text/Utf8.h"
#include "runtime/text/jinja/FilterTable.h"

#include <algorithm>
#include <set>

namespace llmc::jinja {

namespace {

/// HTML in, HTML out.
Value like(const Value &In, std::string S) {
  return In.isMarkup() ? Value::markup(std::move(S))
                       : Value::string(std::move(S));
}

bool needsText(Context &C, const Value &V, std::string_view Filter) {
  if (!V.isString())
    C.fail(V.isUndefined() ? V.why()
                           : std::string(Filter) + " needs a text, not " +
                                 std::string(V.typeName()));
  return V.isString();
}

Value escape(Context &C, const Value &V, const Arguments &) {
  return C.room(V.weight()) ? escapedValue(V) : Value();
}
Value forceEscape(Context &C, const Value &V, const Arguments &) {
  return C.room(V.weight()) ? Value::markup(escaped(display(V))) : Value();
}
Value safe(Context &C, const Value &V, const Arguments &) {
  return C.charge(V.weight()) ? Value::markup(display(V)) : Value();
}
Value asText(Context &C, const Value &V, const Arguments &) {
  if (V.isString())
    return V;
  return C.charge(V.weight()) ? Value::string(display(V)) : Value();
}

template <std::string (*Change)(std::string_view)>
Value changed(Context &C, const Value &V, const Arguments &) {
  return C.charge(V.weight()) ? like(V, Change(display(V))) : Value();
}

Value indent(Context &C, const Value &V, const Arguments &A) {
  if (!needsText(C, V, "indent"))
    return Value();
  const Value *Width = A.get(0, "width");
  std::string By = Width && Width->isString()
                       ? Width->asString()
                       : std::string(static_cast<size_t>(std::clamp<int64_t>(
                                         numberOf(Width, 4), 0, 1000)),
                                     ' ');
  bool First = flagOf(A.get(1, "first"), false);
  bool Blank = flagOf(A.get(2, "blank"), false);
  std::vector<std::string> Lines = linesOf(V.asString() + "\n", false);
  if (!C.room(V.asString().size() + Lines.size() * By.size()))
    return Value();
  std::string Out = First ? By : "";
  for (size_t I = 0; I < Lines.size(); ++I) {
    if (I != 0)
      Out += '\n';
    if (I != 0 && (!Lines[I].empty() || Blank))
      Out += By;
    Out += Lines[I];
  }
  return like(V, std::move(Out));
}

Value trim(Context &C, const Value &V, const Arguments &A) {
  const Value *Chars = A.get(0, "chars");
  (void)C.charge(V.weight());
  return like(V,
              strip(display(V),
                    Chars && Chars->isString() ? &Chars->asString() : nullptr,
                    Side::Both));
}

Value replaceFilter(Context &C, const Value &V, const Arguments &A) {
  const Value *Old = A.get(0, "old"), *New = A.get(1, "new");
  if (Old == nullptr || New == nullptr)
    return C.fail("replace needs the old and the new text");
  int64_t Count = numberOf(A.get(2, "count"), -1);
  bool Html =
      C.AutoEscape && (V.isMarkup() || Old->isMarkup() || New->isMarkup());
  if (!Html)
    return replaceText(C, display(V), display(*Old), display(*New), Count);
  Value Out =
      replaceText(C, escapedValue(V).asString(), escapedValue(*Old).asString(),
                  escapedValue(*New).asString(), Count);
  return Value::markup(Out.asString());
}

std::string percentEncoded(std::string_view S, bool Query) {
  constexpr char Hex[] = "0123456789ABCDEF";
  std::string Out;
  for (char Ch : S) {
    uint8_t B = static_cast<uint8_t>(Ch);
    if ((B < 0x80 && std::isalnum(B)) ||
        std::string_view("_.-~").find(Ch) != std::string_view::npos ||
        (Ch == '/' && !Query)) {
      Out += Ch;
    } else if (Ch == ' ' && Query) {
      Out += '+';
    } else {
      Out += '%';
      Out += Hex[B >> 4];
      Out += Hex[B & 15];
    }
  }
  return Out;
}

/// A text as part of a path; a dict or pairs as a query.
Value urlEncode(Context &C, const Value &V, const Arguments &) {
  Value::Items Pairs;
  Object *O = V.asObject();
  bool Several =
      V.isDict() || V.isSequence() ||
      (O && (O->What == Object::Type::Iterator ||
             O->What == Object::Type::View || O->What == Object::Type::Range));
  if (!Several)
    return Value::string(percentEncoded(display(V), false));
  Pairs = C.iterate(V.isDict() ? callMethod(C, V, "items", {}) : V);
  std::string Out;
  for (const Value &P : Pairs) {
    Value::Items Two = C.iterate(P);
    if (C.failed() || Two.size() != 2)
      return C.fail("urlencode needs pairs, found " +
                    std::to_string(Two.size()) + " values");
    Out += (Out.empty() ? "" : "&") + percentEncoded(display(Two[0]), true) +
           "=" + percentEncoded(display(Two[1]), true);
    if (!C.room(Out.size()))
      return Value();
  }
  return Value::string(std::move(Out));
}

Value wordCount(Context &C, const Value &V, const Arguments &) {
  std::string S = display(V);
  if (!C.charge(S.size()))
    return Value();
  int64_t N = 0;
  bool Inside = false;
  for (size_t I = 0; I < S.size();) {
    bool Word = isWord(nextCodePoint(S, I));
    N += Word && !Inside;
    Inside = Word;
  }
  return Value::integer(N);
}

/// The method of the same name.
Value center(Context &C, const Value &V, const Arguments &A) {
  Arguments Width = A;
  if (A.get(0, "width") == nullptr)
    Width.Positional.push_back(Value::integer(80));
  return callMethod(C, like(V, display(V)), "center", Width);
}

Value truncate(Context &C, const Value &V, const Arguments &A) {
  int64_t Length = numberOf(A.get(0, "length"), 255);
  std::string End = textOf(A.get(2, "end"), "...");
  const Value *Given = A.get(3, "leeway");
  int64_t Leeway = Given && !Given->isNone() ? numberOf(Given, 5) : 5;
  int64_t EndSize = static_cast<int64_t>(characterCount(End));
  if (Length < EndSize)
    return C.fail("expected length >= " + std::to_string(EndSize) + ", got " +
                  std::to_string(Length));
  if (Leeway < 0)
    return C.fail("expected leeway >= 0, got " + std::to_string(Leeway));
  size_t Size = 0;
  if (!V.isUndefined() && !C.lengthOf(V, Size))
    return Value();
  // Without an overflow: Size <= Length + Leeway.
  if (static_cast<int64_t>(Size) - Length <= Leeway)
    return V;
  if (!needsText(C, V, "truncate"))
    return Value();
  std::vector<size_t> Starts = characterStarts(V.asString());
  std::string S =
      V.asString().substr(0, Starts[static_cast<size_t>(Length - EndSize)]);
  if (!flagOf(A.get(1, "killwords"), false))
    S = S.substr(0, S.rfind(' '));
  return like(V, S + End);
}

Value wordWrap(Context &C, const Value &V, const Arguments &A) {
  if (!needsText(C, V, "wordwrap") || !C.charge(V.asString().size() * 4))
    return Value();
  int64_t Width = numberOf(A.get(0, "width"), 79);
  bool BreakLong = flagOf(A.get(1, "break_long_words"), true);
  const Value *By = A.get(2, "wrapstring");
  std::string Between = By && !By->isNone() ? display(*By) : "\n";
  bool Hyphens = flagOf(A.get(3, "break_on_hyphens"), true);
  if (Width <= 0)
    return C.fail("invalid width " + std::to_string(Width) + " (must be > 0)");
  std::string Out;
  bool First = true;
  for (const std::string &Line : linesOf(V.asString(), false)) {
    if (!First)
      Out += Between;
    First = true;
    for (const std::string &Part : wrapped(Line, Width, BreakLong, Hyphens)) {
      if (!First)
        Out += Between;
      Out += Part;
      First = false;
      if (!C.room(Out.size() > Context::MaxText ? Out.size() : 0))
        return Value();
    }
    First = false;
  }
  return Value::string(std::move(Out));
}

/// The entities that escaping makes, the most usual names, and numbers.
std::string unescaped(std::string_view S) {
  constexpr std::pair<std::string_view, std::string_view> Names[] = {
      {"amp;", "&"},
      {"lt;", "<"},
      {"gt;", ">"},
      {"quot;", "\""},
      {"apos;", "'"},
      {"nbsp;", "\xC2\xA0"},
      {"copy;", "\xC2\xA9"},
      {"reg;", "\xC2\xAE"},
      {"laquo;", "\xC2\xAB"},
      {"raquo;", "\xC2\xBB"},
      {"mdash;", "\xE2\x80\x94"},
      {"ndash;", "\xE2\x80\x93"},
      {"hellip;", "\xE2\x80\xA6"},
      {"euro;", "\xE2\x82\xAC"}};
  std::string Out;
  for (size_t I = 0; I < S.size(); ++I) {
    if (S[I] != '&') {
      Out += S[I];
      continue;
    }
    std::string_view Rest = S.substr(I + 1);
    bool Found = false;
    for (const auto &[Name, Text] : Names)
      if (Rest.starts_with(Name)) {
        Out += Text;
        I += Name.size();
        Found = true;
        break;
      }
    if (Found)
      continue;
    bool Hex = Rest.starts_with("#x") || Rest.starts_with("#X");
    size_t At = Hex ? 2 : 1, End = Rest.find(';');
    int64_t P = 0;
    if (Rest.starts_with('#') && End != std::string_view::npos && End > At &&
        End < 10 && parseInteger(Rest.substr(At, End - At), Hex ? 16 : 10, P) &&
        P > 0 && P < 0x110000 && P >> 11 != 27) {
      appendUtf8(Out, static_cast<uint32_t>(P));
      I += End + 1;
    } else {
      Out += '&';
    }
  }
  return Out;
}

Value stripTags(Context &C, const Value &V, const Arguments &) {
  std::string S = display(V), Kept;
  size_t At = 0;
  for (size_t Open; (Open = S.find('<', At)) != std::string::npos;) {
    bool Comment = S.compare(Open, 4, "<!--") == 0;
    size_t Close = Comment ? S.find("-->", Open + 4) : S.find('>', Open);
    if (Close == std::string::npos)
      break;
    Kept.append(S, At, Open - At);
    At = Close + (Comment ? 3 : 1);
  }
  Kept.append(S, At);
  std::string Out;
  for (const std::string &W : wordsOf(Kept))
    Out += (Out.empty() ? "" : " ") + W;
  (void)C.room(S.size());
  return Value::string(unescaped(Out));
}

Value xmlAttributes(Context &C, const Value &V, const Arguments &A) {
  if (!V.isDict())
    return C.fail("xmlattr needs a dict, not " + std::string(V.typeName()));
  std::string Out;
  for (const auto &[Key, M] : V.members()) {
    if (M.isNone() || M.isUndefined())
      continue;
    std::string Name = display(Key);
    for (size_t I = 0; I < Name.size();) {
      uint32_t P = nextCodePoint(Name, I);
      if (isSpace(P) || P == '/' || P == '>' || P == '=')
        return C.fail("invalid character in attribute name: " + quoted(Name));
    }
    Out += (Out.empty() ? "" : " ") + escapedValue(Key).asString() + "=\"" +
           escapedValue(M).asString() + "\"";
    if (!C.room(Out.size()))
      return Value();
  }
  if (flagOf(A.get(0, "autospace"), true) && !Out.empty())
    Out.insert(0, 1, ' ');
  return C.made(std::move(Out));
}

Value urlize(Context &C, const Value &V, const Arguments &A) {
  const Value *Limit = A.get(0, "trim_url_limit");
  const Value *Target = A.get(2, "target"), *Rel = A.get(3, "rel");
  std::set<std::string> Parts = {"noopener"};
  if (flagOf(A.get(1, "nofollow"), false))
    Parts.insert("nofollow");
  if (Rel && !Rel->isNone())
    for (const std::string &W : wordsOf(display(*Rel)))
      Parts.insert(W);
  std::string Attributes;
  for (const std::string &P : Parts)
    Attributes += (Attributes.empty() ? "" : " ") + P;
  Attributes = " rel=\"" + escaped(Attributes) + "\"";
  if (Target && Target->truthy())
    Attributes += " target=\"" + escapedValue(*Target).asString() + "\"";
  std::vector<std::string> Schemes;
  if (const Value *S = A.get(4, "extra_schemes"); S && !S->isNone())
    for (const Value &I : C.iterate(*S)) {
      Schemes.push_back(display(I));
      const std::string &Name = Schemes.back();
      size_t End = Name.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-");
      std::string_view Rest =
          std::string_view(Name).substr(std::min(End, Name.size()));
      if (End < 2 || !(Rest == ":" || Rest == ":/" || Rest == "://"))
        return C.fail(quoted(Name) + " is not a valid URI scheme prefix.");
    }
  std::string Text = escapedValue(V).asString();
  if (!C.charge(Text.size() * 8))
    return Value();
  std::string Out =
      linked(Text, Limit && Limit->isInteger() ? Limit->asInteger() : -1,
             Attributes, Schemes);
  return C.room(Out.size()) ? C.made(std::move(Out)) : Value();
}

Value formatFilter(Context &C, const Value &V, const Arguments &A) {
  if (!A.Positional.empty() && !A.Named.empty())
    return C.fail("can't handle positional and keyword arguments at the same "
                  "time");
  Value::Members M;
  for (const auto &[Name, Member] : A.Named)
    M.emplace_back(Value::string(Name), Member);
  return formatPercent(C, like(V, display(V)),
                       A.Named.empty() ? Value::tuple(A.Positional)
                                       : Value::dict(std::move(M)));
}

constexpr FilterEntry Table[] = {
    {"capitalize", "", changed<capitalized>},
    {"center", "width", center},
    {"e", "", escape},
    {"escape", "", escape},
    {"forceescape", "", forceEscape},
    {"format", "*", formatFilter},
    {"indent", "width first blank", indent},
    {"lower", "", changed<lowerCase>},
    {"replace", "old new count", replaceFilter},
    {"safe", "", safe},
    {"string", "", asText},
    {"striptags", "", stripTags},
    {"title", "", changed<titleWords>},
    {"trim", "chars", trim},
    {"truncate", "length killwords end leeway", truncate},
    {"upper", "", changed<upperCase>},
    {"urlencode", "", urlEncode},
    {"urlize", "trim_url_limit nofollow target rel extra_schemes", urlize},
    {"wordcount", "", wordCount},
    {"wordwrap", "width break_long_words wrapstring break_on_hyphens",
     wordWrap},
    {"xmlattr", "autospace", xmlAttributes},
};

} // namespace

std::span<const FilterEntry> textFilters() { return Table; }

} // namespace llmc::jinja
