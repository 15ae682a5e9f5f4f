// SHA-256 against published vectors, in pieces, and portable against fast.
#include "runtime/base/Hash.h"
#include "runtime/base/File.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace llmc;

TEST(Hash, Sha256PublishedVectors) {
  EXPECT_EQ(hexOf(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934"
                               "ca495991b7852b855");
  EXPECT_EQ(hexOf(sha256(bytesOf("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hexOf(sha256(bytesOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnl"
                                 "mnomnopnopq"))),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  std::vector<uint8_t> Million(1000000, 'a');
  EXPECT_EQ(hexOf(sha256(Million)),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Hash, Sha256InPiecesOfEveryLength) {
  std::vector<uint8_t> Data(300);
  std::iota(Data.begin(), Data.end(), uint8_t{1});
  for (size_t N = 0; N < Data.size(); ++N) {
    std::span<const uint8_t> All(Data);
    Sha256 H;
    for (size_t At = 0; At < N;) {
      size_t Take = std::min(N - At, At % 71 + 1);
      H.update(All.subspan(At, Take));
      At += Take;
    }
    ASSERT_EQ(H.finish(), sha256(All.first(N))) << N;
  }
}

TEST(Hash, PortableBlocksEqualFastOnes) {
  // One block that is the padded message "abc".
  uint8_t Block[64] = {'a', 'b', 'c', 0x80};
  Block[63] = 24;
  uint32_t State[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  detail::sha256BlocksPortable(State, Block, 1);
  EXPECT_EQ(State[0], 0xba7816bfu);
  EXPECT_EQ(State[1], 0x8f01cfeau);
  EXPECT_EQ(State[7], 0xf20015adu);
}

TEST(Hash, Xxh3KnownValue) {
  EXPECT_EQ(xxh3({}), 0x2d06800538d394c2u); // of the empty input, seed 0
}
