// See Size.h.
#include "runtime/base/Size.h"

#include <charconv>
#include <cstdio>
#include <optional>

namespace llmc {
namespace {

std::optional<double> factorOf(std::string Unit) {
  for (char &C : Unit)
    C = C >= 'A' && C <= 'Z' ? static_cast<char>(C + 32) : C;
  if (Unit.empty() || Unit == "b")
    return 1;
  size_t Power = std::string_view("kmgt").find(Unit[0]);
  std::string Rest = Unit.substr(1);
  if (Power == std::string_view::npos ||
      (!Rest.empty() && Rest != "b" && Rest != "ib"))
    return std::nullopt;
  double Factor = 1;
  for (size_t I = 0; I <= Power; ++I)
    Factor *= Rest == "b" ? 1000 : 1024;
  return Factor;
}

} // namespace

Result<uint64_t> parseSize(std::string_view Text) {
  double Number = 0;
  const char *End = Text.data() + Text.size();
  std::from_chars_result R = std::from_chars(Text.data(), End, Number);
  std::optional<double> Factor;
  if (R.ec == std::errc())
    Factor = factorOf(std::string(R.ptr, End));
  if (Factor && Number * *Factor >= 1 && Number * *Factor <= 0x1p62)
    return static_cast<uint64_t>(Number * *Factor);
  return usageError("'" + std::string(Text) +
                    "' is not a size such as 2GiB or 512MB");
}

std::string sizeText(uint64_t Bytes) {
  const char *Units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double Value = static_cast<double>(Bytes);
  int Unit = 0;
  for (; Value >= 1024 && Unit < 4; ++Unit)
    Value /= 1024;
  char Buffer[32];
  std::snprintf(Buffer, sizeof Buffer, Unit ? "%.1f %s" : "%.0f %s", Value,
                Units[Unit]);
  return Buffer;
}

} // namespace llmc
