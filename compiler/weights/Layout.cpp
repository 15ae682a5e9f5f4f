// Sizes of the packed layouts, computed without overflow.
#include "compiler/weights/Layout.h"

#include <charconv>
#include <limits>

namespace llmc {
namespace {
constexpr uint64_t TooLarge = std::numeric_limits<uint64_t>::max();
/// Keeps the sizes of a panel in 64 bits.
constexpr uint64_t MaxQuantizedCols = uint64_t{1} << 40;

/// A number of bytes that sticks to TooLarge once it overflows.
struct Size {
  uint64_t Value;
  Size operator*(uint64_t N) const {
    uint64_t R;
    if (Value == TooLarge || __builtin_mul_overflow(Value, N, &R))
      return {TooLarge};
    return {R};
  }
  Size operator+(Size O) const {
    uint64_t R;
    if (Value == TooLarge || O.Value == TooLarge ||
        __builtin_add_overflow(Value, O.Value, &R))
      return {TooLarge};
    return {R};
  }
  Size alignTo(uint64_t A) const {
    Size Up = *this + Size{A - 1};
    return Up.Value == TooLarge ? Up : Size{Up.Value / A * A};
  }
};

uint64_t ceilDiv(uint64_t A, uint64_t B) { return A / B + (A % B != 0); }

constexpr Layout Layouts[] = {Layout::P16F32, Layout::P16W8B32, Layout::NF16,
                              Layout::NW8B32, Layout::VecF32,   Layout::P16F16,
                              Layout::P16BF16};

using kernels::CodeKind;
using kernels::WeightFormat;
using kernels::ZeroKind;

constexpr std::string_view KindNames[] = {"i",   "t",    "e4m",
                                          "e5m", "e4mz", "e5mz"};
constexpr std::string_view ZeroNames[] = {"z0", "zm", "z8", "zf", "min"};

/// "i4b32.f16.z8"
std::string textOf(WeightFormat F) {
  return std::string(KindNames[static_cast<size_t>(F.Kind)]) +
         std::to_string(F.Bits) +
         (F.Block ? "b" + std::to_string(F.Block) : "row") +
         (F.HalfScale ? ".f16." : ".f32.") +
         std::string(ZeroNames[static_cast<size_t>(F.Zero)]);
}

/// Takes the longest of Names off the front of Text; its index or nothing.
template <size_t N>
std::optional<size_t> take(std::string_view &Text,
                           const std::string_view (&Names)[N]) {
  std::optional<size_t> Best;
  for (size_t I = 0; I < N; ++I)
    if (Text.starts_with(Names[I]) &&
        (!Best || Names[I].size() > Names[*Best].size()))
      Best = I;
  if (Best)
    Text.remove_prefix(Names[*Best].size());
  return Best;
}

std::optional<uint32_t> takeNumber(std::string_view &Text) {
  uint32_t Value = 0;
  std::from_chars_result R =
      std::from_chars(Text.data(), Text.data() + Text.size(), Value);
  if (R.ec != std::errc())
    return std::nullopt;
  Text.remove_prefix(static_cast<size_t>(R.ptr - Text.data()));
  return Value;
}

std::optional<WeightFormat> formatNamed(std::string_view Text) {
  static constexpr std::string_view BlockNames[] = {"row", "b"};
  static constexpr std::string_view ScaleNames[] = {".f32.", ".f16."};
  std::optional<size_t> Kind = take(Text, KindNames);
  std::optional<uint32_t> Bits = takeNumber(Text), Cols = 0;
  std::optional<size_t> Blocks = take(Text, BlockNames);
  if (Blocks && *Blocks == 1)
    Cols = takeNumber(Text);
  std::optional<size_t> Scale = take(Text, ScaleNames);
  std::optional<size_t> Zero = take(Text, ZeroNames);
  if (!Kind || !Bits || !Blocks || !Cols || !Scale || !Zero || !Text.empty() ||
      (*Bits != 2 && *Bits != 4 && *Bits != 8) || *Cols % 16 != 0 ||
      *Cols > kernels::MaxFormatBlock || (*Blocks == 1 && *Cols == 0))
    return std::nullopt;
  return WeightFormat{static_cast<CodeKind>(*Kind), static_cast<uint8_t>(*Bits),
                      *Scale == 1, static_cast<ZeroKind>(*Zero), *Cols};
}
} // namespace

std::string nameOf(Layout L) {
  switch (L) {
  case Layout::P16F32:
    return "p16.f32";
  case Layout::P16W8B32:
    return "p16.w8b32";
  case Layout::NF16:
    return "n.f16";
  case Layout::NW8B32:
    return "n.w8b32";
  case Layout::VecF32:
    return "vec.f32";
  case Layout::P16F16:
    return "p16.f16";
  case Layout::P16BF16:
    return "p16.bf16";
  }
  return isQuantized(L) ? "p16." + textOf(formatOf(L)) : "unknown";
}

std::optional<Layout> layoutOf(std::string_view Id) {
  for (Layout L : Layouts)
    if (nameOf(L) == Id)
      return L;
  if (!Id.starts_with("p16."))
    return std::nullopt;
  std::optional<WeightFormat> F = formatNamed(Id.substr(4));
  if (!F)
    return std::nullopt;
  return layoutOf(*F);
}

uint64_t scaleOffsetNW8B32(uint64_t Rows, uint64_t Cols) {
  Size Padded = Size{ceilDiv(Cols, BlockCols)} * BlockCols;
  return (Padded * Rows).alignTo(ScaleAlign).Value;
}

uint64_t packedBytes(Layout L, uint64_t Rows, uint64_t Cols) {
  Size Panels{ceilDiv(Rows, PanelRows)};
  switch (L) {
  case Layout::P16F32:
    return (Panels * Cols * (PanelRows * sizeof(float))).Value;
  case Layout::P16W8B32:
    return (Panels * ceilDiv(Cols, RecordCols) * RecordBytes).Value;
  case Layout::NF16:
    return (Size{Rows} * Cols * 2).Value;
  case Layout::NW8B32:
    return (Size{scaleOffsetNW8B32(Rows, Cols)} +
            Size{Rows} * ceilDiv(Cols, BlockCols) * 2)
        .Value;
  case Layout::VecF32:
    return (Size{Rows} * Cols * sizeof(float)).Value;
  case Layout::P16F16:
  case Layout::P16BF16:
    return (Panels * Cols * (PanelRows * sizeof(uint16_t))).Value;
  }
  if (!isQuantized(L) || Cols > MaxQuantizedCols)
    return TooLarge;
  WeightFormat F = formatOf(L);
  return (Panels *
              static_cast<uint64_t>(F.panelBytes(static_cast<int64_t>(Cols))) +
          Size{static_cast<uint64_t>(F.headerBytes())})
      .Value;
}

std::optional<uint64_t> packedBytes(std::string_view Id, uint64_t Rows,
                                    uint64_t Cols) {
  std::optional<Layout> L = layoutOf(Id);
  if (!L)
    return std::nullopt;
  return packedBytes(*L, Rows, Cols);
}

} // namespace llmc
