// A member of a JSON object as it is written, for values whose numbers must not
// go through the JSON library: it rounds what does not fit its types.
#ifndef LLMC_RUNTIME_BASE_JSONMEMBER_H
#define LLMC_RUNTIME_BASE_JSONMEMBER_H

#include <cstddef>
#include <string_view>

namespace llmc {

/// The text of member Name of Object, the text of a JSON object that has been
/// parsed before; of several the last. Empty when there is none, or when the
/// name is written with escapes.
inline std::string_view jsonMember(std::string_view Object,
                                   std::string_view Name) {
  std::string_view Found, Last; // Last: the text before, at depth 1
  size_t Begin = 0;             // of the value; 0: no value of Name
  int Depth = 0;
  auto Ends = [&](size_t At) {
    if (Begin != 0)
      Found = Object.substr(Begin, At - Begin);
    Begin = 0;
  };
  for (size_t At = 0; At < Object.size(); ++At) {
    char C = Object[At];
    if (C == '"') {
      size_t From = At + 1;
      for (++At; At < Object.size() && Object[At] != '"'; ++At)
        At += Object[At] == '\\';
      if (Depth == 1 && At < Object.size())
        Last = Object.substr(From, At - From);
    } else if (C == ':' && Depth == 1 && Last == Name) {
      Begin = At + 1;
    } else if (C == ',' && Depth == 1) {
      Ends(At);
      Last = {};
    } else {
      Depth += (C == '[' || C == '{') - (C == ']' || C == '}');
      if (Depth == 0)
        Ends(At);
    }
  }
  return Found;
}

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_JSONMEMBER_H
