// Element types, by name and size. The numbers are written into artifacts:
// append only.
#ifndef LLMC_RUNTIME_BASE_DTYPE_H
#define LLMC_RUNTIME_BASE_DTYPE_H

#include <cstdint>
#include <string_view>

namespace llmc {

enum class DType : uint8_t {
  None = 0,
  F32 = 1,
  F16 = 2,
  BF16 = 3,
  F64 = 4,
  I8 = 5,
  U8 = 6,
  I16 = 7,
  U16 = 8,
  I32 = 9,
  U32 = 10,
  I64 = 11,
  U64 = 12,
  Bool = 13,
  I4 = 14,
  U4 = 15,
  I2 = 16,
  U2 = 17,
  F8E4M3 = 18,
  F8E5M2 = 19,
  F8E4M3FNUZ = 20,
  F8E5M2FNUZ = 21,
  F8E8M0 = 22,
  F4E2M1 = 23
};

inline constexpr unsigned DTypeCount = 24;

/// Bits of one element; 0 for None.
constexpr unsigned bitsOf(DType T) {
  switch (T) {
  case DType::None:
    return 0;
  case DType::I2:
  case DType::U2:
    return 2;
  case DType::I4:
  case DType::U4:
  case DType::F4E2M1:
    return 4;
  case DType::I8:
  case DType::U8:
  case DType::Bool:
  case DType::F8E4M3:
  case DType::F8E5M2:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2FNUZ:
  case DType::F8E8M0:
    return 8;
  case DType::F16:
  case DType::BF16:
  case DType::I16:
  case DType::U16:
    return 16;
  case DType::F32:
  case DType::I32:
  case DType::U32:
    return 32;
  case DType::F64:
  case DType::I64:
  case DType::U64:
    return 64;
  }
  return 0;
}

/// Lower-case name as printed in messages and tables ("f32", "i8").
constexpr std::string_view nameOf(DType T) {
  constexpr std::string_view Names[] = {
      "none",   "f32",    "f16",        "bf16",       "f64",    "i8",
      "u8",     "i16",    "u16",        "i32",        "u32",    "i64",
      "u64",    "bool",   "i4",         "u4",         "i2",     "u2",
      "f8e4m3", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0", "f4e2m1"};
  return Names[static_cast<unsigned>(T)];
}

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_DTYPE_H
