// Lines of a text file, one by one.
#ifndef LLMC_RUNTIME_TEXT_LINES_H
#define LLMC_RUNTIME_TEXT_LINES_H

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace llmc {

/// Borrows the text. A line ends before "\n" or "\r\n"; an end of line at the
/// end of the text begins no further line.
class Lines {
public:
  explicit Lines(std::string_view Text) : Text(Text) {}

  /// False at the end.
  bool next(std::string_view &Line) {
    if (At >= Text.size())
      return false;
    size_t End = std::min(Text.find('\n', At), Text.size());
    Line = Text.substr(At, End - At);
    At = End + 1;
    ++Count;
    if (Line.ends_with('\r'))
      Line.remove_suffix(1);
    return true;
  }
  /// Of the last line, from 1.
  size_t number() const { return Count; }

private:
  std::string_view Text;
  size_t At = 0, Count = 0;
};

} // namespace llmc

#endif // LLMC_RUNTIME_TEXT_LINES_H
