// Fuzzer of the front ends: the first byte picks the notation, a zero byte
// ends the constraint, what follows is a text to feed. Whatever is compiled
// must take the text without harm, and a live state must go on.
#include "runtime/text/constraint/Automaton.h"
#include "runtime/text/constraint/Compile.h"
#include "runtime/text/constraint/GrammarImage.h"

#include <cstdlib>

using namespace llmc::constraint;

#ifndef LLMC_FUZZ_DIALECT
#define LLMC_FUZZ_DIALECT Data[0] & 3
#endif

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size == 0)
    return 0;
  std::string_view All(reinterpret_cast<const char *>(Data) + 1, Size - 1);
  std::string_view Source = All.substr(0, All.find('\0'));
  std::string_view Text = All.substr(std::min(All.size(), Source.size() + 1));
  Dialect D = static_cast<Dialect>(LLMC_FUZZ_DIALECT);
  llmc::Result<std::unique_ptr<Grammar>> G = compileConstraint(D, Source);
  if (!G.ok())
    return 0;
  if (Size < 2000 && !readGrammarImage(writeGrammarImage(**G)).ok())
    std::abort();
  Automaton A(**G, size_t{8} << 20);
  SetId S = Automaton::Start;
  for (char C : Text.substr(0, 200)) {
    bool CanGoOn = A.accepts(S);
    for (unsigned B = 0; B < 256 && !CanGoOn; ++B)
      CanGoOn = A.step(S, static_cast<uint8_t>(B)) != Automaton::Dead;
    if (!CanGoOn && !A.full())
      std::abort(); // a dead end
    SetId To = A.step(S, static_cast<uint8_t>(C));
    if (To != Automaton::Dead)
      S = To;
  }
  return 0;
}
