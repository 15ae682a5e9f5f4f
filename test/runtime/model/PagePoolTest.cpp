// Pages: given out in order, beside each other, counted.
#include "runtime/model/PagePool.h"

#include <gtest/gtest.h>

using namespace llmc;

namespace {

TEST(PagePool, PrefersTheNeighbour) {
  PagePool P(4);
  EXPECT_EQ(P.allocate(PagePool::None), 0u);
  EXPECT_EQ(P.allocate(PagePool::None), 1u);
  EXPECT_EQ(P.allocate(1), 2u);
  P.release(0);
  EXPECT_EQ(P.allocate(2), 3u);
  EXPECT_EQ(P.allocate(3), 0u);
  EXPECT_EQ(P.allocate(3), PagePool::None);
  EXPECT_EQ(P.available(), 0u);
}

TEST(PagePool, FreesAtTheLastUse) {
  PagePool P(1);
  uint32_t Page = P.allocate(PagePool::None);
  P.retain(Page);
  P.release(Page);
  EXPECT_EQ(P.uses(Page), 1u);
  EXPECT_EQ(P.available(), 0u);
  P.release(Page);
  EXPECT_EQ(P.available(), 1u);
}

} // namespace
