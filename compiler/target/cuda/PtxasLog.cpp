// Reads the resource lines of ptxas:
//   … Compiling entry function 'name' for 'sm_80'
//   … Function properties for name
//       N bytes stack frame, N bytes spill stores, N bytes spill loads
//   … Used N registers, …, N bytes smem, N bytes lmem, …
#include "compiler/target/cuda/PtxasLog.h"

#include <algorithm>

namespace llmc::cuda {

/// The number before the words What in Line, 0 if they are not there.
static uint32_t numberBefore(std::string_view Line, std::string_view What) {
  size_t At = Line.find(What);
  if (At == std::string_view::npos)
    return 0;
  size_t End = At;
  while (End != 0 && Line[End - 1] == ' ')
    --End;
  size_t Begin = End;
  while (Begin != 0 && Line[Begin - 1] >= '0' && Line[Begin - 1] <= '9')
    --Begin;
  uint32_t Value = 0;
  for (char C : Line.substr(Begin, End - Begin))
    Value = Value * 10 + static_cast<uint32_t>(C - '0');
  return Value;
}

static std::string_view quoted(std::string_view Line) {
  size_t Begin = Line.find('\'');
  size_t End = Line.find('\'', Begin + 1);
  if (Begin == std::string_view::npos || End == std::string_view::npos)
    return {};
  return Line.substr(Begin + 1, End - Begin - 1);
}

std::vector<KernelFacts> parsePtxasLog(std::string_view Log) {
  std::vector<KernelFacts> Kernels;
  while (!Log.empty()) {
    size_t End = std::min(Log.find('\n'), Log.size());
    std::string_view Line = Log.substr(0, End);
    Log.remove_prefix(std::min(End + 1, Log.size()));
    if (Line.find("Compiling entry function") != std::string_view::npos) {
      Kernels.emplace_back();
      Kernels.back().Name = std::string(quoted(Line));
      continue;
    }
    if (Kernels.empty())
      continue;
    KernelFacts &K = Kernels.back();
    if (Line.find("bytes stack frame") != std::string_view::npos) {
      K.LocalBytes =
          std::max(K.LocalBytes, numberBefore(Line, "bytes stack frame"));
      K.SpillBytes += numberBefore(Line, "bytes spill stores") +
                      numberBefore(Line, "bytes spill loads");
    } else if (Line.find("Used ") != std::string_view::npos) {
      K.Registers = numberBefore(Line, "registers");
      K.SharedBytes = numberBefore(Line, "bytes smem");
      K.LocalBytes = std::max(K.LocalBytes, numberBefore(Line, "bytes lmem"));
    }
  }
  return Kernels;
}

} // namespace llmc::cuda
