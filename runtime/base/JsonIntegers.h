// Integers of a JSON text that the JSON library cannot hold: it makes floating
// point numbers of them without a word, so texts whose numbers come out again
// are looked at before they are parsed.
#ifndef LLMC_RUNTIME_BASE_JSONINTEGERS_H
#define LLMC_RUNTIME_BASE_JSONINTEGERS_H

#include "runtime/base/Status.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace llmc {

/// Success when every integer of a JSON text fits in 64 signed bits; else
/// unsupported, naming What and the integer. Text need not be JSON.
inline Status checkJsonIntegers(std::string_view Json,
                                const std::string &What) {
  auto IsPart = [](char C) {
    return (C >= '0' && C <= '9') || C == '.' || C == 'e' || C == 'E' ||
           C == '+' || C == '-';
  };
  for (size_t At = 0; At < Json.size();) {
    if (Json[At] == '"') {
      for (++At; At < Json.size() && Json[At] != '"'; ++At)
        At += Json[At] == '\\';
      ++At;
      continue;
    }
    size_t End = At;
    while (End < Json.size() && IsPart(Json[End]))
      ++End;
    std::string_view Number = Json.substr(At, End - At);
    int64_t Value = 0;
    if (Number.size() > 18 &&
        Number.find_first_of(".eE") == std::string_view::npos &&
        std::from_chars(Number.data(), Number.data() + Number.size(), Value)
                .ec == std::errc::result_out_of_range)
      return unsupportedError(
          What + ": integer " + std::string(Number.substr(0, 40)) +
          (Number.size() > 40 ? "…" : "") + " does not fit in 64 bits");
    At = std::max(End, At + 1);
  }
  return Status::success();
}

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_JSONINTEGERS_H
