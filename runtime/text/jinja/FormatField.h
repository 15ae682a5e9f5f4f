// One field of a format, as '%5.2f' and '{:>5.2f}' describe it, and its layout.
#ifndef LLMC_RUNTIME_TEXT_JINJA_FORMATFIELD_H
#define LLMC_RUNTIME_TEXT_JINJA_FORMATFIELD_H

#include <cstdint>
#include <string>

namespace llmc::jinja {

inline constexpr int64_t MaxWidth = 100'000, MaxPrecision = 400;

/// One field: [[fill]align][sign][#][0][width][grouping][.precision][type].
struct Field {
  std::string Fill = " ";
  bool Zero = false; ///< a 0 before the width
  char Align = 0;    ///< < > ^ =, 0: as the kind of value has it
  char Sign = '-';
  bool Signed = false; ///< it was given
  bool Alternate = false;
  int64_t Width = 0, Precision = -1;
  char Grouping = 0;
  char Type = 0;
};

/// S filled up to the width (in characters); '=' fills behind sign and 0x.
std::string padTo(std::string S, const Field &F, char Align);
/// An integer: types d x X o b (others as d).
std::string wholeText(int64_t I, const Field &F);
/// A real number: types e f g % and their capitals, n, or none.
std::string realField(double D, const Field &F);

} // namespace llmc::jinja

#endif // LLMC_RUNTIME_TEXT_JINJA_FORMATFIELD_H
