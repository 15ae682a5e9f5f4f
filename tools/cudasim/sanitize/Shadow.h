// Shadow memory: what was written, and who touched a word last.
#ifndef LLMC_TOOLS_CUDASIM_SANITIZE_SHADOW_H
#define LLMC_TOOLS_CUDASIM_SANITIZE_SHADOW_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace llmc::cudasim {

/// A bit per byte: it has a value.
class ValidBits {
public:
  explicit ValidBits(uint64_t Bytes = 0) : Words((Bytes + 63) / 64, 0) {}
  void set(uint64_t Begin, uint64_t Bytes) {
    each(Begin, Bytes, [](uint64_t &W, uint64_t Mask) {
      W |= Mask;
      return true;
    });
  }
  void clear(uint64_t Begin, uint64_t Bytes) {
    each(Begin, Bytes, [](uint64_t &W, uint64_t Mask) {
      W &= ~Mask;
      return true;
    });
  }
  bool all(uint64_t Begin, uint64_t Bytes) {
    return each(Begin, Bytes,
                [](uint64_t &W, uint64_t Mask) { return (W & Mask) == Mask; });
  }

private:
  template <class Function>
  bool each(uint64_t Begin, uint64_t Bytes, Function On) {
    uint64_t End = std::min<uint64_t>(Begin + Bytes, Words.size() * 64);
    while (Begin < End) {
      uint64_t Bit = Begin % 64, Count = std::min(64 - Bit, End - Begin);
      uint64_t Mask =
          Count == 64 ? ~uint64_t{0} : ((uint64_t{1} << Count) - 1) << Bit;
      if (!On(Words[Begin / 64], Mask))
        return false;
      Begin += Count;
    }
    return true;
  }
  std::vector<uint64_t> Words;
};

/// One access of a word by a thread. Time is the clock of its warp.
struct Touch {
  uint32_t Time = 0;   ///< of the warp, 0: never
  uint32_t Ticket = 0; ///< of the warp: synchronisations of lanes so far
  uint32_t Block = 0;  ///< linear number
  uint32_t Inst = 0;   ///< index in the program
  uint8_t Warp = 0, Lane = 0;
  bool Atomic = false;  ///< or volatile, acquire, release
  bool Pending = false; ///< an asynchronous copy that nobody waited for
};

/// A word of 4 bytes: the last write, and the last reads of two warps (others
/// push out the oldest: of two readers at least one is not the writer's warp).
struct WordShadow {
  Touch Write;
  std::array<Touch, 2> Reads;
  bool NonCoherent = false; ///< was read with ld.global.nc

  void addRead(const Touch &T) {
    Touch *Oldest = &Reads[0];
    for (Touch &R : Reads) {
      if (R.Time == 0 || (R.Block == T.Block && R.Warp == T.Warp)) {
        R = T;
        return;
      }
      if (R.Time < Oldest->Time)
        Oldest = &R;
    }
    *Oldest = T;
  }
};

/// Words of global memory by page. A word takes 16 times its bytes, so reads
/// make no new pages once there are many: what is found then is less.
class GlobalShadow {
public:
  static constexpr uint64_t PageBytes = 4096;
  static constexpr size_t MostReadPages = 8192;
  /// Null for a read that is not recorded.
  WordShadow *word(uint64_t Address, bool Reads) {
    uint64_t Page = Address / PageBytes;
    if (Page != LastPage || !Last) {
      if (Reads && Pages.size() >= MostReadPages && !Pages.count(Page))
        return nullptr;
      std::unique_ptr<std::array<WordShadow, PageBytes / 4>> &P = Pages[Page];
      if (!P)
        P = std::make_unique<std::array<WordShadow, PageBytes / 4>>();
      Last = P.get();
      LastPage = Page;
    }
    return &(*Last)[Address % PageBytes / 4];
  }
  void clear() {
    Pages.clear();
    Last = nullptr;
  }

private:
  std::unordered_map<uint64_t,
                     std::unique_ptr<std::array<WordShadow, PageBytes / 4>>>
      Pages;
  std::array<WordShadow, PageBytes / 4> *Last = nullptr;
  uint64_t LastPage = 0;
};

/// Which words of global memory launches have read and written since the last
/// one that waited for all before it, with the kernel that was last to write.
class LaunchHistory {
public:
  struct Page {
    std::array<uint64_t, 16> Written{}, Read{};
    uint32_t Writer = 0; ///< index of a kernel's name
    bool HasWriter = false;
  };
  void add(uint64_t Address, bool Writes, uint32_t Kernel) {
    if (!Last || LastPage != Address / 4096) {
      LastPage = Address / 4096;
      Last = &Pages[LastPage];
    }
    Page &P = *Last;
    uint64_t Word = Address % 4096 / 4;
    (Writes ? P.Written : P.Read)[Word / 64] |= uint64_t{1} << Word % 64;
    if (Writes) {
      P.Writer = Kernel;
      P.HasWriter = true;
    }
  }
  void add(const LaunchHistory &O) {
    for (const auto &[Number, From] : O.Pages) {
      Page &P = Pages[Number];
      for (unsigned I = 0; I != 16; ++I) {
        P.Written[I] |= From.Written[I];
        P.Read[I] |= From.Read[I];
      }
      if (From.HasWriter) {
        P.Writer = From.Writer;
        P.HasWriter = true;
      }
    }
  }
  /// The page if the word was written (or, for Writes, touched) there.
  const Page *conflict(uint64_t Address, bool Writes) const {
    auto It = Pages.find(Address / 4096);
    if (It == Pages.end())
      return nullptr;
    uint64_t Word = Address % 4096 / 4, Bit = uint64_t{1} << Word % 64;
    const Page &P = It->second;
    bool Hit = P.Written[Word / 64] & Bit;
    return Hit || (Writes && (P.Read[Word / 64] & Bit)) ? &P : nullptr;
  }
  void clear() {
    Pages.clear();
    Last = nullptr;
  }

private:
  std::unordered_map<uint64_t, Page> Pages;
  Page *Last = nullptr; ///< of the last access
  uint64_t LastPage = 0;
};

/// What a warp knows of the times of the warps of its block, and, through
/// release and acquire, of other blocks.
struct Clock {
  std::array<uint32_t, 32> Own{};       ///< by warp of the block
  std::map<uint64_t, uint32_t> Foreign; ///< block * 32 + warp -> time

  void join(const Clock &O) {
    for (unsigned I = 0; I != 32; ++I)
      Own[I] = std::max(Own[I], O.Own[I]);
    for (auto [Key, Time] : O.Foreign) {
      uint32_t &Mine = Foreign[Key];
      Mine = std::max(Mine, Time);
    }
  }
};

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_SANITIZE_SHADOW_H
