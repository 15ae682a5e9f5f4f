// Kinds of characters and the mappings between large and small ones. Python
// uses the full mappings of Unicode, where one character can become several;
// utf8proc has those only for case folding, from which the others follow.
#include "runtime/text/jinja/Characters.h"

#include "runtime/text/Utf8.h"

#include <cstdio>
#include <utf8proc.h>

namespace llmc::jinja {

namespace {

utf8proc_category_t kindOf(uint32_t C) {
  return utf8proc_category(static_cast<int32_t>(C));
}

/// Full case folding of one character: how many code points, at most 4.
size_t foldOf(uint32_t C, int32_t (&Out)[4]) {
  int LastClass = 0;
  utf8proc_ssize_t N = utf8proc_decompose_char(static_cast<int32_t>(C), Out, 4,
                                               UTF8PROC_CASEFOLD, &LastClass);
  return N < 0 || N > 4 ? 0 : static_cast<size_t>(N);
}

uint32_t simpleUpper(uint32_t C) {
  if (C == 0xDF) // utf8proc knows a large one, Unicode does not map to it
    return C;
  return static_cast<uint32_t>(utf8proc_toupper(static_cast<int32_t>(C)));
}

/// Small letters whose large form is several characters.
bool growsToUpper(uint32_t C, int32_t (&Folded)[4], size_t &N) {
  if (C < 0xDF || kindOf(C) == UTF8PROC_CATEGORY_LU)
    return false;
  N = foldOf(C, Folded);
  return N > 1;
}

void appendUpper(std::string &Out, uint32_t C) {
  int32_t Folded[4];
  size_t N = 0;
  if (!growsToUpper(C, Folded, N)) {
    appendUtf8(Out, simpleUpper(C));
    return;
  }
  for (size_t I = 0; I < N; ++I)
    appendUtf8(Out, simpleUpper(static_cast<uint32_t>(Folded[I])));
}

void appendTitle(std::string &Out, uint32_t C) {
  int32_t Folded[4];
  size_t N = 0;
  uint32_t One =
      static_cast<uint32_t>(utf8proc_totitle(static_cast<int32_t>(C)));
  if ((One != C && C != 0xDF) || kindOf(C) == UTF8PROC_CATEGORY_LT ||
      !growsToUpper(C, Folded, N)) {
    appendUtf8(Out, One);
    return;
  }
  if (C == 0x149) { // the apostrophe before it has no large form
    appendUpper(Out, C);
    return;
  }
  appendUtf8(Out, simpleUpper(static_cast<uint32_t>(Folded[0])));
  for (size_t I = 1; I < N; ++I)
    appendUtf8(Out, static_cast<uint32_t>(Folded[I]));
}

/// Unicode's Case_Ignorable, which a final sigma looks past.
bool isIgnorable(uint32_t C) {
  switch (kindOf(C)) {
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_ME:
  case UTF8PROC_CATEGORY_CF:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_SK:
    return true;
  default:
    return C == '\'' || C == '.' || C == ':' || C == 0xB7 || C == 0x387 ||
           C == 0x55F || C == 0x5F4 || C == 0x2018 || C == 0x2019 ||
           C == 0x2024 || C == 0x2027 || C == 0xFE13 || C == 0xFE52 ||
           C == 0xFE55 || C == 0xFF07 || C == 0xFF0E || C == 0xFF1A;
  }
}

size_t previousStart(std::string_view S, size_t I) {
  do
    --I;
  while (I > 0 && (S[I] & 0xC0) == 0x80);
  return I;
}

/// Whether the sigma in [Begin, End) ends a word.
bool isFinal(std::string_view S, size_t Begin, size_t End) {
  bool Before = false;
  for (size_t I = Begin; I > 0 && !Before;) {
    I = previousStart(S, I);
    size_t At = I;
    uint32_t C = nextCodePoint(S, At);
    if (!isIgnorable(C)) {
      Before = isCased(C);
      break;
    }
  }
  if (!Before)
    return false;
  for (size_t I = End; I < S.size();) {
    uint32_t C = nextCodePoint(S, I);
    if (!isIgnorable(C))
      return !isCased(C);
  }
  return true;
}

/// The character of S in [Begin, End).
void appendLower(std::string &Out, std::string_view S, size_t Begin, size_t End,
                 uint32_t C) {
  if (C == 0x130)
    Out += "i\xCC\x87";
  else if (C == 0x3A3)
    Out += isFinal(S, Begin, End) ? "\xCF\x82" : "\xCF\x83";
  else
    appendUtf8(
        Out, static_cast<uint32_t>(utf8proc_tolower(static_cast<int32_t>(C))));
}

} // namespace

bool isSpace(uint32_t C) {
  if (C < 0x80)
    return C == ' ' || (C >= 9 && C <= 13) || (C >= 0x1C && C <= 0x1F);
  utf8proc_category_t K = kindOf(C);
  return C == 0x85 || K == UTF8PROC_CATEGORY_ZS || K == UTF8PROC_CATEGORY_ZL ||
         K == UTF8PROC_CATEGORY_ZP;
}
bool isLineEnd(uint32_t C) {
  return (C >= 10 && C <= 13) || (C >= 0x1C && C <= 0x1E) || C == 0x85 ||
         C == 0x2028 || C == 0x2029;
}
bool isPrintable(uint32_t C) {
  if (C < 0x7F)
    return C >= ' ';
  switch (kindOf(C)) {
  case UTF8PROC_CATEGORY_CN:
  case UTF8PROC_CATEGORY_CC:
  case UTF8PROC_CATEGORY_CF:
  case UTF8PROC_CATEGORY_CS:
  case UTF8PROC_CATEGORY_CO:
  case UTF8PROC_CATEGORY_ZS:
  case UTF8PROC_CATEGORY_ZL:
  case UTF8PROC_CATEGORY_ZP:
    return false;
  default:
    return true;
  }
}
bool isLetter(uint32_t C) {
  utf8proc_category_t K = kindOf(C);
  return K >= UTF8PROC_CATEGORY_LU && K <= UTF8PROC_CATEGORY_LO;
}
bool isWord(uint32_t C) { return C == '_' || isLetter(C) || isNumeric(C); }
bool isUpper(uint32_t C) {
  return kindOf(C) == UTF8PROC_CATEGORY_LU || (C >= 0x2160 && C <= 0x216F) ||
         (C >= 0x24B6 && C <= 0x24CF) || (C >= 0x1F130 && C <= 0x1F149) ||
         (C >= 0x1F150 && C <= 0x1F169) || (C >= 0x1F170 && C <= 0x1F189);
}
bool isLower(uint32_t C) {
  // The rest is Unicode's Other_Lowercase.
  return kindOf(C) == UTF8PROC_CATEGORY_LL || C == 0xAA || C == 0xBA ||
         (C >= 0x2B0 && C <= 0x2B8) || C == 0x2C0 || C == 0x2C1 ||
         (C >= 0x2E0 && C <= 0x2E4) || C == 0x345 || C == 0x37A ||
         (C >= 0x1D2C && C <= 0x1D6A) || C == 0x1D78 ||
         (C >= 0x1D9B && C <= 0x1DBF) || C == 0x2071 || C == 0x207F ||
         (C >= 0x2090 && C <= 0x209C) || (C >= 0x2170 && C <= 0x217F) ||
         (C >= 0x24D0 && C <= 0x24E9) || C == 0x2C7C || C == 0x2C7D ||
         C == 0xA69C || C == 0xA69D || C == 0xA770 || C == 0xA7F8 ||
         C == 0xA7F9 || (C >= 0xAB5C && C <= 0xAB5F);
}
bool isTitle(uint32_t C) { return kindOf(C) == UTF8PROC_CATEGORY_LT; }
bool isDecimal(uint32_t C) { return kindOf(C) == UTF8PROC_CATEGORY_ND; }
bool isDigitLike(uint32_t C) {
  return isDecimal(C) || C == 0xB2 || C == 0xB3 || C == 0xB9 || C == 0x2070 ||
         (C >= 0x2074 && C <= 0x2079) || (C >= 0x2080 && C <= 0x2089) ||
         (C >= 0x2460 && C <= 0x2468) || (C >= 0x2474 && C <= 0x247C) ||
         (C >= 0x2488 && C <= 0x2490) || C == 0x24EA ||
         (C >= 0x24F5 && C <= 0x24FD) || C == 0x24FF ||
         (C >= 0x2776 && C <= 0x277E) || (C >= 0x2780 && C <= 0x2788) ||
         (C >= 0x278A && C <= 0x2792) || (C >= 0x1F100 && C <= 0x1F10A);
}
bool isNumeric(uint32_t C) {
  utf8proc_category_t K = kindOf(C);
  if (K >= UTF8PROC_CATEGORY_ND && K <= UTF8PROC_CATEGORY_NO)
    return true;
  // Han numerals.
  for (uint32_t N :
       {0x3405, 0x3483, 0x382A, 0x3B4D, 0x4E00, 0x4E03, 0x4E07, 0x4E09, 0x4E5D,
        0x4E8C, 0x4E94, 0x4E96, 0x4EBF, 0x4EC0, 0x4EDF, 0x4EE8, 0x4F0D, 0x4F70,
        0x5104, 0x5146, 0x5169, 0x516B, 0x516D, 0x5341, 0x5343, 0x5344, 0x5345,
        0x534C, 0x53C1, 0x53C2, 0x53C3, 0x53C4, 0x56DB, 0x58F1, 0x58F9, 0x5E7A,
        0x5EFE, 0x5EFF, 0x5F0C, 0x5F0D, 0x5F0E, 0x5F10, 0x62FE, 0x634C, 0x67D2,
        0x6F06, 0x7396, 0x767E, 0x8086, 0x842C, 0x8CAE, 0x8CB3, 0x8D30, 0x9621,
        0x9646, 0x964C, 0x9678, 0x96F6})
    if (C == N)
      return true;
  return false;
}

void appendEscaped(std::string &Out, uint32_t C) {
  char Buffer[16];
  std::snprintf(Buffer, sizeof(Buffer),
                C < 0x100     ? "\\x%02x"
                : C < 0x10000 ? "\\u%04x"
                              : "\\U%08x",
                C);
  Out += Buffer;
}

std::string upperCase(std::string_view S) {
  std::string Out;
  for (size_t I = 0; I < S.size();)
    appendUpper(Out, nextCodePoint(S, I));
  return Out;
}
std::string lowerCase(std::string_view S) {
  std::string Out;
  for (size_t I = 0; I < S.size();) {
    size_t Begin = I;
    uint32_t C = nextCodePoint(S, I);
    appendLower(Out, S, Begin, I, C);
  }
  return Out;
}
std::string foldedCase(std::string_view S) {
  std::string Out;
  for (size_t I = 0; I < S.size();) {
    uint32_t C = nextCodePoint(S, I);
    int32_t Folded[4];
    size_t N = foldOf(C, Folded);
    if (N == 0)
      appendUtf8(Out, C);
    for (size_t J = 0; J < N; ++J)
      appendUtf8(Out, static_cast<uint32_t>(Folded[J]));
  }
  return Out;
}
std::string swappedCase(std::string_view S) {
  std::string Out;
  for (size_t I = 0; I < S.size();) {
    size_t Begin = I;
    uint32_t C = nextCodePoint(S, I);
    if (isUpper(C))
      appendLower(Out, S, Begin, I, C);
    else if (isLower(C))
      appendUpper(Out, C);
    else
      appendUtf8(Out, C);
  }
  return Out;
}
std::string capitalized(std::string_view S) {
  std::string Out;
  for (size_t I = 0; I < S.size();) {
    size_t Begin = I;
    uint32_t C = nextCodePoint(S, I);
    if (Begin == 0)
      appendTitle(Out, C);
    else
      appendLower(Out, S, Begin, I, C);
  }
  return Out;
}
std::string titleCase(std::string_view S) {
  std::string Out;
  bool Inside = false;
  for (size_t I = 0; I < S.size();) {
    size_t Begin = I;
    uint32_t C = nextCodePoint(S, I);
    if (Inside)
      appendLower(Out, S, Begin, I, C);
    else
      appendTitle(Out, C);
    Inside = isCased(C);
  }
  return Out;
}
std::string titleWords(std::string_view S) {
  std::string Out;
  for (size_t I = 0; I < S.size();) {
    size_t Begin = I;
    uint32_t C = nextCodePoint(S, I);
    bool Cut =
        isSpace(C) ||
        (C < 0x80 && std::string_view("-({[<").find(static_cast<char>(C)) !=
                         std::string_view::npos);
    if (Cut) {
      Out += S.substr(Begin, I - Begin);
      continue;
    }
    appendUpper(Out, C);
    size_t Rest = I;
    while (I < S.size()) {
      size_t Next = I;
      C = nextCodePoint(S, Next);
      if (isSpace(C) ||
          (C < 0x80 && std::string_view("-({[<").find(static_cast<char>(C)) !=
                           std::string_view::npos))
        break;
      I = Next;
    }
    Out += lowerCase(S.substr(Rest, I - Rest));
  }
  return Out;
}

} // namespace llmc::jinja
