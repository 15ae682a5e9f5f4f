// Reference counts per page and a cursor below which nothing is free.
#include "runtime/model/PagePool.h"

#include <algorithm>

namespace llmc {

PagePool::PagePool(uint32_t Pages) : Uses(Pages, 0), Free(Pages) {}

uint32_t PagePool::allocate(uint32_t Near) {
  if (Free == 0)
    return None;
  uint32_t Page;
  if (Near != None && Near + 1 < Uses.size() && Uses[Near + 1] == 0) {
    Page = Near + 1;
  } else {
    while (Uses[Lowest] != 0)
      ++Lowest;
    Page = Lowest;
  }
  Uses[Page] = 1;
  --Free;
  return Page;
}

void PagePool::release(uint32_t Page) {
  if (--Uses[Page] != 0)
    return;
  ++Free;
  Lowest = std::min(Lowest, Page);
}

} // namespace llmc
