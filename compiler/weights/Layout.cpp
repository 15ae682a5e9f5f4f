// Sizes of the packed layouts, computed without overflow.
#include "compiler/weights/Layout.h"

#include <limits>

namespace llmc {
namespace {
constexpr uint64_t TooLarge = std::numeric_limits<uint64_t>::max();

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
                              Layout::NW8B32, Layout::VecF32};
} // namespace

std::string_view nameOf(Layout L) {
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
  }
  return "unknown";
}

std::optional<Layout> layoutOf(std::string_view Id) {
  for (Layout L : Layouts)
    if (nameOf(L) == Id)
      return L;
  return std::nullopt;
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
  }
  return TooLarge;
}

std::optional<uint64_t> packedBytes(std::string_view Id, uint64_t Rows,
                                    uint64_t Cols) {
  std::optional<Layout> L = layoutOf(Id);
  if (!L)
    return std::nullopt;
  return packedBytes(*L, Rows, Cols);
}

} // namespace llmc
