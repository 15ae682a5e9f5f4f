// Layer numbers and the words key and value in names of caches.
#include "passes/raise/CacheNames.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>
#include <string>

namespace llmc::raise {
namespace {
struct Said {
  bool Cache = false; ///< that it is one; numbers of other names mean nothing
  std::optional<unsigned> Layer;
  std::optional<bool> IsKey;
};

/// Words of letters and words of digits, in lower case.
llvm::SmallVector<std::string> wordsOf(llvm::StringRef Name) {
  llvm::SmallVector<std::string> Out;
  bool WasDigit = false, WasWord = false;
  for (char C : Name) {
    bool Digit = llvm::isDigit(C), Word = Digit || llvm::isAlpha(C);
    if (Word && (!WasWord || Digit != WasDigit))
      Out.emplace_back();
    if (Word)
      Out.back() += llvm::toLower(C);
    WasWord = Word;
    WasDigit = Digit;
  }
  return Out;
}

/// "past_key_values.3.value": the word behind the number counts; without one
/// ("past_v_3") the word in front, unless both are there and name the whole
/// cache.
Said read(llvm::StringRef Name) {
  Said Out;
  bool KeyInFront = false, ValueInFront = false;
  for (const std::string &Word : wordsOf(Name)) {
    unsigned Number;
    if (!llvm::StringRef(Word).getAsInteger(10, Number)) {
      if (!Out.Layer)
        Out.Layer = Number;
      continue;
    }
    for (const char *Part : {"past", "present", "cache", "state", "kv"})
      Out.Cache |= llvm::StringRef(Word).starts_with(Part);
    bool Key = Word == "key" || Word == "keys" || Word == "k";
    bool Value = Word == "value" || Word == "values" || Word == "v";
    if ((Key || Value) && Out.Layer)
      Out.IsKey = Key;
    Out.Cache |= Key || Value;
    KeyInFront |= Key && !Out.Layer;
    ValueInFront |= Value && !Out.Layer;
  }
  if (!Out.IsKey && KeyInFront != ValueInFront)
    Out.IsKey = KeyInFront;
  return Out;
}
} // namespace

bool namesContradict(llvm::StringRef Past, llvm::StringRef Present) {
  Said A = read(Past), B = read(Present);
  if (!A.Cache || !B.Cache)
    return false;
  return (A.Layer && B.Layer && *A.Layer != *B.Layer) ||
         (A.IsKey && B.IsKey && *A.IsKey != *B.IsKey);
}

} // namespace llmc::raise
