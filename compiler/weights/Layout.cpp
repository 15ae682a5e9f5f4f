// Sizes of the packed layouts, computed without overflow.
#include "compiler/weights/Layout.h"

#include "compiler/kernels/FragmentFormat.h"
#include "compiler/weights/RowFormat.h"

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

constexpr Layout Layouts[] = {Layout::P16F32,  Layout::P16W8B32, Layout::NF16,
                              Layout::NW8B32,  Layout::VecF32,   Layout::P16F16,
                              Layout::P16BF16, Layout::NF32,     Layout::NBF16,
                              Layout::M16F16,  Layout::M16BF16};

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
  case Layout::NF32:
    return "n.f32";
  case Layout::NBF16:
    return "n.bf16";
  case Layout::M16F16:
    return "m16.f16";
  case Layout::M16BF16:
    return "m16.bf16";
  }
  if (!isQuantized(L))
    return "unknown";
  return (isCodeFragment(L) ? "m16."
          : isRows(L)       ? "n."
                            : "p16.") +
         textOf(formatOf(L));
}

std::optional<Layout> layoutOf(std::string_view Id) {
  for (Layout L : Layouts)
    if (nameOf(L) == Id)
      return L;
  bool Rows = Id.starts_with("n."), Fragments = Id.starts_with("m16.");
  if (!Rows && !Fragments && !Id.starts_with("p16."))
    return std::nullopt;
  std::optional<WeightFormat> F = formatNamed(Id.substr(Rows ? 2 : 4));
  if (!F)
    return std::nullopt;
  if (Fragments)
    return fragmentLayoutOf(layoutOf(*F));
  return Rows ? rowsOf(*F) : layoutOf(*F);
}

std::optional<Layout> fragmentLayoutOf(Layout L) {
  if (L == Layout::P16F16 || L == Layout::NF16)
    return Layout::M16F16;
  if (L == Layout::P16BF16 || L == Layout::NBF16)
    return Layout::M16BF16;
  if (L == Layout::P16W8B32 || L == Layout::NW8B32)
    L = layoutOf(kernels::Int8Format);
  if (!isQuantized(L) || !kernels::hasFragments(formatOf(L)))
    return std::nullopt;
  return static_cast<Layout>(kernels::numberOf(formatOf(L)) |
                             kernels::FragmentFlag);
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
  case Layout::NBF16:
    return (Size{Rows} * Cols * 2).Value;
  case Layout::NW8B32:
    return (Size{scaleOffsetNW8B32(Rows, Cols)} +
            Size{Rows} * ceilDiv(Cols, BlockCols) * 2)
        .Value;
  case Layout::VecF32:
  case Layout::NF32:
    return (Size{Rows} * Cols * sizeof(float)).Value;
  case Layout::P16F16:
  case Layout::P16BF16:
    return (Panels * Cols * (PanelRows * sizeof(uint16_t))).Value;
  case Layout::M16F16:
  case Layout::M16BF16:
    break;
  }
  if ((!isQuantized(L) && !isFragment(L)) || Cols > MaxQuantizedCols)
    return TooLarge;
  if (isFragment(L))
    return (Panels * static_cast<uint64_t>(kernels::fragmentTileBytes(
                         fragmentNumber(L), static_cast<int64_t>(Cols))))
        .Value;
  WeightFormat F = formatOf(L);
  if (isRows(L))
    return (Size{Rows} * RowFormat{F, Cols}.rowBytes() +
            Size{static_cast<uint64_t>(F.headerBytes())})
        .Value;
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
