// utf8proc has the tables. Its own driver sorts the marks of a character by
// exchanging neighbours, which takes for ever on a megabyte of marks; so the
// steps are taken one by one here: decompose, sort each run of marks, compose.
// Characters that the library does not know end a stretch and stay.
#include "runtime/text/UnicodeForms.h"

#include "runtime/text/Unicode.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <utf8proc.h>
#include <vector>

namespace llmc {

namespace {

int markClass(int32_t C) { return utf8proc_get_property(C)->combining_class; }

class Stretch {
public:
  explicit Stretch(NormalForm F) {
    Options = UTF8PROC_STABLE;
    bool Compose = F == NormalForm::C || F == NormalForm::KC;
    Options |= Compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
    if (F == NormalForm::KC || F == NormalForm::KD)
      Options |= UTF8PROC_COMPAT;
  }

  void add(uint32_t C) {
    int32_t Parts[32];
    int Boundary = 0;
    utf8proc_ssize_t N = utf8proc_decompose_char(
        static_cast<int32_t>(C), Parts, 32,
        static_cast<utf8proc_option_t>(Options), &Boundary);
    if (N < 0 || N > 32)
      Points.push_back(static_cast<int32_t>(C));
    else
      Points.insert(Points.end(), Parts, Parts + N);
  }

  void flush(std::string &Out) {
    if (Points.empty())
      return;
    sortMarks();
    utf8proc_ssize_t N = utf8proc_normalize_utf32(
        Points.data(), static_cast<utf8proc_ssize_t>(Points.size()),
        static_cast<utf8proc_option_t>(Options));
    for (utf8proc_ssize_t I = 0; I < N; ++I)
      appendUtf8(Out, static_cast<uint32_t>(Points[I]));
    Points.clear();
  }

private:
  void sortMarks() {
    for (size_t I = 0; I < Points.size();) {
      size_t End = I;
      while (End < Points.size() && markClass(Points[End]) != 0)
        ++End;
      if (End > I + 1)
        std::stable_sort(
            Points.begin() + I, Points.begin() + End,
            [](int32_t A, int32_t B) { return markClass(A) < markClass(B); });
      I = End + 1;
    }
  }

  int Options = 0;
  std::vector<int32_t> Points;
};

} // namespace

std::string toNormalForm(std::string_view Text, NormalForm F) {
  // Below this every character is in the form, and stays unless a mark
  // follows.
  const uint32_t Plain = F == NormalForm::C ? 0x300 : 0x80;
  std::string Out;
  Out.reserve(Text.size());
  Stretch S(F);
  size_t PlainBegin = 0, LastBegin = 0; // plain characters not copied yet
  bool InStretch = false;
  for (size_t At = 0; At < Text.size();) {
    size_t Begin = At;
    uint32_t C = nextCodePoint(Text, At);
    bool Unknown = charClass(C) & NoNormalForm;
    if (C < Plain || Unknown) {
      if (InStretch)
        S.flush(Out), PlainBegin = Begin;
      InStretch = false;
      LastBegin = Unknown ? At : Begin;
      continue;
    }
    if (!InStretch) {
      // The last plain character may take the marks that follow it.
      Out.append(Text.substr(PlainBegin, LastBegin - PlainBegin));
      for (size_t I = LastBegin; I < Begin;)
        S.add(nextCodePoint(Text, I));
      InStretch = true;
    }
    S.add(C);
  }
  if (InStretch)
    S.flush(Out);
  else
    Out.append(Text.substr(PlainBegin));
  return Out;
}

} // namespace llmc
