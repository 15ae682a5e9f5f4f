// Allocation by first fit behind the last allocation, wrapping around: freed
// ranges rest as long as possible.
#include "tools/cudasim/exec/DeviceMemory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>

namespace llmc::cudasim {

constexpr uint64_t Page = 4096;
constexpr uint64_t Poisoned = uint64_t{1} << 20; ///< larger ranges stay zero

static uint64_t pages(uint64_t Bytes) {
  return (Bytes + Page - 1) / Page * Page;
}

DeviceMemory::DeviceMemory(uint64_t TotalBytes) : Total(TotalBytes) {
  // Twice the memory in addresses, so that gaps and freed ranges cost nothing.
  for (Reserved = pages(2 * TotalBytes + (uint64_t{64} << 20));
       Reserved > (uint64_t{1} << 26); Reserved /= 2) {
    void *P = mmap(nullptr, Reserved, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (P != MAP_FAILED) {
      Base = reinterpret_cast<uint64_t>(P);
      break;
    }
  }
  if (Base == 0)
    Reserved = 0;
  Total = std::min(Total, Reserved / 2);
  Next = Base;
}

DeviceMemory::~DeviceMemory() {
  if (Base)
    munmap(reinterpret_cast<void *>(Base), Reserved);
}

/// A free range with a page to spare on both sides.
uint64_t DeviceMemory::place(uint64_t Bytes) {
  uint64_t Need = pages(Bytes) + 2 * Page;
  auto Fits = [&](uint64_t From, uint64_t Until) -> uint64_t {
    uint64_t At = From;
    for (const Allocation &A : All) {
      if (A.end() <= At)
        continue;
      if (A.Begin >= At + Need)
        break;
      At = pages(A.end());
    }
    return At + Need <= Until ? At + Page : 0;
  };
  uint64_t End = Base + Reserved;
  uint64_t At = Fits(Next, End);
  return At ? At : Fits(Base, End);
}

uint64_t DeviceMemory::alloc(uint64_t Bytes, const std::string &Name) {
  if (Bytes == 0 || Bytes > available())
    return 0;
  uint64_t At = place(Bytes);
  if (At == 0)
    return 0;
  Allocation A;
  A.Begin = At;
  A.Bytes = Bytes;
  A.Name = Name;
  All.insert(std::upper_bound(All.begin(), All.end(), A,
                              [](const Allocation &X, const Allocation &Y) {
                                return X.Begin < Y.Begin;
                              }),
             A);
  InUse += Bytes;
  Next = At + pages(Bytes);
  if (Bytes <= Poisoned)
    std::memset(reinterpret_cast<void *>(At), 0xff, Bytes);
  return At;
}

bool DeviceMemory::free(uint64_t Address) {
  for (size_t I = 0; I != All.size(); ++I) {
    if (All[I].Begin != Address)
      continue;
    Allocation A = All[I];
    All.erase(All.begin() + static_cast<ptrdiff_t>(I));
    InUse -= A.Bytes;
    madvise(reinterpret_cast<void *>(A.Begin), pages(A.Bytes), MADV_DONTNEED);
    Freed.push_back(A);
    if (Freed.size() > 64)
      Freed.pop_front();
    return true;
  }
  return false;
}

void DeviceMemory::setReadOnly(uint64_t Address) {
  for (Allocation &A : All)
    if (A.Begin == Address)
      A.ReadOnly = true;
}

const Allocation *DeviceMemory::find(uint64_t Address, uint64_t Bytes) const {
  auto It = std::upper_bound(
      All.begin(), All.end(), Address,
      [](uint64_t A, const Allocation &X) { return A < X.Begin; });
  if (It == All.begin())
    return nullptr;
  --It;
  bool Inside = Address >= It->Begin && Address - It->Begin <= It->Bytes &&
                Bytes <= It->Bytes - (Address - It->Begin);
  return Inside ? &*It : nullptr;
}

std::string DeviceMemory::describe(uint64_t Address) const {
  char Text[192];
  if (Address < Page)
    return "a null pointer";
  const Allocation *Near = nullptr;
  uint64_t Distance = ~uint64_t{0};
  bool Before = false, Gone = false;
  auto Look = [&](const Allocation &A, bool IsFreed) {
    uint64_t D = Address < A.Begin    ? A.Begin - Address
                 : Address >= A.end() ? Address - A.end()
                                      : 0;
    if (D >= Distance || (IsFreed && D != 0))
      return;
    Near = &A;
    Distance = D;
    Before = Address < A.Begin;
    Gone = IsFreed;
  };
  for (const Allocation &A : All)
    Look(A, false);
  for (const Allocation &A : Freed)
    Look(A, true);
  if (!Near)
    return "no memory is allocated";
  if (Gone)
    std::snprintf(Text, sizeof(Text),
                  "byte %llu of a freed allocation of %llu bytes",
                  static_cast<unsigned long long>(Address - Near->Begin),
                  static_cast<unsigned long long>(Near->Bytes));
  else if (Distance == 0 && !Before && Address < Near->end())
    std::snprintf(Text, sizeof(Text),
                  "byte %llu of an allocation of %llu bytes",
                  static_cast<unsigned long long>(Address - Near->Begin),
                  static_cast<unsigned long long>(Near->Bytes));
  else
    std::snprintf(
        Text, sizeof(Text), "%llu bytes %s an allocation of %llu bytes",
        static_cast<unsigned long long>(Distance), Before ? "before" : "past",
        static_cast<unsigned long long>(Near->Bytes));
  std::string Out = Text;
  if (!Near->Name.empty())
    Out += " (" + Near->Name + ")";
  return Out;
}

} // namespace llmc::cudasim
