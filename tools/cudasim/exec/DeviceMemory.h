// Device memory: one reserved range of host addresses, which are the device
// addresses. Allocations are apart by at least a page, and freed ranges are
// not given out again at once, so that a stray address is an error.
#ifndef LLMC_TOOLS_CUDASIM_EXEC_DEVICEMEMORY_H
#define LLMC_TOOLS_CUDASIM_EXEC_DEVICEMEMORY_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace llmc::cudasim {

struct Allocation {
  uint64_t Begin = 0, Bytes = 0;
  std::string Name;      ///< of a module's variable
  bool ReadOnly = false; ///< a .const variable
  uint64_t end() const { return Begin + Bytes; }
};

/// Not thread-safe, except that kernels may look up while nothing changes.
class DeviceMemory {
public:
  /// Reserves address space; total is what the device claims to have.
  explicit DeviceMemory(uint64_t TotalBytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;

  /// 512-byte aligned; 0 when it does not fit. The content is undefined; here
  /// all ones bytes, a NaN in every format, unless the range is large.
  uint64_t alloc(uint64_t Bytes, const std::string &Name = "");
  /// False for an address that alloc did not give.
  bool free(uint64_t Address);
  /// The allocation that holds [Address, Address + Bytes), or null.
  const Allocation *find(uint64_t Address, uint64_t Bytes) const;
  /// "0x… is 16 bytes past allocation 0x… of 64 bytes"
  std::string describe(uint64_t Address) const;
  void setReadOnly(uint64_t Address);
  uint64_t total() const { return Total; }
  uint64_t available() const { return Total - InUse; }
  const std::vector<Allocation> &allocations() const { return All; }

private:
  uint64_t place(uint64_t Bytes);
  void release(uint64_t Begin, uint64_t Bytes);

  uint64_t Base = 0, Reserved = 0, Total = 0, InUse = 0, Next = 0;
  std::vector<Allocation> All;  ///< sorted
  std::deque<Allocation> Freed; ///< the latest, for messages
};

} // namespace llmc::cudasim

#endif // LLMC_TOOLS_CUDASIM_EXEC_DEVICEMEMORY_H
