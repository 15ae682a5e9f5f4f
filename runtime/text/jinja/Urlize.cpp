// Links in a text: what looks like an address or an e-mail address becomes an
// <a> element, without the brackets and full stops around it. The rules are
// those of Jinja's urlize.
#include "runtime/text/Utf8.h"
#include "runtime/text/jinja/Library.h"

#include <algorithm>
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace llmc::jinja {

namespace {

constexpr std::string_view Less = "&lt;", Greater = "&gt;";

/// A compiled pattern that lives as long as the program.
class Pattern {
public:
  explicit Pattern(const char *Source) {
    int Error = 0;
    PCRE2_SIZE At = 0;
    Code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(Source),
                         PCRE2_ZERO_TERMINATED,
                         PCRE2_UTF | PCRE2_UCP | PCRE2_CASELESS |
                             PCRE2_ANCHORED | PCRE2_EXTENDED,
                         &Error, &At, nullptr);
    Match = pcre2_match_context_create(nullptr);
    pcre2_set_match_limit(Match, 100'000);
  }
  /// A match that takes too long is none.
  bool matches(std::string_view S) const {
    pcre2_match_data *Data = pcre2_match_data_create(1, nullptr);
    int Found = pcre2_match(Code, reinterpret_cast<PCRE2_SPTR>(S.data()),
                            S.size(), 0, PCRE2_NO_UTF_CHECK, Data, Match);
    pcre2_match_data_free(Data);
    return Found >= 0;
  }

private:
  pcre2_code *Code = nullptr;
  pcre2_match_context *Match = nullptr;
};

bool isAddress(std::string_view S) {
  static const Pattern P(
      R"((?: (?:https?://|www\.) (?:[\w%-]+\.)* )"
      R"(    (?: [a-z]{2,63} | xn--[\w%]{2,59} ))"
      R"(  | (?:[\w%-]{2,63}\.)+ (?:com|net|int|edu|gov|org|info|mil))"
      R"(  | https?:// (?: \d{1,3} (?:\.\d{1,3}){3} )"
      R"(    | \[ (?:[\da-f]{0,4}:){2} (?:[\da-f]{0,4}:?){1,6} \] ) ))"
      R"((?: :\d{1,5} )? (?: [/?\#]\S* )? $)");
  return P.matches(S);
}

bool isMail(std::string_view S) {
  static const Pattern P(R"(\S+@\w[\w.-]*\.\w+$)");
  return P.matches(S);
}

size_t countOf(std::string_view S, std::string_view What) {
  size_t N = 0;
  for (size_t At = 0; (At = S.find(What, At)) != std::string_view::npos;
       At += What.size())
    ++N;
  return N;
}

/// One word: what opens before it, itself, what closes behind it.
struct Word {
  std::string_view Head;
  std::string Middle, Tail;
};

Word cut(std::string_view S) {
  Word W;
  size_t I = 0;
  while (I < S.size())
    if (S[I] == '(' || S[I] == '<')
      ++I;
    else if (S.substr(I).starts_with(Less))
      I += Less.size();
    else
      break;
  W.Head = S.substr(0, I);
  size_t End = S.size();
  while (End > I)
    if (std::string_view(")>.,\n").find(S[End - 1]) != std::string_view::npos)
      --End;
    else if (S.substr(I, End - I).ends_with(Greater))
      End -= Greater.size();
    else
      break;
  W.Middle = S.substr(I, End - I);
  W.Tail = S.substr(End);
  // Closing brackets belong to the address while it has open ones.
  constexpr std::pair<std::string_view, std::string_view> Brackets[] = {
      {"(", ")"}, {"<", ">"}, {Less, Greater}};
  for (const auto &[Open, Close] : Brackets) {
    size_t Opened = countOf(W.Middle, Open);
    if (Opened <= countOf(W.Middle, Close))
      continue;
    for (size_t N = std::min(Opened, countOf(W.Tail, Close)); N > 0; --N) {
      size_t Behind = W.Tail.find(Close) + Close.size();
      W.Middle += W.Tail.substr(0, Behind);
      W.Tail.erase(0, Behind);
    }
  }
  return W;
}

std::string shortened(const std::string &S, int64_t Limit) {
  std::vector<size_t> Starts = characterStarts(S);
  int64_t N = static_cast<int64_t>(Starts.size()) - 1;
  return Limit < 0 || N <= Limit
             ? S
             : S.substr(0, Starts[static_cast<size_t>(Limit)]) + "...";
}

std::string element(const std::string &Href, const std::string &Attributes,
                    const std::string &Text) {
  return "<a href=\"" + Href + "\"" + Attributes + ">" + Text + "</a>";
}

void link(std::string &M, int64_t Limit, const std::string &Attributes,
          const std::vector<std::string> &Schemes) {
  if (isAddress(M)) {
    bool Scheme = M.starts_with("https://") || M.starts_with("http://");
    M = element(Scheme ? M : "https://" + M, Attributes, shortened(M, Limit));
  } else if (M.starts_with("mailto:") &&
             isMail(std::string_view(M).substr(7))) {
    M = element(M, "", M.substr(7));
  } else if (M.find('@') != std::string::npos && !M.starts_with("www.") &&
             !M.starts_with("@") && M.find(':') == std::string::npos &&
             isMail(M)) {
    M = element("mailto:" + M, "", M);
  } else {
    for (const std::string &S : Schemes)
      if (M != S && M.starts_with(S))
        M = element(M, Attributes, M);
  }
}

} // namespace

std::string linked(std::string_view Text, int64_t Limit,
                   const std::string &Attributes,
                   const std::vector<std::string> &Schemes) {
  std::string Out;
  for (size_t I = 0; I < Text.size();) {
    size_t Begin = I, End = I;
    while (I < Text.size()) {
      size_t Next = I;
      if (isSpace(nextCodePoint(Text, Next)))
        break;
      I = End = Next;
    }
    Word W = cut(Text.substr(Begin, End - Begin));
    link(W.Middle, Limit, Attributes, Schemes);
    Out += W.Head;
    Out += W.Middle + W.Tail;
    while (I < Text.size()) {
      size_t Next = I;
      if (!isSpace(nextCodePoint(Text, Next)))
        break;
      Out += Text.substr(I, Next - I);
      I = Next;
    }
  }
  return Out;
}

} // namespace llmc::jinja
