// Ends text at a stop string, wherever the text is cut into pieces. Gives out
// everything except the longest tail that may still become a stop string.
#ifndef LLMC_RUNTIME_ENGINE_STOPMATCHER_H
#define LLMC_RUNTIME_ENGINE_STOPMATCHER_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

class StopMatcher {
public:
  /// Empty stop strings are ignored.
  explicit StopMatcher(const std::vector<std::string> &Stops);

  /// Text that is certain after this piece. Once a stop string is complete,
  /// stopped() is true, nothing more comes, and the stop string is left out.
  std::string push(std::string_view Piece);
  /// The end of the text: what was held back.
  std::string finish();

  bool stopped() const { return Found >= 0; }
  /// The stop string that was found; only when stopped().
  const std::string &stop() const { return Stops[Found].Text; }

private:
  /// A stop string with the state of its search (Knuth, Morris, Pratt).
  struct Pattern {
    std::string Text;
    std::vector<size_t> Fallback;
    size_t Matched = 0;
  };
  std::vector<Pattern> Stops;
  std::string Held;
  int Found = -1;
};

} // namespace llmc

#endif // LLMC_RUNTIME_ENGINE_STOPMATCHER_H
