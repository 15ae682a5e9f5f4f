// Helpers on FlatBuffers' accessors that several files of this room need.
// Inside this room only.
#ifndef LLMC_RUNTIME_ARTIFACT_FLAT_H
#define LLMC_RUNTIME_ARTIFACT_FLAT_H

#include <cstdint>
#include <flatbuffers/flatbuffers.h>
#include <string_view>

namespace llmc {

/// Length of a vector that may be absent.
template <typename T> size_t sizeOf(const flatbuffers::Vector<T> *V) {
  return V ? V->size() : 0;
}

/// The characters of a string that may be absent.
inline std::string_view viewOf(const flatbuffers::String *S) {
  return S ? std::string_view(S->data(), S->size()) : std::string_view();
}

/// Whether the numbers of a vector lie where their type may lie. FlatBuffers'
/// verifier only looks at the vector's length field, so hostile bytes can put
/// 8-byte numbers at a multiple of 4, which is undefined to read.
template <typename T> bool isAligned(const flatbuffers::Vector<T> *V) {
  return !V || reinterpret_cast<uintptr_t>(V->Data()) % alignof(T) == 0;
}

} // namespace llmc

#endif // LLMC_RUNTIME_ARTIFACT_FLAT_H
