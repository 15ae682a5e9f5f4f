// utf8proc does the work; plain ASCII is in every normal form already.
#include "runtime/text/Normalizer.h"

#include <algorithm>
#include <cstdlib>
#include <utf8proc.h>

namespace llmc {

namespace {

int optionsOf(NormalForm F) {
  int Stable = UTF8PROC_STABLE;
  switch (F) {
  case NormalForm::C:
    return Stable | UTF8PROC_COMPOSE;
  case NormalForm::D:
    return Stable | UTF8PROC_DECOMPOSE;
  case NormalForm::KC:
    return Stable | UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
  case NormalForm::KD:
    return Stable | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
  }
  return Stable;
}

} // namespace

Result<std::string> normalize(std::string_view Text,
                              const std::vector<NormalForm> &Forms) {
  std::string Out(Text);
  bool Ascii = std::all_of(Text.begin(), Text.end(), [](char C) {
    return static_cast<unsigned char>(C) < 0x80;
  });
  if (Ascii)
    return Out;
  for (NormalForm F : Forms) {
    utf8proc_uint8_t *New = nullptr;
    utf8proc_ssize_t N =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t *>(Out.data()),
                     static_cast<utf8proc_ssize_t>(Out.size()), &New,
                     static_cast<utf8proc_option_t>(optionsOf(F)));
    if (N < 0)
      return malformedError(std::string("text cannot be normalised: ") +
                            utf8proc_errmsg(N));
    Out.assign(reinterpret_cast<const char *>(New), static_cast<size_t>(N));
    std::free(New);
  }
  return Out;
}

} // namespace llmc
