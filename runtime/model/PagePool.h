// Which KV pages are in use, and by how many sequences. Freed pages are given
// out again lowest first, so that a sequence tends to get neighbours.
#ifndef LLMC_RUNTIME_MODEL_PAGEPOOL_H
#define LLMC_RUNTIME_MODEL_PAGEPOOL_H

#include <cstdint>
#include <vector>

namespace llmc {

class PagePool {
public:
  explicit PagePool(uint32_t Pages);

  uint32_t capacity() const { return static_cast<uint32_t>(Uses.size()); }
  uint32_t available() const { return Free; }

  /// A page with one use. Near: the page before it in its sequence, or None.
  /// None when all are in use.
  static constexpr uint32_t None = UINT32_MAX;
  uint32_t allocate(uint32_t Near);
  void retain(uint32_t Page) { ++Uses[Page]; }
  void release(uint32_t Page);
  uint32_t uses(uint32_t Page) const { return Uses[Page]; }

private:
  std::vector<uint32_t> Uses; ///< per page
  uint32_t Free;
  uint32_t Lowest = 0; ///< no page below is free
};

} // namespace llmc

#endif // LLMC_RUNTIME_MODEL_PAGEPOOL_H
